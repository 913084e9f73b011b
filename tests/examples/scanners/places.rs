//! Where a secret is planted: sixty places of files that `casefile-collector plan` lists.

use super::samples::Sample;

/// Beside a name: a path, and a text in which `@@` is the secret and `@j@` the secret as JSON writes it.
const NAMED: &[(&str, &str)] = &[
    (
        "etc/containerd/certs.d/r/hosts.toml",
        "[host.\"https://m\".header]\n  X-Auth-Token = [\"@j@\"]\n",
    ),
    (
        "etc/containerd/config.toml",
        "[plugins.x.auth]\n  username = \"u\"\n  password = \"@j@\"\n",
    ),
    (
        "etc/systemd/system/a.service",
        "[Service]\nEnvironment=\"API_TOKEN=@@\"\nExecStart=/usr/bin/a\n",
    ),
    (
        "etc/systemd/system/b.service",
        "[Service]\nExecStart=/usr/bin/a --api-key=@@ --port 80\n",
    ),
    (
        "etc/kubernetes/manifests/a.yaml",
        "spec:\n  containers:\n  - env:\n    - name: CLIENT_SECRET\n      value: \"@j@\"\n",
    ),
    (
        "etc/kubernetes/manifests/b.yaml",
        "spec:\n  containers:\n  - args: [\"--auth-token\", \"@j@\"]\n",
    ),
    (
        "etc/rancher/rke2/config.yaml",
        "server: https://x\ntoken: \"@j@\"\n",
    ),
    (
        "etc/docker/daemon.json",
        "{\"log-opts\":{\"access_key\":\"@j@\",\"url\":\"https://x\"}}\n",
    ),
    ("etc/profile.d/p.sh", "export SECRET_KEY='@@'\n"),
    (
        "etc/netplan/n.yaml",
        "network:\n  wifis:\n    w:\n      auth: {password: \"@j@\"}\n",
    ),
    (
        "etc/apt/auth.conf.d/x.conf",
        "machine x login y password @@\n",
    ),
    (
        "var/log/syslog",
        "Nov 22 10:00:00 n app[3]: connecting with api_key=@@ to host\n",
    ),
    (
        "var/log/messages",
        "Nov 22 10:00:00 n app[3]: password: @@\n",
    ),
    (
        "var/log/containers/a.log",
        "2026-11-22T10:00:00.1Z stdout F level=info token=@@ retry=3\n",
    ),
    (
        "var/log/containers/b.log",
        "2026-11-22T10:00:00.1Z stderr F {\"level\":\"warn\",\"accessToken\":\"@j@\"}\n",
    ),
    (
        "var/log/containers/c.log",
        "I1122 10:00:00.000000 1 x.go:1] \"auth\" secret=\"@@\" user=\"u\"\n",
    ),
    (
        "nodes/n/journal.jsonl",
        "{\"_COMM\":\"app\",\"MESSAGE\":\"login with token=@j@ failed\"}\n",
    ),
    (
        "nodes/n/journal2.jsonl",
        "{\"_COMM\":\"sh\",\"_CMDLINE\":\"a --password @j@ --x\"}\n",
    ),
    (
        "cluster/pods.jsonl",
        "{\"spec\":{\"containers\":[{\"env\":[{\"name\":\"DB_PASSWORD\",\"value\":\"@j@\"}]}]}}\n",
    ),
    (
        "cluster/configmaps.jsonl",
        "{\"data\":{\"app.properties\":\"user=u\\nclient.secret=@j@\\nx=1\\n\"}}\n",
    ),
    (
        "cluster/configmaps2.jsonl",
        "{\"data\":{\"API_KEY\":\"@j@\"}}\n",
    ),
    (
        "cluster/deployments.jsonl",
        "{\"metadata\":{\"annotations\":{\"x/auth-token\":\"@j@\"}}}\n",
    ),
    (
        "helm/values.yaml",
        "auth:\n  existingSecret: \"\"\n  adminPassword: \"@j@\"\n",
    ),
    ("helm/values2.yaml", "apiKey: '@@'\nreplicas: 2\n"),
    ("etc/app.ini", "[auth]\nclient_secret = @@\n"),
    ("etc/app.properties", "service.auth.token=@@\n"),
    ("etc/app.xml", "<a>\n  <password>@@</password>\n</a>\n"),
    (
        "var/log/dcgm.log",
        "GET https://api.example.com/v1?x=1&access_token=@@ 200\n",
    ),
    ("run/env", "HOME=/root\nAPP_SECRET=@@\n"),
    (
        "etc/cron.d/a",
        "0 1 * * * root curl -H \"X-Api-Key: @@\" https://x\n",
    ),
];

/// Without a name.
const BARE: &[(&str, &str)] = &[
    ("var/log/syslog", "Nov 22 10:00:00 n app[3]: @@\n"),
    (
        "var/log/syslog2",
        "Nov 22 10:00:00 n app[3]: cannot use @@ here\n",
    ),
    (
        "var/log/syslog3",
        "Nov 22 10:00:00 n app[3]: got \"@@\", expected something else\n",
    ),
    (
        "var/log/messages",
        "Nov 22 10:00:00 n run[3]: + ./start.sh @@ /opt\n",
    ),
    (
        "var/log/containers/a.log",
        "2026-11-22T10:00:00.1Z stdout F @@\n",
    ),
    (
        "var/log/containers/b.log",
        "2026-11-22T10:00:00.1Z stdout F sending @@ to upstream\n",
    ),
    (
        "var/log/containers/c.log",
        "E1122 10:00:00.000000 1 x.go:1] \"refused\" err=\"invalid value @@\"\n",
    ),
    (
        "var/log/containers/d.log",
        "2026-11-22T10:00:00.1Z stdout F {\"msg\":\"using @j@\"}\n",
    ),
    (
        "var/log/containers/e.log",
        "time=\"2026-11-22T10:00:00Z\" level=info msg=\"read @@ from stdin\"\n",
    ),
    (
        "var/log/containers/f.log",
        "2026/11/22 10:00:00 [@@] accepted\n",
    ),
    (
        "nodes/n/journal.jsonl",
        "{\"_COMM\":\"app\",\"MESSAGE\":\"@j@\"}\n",
    ),
    (
        "nodes/n/journal2.jsonl",
        "{\"_COMM\":\"app\",\"MESSAGE\":\"the answer was @j@.\"}\n",
    ),
    (
        "nodes/n/journal3.jsonl",
        "{\"_COMM\":\"app\",\"_CMDLINE\":\"/usr/bin/app @j@ --verbose\"}\n",
    ),
    (
        "nodes/n/ps.txt",
        "root  812  0.0  0.1 ?  Ss 10:00 0:00 /usr/bin/app @@\n",
    ),
    (
        "cluster/pods.jsonl",
        "{\"spec\":{\"containers\":[{\"args\":[\"serve\",\"@j@\"]}]}}\n",
    ),
    (
        "cluster/pods2.jsonl",
        "{\"status\":{\"message\":\"failed: @j@\"}}\n",
    ),
    (
        "cluster/events.jsonl",
        "{\"reason\":\"Failed\",\"message\":\"Error: rejected @j@\"}\n",
    ),
    (
        "cluster/configmaps.jsonl",
        "{\"data\":{\"list\":\"one\\n@j@\\ntwo\\n\"}}\n",
    ),
    (
        "cluster/configmaps2.jsonl",
        "{\"data\":{\"extra\":\"@j@\"}}\n",
    ),
    ("helm/values.yaml", "list:\n- one\n- \"@j@\"\n"),
    ("helm/values2.yaml", "setting: \"@j@\"\n"),
    ("etc/list.conf", "# accepted\n@@\n"),
    (
        "etc/systemd/system/a.service",
        "[Service]\nExecStart=/usr/bin/app @@\n",
    ),
    ("etc/app.toml", "items = [\"one\", \"@j@\"]\n"),
    ("etc/app.json", "{\"items\":[\"one\",\"@j@\"]}\n"),
    ("etc/cron.d/a", "0 1 * * * root /usr/bin/app @@\n"),
    (
        "var/log/http.log",
        "10.0.0.1 - - \"GET /api/@@/messages HTTP/1.1\" 200\n",
    ),
    (
        "var/log/http2.log",
        "GET https://api.example.com/v1?x=@@&y=2 200\n",
    ),
    ("var/log/csv.log", "joe,@@,2026-11-22,ok\n"),
    ("run/notes", "We set it to @@ on Monday.\n"),
];

/// A sample in all its places: the sort, the path, the text.
pub(crate) fn plant(sample: &Sample) -> Vec<(&'static str, &'static str, String)> {
    let mut all = Vec::new();
    if let Some(native) = &sample.native {
        let line = format!("{{\"MESSAGE\":{}}}\n", Value(native));
        all.push(("native", "etc/native", native.clone()));
        all.push(("native", "nodes/n/native.jsonl", line));
    }
    if sample.again {
        return all;
    }
    let bare = if sample.prefixed { "prefixed" } else { "bare" };
    let one_line = !sample.secret.contains('\n');
    for (sort, places) in [("named", NAMED), (bare, BARE)] {
        for (path, text) in places {
            if one_line || text.contains("@j@") {
                all.push((sort, path, fill(text, &sample.secret)));
            }
        }
    }
    all
}

fn fill(text: &str, secret: &str) -> String {
    let json = Value(secret).to_string();
    text.replace("@j@", &json[1..json.len() - 1])
        .replace("@@", secret)
}

/// A text as JSON writes it.
struct Value<'a>(&'a str);

impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", serde_json::Value::from(self.0))
    }
}
