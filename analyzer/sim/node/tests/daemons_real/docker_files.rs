//! Generated configurations of dockerd: files, flags, and where the file lies.

use std::path::Path;

use casefile_sim_node::containerd::MapTree;
use casefile_sim_node::runtimes::docker;

use crate::dice::Dice;

const GOOD: &[&str] = &[
    r#""debug": true"#,
    r#""log-level": "info""#,
    r#""hosts": ["unix:///run/x.sock"]"#,
    r#""data-root": "/var/lib/other""#,
    r#""log-driver": "json-file""#,
    r#""log-opts": {"max-size": "10m"}"#,
    r#""labels": ["a=b"]"#,
    r#""exec-opts": ["native.cgroupdriver=systemd"]"#,
    r#""exec-opts": ["native.cgroupdriver=cgroupfs"]"#,
    r#""registry-mirrors": ["https://m.example"]"#,
    r#""insecure-registries": ["r.example:5000", "10.0.0.0/8"]"#,
    r#""features": {"buildkit": true}"#,
    r#""default-ulimits": {"nofile": {"Name": "nofile", "Hard": 64, "Soft": 64}}"#,
    r#""runtimes": {"nvidia": {"path": "nvidia-container-runtime", "runtimeArgs": []}}"#,
    r#""runtimes": {"kata": {"path": "/usr/bin/kata"}}, "default-runtime": "kata""#,
    r#""default-runtime": "runc""#,
    r#""live-restore": true"#,
    r#""dns": ["10.0.0.2"]"#,
    r#""default-shm-size": "64M""#,
    r#""storage-driver": "overlay2""#,
    r#""max-concurrent-downloads": 3"#,
    r#""default-address-pools": [{"base": "172.30.0.0/16", "size": 24}]"#,
    r#""proxies": {"http-proxy": "http://p.example"}"#,
    r#""cgroup-parent": "docker.slice""#,
    r#""builder": {"gc": {"enabled": true}}"#,
    r#""unknown-group": {"debug": true}"#,
    r#""registry-mirror": ["m.example"]"#,
    r#""http-proxy": "http://p.example""#,
    r#""mtu": 1400"#,
];

const DOUBTFUL: &[&str] = &[
    r#""graph": "/data""#,
    r#""Debug": true"#,
    r#""debug": "true""#,
    r#""debug": null"#,
    r#""mtu": "1400""#,
    r#""mtu": 1400.0"#,
    r#""mtu": -1"#,
    r#""nvidia": true"#,
    r#""group-of": {"nvidia": true}"#,
    r#""default-runtime": "nvidia""#,
    r#""default-runtime": "io.containerd.kata.v2""#,
    r#""default-runtime": "/usr/bin/kata""#,
    r#""default-runtime": """#,
    r#""runtimes": {"runc": {"path": "/x"}}"#,
    r#""runtimes": {"x": {}}"#,
    r#""runtimes": {"x": {"path": "/x", "runtimeType": "io.x.v1"}}"#,
    r#""runtimes": {"x": {"runtimeType": "io.x.v1"}}"#,
    r#""runtimes": {"x": {"PATH": "/x"}}"#,
    r#""runtimes": {"x": {"path": 1}}"#,
    r#""runtimes": {"x": "path"}"#,
    r#""runtimes": ["nvidia"]"#,
    r#""runtimes": {"io.containerd.runc.v2": {"path": "/x"}}"#,
    r#""exec-opts": ["native.cgroupdriver=system"]"#,
    r#""exec-opts": ["native.cgroupdriver"]"#,
    r#""exec-opts": ["NATIVE.cgroupdriver = systemd"]"#,
    r#""exec-opts": "native.cgroupdriver=systemd""#,
    r#""exec-opts": ["native.umask=normal"]"#,
    r#""exec-opts": ["native.cgroupdriver=systemd", "native.cgroupdriver=cgroupfs"]"#,
    r#""registry-mirrors": ["m.example"]"#,
    r#""registry-mirrors": ["https://m.example/path"]"#,
    r#""registry-mirrors": ["https://u:p@m.example"]"#,
    r#""registry-mirrors": "https://m.example""#,
    r#""insecure-registries": ["ftp://r.example"]"#,
    r#""insecure-registries": ["-r.example"]"#,
    r#""hosts": ["http://x"]"#,
    r#""hosts": ["tcp://127.0.0.1:2375"]"#,
    r#""hosts": ["tcp://127.0.0.1:x"]"#,
    r#""hosts": ["tcp://127.0.0.1:2375/path"]"#,
    r#""log-level": "loud""#,
    r#""log-format": "json""#,
    r#""log-format": "xml""#,
    r#""log-opts": {"max-file": 3}"#,
    r#""log-opts": {"max-sizes": "10m"}"#,
    r#""labels": ["a"]"#,
    r#""labels": ["a=b", "a=c"]"#,
    r#""labels": ["com.docker.x=y"]"#,
    r#""dns": ["resolver"]"#,
    r#""dns-search": ["a b"]"#,
    r#""max-download-attempts": 0"#,
    r#""max-concurrent-uploads": -1"#,
    r#""default-shm-size": 64"#,
    r#""default-shm-size": "many""#,
    r#""default-ipc-mode": "host""#,
    r#""default-ipc-mode": "private""#,
    r#""default-cgroupns-mode": "none""#,
    r#""userland-proxy-path": "docker-proxy""#,
    r#""api-cors-header": "*""#,
    r#""cluster-store": "etcd://x""#,
    r#""oom-score-adjust": -500"#,
    r#""features": {"cdi": true}"#,
    r#""features": {"cdi": "yes"}"#,
    r#""cdi-spec-dirs": ["/etc/cdi"]"#,
    r#""ip": "10.0.0.300""#,
    r#""ip6tables": true"#,
    r#""icc": false"#,
    r#""bip6": "fd00::1/64""#,
    r#""host-gateway-ips": ["10.0.0.1"], "host-gateway-ip": "10.0.0.1""#,
    r#""allow-nondistributable-artifacts": ["r.example"]"#,
    r#""deprecated-key-path": "/x""#,
    r#""resolv-conf": "/x""#,
    r#""default-init": "x""#,
    r#""containerd-plugin-namespace": "x""#,
    r#""network-diagnostic-port": 70000"#,
    r#""storage-driver": "devicemapper""#,
    r#""cgroup-parent": "x""#,
    r#""proxies": {"http-proxy": 3}"#,
    r#""proxies": "none""#,
    r#""default-network-opts": {"bridge": {"a": "b"}}"#,
    r#""default-network-opts": {"bridge": 1}"#,
];

const FLAGS: &[&[&str]] = &[
    &["-D"],
    &["--debug=false"],
    &["-l", "warn"],
    &["-H", "unix:///run/y.sock"],
    &["-Hunix:///run/y.sock"],
    &["-DH", "unix:///run/y.sock"],
    &["--add-runtime", "nvidia=/usr/bin/nvidia-container-runtime"],
    &["--add-runtime=KATA=/usr/bin/kata"],
    &["--data-root", "/var/lib/flagged"],
    &["--exec-opt=native.cgroupdriver=systemd"],
    &["--registry-mirror", "https://flag.example"],
    &["--insecure-registry", "flag.example:5000"],
    &["--log-driver=local"],
    &["--label", "c=d"],
    &["--icc=true"],
    &["--live-restore"],
    &["--mtu", "1400"],
    &["--default-runtime", "nvidia"],
    &["--dns=10.0.0.2"],
];

/// Values that a random key is tried with.
const VALUES: &[&str] = &[
    "true",
    "1",
    "\"\"",
    "[]",
    "{}",
    "null",
    "[1]",
    "{\"a\": 1}",
    "-1.5",
];

/// What the daemon finds where it looks for its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    Usual,
    Named,
    Nowhere,
    NamedNowhere,
    Circle,
    Dangling,
}

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) json: String,
    pub(crate) flags: Vec<String>,
    pub(crate) lies: Lies,
}

/// A configuration to validate.
pub(crate) fn to_validate(dice: &mut Dice) -> Case {
    let mut entries: Vec<String> = (0..dice.below(4))
        .map(|_| dice.pick(GOOD).to_owned())
        .collect();
    if dice.chance(60) {
        entries.push(dice.pick(DOUBTFUL).to_owned());
    }
    if dice.chance(35) {
        let names: Vec<&str> = docker::names().collect();
        let name = dice.pick(&names);
        let value = dice.pick(VALUES);
        entries.push(format!("\"{name}\": {value}"));
    }
    let at = dice.below(entries.len().max(1));
    let half = entries.len();
    if half > 1 {
        entries.swap(at, half - 1);
    }
    let json = broken(dice, format!("{{\n  {}\n}}\n", entries.join(",\n  ")));
    let mut flags = Vec::new();
    for _ in 0..dice.pick(&[0, 0, 0, 1, 1, 2]) {
        flags.extend(dice.pick(FLAGS).iter().map(|word| (*word).to_owned()));
    }
    Case {
        json,
        flags,
        lies: match dice.below(40) {
            0 => Lies::Nowhere,
            1 => Lies::NamedNowhere,
            2 => Lies::Circle,
            3 => Lies::Dangling,
            4..8 => Lies::Named,
            _ => Lies::Usual,
        },
    }
}

fn broken(dice: &mut Dice, json: String) -> String {
    match dice.below(40) {
        0 => String::new(),
        1 => " \n".to_owned(),
        2 => "[1]".to_owned(),
        3 => "null".to_owned(),
        4 => json.replace("\n}", ",\n}"),
        5 => format!("{json}trailing"),
        6 => format!("\u{feff}{json}"),
        7 => json.replacen('"', "", 1),
        8 => json.replacen('{', "{ // comment\n", 1),
        _ => json,
    }
}

const RUNTIMES: &[&str] = &[
    r#""nvidia": {"path": "nvidia-container-runtime"}"#,
    r#""nvidia": {"path": "/usr/bin/nvidia-container-runtime", "runtimeArgs": ["--debug"]}"#,
    r#""kata": {"runtimeType": "io.containerd.kata.v2"}"#,
    r#""crun": {"path": "crun", "options": {"a": "b"}}"#,
    r#""youki": {"runtimeType": "io.x.v2", "runtimeArgs": ["a"]}"#,
    r#""io.containerd.runc.v2": {"path": "/usr/bin/other"}"#,
    r#""empty": {}"#,
    r#""Upper": {"Path": "/usr/bin/upper"}"#,
];

const EFFECTIVE: &[&str] = &[
    r#""default-runtime": "nvidia""#,
    r#""default-runtime": "kata""#,
    r#""default-runtime": "io.containerd.kata.v2""#,
    r#""exec-opts": ["native.cgroupdriver=systemd"]"#,
    r#""exec-opts": ["native.cgroupdriver=cgroupfs", "native.cgroupdriver=systemd"]"#,
    r#""exec-opts": ["native.cgroupdriver=other"]"#,
    r#""features": {"cdi": true}"#,
    r#""features": {"cdi": false}"#,
    r#""features": {"cdi": true}, "features": {"buildkit": true}"#,
    r#""features": {"cdi": true}, "cdi-spec-dirs": ["/etc/cdi", "/opt/cdi"]"#,
    r#""cdi-spec-dirs": [""]"#,
    r#""registry-mirrors": ["https://m.example", "http://n.example/"]"#,
    r#""registry-mirrors": ["https://m.example/hub"]"#,
    r#""registry-mirrors": ["https://u@m.example"]"#,
    r#""insecure-registries": ["r.example:5000", "10.0.0.0/8", "http://s.example"]"#,
    r#""insecure-registries": ["ftp://r.example"]"#,
    r#""log-driver": "local""#,
    r#""log-driver": "elsewhere""#,
    r#""log-opts": {"max-size": "10m", "max-file": "3"}"#,
    r#""log-opts": {"max-sizes": "10m"}"#,
    r#""data-root": "/var/lib/other""#,
    r#""storage-driver": "devicemapper""#,
    r#""storage-driver": "vfs""#,
    r#""cgroup-parent": "x", "exec-opts": ["native.cgroupdriver=systemd"]"#,
    r#""icc": false"#,
    r#""bip": "10.9.0.1/24""#,
    r#""ip6tables": true"#,
    r#""labels": ["gpu=h100"]"#,
];

const EFFECTIVE_FLAGS: &[&[&str]] = &[
    &["--add-runtime", "flagged=/usr/bin/flagged"],
    &["--add-runtime=NVIDIA=/opt/nvidia"],
    &[
        "--default-runtime",
        "flagged",
        "--add-runtime",
        "flagged=/usr/bin/flagged",
    ],
    &["--exec-opt", "native.cgroupdriver=systemd"],
    &["--registry-mirror=https://flag.example/"],
    &[
        "--insecure-registry=flag.example",
        "--insecure-registry",
        "192.168.0.0/16",
    ],
    &["--log-driver", "local"],
    &["--data-root=/var/lib/flagged"],
    &["--default-runtime=io.containerd.runc.v2"],
];

/// A configuration to start with: no bridge and no packet filter.
pub(crate) fn to_start(dice: &mut Dice) -> Case {
    let mut entries = vec![r#""bridge": "none", "iptables": false"#.to_owned()];
    let runtimes: Vec<&str> = (0..dice.below(3)).map(|_| dice.pick(RUNTIMES)).collect();
    if !runtimes.is_empty() {
        entries.push(format!("\"runtimes\": {{{}}}", runtimes.join(", ")));
    }
    entries.extend((0..1 + dice.below(3)).map(|_| dice.pick(EFFECTIVE).to_owned()));
    let mut flags = Vec::new();
    if dice.chance(45) {
        flags.extend(
            dice.pick(EFFECTIVE_FLAGS)
                .iter()
                .map(|word| (*word).to_owned()),
        );
    }
    Case {
        json: format!("{{\n  {}\n}}\n", entries.join(",\n  ")),
        flags,
        lies: Lies::Usual,
    }
}

/// Puts the file where the case has it, on the disk and in the captured tree, and adds the flag that names it.
pub(crate) fn write(case: &mut Case, folder: &Path, tree: &mut MapTree) {
    let etc = folder.join("docker");
    std::fs::create_dir_all(&etc).unwrap();
    let usual = "/etc/docker/daemon.json";
    let link = |target: &str| std::os::unix::fs::symlink(target, etc.join("daemon.json")).unwrap();
    let name = match case.lies {
        Lies::Usual => "daemon.json",
        _ => "named.json",
    };
    match case.lies {
        Lies::Usual | Lies::Named => {
            std::fs::write(etc.join(name), &case.json).unwrap();
            tree.add(&format!("/etc/docker/{name}"), name, &case.json);
        }
        Lies::Circle => {
            link(usual);
            tree.add_link(usual, usual);
        }
        Lies::Dangling => {
            link("/etc/docker/none.json");
            tree.add_link(usual, "/etc/docker/none.json");
        }
        Lies::Nowhere | Lies::NamedNowhere => {}
    }
    if matches!(case.lies, Lies::Named | Lies::NamedNowhere) {
        case.flags.extend([
            "--config-file".to_owned(),
            "/etc/docker/named.json".to_owned(),
        ]);
    }
}
