//! A router between two network namespaces, with real rules and real packets.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use casefile_sim_net::packet::CtState;

pub(crate) use crate::setup::{missing, sh};
use crate::setup::{namespaces, six_script};
use crate::shot::{ASIDE, ROUTER_IP, Router, SIX, Shot};

/// Rules of every kind, to be loaded or as they were saved; empty where there are none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    /// The rules of `iptables` are those of ip6tables.
    pub(crate) six: bool,
    pub(crate) iptables: String,
    pub(crate) legacy: String,
    pub(crate) nft: String,
    pub(crate) ipset: String,
    /// Sockets of the router, as `ss` lists them.
    pub(crate) listening: String,
}

impl Texts {
    /// Nothing was listed, whatever is loaded.
    pub(crate) fn lists_nothing(&self) -> bool {
        let all = [&self.iptables, &self.legacy, &self.nft];
        all.iter().all(|text| text.trim().is_empty())
    }
}

/// What really happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Arrived,
    Refused,
    Nothing,
}

pub(crate) struct Lab {
    tag: String,
    six: bool,
    uses_legacy: std::cell::Cell<bool>,
    pub(crate) scratch: tempfile::TempDir,
    wire: Child,
    to_wire: ChildStdin,
    from_wire: BufReader<ChildStdout>,
    inside: Inside,
    next_id: u16,
}

/// A shell that stays in the router's namespace: what is asked behind each packet need not enter it each time.
struct Inside {
    shell: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

/// Stands behind the output of a line.
const END: &str = "=== the line has ended ===";

impl Inside {
    fn enter(namespace: &str) -> Inside {
        let mut shell = Command::new("ip")
            .args(["netns", "exec", namespace, "sh"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let to = shell.stdin.take().expect("stdin");
        let from = BufReader::new(shell.stdout.take().expect("stdout"));
        Inside { shell, to, from }
    }

    /// The output of a line.
    fn run(&mut self, line: &str) -> String {
        writeln!(self.to, "{line}\necho '{END}'").expect("the shell takes a line");
        let mut all = String::new();
        loop {
            let before = all.len();
            let read = self.from.read_line(&mut all).expect("the shell answers");
            if read == 0 || all[before..].trim_end().ends_with(END) {
                // An output may end without a line's end.
                let end = all.len() - (all.len() - before).min(END.len() + 1);
                all.truncate(end);
                return all;
            }
        }
    }
}

impl Lab {
    /// The name tells it from others of this process.
    pub(crate) fn new(name: &str, six: bool) -> Lab {
        let tag = format!("fw{name}-{}", std::process::id());
        assert!(
            sh(&namespaces(&tag)).0,
            "the namespaces could not be set up"
        );
        if six {
            assert!(sh(&six_script(&tag)).0, "IPv6 could not be set up");
        }
        let wire = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firewall_real/wire.py");
        let mut wire = Command::new("python3")
            .arg(wire)
            .args([format!("{tag}p"), format!("{tag}o"), format!("{tag}r")])
            .args([ROUTER_IP, SIX[2]])
            .args(ASIDE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let to_wire = wire.stdin.take().expect("stdin");
        let from_wire = BufReader::new(wire.stdout.take().expect("stdout"));
        let scratch = tempfile::tempdir().expect("scratch folder");
        let inside = Inside::enter(&format!("{tag}r"));
        let mut lab = Lab {
            tag,
            six,
            uses_legacy: std::cell::Cell::new(false),
            scratch,
            wire,
            to_wire,
            from_wire,
            inside,
            next_id: 1,
        };
        lab.seen();
        lab
    }

    /// Runs a line inside the router's namespace, with ufw's files replaced by
    /// copies in the scratch folder.
    pub(crate) fn router(&self, line: &str) -> (bool, String) {
        let etc = self.etc();
        let binds = if etc.exists() {
            let etc = etc.display();
            format!(
                "mount --bind {etc}/ufw /etc/ufw && mount --bind {etc}/default-ufw /etc/default/ufw && "
            )
        } else {
            String::new()
        };
        let path = self.scratch.path().join("line.sh");
        std::fs::write(&path, format!("{binds}{line}")).expect("script");
        sh(&format!(
            "ip netns exec {}r sh {}",
            self.tag,
            path.display()
        ))
    }

    pub(crate) fn etc(&self) -> PathBuf {
        self.scratch.path().join("etc")
    }

    /// Fresh copies of ufw's files.
    pub(crate) fn fresh_ufw(&self) {
        let etc = self.etc();
        let etc = etc.display();
        let line = format!(
            "rm -rf {etc}; mkdir -p {etc}/ufw/applications.d && cp /usr/share/ufw/iptables/*.rules {etc}/ufw/ && \
             cp /etc/ufw/sysctl.conf /etc/ufw/*.init {etc}/ufw/ && cp /usr/share/ufw/ufw.conf {etc}/ufw/ && \
             cp /etc/default/ufw {etc}/default-ufw && sed -i 's/^IPV6=.*/IPV6=no/; s/^IPT_SYSCTL=.*/IPT_SYSCTL=/' {etc}/default-ufw"
        );
        assert!(sh(&line).0, "ufw's files could not be copied");
    }

    /// Loads complete rules in place of what is there; the kernel's complaint when it refuses them.
    pub(crate) fn load(&self, rules: &Texts) -> Result<(), String> {
        // A restore leaves tables alone that its text does not name.
        let mut script = String::from(
            "for t in raw mangle nat filter; do nft delete table ip $t 2>/dev/null; nft delete table ip6 $t 2>/dev/null; done\n",
        );
        if self.uses_legacy.replace(!rules.legacy.is_empty()) {
            script += "for t in raw mangle nat filter; do iptables-legacy -t $t -F; iptables-legacy -t $t -X; done\nfor c in INPUT FORWARD OUTPUT; do iptables-legacy -P $c ACCEPT; done\n";
        }
        script += "nft delete table inet gen 2>/dev/null; nft delete table ip gen 2>/dev/null; nft delete table ip6 gen 2>/dev/null; ipset flush 2>/dev/null; for i in 1 2 3 4 5 6 7 8 9; do ipset destroy 2>/dev/null && break; sleep 0.05; done\n";
        for (command, text) in [
            ("ipset restore", &rules.ipset),
            (
                if rules.six {
                    "ip6tables-restore"
                } else {
                    "iptables-restore"
                },
                &rules.iptables,
            ),
            ("iptables-legacy-restore", &rules.legacy),
            ("nft -f -", &rules.nft),
        ] {
            if !text.is_empty() {
                let path = self.scratch.path().join(command.replace(' ', "-"));
                std::fs::write(&path, text).expect("rules file");
                // Names of hosts in the rules would be asked for in a network that has no resolver.
                let line = [
                    "timeout 10 ",
                    command,
                    " < ",
                    &path.display().to_string(),
                    " 2>&1 || exit 1\n",
                ];
                script.extend(line);
            }
        }
        match self.router(&script) {
            (true, _) => Ok(()),
            (false, why) => Err(format!("the kernel refuses: {why}\n{rules:?}")),
        }
    }

    /// What the router's kernel holds, in the forms that a collector would take.
    pub(crate) fn save(&mut self, rules: &Texts) -> Texts {
        let mut line = String::new();
        if !rules.iptables.is_empty() {
            line += if rules.six {
                "ip6tables-save -c; "
            } else {
                "iptables-save -c; "
            };
        }
        line += "echo ----; ";
        if !rules.legacy.is_empty() {
            line += "iptables-legacy-save -c; ";
        }
        line += "echo ----; ";
        if !rules.nft.is_empty() {
            line += "nft list ruleset; ";
        }
        line += "echo ----; ";
        if !rules.ipset.is_empty() {
            line += "ipset list; ";
        }
        line += "echo ----; ";
        // Only some matches ask for sockets.
        let asks =
            |text: &String| text.contains("socket") || text.to_lowercase().contains("tproxy");
        if asks(&rules.iptables) || asks(&rules.nft) {
            line += "ss -lntu";
        }
        let output = self.inside.run(&line);
        let mut parts = output.split("----\n").map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Texts {
            six: rules.six,
            iptables: part(),
            legacy: part(),
            nft: part(),
            ipset: part(),
            listening: part(),
        }
    }

    /// The router's routes.
    pub(crate) fn routes(&self) -> String {
        let family = if self.six { "-6" } else { "-4" };
        sh(&format!(
            "ip {family} -n {}r -j route show table all",
            self.tag
        ))
        .1
    }

    /// Makes a connection that tracking knows in both directions.
    pub(crate) fn establish(&mut self, sport: u16, dport: u16) {
        let mut shot = Shot {
            six: self.six,
            to_router: false,
            router: Router::Plain,
            from_pod: true,
            proto: 17,
            sport,
            dport,
            flags: 0,
            state: CtState::New,
        };
        for _ in 0..2 {
            self.fire(&shot);
            let back = Shot {
                from_pod: false,
                sport: shot.dport,
                dport: shot.sport,
                ..shot.clone()
            };
            self.fire(&back);
            shot.from_pod = true;
        }
        self.seen();
    }

    /// Sends a packet and returns its id.
    pub(crate) fn fire(&mut self, shot: &Shot) -> u16 {
        let id = self.next_id;
        self.next_id = self.next_id.checked_add(1).unwrap_or(1);
        let side = match (shot.router, shot.from_pod) {
            (Router::Sends, _) => "router",
            (_, true) => "pod",
            (_, false) => "out",
        };
        let (src, dst) = shot.ends();
        writeln!(
            self.to_wire,
            "send {side} {src} {dst} {} {} {} {} {id}",
            shot.number(),
            shot.sport,
            shot.dport,
            shot.flags
        )
        .expect("the wire takes a packet");
        id
    }

    /// Everything that arrived since the last call.
    pub(crate) fn seen(&mut self) -> Vec<(u16, Outcome)> {
        writeln!(self.to_wire, "seen").expect("the wire takes a question");
        let mut line = String::new();
        self.from_wire
            .read_line(&mut line)
            .expect("the wire answers");
        line.split_whitespace()
            .filter_map(|word| {
                let (id, what) = word.split_once(':')?;
                let outcome = if what == "arrived" {
                    Outcome::Arrived
                } else {
                    Outcome::Refused
                };
                Some((id.parse().ok()?, outcome))
            })
            .collect()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for child in [&mut self.wire, &mut self.inside.shell] {
            let _ = child.kill();
            let _ = child.wait();
        }
        for name in ["p", "r", "o"] {
            sh(&format!("ip netns del {}{name}", self.tag));
        }
    }
}
