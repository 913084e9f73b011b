//! Whether a command only looks: one judgement for reports, and for the steps of a fix that no script makes.

use crate::words;

/// What asks and changes nothing, as the first words of a command.
const ASKING: &[&str] = &[
    "apt-cache",
    "ausearch",
    "awk",
    "cat",
    "conntrack -L",
    "containerd config default",
    "containerd config dump",
    "containerd config migrate",
    "crictl images",
    "crictl inspecti",
    "crictl pods",
    "crictl ps",
    "crictl stats",
    "crio config",
    "cut",
    "date",
    "df",
    "diff",
    "dmesg",
    "dpkg -l",
    "du",
    "ethtool -i",
    "ethtool -k",
    "find",
    "findmnt",
    "firewall-cmd --get-active-zones",
    "firewall-cmd --list-all",
    "free",
    "fuser -v",
    "getent",
    "grep",
    "head",
    "helm diff",
    "helm get",
    "helm search",
    "helm template",
    "ibstat",
    "id",
    "iostat",
    "ip -br",
    "ip6tables-save",
    "iptables-save",
    "journalctl",
    "kubeadm certs check-expiration",
    "kubectl auth can-i",
    "kubectl describe",
    "kubectl diff",
    "kubectl get",
    "kubectl logs",
    "kubectl top",
    "ldconfig -p",
    "ldd",
    "ls",
    "lsblk",
    "lscpu",
    "lsmod",
    "lspci",
    "modinfo",
    "mokutil --sb-state",
    "nproc",
    "nvidia-smi",
    "openssl s_client",
    "openssl x509",
    "ps",
    "rpm -qa",
    "sort",
    "ss",
    "stat",
    "systemctl cat",
    "systemctl is-active",
    "tail",
    "tr",
    "tracepath",
    "uname",
    "uniq",
    "wc",
];

/// Words by which programs of all kinds are asked, before or after the sort of thing that is asked for.
const VERBS: &[&str] = &[
    "--validate",
    "--version",
    "describe",
    "elist",
    "history",
    "info",
    "inspect",
    "list",
    "ls",
    "show",
    "status",
    "version",
];

/// Programs whose words are names of files, which may be called anything.
const OF_FILES: &[&str] = &[
    "cp", "dd", "install", "ln", "mkdir", "mount", "mv", "rm", "rmdir", "sed", "tee", "touch",
    "truncate", "umount",
];

/// Programs that take the sort of thing before the verb.
const OBJECT_FIRST: &[&str] = &[
    "amd-smi", "bridge", "ctr", "etcdctl", "ip", "ipmitool", "nft", "tc",
];

/// Whether a program is asked by a verb, as `ctr plugins ls` and `skopeo list-tags` are.
fn is_by_verb(program: &str, rest: &[&str]) -> bool {
    let asks = |word: &&&str| VERBS.contains(*word) || word.starts_with("list-");
    let words = || {
        rest.iter()
            .filter(|word| !word.starts_with('-') || word.starts_with("--v"))
    };
    let reach = if OBJECT_FIRST.contains(&program) {
        2
    } else {
        1
    };
    !OF_FILES.contains(&program) && words().take(reach).any(|word| asks(&word))
}

/// Words with which a program that prints by itself changes, deletes or runs something.
const ACTING: &[(&str, &[&str])] = &[
    ("date", &["-s", "--set"]),
    ("dmesg", &["-c", "-C", "--clear", "--read-clear"]),
    ("find", &["-delete", "-exec", "-execdir", "-ok", "-fprint"]),
    ("journalctl", &["--vacuum", "--rotate", "--flush", "--sync"]),
];

/// Words that nvidia-smi only prints with; it also resets cards and changes their modes.
const PRINTING: &[&str] = &[
    "-q",
    "-L",
    "-x",
    "-i",
    "-d",
    "topo",
    "-m",
    "-l",
    "--query",
    "--format",
    "--id",
    "--display",
];

/// Whether a command line does nothing but print; a doubt counts as no.
pub(crate) fn only(command: &str) -> bool {
    let plain = !command.contains(['>', '`']) && !command.contains("$(") && !in_background(command);
    plain && parts(command).all(asks)
}

/// The same where folders are made and what is there is saved: nothing that runs is changed.
pub(crate) fn at_most_saves(command: &str) -> bool {
    command.contains("--dry-run")
        || parts(command).all(|part| {
            let first = part.split_whitespace().next().unwrap_or_default();
            part == "done" || ["mkdir", "fio"].contains(&first) || asks(part)
        })
}

fn parts(command: &str) -> impl Iterator<Item = &str> {
    let parts = words::commands(command).into_iter().map(str::trim);
    parts.filter(|part| !part.is_empty())
}

/// A single `&` leaves something running.
pub(crate) fn in_background(command: &str) -> bool {
    command.replace("&&", "").contains('&')
}

/// Whether one command only asks.
pub(super) fn asks(command: &str) -> bool {
    // kubectl and helm take the namespace before the verb as well.
    let words = words::split(command);
    let words: Vec<&str> = match words.as_slice() {
        [program, "-n", _, rest @ ..] | [program @ "containerd", "--config", _, rest @ ..] => {
            [&[*program], rest].concat()
        }
        all => all.to_vec(),
    };
    let (program, rest) = words.split_first().unwrap_or((&"", &[]));
    let starts = |word: &str, known: &str| {
        word == known
            || word.starts_with(&format!("{known}="))
            || (known.starts_with("--") && word.starts_with(known))
    };
    let acts = ACTING
        .iter()
        .filter(|(own, _)| own == program)
        .flat_map(|(_, words)| *words);
    if acts
        .into_iter()
        .any(|act| rest.iter().any(|word| starts(word, act)))
    {
        return false;
    }
    if *program == "nvidia-smi" {
        let value = |at: usize| at > 0 && ["-i", "-d", "-l"].contains(&rest[at - 1]);
        let prints = |(at, word): (usize, &&str)| {
            value(at) || PRINTING.iter().any(|known| starts(word, known))
        };
        return rest.iter().enumerate().all(prints);
    }
    let known = |asking: &&str| {
        let asking: Vec<&str> = asking.split(' ').collect();
        words.get(..asking.len()) == Some(asking.as_slice())
    };
    ASKING.iter().any(known) || is_by_verb(program, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something_is_not_taken_for_a_look() {
        for look in [
            "nvidia-smi -L; kubectl get nodes | grep gpu",
            "nvidia-smi --query-compute-apps=pid --format=csv",
            "nvidia-smi -q -i 0 -d ECC",
            "oc -n openshift-dns get pods",
            "kubectl top pods -A | grep -E 'dcgm|exporter'",
            "helm -n gpu get values r && dmesg | tail",
            "find /var -name x",
            "ctr -n k8s.io tasks ls; skopeo list-tags docker://r/x | tail",
            "containerd --version; ip -br link show; date -u",
        ] {
            assert!(only(look) && at_most_saves(look), "{look}");
        }
        for change in [
            "nvidia-smi --gpu-reset -i 0",
            "nvidia-smi -r",
            "nvidia-smi -i 0 -mig 1",
            "nvidia-smi -pm 1",
            "kubectl delete pod x",
            "oc delete pod x",
            "dmesg -C",
            "ls; reboot",
            "journalctl --vacuum-size=1G",
            "find / -name x -delete",
            "rm list",
            "kubectl delete list",
            "docker exec x ls",
            "ctr images rm ls",
            "date -s 12:00",
        ] {
            assert!(!only(change) && !at_most_saves(change), "{change}");
        }
        for doubt in ["kubectl get x > y", "cat $(reboot)", "cat x &"] {
            assert!(!only(doubt), "{doubt}");
        }
        assert!(at_most_saves(
            "mkdir -p /root/m; kubectl get node n1 -o yaml > before.yaml"
        ));
    }
}
