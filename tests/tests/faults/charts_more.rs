//! More charts and operators, whose Secrets hold files of their own notation: INI, TOML, XML, YAML, environment files and
//! connection strings with names and credentials on one line.

use crate::charts::{Chart, chart};

pub(crate) const MORE: &[Chart] = &[
    chart(
        "cert-manager-dns01",
        &[
            ("email", "certs-admin7@example.com"),
            ("api-token", "{gen}"),
            ("hosted-zone", "zone-inference01.example.com"),
            ("tls.key.pass", "{human}"),
        ],
        &["zone-inference01.example.com"],
    ),
    chart(
        "velero-cloud",
        &[(
            "cloud",
            "[default]\naws_access_key_id={aws}\naws_secret_access_key={awskey}\nregion=eu-central-1\n[backup-profile2]\nrole_arn=arn:aws:iam::123456789012:role/velero-server2\n",
        )],
        &[
            "backup-profile2",
            "arn:aws:iam::123456789012:role/velero-server2",
        ],
    ),
    chart(
        "oauth2-proxy4",
        &[
            ("client-id", "grafana-frontend4"),
            ("client-secret", "{gen}"),
            ("cookie-secret", "{b64}"),
            (
                "redirect-url",
                "https://grafana4.example.com/oauth2/callback",
            ),
        ],
        &[
            "grafana-frontend4",
            "https://grafana4.example.com/oauth2/callback",
        ],
    ),
    chart(
        "thanos-objstore8",
        &[(
            "objstore.yml",
            "type: S3\nconfig:\n  bucket: thanos-blocks-2025\n  endpoint: minio-tenant8-hl.{ns}.svc:9000\n  access_key: {aws}\n  secret_key: {awskey}\n",
        )],
        &["thanos-blocks-2025", "minio-tenant8-hl.{ns}.svc:9000"],
    ),
    chart(
        "clickhouse-users6",
        &[
            (
                "users.xml",
                "<clickhouse><users><metrics-reader6><password>{gen}</password><networks><ip>10.42.0.0/16</ip></networks></metrics-reader6></users></clickhouse>",
            ),
            ("cluster", "clickhouse6-shard0"),
        ],
        &["metrics-reader6", "clickhouse6-shard0"],
    ),
    chart(
        "temporal-sql3",
        &[(
            "config.toml",
            "[datastore]\nhost = \"temporal-pg3.{ns}.svc\"\nuser = \"temporal-owner3\"\npassword = \"{gen}\"\ndatabase = \"temporal3-visibility\"\n",
        )],
        &[
            "temporal-pg3.{ns}.svc",
            "temporal-owner3",
            "temporal3-visibility",
        ],
    ),
    chart(
        "nats-auth9",
        &[(
            "nats.conf",
            "authorization { users = [ { user: \"edge-gateway09\", password: \"{gen}\" } ] }\ncluster { name: \"nats-cluster09\" }\n",
        )],
        &["edge-gateway09", "nats-cluster09"],
    ),
    chart(
        "gitlab-runner5",
        &[
            ("runner-registration-token", "{pat}"),
            ("CI_SERVER_URL", "https://gitlab5.example.com/"),
            ("RUNNER_TAG_LIST", "gpu-a100,cuda-12-4"),
        ],
        &["https://gitlab5.example.com/", "gpu-a100,cuda-12-4"],
    ),
    chart(
        "mysql-operator2",
        &[
            ("rootUser", "root"),
            ("rootHost", "mysql-router2.{ns}.svc"),
            ("rootPassword", "{human}"),
            (
                "dsn",
                "billing-app02:{gen}@tcp(mysql-router2.{ns}.svc:6446)/billing2024?parseTime=true",
            ),
        ],
        &["mysql-router2.{ns}.svc", "billing-app02", "billing2024"],
    ),
    chart(
        "longhorn-backup1",
        &[
            ("AWS_ENDPOINTS", "https://minio-backup1.example.com:9000"),
            ("AWS_ACCESS_KEY_ID", "{aws}"),
            ("AWS_SECRET_ACCESS_KEY", "{awskey}"),
            ("VIRTUAL_HOSTED_STYLE", "longhorn-backups-1"),
        ],
        &[
            "https://minio-backup1.example.com:9000",
            "longhorn-backups-1",
        ],
    ),
    chart(
        "dex-connector3",
        &[(
            "config.yaml",
            "issuer: https://dex3.example.com/dex\nstaticClients:\n- id: argo-workflows3\n  secret: {gen}\n  redirectURIs: ['https://argo3.example.com/oauth2/callback']\n",
        )],
        &[
            "https://dex3.example.com/dex",
            "argo-workflows3",
            "https://argo3.example.com/oauth2/callback",
        ],
    ),
    chart(
        "rancher-import7",
        &[
            ("cluster", "c-m-7xk2p9qd"),
            ("url", "https://rancher7.example.com"),
            ("token", "{hex}"),
            ("namespace", "cattle-system7"),
        ],
        &["https://rancher7.example.com", "cattle-system7"],
    ),
    chart(
        "opensearch-admin4",
        &[
            ("username", "opensearch-admin4"),
            ("password", "{gen}"),
            (
                "internal_users.yml",
                "kibanaserver4:\n  hash: \"{b64}\"\n  reserved: true\n  description: \"dashboards-node4\"\n",
            ),
        ],
        &["opensearch-admin4", "kibanaserver4", "dashboards-node4"],
    ),
    chart(
        "vllm-endpoint6",
        &[
            ("HUGGING_FACE_HUB_TOKEN", "{hf}"),
            ("MODEL", "mistralai/Mistral-7B-Instruct-v0.3"),
            ("SERVED_NAME", "mistral-7b-chat6"),
            ("BASE_URL", "http://vllm-router6.{ns}.svc:8000/v1"),
            ("API_KEY", "{gen2}"),
        ],
        &[
            "mistralai/Mistral-7B-Instruct-v0.3",
            "mistral-7b-chat6",
            "http://vllm-router6.{ns}.svc:8000/v1",
        ],
    ),
];
