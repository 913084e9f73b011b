//! The forms that secrets have of themselves, as data. What providers publish about their tokens and what the rule
//! sets of secret scanners agree on; each form names the texts without which it cannot match.

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

/// One form; the group `s` is the secret.
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

use Check::{Mixed, NotHarmless, Random, Sure};

/// All forms, the most telling first.
pub(crate) const SPECS: &[Spec] = &[
    form(
        "jwt",
        &["eyj"],
        Sure,
        r"\b(?<s>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*)",
    ),
    form(
        "bearer",
        &["bearer"],
        Random,
        r"(?i)\bbearer\s+(?<s>[A-Za-z0-9._~+/-]{6,}=*)",
    ),
    form(
        "basic-auth",
        &["basic "],
        Random,
        r"(?i)\bbasic\s+(?<s>[A-Za-z0-9+/]{6,}={0,2})",
    ),
    form(
        "url-password",
        &["://"],
        NotHarmless,
        r#"://[^\s/@:"'<>\\?#]*:(?<s>[^\s"'<>\\/?#]+)@"#,
    ),
    form(
        "url-password",
        &["://"],
        Sure,
        r#"://(?<s>[^\s/@:"'<>\\?#]{20,})@"#,
    ),
    form(
        "dsn-password",
        &["@tcp(", "@unix("],
        NotHarmless,
        r"[\w.-]+:(?<s>[^\s@/:]+)@(?:tcp|unix)\(",
    ),
    form(
        "aws-key",
        &["akia", "asia", "aroa", "aida", "abia"],
        Sure,
        r"\b(?<s>(?:AKIA|ASIA|AROA|AIDA|ABIA)[0-9A-Z]{16})\b",
    )
    .tail(16),
    form(
        "nvapi-key",
        &["nvapi-"],
        Sure,
        r"(?<s>nvapi-[A-Za-z0-9_-]{16,})",
    ),
    form(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        Sure,
        r"(?<s>gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    form(
        "gitlab-token",
        &[
            "glpat-", "glrt-", "gldt-", "glptt-", "glft-", "glsoat-", "glcbt-", "glagent-",
            "glimt-",
        ],
        Sure,
        r"(?<s>gl(?:pat|rt|dt|ptt|ft|soat|cbt|agent|imt)-[A-Za-z0-9_.-]{16,})",
    ),
    form(
        "slack-token",
        &["xox", "xapp-"],
        Sure,
        r"(?<s>xox[abceoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{20,})",
    ),
    form(
        "webhook",
        &["hooks.slack.com/"],
        Sure,
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?<s>[A-Za-z0-9_/+-]{20,})",
    ),
    form(
        "webhook",
        &["/api/webhooks/"],
        Sure,
        r"/api/webhooks/[0-9]{10,}/(?<s>[A-Za-z0-9_-]{30,})",
    ),
    form(
        "webhook",
        &["webhook.office.com/", "/incomingwebhook/"],
        Sure,
        r"(?i)webhook\.office\.com/webhookb?2?/(?<s>[^\s/]+/IncomingWebhook/[^\s/]+/[0-9a-f-]{20,}[A-Za-z0-9/_-]*)",
    ),
    form(
        "google-key",
        &["aiza", "gocspx-", "ya29."],
        Sure,
        r"(?<s>AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})",
    ),
    form(
        "stripe-key",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"],
        Sure,
        r"(?<s>(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{16,})",
    ),
    form(
        "npm-token",
        &["npm_"],
        Mixed,
        r"\b(?<s>npm_[A-Za-z0-9]{30,})",
    )
    .tail(30),
    form(
        "pypi-token",
        &["pypi-ageichlwas5vcmc"],
        Sure,
        r"(?<s>pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{20,})",
    ),
    form(
        "hugging-face-token",
        &["hf_", "api_org_"],
        Mixed,
        r"\b(?<s>(?:hf|api_org)_[A-Za-z0-9]{20,})",
    )
    .tail(20),
    form(
        "api-key",
        &["sk-"],
        Random,
        r"\b(?<s>sk-[A-Za-z0-9_-]{20,})",
    )
    .tail(20),
    form(
        "digitalocean-token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        Sure,
        r"(?<s>do[opr]_v1_[a-f0-9]{40,})",
    ),
    form(
        "sendgrid-key",
        &["sg."],
        Mixed,
        r"\b(?<s>SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,})",
    )
    .tail(40),
    form(
        "telegram-token",
        &[":aa"],
        Sure,
        r"\b(?<s>[0-9]{8,10}:AA[A-Za-z0-9_-]{32,})",
    )
    .tail(32),
    form(
        "docker-token",
        &["dckr_pat_", "dckr_oat_", "swmtkn-"],
        Sure,
        r"(?<s>dckr_[po]at_[A-Za-z0-9_-]{20,}|SWMTKN-1-[a-z0-9]{40,}-[a-z0-9]{20,})",
    ),
    form(
        "vault-token",
        &["hvs.", "hvb.", "hvr."],
        Sure,
        r"\b(?<s>hv[sbr]\.[A-Za-z0-9_-]{20,})",
    ),
    form(
        "terraform-token",
        &[".atlasv1."],
        Sure,
        r"(?<s>[A-Za-z0-9]{10,}\.atlasv1\.[A-Za-z0-9_=-]{40,})",
    ),
    form(
        "databricks-token",
        &["dapi"],
        Sure,
        r"\b(?<s>dapi[a-f0-9]{32}(?:-[0-9])?)",
    )
    .tail(32),
    form(
        "grafana-token",
        &["glsa_", "glc_"],
        Mixed,
        r"\b(?<s>gl(?:sa|c)_[A-Za-z0-9+/_=]{30,})",
    ),
    form(
        "new-relic-key",
        &["nrak-", "nrii-", "nraa-"],
        Sure,
        r"(?<s>NR(?:AK|II|AA)-[A-Za-z0-9-]{25,})",
    ),
    form(
        "sentry-token",
        &["sntrys_", "sntryu_"],
        Sure,
        r"(?<s>sntry[su]_[A-Za-z0-9+/=_-]{40,})",
    ),
    form(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        Sure,
        r"(?<s>shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})",
    ),
    form(
        "postman-key",
        &["pmak-"],
        Sure,
        r"(?<s>PMAK-[a-f0-9]{24}-[a-f0-9]{34})",
    ),
    form(
        "linear-key",
        &["lin_api_"],
        Sure,
        r"(?<s>lin_api_[A-Za-z0-9]{30,})",
    ),
    form(
        "dynatrace-token",
        &["dt0c01.", "dt0s"],
        Sure,
        r"\b(?<s>dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64})",
    ),
    form(
        "tailscale-key",
        &["tskey-"],
        Sure,
        r"(?<s>tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]+)",
    ),
    form(
        "age-identity",
        &["age-secret-key-"],
        Sure,
        r"(?i)(?<s>AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,})",
    ),
    form("pulumi-token", &["pul-"], Sure, r"\b(?<s>pul-[a-f0-9]{40})"),
    form(
        "doppler-token",
        &["dp."],
        Sure,
        r"\b(?<s>dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{36,})",
    )
    .tail(38),
    form(
        "planetscale-token",
        &["pscale_"],
        Sure,
        r"(?<s>pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{30,})",
    ),
    form(
        "artifactory-key",
        &["akcp"],
        Mixed,
        r"\b(?<s>AKCp[A-Za-z0-9]{60,})",
    ),
    form(
        "atlassian-token",
        &["atatt3", "atctt3"],
        Sure,
        r"(?<s>AT[AC]TT3[A-Za-z0-9_=-]{50,})",
    ),
    form(
        "alibaba-key",
        &["ltai"],
        Mixed,
        r"\b(?<s>LTAI[A-Za-z0-9]{16,24})\b",
    ),
    form(
        "airtable-token",
        &["pat"],
        Sure,
        r"\b(?<s>pat[A-Za-z0-9]{14}\.[a-f0-9]{64})\b",
    )
    .tail(79),
    form(
        "onepassword-token",
        &["ops_ey"],
        Sure,
        r"\b(?<s>ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3})",
    ),
    form(
        "notion-token",
        &["ntn_"],
        Sure,
        r"\b(?<s>ntn_[A-Za-z0-9]{40,})",
    ),
    form(
        "k3s-token",
        &["k10"],
        Sure,
        r"\b(?<s>K10[a-f0-9]{64}::[A-Za-z0-9_-]+:[A-Za-z0-9._-]+)",
    )
    .tail(64),
    form(
        "rancher-token",
        &["token-", "kubeconfig-u"],
        Sure,
        r"\b(?<s>(?:token|kubeconfig-u|kubeconfig-user)-[a-z0-9]{5,12}:[a-z0-9]{54})",
    ),
    form(
        "azure-secret",
        &["q~"],
        Sure,
        r"(?<s>[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})",
    )
    .tail(31),
    form(
        "azure-key",
        &["accountkey=", "sharedaccesskey=", "sig="],
        Sure,
        r"(?i)(?:AccountKey|SharedAccessKey|[?&;]sig)=(?<s>[A-Za-z0-9+/%=_-]{20,})",
    ),
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
        &["psk ", "psk\t", "xauth ", "xauth\t", "eap ", "eap\t"],
        Sure,
        r#"(?i):\s*(?:PSK|XAUTH|EAP)\s+"(?<s>[^"]+)""#,
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
        &["chpasswd", "--stdin", "-stdin"],
        NotHarmless,
        r#"(?i)\becho\s+(?:-[ne]+\s+)?["']?(?:[\w.-]+:)?(?<s>[^\s"'|]+)["']?\s*\|\s*(?:sudo\s+)?(?:chpasswd|[^|]*-stdin)"#,
    ),
    form(
        "password",
        &["identified by"],
        NotHarmless,
        r#"(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?["'](?<s>[^"']+)["']"#,
    ),
];

/// The classes that placeholders name, with how each is recognised.
pub fn classes() -> Vec<(&'static str, String)> {
    let mut classes: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for spec in SPECS {
        *classes.entry(spec.class).or_default() += 1;
    }
    let by_form = classes
        .into_iter()
        .map(|(class, forms)| (class, format!("by its form ({forms})")));
    let by_name = [
        (
            "password, secret, token, api-key, access-key, credential, auth, cookie",
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
            "left-out, archive",
            "archives, key stores and binary files that cannot be searched",
        ),
    ];
    by_form
        .chain(by_name.map(|(class, how)| (class, how.to_owned())))
        .collect()
}
