//! The forms that secrets have of themselves, as data. What providers publish about their tokens and what the rule
//! sets of secret scanners agree on; each form names the texts without which it cannot match.

mod commands;
mod providers;
mod settings;
mod tokens;

use std::sync::LazyLock;

/// What else must hold before a match counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// The expression decides.
    Sure,
    /// A word that could stand in prose must look random.
    Random,
    /// A reference, switch or path is none.
    NotHarmless,
    /// Lower-case letters and digits both occur, so that it is not a plain word.
    Mixed,
}

/// One form; the group `s` is the secret (in other branches of its expression `t` or `u`).
pub(crate) struct Spec {
    /// What the placeholder calls it.
    pub(crate) class: &'static str,
    /// One of these, in any case, stands in every match.
    pub(crate) hints: &'static [&'static str],
    /// The expression.
    pub(crate) regex: &'static str,
    /// What else must hold.
    pub(crate) check: Check,
    /// At least so many characters of a token follow a hint directly.
    pub(crate) tail: usize,
}

impl Spec {
    const fn tail(self, tail: usize) -> Self {
        Self { tail, ..self }
    }

    /// Whether a match begins with a hint, where no word goes on.
    pub(crate) fn begins_word(&self) -> bool {
        let begins = [r"\b(?<s>", r"(?:^|[^\w.])(?<s>"];
        self.tail > 0 && begins.iter().any(|begin| self.regex.starts_with(begin))
    }

    /// Whether a hint stands directly behind the first word of a text.
    pub(crate) fn behind_first_word(&self) -> bool {
        self.regex.starts_with(r"^[\w.*-]+:")
    }

    /// Whether behind a hint the secret and a number stand, and the text ends.
    pub(crate) fn ends_in_number(&self) -> bool {
        self.regex.ends_with(r"\s+(?<s>\S+)\s+\d+\s*$")
    }

    /// Whether it is that of a user in an address, which holds an `@`.
    pub(crate) fn of_address(&self) -> bool {
        self.hints == ["://"]
    }
}

const fn form(
    class: &'static str,
    hints: &'static [&'static str],
    check: Check,
    regex: &'static str,
) -> Spec {
    Spec {
        class,
        hints,
        regex,
        check,
        tail: 0,
    }
}

/// All forms, the most telling first.
pub(crate) static SPECS: LazyLock<Vec<&'static Spec>> = LazyLock::new(|| {
    tokens::TOKENS
        .iter()
        .chain(providers::PROVIDERS)
        .chain(settings::SETTINGS)
        .chain(commands::COMMANDS)
        .collect()
});

/// The classes that placeholders name, with how each is recognised.
pub fn classes() -> Vec<(&'static str, String)> {
    let mut classes: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for spec in SPECS.iter() {
        *classes.entry(spec.class).or_default() += 1;
    }
    let by_form = classes
        .into_iter()
        .map(|(class, forms)| (class, format!("by its form ({forms})")));
    let by_name = [
        (
            "password, secret, secret-id, token, api-key, access-key, credential, auth, cookie",
            "by the name in front of it, in YAML, JSON, TOML, XML, env lists, units, arguments, logs, inside base64 and gzip",
        ),
        (
            "password",
            "by the program that takes it (mysql -p, curl -u, sshpass -p and others)",
        ),
        (
            "private-key",
            "PEM blocks over several lines, also escaped, in base64, or with a log's prefix",
        ),
        (
            "secret-data",
            "all data of Secret objects that a file or annotation holds",
        ),
        (
            "unexplained",
            "random letters and digits that neither their value nor their place explains; `--keep PATTERN` leaves some in clear",
        ),
        (
            "left-out, archive",
            "archives, key stores and binary files that cannot be searched",
        ),
    ];
    by_form
        .chain(by_name.map(|(class, how)| (class, how.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::literal::Extractor;

    #[test]
    fn a_form_that_begins_a_word_begins_with_one_of_its_hints() {
        let forms: Vec<_> = SPECS.iter().filter(|form| form.begins_word()).collect();
        assert!(forms.len() > 10);
        for form in forms {
            // The first branch of `(?:^|[^\w.])` is no part of a match.
            let inner = form.regex.replacen(r"(?:^|[^\w.])", r"\b", 1);
            let begins = Extractor::new().extract(&regex_syntax::parse(&inner).unwrap());
            let begins = begins.literals().unwrap_or_default();
            assert!(!begins.is_empty(), "{}", form.regex);
            for begin in begins {
                let begin = begin.as_bytes().to_ascii_lowercase();
                let hint = |hint: &&str| begin.starts_with(hint.as_bytes());
                let text = String::from_utf8_lossy(&begin);
                assert!(form.hints.iter().any(hint), "{text}: {}", form.regex);
            }
        }
    }
}
