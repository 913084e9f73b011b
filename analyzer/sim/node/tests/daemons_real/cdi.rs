//! Device specifications: containers that podman is asked for with a device of generated folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use casefile_sim_node::containerd::MapTree;
use casefile_sim_node::runtimes::cdi::{Library, read_as};
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::{apart, number, programs, verdict, version_of};

/// Asks for each device with a container of its own; crun cannot be used with a hybrid cgroup hierarchy, which is put away.
pub(crate) const RUN: &str = r#"here=$1; podman=$2; shift 2
umount /sys/fs/cgroup/unified 2>/dev/null || true
beside=$(dirname "$podman")
mkdir -p /etc/containers "$here/rootfs/bin" "$here/rootfs/proc" "$here/rootfs/dev" "$here/rootfs/sys" "$here/rootfs/etc" "$here/rootfs/run"
cp "$(command -v busybox)" "$here/rootfs/bin/true"
# A busybox that is not static needs its libraries.
{ ldd "$(command -v busybox)" 2>/dev/null | grep -o '/[^ ]*' || true; } | while read -r library; do
  mkdir -p "$here/rootfs$(dirname "$library")" && cp -L "$library" "$here/rootfs$library"
done
printf '{"default":[{"type":"insecureAcceptAnything"}]}' >/etc/containers/policy.json
printf '[engine]\nhelper_binaries_dir=["%s/../lib/podman","/usr/lib/podman","/usr/libexec/podman"]\n' "$beside" >/etc/containers/containers.conf
for name in "$@"; do
  if said=$("$podman" --root "$here/root" --runroot "$here/runroot" --storage-driver vfs --conmon "$(command -v conmon)" \
    --runtime "$(command -v crun)" --cgroup-manager cgroupfs --events-backend none run --cgroups=disabled --network none \
    --rm --device "$name" --rootfs "$here/rootfs" /bin/true 2>&1); then
    echo "$name|runs|"
  else
    echo "$name|fails|$said" | tr '\n' ' '; echo
  fi
done"#;

/// Values that are tried, most of them good ones.
const VERSIONS: [&str; 12] = [
    "0.5.0", "0.5.0", "0.5.0", "0.6.0", "0.3.0", "0.4.0", "0.7.0", "0.8.0", "1.0.0", "v0.6.0",
    "0.9.0", "",
];
const KINDS: [&str; 12] = [
    "vendor.com/gpu",
    "vendor.com/gpu",
    "vendor.com/gpu",
    "vendor.com/gpu",
    "vendor.com/gpu",
    "vendor.com/gpu",
    "other/net",
    "vendor.com/gpu.x",
    "gpu",
    "1vendor/gpu",
    "vendor.com/g_pu",
    "vendor.com/gpu-",
];
const NAMES: [&str; 12] = [
    "0", "0", "1", "all", "all", "gpu0", "GPU-12ab", "a:b", "mig.1", "-x", "a b", "x-",
];

/// Edits of a container; the first numbers are mostly refused.
fn edits(dice: &mut Dice, good: bool) -> Value {
    let number = if good {
        16 + dice.below(14)
    } else {
        dice.below(30)
    };
    match number {
        0 => json!({}),
        1 => json!({"env": ["novalue"]}),
        2 => json!({"hooks": [{"hookName": "atSomeTime", "path": "/bin/true"}]}),
        3 => json!({"hooks": [{"hookName": "createContainer", "path": ""}]}),
        4 => json!({"env": ["A=b"], "owner": "me"}),
        5 => json!({"deviceNodes": [{"path": "/dev/null", "type": "x"}]}),
        6 => json!({"deviceNodes": [{"path": "/dev/null", "permissions": "rwx"}]}),
        7 => json!({"deviceNodes": [{"path": ""}]}),
        8 => json!({"deviceNodes": [{"path": "/dev/null", "hostPath": "/dev/zero"}]}),
        9 => {
            json!({"mounts": [{"hostPath": "/bin", "containerPath": "/x", "type": "bind", "options": ["bind"]}]})
        }
        10 => json!({"mounts": [{"hostPath": "/bin"}]}),
        11 => json!({"env": ["A=b"], "additionalGids": [5]}),
        12 => json!({"env": "A=b"}),
        13 => json!({"Env": ["A=b"]}),
        14 => {
            json!({"env": ["A=b"], "hooks": [{"hookName": "poststop", "path": "/bin/true", "timeout": "1"}]})
        }
        15 => json!(null),
        16..22 => json!({"deviceNodes": [{"path": "/dev/null", "permissions": "rw"}]}),
        _ => json!({"env": ["A=b"]}),
    }
}

fn specification(dice: &mut Dice) -> Value {
    let good = dice.chance(70);
    let mut devices = Vec::new();
    for _ in 0..dice.pick(&[1, 1, 2, 2, 3, 0]) {
        let count = if good { 9 } else { 12 };
        let mut device = json!({"name": dice.pick(&NAMES[..count])});
        match if good { 9 } else { dice.below(24) } {
            0 => {}
            1 => device = json!({"name": 0, "containerEdits": {"env": ["A=b"]}}),
            _ => device["containerEdits"] = edits(dice, good),
        }
        if !good && dice.chance(10) {
            device["annotations"] = json!({"a.b/c": "d"});
        }
        devices.push(device);
    }
    let (versions, kinds) = if good { (4, 7) } else { (12, 12) };
    let mut spec = json!({
        "cdiVersion": dice.pick(&VERSIONS[..versions]),
        "kind": dice.pick(&KINDS[..kinds]),
        "devices": devices,
    });
    if dice.chance(25) {
        spec["containerEdits"] = edits(dice, good);
    }
    if !good && dice.chance(10) {
        spec["vendor"] = json!("me");
    }
    spec
}

/// YAML in block style.
fn block(value: &Value, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    match value {
        Value::Object(items) if !items.is_empty() => {
            for (key, value) in items {
                write!(out, "\n{pad}{key}:").unwrap();
                block(value, indent + 1, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                write!(out, "\n{pad}-").unwrap();
                block(item, indent + 1, out);
            }
        }
        other => write!(out, " {other}").unwrap(),
    }
}

/// A folder's files, in the tree and on the disk; the names that they define are added.
fn folder(
    dice: &mut Dice,
    at: &Path,
    host: &str,
    tree: &mut MapTree,
    names: &mut BTreeSet<String>,
) {
    std::fs::create_dir_all(at).unwrap();
    for number in 0..dice.below(4) {
        let spec = specification(dice);
        let end = dice.pick(&["yaml", "yaml", "yaml", "json", "json", "yml", "txt"]);
        let name = format!("{}{number}.{end}", dice.pick(&["a", "b", "nvidia"]));
        let mut text = if end == "json" || dice.chance(30) {
            spec.to_string()
        } else {
            let mut text = "---".to_owned();
            block(&spec, 0, &mut text);
            text.push('\n');
            text
        };
        match dice.below(40) {
            0 => text.push_str("\n}"),
            1 => text.clear(),
            2 => text = text.replacen("kind", "kind: x\nkind", 1),
            _ => {}
        }
        std::fs::write(at.join(&name), &text).unwrap();
        tree.add(&format!("{host}/{name}"), &name, &text);
        let kind = spec["kind"].as_str().unwrap_or_default();
        for device in spec["devices"].as_array().into_iter().flatten() {
            let name = device["name"].as_str().unwrap_or("0");
            let whole = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
            let edge = |c: char| c.is_ascii_alphanumeric();
            // Other names podman takes for paths.
            let good = name.chars().all(whole) && name.starts_with(edge) && name.ends_with(edge);
            if good
                && kind.contains('/')
                && kind.starts_with(|c: char| c.is_ascii_alphabetic())
                && kind.ends_with(edge)
            {
                names.insert(format!("{kind}={name}"));
            }
        }
    }
}

fn library(version: &str) -> Library {
    let number = version.rsplit(' ').next().unwrap_or_default();
    let mut parts = number.split('.').map_while(|part| part.parse::<u32>().ok());
    match (parts.next(), parts.next()) {
        (Some(0..=4), _) => Library::V0_5,
        (Some(5), Some(0..=4)) => Library::V0_8,
        _ => Library::V1_0,
    }
}

#[test]
fn podman_injects_the_devices_that_we_say_exist() {
    let count = number("CASEFILE_CDI_FOLDERS", 10);
    let mut all = Vec::new();
    for podman in programs("CASEFILE_PODMAN_BINS", "podman") {
        let version = version_of(&podman).unwrap();
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in 1..=count {
            let dir = tempfile::tempdir().unwrap();
            let (mut tree, mut names) = (MapTree::whole(), BTreeSet::new());
            let mut dice = Dice::new(seed);
            folder(
                &mut dice,
                &dir.path().join("cdi"),
                "/etc/cdi",
                &mut tree,
                &mut names,
            );
            folder(
                &mut dice,
                &dir.path().join("run-cdi"),
                "/var/run/cdi",
                &mut tree,
                &mut names,
            );
            names.insert("vendor.com/gpu=absent".to_owned());
            let folders = ["/etc/cdi", "/var/run/cdi"].map(str::to_owned);
            let specs = read_as(&tree, &folders, library(&version));
            for (name, real) in asked(&podman, dir.path(), &names) {
                let ours = specs.devices.iter().any(|device| device.name == name);
                let wrong: Vec<&str> = specs
                    .faults
                    .iter()
                    .map(|fault| fault.detail.as_str())
                    .collect();
                match real {
                    Ok(real) if real == ours => {
                        let said = if ours {
                            "exist, as we say"
                        } else {
                            "do not, as we say"
                        };
                        *seen.entry(said).or_default() += 1;
                    }
                    Ok(real) => all.push(format!(
                        "{version} seed {seed}: {name}: real {real}, ours {ours}: {wrong:?}"
                    )),
                    Err(word) => all.push(format!(
                        "{version} seed {seed}: {name}: a word that is not understood: {word}"
                    )),
                }
            }
        }
        println!(
            "{version}\n  {count} pairs of folders; devices that were asked for: {seen:?}, {} differ",
            all.len()
        );
    }
    verdict("devices", &all);
}

/// What podman says of each name: whether a specification that it takes has it.
fn asked(
    podman: &Path,
    dir: &Path,
    names: &BTreeSet<String>,
) -> Vec<(String, Result<bool, String>)> {
    let mut words = vec!["-c".to_owned(), RUN.to_owned(), "sh".to_owned()];
    words.extend([dir.display().to_string(), podman.display().to_string()]);
    words.extend(names.iter().cloned());
    let mut command = apart::command(dir, Path::new("sh"), &words);
    command.env("PATH", apart::path_with(podman));
    let log = dir.join("log");
    let ended = apart::wait(
        &mut apart::start(&mut command, &log),
        Duration::from_secs(300),
    );
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(ended, Some(true), "{text}");
    let lines = text.lines().filter_map(|line| {
        let (name, rest) = line.split_once('|')?;
        let (how, said) = rest.split_once('|')?;
        let real = match how {
            "runs" => Ok(true),
            _ if said.contains("unresolvable CDI devices") => Ok(false),
            // A name that its library does not take for one of a device is a path that does not exist.
            _ if said.contains("Error: stat ") && said.contains("no such file") => Ok(false),
            // Found, and then something of it could not be done.
            _ if said.contains("failed to inject devices")
                || said.contains("error executing hook") =>
            {
                Ok(true)
            }
            _ => Err(said.to_owned()),
        };
        Some((name.to_owned(), real))
    });
    lines.collect()
}
