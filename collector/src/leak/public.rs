//! What of a Secret is public: charts keep host names, ports, user names, model names and URLs beside the credentials,
//! and these stand in Services, ConfigMaps and logs as well. The value's key in the Secret decides first, then its form.

use super::names::words;

/// Last words of keys whose values are names, addresses or settings.
const PUBLIC: [&str; 78] = [
    "address",
    "addr",
    "addresses",
    "arn",
    "backend",
    "bucket",
    "ca",
    "cert",
    "class",
    "cluster",
    "crt",
    "database",
    "db",
    "dbname",
    "dir",
    "domain",
    "email",
    "enabled",
    "endpoint",
    "endpoints",
    "engine",
    "env",
    "environment",
    "file",
    "format",
    "fqdn",
    "group",
    "host",
    "hostname",
    "hosts",
    "id",
    "image",
    "index",
    "issuer",
    "label",
    "length",
    "level",
    "login",
    "mail",
    "mode",
    "model",
    "models",
    "name",
    "names",
    "namespace",
    "org",
    "organization",
    "owner",
    "path",
    "port",
    "ports",
    "prefix",
    "project",
    "protocol",
    "provider",
    "pub",
    "queue",
    "realm",
    "region",
    "release",
    "repo",
    "repository",
    "role",
    "schema",
    "scheme",
    "server",
    "servers",
    "service",
    "site",
    "size",
    "tenant",
    "timeout",
    "ttl",
    "type",
    "user",
    "username",
    "version",
    "zone",
];
/// Words that make a key one of a credential, unless its last word says otherwise (`TOKEN_ISSUER`).
const CREDENTIAL: [&str; 30] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cred",
    "credential",
    "credentials",
    "creds",
    "csrf",
    "encryption",
    "hash",
    "hmac",
    "htpasswd",
    "jwt",
    "key",
    "keyfile",
    "keys",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pgpass",
    "private",
    "pwd",
    "salt",
    "secret",
    "session",
    "token",
];

/// What the key of a value says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// The value is a credential.
    Credential,
    /// The value is a name, an address or a setting.
    Public,
    /// Neither: the value's form decides.
    Nothing,
}

/// What a key such as `postgres-password` or `OPENAI_BASE_URL` says about its value.
pub(super) fn key_says(key: &str) -> Says {
    let words = words(key);
    let credential = words.iter().any(|word| {
        CREDENTIAL.contains(&word.as_str())
            || ["password", "passwd", "token", "secret", "apikey"]
                .iter()
                .any(|end| word.ends_with(end))
    });
    let last = words.last().map(String::as_str).unwrap_or_default();
    let named = PUBLIC.contains(&last)
        || ["host", "port", "user", "username", "name"]
            .iter()
            .any(|end| last.ends_with(end));
    // `access_key_id` belongs to a key, `client_id` does not.
    match (credential, named) {
        (true, true) if last == "id" => Says::Credential,
        (_, true) => Says::Public,
        (true, false) => Says::Credential,
        (false, false) => Says::Nothing,
    }
}

/// Whether a value without a telling key looks made at random: passwords of generators, tokens, keys. Names are made of
/// words and numbers, such as `pg16-cluster-rw` and `Llama-3.1-8B-Instruct`.
pub(super) fn looks_random(value: &str) -> bool {
    if value.len() < 12 || value.starts_with("sha256:") || value.contains("@sha256:") {
        return false;
    }
    let parts = value.split(|c: char| !c.is_ascii_alphanumeric());
    parts
        .filter(|part| part.len() >= 6)
        .any(|part| !is_name(part.as_bytes()))
}

/// Whether letters and digits are a word or a number, or few of them side by side (`pg16`, `h100x8`).
fn is_name(part: &[u8]) -> bool {
    let pairs = || part.windows(2).map(|two| (two[0], two[1]));
    let turns = pairs()
        .filter(|(before, after)| before.is_ascii_digit() != after.is_ascii_digit())
        .count();
    let humps = pairs()
        .filter(|(before, after)| before.is_ascii_lowercase() && after.is_ascii_uppercase())
        .count();
    let letters: Vec<u8> = part
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .map(u8::to_ascii_lowercase)
        .collect();
    if letters.is_empty() {
        return part.len() < 24;
    }
    let most_turns = if part.len() <= 8 { 3 } else { 2 };
    turns <= most_turns
        && humps * 3 <= letters.len()
        && (letters.len() < 8 || pronounceable(&letters))
}

/// Words have vowels, and no long run of consonants.
fn pronounceable(letters: &[u8]) -> bool {
    let vowel = |byte: &u8| b"aeiouy".contains(byte);
    let vowels = letters.iter().filter(|byte| vowel(byte)).count();
    let longest = letters
        .split(vowel)
        .map(<[u8]>::len)
        .max()
        .unwrap_or_default();
    vowels * 5 >= letters.len() && longest <= 5
}

/// Parts of a URL that only who is allowed knows: its password, and random parts of its path and its query.
pub(super) fn url_credentials(value: &str) -> Vec<String> {
    let Some((_, rest)) = value.split_once("://") else {
        return Vec::new();
    };
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, behind) = rest.split_at(host_end);
    let mut found = Vec::new();
    if let Some((user, _)) = host.rsplit_once('@')
        && let Some((_, password)) = user.split_once(':')
    {
        found.push(password.to_owned());
        found.extend(percent_decoded(password));
    }
    let pieces = behind.split(['/', '?', '&', '#', ';']).map(|piece| {
        let (name, value) = piece.split_once('=').unwrap_or(("", piece));
        (key_says(name), value)
    });
    for (says, piece) in pieces {
        let secret = says == Says::Credential && piece.len() >= 8;
        if secret || says == Says::Nothing && piece.len() >= 16 && looks_random(piece) {
            found.push(piece.to_owned());
            found.extend(percent_decoded(piece));
        }
    }
    found
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next()?, bytes.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            plain.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            plain.push(byte);
        }
    }
    let plain = String::from_utf8(plain).ok()?;
    (plain != text).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_common_charts_say_what_their_values_are() {
        for key in [
            "password",
            "postgres-password",
            "REDIS_PASSWORD",
            "rootPassword",
            "admin.token",
            "AWS_ACCESS_KEY_ID",
            "secretAccessKey",
            "HF_TOKEN",
            "api_key",
            "accessToken",
            "credentials",
            "pgpass",
        ] {
            assert_eq!(key_says(key), Says::Credential, "{key}");
        }
        for key in [
            "host",
            "PGHOST",
            "port",
            "dbname",
            "admin-user",
            "MODEL_NAME",
            "HF_MODEL_ID",
            "AWS_REGION",
            "bucket",
            "token_issuer",
            "POSTGRES_DB",
            "rabbitmq-username",
            "endpoint",
            "client_id",
            "passwordSecretName",
        ] {
            assert_eq!(key_says(key), Says::Public, "{key}");
        }
        for key in ["uri", "LLM", "config", "value"] {
            assert_eq!(key_says(key), Says::Nothing, "{key}");
        }
    }

    #[test]
    fn names_do_not_look_random_and_made_values_do() {
        for name in [
            "pg16-cluster-rw",
            "pg16-cluster-rw.data.svc.cluster.local",
            "Qwen2.5-72B-Instruct",
            "Meta-Llama-3.1-70B",
            "mistralai/Mixtral-8x7B-Instruct-v0.1",
            "us-east-1a-zone",
            "nvidia-h100-80gb-hbm3",
            "text-embedding-3-large",
            "KubernetesExecutor",
            "gpu-operator-values1",
        ] {
            assert!(!looks_random(name), "{name}");
        }
        for value in [
            "k3Xy-9vQ2mPz77",
            "f7Gh2kLm9QwErTy4",
            "0f8b1d7c9a3e5f6b2d4c",
            "qzxwvbnmtrplkjhg",
            "xKqWzPvRtLmNbGhJ",
        ] {
            assert!(looks_random(value), "{value}");
        }
    }

    #[test]
    fn of_a_url_only_what_opens_something_is_a_credential() {
        let secret = ["aB3", "dE6", "gH9", "kL2", "mN5", "pQ8"].concat();
        let url =
            format!("postgresql://app:{secret}@pg16-cluster-rw.data:5432/app?sslmode=require");
        assert_eq!(url_credentials(&url), vec![secret.clone()]);
        let hook = format!("https://hooks.example.com/services/team/{secret}");
        assert_eq!(url_credentials(&hook), vec![secret]);
        assert!(
            url_credentials("http://vllm-router-service.models:8000/v1/completions").is_empty()
        );
    }
}
