//! Places that a grammar of their own names: URLs, connection strings, credentials of known programs.

use serde_json::json;

use super::{Place, at, at_but, b64, camel, conf, field, flag, line, plain, pod, toml, yaml};

pub(super) const PLACES: &[Place] = &[
    at_but("URL query", "&%+#/=", |p| {
        plain(format!(
            "GET https://h.example/v2?x=1&{}={}&y=2 HTTP/1.1\" 200\n",
            field(p),
            p.secret
        ))
    }),
    at_but("URL password", "@/#?%:", |p| {
        plain(format!("pull https://me:{}@nvcr.io/v2/ failed\n", p.secret))
    }),
    at_but("URL password, JSON", "@/#?%:", |p| {
        line(&pod(
            json!({"name":"web","env":[{"name":"HTTPS_PROXY","value":format!("http://me:{}@proxy.corp:3128", p.secret)}]}),
        ))
    }),
    at_but("database URL", "@/#?%:", |p| {
        conf(
            "app.env",
            format!(
                "DATABASE_URL=postgresql://me:{}@db:5432/shop?sslmode=disable\n",
                p.secret
            ),
        )
    }),
    at_but("redis URL", "@/#?%:", |p| {
        plain(format!("connect redis://:{}@r:6379/0\n", p.secret))
    }),
    at_but("MongoDB URL, JSON", "@/#?%:", |p| {
        line(&json!({"uri":format!("mongodb+srv://me:{}@c.example/x?w=1", p.secret)}))
    }),
    at_but("proxy in a unit", "@/#?%:", |p| {
        conf(
            "http-proxy.conf",
            format!(
                "[Service]\nEnvironment=\"HTTP_PROXY=http://me:{}@proxy:3128\" \"NO_PROXY=10.0.0.0/8\"\n",
                p.secret
            ),
        )
    }),
    at_but("connection string", ";", |p| {
        plain(format!(
            "Server=db;User Id=me;Password={};Encrypt=true\n",
            p.secret
        ))
    }),
    at_but("ODBC string", ";}", |p| {
        conf(
            "odbc.env",
            format!("DSN=\"Driver={{X}};Server=db;UID=me;PWD={};\"\n", p.secret),
        )
    }),
    at_but("libpq string", "'", |p| {
        plain(format!(
            "dsn host=db user=me password='{}' dbname=x\n",
            p.secret
        ))
    }),
    at_but("MySQL DSN", "@/:", |p| {
        plain(format!("dial me:{}@tcp(db:3306)/shop: refused\n", p.secret))
    }),
    at("HTTP header", |p| {
        plain(format!("> X-{}: {}\n> Accept: */*\n", flag(p), p.secret))
    }),
    at("Authorization header", |p| {
        plain(format!("> Authorization: Bearer {}\n", p.secret))
    }),
    at("Authorization, JSON", |p| {
        line(&json!({"headers":{"Authorization":[format!("Bearer {}", p.secret)]}}))
    }),
    at("Basic authorization", |p| {
        plain(format!(
            "request Authorization: Basic {} failed\n",
            b64(format!("me:{}", p.secret))
        ))
    }),
    at("Set-Cookie", |p| {
        plain(format!(
            "< Set-Cookie: sid={}; Path=/; HttpOnly\n",
            p.secret
        ))
    }),
    at("kubeconfig token", |p| {
        conf(
            "kubelet.conf",
            format!(
                "apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    token: \"{}\"\n",
                p.secret
            ),
        )
    }),
    at("kubeconfig password", |p| {
        conf(
            "config",
            format!(
                "users:\n- name: a\n  user: {{username: a, password: \"{}\"}}\n",
                p.secret
            ),
        )
    }),
    at("docker auth", |p| {
        conf(
            "config.json",
            format!(
                "{{\n\t\"auths\": {{\n\t\t\"nvcr.io\": {{\n\t\t\t\"auth\": \"{}\"\n\t\t}}\n\t}}\n}}\n",
                b64(format!("$oauthtoken:{}", p.secret))
            ),
        )
    }),
    at("docker auth in a Secret", |p| {
        line(
            &json!({"kind":"Secret","data":{".dockerconfigjson":b64(json!({"auths":{"nvcr.io":{"username":"$oauthtoken","password":p.secret}}}).to_string())}}),
        )
    }),
    at("containerd auth", |p| {
        toml(format!(
            "[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"nvcr.io\".auth]\n  username = \"$oauthtoken\"\n  password = \"{}\"\n",
            p.secret
        ))
    }),
    at("containerd identity token", |p| {
        toml(format!(
            "[plugins.cri.registry.configs.\"r.example\".auth]\n  identitytoken = \"{}\"\n",
            p.secret
        ))
    }),
    at("k3s registries", |p| {
        yaml(format!(
            "configs:\n  \"r.example\":\n    auth:\n      username: me\n      password: \"{}\"\n",
            p.secret
        ))
    }),
    at_but("netrc", " ", |p| {
        conf(
            ".netrc",
            format!("machine nvcr.io login me password {}\n", p.secret),
        )
    }),
    at("npmrc", |p| {
        conf(".npmrc", format!("//r.example/:_authToken={}\n", p.secret))
    }),
    at_but("pgpass", ":", |p| {
        conf(".pgpass", format!("db.example:5432:shop:me:{}\n", p.secret))
    }),
    at_but("htpasswd -b", "'\"", |p| {
        plain(format!("htpasswd -bc /etc/f me {}\n", p.secret))
    }),
    at_but("XML element", "<&", |p| {
        conf(
            "settings.xml",
            format!(
                "<server><id>x</id><password>{}</password></server>\n",
                p.secret
            ),
        )
    }),
    at_but("XML attribute", "<&\"", |p| {
        conf(
            "a.xml",
            format!("<property name=\"{}\" value=\"{}\"/>\n", field(p), p.secret),
        )
    }),
    at_but("XML element over lines", "<&", |p| {
        conf(
            "a.xml",
            format!(
                "<server>\n  <{0}>\n    {1}\n  </{0}>\n</server>\n",
                camel(p),
                p.secret
            ),
        )
    }),
    at_but("wpa / ipsec PSK", "\"", |p| {
        conf(
            "ipsec.secrets",
            format!("10.0.0.1 10.0.0.2 : PSK \"{}\"\n", p.secret),
        )
    }),
    at("encryption config", |p| {
        yaml(format!(
            "kind: EncryptionConfiguration\nresources:\n- providers:\n  - aescbc:\n      keys:\n      - name: key1\n        secret: \"{}\"\n",
            p.secret
        ))
    }),
    at("cloud-init", |p| {
        yaml(format!(
            "chpasswd:\n  list: |\n    root:{}\n    me:{}\nruncmd: []\n",
            p.secret, p.secret
        ))
    }),
    at("event message", |p| {
        line(
            &json!({"kind":"Event","metadata":{"name":"web-0.187a2b3c4d5e6f70"},"message":format!("Error: exec [\"app\",\"--{}={}\"] failed", flag(p), p.secret)}),
        )
    }),
    at("probe in an event", |p| {
        line(&json!({"kind":"Event","message":format!("Liveness probe failed: Get \"http://10.0.0.1:80/h?{}={}\": refused", field(p), b64(p.secret).replace(['=', '+', '/'], "x")) , "x": 1})).also(&b64(p.secret).replace(['=', '+', '/'], "x"))
    }),
];
