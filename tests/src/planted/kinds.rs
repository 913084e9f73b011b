//! The kinds of secrets that are planted: what they look like, and under which name people keep them.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::rng::Rng;

/// One kind of secret.
pub(super) struct Kind {
    /// Its name in the table.
    pub(super) id: &'static str,
    /// The name of the variable or field that holds it.
    pub(super) key: &'static str,
    /// Makes one.
    pub(super) make: fn(&mut Rng) -> String,
    /// It gives itself away by its form, so that it is found in prose as well.
    pub(super) formed: bool,
}

const fn formed(id: &'static str, key: &'static str, make: fn(&mut Rng) -> String) -> Kind {
    Kind {
        id,
        key,
        make,
        formed: true,
    }
}

const fn named(id: &'static str, key: &'static str, make: fn(&mut Rng) -> String) -> Kind {
    Kind {
        id,
        key,
        make,
        formed: false,
    }
}

/// Base64 of random bytes.
pub(super) fn base64(rng: &mut Rng, bytes: usize) -> String {
    STANDARD.encode(rng.bytes(bytes))
}

fn jwt(rng: &mut Rng) -> String {
    let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","kid":"x"}"#);
    let body = format!(
        r#"{{"iss":"kubernetes/serviceaccount","sub":"{}"}}"#,
        rng.uuid()
    );
    format!(
        "{head}.{}.{}",
        URL_SAFE_NO_PAD.encode(body),
        URL_SAFE_NO_PAD.encode(rng.bytes(64))
    )
}

fn azure_client_secret(rng: &mut Rng) -> String {
    format!("{}8Q~{}", rng.mixed(3), rng.mixed(34))
}

/// All kinds that fit on one line.
pub(super) const KINDS: &[Kind] = &[
    formed("AWS access key id", "AWS_ACCESS_KEY_ID", |r| {
        format!("AKIA{}", r.capitals(16))
    }),
    formed("AWS temporary key id", "AWS_ACCESS_KEY_ID", |r| {
        format!("ASIA{}", r.capitals(16))
    }),
    named("AWS secret access key", "AWS_SECRET_ACCESS_KEY", |r| {
        r.mixed(40)
    }),
    named("AWS session token", "AWS_SESSION_TOKEN", |r| base64(r, 90)),
    formed("GitHub personal token", "GITHUB_TOKEN", |r| {
        format!("ghp_{}", r.mixed(36))
    }),
    formed("GitHub OAuth token", "GH_TOKEN", |r| {
        format!("gho_{}", r.mixed(36))
    }),
    formed("GitHub server token", "GITHUB_TOKEN", |r| {
        format!("ghs_{}", r.mixed(36))
    }),
    formed("GitHub refresh token", "REFRESH_TOKEN", |r| {
        format!("ghr_{}", r.mixed(36))
    }),
    formed("GitHub fine-grained token", "GITHUB_PAT", |r| {
        format!("github_pat_{}_{}", r.mixed(22), r.mixed(59))
    }),
    formed("GitLab personal token", "GITLAB_TOKEN", |r| {
        format!("glpat-{}", r.mixed(20))
    }),
    formed("GitLab runner token", "RUNNER_TOKEN", |r| {
        format!("glrt-{}", r.mixed(20))
    }),
    formed("GitLab deploy token", "DEPLOY_TOKEN", |r| {
        format!("gldt-{}", r.mixed(20))
    }),
    formed("Slack bot token", "SLACK_TOKEN", |r| {
        format!(
            "xoxb-{}-{}-{}",
            r.text(11, "123456789"),
            r.text(12, "123456789"),
            r.mixed(24)
        )
    }),
    formed("Slack app token", "SLACK_APP_TOKEN", |r| {
        format!(
            "xapp-1-{}-{}-{}",
            r.capitals(10),
            r.text(12, "123456789"),
            r.hex(64)
        )
    }),
    formed("Slack webhook", "SLACK_WEBHOOK_URL", |r| {
        format!(
            "https://hooks.slack.com/services/T{}/B{}/{}",
            r.capitals(9),
            r.capitals(10),
            r.mixed(24)
        )
    }),
    formed("Discord webhook", "DISCORD_WEBHOOK", |r| {
        format!(
            "https://discord.com/api/webhooks/{}/{}",
            r.text(18, "123456789"),
            r.mixed(68)
        )
    }),
    formed("Teams webhook", "TEAMS_WEBHOOK", |r| {
        format!(
            "https://corp.webhook.office.com/webhookb2/{}@{}/IncomingWebhook/{}/{}",
            r.uuid(),
            r.uuid(),
            r.hex(32),
            r.uuid()
        )
    }),
    formed("Google API key", "GOOGLE_API_KEY", |r| {
        format!("AIza{}", r.mixed(35))
    }),
    formed("Google OAuth secret", "GOOGLE_CLIENT_SECRET", |r| {
        format!("GOCSPX-{}", r.mixed(28))
    }),
    formed("Google access token", "GOOGLE_ACCESS_TOKEN", |r| {
        format!("ya29.a0{}", r.mixed(120))
    }),
    formed("Stripe secret key", "STRIPE_API_KEY", |r| {
        format!("sk_live_{}", r.mixed(24))
    }),
    formed("Stripe restricted key", "STRIPE_API_KEY", |r| {
        format!("rk_live_{}", r.mixed(24))
    }),
    formed("npm token", "NPM_TOKEN", |r| format!("npm_{}", r.mixed(36))),
    formed("PyPI token", "PYPI_TOKEN", |r| {
        format!("pypi-AgEIcHlwaS5vcmc{}", r.mixed(60))
    }),
    formed("Hugging Face token", "HF_TOKEN", |r| {
        format!("hf_{}", r.mixed(34))
    }),
    formed("OpenAI key", "OPENAI_API_KEY", |r| {
        format!("sk-{}", r.mixed(48))
    }),
    formed("OpenAI project key", "OPENAI_API_KEY", |r| {
        format!("sk-proj-{}", r.mixed(60))
    }),
    formed("Anthropic key", "ANTHROPIC_API_KEY", |r| {
        format!("sk-ant-api03-{}", r.mixed(80))
    }),
    formed("NGC API key", "NGC_API_KEY", |r| {
        format!("nvapi-{}", r.mixed(64))
    }),
    named("NGC legacy key", "NGC_API_KEY", |r| base64(r, 63)),
    formed("DigitalOcean token", "DIGITALOCEAN_TOKEN", |r| {
        format!("dop_v1_{}", r.hex(64))
    }),
    formed("SendGrid key", "SENDGRID_API_KEY", |r| {
        format!("SG.{}.{}", r.mixed(22), r.mixed(43))
    }),
    formed("Telegram bot token", "TELEGRAM_TOKEN", |r| {
        format!("{}:AA{}", r.text(10, "123456789"), r.mixed(33))
    }),
    formed("Docker Hub token", "DOCKERHUB_TOKEN", |r| {
        format!("dckr_pat_{}", r.mixed(27))
    }),
    formed("Vault service token", "VAULT_TOKEN", |r| {
        format!("hvs.{}", r.mixed(90))
    }),
    formed("Vault batch token", "VAULT_TOKEN", |r| {
        format!("hvb.{}", r.mixed(138))
    }),
    formed("Terraform Cloud token", "TFE_TOKEN", |r| {
        format!("{}.atlasv1.{}", r.mixed(14), r.mixed(64))
    }),
    formed("Databricks token", "DATABRICKS_TOKEN", |r| {
        format!("dapi{}", r.hex(32))
    }),
    formed("Grafana service token", "GRAFANA_TOKEN", |r| {
        format!("glsa_{}_{}", r.mixed(32), r.hex(8))
    }),
    formed("Grafana cloud token", "GRAFANA_CLOUD_TOKEN", |r| {
        format!("glc_{}", r.mixed(60))
    }),
    formed("New Relic key", "NEW_RELIC_API_KEY", |r| {
        format!("NRAK-{}", r.capitals(27))
    }),
    formed("Sentry token", "SENTRY_AUTH_TOKEN", |r| {
        format!("sntrys_{}", r.mixed(60))
    }),
    formed("Shopify token", "SHOPIFY_TOKEN", |r| {
        format!("shpat_{}", r.hex(32))
    }),
    formed("Postman key", "POSTMAN_API_KEY", |r| {
        format!("PMAK-{}-{}", r.hex(24), r.hex(34))
    }),
    formed("Linear key", "LINEAR_API_KEY", |r| {
        format!("lin_api_{}", r.mixed(40))
    }),
    formed("Dynatrace token", "DT_API_TOKEN", |r| {
        format!("dt0c01.{}.{}", r.capitals(24), r.capitals(64))
    }),
    formed("Tailscale key", "TS_AUTHKEY", |r| {
        format!("tskey-auth-{}-{}", r.mixed(12), r.mixed(32))
    }),
    formed("age identity", "SOPS_AGE_KEY", |r| {
        format!(
            "AGE-SECRET-KEY-1{}",
            r.text(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
        )
    }),
    formed("Pulumi token", "PULUMI_ACCESS_TOKEN", |r| {
        format!("pul-{}", r.hex(40))
    }),
    formed("Doppler token", "DOPPLER_TOKEN", |r| {
        format!("dp.pt.{}", r.mixed(43))
    }),
    formed("PlanetScale token", "DATABASE_TOKEN", |r| {
        format!("pscale_tkn_{}", r.mixed(43))
    }),
    formed("Artifactory key", "ARTIFACTORY_API_KEY", |r| {
        format!("AKCp{}", r.mixed(69))
    }),
    formed("Atlassian token", "JIRA_API_TOKEN", |r| {
        format!("ATATT3xFfGF0{}", r.mixed(170))
    }),
    formed("Alibaba key id", "ALIBABA_ACCESS_KEY_ID", |r| {
        format!("LTAI{}", r.mixed(20))
    }),
    formed("Docker swarm token", "SWARM_JOIN_TOKEN", |r| {
        format!(
            "SWMTKN-1-{}-{}",
            r.text(50, "0123456789abcdefghijklmnop"),
            r.text(25, "0123456789abcdefghijklmnop")
        )
    }),
    formed("k3s node token", "K3S_TOKEN", |r| {
        format!("K10{}::server:{}", r.hex(64), r.hex(32))
    }),
    formed("Rancher API token", "RANCHER_TOKEN", |r| {
        format!(
            "token-{}:{}",
            r.text(5, "bcdfghjklm24567"),
            r.text(54, "bcdfghjklmnpqrstvwxz2456789")
        )
    }),
    named("kubeadm bootstrap token", "BOOTSTRAP_TOKEN", |r| {
        format!("{}.{}", r.hex(6), r.hex(16))
    }),
    named("kubeadm certificate key", "CERTIFICATE_KEY", |r| r.hex(64)),
    formed("Kubernetes service account token", "BEARER_TOKEN", jwt),
    formed("JSON web token", "ID_TOKEN", jwt),
    named("Azure storage key", "AZURE_STORAGE_KEY", |r| base64(r, 64)),
    formed(
        "Azure client secret",
        "AZURE_CLIENT_SECRET",
        azure_client_secret,
    ),
    formed("Unix password hash", "ROOT_PASSWORD_HASH", |r| {
        format!("$6${}${}", r.mixed(16), r.mixed(86))
    }),
    formed("bcrypt hash", "ADMIN_PASSWORD", |r| {
        format!("$2b$12${}", r.mixed(53))
    }),
    formed("yescrypt hash", "USER_PASSWORD", |r| {
        format!("$y$j9T${}${}", r.mixed(22), r.mixed(43))
    }),
    formed("argon2 hash", "ADMIN_PASSWORD", |r| {
        format!("$argon2id$v=19$m=65536$t=3${}${}", r.mixed(22), r.mixed(43))
    }),
    named("WireGuard private key", "PrivateKey", |r| base64(r, 32)),
    named("encryption key", "ENCRYPTION_KEY", |r| base64(r, 32)),
    named("Twilio auth token", "TWILIO_AUTH_TOKEN", |r| r.hex(32)),
    named("Datadog API key", "DD_API_KEY", |r| r.hex(32)),
    named("Cloudflare token", "CLOUDFLARE_API_TOKEN", |r| r.mixed(40)),
    named("Consul token", "CONSUL_HTTP_TOKEN", |r| r.uuid()),
    named("Elastic password", "ELASTIC_PASSWORD", |r| r.mixed(20)),
    named("database password", "DB_PASSWORD", |r| r.mixed(12)),
    named("password with marks", "MYSQL_PASSWORD", |r| {
        format!("{}!%{}-+{}", r.mixed(5), r.mixed(4), r.mixed(4))
    }),
    named("password of words", "POSTGRES_PASSWORD", |r| {
        format!(
            "{}-{}-{}",
            r.text(6, "bcdfgaeiou"),
            r.text(7, "klmnpaeiou"),
            r.text(6, "rstvwaeiou")
        )
    }),
    named("password of digits", "UNLOCK_PASSWORD", |r| {
        r.text(8, "23456789")
    }),
    named("passphrase", "TLS_PASSPHRASE", |r| r.mixed(24)),
    named("client secret", "OIDC_CLIENT_SECRET", |r| r.mixed(32)),
    named("API key", "VENDOR_API_KEY", |r| r.mixed(32)),
    named("session cookie", "SESSION_COOKIE", |r| r.mixed(40)),
    named("signing key", "JWT_SIGNING_KEY", |r| r.mixed(48)),
    named("licence key", "LICENSE_KEY", |r| {
        format!(
            "{}-{}-{}-{}",
            r.capitals(5),
            r.capitals(5),
            r.capitals(5),
            r.capitals(5)
        )
    }),
    named("bind password", "LDAP_BIND_PW", |r| r.mixed(14)),
    named("registry auth", "REGISTRY_AUTH", |r| {
        STANDARD.encode(format!("$oauthtoken:{}", r.mixed(40)))
    }),
];

/// Kinds of private keys over several lines: the first line's name, the last one's, and what stands in front of the body.
pub(super) const BLOCKS: &[(&str, &str)] = &[
    ("RSA private key", "RSA PRIVATE KEY"),
    ("EC private key", "EC PRIVATE KEY"),
    ("PKCS 8 private key", "PRIVATE KEY"),
    ("encrypted private key", "ENCRYPTED PRIVATE KEY"),
    ("OpenSSH private key", "OPENSSH PRIVATE KEY"),
    ("DSA private key", "DSA PRIVATE KEY"),
    ("PGP private key", "PGP PRIVATE KEY BLOCK"),
];

/// A private key in its armour; the lines of the body come separately, as what must not be seen.
pub(super) fn block(rng: &mut Rng, name: &str) -> (String, Vec<String>) {
    let lengths = [48, 48, 48, 48, 48, 48, 20];
    let body: Vec<String> = lengths
        .into_iter()
        .map(|length| base64(rng, length))
        .collect();
    let text = format!(
        "-----BEGIN {name}-----\n{}\n-----END {name}-----\n",
        body.join("\n")
    );
    (text, body)
}
