//! A control plane of real programs: etcd, kube-apiserver, kube-scheduler. No controllers and no kubelets run, so
//! objects stay as the test writes them.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const TOKEN: &str = "laboratory";
/// How long the programs may take to be ready; two busy cores need most of a minute.
const READY: Duration = Duration::from_secs(180);
/// Admission that waits for controllers, or changes what the test writes.
const ADMISSION: &str = "ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection,DefaultStorageClass,DefaultTolerationSeconds";

/// The running programs; they end with it.
pub(crate) struct Plane {
    folder: TempDir,
    port: u16,
    scheduler: u16,
    children: Vec<Child>,
}

impl Drop for Plane {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn key(folder: &Path) -> PathBuf {
    let path = folder.join("sa.key");
    let made = Command::new("openssl")
        .args(["genrsa", "-out"])
        .arg(&path)
        .arg("2048")
        .stderr(Stdio::null())
        .status();
    assert!(made.is_ok_and(|status| status.success()), "openssl genrsa");
    path
}

impl Plane {
    /// Starts the programs of a folder.
    pub(crate) fn start(bins: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut plane = Self {
            port: free_port(),
            scheduler: free_port(),
            folder,
            children: Vec::new(),
        };
        let root = plane.folder.path().to_owned();
        let etcd = format!("http://127.0.0.1:{}", free_port());
        let peers = format!("http://127.0.0.1:{}", free_port());
        plane.run(
            &bins.join("etcd"),
            &[
                "--data-dir".into(),
                root.join("etcd").display().to_string(),
                format!("--listen-client-urls={etcd}"),
                format!("--advertise-client-urls={etcd}"),
                format!("--listen-peer-urls={peers}"),
                "--unsafe-no-fsync".into(),
            ],
        );
        fs::write(
            root.join("tokens"),
            format!("{TOKEN},admin,admin,system:masters\n"),
        )
        .unwrap();
        let sa = key(&root).display().to_string();
        plane.run(
            &bins.join("kube-apiserver"),
            &[
                format!("--etcd-servers={etcd}"),
                format!("--secure-port={}", plane.port),
                "--bind-address=127.0.0.1".into(),
                format!("--cert-dir={}", root.join("certs").display()),
                format!("--token-auth-file={}", root.join("tokens").display()),
                "--authorization-mode=AlwaysAllow".into(),
                "--service-account-issuer=https://laboratory".into(),
                format!("--service-account-key-file={sa}"),
                format!("--service-account-signing-key-file={sa}"),
                format!("--disable-admission-plugins={ADMISSION}"),
                "--service-cluster-ip-range=10.96.0.0/16".into(),
            ],
        );
        plane.wait("/readyz");
        plane.scheduler(bins);
        plane
    }

    fn scheduler(&mut self, bins: &Path) {
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "lab",
            "clusters": [{"name": "lab", "cluster": {"server": self.address(""), "insecure-skip-tls-verify": true}}],
            "users": [{"name": "lab", "user": {"token": TOKEN}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
        });
        let path = self.folder.path().join("kubeconfig");
        fs::write(&path, config.to_string()).unwrap();
        let program = bins.join("kube-scheduler");
        let help = Command::new(&program).arg("--help").output().unwrap();
        // Releases before v1.24 listen without encryption as well, on one port that a second scheduler cannot have.
        let plain = String::from_utf8_lossy(&help.stdout).contains("--port int");
        let plain = plain.then(|| "--port=0".to_owned());
        let arguments = [
            format!("--kubeconfig={}", path.display()),
            "--leader-elect=false".into(),
            format!("--secure-port={}", self.scheduler),
            "--authorization-always-allow-paths=/healthz,/metrics".into(),
            format!(
                "--cert-dir={}",
                self.folder.path().join("scheduler").display()
            ),
        ];
        let arguments: Vec<String> = arguments.into_iter().chain(plain).collect();
        self.run(&program, &arguments);
    }

    fn run(&mut self, program: &Path, arguments: &[String]) {
        let name = program.file_name().unwrap().to_string_lossy();
        let log = fs::File::create(self.folder.path().join(format!("{name}.log"))).unwrap();
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        self.children
            .push(child.unwrap_or_else(|why| panic!("{}: {why}", program.display())));
    }

    fn wait(&self, path: &str) {
        let until = Instant::now() + READY;
        while Instant::now() < until {
            if matches!(self.ask("GET", path, None), Some((200, _))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        let log =
            fs::read_to_string(self.folder.path().join("kube-apiserver.log")).unwrap_or_default();
        panic!(
            "the API server does not get ready:\n{}",
            log.lines().rev().take(20).collect::<Vec<_>>().join("\n")
        );
    }

    fn address(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.port)
    }

    /// Status and body of an answer; none where there was no answer.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let kind = if method == "PATCH" {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let mut curl = Command::new("curl");
        curl.args([
            "-sk",
            "--max-time",
            "30",
            "-X",
            method,
            "-w",
            "\n%{http_code}",
            "-H",
        ])
        .arg(format!("Authorization: Bearer {TOKEN}"))
        .args([
            "-H",
            &format!("Content-Type: {kind}"),
            "--data-binary",
            "@-",
        ])
        .arg(self.address(path))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
        let mut child = curl.spawn().ok()?;
        let text = body.map(Value::to_string).unwrap_or_default();
        child.stdin.take()?.write_all(text.as_bytes()).ok()?;
        let output = child.wait_with_output().ok()?;
        let answer = String::from_utf8_lossy(&output.stdout);
        let (body, status) = answer.rsplit_once('\n')?;
        let status = status.parse().ok().filter(|status| *status > 0)?;
        Some((
            status,
            serde_json::from_str(body).unwrap_or(Value::String(body.into())),
        ))
    }

    /// How many nodes and placed pods the scheduler knows, by its own count, which it renews once a second.
    pub(crate) fn known_to_scheduler(&self) -> Option<(usize, usize)> {
        let mut curl = Command::new("curl");
        curl.args(["-sk", "--max-time", "10"])
            .arg(format!("https://127.0.0.1:{}/metrics", self.scheduler));
        let output = curl.output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let count = |kind: &str| {
            // Releases before v1.33 repeat the first word.
            let name = format!("scheduler_cache_size{{type=\"{kind}\"}} ");
            let line = text
                .lines()
                .map(|line| {
                    line.strip_prefix("scheduler_")
                        .filter(|rest| rest.starts_with("scheduler_"))
                        .unwrap_or(line)
                })
                .find_map(|line| line.strip_prefix(&name))?;
            line.trim().parse().ok()
        };
        Some((count("nodes")?, count("pods")?))
    }

    /// An answer that has to be a good one.
    pub(crate) fn must(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        match self.ask(method, path, body) {
            Some((200..=299, answer)) => answer,
            other => panic!("{method} {path}: {other:?}\n{body:?}"),
        }
    }

    /// The objects of a list.
    pub(crate) fn list(&self, path: &str) -> Vec<Value> {
        match self.must("GET", path, None)["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        }
    }
}
