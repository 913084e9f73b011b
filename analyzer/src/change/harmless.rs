//! Commands that stop nothing that runs: they write files and settings that something reads later, or that only let more
//! through than before. What only looks is known to [`looks`](super::looks).

use super::looks;

/// Programs that write files, parameters and clocks, and their first words where only some of their commands do.
const WRITES: &[&[&str]] = &[
    &["printf"],
    &["echo"],
    &["tee"],
    &["mkdir"],
    &["cp"],
    &["sed"],
    &["install"],
    &["chmod"],
    &["chown"],
    &["chgrp"],
    &["setfacl"],
    &["touch"],
    &["ln"],
    &["test"],
    &["["],
    &["true"],
    &["done"],
    &["fi"],
    &["cd"],
    &["sleep"],
    &["sysctl"],
    &["timedatectl"],
    &["chronyc"],
    &["update-ca-certificates"],
    &["update-ca-trust"],
    &["modprobe"],
    &["ufw", "allow"],
    &["ufw", "route", "allow"],
    &["ufw", "insert"],
    &["systemctl", "daemon-reload"],
    &["systemctl", "enable"],
    &["systemctl", "start"],
    &["systemctl", "reset-failed"],
    &["systemctl", "unmask"],
    &["kubectl", "label"],
    &["kubectl", "annotate"],
    &["kubectl", "uncordon"],
    &["kubectl", "create"],
    &["nvidia-ctk"],
    &["nvidia-bug-report.sh"],
    &["mv"],
    &["mount", "-o"],
    &["kubeadm", "kubeconfig"],
    &["kubectl", "config"],
    &["openssl"],
    &["apt-get", "update"],
    &["apt-mark"],
    &["grubby"],
    &["update-grub"],
    &["grub2-mkconfig"],
    &["update-initramfs"],
    &["dracut"],
    &["mokutil"],
    &["etcdctl", "snapshot", "save"],
    // It asks a program for its stacks.
    &["kill", "-USR1"],
];

/// Whether a command, given as its words, stops nothing that runs.
pub(super) fn only_writes(words: &[&str]) -> bool {
    if looks::asks(&words.join(" ")) {
        return true;
    }
    // `modprobe -r` takes a module away.
    let takes = words.first() == Some(&"modprobe") && words.contains(&"-r");
    let words: Vec<&str> = match words {
        ["kubectl", "-n" | "--namespace", _, rest @ ..] => [&["kubectl"], rest].concat(),
        all => all.to_vec(),
    };
    !takes && WRITES.iter().any(|known| words.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::super::risk::stops;

    #[test]
    fn what_only_writes_stops_nothing_and_what_is_not_known_stays_open() {
        for script in [
            "printf 'a = 1\\n' > /etc/sysctl.d/9.conf && sysctl --system",
            "sed -i 's#a#b#' /etc/x; systemctl daemon-reload; systemctl enable --now chrony",
            "kubectl -n a label node b c=d",
            "ufw route allow in on lxc+ out on eno1",
            "journalctl -u kubelet | tail -n 3; crictl ps; nvidia-smi -L; sysctl -w a=1",
        ] {
            let stops = stops(script);
            assert!(stops.known && stops.sentences.is_empty(), "{script}");
        }
        for script in ["frobnicate --all", "modprobe -r nvidia_uvm; frobnicate x"] {
            assert!(!stops(script).known, "{script}");
        }
        let both = stops("mkdir -p /x; systemctl restart containerd");
        assert!(both.known && both.sentences.len() == 1);
    }
}
