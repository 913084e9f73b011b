//! Whether a command only looks: one judgement for reports, and for the steps of a fix that no script makes.

use crate::words;

/// What asks and changes nothing, as the first words of a command.
const ASKING: &[&str] = &[
    "awk",
    "cat",
    "containerd config dump",
    "crictl images",
    "crictl info",
    "crictl inspect",
    "crictl inspecti",
    "crictl ps",
    "crictl stats",
    "cut",
    "df",
    "diff",
    "dkms status",
    "dmesg",
    "dpkg -l",
    "du",
    "find",
    "free",
    "fuser -v",
    "getent",
    "grep",
    "head",
    "helm diff",
    "helm get",
    "helm history",
    "helm list",
    "helm status",
    "helm template",
    "iostat",
    "ip -br",
    "journalctl",
    "kubectl auth can-i",
    "kubectl describe",
    "kubectl get",
    "kubectl logs",
    "kubectl top",
    "ls",
    "lsmod",
    "lspci",
    "mokutil --sb-state",
    "nvidia-smi",
    "openssl s_client",
    "openssl x509",
    "ps",
    "rpm -qa",
    "sort",
    "ss",
    "systemctl cat",
    "systemctl is-active",
    "systemctl status",
    "tail",
    "tr",
    "uname",
    "uniq",
    "wc",
];

/// Words with which a program that prints by itself changes, deletes or runs something.
const ACTING: &[(&str, &[&str])] = &[
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
fn in_background(command: &str) -> bool {
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
    ASKING.iter().any(|asking| {
        let asking: Vec<&str> = asking.split(' ').collect();
        words.get(..asking.len()) == Some(asking.as_slice())
    })
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
