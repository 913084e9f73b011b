//! Kubeconfigs of 57 kinds: those that kubectl takes give the cluster's objects, of the others the field at fault is
//! named, before anything is collected or as the reason of what is missing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use casefile_bundle::Outcome;
use casefile_tests::recording::User;
use casefile_tests::replay::small::Small;
use casefile_tests::replay::{Credential, Faults, Server};

use crate::desk::{Bundle, Desk, Row, Seen};

pub(crate) const ROWS: &[Row] = &[Row {
    fault: "57 kinds of kubeconfig",
    run: every_kind,
}];

/// How a run with a kubeconfig ends.
#[derive(Clone, Copy, Debug)]
enum Ends {
    /// With the cluster's objects.
    Objects,
    /// Before it begins, with these words.
    Refused(&'static str),
    /// With a bundle that has no objects and says this.
    Without(&'static str),
}
use Ends::{Objects, Refused, Without};

/// What a kind is made of.
struct Given<'a> {
    /// With a token.
    token: &'a str,
    /// With a client certificate.
    certificate: &'a str,
    /// A folder of its own.
    folder: &'a Path,
    port: u16,
}

type Make = fn(&Given<'_>) -> String;

impl Given<'_> {
    fn value(&self, text: &str, name: &str) -> String {
        let mut lines = text.lines().map(str::trim);
        let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.unwrap_or_else(|| panic!("no {name}")).to_owned()
    }

    /// The config with a token, with one text instead of another.
    fn with(&self, from: &str, to: &str) -> String {
        let changed = self.token.replace(from, to);
        assert_ne!(changed, self.token, "{from} is not there");
        changed
    }

    /// The member of the config, which may hold any value.
    fn member(&self, name: &str, value: &str) -> String {
        let was = format!("{name}: {}", self.value(self.token, name));
        self.with(&was, &format!("{name}: {value}"))
    }

    /// In the place of the token.
    fn login(&self, lines: &str) -> String {
        let was = format!("token: {}", self.value(self.token, "token"));
        self.with(&was, lines)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.folder.join(name);
        fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    /// A login helper.
    fn helper(&self, version: &str, script: &str) -> String {
        let path = self.file("helper", format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self.login(&format!(
            "exec: {{apiVersion: client.authentication.k8s.io/{version}, command: {path}, interactiveMode: Never}}"
        ))
    }

    fn credential(&self, version: &str) -> String {
        let token = self.value(self.token, "token");
        format!(
            r#"echo '{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/{version}","status":{{"token":"{token}"}}}}'"#
        )
    }

    fn decoded(&self, name: &str) -> Vec<u8> {
        STANDARD.decode(self.value(self.certificate, name)).unwrap()
    }
}

const CA: &str = "certificate-authority-data";

/// Those that work.
const GOOD: &[(&str, Make)] = &[
    ("a token", |g| g.token.to_owned()),
    ("a client certificate", |g| g.certificate.to_owned()),
    ("tokenFile", |g| {
        let file = g.file("token", g.value(g.token, "token"));
        g.login(&format!("tokenFile: {file}"))
    }),
    ("tokenFile beside the kubeconfig", |g| {
        g.file("token", g.value(g.token, "token"));
        g.login("tokenFile: token")
    }),
    ("tokenFile that ends in CRLF", |g| {
        let file = g.file("token", format!("{}\r\n", g.value(g.token, "token")));
        g.login(&format!("tokenFile: {file}"))
    }),
    (
        "tokenFile counts where an old token stands beside it",
        |g| {
            let file = g.file("token", g.value(g.token, "token"));
            g.login(&format!("token: stale\n    tokenFile: {file}"))
        },
    ),
    ("client certificate and key beside the kubeconfig", |g| {
        g.file("client.crt", g.decoded("client-certificate-data"));
        g.file("client.key", g.decoded("client-key-data"));
        let files = "client-certificate: client.crt\n    client-key: client.key";
        g.login(files)
    }),
    ("certificate and key in one file", |g| {
        let both = [
            g.decoded("client-certificate-data"),
            g.decoded("client-key-data"),
        ];
        let file = g.file("client.pem", both.concat());
        g.login(&format!(
            "client-certificate: {file}\n    client-key: {file}"
        ))
    }),
    ("certificate-authority beside the kubeconfig", |g| {
        let authority = STANDARD.decode(g.value(g.token, CA)).unwrap();
        g.file("ca.crt", authority);
        let was = format!("{CA}: {}", g.value(g.token, CA));
        g.with(&was, "certificate-authority: ca.crt")
    }),
    ("authority with text around its PEM", |g| {
        let authority = STANDARD.decode(g.value(g.token, CA)).unwrap();
        let text = [&b"# the cluster's own\n\n"[..], &authority, b"\n\n"].concat();
        g.member(CA, &STANDARD.encode(text))
    }),
    ("insecure-skip-tls-verify", |g| {
        let was = format!("{CA}: {}", g.value(g.token, CA));
        g.with(&was, "insecure-skip-tls-verify: true")
    }),
    ("tls-server-name", |g| {
        g.with(
            "    server: ",
            "    tls-server-name: kubernetes\n    server: ",
        )
    }),
    ("a server by its name", |g| {
        g.member("server", &format!("https://localhost:{}", g.port))
    }),
    ("a server with a slash at its end", |g| {
        g.member("server", &format!("https://127.0.0.1:{}/", g.port))
    }),
    ("JSON", |g| json(g.token)),
    ("CRLF at the ends of lines", |g| {
        g.token.replace('\n', "\r\n")
    }),
    ("a byte order mark", |g| format!("\u{feff}{}", g.token)),
    ("a comment and an empty document head", |g| {
        format!("# made by hand\n---\n{}", g.token)
    }),
    ("preferences and extensions that nobody knows", |g| {
        format!(
            "{}preferences: {{colors: true}}\nextensions:\n- name: x\n  extension: {{a: [1, 2]}}\n",
            g.token
        )
    }),
    ("a cluster's extension, as minikube writes it", |g| {
        g.with(
            "    server: ",
            "    extensions:\n    - extension: {last-update: x, provider: y}\n      name: cluster_info\n    server: ",
        )
    }),
    ("members that no release knows", |g| {
        g.with("    server: ", "    hasA: 1\n    server: ")
    }),
    ("another context that is broken", |g| {
        g.with(
            "contexts:\n",
            "contexts:\n- name: old\n  context: {cluster: gone, user: gone}\n",
        )
    }),
    ("another user whose files are gone", |g| {
        g.with(
            "users:\n",
            "users:\n- name: old\n  user: {client-certificate: /gone.crt, client-key: /gone.key}\n",
        )
    }),
    ("another user with a login helper that hangs", |g| {
        g.with(
            "users:\n",
            "users:\n- name: old\n  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sleep, args: ['600']}}\n",
        )
    }),
    ("another cluster of a dead server", |g| {
        g.with(
            "clusters:\n",
            "clusters:\n- name: dead\n  cluster: {server: 'https://192.0.2.1:6443'}\n",
        )
    }),
    ("a name that is a number", |g| {
        g.token
            .replace("name: k8s", "name: \"1\"")
            .replace("cluster: k8s", "cluster: \"1\"")
            .replace("current-context: k8s", "current-context: \"1\"")
    }),
    ("a name with spaces and @", |g| {
        g.token
            .replace("name: k8s", "name: \"my @ k8s\"")
            .replace("cluster: k8s", "cluster: \"my @ k8s\"")
            .replace("current-context: k8s", "current-context: \"my @ k8s\"")
    }),
    ("YAML anchors", |g| {
        let server = g.value(g.token, "server");
        format!(
            "x-server: &server {server}\n{}",
            g.member("server", "*server")
        )
    }),
    ("quotes around every value", |g| {
        let server = g.value(g.token, "server");
        let token = g.value(g.token, "token");
        g.token
            .replace(&server, &format!("\"{server}\""))
            .replace(&format!("token: {token}"), &format!("token: '{token}'"))
    }),
    ("a long authority folded over lines", |g| {
        let authority = g.value(g.token, CA);
        let (first, second) = authority.split_at(64);
        g.member(CA, &format!("\"{first}\\\n      {second}\""))
    }),
    ("15,000 other clusters", |g| {
        let other = "- name: other\n  cluster: {server: 'https://192.0.2.1'}\n";
        g.with(
            "clusters:\n",
            &format!("clusters:\n{}", other.repeat(15_000)),
        )
    }),
    ("a login helper of v1", |g| {
        g.helper("v1", &g.credential("v1"))
    }),
    ("a login helper of v1beta1", |g| {
        g.helper("v1beta1", &g.credential("v1beta1"))
    }),
    ("a login helper that talks on standard error", |g| {
        g.helper("v1", &format!("echo warning >&2\n{}", g.credential("v1")))
    }),
    ("a link to the file", |g| {
        let file = g.file("real", g.token);
        std::os::unix::fs::symlink(&file, g.folder.join("config")).unwrap();
        String::new()
    }),
];

/// Those that cannot work, with what is said.
const BAD: &[(&str, Make, Ends)] = &[
    (
        "an empty file",
        |_| "\n".to_owned(),
        Refused("current-context"),
    ),
    (
        "only comments",
        |_| "# nothing\n".to_owned(),
        Refused("current-context"),
    ),
    (
        "rubbish",
        |_| "\u{1}\u{2}[[[".to_owned(),
        Refused("not a kubeconfig"),
    ),
    (
        "a Secret that holds a kubeconfig",
        |g| {
            let inner = STANDARD.encode(g.token);
            format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: x}}\ndata: {{value: {inner}}}\n"
            )
        },
        Refused("current-context"),
    ),
    (
        "tabs for spaces",
        |g| g.token.replace("  ", "\t"),
        Refused("not a kubeconfig"),
    ),
    (
        "no current context",
        |g| g.with("current-context: k8s", "current-context: \"\""),
        Refused("current-context"),
    ),
    (
        "a current context that is not there",
        |g| g.with("current-context: k8s", "current-context: prod"),
        Refused("there is no context named \"prod\""),
    ),
    (
        "a cluster that is not there",
        |g| g.with("    cluster: k8s", "    cluster: gone"),
        Refused("there is no cluster named \"gone\""),
    ),
    (
        "a user that is not there",
        |g| g.with("    user: admin", "    user: gone"),
        Refused("there is no user named \"gone\""),
    ),
    (
        "no server",
        |g| g.with(&format!("server: {}", g.value(g.token, "server")), "x: y"),
        Refused("clusters[].cluster.server"),
    ),
    (
        "a server that is no address",
        |g| g.member("server", "'https://[::1'"),
        Refused("clusters[].cluster.server"),
    ),
    (
        "an authority that is no base64",
        |g| g.member(CA, "'%%%'"),
        Refused("certificate-authority"),
    ),
    (
        "an authority that is no PEM",
        |g| g.member(CA, "bm8gY2VydGlmaWNhdGU="),
        Refused("certificate-authority"),
    ),
    (
        "a certificate-authority that is gone",
        |g| {
            let was = format!("{CA}: {}", g.value(g.token, CA));
            g.with(&was, "certificate-authority: /gone/ca.crt")
        },
        Refused("/gone/ca.crt"),
    ),
    (
        "a client key that is gone",
        |g| {
            g.file("client.crt", g.decoded("client-certificate-data"));
            g.login("client-certificate: client.crt\n    client-key: /gone/client.key")
        },
        Refused("users[].user.client-key"),
    ),
    (
        "a tokenFile that is gone",
        |g| g.login("tokenFile: /gone/token"),
        Refused("/gone/token"),
    ),
    (
        "a proxy-url that is none",
        |g| g.with("    server: ", "    proxy-url: 'http://[::1'\n    server: "),
        Refused("proxy-url"),
    ),
    (
        "an authority of another cluster",
        |g| {
            let other = Server::start(
                Small::new(),
                "127.0.0.1:0".parse().unwrap(),
                Faults::default(),
            );
            let other = other.unwrap().kubeconfig(User::Admin, Credential::Token);
            g.member(CA, &g.value(&other, CA))
        },
        Without("certificate"),
    ),
    (
        "a token that expired",
        |g| g.login("token: expired"),
        Without("401"),
    ),
    (
        "a port where nobody listens",
        |g| g.member("server", "https://127.0.0.1:1"),
        Without("refused"),
    ),
    (
        "a server whose name nobody knows",
        |g| g.member("server", "https://no-such-host.invalid:6443"),
        Without("no-such-host.invalid"),
    ),
    (
        "a login helper that fails",
        |g| g.helper("v1", "echo 'no session' >&2; exit 3"),
        Without("helper"),
    ),
];

/// The same as JSON; the members that stand in every config here.
fn json(yaml: &str) -> String {
    let value: serde_json::Value = serde_saphyr::from_str(yaml).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

fn every_kind() -> Result<Seen, String> {
    let listen = "127.0.0.1:0".parse().unwrap();
    let server = Server::start(Small::new(), listen, Faults::default()).unwrap();
    let token = server.kubeconfig(User::Admin, Credential::Token);
    let certificate = server.kubeconfig(User::Admin, Credential::Certificate);
    let good = GOOD.iter().map(|(name, make)| (*name, *make, Objects));
    let all: Vec<(&str, Make, Ends)> = good.chain(BAD.iter().copied()).collect();
    assert_eq!(all.len(), 57);
    let clock = Instant::now();
    let queue = Mutex::new(all.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let Some((name, make, ends)) = queue.lock().unwrap().next() else {
                        return;
                    };
                    let desk = Desk::new();
                    let given = Given {
                        token: &token,
                        certificate: &certificate,
                        folder: &desk.path("out/.."),
                        port: server.address().port(),
                    };
                    let text = make(&given);
                    if let Err(why) = ends_so(&desk, &text, *ends) {
                        wrong.lock().unwrap().push(format!("{name}: {why}"));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(Seen {
        said: format!(
            "{} give objects, of {} the field or the reason is named",
            GOOD.len(),
            BAD.len()
        ),
        rest: "/proc/meminfo".to_owned(),
        took: clock.elapsed().min(Duration::from_secs(59)),
    })
}

/// Whether a run with this kubeconfig ends as it should. An empty text stands for a file that is there already.
fn ends_so(desk: &Desk, text: &str, ends: Ends) -> Result<(), String> {
    let file = desk.path("config");
    if !text.is_empty() {
        fs::write(&file, text).unwrap();
    }
    let ran = desk.run(&[
        "--kubeconfig",
        file.to_str().unwrap(),
        "--only",
        "cluster_objects,host_info",
    ]);
    if let Refused(said) = ends {
        let refused = ran.code == Some(2) && ran.stderr.contains(said);
        return refused.then_some(()).ok_or_else(|| format!("{ran:?}"));
    }
    let [bundle] = ran.files.as_slice() else {
        return Err(format!("{ran:?}"));
    };
    let bundle = Bundle::open(bundle);
    let (outcome, why) = bundle.told("cluster_objects");
    let fits = match ends {
        Without(said) => outcome == Outcome::Failed && why.contains(said),
        _ => outcome == Outcome::Collected && bundle.has("cluster-resources/pods/default.json"),
    };
    if fits && bundle.has("/proc/meminfo") {
        return Ok(());
    }
    Err(format!("{outcome:?}: {why}"))
}
