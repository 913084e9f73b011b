//! Values that stand where a secret could, and are none: switches, references, paths.

/// Whether a value under a secret-sounding key tells nothing secret.
pub(crate) fn harmless(value: &str) -> bool {
    let value = value.trim();
    value.is_empty()
        || value.starts_with("<redacted:")
        || [
            "true",
            "false",
            "null",
            "none",
            "nil",
            "yes",
            "no",
            "~",
            "on",
            "off",
            "***",
            "<nil>",
            "[REDACTED]",
            "REDACTED",
        ]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word))
        || (value.len() > 2
            && (value.bytes().all(|b| b == b'*') || value.bytes().all(|b| b | 32 == b'x')))
        || is_placeholder(value)
        || is_token_name(value)
        || is_reference(value)
        || is_name_service(value)
        || is_path(value)
}

/// `builder-token-x2x4z`, the name of a token, `<set to the key 'a' in secret 'b'>`, which names one, and `0x1`.
fn is_token_name(value: &str) -> bool {
    let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"-.".contains(&c);
    let unique = value.rsplit_once("-token-").map(|(_, unique)| unique);
    let name = value.ends_with("-token") || unique.is_some_and(|unique| unique.len() == 5);
    (name && value.bytes().all(plain))
        || value.starts_with("<set to the key ")
        || (value.starts_with("0x") && value.len() <= 10)
}

/// Words that say how something is, not what it is: `token: expired`, `authorization: Node,RBAC`.
const STATES: &[&str] = &[
    "absent",
    "accepted",
    "allow",
    "anonymous",
    "changed",
    "default",
    "denied",
    "deny",
    "disabled",
    "empty",
    "enabled",
    "error",
    "exists",
    "expired",
    "failed",
    "found",
    "ignored",
    "incorrect",
    "invalid",
    "is",
    "missing",
    "node",
    "not",
    "optional",
    "present",
    "rbac",
    "abac",
    "webhook",
    "alwaysallow",
    "rejected",
    "required",
    "revoked",
    "rotated",
    "set",
    "supported",
    "undefined",
    "unknown",
    "unset",
    "unsupported",
    "valid",
    "was",
];

/// Whether a value is made of such words alone.
pub(crate) fn is_state(value: &str) -> bool {
    let mut words = value
        .split([' ', ',', ';', '.', '!'])
        .filter(|word| !word.is_empty())
        .peekable();
    value.len() <= 60
        && words.peek().is_some()
        && words.all(|word| STATES.iter().any(|state| word.eq_ignore_ascii_case(state)))
}

/// `<password>`, `${{ secrets.X }}`, `<%= x %>`: what a person or a template still has to fill in.
fn is_placeholder(value: &str) -> bool {
    let word = |c: char| c.is_ascii_alphabetic() || matches!(c, ' ' | '_' | '-');
    let named = value
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    named.is_some_and(|name| !name.is_empty() && name.chars().all(word))
        || (value.starts_with("${{") && value.ends_with("}}"))
        || (value.starts_with("<%") && value.ends_with("%>"))
}

/// Whether a value is long, of letters and digits alone, and no UUID: what a generator gives.
pub(crate) fn made_by_machine(value: &str) -> bool {
    let body = value.trim_end_matches('=');
    body.len() >= 16
        && body.bytes().any(|b| b.is_ascii_digit())
        && body.bytes().any(|b| b.is_ascii_alphabetic())
        && body
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'_'))
}

/// Whether a value is a plain number: how many tokens, not which one.
pub(crate) fn is_count(value: &str) -> bool {
    value.len() <= 7 && value.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// Whether a value looks made by a machine rather than written as a word: the test for doubtful places.
pub(crate) fn looks_random(value: &str) -> bool {
    let len = value.len();
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    let upper = value.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    let lower = value.bytes().any(|b| b.is_ascii_lowercase());
    let word = value.bytes().all(|b| b.is_ascii_lowercase());
    let number = len >= 8 && value.bytes().all(|b| b.is_ascii_digit());
    number
        || (len >= 6 && digit && (lower || upper))
        || (len >= 8 && upper && lower)
        || (len >= 16 && !word)
}

/// `$(NAME)`, `${NAME}`, `$NAME`, `{{ ... }}`: the secret itself is elsewhere.
fn is_reference(value: &str) -> bool {
    let name = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
    };
    let inner = value
        .strip_prefix("$(")
        .and_then(|rest| rest.strip_suffix(')'))
        .or_else(|| {
            value
                .strip_prefix("${")
                .and_then(|rest| rest.strip_suffix('}'))
        });
    let with_default = value.strip_prefix("${").and_then(|rest| {
        let (name, rest) = rest.split_once(":?")?;
        (rest.ends_with('}') && !name.is_empty()).then_some(name)
    });
    let scheme = value.split_once(' ').filter(|(scheme, _)| {
        ["bearer", "basic", "token"]
            .iter()
            .any(|one| scheme.eq_ignore_ascii_case(one))
    });
    if let Some((_, rest)) = scheme {
        return is_reference(rest) || is_placeholder(rest);
    }
    inner.is_some_and(name)
        || with_default.is_some_and(name)
        || value.starts_with("$(")
        || value.starts_with('`')
        || value.strip_prefix('$').is_some_and(|rest| {
            name(rest)
                && rest
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
        })
        || (value.starts_with("{{") && value.ends_with("}}"))
}

/// `passwd: files systemd` of nsswitch.conf.
fn is_name_service(value: &str) -> bool {
    const SERVICES: [&str; 8] = [
        "compat", "db", "files", "ldap", "nis", "sss", "systemd", "winbind",
    ];
    value
        .split_whitespace()
        .all(|word| (word.starts_with('[') && word.contains('=')) || SERVICES.contains(&word))
}

/// An absolute path on a Linux host. A random string can begin with a slash, so the first segment must be a known one.
fn is_path(value: &str) -> bool {
    const TOPS: [&str; 18] = [
        "bin", "boot", "certs", "config", "dev", "etc", "home", "mnt", "opt", "proc", "root",
        "run", "snap", "srv", "sys", "tmp", "usr", "var",
    ];
    let path = value.strip_prefix("file://").unwrap_or(value);
    // `LoadCredential=name:/path`.
    let path = match path.split_once(":/") {
        Some((name, _))
            if name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) =>
        {
            &path[name.len() + 1..]
        }
        _ => path,
    };
    let Some(rest) = path.strip_prefix('/') else {
        return false;
    };
    rest.split_once('/').is_some_and(|(top, below)| {
        TOPS.contains(&top)
            && below
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-/@:+".contains(&b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_switches_and_references_are_kept() {
        for value in [
            "true",
            "/etc/ssl/private/a.key",
            "$(DB_PASSWORD)",
            "${TOKEN}",
            "{{ .Values.x }}",
            "",
            "***",
        ] {
            assert!(harmless(value), "{value}");
        }
        for value in ["hunter2", "/9j4AAQSk+ZJRg", "$ecret1", "correct horse"] {
            assert!(!harmless(value), "{value}");
        }
    }

    #[test]
    fn words_of_an_error_message_do_not_look_random() {
        for value in ["context", "expired", "invalid", "not-found"] {
            assert!(!looks_random(value), "{value}");
        }
        for value in ["s3cr3t", "abcDEFghi", "aaaa-bbbb-cccc-dddd"] {
            assert!(looks_random(value), "{value}");
        }
    }
}
