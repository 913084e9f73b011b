//! Tokens of providers whose prefix is all that tells them, and addresses that are secrets themselves.

use super::Check::{Mixed, NotHarmless, Sure};
use super::{Spec, form};

/// Forms found anywhere in a line.
pub(super) const PROVIDERS: &[Spec] = &[
    form(
        "provider-token",
        &[
            "sbp_", "figd_", "sgp_", "nfp_", "rubygems_", "pnu_", "pnb_", "fo1_", "sq0csp-",
            "sq0atp-", "ezak", "eztk", "atbb", "gr1348941", "glffct-", "shippo_", "squ_", "sqp_",
            "sqa_", "tfp_", "nbp_", "phx_", "rdme_", "pcsk_", "jina_", "tvly-", "sb_secret_",
            "hcaik_", "hcxik_", "bkua_", "clojars_", "hrku-", "xkeysib-", "xsmtpsib-", "lsv2_",
            "rpa_", "tk-us-", "cmvmdgtuoj",
        ],
        Mixed,
        r"\b(?<s>(?:sbp_|figd_|sgp_|nfp_|rubygems_|pn[ub]_|fo1_|sq0(?:csp|atp)-|EZ[AT]K|ATBB|GR1348941|glffct-|shippo_|sq[upa]_|tfp_|nbp_|phx_|rdme_|pcsk_|jina_|tvly-|sb_secret_|hc[ax]ik_|bkua_|CLOJARS_|HRKU-|xkeysib-|xsmtpsib-|lsv2_(?:pt|sk)_|rpa_|tk-us-|cmVmdGtuOj)[A-Za-z0-9_-]{20,})",
    )
    .tail(20),
    form(
        "provider-token",
        &["fw_", "rnd_", "ico-", "re_", "cio", "oy2"],
        Mixed,
        r"\b(?<s>(?:fw_[A-Za-z0-9]{24}|rnd_[A-Za-z0-9]{28,}|ico-[A-Za-z0-9]{32}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}|cio[A-Za-z0-9]{32}|oy2[a-z0-9]{43}))\b",
    )
    .tail(24),
    form(
        "provider-token",
        &["avns_", "snyk_uat.", "snyk_sat."],
        Mixed,
        r"\b(?<s>AVNS_[A-Za-z0-9_-]{16,}|snyk_[us]at\.[a-f0-9]{8}\.[A-Za-z0-9_-]{20,})",
    ),
    form(
        "provider-token",
        &["api-", "key-", "sk", "a3-"],
        Sure,
        r"\b(?<s>API-[A-Z0-9]{26}|key-[0-9a-f]{32}|SK[0-9a-f]{32}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{6}-)?[A-Z0-9]{5,11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})\b",
    )
    .tail(26),
    form(
        "provider-token",
        &["eaaa", "eaac", "1//0", "absk"],
        Mixed,
        r"(?:^|[^A-Za-z0-9+/])(?<s>EAA[AC][A-Za-z0-9_-]{50,}|1//0[A-Za-z0-9_-]{40,}|ABSK[A-Za-z0-9+/]{80,}={0,2})",
    )
    .tail(40),
    form(
        "provider-token",
        &["sha256~", "access-production-", "access-sandbox-"],
        Sure,
        r"(?<s>sha256~[A-Za-z0-9_-]{40,}|access-(?:production|sandbox)-[0-9a-f-]{36})",
    ),
    form(
        "provider-token",
        &["pat."],
        Mixed,
        r"\b(?<s>pat\.[A-Za-z0-9_-]{20,24}\.[0-9a-f]{24}\.[A-Za-z0-9]{20})\b",
    )
    .tail(60),
    form(
        "provider-token",
        &["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
        Sure,
        r"\b(?<s>[0-9a-f]{32}-us[0-9]{1,2})\b",
    ),
    form(
        "webhook",
        &["hooks.zapier.com/", "events.pagerduty.com/", "/hooks/"],
        Mixed,
        r"hooks\.zapier\.com/hooks/catch/(?<s>\d+/[a-z0-9]+)|events\.pagerduty\.com/\S*/(?<t>[0-9a-f]{32})|/hooks/(?<u>[a-z0-9]{26}|[A-Za-z0-9]{17,24}/[A-Za-z0-9]{40,})",
    ),
    form(
        "webhook",
        &["?code=", "&code="],
        Mixed,
        r"[?&]code=(?<s>[A-Za-z0-9_/+-]{40,}={0,2})",
    ),
    form(
        "private-key",
        &[
            "ibadanbgkqhkig9w0baqefaasc",
            "ibaakca",
            "mhccaqeei",
            "migkagebbd",
            "mighageambmg",
            "mig2ageambag",
            "mc4caqawbqydk2vw",
            "b3blbnnzac1rzxktdje",
        ],
        Sure,
        r"(?<s>(?:MII[A-Za-z0-9+/]{3}IB(?:ADANBgkqhkiG9w0BAQEFAASC|AAKCA)|MHcCAQEEI|MIGkAgEBBD|MIGHAgEAMBMG|MIG2AgEAMBAG|MC4CAQAwBQYDK2Vw|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/]{20,}={0,2})",
    ),
    form(
        "credential",
        &["netroot=", "login=", "inline:{"],
        NotHarmless,
        r"\b(?:netroot=iscsi:|login=)[^\s:@]+:(?<s>[^\s@]+)|\binline:\{\s*[^\s=]+=[^\s:}]+:(?<t>[^\s}]+)",
    ),
];
