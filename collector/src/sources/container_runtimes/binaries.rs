//! `host/binaries.json`: the programs that runtime handlers name, and those around them. A handler whose program is
//! absent, not executable, a link into nothing or built for a newer glibc fails every pod with a message that names
//! none of this.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::elf::{self, Binary};
use crate::files::json_lines;
use crate::host::{Host, HostError, Stat};
use crate::out::Out;
use crate::sources::containerd_config::{imports, instances};
use crate::sources::nvidia_smi::put;
use crate::sources::processes;
use crate::take::{Need, Tally, copy};

/// Looked at wherever they are, whether or not a configuration names them.
const USUAL: [&str; 23] = [
    "/usr/bin/nvidia-container-runtime*",
    "/usr/bin/nvidia-container-toolkit",
    "/usr/bin/nvidia-container-cli",
    "/usr/bin/nvidia-ctk",
    "/usr/bin/nvidia-cdi-hook",
    "/usr/local/nvidia/toolkit/nvidia-*",
    "/run/nvidia/toolkit/nvidia-*",
    "/usr/bin/runc",
    "/usr/sbin/runc",
    "/usr/local/sbin/runc",
    "/usr/bin/crun",
    "/usr/bin/kata-runtime",
    "/usr/bin/containerd-shim-runc-v2",
    "/snap/k8s/current/bin/*runc*",
    "/snap/microk8s/current/bin/*runc*",
    "/var/lib/rancher/*/data/current/bin/*runc*",
    "/var/lib/k0s/bin/*runc*",
    "/opt/cni/bin/*",
    "/usr/lib/cni/*",
    "/usr/libexec/cni/*",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/aarch64-linux-gnu/libc.so.6",
    "/lib64/libc.so.6",
];
/// Configuration beside containerd's that names programs.
const CONFIGS: [&str; 9] = [
    "/etc/crio/crio.conf",
    "/etc/crio/crio.conf.d/*",
    "/etc/docker/daemon.json",
    "/var/snap/docker/current/config/daemon.json",
    "/etc/nvidia-container-runtime/config.toml",
    "/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml",
    "/run/nvidia/toolkit/.config/nvidia-container-runtime/config.toml",
    "/etc/cdi/*",
    "/run/cdi/*",
];
/// Keys whose value is a program.
const KEYS: [&str; 6] = [
    "BinaryName",
    "Runtime",
    "runtime_path",
    "runtime_engine",
    "monitor_path",
    "conmon",
];
/// A key whose value is a program in Docker's and the NVIDIA toolkit's files and of a device specification's hooks, and
/// a folder in containerd's.
const PATH_KEY: &str = "path";
/// Where a name without a folder is looked for, as a daemon's usual PATH has it.
const PATH: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];
/// Programs looked at.
const MAX: usize = 400;
/// A wrapper script is copied up to this size.
const MAX_SCRIPT: u64 = 64 << 10;

/// A line of `host/binaries.json`.
#[derive(Debug, Serialize)]
struct Row {
    path: String,
    /// Files and lines that name it; empty where only its place is usual.
    named_by: Vec<String>,
    exists: bool,
    /// Whether anyone may execute it; without this the runtime says "permission denied".
    #[serde(skip_serializing_if = "Option::is_none")]
    executable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(flatten)]
    binary: Option<Binary>,
    /// Whether the loader or interpreter that it names is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    interpreter_exists: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Where a program was looked for, and what names it.
#[derive(Debug)]
pub(super) struct Named {
    by: BTreeSet<String>,
    files: Host,
}

/// Programs by path. One that several daemons name is looked at as the first of them sees it.
pub(super) fn find(host: &Host) -> BTreeMap<String, Named> {
    let mut found: BTreeMap<String, Named> = BTreeMap::new();
    for (config, files) in configs(host) {
        let text = files.read_text(&config).unwrap_or_default();
        let ours = config.contains("nvidia-container-runtime")
            || config.contains("/cdi/")
            || config.ends_with(".json");
        for (line, program) in named(&text, ours) {
            let path = located(&files, &program);
            let entry = found.entry(path).or_insert_with(|| Named {
                by: BTreeSet::new(),
                files: files.clone(),
            });
            entry.by.insert(format!("{config}:{line}"));
        }
    }
    for path in USUAL.iter().flat_map(|pattern| host.glob(pattern)) {
        found.entry(path).or_insert_with(|| Named {
            by: BTreeSet::new(),
            files: host.clone(),
        });
    }
    found.into_iter().take(MAX).collect()
}

/// Files that name programs, each with the files that its reader sees.
fn configs(host: &Host) -> BTreeMap<String, Host> {
    let mut all = BTreeMap::new();
    for instance in instances::find(host, &processes::find(host)) {
        let files = instance.files(host);
        for path in imports::follow(&files, &instance.config_path).files {
            all.insert(path, files.clone());
        }
        all.insert(instance.config_path, files);
    }
    for path in CONFIGS.iter().flat_map(|path| host.glob(path)) {
        all.entry(path).or_insert_with(|| host.clone());
    }
    all
}

/// Lines that name a program: `BinaryName = "/x"`, `"path": "/x",`.
fn named(text: &str, path_too: bool) -> Vec<(usize, String)> {
    let lines = text.lines().zip(1..).filter_map(|(line, number)| {
        let line = line.trim();
        let split = line.find(['=', ':'])?;
        let (key, value) = (&line[..split], &line[split + 1..]);
        let key = key.trim().trim_matches(['"', '\'']);
        let names_a_program = KEYS.contains(&key) || (path_too && key == PATH_KEY);
        if !names_a_program {
            return None;
        }
        let value = value.trim().trim_end_matches(',').trim_matches(['"', '\'']);
        let device = value.starts_with("/dev/");
        let program = !value.is_empty() && !device && !value.contains([' ', '{', '[', '"']);
        program.then(|| (number, value.to_owned()))
    });
    lines.collect()
}

fn located(host: &Host, program: &str) -> String {
    if program.starts_with('/') {
        return program.to_owned();
    }
    let candidates = PATH.iter().map(|dir| format!("{dir}/{program}"));
    candidates
        .into_iter()
        .find(|path| host.exists(path))
        .unwrap_or_else(|| program.to_owned())
}

/// Writes the list, and copies wrapper scripts (the toolkit installs some).
pub(super) fn write(host: &Host, out: &Out, tally: &mut Tally) {
    let mut rows = Vec::new();
    let found = find(host);
    if found.is_empty() {
        return;
    }
    for (path, named) in found {
        let row = row(&named.files, path, named.by.into_iter().collect());
        let script = row
            .binary
            .as_ref()
            .is_some_and(|binary| binary.kind == "script");
        if script && row.size.is_some_and(|size| size <= MAX_SCRIPT) {
            copy(&named.files, out, &row.path, Need::Optional, tally);
        }
        rows.push(row);
    }
    // The C library is there on every machine; it is noted for what others need of it, and is no runtime.
    let runtimes = rows.iter().any(|row| !row.named_by.is_empty());
    tally.taken += usize::from(runtimes);
    put(
        out,
        "host/binaries.json",
        &json_lines("binaries", rows),
        tally,
    );
}

fn row(host: &Host, path: String, named_by: Vec<String>) -> Row {
    let mut row = Row {
        link: host.read_link(&path),
        path,
        named_by,
        exists: false,
        executable: None,
        mode: None,
        uid: None,
        size: None,
        binary: None,
        interpreter_exists: None,
        error: None,
    };
    if !row.path.starts_with('/') {
        row.error = Some(format!("in none of {}", PATH.join(", ")));
        return row;
    }
    match host.metadata(&row.path) {
        Ok(meta) => {
            let stat = Stat::from(&meta);
            row.exists = true;
            row.executable = Some(meta.is_file() && stat.mode & 0o111 != 0);
            row.mode = Some(format!("{:o}", stat.mode));
            row.uid = Some(stat.uid);
            row.size = Some(stat.size);
        }
        Err(error) => {
            row.exists = !error.is_absent();
            row.error = Some(error.sentence());
            return row;
        }
    }
    let looked = host
        .open(&row.path)
        .map_err(|error: HostError| error.sentence())
        .and_then(elf::inspect);
    match looked {
        Ok(binary) => {
            let program = binary
                .interpreter
                .as_deref()
                .and_then(|text| text.split_whitespace().next());
            row.interpreter_exists = program.map(|path| host.exists(path));
            row.binary = Some(binary);
        }
        Err(why) => row.error = Some(why),
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_toml_and_json() {
        let toml = "[a.options]\n  BinaryName = \"/usr/local/nvidia/toolkit/nvidia-container-runtime\"\n  SystemdCgroup = true\n";
        assert_eq!(
            named(toml, false),
            [(
                2,
                "/usr/local/nvidia/toolkit/nvidia-container-runtime".to_owned()
            )]
        );
        let json = "{\"runtimes\": {\"nvidia\": {\n  \"args\": [],\n  \"path\": \"nvidia-container-runtime\"\n}}}";
        assert_eq!(
            named(json, true),
            [(3, "nvidia-container-runtime".to_owned())]
        );
        assert_eq!(named("path = \"/opt\"\nRuntime = \"a b\"", false), []);
        let cdi = "  deviceNodes:\n    - path: /dev/nvidia0\n      path: /dev/nvidia1\n  hooks:\n    - hookName: createContainer\n      path: /usr/bin/nvidia-cdi-hook\n";
        assert_eq!(
            named(cdi, true),
            [(6, "/usr/bin/nvidia-cdi-hook".to_owned())]
        );
    }

    #[test]
    fn a_handlers_program_that_is_absent_is_said_to_be_absent_and_by_whom_it_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "etc/containerd/config.toml",
            "imports = [\"/etc/containerd/conf.d/*.toml\"]\n",
        );
        write(
            "etc/containerd/conf.d/99-nvidia.toml",
            "\n  BinaryName = \"/usr/bin/nvidia-container-runtime\"\n  BinaryName = \"crun\"\n",
        );
        write("usr/bin/crun", "#!/nonexistent/sh\n");
        let host = Host::new(dir.path());
        let rows: Vec<Row> = find(&host)
            .into_iter()
            .map(|(path, named)| row(&named.files, path, named.by.into_iter().collect()))
            .collect();
        let nvidia = rows
            .iter()
            .find(|row| row.path.ends_with("nvidia-container-runtime"))
            .unwrap();
        assert!(
            !nvidia.exists && nvidia.named_by == ["/etc/containerd/conf.d/99-nvidia.toml:2"],
            "{nvidia:?}"
        );
        let crun = rows.iter().find(|row| row.path == "/usr/bin/crun").unwrap();
        assert_eq!(
            (crun.executable, crun.interpreter_exists),
            (Some(false), Some(false)),
            "{crun:?}"
        );
    }
}
