//! Lines of configuration files and commands whose grammar says which word is the secret.

use super::Check::{NotHarmless, Random, Sure};
use super::{Spec, form};

/// Forms tied to the words around them.
pub(super) const SETTINGS: &[Spec] = &[
    form(
        "password-hash",
        &[
            "$1$", "$2", "$5$", "$6$", "$y$", "$gy$", "$apr1$", "$argon2", "$7$", "$pbkdf2",
        ],
        Sure,
        r"(?<s>\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2i?d?|pbkdf2(?:-sha\d+)?)\$[./A-Za-z0-9$=,+]{16,})",
    ),
    form(
        "password-hash",
        &["grub.pbkdf2"],
        Sure,
        r"(?<s>grub\.pbkdf2\.[A-Za-z0-9.]{40,})",
    ),
    form(
        "private-key",
        &["puTTY-User-Key-File", "private-lines"],
        Sure,
        r"Private-MAC:\s*(?<s>[0-9a-f]{40,})",
    ),
    form(
        "secret",
        &["--from-literal"],
        NotHarmless,
        r#"--from-literal[= ]["']?[\w.-]+=(?<s>[^\s"']+)"#,
    ),
    form(
        "psk",
        &[
            "psk ", "psk\t", "xauth ", "xauth\t", "eap ", "eap\t", ": ntlm ", ": rsa ", ": ecdsa ",
            ": pkcs8 ", ": p12 ", ": pin ",
        ],
        Sure,
        r#"(?i):\s*(?:PSK|XAUTH|EAP|NTLM|(?:RSA|ECDSA|PKCS8|P12|PIN)\s+\S+)\s+"(?<s>[^"]+)""#,
    ),
    form(
        "password",
        &["password ", "password\t"],
        NotHarmless,
        r"(?i)\b(?:login|machine|account)\s+\S+\s+password\s+(?<s>\S+)",
    ),
    form(
        "password",
        &[
            "requirepass",
            "masterauth",
            "auth_pass",
            "rocommunity",
            "rwcommunity",
        ],
        NotHarmless,
        r#"(?i)^\s*(?:requirepass|masterauth|auth_pass|r[ow]community6?)\s+"?(?<s>[^\s"]+)"#,
    ),
    form(
        "password",
        &[":5432:", ":*:"],
        NotHarmless,
        r"^[\w.*-]+:(?:\d+|\*):[\w.*-]+:[\w.*-]+:(?<s>[^\s:]+)$",
    ),
    form(
        "password",
        &["identified by"],
        NotHarmless,
        r#"(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?["'](?<s>[^"']+)["']"#,
    ),
    form(
        "token",
        &["wandb ", "vault ", "huggingface-cli "],
        Random,
        r"\b(?:wandb|vault|huggingface-cli)\s+login\s+(?:-\S+\s+)*(?<s>[A-Za-z0-9._-]{16,})",
    ),
    form(
        "password",
        &[
            "password ",
            "password\t",
            "passwd ",
            "passwd\t",
            "passphrase ",
        ],
        Random,
        r#"(?i)^\s*(?:password|passwd|passphrase)[ \t]+(?:[\w.-]+[ \t]+)?(?<s>[^\s=:"'{(\[][^\s"']*)\s*$"#,
    ),
    form(
        "password",
        &["password "],
        NotHarmless,
        r"(?i)^\s*user\s+\S+\s+(?:insecure-)?password\s+(?<s>\S+)",
    ),
    form(
        "password",
        &["password '"],
        NotHarmless,
        r"(?i)\bpassword\s+'(?<s>[^']+)'",
    ),
    form(
        "password",
        &["stats auth"],
        NotHarmless,
        r"^\s*stats\s+auth\s+[^\s:]+:(?<s>\S+)",
    ),
    form(
        "password",
        &["jdbc:oracle"],
        NotHarmless,
        r#"jdbc:oracle:\w+:[^/\s:@]+/(?<s>[^@\s"']+)@"#,
    ),
    form(
        "secret",
        &[":1812", ":1813"],
        NotHarmless,
        r"^\S+:181[23]\s+(?<s>\S+)\s+\d+\s*$",
    ),
    form(
        "secret",
        &["hex:", "ascii:"],
        Sure,
        r"^\d+\s+(?:SHA\d+|MD5|AES\d+)\s+(?:HEX|ASCII):(?<s>\S+)",
    ),
    form(
        "secret",
        &["secret \""],
        NotHarmless,
        r#"(?i)^\s*secret\s+"(?<s>[^"]+)"\s*;?\s*$"#,
    ),
    form(
        "secret",
        &["key: "],
        Sure,
        r"^\s*key:\s*(?<s>[0-9a-f]{32,})\s*$",
    )
    .tail(32),
    form(
        "password-hash",
        &["{sha}", "{ssha}"],
        Sure,
        r"(?i)\{S?SHA\}(?<s>[A-Za-z0-9+/]{20,}={0,2})",
    ),
    form(
        "password",
        &["rootpw"],
        NotHarmless,
        r"^\s*rootpw\s+(?:--\w+\s+)*(?<s>[^\s-]\S*)",
    ),
    form(
        "password",
        &["com2sec"],
        NotHarmless,
        r"^\s*com2sec6?\s+(?:-Cn\s+\S+\s+)?\S+\s+\S+\s+(?<s>\S+)",
    ),
    form(
        "password",
        &["createuser "],
        NotHarmless,
        r#"^\s*createUser\s+(?:-e\s+\S+\s+)?\S+\s+(?:MD5|SHA\S*)\s+"?(?<s>[^\s"]+)"#,
    ),
    form(
        "password",
        &["createuser "],
        NotHarmless,
        r#"^\s*createUser\s.*\s(?:DES|AES\S*)\s+"?(?<s>[^\s"]+)"#,
    ),
    form(
        "token",
        &["system:masters"],
        NotHarmless,
        r#"^(?<s>[^,\s"]{8,}),[^,]+,[^,]*,"?[^"]*system:masters"#,
    ),
    form(
        "token",
        &["signing"],
        Sure,
        r"^(?<s>[a-z0-9]{6}\.[a-z0-9]{16})\s",
    ),
    form(
        "password",
        &["lftp "],
        NotHarmless,
        r"\blftp\s(?:.*\s)?-u\s+[^\s,]+,(?<s>\S+)",
    ),
    form(
        "password",
        &["freerdp"],
        NotHarmless,
        r"freerdp\S*\s(?:.*\s)?/p:(?<s>\S+)",
    ),
    form(
        "secret",
        &["mc alias", "mc config"],
        NotHarmless,
        r"\bmc\s+(?:alias\s+set|config\s+host\s+add)\s+\S+\s+\S+\s+\S+\s+(?<s>\S+)",
    ),
    form(
        "password",
        &["set password"],
        NotHarmless,
        r"\buser\s+set\s+password\s+\d+\s+(?<s>\S+)",
    ),
    form(
        "password",
        &["\"auth\" \""],
        NotHarmless,
        r#"(?i)"AUTH"\s+(?:"[^"]+"\s+)?"(?<s>[^"]+)""#,
    ),
];
