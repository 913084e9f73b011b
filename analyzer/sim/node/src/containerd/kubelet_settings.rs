//! A setting of the kubelet: on its command line, in a file of arguments, or in its configuration.

use super::args::{arg_file, option};
use super::instances::{Evidence, NodeFacts, Process};
use super::paths;
use super::tree::CapturedPath;

/// Files that hold kubelet arguments, in the order of their authority.
const ARG_FILES: [&str; 8] = [
    "/var/snap/k8s/common/args/kubelet",
    "/var/snap/microk8s/current/args/kubelet",
    "/var/lib/kubelet/kubeadm-flags.env",
    "/etc/default/kubelet",
    "/etc/sysconfig/kubelet",
    "/etc/systemd/system/kubelet.service",
    "/usr/lib/systemd/system/kubelet.service",
    "/lib/systemd/system/kubelet.service",
];
const UNIT_DROPINS: [&str; 3] = [
    "/etc/systemd/system/kubelet.service.d/*.conf",
    "/usr/lib/systemd/system/kubelet.service.d/*.conf",
    "/lib/systemd/system/kubelet.service.d/*.conf",
];
const CONFIG_FILES: [&str; 4] = [
    "/var/lib/kubelet/config.yaml",
    "/etc/kubernetes/kubelet/kubelet-config.json",
    "/etc/kubernetes/kubelet/config.json",
    "/etc/kubernetes/kubelet-config.yaml",
];

/// A value and the line that sets it.
pub(super) type Found = Option<(String, Evidence)>;

/// The value of a setting, from what has the last word: a flag beats the configuration file.
#[must_use]
pub fn setting(facts: &NodeFacts<'_>, flag: &str, key: &str) -> Option<(String, Evidence)> {
    in_process(facts, flag)
        .or_else(|| in_arg_files(facts, flag))
        .or_else(|| in_config(facts, key))
}

/// Whether a configuration file of the kubelet was captured, so that what it does not say is left to the default.
#[must_use]
pub fn config_seen(facts: &NodeFacts<'_>) -> bool {
    config_files(facts)
        .iter()
        .any(|path| matches!(facts.tree.read(path), CapturedPath::Content { .. }))
}

/// Processes that are or contain a kubelet.
pub(super) fn kubelets<'a>(facts: &NodeFacts<'a>) -> impl Iterator<Item = &'a Process> + Clone {
    facts
        .processes
        .iter()
        .filter(|process| runs_kubelet(process.program()))
}

/// A flag on the running kubelet's command line.
pub(super) fn in_process(facts: &NodeFacts<'_>, flag: &str) -> Found {
    kubelets(facts)
        .find_map(|process| Some((option(&process.cmdline, &[flag])?, process.evidence())))
}

fn runs_kubelet(program: &str) -> bool {
    matches!(
        program,
        "kubelet" | "kubelite" | "k3s" | "k3s-server" | "k3s-agent" | "rke2" | "k0s"
    )
}

/// A flag in one of the files that a kubelet's arguments come from.
pub(super) fn in_arg_files(facts: &NodeFacts<'_>, flag: &str) -> Found {
    let mut files: Vec<String> = ARG_FILES.iter().map(|&path| path.to_owned()).collect();
    for pattern in UNIT_DROPINS {
        files.extend(facts.tree.glob(pattern).paths);
    }
    files.iter().find_map(|path| in_arg_file(facts, path, flag))
}

fn in_arg_file(facts: &NodeFacts<'_>, path: &str, flag: &str) -> Found {
    let (bundle_path, words) = arg_file(facts.tree, path)?;
    // `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=…` starts with a name.
    let words = words.into_iter().map(|(line, word)| {
        let at = word.find("--").unwrap_or(0);
        let word = word.get(at..).unwrap_or_default();
        (line, word.trim_end_matches(['"', '\'', '\\']).to_owned())
    });
    let (lines, words): (Vec<u32>, Vec<String>) = words.unzip();
    let value = option(&words, &[flag])?;
    let at = words.iter().rposition(|word| word.contains(flag));
    let line = at.and_then(|at| lines.get(at)).copied().unwrap_or(1);
    let evidence = Evidence {
        path: bundle_path,
        line,
        text: format!("--{flag}={value}"),
    };
    Some((value, evidence))
}

/// Configuration files, the one with the last word first.
fn config_files(facts: &NodeFacts<'_>) -> Vec<String> {
    let mut files: Vec<String> = kubelets(facts)
        .filter_map(|process| option(&process.cmdline, &["config"]))
        .collect();
    for dir in kubelets(facts).filter_map(|process| option(&process.cmdline, &["config-dir"])) {
        // Drop-ins override the file, the last one wins.
        let found = facts.tree.glob(&paths::join(&dir, "*.conf")).paths;
        files.splice(0..0, found.into_iter().rev());
    }
    files.extend(CONFIG_FILES.iter().map(|&path| path.to_owned()));
    files
}

/// A key of the kubelet's configuration.
pub(super) fn in_config(facts: &NodeFacts<'_>, key: &str) -> Found {
    for path in config_files(facts) {
        let CapturedPath::Content { bundle_path, text } = facts.tree.read(&path) else {
            continue;
        };
        for (number, line) in (1u32..).zip(text.lines()) {
            if let Some(value) = config_value(line, key) {
                let evidence = Evidence {
                    path: bundle_path,
                    line: number,
                    text: line.trim().to_owned(),
                };
                return Some((value, evidence));
            }
        }
    }
    None
}

/// The value of a top-level key in YAML, or of a key in JSON with one key a line.
fn config_value(line: &str, key: &str) -> Option<String> {
    let yaml = line.strip_prefix(key);
    let json = line
        .trim_start()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_prefix(key)?.strip_prefix('"'));
    let value = yaml.or(json)?.trim_start().strip_prefix(':')?.trim();
    let value = value
        .split(" #")
        .next()
        .unwrap_or_default()
        .trim_end_matches(',')
        .trim()
        .trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}
