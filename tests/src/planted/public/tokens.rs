//! Tokens that name their issuer, in prose.

use super::{Shape, said};
use crate::planted::places::{b64, conf, plain};

pub(super) const SHAPES: &[Shape] = &[
    (
        "Groq token in prose",
        |r| format!("gsk_{}", r.mixed(52)),
        said,
    ),
    (
        "Perplexity token in prose",
        |r| format!("pplx-{}", r.mixed(48)),
        said,
    ),
    (
        "xAI token in prose",
        |r| format!("xai-{}", r.mixed(80)),
        said,
    ),
    (
        "Replicate token in prose",
        |r| format!("r8_{}", r.mixed(37)),
        said,
    ),
    (
        "Supabase token in prose",
        |r| format!("sbp_{}", r.hex(40)),
        said,
    ),
    (
        "Figma token in prose",
        |r| format!("figd_{}", r.mixed(40)),
        said,
    ),
    (
        "Sourcegraph token in prose",
        |r| format!("sgp_{}_{}", r.hex(16), r.hex(40)),
        said,
    ),
    (
        "HubSpot token in prose",
        |r| format!("pat-na1-{}", r.uuid()),
        said,
    ),
    (
        "Netlify token in prose",
        |r| format!("nfp_{}", r.mixed(36)),
        said,
    ),
    (
        "RubyGems key in prose",
        |r| format!("rubygems_{}", r.hex(48)),
        said,
    ),
    (
        "Bitbucket app password in prose",
        |r| format!("ATBB{}", r.mixed(32)),
        said,
    ),
    (
        "Prefect key in prose",
        |r| format!("pnu_{}", r.mixed(36)),
        said,
    ),
    (
        "Fly.io token in prose",
        |r| format!("fo1_{}", r.mixed(43)),
        said,
    ),
    (
        "Grafana API key in prose",
        |r| {
            b64(format!(
                "{{\"k\":\"{}\",\"n\":\"x\",\"id\":1}}",
                r.mixed(32)
            ))
        },
        said,
    ),
    (
        "Vault token of old in prose",
        |r| format!("s.{}", r.mixed(24)),
        said,
    ),
    (
        "GitLab runner registration in prose",
        |r| format!("GR1348941{}", r.mixed(20)),
        said,
    ),
    (
        "GitLab feed token in prose",
        |r| format!("glffct-{}", r.mixed(20)),
        said,
    ),
    (
        "Slack refresh token in prose",
        |r| format!("xoxe-1-{}", r.mixed(146)),
        said,
    ),
    (
        "Square secret in prose",
        |r| format!("sq0csp-{}", r.mixed(43)),
        said,
    ),
    (
        "Cloudflare origin key in prose",
        |r| format!("v1.0-{}-{}", r.hex(24), r.hex(146)),
        said,
    ),
    (
        "EasyPost key in prose",
        |r| format!("EZAK{}", r.mixed(54)),
        said,
    ),
    (
        "Okta SSWS header",
        |r| r.mixed(42),
        |s| plain(format!("> Authorization: SSWS {s}\n")),
    ),
    (
        "Weights & Biases login",
        |r| r.hex(40),
        |s| plain(format!("wandb login {s}\n")),
    ),
    (
        "Weights & Biases netrc",
        |r| r.hex(40),
        |s| {
            conf(
                ".netrc",
                format!("machine api.wandb.ai\n  login user\n  password {s}\n"),
            )
        },
    ),
    (
        "Discord bot header",
        |r| format!("{}.{}.{}", r.mixed(24), r.mixed(6), r.mixed(38)),
        |s| plain(format!("> Authorization: Bot {s}\n")),
    ),
];
