//! The resolver against real containerd binaries: generated trees of root files, imports and drop-ins, the
//! effective configuration compared with `containerd -c FILE config dump`.
//!
//! Binaries come from `CASEFILE_CONTAINERD_BINS` (paths joined by colons) or `containerd` on the path; without
//! any the tests skip. `CASEFILE_CONTAINERD_TREES` sets the number of trees for each binary.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of a test stop it where they cannot go on"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_analyzer::containerd::{
    Answer, ConfigProblem, Cri, EffectiveConfig, MapTree, Release, RootFile, Section, Starts,
    Value, cri_view, parse, resolve,
};

/// A small deterministic generator (xorshift64*).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

fn binaries() -> Vec<PathBuf> {
    if let Ok(list) = std::env::var("CASEFILE_CONTAINERD_BINS") {
        return list
            .split(':')
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .collect();
    }
    let on_path = Command::new("containerd").arg("--version").output();
    on_path
        .ok()
        .filter(|out| out.status.success())
        .map(|_| PathBuf::from("containerd"))
        .into_iter()
        .collect()
}

fn version_of(binary: &Path) -> String {
    let out = Command::new(binary)
        .arg("--version")
        .output()
        .expect("binary runs");
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

fn trees() -> u64 {
    std::env::var("CASEFILE_CONTAINERD_TREES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(60)
}

fn runtime(out: &mut String, dice: &mut Dice, at: &str) {
    let name = dice.pick(&["runc", "nvidia", "nvidia-cdi", "kata", "untrusted"]);
    writeln!(out, "[{at}.runtimes.{name}]").unwrap();
    if dice.chance(80) {
        writeln!(
            out,
            "runtime_type = \"{}\"",
            dice.pick(&["io.containerd.runc.v2", "io.containerd.kata.v2", ""])
        )
        .unwrap();
    }
    if dice.chance(30) {
        writeln!(
            out,
            "privileged_without_host_devices = {}",
            dice.pick(&["true", "false"])
        )
        .unwrap();
    }
    if dice.chance(20) {
        writeln!(
            out,
            "snapshotter = \"{}\"",
            dice.pick(&["overlayfs", "devmapper", ""])
        )
        .unwrap();
    }
    if dice.chance(15) {
        writeln!(
            out,
            "base_runtime_spec = \"/etc/spec{}.json\"",
            dice.below(3)
        )
        .unwrap();
    }
    if dice.chance(10) {
        writeln!(
            out,
            "{} = \"podsandbox\"",
            dice.pick(&["sandbox_mode", "sandboxer", "unknown_key"])
        )
        .unwrap();
    }
    if dice.chance(3) {
        writeln!(
            out,
            "{}",
            dice.pick(&[
                "cni_conf_dir = 5",
                "pod_annotations = \"x\"",
                "cni_max_conf_num = \"1\""
            ])
        )
        .unwrap();
    }
    if dice.chance(4) {
        writeln!(
            out,
            "{} = \"x\"",
            dice.pick(&["runtime_engine", "runtime_root"])
        )
        .unwrap();
    }
    options(out, dice, &format!("{at}.runtimes.{name}.options"));
}

fn options(out: &mut String, dice: &mut Dice, at: &str) {
    if dice.chance(10) {
        writeln!(
            out,
            "options = {{ BinaryName = \"/inline/runc\", SystemdCgroup = true }}"
        )
        .unwrap();
        return;
    }
    if dice.chance(70) {
        writeln!(out, "[{at}]").unwrap();
        if dice.chance(70) {
            writeln!(
                out,
                "BinaryName = \"{}\"",
                dice.pick(&["/usr/bin/nvidia-container-runtime", "/opt/runc", ""])
            )
            .unwrap();
        }
        if dice.chance(60) {
            writeln!(out, "SystemdCgroup = {}", dice.pick(&["true", "false"])).unwrap();
        }
    }
}

/// The `[….containerd]` part: its keys, then distinct runtimes.
fn containerd_part(out: &mut String, dice: &mut Dice, plugin: &str) {
    let at = format!("plugins.{plugin}.containerd");
    writeln!(out, "[{at}]").unwrap();
    if dice.chance(50) {
        writeln!(
            out,
            "default_runtime_name = \"{}\"",
            dice.pick(&["runc", "nvidia", "nvidia", ""])
        )
        .unwrap();
    }
    if dice.chance(20) {
        writeln!(
            out,
            "snapshotter = \"{}\"",
            dice.pick(&["overlayfs", "native"])
        )
        .unwrap();
    }
    if dice.chance(10) {
        writeln!(out, "[{at}.runtimes]").unwrap();
    }
    let mut seen = Vec::new();
    for _ in 0..dice.below(4) {
        let mut one = String::new();
        runtime(&mut one, dice, &at);
        let head = one.lines().next().unwrap_or_default().to_owned();
        if !seen.contains(&head) {
            out.push_str(&one);
            seen.push(head);
        }
    }
}

fn plugin_section(out: &mut String, dice: &mut Dice, plugin: &str) {
    writeln!(out, "[plugins.{plugin}]").unwrap();
    if dice.chance(40) {
        writeln!(out, "sandbox_image = \"registry/pause:{}\"", dice.below(9)).unwrap();
    }
    if dice.chance(30) {
        writeln!(out, "enable_cdi = {}", dice.pick(&["true", "false"])).unwrap();
    }
    if dice.chance(3) {
        writeln!(out, "systemd_cgroup = true").unwrap();
    }
    if dice.chance(15) {
        writeln!(out, "cdi_spec_dirs = [\"/etc/cdi{}\"]", dice.below(3)).unwrap();
    }
    if dice.chance(4) {
        writeln!(
            out,
            "{}",
            dice.pick(&[
                "enable_selinux = \"no\"",
                "max_concurrent_downloads = \"3\"",
                "sandbox_image = 3"
            ])
        )
        .unwrap();
    }
    if dice.chance(35) {
        writeln!(out, "[plugins.{plugin}.cni]").unwrap();
        if dice.chance(60) {
            writeln!(out, "bin_dir = \"/opt/cni{}/bin\"", dice.below(3)).unwrap();
        }
        if dice.chance(8) {
            writeln!(out, "bin_dirs = [\"/opt/a{}\", \"/opt/b\"]", dice.below(2)).unwrap();
        }
        if dice.chance(60) {
            writeln!(out, "conf_dir = \"/etc/cni{}/net.d\"", dice.below(3)).unwrap();
        }
    }
    if dice.chance(70) {
        containerd_part(out, dice, plugin);
    }
    if dice.chance(25) {
        writeln!(
            out,
            "[plugins.{plugin}.registry]\nconfig_path = \"/etc/certs{}.d\"",
            dice.below(3)
        )
        .unwrap();
    }
    if dice.chance(10) {
        writeln!(
            out,
            "[plugins.{plugin}.registry.mirrors.\"docker.io\"]\nendpoint = [\"https://m{}\"]",
            dice.below(3)
        )
        .unwrap();
    }
}

const PLUGINS: [&str; 4] = [
    "\"io.containerd.grpc.v1.cri\"",
    "cri",
    "\"io.containerd.cri.v1.runtime\"",
    "'io.containerd.cri.v1.images'",
];

fn header(dice: &mut Dice, version: u64) -> String {
    let mut out = String::new();
    if version > 0 {
        writeln!(out, "version = {version}").unwrap();
    }
    if dice.chance(20) {
        let id = match (version, dice.below(20)) {
            (_, 0) | (0 | 1, _) => dice.pick(&["cri", "opt", "restart"]),
            _ => dice.pick(&[
                "io.containerd.internal.v1.opt",
                "io.containerd.grpc.v1.cri",
                "io.containerd.snapshotter.v1.zfs",
            ]),
        };
        writeln!(out, "disabled_plugins = [\"{id}\"]").unwrap();
    }
    if dice.chance(10) {
        writeln!(out, "root = \"/var/lib/c{}\"", dice.below(4)).unwrap();
    }
    if dice.chance(2) {
        writeln!(
            out,
            "{}",
            dice.pick(&[
                "oom_score = \"0\"",
                "disabled_plugins = \"cri\"",
                "version = \"2\"",
                "state = 3"
            ])
        )
        .unwrap();
    }
    out
}

/// One file. `wanted` is the schema the tree is mostly written in.
fn file(dice: &mut Dice, wanted: u64, imports: &[String]) -> String {
    let version = if dice.chance(85) {
        wanted
    } else {
        dice.below(5)
    };
    let mut out = header(dice, version);
    if !imports.is_empty() {
        let list: Vec<String> = imports.iter().map(|path| format!("\"{path}\"")).collect();
        writeln!(out, "imports = [{}]", list.join(", ")).unwrap();
    }
    if dice.chance(20) {
        writeln!(
            out,
            "[grpc]\naddress = \"/run/c{}.sock\"\nuid = {}",
            dice.below(3),
            dice.below(2)
        )
        .unwrap();
    }
    for plugin in PLUGINS {
        let usual = match plugin {
            "cri" => version <= 1,
            other if other.contains("grpc") => version == 2,
            _ => version >= 3,
        };
        if dice.chance(if usual { 75 } else { 4 }) {
            plugin_section(&mut out, dice, plugin);
        }
    }
    if dice.chance(2) {
        out.push_str(dice.pick(&["x = \n", "[a\n", "version = 2\nversion = 3\n", "= 1\n"]));
    }
    out
}

/// Writes a tree of files below a folder and returns the root file's path.
fn write_tree(dice: &mut Dice, dir: &Path, into: &mut MapTree) -> String {
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let wanted = [0, 1, 2, 2, 2, 3, 3][usize::try_from(dice.below(7)).unwrap()];
    let mut imports = Vec::new();
    if dice.chance(60) {
        imports.push(at("conf.d/*.toml"));
    }
    if dice.chance(20) {
        imports.push("extra.toml".to_owned());
    }
    if dice.chance(10) {
        imports.push("conf.d/../root.toml".to_owned());
    }
    if dice.chance(5) {
        imports.push("rel.d/[0-9]*.toml".to_owned());
    }
    if dice.chance(3) {
        imports.push("missing.toml".to_owned());
    }
    let mut files = vec![("root.toml".to_owned(), imports)];
    for n in 0..dice.below(4) {
        let nested = if dice.chance(15) {
            vec!["../extra.toml".to_owned()]
        } else {
            Vec::new()
        };
        files.push((format!("conf.d/{}{n}-x.toml", dice.below(9)), nested));
    }
    files.push((
        "extra.toml".to_owned(),
        if dice.chance(30) {
            vec!["./root.toml".to_owned()]
        } else {
            Vec::new()
        },
    ));
    files.push(("rel.d/10-a.toml".to_owned(), Vec::new()));
    files.push(("rel.d/b.toml".to_owned(), Vec::new()));
    for (name, imports) in files {
        let text = file(dice, wanted, &imports);
        let path = dir.join(&name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
        into.add(path.to_str().unwrap(), &name, &text);
    }
    at("root.toml")
}

type Facts = BTreeMap<String, String>;

fn show(value: &Value) -> String {
    serde_json::to_string(value).unwrap()
}

fn dumped(section: &Section, facts: &mut Facts, key: &str, path: &[&str]) {
    if let Some(setting) = section.setting(path) {
        facts.insert(key.to_owned(), show(&setting.value));
    }
}

fn dumped_runtimes(runtime: &Section, facts: &mut Facts) {
    let listed = runtime.section(&["containerd", "runtimes"]);
    for (name, node) in listed.into_iter().flat_map(|section| &section.entries) {
        let Some(section) = node.section() else {
            continue;
        };
        facts.insert(format!("runtime {name}"), String::new());
        for key in [
            "runtime_type",
            "privileged_without_host_devices",
            "snapshotter",
            "base_runtime_spec",
        ] {
            dumped(section, facts, &format!("runtime {name} {key}"), &[key]);
        }
        for key in ["BinaryName", "SystemdCgroup"] {
            dumped(
                section,
                facts,
                &format!("runtime {name} {key}"),
                &["options", key],
            );
        }
    }
}

/// What a dump says about the CRI part.
fn facts_of_dump(dump: &Section, v1: bool) -> Facts {
    let mut facts = Facts::new();
    let ids = dump
        .setting(&["disabled_plugins"])
        .map(|setting| setting.value.strings())
        .unwrap_or_default();
    facts.insert("disabled_plugins".to_owned(), ids.join(","));
    dumped(dump, &mut facts, "root", &["root"]);
    dumped(dump, &mut facts, "address", &["grpc", "address"]);
    let (runtime_id, images_id) = if v1 {
        ("io.containerd.grpc.v1.cri", "io.containerd.grpc.v1.cri")
    } else {
        (
            "io.containerd.cri.v1.runtime",
            "io.containerd.cri.v1.images",
        )
    };
    if let Some(runtime) = dump.section(&["plugins", runtime_id]) {
        dumped(
            runtime,
            &mut facts,
            "default",
            &["containerd", "default_runtime_name"],
        );
        dumped(runtime, &mut facts, "cni.bin", &["cni", "bin_dir"]);
        dumped(runtime, &mut facts, "cni.bins", &["cni", "bin_dirs"]);
        dumped(runtime, &mut facts, "cni.conf", &["cni", "conf_dir"]);
        dumped(runtime, &mut facts, "cdi", &["enable_cdi"]);
        dumped(runtime, &mut facts, "cdi.dirs", &["cdi_spec_dirs"]);
        dumped_runtimes(runtime, &mut facts);
    }
    if let Some(images) = dump.section(&["plugins", images_id]) {
        let image: &[&str] = if v1 {
            &["sandbox_image"]
        } else {
            &["pinned_images", "sandbox"]
        };
        dumped(images, &mut facts, "pause", image);
        dumped(
            images,
            &mut facts,
            "snapshotter",
            if v1 {
                &["containerd", "snapshotter"]
            } else {
                &["snapshotter"]
            },
        );
        dumped(images, &mut facts, "certs", &["registry", "config_path"]);
        let hosts = images.section(&["registry", "mirrors"]);
        for host in hosts.into_iter().flat_map(|section| section.entries.keys()) {
            facts.insert(format!("mirror {host}"), String::new());
        }
    }
    facts
}

fn our_handlers(config: &EffectiveConfig, cri: &Cri, facts: &mut Facts) {
    let v1 = config.containerd.release.is_v1();
    let quoted = |text: &str| format!("{text:?}");
    for (name, handler) in &cri.handlers {
        let mut put =
            |key: &str, value: String| facts.insert(format!("runtime {name} {key}"), value);
        put("runtime_type", quoted(&handler.runtime_type.value));
        put(
            "privileged_without_host_devices",
            handler.privileged_without_host_devices.value.to_string(),
        );
        put(
            "base_runtime_spec",
            quoted(&handler.base_runtime_spec.value),
        );
        if config.containerd.release != Release::V1_6 {
            put("snapshotter", quoted(&handler.snapshotter.value));
        }
        let built_in = name == "runc" && (!v1 || handler.place.is_none());
        if built_in || handler.options.contains_key("BinaryName") {
            put("BinaryName", quoted(&handler.binary_name.value));
        }
        if built_in || handler.options.contains_key("SystemdCgroup") {
            put("SystemdCgroup", handler.systemd_cgroup.value.to_string());
        }
        facts.insert(format!("runtime {name}"), String::new());
    }
}

fn our_cni(config: &EffectiveConfig, cri: &Cri, defaults: &Facts, facts: &mut Facts) {
    let v1 = config.containerd.release.is_v1();
    let quoted = |text: &str| format!("{text:?}");
    let patched = |key: &str| defaults.get(key).cloned().unwrap_or_default();
    if v1 {
        let ours = quoted(&cri.cni_bin_dirs.value.join(""));
        let dirs = if cri.cni_bin_dirs.place().is_some() {
            ours
        } else {
            patched("cni.bin")
        };
        facts.insert("cni.bin".to_owned(), dirs);
    } else {
        let one = config
            .plugins
            .setting(&["io.containerd.cri.v1.runtime", "cni", "bin_dir"]);
        facts.insert(
            "cni.bin".to_owned(),
            one.map_or("\"\"".to_owned(), |s| show(&s.value)),
        );
        let many = config
            .plugins
            .setting(&["io.containerd.cri.v1.runtime", "cni", "bin_dirs"]);
        facts.insert(
            "cni.bins".to_owned(),
            many.map_or_else(|| patched("cni.bins"), |s| show(&s.value)),
        );
    }
}

/// The same from the resolver, in the spelling of a dump.
///
/// Built-in values that distributions patch come from `defaults`, the facts of `containerd config default`.
fn facts_of_ours(config: &EffectiveConfig, defaults: &Facts) -> Facts {
    let cri = cri_view(config);
    let v1 = config.containerd.release.is_v1();
    let mut facts = Facts::new();
    let quoted = |text: &str| format!("{text:?}");
    let patched = |key: &str| defaults.get(key).cloned().unwrap_or_default();
    let ids: Vec<&str> = config
        .disabled_plugins
        .iter()
        .map(|item| item.value.as_str())
        .collect();
    facts.insert("disabled_plugins".to_owned(), ids.join(","));
    let top = |path: &[&str], default: &str| {
        config
            .top(path)
            .and_then(|s| s.value.as_str())
            .unwrap_or(default)
            .to_owned()
    };
    facts.insert(
        "root".to_owned(),
        quoted(&top(&["root"], "/var/lib/containerd")),
    );
    facts.insert(
        "address".to_owned(),
        quoted(&top(
            &["grpc", "address"],
            "/run/containerd/containerd.sock",
        )),
    );
    // A dump leaves out plugins that are disabled (1.x) or prints them undecoded (2.x).
    let off = |id: &str| ids.contains(&id);
    let cri_off = if config.schema < 2 {
        off("cri")
    } else {
        off("io.containerd.grpc.v1.cri")
    };
    if v1 && cri_off {
        return facts;
    }
    facts.insert(
        "default".to_owned(),
        quoted(&cri.default_runtime_name.value),
    );
    // `default_runtime` moves the name only when the plugin validates, after a dump; the generator sets none.
    facts.insert("cni.conf".to_owned(), quoted(&cri.cni_conf_dir.value));
    our_cni(config, &cri, defaults, &mut facts);
    if config.containerd.release != Release::V1_6 {
        facts.insert("cdi".to_owned(), cri.enable_cdi.value.to_string());
        facts.insert(
            "cdi.dirs".to_owned(),
            serde_json::to_string(&cri.cdi_spec_dirs.value).unwrap(),
        );
    }
    our_handlers(config, &cri, &mut facts);
    let ours = quoted(&cri.sandbox_image.value);
    facts.insert(
        "pause".to_owned(),
        if cri.sandbox_image.place().is_some() {
            ours
        } else {
            patched("pause")
        },
    );
    facts.insert("snapshotter".to_owned(), quoted(&cri.snapshotter.value));
    facts.insert("certs".to_owned(), quoted(&cri.registry_config_path.value));
    for host in cri.registry_mirrors.keys() {
        facts.insert(format!("mirror {host}"), String::new());
    }
    facts
}

enum Outcome {
    Equal,
    Explained(&'static str),
    Differs(String),
}

fn compare(binary: &Path, root: &str, config: &EffectiveConfig, defaults: &Facts) -> Outcome {
    let out = Command::new(binary)
        .args(["-c", root, "config", "dump"])
        .output()
        .expect("binary runs");
    let accepted = out.status.success();
    let refused: Vec<String> = config
        .problems
        .iter()
        .filter(|problem| problem.effect() == casefile_analyzer::containerd::Effect::RefusesToStart)
        .map(ToString::to_string)
        .collect();
    match (accepted, config.starts() == Starts::No) {
        (false, true) => return Outcome::Equal,
        (true, true) => {
            let missing = config
                .problems
                .iter()
                .any(|problem| matches!(problem, ConfigProblem::Missing { .. }));
            if missing && !config.containerd.release.is_v1() {
                return Outcome::Explained(
                    "2.x `config dump` stops reading at a missing import and shows the rest; the daemon refuses",
                );
            }
            return Outcome::Differs(format!("containerd accepts; we say {refused:?}"));
        }
        (false, false) => {
            let message = String::from_utf8_lossy(&out.stderr);
            let line = message
                .lines()
                .find(|line| line.contains("panic"))
                .or(message.lines().last());
            return Outcome::Differs(format!(
                "containerd refuses: {} ({root})",
                line.unwrap_or_default()
            ));
        }
        (true, false) => {}
    }
    let text = String::from_utf8_lossy(&out.stdout);
    let dump = parse::parse(&text, "dump", "dump").expect("a dump is TOML");
    let theirs = facts_of_dump(&dump, config.containerd.release.is_v1());
    let ours = facts_of_ours(config, defaults);
    if theirs == ours {
        return Outcome::Equal;
    }
    if config
        .problems
        .iter()
        .any(|problem| matches!(problem, ConfigProblem::AmbiguousTable { .. }))
    {
        return Outcome::Explained(
            "a version 1 file names the CRI table twice; containerd 2 keeps one at random, we say so",
        );
    }
    let mut keys: Vec<&String> = theirs.keys().chain(ours.keys()).collect();
    keys.sort();
    keys.dedup();
    let diff = keys
        .into_iter()
        .filter(|key| theirs.get(*key) != ours.get(*key));
    let lines: Vec<String> = diff
        .map(|key| {
            format!(
                "{key}: real {:?}, ours {:?}",
                theirs.get(key),
                ours.get(key)
            )
        })
        .collect();
    Outcome::Differs(lines.join("; "))
}

#[test]
fn effective_configurations_equal_those_of_real_containerds() {
    let binaries = binaries();
    if binaries.is_empty() {
        println!("skipped: no containerd on the path and CASEFILE_CONTAINERD_BINS is not set");
        return;
    }
    let mut all = Vec::new();
    for binary in binaries {
        let version = version_of(&binary);
        let built_in = Command::new(&binary)
            .args(["config", "default"])
            .output()
            .expect("binary runs");
        let built_in = parse::parse(
            &String::from_utf8_lossy(&built_in.stdout),
            "default",
            "default",
        )
        .expect("TOML");
        let v1 = version.contains(" 1.");
        let defaults = facts_of_dump(&built_in, v1);
        let (mut equal, mut explained, mut refused) = (0, BTreeMap::<&str, u64>::new(), 0);
        let mut differs = Vec::new();
        for seed in 1..=trees() {
            let mut dir = tempfile::tempdir().unwrap();
            dir.disable_cleanup(std::env::var_os("CASEFILE_KEEP_TREES").is_some());
            let mut tree = MapTree::whole();
            let root = write_tree(
                &mut Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
                dir.path(),
                &mut tree,
            );
            let config = resolve(
                &tree,
                RootFile {
                    path: &root,
                    explicit: true,
                },
                Some(&version),
            );
            refused += u64::from(config.starts() == Starts::No);
            match compare(&binary, &root, &config, &defaults) {
                Outcome::Equal => equal += 1,
                Outcome::Explained(why) => *explained.entry(why).or_default() += 1,
                Outcome::Differs(how) => differs.push(format!("seed {seed}: {how}")),
            }
        }
        let known: u64 = explained.values().sum();
        println!(
            "{version}\n  {} trees, {equal} equal, {known} explained, {} differ; {refused} refused",
            trees(),
            differs.len()
        );
        for (why, count) in explained {
            println!("  {count} x {why}");
        }
        all.extend(differs);
    }
    for line in &all {
        println!("  {line}");
    }
    assert!(all.is_empty(), "{} trees differ", all.len());
}

/// Starts a daemon on a tree and says whether its CRI service came up; `None` where it ended by itself.
fn daemon(binary: &Path, root: &str, dir: &Path) -> Option<bool> {
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let socket = at("c.sock");
    let log = std::fs::File::create(dir.join("log")).unwrap();
    let mut child = Command::new(binary)
        .args([
            "-c",
            root,
            "--root",
            &at("root"),
            "--state",
            &at("state"),
            "--address",
            &socket,
        ])
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .expect("daemon starts");
    let mut answer = None;
    for _ in 0..100 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        let out = Command::new("ctr")
            .args(["-a", &socket, "--connect-timeout", "2s", "plugins", "ls"])
            .output()
            .unwrap();
        if out.status.success() {
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            let ok = |line: &&str| {
                line.contains("io.containerd.grpc.v1")
                    && line.contains(" cri ")
                    && line.ends_with("ok")
            };
            answer = Some(text.lines().map(str::trim_end).any(|line| ok(&line)));
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    Some(answer.expect("daemon answers within ten seconds"))
}

#[test]
fn the_cri_service_comes_up_where_we_say_so() {
    let binaries = binaries();
    let ctr = Command::new("ctr")
        .arg("--version")
        .output()
        .is_ok_and(|out| out.status.success());
    let count: u64 = std::env::var("CASEFILE_CONTAINERD_DAEMONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    if binaries.is_empty() || !ctr || count == 0 {
        println!(
            "skipped: needs containerd, ctr, root and CASEFILE_CONTAINERD_DAEMONS=N to start N daemons of each"
        );
        return;
    }
    let mut differs = Vec::new();
    for binary in binaries {
        let version = version_of(&binary);
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in 1..=count {
            let dir = tempfile::tempdir().unwrap();
            let mut tree = MapTree::whole();
            let root = write_tree(
                &mut Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
                dir.path(),
                &mut tree,
            );
            let config = resolve(
                &tree,
                RootFile {
                    path: &root,
                    explicit: true,
                },
                Some(&version),
            );
            let cri = cri_view(&config);
            if config.starts() != Starts::No && cri.available == Answer::Unknown {
                *seen.entry("left undecided by us").or_default() += 1;
                continue;
            }
            let ours = (config.starts() != Starts::No).then_some(cri.available == Answer::Yes);
            let real = daemon(&binary, &root, dir.path());
            let name = match real {
                None => "refuses to start",
                Some(false) => "runs without CRI",
                Some(true) => "runs with CRI",
            };
            *seen.entry(name).or_default() += 1;
            if real != ours {
                let log = std::fs::read_to_string(dir.path().join("log")).unwrap_or_default();
                let line = log
                    .lines()
                    .find(|line| line.contains("cri") && line.contains("error"))
                    .or(log.lines().last());
                let said: Vec<String> = config
                    .problems
                    .iter()
                    .chain(&cri.problems)
                    .map(ToString::to_string)
                    .collect();
                differs.push(format!(
                    "{version} seed {seed}: real {real:?}, ours {ours:?}: {} | {said:?}",
                    line.unwrap_or_default()
                ));
            }
        }
        println!("{version}\n  {count} daemons: {seen:?}");
    }
    for line in &differs {
        println!("  {line}");
    }
    assert!(differs.is_empty(), "{} daemons differ", differs.len());
}
