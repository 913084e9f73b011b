//! Commands and statements in which a word's place says that it is the secret.

use super::Check::{NotHarmless, Random, Sure};
use super::{Spec, form};

/// Forms tied to the words around them.
pub(super) const COMMANDS: &[Spec] = &[
    form(
        "password",
        &[
            "chpasswd",
            "-stdin",
            "cryptsetup",
            "sudo -s",
            "kinit",
            "vncpasswd",
        ],
        NotHarmless,
        r#"(?i)\b(?:echo|printf)\s+(?:-[ne]+\s+)?(?:["']?%s(?:\\n)?["']?\s+)?["']?(?:[\w.-]+:)?(?<s>[^\s"'|%]+)["']?\s*\|\s*(?:sudo\s+-S\b|(?:sudo\s+)?(?:chpasswd|cryptsetup|kinit|vncpasswd|[^|]*-stdin))"#,
    ),
    form(
        "password",
        &["<<<"],
        NotHarmless,
        r#"-stdin\b[^<]*<<<\s*["']?(?<s>[^\s"']+)"#,
    ),
    form(
        "psk",
        &["wpa_passphrase"],
        NotHarmless,
        r"\bwpa_passphrase\s+\S+\s+(?<s>\S+)",
    ),
    form(
        "unseal-key",
        &["unseal"],
        Random,
        r"(?i)\bunseal(?:\s+key(?:\s+\d+)?(?:\s+\([^)]*\))?:)?\s+(?:-\S+\s+)*(?<s>[A-Za-z0-9+/]{20,}={0,2})",
    ),
    form(
        "token",
        &[":25000/"],
        Sure,
        r":25000/(?<s>[0-9a-f]{16,}(?:/[0-9a-f]+)?)",
    ),
    form(
        "token",
        &[" attach c1"],
        Sure,
        r"\battach\s+(?<s>C1[A-Za-z0-9]{20,})",
    ),
    form(
        "password",
        &["sqlplus"],
        NotHarmless,
        r#"\bsqlplus\s+(?:-\S+\s+)*["']?[\w.$]+/(?<s>[^\s@"']+)@"#,
    ),
    form(
        "password",
        &["]:587", "]:465", "]:25", "user_super="],
        NotHarmless,
        r#"^\[[\w.-]+\]:\d+\s+[\w.@+-]+:(?<s>\S+)\s*$|\buser_super\s*=\s*"(?<t>[^"]+)""#,
    ),
    form(
        "secret",
        &["passwd-s3fs"],
        NotHarmless,
        r#":(?<s>[^\s"':]{16,})["']?\s*>+\s*\S*passwd-s3fs"#,
    ),
    form(
        "password",
        &["send \""],
        Random,
        r#"^\s*send\s+(?:--\s+)?"(?<s>[^"$\\]+)\\[rn]"#,
    ),
    form(
        "password",
        &["\"auth ", "\"requirepass\" "],
        NotHarmless,
        r#"(?i)"(?:AUTH (?:\w+ )?|requirepass" ")(?<s>[^"\\\s]+)"#,
    ),
    form(
        "password",
        &["+@all", "+@read", "+@write"],
        NotHarmless,
        r"^\s*(?:ACL\s+SETUSER|user)\s+\S+\s.*?[>](?<s>\S+)",
    ),
    form(
        "password",
        &["@localhost 1 "],
        NotHarmless,
        r"^\s*MONITOR\s+\S+@\S+\s+\d+\s+\S+\s+(?<s>\S+)\s+(?:master|slave|primary|secondary)",
    ),
    form(
        "password-hash",
        &["'*", "\"md5", "\"scram-sha-256$"],
        Sure,
        r#"'(?<s>\*[0-9A-F]{40})'|^"[\w.-]+"\s+"(?<t>md5[0-9a-f]{32}|SCRAM-SHA-256\$[^"]+)""#,
    ),
    form(
        "encryption-key",
        &["(aes)) ", "(aes) ", "hmac(sha"],
        Sure,
        r"(?:\(aes\)\)?|hmac\(sha\d+\))\s+(?<s>(?:0x)?[0-9a-f]{32,})",
    ),
    form(
        "secret",
        &["secret ", "credentials "],
        Random,
        r"^\s*(?:secret\s+\S+\.|credentials\s+\S+)\s+(?<s>[^\s{]+)\s*$",
    ),
    form(
        "access-key",
        &["fs.azure.account.key."],
        Sure,
        r"fs\.azure\.account\.key\.[\w.-]+[\s=:]+(?<s>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    form(
        "auth",
        &["signature=", "response=\""],
        Sure,
        r#"(?i)\b(?:Signature=|response=")(?<s>[0-9a-f]{32,64})\b"#,
    ),
    form(
        "cookie",
        &["cookie:", "cookie\":"],
        Random,
        r"[;]\s*[\w.-]+=(?<s>[^;\s,]{16,})",
    ),
    form(
        "nvme-key",
        &["dhhc-1:"],
        Sure,
        r"(?<s>DHHC-1:[0-9]{2}:[A-Za-z0-9+/]{20,}={0,2}:?)",
    ),
    form(
        "password",
        &[
            "password is",
            "password for ",
            "password was",
            "password set",
            "password has",
            "password to ",
            "password `",
            "password generated",
            "passphrase is",
            "passphrase for ",
            "passwort ist",
            "passwort für",
            "kennwort ist",
        ],
        Random,
        r#"(?i)\b(?:password|passphrase|passwort|kennwort)(?: (?:(?:for|of) (?:the )?[\w.@-]+(?: user)?|is|ist|für|was|set|the|a|to|has|been|generated))*(?: is|ist|:| to)? +[`"']?(?<s>[^\s`"'<,:=(){}\[\]][^\s`"']*)"#,
    ),
    form(
        "token",
        &["token \"", "token `"],
        Random,
        r#"(?i)\btoken\s+["`](?<s>[A-Za-z0-9._-]{20,})["`]"#,
    ),
];
