//! What a command of a person's step stops or destroys, which has to be known before it is pasted: one judgement for
//! reports, and for the steps of a fix that no script makes. Typed changes say it themselves.

use super::harmless;
use super::kinds::restart;
use crate::words;

/// Said of a step that people take, and left out of reports: it is no reason to think twice.
const HARMLESS: &str = "Nothing that runs: new pods start elsewhere.";

/// Said of what changes the template of a workload.
const REPLACED: &str = "Pods whose template changes are replaced.";

/// Said of a setting that is read when something starts.
const READ_AT_START: &str = "Nothing that runs, until what reads it starts anew.";

/// Said of packages, whose scripts restart services.
const INSTALLED: &str = "Services that the packages restart.";

/// What stands in the words of a step before what it interrupts.
pub(crate) const MARK: &str = " Interrupts: ";

/// What a script stops or destroys, as sentences; none where it does neither.
pub(crate) fn interrupts(script: &str) -> Option<String> {
    let mut said = sentences(script);
    said.retain(|sentence| sentence != HARMLESS);
    (!said.is_empty()).then(|| said.join(" "))
}

/// The same of a step of a fix, where a command that stops nothing is said to.
pub(super) fn of_step(script: &str) -> Option<String> {
    let said = sentences(script);
    interrupts(script).or_else(|| (!said.is_empty()).then(|| said.join(" ")))
}

/// What a whole step stops, and whether that is all.
pub(crate) struct Stops {
    /// As sentences; such as begin with `Nothing` say that it stops nothing.
    pub sentences: Vec<String>,
    /// Whether what each command of it does is known.
    pub known: bool,
}

/// The judgement of a step of a person: a command that nothing is known of leaves the answer open.
pub(crate) fn stops(script: &str) -> Stops {
    let mut commands = words::commands(script).into_iter().map(str::trim);
    let known = commands.all(|command| {
        let words = words::split(command);
        let words = called(&words);
        words.is_empty() || harmless::only_writes(&words) || !of_command(&words).is_empty()
    });
    Stops {
        sentences: sentences(script),
        known,
    }
}

fn sentences(script: &str) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for command in words::commands(script) {
        let words = words::split(command);
        for sentence in of_command(&called(&words)) {
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
    }
    said
}

/// A command line without the programs that only start another, and without the variable that takes what it prints.
fn called<'w>(words: &[&'w str]) -> Vec<&'w str> {
    match words {
        [
            "sudo" | "exec" | "then" | "do" | "else" | "if" | "!",
            rest @ ..,
        ]
        | ["timeout" | "ssh", _, rest @ ..] => called(rest),
        [first, rest @ ..] => match first.split_once("=$(") {
            Some((_, program)) => [&[program], rest].concat(),
            None => words.to_vec(),
        },
        [] => Vec::new(),
    }
}

fn of_command(words: &[&str]) -> Vec<String> {
    let has = |word: &str| words.contains(&word);
    let one = |text: &str| vec![text.to_owned()];
    match words {
        ["kubectl", rest @ ..] if !rest.iter().any(|word| word.starts_with("--dry-run")) => {
            of_kubectl(rest)
        }
        ["helm", "upgrade" | "rollback", ..] if !has("--dry-run") => one(REPLACED),
        ["helm", "uninstall", ..] => one("All objects of the release are deleted."),
        ["reboot" | "poweroff" | "shutdown", ..]
        | ["systemctl", "reboot" | "poweroff" | "kexec", ..] => {
            one("Everything on the node, until it is up again.")
        }
        ["systemctl", "restart" | "stop", units @ ..] => {
            let units = units.iter().filter(|unit| !unit.starts_with('-'));
            units.map(|unit| restart::interrupts(unit)).collect()
        }
        ["ipmitool", ..] if has("power") && !has("status") => {
            one("Everything on the node, until it is up again.")
        }
        ["nvidia-smi", ..] if has("--gpu-reset") || has("-r") => {
            one("Nothing that runs: it is refused while a program uses the GPU.")
        }
        ["dcgmi", "diag", ..] => one("The GPUs that it tests are busy until it ends."),
        ["rmmod", ..] | ["modprobe", "-r", ..] => {
            one("Nothing that runs: it is refused while the module is in use.")
        }
        ["fio", ..] if words.iter().any(|word| writes(word)) => {
            one("It writes into that folder and loads its disk while it runs.")
        }
        [
            "apt-get" | "apt" | "dnf" | "yum" | "ubuntu-drivers",
            rest @ ..,
        ] if rest.contains(&"install") => one(INSTALLED),
        ["apt-get" | "apt" | "dnf" | "yum", rest @ ..]
            if rest.iter().any(|word| ["purge", "remove"].contains(word)) =>
        {
            one("What uses the packages that it removes.")
        }
        ["swapoff", ..] => one("Nothing that runs, where memory has room for what is in swap."),
        ["crictl", "rmi", ..] => one("Nothing that runs: images in use stay."),
        ["etcdctl", rest @ ..] if rest.contains(&"defrag") => {
            one("Each member of etcd does not answer while it is defragmented.")
        }
        ["nvidia-smi", ..] if has("-pl") => {
            one("Nothing that runs; programs on the GPU get slower.")
        }
        ["rm", rest @ ..] => vec![deleted(rest)],
        ["ip", "link", "delete" | "del", ..] => {
            one("Traffic through that interface, until it is made again.")
        }
        ["iptables" | "ip6tables", ..] if has("-F") || has("--flush") => {
            one("All rules of the table are gone.")
        }
        ["nft", "flush", ..] => one("All rules that it names are gone."),
        _ => Vec::new(),
    }
}

fn writes(option: &str) -> bool {
    let mode = option
        .strip_prefix("--rw=")
        .or(option.strip_prefix("--readwrite="));
    mode.is_some_and(|mode| mode.contains("write") || mode.contains("rw"))
}

fn of_kubectl(words: &[&str]) -> Vec<String> {
    let one = |text: &str| vec![text.to_owned()];
    let words = match words {
        ["-n" | "--namespace", _, rest @ ..] => rest,
        all => all,
    };
    match words {
        ["drain", rest @ ..] => {
            let data = rest.contains(&"--delete-emptydir-data");
            one(if data {
                "Every pod of the node is stopped, except those of DaemonSets; one with an owner starts on another node if there is room. What they keep in emptyDir volumes is deleted."
            } else {
                "Every pod of the node is stopped, except those of DaemonSets; one with an owner starts on another node if there is room."
            })
        }
        ["cordon", ..] => one(HARMLESS),
        // What has ended keeps nothing but its logs.
        ["delete", rest @ ..]
            if rest.iter().any(|word| {
                word.ends_with("status.phase=Failed") || word.ends_with("status.phase=Succeeded")
            }) =>
        {
            one("Nothing that runs; the logs of the pods go with them.")
        }
        ["delete", "pod" | "pods" | "po", rest @ ..] => vec![of_pods(rest)],
        ["delete", rest @ ..] => vec![of_objects(rest)],
        ["rollout", "restart" | "undo", ..] => one("The pods of the workload are replaced."),
        ["set", "env" | "image" | "resources", ..] => one(REPLACED),
        ["patch" | "edit", rest @ ..] if rest.iter().any(|word| is_workload(word)) => one(REPLACED),
        ["patch" | "edit", "configmap" | "configmaps" | "cm", ..] => one(READ_AT_START),
        ["taint", rest @ ..] => one(match rest.iter().any(|word| word.ends_with(":NoExecute")) {
            true => "Pods of the node that do not tolerate the taint are stopped.",
            false => "Nothing that runs: it is about new pods.",
        }),
        ["scale", ..] => one("Pods above the new number end."),
        _ => Vec::new(),
    }
}

/// Whether a word of a command names an object whose template makes pods, or that an operator makes such objects of.
fn is_workload(word: &str) -> bool {
    let kind = word.split(['/', '.']).next().unwrap_or_default();
    let kind = kind.strip_suffix('s').unwrap_or(kind);
    [
        "deploy",
        "deployment",
        "d",
        "daemonset",
        "st",
        "statefulset",
        "clusterpolicie",
    ]
    .contains(&kind)
}

/// What `rm` takes away, by name: a reader has to know it before the command runs.
fn deleted(words: &[&str]) -> String {
    let names = words.iter().filter(|word| !word.starts_with('-'));
    let names: Vec<String> = names.map(|name| name.replace(['\'', '"'], "")).collect();
    // What a variable or another command prints is known where it runs.
    let is_plain = |name: &String| !name.contains(['$', '`', '{']);
    match names.len() {
        1.. if names.iter().all(is_plain) => {
            let are = words::are(u64::try_from(names.len()).unwrap_or(2));
            format!("{} {are} deleted for good.", words::join(&names))
        }
        _ => "The files that the command names are deleted for good.".to_owned(),
    }
}

/// What deleting other objects takes away that the words after `kubectl delete` name.
fn of_objects(words: &[&str]) -> String {
    let names = names(words);
    match names.as_slice() {
        [] => "The objects that the command names are deleted; save them before with 'kubectl get -o yaml'.".to_owned(),
        names => format!(
            "Deletes {}; save it before with 'kubectl get -o yaml'.",
            names.join(" ")
        ),
    }
}

/// The words of a command that are neither options nor their values.
fn names(words: &[&str]) -> Vec<String> {
    let takes_value =
        |word: &&str| ["-n", "--namespace", "-l", "--selector", "--field-selector"].contains(word);
    let mut names = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            word if takes_value(&word) => drop(rest.next()),
            word if word.starts_with('-') => {}
            word => names.push(word.to_owned()),
        }
    }
    names
}

/// What deleting the pods does that the words after `kubectl delete pod` name.
fn of_pods(words: &[&str]) -> String {
    match names(words).as_slice() {
        [name] => {
            format!("Pod {name}, until its owner makes a new one; without an owner it is gone.")
        }
        [] => "Pods that match the selector, until their owners make new ones.".to_owned(),
        names => format!(
            "Pods {}, until their owners make new ones; those without an owner are gone.",
            words::join(names)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stops_or_deletes_is_said_and_what_looks_is_not() {
        for (script, told) in [
            (
                "kubectl drain n1 --ignore-daemonsets --delete-emptydir-data; nvidia-smi --gpu-reset -i 0",
                &[
                    "emptyDir volumes is deleted",
                    "while a program uses the GPU",
                ][..],
            ),
            (
                "kubectl -n a delete pod b",
                &["until its owner makes a new one"],
            ),
            (
                "systemctl reset-failed containerd; systemctl restart containerd",
                &["Running containers continue"],
            ),
            (
                "timeout 120 nvidia-smi --gpu-reset -i 1 || systemctl reboot",
                &["uses the GPU", "until it is up again"],
            ),
            (
                "rm -f /etc/a.conf '/run/b'",
                &["/etc/a.conf and /run/b are deleted for good."],
            ),
            ("rm -rf /run/x", &["/run/x is deleted for good."]),
            (
                "V=$(cat /sys/x); apt-get install a-$V && apt-mark hold a",
                &["Services that the packages restart"],
            ),
            (
                "kubectl taint node n1 a=b:NoExecute",
                &["do not tolerate the taint are stopped"],
            ),
            (
                "find /x | rm \"$file\"",
                &["files that the command names are deleted"],
            ),
            (
                "kubectl -n a delete csr x --wait=false",
                &["Deletes csr x;"],
            ),
            (
                "fio --rw=write --directory=/var/lib/etcd",
                &["loads its disk"],
            ),
        ] {
            let said = interrupts(script).unwrap_or_default();
            assert!(
                told.iter().all(|part| said.contains(part)),
                "{script}: {said}"
            );
        }
        for script in [
            "kubectl get pods -A; systemctl status containerd | tail -n 5",
            "kubectl delete pod a --dry-run=server",
            "kubectl cordon n1",
            "nvidia-smi -q; journalctl -u kubelet",
            "fio --rw=read --filename=/dev/sda --readonly",
        ] {
            assert_eq!(interrupts(script), None, "{script}");
        }
    }
}
