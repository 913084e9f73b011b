//! The resolver's answer beside what `containerd config dump` prints.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use casefile_sim_node::containerd::{
    ConfigProblem, Cri, EffectiveConfig, Release, Section, Starts, Value, cri_view, parse,
};

/// The CRI table of 1.x after migration.
const GRPC_CRI: &str = "io.containerd.grpc.v1.cri";

pub(crate) type Facts = BTreeMap<String, String>;

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
pub(crate) fn facts_of_dump(dump: &Section, v1: bool) -> Facts {
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

/// The old table of a runtime that is set, which 1.x moves in the daemon alone.
fn moved_by_the_plugin(config: &EffectiveConfig) -> Option<&'static str> {
    let set = |runtime: &str| {
        let old = |table| [table, "containerd", runtime, "runtime_type"];
        ["cri", GRPC_CRI]
            .iter()
            .any(|table| config.plugins.setting(&old(table)).is_some())
    };
    let moved = [
        (
            "default_runtime",
            "`containerd.default_runtime` becomes the handler `default` when the plugin checks its settings, after a dump",
        ),
        (
            "untrusted_workload_runtime",
            "`containerd.untrusted_workload_runtime` becomes the handler `untrusted` when the plugin checks its settings, after a dump",
        ),
    ];
    let mut moved = moved
        .into_iter()
        .filter(|_| config.containerd.release.is_v1());
    moved
        .find(|(runtime, _)| set(runtime))
        .map(|(_, says)| says)
}

pub(crate) enum Outcome {
    Equal,
    Explained(&'static str),
    Differs(String),
}

/// What a dump that works says where we hold that the daemon does not start.
fn accepted_where_refused(config: &EffectiveConfig) -> Outcome {
    let missing = |problem: &ConfigProblem| matches!(problem, ConfigProblem::Missing { .. });
    if config.problems.iter().any(missing) && !config.containerd.release.is_v1() {
        return Outcome::Explained(
            "2.x `config dump` stops reading at a missing import and shows the rest; the daemon refuses",
        );
    }
    let only = |problem: &ConfigProblem| match problem {
        ConfigProblem::RequiredCri { .. } => true,
        other => other.effect() != casefile_sim_node::containerd::Effect::RefusesToStart,
    };
    if config.problems.iter().all(only) {
        return Outcome::Explained(
            "`config dump` loads no plugin; the daemon ends without one that it requires",
        );
    }
    Outcome::Differs(format!("containerd accepts; we say {:?}", refused(config)))
}

/// What makes the daemon refuse to start, as we hold.
fn refused(config: &EffectiveConfig) -> Vec<String> {
    let problems = config.problems.iter();
    problems
        .filter(|problem| problem.effect() == casefile_sim_node::containerd::Effect::RefusesToStart)
        .map(ToString::to_string)
        .collect()
}

pub(crate) fn compare(
    binary: &Path,
    root: &str,
    config: &EffectiveConfig,
    defaults: &Facts,
) -> Outcome {
    let out = Command::new(binary)
        .args(["-c", root, "config", "dump"])
        .output()
        .expect("binary runs");
    let accepted = out.status.success();
    match (accepted, config.starts() == Starts::No) {
        (false, true) => return Outcome::Equal,
        (true, true) => return accepted_where_refused(config),
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
    if let Some(says) = moved_by_the_plugin(config) {
        return Outcome::Explained(says);
    }
    let off = |id: &str| config.disabled_plugins.iter().any(|item| item.value == id);
    if off("io.containerd.cri.v1.runtime") && !theirs.contains_key("default") {
        return Outcome::Explained(
            "2.x `config dump` prints nothing of a CRI service that the file turns off; ours are the values that it would have",
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
