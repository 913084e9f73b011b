//! Which key names say that their value is a secret. The last word of a name decides: `secretName` is a name,
//! `tokenExpirationSeconds` are seconds, `clientSecret` is a secret.

use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::value::{harmless, is_state, made_by_machine};

/// What a secret is called in its placeholder, and how sure the name alone makes us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyClass {
    /// The class, as in `<redacted:CLASS:xxxxxxxx>`.
    pub(crate) name: &'static str,
    /// Names such as `token` also stand in prose ("failed to get token: timed out"): their value is replaced there
    /// only when it looks random.
    pub(crate) sure: bool,
    /// Names such as `userKey` mostly say where something is: only what a machine made counts.
    pub(crate) weak: bool,
}

impl KeyClass {
    /// Whether a value under this name is none that has to go.
    pub(crate) fn spares(self, value: &str) -> bool {
        harmless(value)
            || is_state(value)
            || (self.weak && !made_by_machine(value))
            || (self.name == PIN && !is_pin(value))
            || (self.name == SECRET_ID && !is_uuid(value) && !made_by_machine(value))
    }
}

/// What the PIN of a card or token is called. Processors, maps and wires are pinned too: only a number counts.
const PIN: &str = "pin";

/// `271828`, `123-456-789`; `0-3` are processors.
fn is_pin(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let groups = digits == value.len() || (digits > 5 && !value.starts_with('-'));
    (4..=12).contains(&digits) && groups && value.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

/// `secret_id`: half of a login to a vault, or the name of a secret. Only what a machine made counts.
const SECRET_ID: &str = "secret-id";

fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

const fn class(name: &'static str, sure: bool) -> Option<KeyClass> {
    Some(KeyClass {
        name,
        sure,
        weak: false,
    })
}

const fn weak(name: &'static str) -> Option<KeyClass> {
    Some(KeyClass {
        name,
        sure: false,
        weak: true,
    })
}

/// Words that make a `...Key` a secret one; `key` alone names all sorts of harmless things.
static KEY_QUALIFIERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "access account activation admin aead aes age anthropic api app auth authentication aws azure bearer bgp bootstrap bot cak \
     certificate cf cipher client comet consumer cookie crypt crypto csrf customer datadog db dd decryption deploy \
     dns encryption enterprise esp etcd fernet gcp github gitlab google gossip grafana hf hkdf hmac ike \
     ingest initial insert ipsec jfrog join jwt keystore kms licence license link mac macsec maps master mlflow \
     mqtt munge neptune network newrelic ngc nvidia openai ospf passphrase pre preshared priv private psk \
     radius recovery registration rndc root s3 salt secret secretbox security seed sendgrid sentry \
     service session setup shared signature signing smtp snmp sops splunk ssh storage stripe subscription \
     sym symmetric tacacs tailscale tls token tsig twilio unseal vault vpn wandb webhook wep wifi \
     wireguard wireless wpa write x xsrf zerotier"
    .split_ascii_whitespace()
    .collect()
});
/// Words before `key` that name a secret as often as something else.
const WEAK_QUALIFIERS: &[&str] = &["dhchap", "integration", "routing", "user"];
/// Words before `token` that make it a sign of a language model, or before a secret that make it a count or checksum.
const HARMLESS_BEFORE: &[&str] = &[
    "bos", "checksum", "cls", "count", "eos", "eot", "mask", "pad", "sep", "unk",
];
/// Words that may follow the deciding word without changing what it says.
const TRAILERS: &[&str] = &[
    "b64", "base", "base64", "data", "enc", "env", "hash", "hex", "in", "plain", "sha1", "sha256",
    "string", "value",
];
/// Words before `secret` that make it the name of a Secret object.
const SECRET_OBJECTS: [&str; 8] = [
    "ca",
    "certificate",
    "checksum",
    "existing",
    "hash",
    "pull",
    "tls",
    "webhook",
];
/// Of a longer name the beginning decides.
const MAX_NAME: usize = 200;
/// Deciding words written without a separator, and the class of what ends with them.
const ENDINGS: &[(&str, &str)] = &[
    ("password", "password"),
    ("passwords", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("userpass", "password"),
    ("dbpass", "password"),
    ("storepass", "password"),
    ("keypass", "password"),
    ("rootpass", "password"),
    ("bindpw", "password"),
    ("sshpass", "password"),
    ("requirepass", "password"),
    ("masterauth", "password"),
    ("authtok", "password"),
    ("passwort", "password"),
    ("kennwort", "password"),
    ("contrasena", "password"),
    ("userpw", "password"),
    ("passcode", "password"),
    ("passkey", "password"),
    ("pincode", "pin"),
    ("passphrases", "password"),
    ("passw", "password"),
    ("passwrd", "password"),
    ("pword", "password"),
    ("motdepasse", "password"),
    ("apikey", "api-key"),
    ("apikeys", "api-key"),
    ("authkey", "api-key"),
    ("accesskey", "access-key"),
    ("secretkey", "secret"),
    ("privatekey", "private-key"),
    ("presharedkey", "psk"),
    ("encryptionkey", "api-key"),
    ("accountkey", "access-key"),
    ("securitykey", "api-key"),
    ("userkey", "api-key"),
    ("sessionid", "cookie"),
    ("authtoken", "token"),
    ("accesstoken", "token"),
    ("clientsecret", "secret"),
    ("credential", "credential"),
];

/// Words that end like a password and are none.
const PASSES: [&str; 12] = [
    "bypass",
    "compass",
    "encompass",
    "fastcgipass",
    "firstpass",
    "multipass",
    "overpass",
    "proxypass",
    "singlepass",
    "surpass",
    "trespass",
    "underpass",
];

/// One of these stands in every name of a secret; most names have none.
pub(crate) const STEMS: [&str; 18] = [
    "pin:",
    "pin=",
    "pin =",
    "pass",
    "pw",
    "psk",
    "secret",
    "token",
    "key",
    "cred",
    "auth",
    "cookie",
    "pat",
    "jwt",
    "community",
    "kennwort",
    "contrase",
    "sessionid",
];

static STEM: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(STEMS)
        .ok()
});

/// The class of the secret that a key of this name holds, if it does.
pub(crate) fn classify(key: &str) -> Option<KeyClass> {
    let pin = key.len() >= 3 && key.as_bytes()[key.len() - 3..].eq_ignore_ascii_case(b"pin");
    if !pin && STEM.as_ref().is_some_and(|stems| !stems.is_match(key)) {
        return None;
    }
    decide(key)
}

/// As [`classify`], of a name in which a stem was seen already.
pub(crate) fn decide(key: &str) -> Option<KeyClass> {
    let mut room = [b' '; 2 * MAX_NAME];
    let lower = lower(key, &mut room);
    let mut words = lower.rsplit(' ').filter(|word| !word.is_empty());
    let mut last = words.next()?;
    while TRAILERS.contains(&last) || last.bytes().all(|b| b.is_ascii_digit()) {
        let Some(word) = words.clone().next() else {
            break;
        };
        words.next();
        last = word;
    }
    // `PASSWORD2` is a second password.
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = words.clone().next();
    if before.is_some_and(|word| HARMLESS_BEFORE.contains(&word)) {
        return None;
    }
    match last {
        // `mot_de_passe`, and `contraseña` cut at its letter.
        "passe" if before == Some("de") => return class("password", true),
        "a" if before == Some("contrase") => return class("password", true),
        "pass" | "pwd" | "pw" | "pws" | "pwds" | "psk" => return class("password", true),
        "pin" => return class(PIN, true),
        "secret" if before.is_some_and(|word| SECRET_OBJECTS.contains(&word)) => return None,
        "secret" => return class("secret", false),
        "secrets" if before.is_some_and(|word| word != "pull") => return class("secret", false),
        "token" | "tokens" => return class("token", false),
        "credentials" | "creds" | "cred" => return class("credential", false),
        "auth" | "authorization" => return class("auth", false),
        "cookie" | "cookies" => return class("cookie", false),
        "pat" if before.is_some() => return class("token", false),
        "jwt" => return class("token", false),
        "community" => return class("password", false),
        "key" | "keys" => {
            return match before {
                Some(word) if KEY_QUALIFIERS.contains(word) => class("api-key", false),
                Some(word) if WEAK_QUALIFIERS.contains(&word) => weak("api-key"),
                _ => None,
            };
        }
        "id" if before == Some("key")
            && words
                .clone()
                .any(|word| word == "access" || word == "private") =>
        {
            return class("access-key", false);
        }
        "id" if before == Some("secret") => return class(SECRET_ID, false),
        _ => {}
    }
    let one = last.strip_suffix('s').unwrap_or(last);
    if let Some((_, name)) = ENDINGS
        .iter()
        .find(|(ending, _)| last.ends_with(ending) || one.ends_with(ending))
    {
        return class(name, *name == "password");
    }
    // `rootpwmodpw`: no word of a language ends so; a shell's last directory does.
    if last.len() > 5
        && last != "oldpwd"
        && ["pw", "pwd", "psk"].iter().any(|end| last.ends_with(end))
    {
        return class("password", true);
    }
    if last.ends_with("pass") && last.len() > 6 && !PASSES.contains(&last) {
        return class("password", false);
    }
    let long = |stem: &str| last.ends_with(stem) && last.len() > stem.len();
    (long("token") || long("secret"))
        .then_some(class("token", false))
        .flatten()
}

/// A name's words in lower case with blanks between them: cut at separators and at `camelCase` humps.
fn lower<'a>(key: &str, room: &'a mut [u8; 2 * MAX_NAME]) -> &'a str {
    let bytes = &key.as_bytes()[..key.len().min(MAX_NAME)];
    let mut at = 0;
    for (i, byte) in bytes.iter().enumerate() {
        let hump = byte.is_ascii_uppercase() && i > 0 && {
            let (before, after) = (bytes[i - 1], bytes.get(i + 1));
            before.is_ascii_lowercase()
                || (before.is_ascii_uppercase() && after.is_some_and(u8::is_ascii_lowercase))
        };
        at += usize::from(hump);
        if byte.is_ascii_alphanumeric() {
            room[at] = byte.to_ascii_lowercase();
        }
        at += 1;
    }
    // All of it is ASCII.
    std::str::from_utf8(&room[..at]).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        for key in [
            "password",
            "DB_PASSWORD",
            "dbPassword",
            "postgresqlpassword",
            "MYSQL_PWD",
            "passphrase",
            "api_key",
            "apiKey",
            "API-KEY",
            "NGC_API_KEY",
            "aws_secret_access_key",
            "clientSecret",
            "client-key-data",
            "auth",
            "_auth",
            "bearerToken",
            "registry.token",
            "token",
            "access_token",
            "accessToken",
            "credentials",
            "private_key",
            "authtoken",
            "secretKey",
            "AWS_ACCESS_KEY_ID",
            "githubtoken",
            "secret_value",
            "PASSWORD2",
            "rootpwmodpw",
            "smtppass",
            "vault_secret_id",
        ] {
            assert!(classify(key).is_some(), "{key}");
        }
    }

    #[test]
    fn names_that_only_sound_secret_stay_readable() {
        for key in [
            "secretName",
            "imagePullSecrets",
            "tokenExpirationSeconds",
            "keyring",
            "tls-private-key-file",
            "key",
            "tokenPath",
            "secretRef",
            "passwordSecretName",
            "existingSecret",
            "imagePullSecret",
            "author",
            "bypass",
            "encompass",
            "OLDPWD",
            "public_key",
            "certificate-authority-data",
            "authentication",
            "authorization-mode",
            "monkey",
            "token-auth-file",
            "secrets",
            "compass",
            "keys",
            "hostkey",
        ] {
            assert!(classify(key).is_none(), "{key}");
        }
    }
}
