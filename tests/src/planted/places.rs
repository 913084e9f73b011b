//! The places in which a secret is planted: every format, encoding and position that a collector meets.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::{Content, Document, Format};

/// One secret to be planted: its name and itself.
pub(super) struct Planted<'a> {
    /// `DB_PASSWORD`.
    pub(super) key: &'a str,
    /// What must not be seen.
    pub(super) secret: &'a str,
}

/// One place.
pub(super) struct Place {
    /// Its name in the table.
    pub(super) id: &'static str,
    /// Plants a secret.
    pub(super) plant: fn(&Planted<'_>) -> Document,
    /// Nothing names the secret here: only kinds with a form of their own can be found.
    pub(super) needs_form: bool,
    /// Characters that the place's own grammar gives a meaning, so that no secret there holds them.
    pub(super) never: &'static str,
}

const fn at(id: &'static str, plant: fn(&Planted<'_>) -> Document) -> Place {
    Place {
        id,
        plant,
        needs_form: false,
        never: "",
    }
}

const fn at_but(
    id: &'static str,
    never: &'static str,
    plant: fn(&Planted<'_>) -> Document,
) -> Place {
    Place {
        id,
        plant,
        needs_form: false,
        never,
    }
}

const fn prose(id: &'static str, plant: fn(&Planted<'_>) -> Document) -> Place {
    Place {
        id,
        plant,
        needs_form: true,
        never: "",
    }
}

pub(super) fn yaml(text: String) -> Document {
    Document::new(
        Content::Text,
        "values.yaml",
        Format::Yaml,
        text.into_bytes(),
    )
}

pub(super) fn toml(text: String) -> Document {
    Document::new(
        Content::Text,
        "config.toml",
        Format::Toml,
        text.into_bytes(),
    )
}

pub(super) fn plain(text: String) -> Document {
    Document::new(Content::Text, "some.log", Format::Any, text.into_bytes())
}

pub(super) fn conf(name: &'static str, text: String) -> Document {
    Document::new(Content::Text, name, Format::Any, text.into_bytes())
}

pub(super) fn line(value: &Value) -> Document {
    Document::new(
        Content::JsonLines,
        "items.json",
        Format::JsonLines,
        format!("{value}\n").into_bytes(),
    )
}

fn pretty(value: &Value) -> Document {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    Document::new(
        Content::Text,
        "config.json",
        Format::Json,
        format!("{text}\n").into_bytes(),
    )
}

pub(super) fn b64(text: impl AsRef<[u8]>) -> String {
    STANDARD.encode(text)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// The lower-case name of a field.
fn field(planted: &Planted<'_>) -> String {
    planted.key.to_ascii_lowercase()
}

/// The name in the style of a command line.
fn flag(planted: &Planted<'_>) -> String {
    field(planted).replace('_', "-")
}

/// The name in the style of Go's and Java's fields.
fn camel(planted: &Planted<'_>) -> String {
    let lower = field(planted);
    let mut parts = lower.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |done, part| {
        let (head, tail) = part.split_at(part.len().min(1));
        format!("{done}{}{tail}", head.to_ascii_uppercase())
    })
}

fn pod(container: Value) -> Value {
    json!({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"shop","uid":"7a0c3c0e-7b0e-4a53-a3a5-5f5f0d0a5b11"},
        "spec":{"containers":[container],"nodeName":"gpu-1"}})
}

pub(super) fn journal(message: Value) -> Document {
    line(
        &json!({"__REALTIME_TIMESTAMP":"1763634900000000","_PID":"812","_SYSTEMD_UNIT":"app.service","PRIORITY":"6","MESSAGE":message}),
    )
}

/// All places.
pub(super) const PLACES: &[Place] = &[
    at("YAML plain", |p| {
        yaml(format!("db:\n  {}: {}\n  port: 5432\n", camel(p), p.secret))
    }),
    at("YAML double-quoted", |p| {
        yaml(format!(
            "- {}: \"{}\"  # rotate\n  port: 1\n",
            field(p),
            p.secret
        ))
    }),
    at_but("YAML single-quoted", "'", |p| {
        yaml(format!("a:\n  {}: '{}'\n", field(p), p.secret))
    }),
    at("YAML literal block", |p| {
        yaml(format!(
            "a:\n  {}: |\n    {}\n  port: 1\n",
            field(p),
            p.secret
        ))
    }),
    at("YAML folded block", |p| {
        yaml(format!("{}: >-\n  {}\nport: 1\n", field(p), p.secret))
    }),
    at("YAML value on the next line", |p| {
        yaml(format!(
            "a:\n  {}:\n    {}\n  port: 1\n",
            field(p),
            p.secret
        ))
    }),
    at("YAML quoted value on the next line", |p| {
        yaml(format!("{}:\n  \"{}\"\nport: 1\n", field(p), p.secret))
    }),
    at("YAML plain over two lines", |p| {
        yaml(format!("{}: begin1X\n  {}\nport: 1\n", field(p), p.secret))
    }),
    at("YAML quoted over two lines", |p| {
        yaml(format!(
            "a:\n  {}: \"begin1X\n    {}\"\n  port: 1\n",
            field(p),
            p.secret
        ))
    }),
    at("YAML flow map", |p| {
        yaml(format!(
            "db: {{user: me, {}: \"{}\", port: 1}}\n",
            camel(p),
            p.secret
        ))
    }),
    at("YAML list", |p| {
        yaml(format!(
            "{}s:\n  - \"{}\"\nport: 1\n",
            field(p).trim_end_matches('s'),
            p.secret
        ))
    }),
    at("YAML env list", |p| {
        yaml(format!(
            "env:\n- name: {}\n  value: \"{}\"\n- name: MODE\n  value: fast\n",
            p.key, p.secret
        ))
    }),
    at("YAML env list, value first", |p| {
        yaml(format!(
            "env:\n- value: \"{}\"\n  name: {}\n- name: MODE\n  value: fast\n",
            p.secret, p.key
        ))
    }),
    at("YAML args list", |p| {
        yaml(format!(
            "args:\n- --{}\n- \"{}\"\n- --v=2\n",
            flag(p),
            p.secret
        ))
    }),
    at("YAML anchor and tag", |p| {
        yaml(format!(
            "a:\n  {}: &it !!str \"{}\"\nb: *it\n",
            field(p),
            p.secret
        ))
    }),
    at("YAML comment", |p| {
        yaml(format!("a: 1\n# {}: {}\nb: 2\n", field(p), p.secret))
    }),
    at("TOML basic string", |p| {
        toml(format!(
            "version = 2\n[a.b]\n  {} = \"{}\"\n",
            field(p),
            p.secret
        ))
    }),
    at_but("TOML literal string", "'", |p| {
        toml(format!(
            "[a]\n{} = '{}' # note\nx = 1\n",
            field(p),
            p.secret
        ))
    }),
    at("TOML multi-line string", |p| {
        toml(format!(
            "{} = \"\"\"\n{}\n\"\"\"\nx = 1\n",
            field(p),
            p.secret
        ))
    }),
    at("TOML inline table", |p| {
        toml(format!(
            "auth = {{ username = \"me\", {} = \"{}\" }}\nx = 1\n",
            field(p),
            p.secret
        ))
    }),
    at("TOML header array", |p| {
        toml(format!(
            "[host.\"https://r.example\".header]\n  X-{} = [\"{}\"]\n",
            flag(p),
            p.secret
        ))
    }),
    at("INI", |p| {
        conf(
            "my.cnf",
            format!("[client]\nuser=me\n{}={}\nhost=db\n", field(p), p.secret),
        )
    }),
    at("Java properties", |p| {
        conf(
            "app.properties",
            format!(
                "app.{}={}\napp.mode=fast\n",
                field(p).replace('_', "."),
                p.secret
            ),
        )
    }),
    at("env file", |p| {
        conf("kubelet.env", format!("A=1\n{}={}\nB=2\n", p.key, p.secret))
    }),
    at("env file, quoted", |p| {
        conf(
            "kubelet.env",
            format!("A=1\n{}=\"{}\"\nB=2\n", p.key, p.secret),
        )
    }),
    at("shell export", |p| {
        conf("profile.sh", format!("export {}='{}'\n", p.key, p.secret))
    }),
    at("unit Environment", |p| {
        conf(
            "a.service",
            format!(
                "[Service]\nEnvironment=\"{}={}\"\nExecStart=/usr/bin/a\n",
                p.key, p.secret
            ),
        )
    }),
    at("unit Environment, several", |p| {
        conf(
            "a.service",
            format!(
                "[Service]\nEnvironment=A=1 {}={} B=2\nExecStart=/usr/bin/a\n",
                p.key, p.secret
            ),
        )
    }),
    at("unit ExecStart", |p| {
        conf(
            "a.service",
            format!(
                "[Service]\nExecStart=/usr/bin/a --{}={} --v=2\n",
                flag(p),
                p.secret
            ),
        )
    }),
    at("unit ExecStart over lines", |p| {
        conf(
            "a.service",
            format!(
                "[Service]\nExecStart=/usr/bin/a \\\n  --{} \\\n  {} \\\n  --v=2\n",
                flag(p),
                p.secret
            ),
        )
    }),
    at("JSON line", |p| {
        line(&json!({"kind":"ConfigMap","data":{camel(p): p.secret,"mode":"fast"}}))
    }),
    at("JSON pretty", |p| {
        pretty(&json!({"a":{field(p): p.secret,"b":[1,2]}}))
    }),
    at("JSON env", |p| {
        line(&pod(
            json!({"name":"web","env":[{"name":p.key,"value":p.secret},{"name":"MODE","value":"fast"}]}),
        ))
    }),
    at("JSON env, value first", |p| {
        Document::new(
            Content::JsonLines,
            "items.json",
            Format::JsonLines,
            format!(
                "{{\"env\":[{{\"value\":{},\"name\":{}}}]}}\n",
                json!(p.secret),
                json!(p.key)
            )
            .into_bytes(),
        )
    }),
    at("JSON env, pretty", |p| {
        pretty(&json!({"env":[{"name":p.key,"value":p.secret},{"name":"MODE","value":"fast"}]}))
    }),
    at("JSON args", |p| {
        line(&pod(
            json!({"name":"web","args":[format!("--{}", flag(p)), p.secret, "--v=2"]}),
        ))
    }),
    at("JSON args, one word", |p| {
        line(&pod(
            json!({"name":"web","args":[format!("--{}={}", flag(p), p.secret), "--v=2"]}),
        ))
    }),
    at("JSON args, pretty", |p| {
        pretty(&json!({"args":[format!("--{}", flag(p)), p.secret, "--v=2"]}))
    }),
    at_but("JSON shell command", "'", |p| {
        line(&pod(
            json!({"name":"web","command":["sh","-c",format!("{}='{}' exec /app --v=2", p.key, p.secret)]}),
        ))
    }),
    at("JSON list under a name", |p| {
        line(&json!({"a":{format!("{}s", camel(p).trim_end_matches('s')): [p.secret],"b":1}}))
    }),
    at("JSON in a string in JSON", |p| {
        line(
            &json!({"metadata":{"annotations":{"last":json!({"spec":{"env":[{"name":p.key,"value":p.secret}]}}).to_string()}}}),
        )
    }),
    at("JSON in JSON in JSON", |p| {
        line(&json!({"a":json!({"b":json!({field(p):p.secret}).to_string()}).to_string()}))
    }),
    at("YAML in a string in JSON", |p| {
        line(
            &json!({"kind":"ConfigMap","data":{"values.yaml":format!("db:\n  {}: \"{}\"\n  port: 1\n", camel(p), p.secret)}}),
        )
    }),
    at("TOML in a string in JSON", |p| {
        line(
            &json!({"kind":"ConfigMap","data":{"c.toml":format!("[a]\n{} = \"{}\"\n", field(p), p.secret)}}),
        )
    }),
    at("JSON in a block in YAML", |p| {
        yaml(format!(
            "data:\n  config.json: |\n    {}\n  mode: fast\n",
            json!({field(p):p.secret,"x":1})
        ))
    }),
    at("JSON in a string in YAML", |p| {
        yaml(format!(
            "data:\n  config.json: '{}'\n",
            json!({field(p):p.secret,"x":1})
                .to_string()
                .replace('\'', "''")
        ))
    }),
    at("YAML in base64 in JSON", |p| {
        line(
            &json!({"data":{"values":b64(format!("db:\n  {}: \"{}\"\n  port: 1\n", camel(p), p.secret))}}),
        )
    }),
    at("JSON in base64 in YAML", |p| {
        yaml(format!(
            "blob: {}\nport: 1\n",
            b64(json!({"x":1,field(p):p.secret}).to_string())
        ))
    }),
    at("env in base64 twice", |p| {
        line(&json!({"blob":b64(b64(format!("A=1\n{}={}\n", p.key, p.secret)))}))
    }),
    at("gzip in base64 in JSON", |p| {
        line(
            &json!({"release":b64(gzip(json!({"config":{field(p):p.secret}}).to_string().as_bytes()))}),
        )
    }),
    at("gzip in base64 twice (helm)", |p| {
        line(
            &json!({"release":b64(b64(gzip(json!({"config":{field(p):p.secret}}).to_string().as_bytes())))}),
        )
    }),
    at("Secret, JSON", |p| {
        line(
            &json!({"apiVersion":"v1","data":{"x":b64(p.secret)},"kind":"Secret","metadata":{"name":"a"}}),
        )
    }),
    at("Secret, YAML data first", |p| {
        yaml(format!(
            "apiVersion: v1\ndata:\n  x: {}\nkind: Secret\nmetadata:\n  name: a\n",
            b64(p.secret)
        ))
    }),
    at("Secret, YAML kind first", |p| {
        yaml(format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  x: {}\n",
            b64(p.secret)
        ))
    }),
    at("Secret, YAML stringData", |p| {
        yaml(format!(
            "kind: Secret\nstringData:\n  x: \"{}\"\n---\nkind: ConfigMap\ndata:\n  mode: fast\n",
            p.secret
        ))
    }),
    at("Secret, JSON in a string", |p| {
        line(&json!({"message":json!({"kind":"Secret","data":{"x":b64(p.secret)}}).to_string()}))
    }),
    at("journal message", |p| {
        journal(json!(format!(
            "login with {}={} failed",
            field(p),
            p.secret
        )))
    }),
    at("journal message, bytes", |p| {
        journal(json!(
            format!("\u{1b}[31mlogin with {}={} failed", field(p), p.secret).as_bytes()
        ))
    }),
    at("journal command line", |p| {
        line(
            &json!({"_CMDLINE":format!("/usr/bin/a --{} {} --v=2", flag(p), p.secret),"MESSAGE":"x"}),
        )
    }),
    at("journal unknown field", |p| {
        line(&json!({p.key:p.secret,"MESSAGE":"x"}))
    }),
    at("log, key=value", |p| {
        plain(format!(
            "2026-11-20T10:15:00Z level=error msg=\"no login\" {}={} host=db\n",
            field(p),
            p.secret
        ))
    }),
    at("log, key=\"value\"", |p| {
        plain(format!(
            "level=error msg=\"no login\" {}=\"{}\" host=db\n",
            field(p),
            p.secret
        ))
    }),
    at("log, key: value", |p| {
        plain(format!(
            "E1120 10:15:00.000000 1 x.go:1] login failed, {}: {}\n",
            field(p),
            p.secret
        ))
    }),
    at("log, JSON", |p| {
        plain(format!(
            "2026-11-20T10:15:00Z stdout F {}\n",
            json!({"level":"info",camel(p):p.secret})
        ))
    }),
    at("log, Go quoted", |p| {
        plain(format!(
            "time=\"x\" level=info msg=\"config {}\"\n",
            json!({field(p):p.secret}).to_string().replace('"', "\\\"")
        ))
    }),
    at("log, Go quoted twice", |p| {
        plain(format!(
            "msg=\"config {}\"\n",
            json!({field(p):p.secret})
                .to_string()
                .replace('"', "\\\\\\\"")
        ))
    }),
    at_but("log, Go map", "]", |p| {
        plain(format!("config map[{}:{} user:me]\n", field(p), p.secret))
    }),
    at("log, Go struct", |p| {
        plain(format!(
            "config {{User:me {}:\"{}\" Port:1}}\n",
            p.key, p.secret
        ))
    }),
    at_but("log, Python dict", "'", |p| {
        plain(format!(
            "config {{'user': 'me', '{}': '{}', 'port': 1}}\n",
            field(p),
            p.secret
        ))
    }),
    at("log, CRI, CRLF", |p| {
        plain(format!(
            "2026-11-20T10:15:00.1Z stderr F {}={}\r\nnext\r\n",
            p.key, p.secret
        ))
    }),
    at("no line end", |p| plain(format!("{}={}", p.key, p.secret))),
    at("command line --flag=", |p| {
        plain(format!(
            "root 1 0.0 /usr/bin/a --{}={} --v=2\n",
            flag(p),
            p.secret
        ))
    }),
    at("command line --flag", |p| {
        plain(format!(
            "root 1 0.0 /usr/bin/a --{} {} --v=2\n",
            flag(p),
            p.secret
        ))
    }),
    at_but("command line, quoted", "'", |p| {
        plain(format!("$ a --{} '{}' --v=2\n", flag(p), p.secret))
    }),
    at_but("helm --set", ",", |p| {
        plain(format!(
            "helm install a b --set user=me,db.{}={},mode=fast -n x\n",
            camel(p),
            p.secret
        ))
    }),
    at("kubectl --from-literal", |p| {
        plain(format!(
            "kubectl create secret generic a --from-literal=whatever={} -n x\n",
            p.secret
        ))
    }),
    at("process list", |p| {
        Document::new(
            Content::JsonLines,
            "processes.json",
            Format::JsonLines,
            format!(
                "[{{\"pid\":1,\"cmdline\":[\"/a\",\"--{}\",{}]}}]\n",
                flag(p),
                json!(p.secret)
            )
            .into_bytes(),
        )
    }),
    at_but("mysql -p", "'\"", |p| {
        plain(format!("mysql -u me -p{} -h db\n", p.secret))
    }),
    at_but("mysql -p, JSON", "'", |p| {
        line(&pod(
            json!({"name":"web","command":["/usr/bin/mysqldump","-ume",format!("-p{}", p.secret),"shop"]}),
        ))
    }),
    at_but("curl -u", "'\":", |p| {
        plain(format!(
            "curl -sS -u me:{} https://r.example/v2/\n",
            p.secret
        ))
    }),
    at_but("curl -u, JSON", ":", |p| {
        line(&pod(
            json!({"name":"web","command":["curl","-fsS","-u",format!("me:{}", p.secret),"https://r.example"]}),
        ))
    }),
    at_but("curl header", "'\"", |p| {
        plain(format!(
            "curl -H 'X-Auth-Token: {}' https://r.example\n",
            p.secret
        ))
    }),
    at_but("sshpass -p", "'\"", |p| {
        plain(format!("sshpass -p {} ssh me@gpu-1\n", p.secret))
    }),
    at_but("redis-cli -a", "'\"", |p| {
        plain(format!("redis-cli -h r -a {} ping\n", p.secret))
    }),
    at_but("docker login -p", "'\"", |p| {
        plain(format!("docker login -u me -p {} nvcr.io\n", p.secret))
    }),
    at_but("ipmitool -P", "'\"", |p| {
        plain(format!(
            "ipmitool -I lanplus -H bmc -U admin -P {} power status\n",
            p.secret
        ))
    }),
    at_but("openssl -passin", "'\"", |p| {
        plain(format!(
            "openssl rsa -in k.pem -passin pass:{} -out x\n",
            p.secret
        ))
    }),
    at_but("ldapsearch -w", "'\"", |p| {
        plain(format!("ldapsearch -x -D cn=me -w {} -b dc=x\n", p.secret))
    }),
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
    at("gzip file", |p| {
        Document::new(
            Content::Text,
            "old.log.gz",
            Format::Any,
            gzip(format!("a\nlevel=error {}={} host=db\nb\n", field(p), p.secret).as_bytes()),
        )
    }),
    at("gzip members", |p| {
        let mut bytes = gzip(b"first member\n");
        bytes.extend(gzip(format!("{}={}\n", p.key, p.secret).as_bytes()));
        Document::new(Content::Text, "old.log.gz", Format::Any, bytes)
    }),
    at("tar archive", |p| {
        Document::new(Content::Text, "old.tar", Format::Any, archive(p))
    }),
    at("tar.gz archive", |p| {
        Document::new(Content::Text, "old.tar.gz", Format::Any, gzip(&archive(p)))
    }),
    at("UTF-16 file", |p| {
        let text = format!("\u{feff}{}={}\r\n", p.key, p.secret);
        Document::new(
            Content::Text,
            "app.reg",
            Format::Any,
            text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        )
    }),
    at("NUL-separated environment", |p| {
        Document::new(
            Content::Text,
            "environ",
            Format::Any,
            format!("A=1\0{}={}\0B=2\0", p.key, p.secret).into_bytes(),
        )
    }),
    at("byte order mark", |p| {
        yaml(format!("\u{feff}{}: \"{}\"\n", field(p), p.secret))
    }),
    at("beside bytes that are no UTF-8", |p| {
        let mut bytes = b"caf\xe9 ".to_vec();
        bytes.extend(format!("{}={} x\n", p.key, p.secret).bytes());
        Document::new(Content::Text, "old.log", Format::Any, bytes)
    }),
    prose("prose", |p| {
        plain(format!("2026-11-20 the value {} was refused\n", p.secret))
    }),
    prose("prose, JSON", |p| {
        line(&json!({"reason":"x","message":format!("cannot use {} here", p.secret)}))
    }),
    prose("neutral YAML key", |p| {
        yaml(format!("thing: \"{}\"\n", p.secret))
    }),
    prose("neutral JSON key", |p| pretty(&json!({"thing":p.secret}))),
    prose("JSON key itself", |p| line(&json!({"seen":{p.secret:1}}))),
    prose("positional argument", |p| {
        line(&pod(json!({"name":"web","args":["run",p.secret]})))
    }),
    prose("base64 of prose", |p| {
        line(&json!({"data":{"x":b64(format!("the value is {} and no other", p.secret))}}))
    }),
    prose("journal message, bytes, prose", |p| {
        journal(json!(
            format!("\u{1b}[0m got {} there", p.secret).as_bytes()
        ))
    }),
    Place {
        id: "file name",
        plant: |p| {
            Document::new(Content::Text, "", Format::Any, b"x\n".to_vec())
                .named(format!("nodes/a/rootfs/run/x-{}.conf", p.secret))
        },
        needs_form: true,
        never: "/%:+",
    },
];

fn archive(planted: &Planted<'_>) -> Vec<u8> {
    let body = format!("{}={}\n", planted.key, planted.secret);
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(body.len() as u64);
    header.set_mode(0o600);
    header.set_cksum();
    // Writing to memory does not fail.
    let _ = builder.append_data(&mut header, "etc/app.env", body.as_bytes());
    builder.into_inner().unwrap_or_default()
}

/// A private key over several lines in a document.
pub(super) type BlockPlace = (&'static str, fn(&str) -> Document);

fn indented(text: &str, by: &str) -> String {
    text.lines()
        .fold(String::new(), |done, line| done + by + line + "\n")
}

/// Places of keys over several lines.
pub(super) const BLOCK_PLACES: &[BlockPlace] = &[
    ("key file", |t| conf("tls.key", t.to_owned())),
    ("key file, CRLF", |t| {
        conf("tls.key", t.replace('\n', "\r\n"))
    }),
    ("key in a YAML block", |t| {
        yaml(format!(
            "a:\n  tls.key: |\n{}  port: 1\n",
            indented(t, "    ")
        ))
    }),
    ("key in a neutral YAML block", |t| {
        yaml(format!(
            "a:\n  thing: |\n{}  port: 1\n",
            indented(t, "    ")
        ))
    }),
    ("key in a YAML string", |t| {
        yaml(format!("a: \"{}\"\nport: 1\n", t.replace('\n', "\\n")))
    }),
    ("key in a JSON string", |t| {
        line(&json!({"data":{"file":t,"mode":"fast"}}))
    }),
    ("key in JSON in JSON", |t| {
        line(&json!({"a":json!({"b":t}).to_string()}))
    }),
    ("key in base64", |t| line(&json!({"data":{"file":b64(t)}}))),
    ("key in base64 over lines", |t| {
        let text = b64(t);
        let lines: Vec<&str> = text
            .as_bytes()
            .chunks(64)
            .filter_map(|part| std::str::from_utf8(part).ok())
            .collect();
        yaml(format!(
            "a:\n  file: |\n    {}\n  port: 1\n",
            lines.join("\n    ")
        ))
    }),
    ("key in TOML", |t| {
        toml(format!("key = '''\n{t}'''\nx = 1\n"))
    }),
    ("key in a log, line by line", |t| {
        plain(format!(
            "{}t9 fine\n",
            indented(t, "2026-11-20T10:15:00Z stdout F ")
        ))
    }),
    ("key in a journal, line by line", |t| {
        let text = t.lines().fold(String::new(), |done, part| {
            done + &json!({"_PID":"8","MESSAGE":part}).to_string() + "\n"
        });
        Document::new(
            Content::JsonLines,
            "a.json",
            Format::JsonLines,
            text.into_bytes(),
        )
    }),
    ("key in a log, escaped", |t| {
        plain(format!(
            "level=info msg=\"got {}\"\n",
            t.replace('\n', "\\n")
        ))
    }),
    ("key in a gzip file", |t| {
        Document::new(Content::Text, "a.gz", Format::Any, gzip(t.as_bytes()))
    }),
    ("key in an env file", |t| {
        conf("a.env", format!("A=1\nTLS=\"{t}\"\nB=2\n"))
    }),
    ("key in XML", |t| {
        conf("a.xml", format!("<a><k>{t}</k></a>\n"))
    }),
];
