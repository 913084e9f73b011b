//! What 30 kinds of charts and operators keep in their Secrets: names, hosts, ports, users, models and URLs beside
//! credentials. `{ns}` is the namespace, `{at}` its number; the other words in braces are credentials, each another.

/// A chart's Secret, and which of its values stand elsewhere in the cluster for all to read.
pub(crate) struct Chart {
    pub(crate) secret: &'static str,
    pub(crate) values: &'static [(&'static str, &'static str)],
    pub(crate) public: &'static [&'static str],
}

/// Shapes of credentials that a value may hold.
pub(crate) const SHAPES: [&str; 10] = [
    "{gen}", "{gen2}", "{hex}", "{b64}", "{human}", "{hf}", "{aws}", "{awskey}", "{pat}", "{word}",
];

pub(crate) const fn chart(
    secret: &'static str,
    values: &'static [(&'static str, &'static str)],
    public: &'static [&'static str],
) -> Chart {
    Chart {
        secret,
        values,
        public,
    }
}

pub(crate) const CHARTS: &[Chart] = &[
    chart(
        "pg16-cluster-app",
        &[
            ("username", "app-owner-2024"),
            ("user", "app-owner-2024"),
            ("password", "{gen}"),
            ("dbname", "inference01db"),
            ("host", "pg16-cluster{at}-rw"),
            ("port", "5432"),
            (
                "uri",
                "postgresql://app-owner-2024:{gen}@pg16-cluster{at}-rw.{ns}:5432/inference01db",
            ),
            (
                "jdbc-uri",
                "jdbc:postgresql://pg16-cluster{at}-rw.{ns}:5432/inference01db?password={gen}&user=app-owner-2024",
            ),
            (
                "fqdn-uri",
                "postgresql://app-owner-2024:{gen}@pg16-cluster{at}-rw.{ns}.svc.cluster.local:5432/inference01db",
            ),
            (
                "pgpass",
                "pg16-cluster{at}-rw:5432:inference01db:app-owner-2024:{gen}\n",
            ),
        ],
        &[
            "pg16-cluster{at}-rw",
            "app-owner-2024",
            "inference01db",
            "pg16-cluster{at}-rw.{ns}.svc.cluster.local",
        ],
    ),
    chart(
        "postgresql",
        &[
            ("postgres-password", "{gen}"),
            ("password", "{gen2}"),
            ("replication-password", "{hex}"),
        ],
        &[],
    ),
    chart(
        "redis-master1",
        &[
            ("redis-password", "{gen}"),
            ("REDIS_ADDR", "redis-master1.{ns}.svc:6379"),
            ("config", "redis-sentinel01.{ns}"),
        ],
        &["redis-master1.{ns}.svc:6379", "redis-sentinel01.{ns}"],
    ),
    chart(
        "rabbitmq7-default-user",
        &[
            ("host", "rabbitmq7.{ns}.svc"),
            ("port", "5672"),
            ("provider", "rabbitmq"),
            ("type", "rabbitmq"),
            ("username", "training-publisher01"),
            ("password", "{gen}"),
            (
                "connection_string",
                "amqp://training-publisher01:{gen}@rabbitmq7.{ns}.svc:5672/",
            ),
            (
                "default_user.conf",
                "default_user = training-publisher01\ndefault_pass = {gen}\n",
            ),
        ],
        &["rabbitmq7.{ns}.svc", "training-publisher01"],
    ),
    chart(
        "kafka-consumer42",
        &[
            ("password", "{gen}"),
            (
                "sasl.jaas.config",
                "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"kafka-consumer42\" password=\"{gen}\";",
            ),
            ("bootstrap.servers", "kafka3-kafka-bootstrap.{ns}:9093"),
            ("sasl.mechanism", "SCRAM-SHA-512"),
        ],
        &[
            "kafka-consumer42",
            "kafka3-kafka-bootstrap.{ns}:9093",
            "SCRAM-SHA-512",
        ],
    ),
    chart(
        "minio-tenant1",
        &[
            ("rootUser", "minio-root-admin1"),
            ("rootPassword", "{gen}"),
            ("endpoint", "http://minio-tenant1-hl:9000"),
            ("MINIO_BUCKET", "models-eu-central-1"),
            ("secretName", "minio-tenant1"),
            (
                "config.env",
                "export MINIO_ROOT_USER=\"minio-root-admin1\"\nexport MINIO_ROOT_PASSWORD=\"{gen}\"\nexport MINIO_STORAGE_CLASS_STANDARD=\"EC:4\"\n",
            ),
        ],
        &[
            "minio-root-admin1",
            "http://minio-tenant1-hl:9000",
            "models-eu-central-1",
            "minio-tenant1",
        ],
    ),
    chart("logging-es01-es-elastic-user", &[("elastic", "{gen}")], &[]),
    chart(
        "grafana",
        &[
            ("admin-user", "grafana-admin2024"),
            ("admin-password", "{human}"),
            ("ldap-toml", ""),
            ("GF_SERVER_ROOT_URL", "https://grafana-gpu1.example.com"),
        ],
        &["grafana-admin2024", "https://grafana-gpu1.example.com"],
    ),
    chart(
        "argocd-repo-1234567890",
        &[
            ("type", "git"),
            (
                "url",
                "https://git.example.com/gpu-platform/cluster-config01.git",
            ),
            ("username", "argocd-reader01"),
            ("password", "{pat}"),
            ("project", "gpu-platform-prod1"),
            ("name", "cluster-config01"),
        ],
        &[
            "https://git.example.com/gpu-platform/cluster-config01.git",
            "argocd-reader01",
            "gpu-platform-prod1",
            "cluster-config01",
        ],
    ),
    chart(
        "cluster-h100-east1",
        &[
            ("name", "h100-east1-prod"),
            ("server", "https://api.h100-east1.example.com:6443"),
            (
                "config",
                "{\"bearerToken\":\"{b64}\",\"tlsClientConfig\":{\"serverName\":\"h100-east1-apiserver\"}}",
            ),
        ],
        &[
            "h100-east1-prod",
            "https://api.h100-east1.example.com:6443",
            "h100-east1-apiserver",
        ],
    ),
    chart(
        "harbor-core",
        &[
            ("HARBOR_ADMIN_PASSWORD", "{human}"),
            ("secretKey", "{hex}"),
            ("REGISTRY_CREDENTIAL_USERNAME", "harbor_registry_user"),
            ("REGISTRY_CREDENTIAL_PASSWORD", "{gen}"),
            ("POSTGRESQL_HOST", "harbor-database01"),
            ("POSTGRESQL_DATABASE", "registry2prod"),
            (
                "_REDIS_URL_CORE",
                "redis://harbor-redis01:6379/0?idle_timeout_seconds=30",
            ),
        ],
        &[
            "harbor_registry_user",
            "harbor-database01",
            "registry2prod",
            "redis://harbor-redis01:6379/0?idle_timeout_seconds=30",
        ],
    ),
    chart(
        "keycloak-db2",
        &[
            ("KEYCLOAK_ADMIN", "keycloak-admin01"),
            ("KEYCLOAK_ADMIN_PASSWORD", "{gen}"),
            (
                "KC_DB_URL",
                "jdbc:postgresql://keycloak-db2:5432/keycloak24",
            ),
            ("KC_HOSTNAME", "sso2.gpu.example.com"),
            ("realm", "gpu-platform-prod1"),
        ],
        &[
            "keycloak-admin01",
            "jdbc:postgresql://keycloak-db2:5432/keycloak24",
            "sso2.gpu.example.com",
        ],
    ),
    chart(
        "registry-pull1",
        &[(
            ".dockerconfigjson",
            "{\"auths\":{\"registry1.example.com:5000\":{\"username\":\"pull-robot01\",\"password\":\"{gen}\"}}}",
        )],
        &["registry1.example.com:5000", "pull-robot01"],
    ),
    chart(
        "ngc-secret",
        &[
            ("NGC_API_KEY", "{b64}"),
            (
                ".dockerconfigjson",
                "{\"auths\":{\"nvcr.io\":{\"username\":\"$oauthtoken\",\"password\":\"{b64}\"}}}",
            ),
            ("NIM_MODEL_NAME", "meta/llama-3.1-70b-instruct"),
        ],
        &["meta/llama-3.1-70b-instruct"],
    ),
    chart(
        "llm-settings1",
        &[
            ("HF_TOKEN", "{hf}"),
            ("MODEL_NAME", "Qwen2.5-72B-Instruct-AWQ"),
            ("LLM", "Qwen2.5-72B-Instruct-AWQ"),
            ("OPENAI_BASE_URL", "http://vllm-router1.models/v1"),
            ("served", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B"),
            ("VLLM_API_KEY", "{gen}"),
        ],
        &[
            "Qwen2.5-72B-Instruct-AWQ",
            "http://vllm-router1.models/v1",
            "deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
        ],
    ),
    chart(
        "mlflow-s3",
        &[
            ("AWS_ACCESS_KEY_ID", "{aws}"),
            ("AWS_SECRET_ACCESS_KEY", "{awskey}"),
            ("MLFLOW_S3_ENDPOINT_URL", "http://minio-tenant1-hl:9000"),
            ("bucket", "mlflow-artifacts-prod01"),
            ("AWS_DEFAULT_REGION", "eu-central-1"),
        ],
        &["mlflow-artifacts-prod01", "http://minio-tenant1-hl:9000"],
    ),
    chart(
        "airflow-metadata3",
        &[
            (
                "connection",
                "postgresql+psycopg2://airflow-app01:{gen}@airflow-postgresql3.{ns}:5432/airflow28",
            ),
            ("fernet-key", "{b64}"),
            ("webserver-secret-key", "{hex}"),
            ("executor", "KubernetesExecutor"),
        ],
        &[
            "airflow-app01",
            "airflow-postgresql3.{ns}",
            "KubernetesExecutor",
        ],
    ),
    chart(
        "hub",
        &[
            ("hub.config.ConfigurableHTTPProxy.auth_token", "{hex}"),
            ("hub.config.CryptKeeper.keys", "{hex}"),
            (
                "values.yaml",
                "hub:\n  config:\n    JupyterHub:\n      admin_users: [notebook-admin01]\n      authenticator_class: oauthenticator.generic.GenericOAuthenticator\n    GenericOAuthenticator:\n      client_id: jupyterhub-gpu01\n      client_secret: {gen}\n",
            ),
        ],
        &[
            "notebook-admin01",
            "jupyterhub-gpu01",
            "oauthenticator.generic.GenericOAuthenticator",
        ],
    ),
    chart(
        "rook-csi-rbd-node",
        &[
            ("userID", "csi-rbd-node"),
            ("userKey", "{b64}"),
            ("fsid", "2f6c1c54-5d0e-4b0e-9a54-0123456789ab"),
            ("clusterName", "rook-ceph-gpu01"),
            ("pool", "replicapool-nvme3"),
        ],
        &["csi-rbd-node", "rook-ceph-gpu01", "replicapool-nvme3"],
    ),
    chart(
        "alertmanager-main2",
        &[(
            "alertmanager.yaml",
            "route:\n  receiver: oncall-gpu-team1\nreceivers:\n- name: oncall-gpu-team1\n  slack_configs:\n  - channel: '#gpu-alerts-prod1'\n    api_url: https://hooks.slack.example.com/services/T01/B02/{gen}\n",
        )],
        &["oncall-gpu-team1", "#gpu-alerts-prod1"],
    ),
    chart(
        "pxc1-secrets",
        &[
            ("root", "{gen}"),
            ("operator", "{gen2}"),
            ("monitor", "{hex}"),
            ("MYSQL_HOST", "pxc1-haproxy.{ns}"),
            ("MYSQL_DATABASE", "feature_store_v2"),
        ],
        &["pxc1-haproxy.{ns}", "feature_store_v2"],
    ),
    chart(
        "mongo6-admin-app",
        &[
            ("username", "mongo-app-user01"),
            ("password", "{gen}"),
            (
                "connectionString.standard",
                "mongodb://mongo-app-user01:{gen}@mongo6-0.mongo6-svc.{ns}.svc:27017/admin?replicaSet=mongo6&ssl=false",
            ),
        ],
        &[
            "mongo-app-user01",
            "mongo6-0.mongo6-svc.{ns}.svc",
            "mongo6-svc.{ns}",
        ],
    ),
    chart(
        "wandb1",
        &[
            ("WANDB_API_KEY", "{hex}"),
            ("WANDB_BASE_URL", "https://wandb1.example.com"),
            ("WANDB_PROJECT", "llama3-finetune-v2"),
            ("WANDB_ENTITY", "research-team-04"),
        ],
        &[
            "https://wandb1.example.com",
            "llama3-finetune-v2",
            "research-team-04",
        ],
    ),
    chart(
        "app-env2",
        &[(
            ".env",
            "DATABASE_HOST=mysql-primary01\nDATABASE_USER=checkout-svc-01\nDATABASE_PASSWORD={gen}\nFEATURE_FLAGS=batching_v2,kvcache_fp8\nSENTRY_ENVIRONMENT=prod-eu-central-1\n",
        )],
        &[
            "mysql-primary01",
            "checkout-svc-01",
            "batching_v2,kvcache_fp8",
            "prod-eu-central-1",
        ],
    ),
    chart(
        "git-sync1",
        &[
            ("GIT_SYNC_USERNAME", "git-sync-bot01"),
            ("GIT_SYNC_PASSWORD", "{pat}"),
            (
                "GIT_SYNC_REPO",
                "https://git.example.com/ml/pipelines-v2.git",
            ),
            ("branch", "release-2024.11"),
        ],
        &[
            "git-sync-bot01",
            "https://git.example.com/ml/pipelines-v2.git",
            "release-2024.11",
        ],
    ),
    chart(
        "slurm-db1",
        &[
            ("StorageHost", "slurmdbd-mysql01"),
            ("StorageUser", "slurm_acct_user"),
            ("StoragePass", "{gen}"),
            ("munge-info", "ok"),
            ("ClusterName", "gpu-cluster-a100x8"),
        ],
        &["slurmdbd-mysql01", "slurm_acct_user", "gpu-cluster-a100x8"],
    ),
    chart(
        "smtp-relay2",
        &[
            ("SMTP_HOST", "smtp-relay2.example.com"),
            ("SMTP_FROM", "gpu-alerts01@example.com"),
            ("SMTP_USERNAME", "gpu-alerts01"),
            ("SMTP_PASSWORD", "{human}"),
        ],
        &[
            "smtp-relay2.example.com",
            "gpu-alerts01@example.com",
            "gpu-alerts01",
        ],
    ),
    chart(
        "qdrant-vectors1",
        &[
            ("api-key", "{gen}"),
            ("url", "http://qdrant-vectors1.{ns}:6333"),
            ("collection", "embeddings-e5-large-v2"),
            ("EMBEDDING_MODEL", "intfloat/multilingual-e5-large-instruct"),
        ],
        &[
            "http://qdrant-vectors1.{ns}:6333",
            "embeddings-e5-large-v2",
            "intfloat/multilingual-e5-large-instruct",
        ],
    ),
    chart(
        "license-server3",
        &[
            ("server", "licenses3.example.com"),
            ("LICENSE_KEY", "{gen}"),
            ("edition", "enterprise-2024b"),
            ("client_configuration_token.tok", "{b64}"),
        ],
        &["licenses3.example.com", "enterprise-2024b"],
    ),
    chart(
        "triton-repo5",
        &[
            (
                "MODEL_REPOSITORY",
                "s3://https://minio-tenant1-hl:9000/triton-models-v5",
            ),
            ("TRITON_AWS_MOUNT_DIRECTORY", "/mnt/triton-models-v5"),
            ("passphrase", "{word}"),
            ("backend", "tensorrtllm_24.10"),
        ],
        &["/mnt/triton-models-v5", "tensorrtllm_24.10"],
    ),
];

/// A credential of a shape, another for each seed. Made here, and of nothing.
pub(crate) fn credential(shape: &str, seed: usize) -> String {
    const SMALL: &str = "abcdefghijkmnopqrstuvwxyz";
    const LETTERS: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    const HEX: &str = "0123456789abcdef";
    let mut state = seed as u64 * 2_654_435_761 + 88_172_645_463_325_252;
    let mut draw = |letters: &str, length: usize| -> String {
        let letters = letters.as_bytes();
        (0..length)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                char::from(letters[usize::try_from(state % letters.len() as u64).unwrap()])
            })
            .collect()
    };
    match shape {
        "{hex}" => draw(HEX, 40),
        "{b64}" => format!(
            "{}+{}/{}==",
            draw(LETTERS, 20),
            draw(LETTERS, 10),
            draw(LETTERS, 11)
        ),
        "{human}" => format!("Gpu{}{}!", draw(SMALL, 6), 2000 + seed % 100),
        "{hf}" => format!("hf_{}", draw(LETTERS, 34)),
        "{aws}" => format!("AKIA{}", draw("ABCDEFGHJKLMNPQRSTUVWXYZ234567", 16)),
        "{awskey}" => draw(LETTERS, 40),
        "{pat}" => format!("glpat-{}", draw(LETTERS, 20)),
        // Words of small letters alone are no other than names, and are not looked for.
        "{word}" => format!(
            "{}-{}{}-{}",
            draw(SMALL, 6),
            draw(SMALL, 5),
            seed % 10,
            draw(SMALL, 7)
        ),
        _ => format!("aB3{}", draw(LETTERS, 21)),
    }
}
