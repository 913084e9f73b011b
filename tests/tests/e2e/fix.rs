//! The fix: what the replay says of a change, and what the real programs do with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;

use crate::support::{Ended, on_node, run, shared_folder};

const TOOLKIT: &str = "toolkit-configures-wrong-containerd";
const UFW: &str = "ufw-blocks-pod-traffic";
const SNAP: &str = "/var/lib/k8s-containerd/k8s-containerd";

pub(crate) fn sample(name: &str) -> PathBuf {
    bins::checkout().join("samples").join(name).join("bundle")
}

pub(crate) fn fix(input: &Path, output: &Path, more: &[&str]) -> Ended {
    let mut arguments = vec![
        "fix",
        input.to_str().unwrap(),
        "-o",
        output.to_str().unwrap(),
    ];
    arguments.extend(more);
    run(bins::ANALYZER, &arguments)
}

fn proposal(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_blocked_packet_passes_on_a_real_node_after_apply_sh_as_the_replay_said() {
    let test = "the_blocked_packet_passes_on_a_real_node_after_apply_sh_as_the_replay_said";
    let (state, name) = ("ufw-blocks-dns", "snap-2-dns.jsonl.gz");
    let folder = shared_folder();
    let collect =
        "casefile-collector collect -o /shared/bundle.tar.gz --since 3650d --progress none";
    let Some(collected) = on_node(test, state, name, folder.path(), collect) else {
        return;
    };
    assert!(matches!(collected.code, 0 | 4), "{collected:?}");
    let said = fix(
        &folder.path().join("bundle.tar.gz"),
        &folder.path().join("fix"),
        &[],
    );
    assert!(said.out.contains("gone: ufw drops pod traffic"), "{said:?}");

    // The same query before and after, counted by the chain's rule for routed traffic.
    let script = format!(
        "query() {{ ip netns exec coredns casefile-packet 10.1.0.185:5901$1 1.1.1.1:53; sleep 0.2; }}
         probe() {{ ip netns exec upstream ip route replace 10.1.0.0/24 via 192.18.132.31
                    ip netns exec upstream casefile-packet 192.18.132.1:4444 10.1.0.185:8080; sleep 0.2; }}
         dropped() {{ iptables-save -c | sed -n 's/^:FORWARD DROP .\\([0-9]*\\):.*/\\1/p'; }}
         passed() {{ iptables-save -c | sed -n 's/^.\\([0-9]*\\):[0-9]*. -A ufw-user-forward -i lxc+ -o eno1 -j ACCEPT/\\1/p'; }}
         before=$(dropped); query 1; echo \"before: $(( $(dropped) - before )) dropped\"
         bash /shared/fix/{UFW}/apply.sh --dry-run || exit 1
         [ -z \"$(passed)\" ] || {{ echo 'the dry run changed something'; exit 1; }}
         bash /shared/fix/{UFW}/apply.sh --yes || exit 1
         query 2; echo \"after: $(passed) passed\"
         before=$(dropped); probe; echo \"from outside: $(( $(dropped) - before )) dropped\"
         echo changed >> /etc/ufw/user.rules
         bash /shared/fix/{UFW}/apply.sh --yes 2>&1 | grep 'It was done before'
         BACKUP_DIR=/shared/fresh bash /shared/fix/{UFW}/apply.sh --yes && echo 'ran on a changed state'; exit 0"
    );
    let Some(ended) = on_node(test, state, name, folder.path(), &script) else {
        return;
    };
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("before: 1 dropped"), "{ended:?}");
    assert!(ended.out.contains("after: 1 passed"), "{ended:?}");
    // The narrower rules were handed over: nothing from outside may open connections to pods.
    assert!(ended.out.contains("from outside: 1 dropped"), "{ended:?}");
    assert!(ended.out.contains("It was done before"), "{ended:?}");
    assert!(!ended.out.contains("ran on a changed state"), "{ended:?}");
    assert!(
        ended.err.contains("the state is not the captured one"),
        "{ended:?}"
    );
    assert!(
        folder
            .path()
            .join(format!("fix/{UFW}/backup/step-1/etc/ufw/user.rules"))
            .exists()
    );
}

#[test]
fn a_real_containerd_knows_the_handler_once_the_toolkit_has_written_what_the_replay_assumed() {
    let test =
        "a_real_containerd_knows_the_handler_once_the_toolkit_has_written_what_the_replay_assumed";
    let (state, name) = (TOOLKIT_STATE, "snap-1-before.jsonl.gz");
    let folder = shared_folder();
    let collect =
        "casefile-collector collect -o /shared/bundle.tar.gz --since 3650d --progress none";
    let Some(collected) = on_node(test, state, name, folder.path(), collect) else {
        return;
    };
    assert!(matches!(collected.code, 0 | 4), "{collected:?}");
    let said = fix(
        &folder.path().join("bundle.tar.gz"),
        &folder.path().join("fix"),
        &[],
    );
    assert!(said.out.contains("gone: GPU pods cannot start"), "{said:?}");

    // The toolkit itself needs a GPU; what the replay takes it to write is put there by patch.
    let script = format!(
        "ask() {{ casefile-cri {SNAP}/run/containerd/containerd.sock default/probe uid-$1 --handler nvidia; }}
         echo \"before: $(ask 1)\"
         cd /; for diff in /shared/fix/{TOOLKIT}/nodes_*.diff; do
           sed -E 's#^(---|\\+\\+\\+) (captured|changed)/nodes/[^/]*/rootfs/#\\1 #' $diff | patch -p0 --quiet || exit 1
         done
         pkill -f /snap/k8s/4401/bin/containerd; sleep 1
         /snap/k8s/4401/bin/containerd $(cat /var/snap/k8s/common/args/containerd) >/run/again.log 2>&1 &
         for _ in $(seq 100); do grep -qs 'successfully booted' /run/again.log && break; sleep 0.1; done
         echo \"after: $(ask 2)\"; kill %1; exit 0"
    );
    let Some(ended) = on_node(test, state, name, folder.path(), &script) else {
        return;
    };
    let line = |start: &str| {
        ended
            .out
            .lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(line("before:").contains("no runtime for"), "{ended:?}");
    let after = line("after:");
    assert!(
        after.contains("code") && !after.contains("no runtime for"),
        "{ended:?}"
    );
}

const TOOLKIT_STATE: &str = "toolkit-wrong-containerd";

#[test]
fn the_fix_names_the_kubelets_containerd_and_what_remains_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let said = fix(&sample(TOOLKIT_STATE), folder.path(), &[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("remains: ufw drops pod traffic"),
        "{said:?}"
    );
    assert!(!said.out.contains("new after it"), "{said:?}");
    let values = std::fs::read_to_string(
        folder
            .path()
            .join(TOOLKIT)
            .join("values-gpu-operator-1758912452.yaml"),
    );
    let values = values.unwrap();
    assert!(
        values.contains(&format!("value: {SNAP}/etc/containerd/config.toml")),
        "{values}"
    );
    assert!(
        values.contains(&format!("value: {SNAP}/run/containerd/containerd.sock")),
        "{values}"
    );
    let script = folder.path().join(TOOLKIT).join("apply.sh");
    let checked = Command::new("bash").arg("-n").arg(script).status().unwrap();
    assert!(checked.success());
}

#[test]
fn the_narrower_rules_are_offered_beside_the_broad_ones() {
    let folder = tempfile::tempdir().unwrap();
    let said = fix(&sample("ufw-blocks-dns"), folder.path(), &[]);
    assert!(
        said.out
            .contains("opens new connections in on eno1 and out on lxc+"),
        "{said:?}"
    );
    let page = std::fs::read_to_string(folder.path().join(UFW).join("README.md")).unwrap();
    assert!(page.contains("wider than needed"), "{page}");
    let script = std::fs::read_to_string(folder.path().join(UFW).join("apply.sh")).unwrap();
    assert!(
        script.contains("\nufw route allow in on lxc+ out on eno1\n"),
        "{script}"
    );
    assert!(!script.contains("allow in on eno1 out on lxc+"), "{script}");
}

#[test]
fn a_wrong_fix_is_shown_not_to_help_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| {
        format!("toolkit:\n  env:\n    - name: CONTAINERD_CONFIG\n      value: {path}\n")
    };
    let dropin = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\nruntime_type = \"io.containerd.runc.v2\"\n";
    let snap_dropin = format!("{SNAP}/etc/containerd/conf.d/nvidia.toml");
    let wrong_path = "/etc/containerd/conf.d/nvidia.toml";
    let cases = [
        (
            TOOLKIT_STATE,
            "values.yaml",
            at("/etc/containerd/other.toml"),
            vec![],
            "no runtime handler",
        ),
        (
            TOOLKIT_STATE,
            "nvidia.toml",
            dropin.to_owned(),
            vec!["--at", wrong_path],
            "no runtime handler",
        ),
        (
            "ufw-blocks-dns",
            "rules.txt",
            "ufw route allow in on cali+ out on eno1\n".to_owned(),
            vec![],
            "dropped",
        ),
    ];
    for (state, name, text, more, why) in cases {
        let file = proposal(folder.path(), name, &text);
        let mut arguments = vec!["--what-if", &file];
        arguments.extend(more);
        let said = fix(&sample(state), &folder.path().join("out"), &arguments);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.out.starts_with("still there: "), "{name}: {said:?}");
        assert!(said.out.contains(why), "{name}: {said:?}");
    }
    // A drop-in without runc in the right folder replaces the whole section of a containerd 1.x.
    let file = proposal(folder.path(), "nvidia.toml", dropin);
    let said = fix(
        &sample(TOOLKIT_STATE),
        &folder.path().join("out"),
        &["--what-if", &file, "--at", &snap_dropin],
    );
    assert!(
        said.out.contains("containerd-dropin-missing-runc-default"),
        "{said:?}"
    );
}

#[test]
fn what_cannot_be_tried_is_named_and_nothing_is_called_fixed() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (
            "values.yaml",
            "nosuchsection:\n  a: 1\n",
            vec![],
            "nosuchsection",
        ),
        ("values.yaml", "a: [1\n", vec![], "does not parse as YAML"),
        (
            "x.toml",
            "a = = 1\n",
            vec!["--at", "/etc/containerd/config.toml"],
            "does not parse as TOML",
        ),
        ("x.toml", "a = 1\n", vec![], "--at PATH"),
        (
            "rules.txt",
            "ufw route allow in on 'lxc+;reboot' out on eno1\n",
            vec![],
            "not understood",
        ),
    ];
    for (name, text, more, why) in cases {
        let file = proposal(folder.path(), name, text);
        let mut arguments = vec!["--what-if", &file];
        arguments.extend(more);
        let out = folder.path().join("out");
        let said = fix(&sample(TOOLKIT_STATE), &out, &arguments);
        assert_eq!(said.code, 2, "{name}: {said:?}");
        assert!(said.err.contains(why), "{name}: {said:?}");
        assert!(
            !out.join("README.md").exists(),
            "something was written for {name}"
        );
    }
    // A bundle without the configuration: the message alone proves nothing, so nothing is proven gone.
    let pasted = folder.path().join("pasted");
    std::fs::create_dir(&pasted).unwrap();
    std::fs::write(
        pasted.join("log.txt"),
        "Mar 3 10:00:01 n1 kernel: [UFW BLOCK] IN=cali5f2 OUT=eth0 SRC=10.1.4.7 DST=192.0.2.9 LEN=60 PROTO=TCP SPT=41000 DPT=443\ndial tcp 10.96.0.1:443: i/o timeout\n",
    )
    .unwrap();
    let said = fix(&pasted, &folder.path().join("none"), &[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("cannot be shown") && !said.out.contains("gone:"),
        "{said:?}"
    );
}

#[test]
fn what_a_hostile_bundle_says_stays_a_word_in_the_script() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("pwned");
    let text = format!(
        "changes:\n- host-file:\n    node: 192-18-132-31\n    path: \"/etc/x$(touch {0})/`touch {0}`;touch {0}'\"\n    content: a\n    restart: 'a;touch {0}'\n",
        mark.display()
    );
    let file = proposal(folder.path(), "changes.yaml", &text);
    let out = folder.path().join("out");
    let said = fix(&sample("fixed"), &out, &["--what-if", &file]);
    assert_eq!(said.code, 0, "{said:?}");
    // What would change the machine is replaced; everything else of the script runs.
    let stubs = folder.path().join("stubs");
    std::fs::create_dir(&stubs).unwrap();
    for name in ["install", "mv", "systemctl", "id"] {
        let stub = stubs.join(name);
        std::fs::write(
            &stub,
            "#!/bin/sh\n[ \"$(basename \"$0\")\" = id ] && echo 0\nexit 0\n",
        )
        .unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&stub, mode).unwrap();
    }
    let ran = Command::new("bash")
        .arg(out.join("proposal/apply.sh"))
        .arg("--yes")
        .env(
            "PATH",
            format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", stubs.display()),
        )
        .env("NODE_NAME", "192-18-132-31")
        .env("LOCK_DIR", folder.path())
        .env("BACKUP_DIR", folder.path().join("backup"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        said.contains("Step 1 of") && said.contains("All steps are done"),
        "{said}"
    );
    assert!(!mark.exists(), "a text of the bundle was run: {said}");
}

#[test]
fn changes_that_contradict_one_another_or_fit_nothing_are_named_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let node = "192-18-132-31";
    let cases = [
        (
            format!(
                "changes:\n- sysctl: {{node: {node}, name: net.ipv4.ip_forward, value: '1'}}\n- sysctl: {{node: {node}, name: net.ipv4.ip_forward, value: '0'}}\n"
            ),
            "changes.yaml:3: contradicts",
        ),
        (
            "changes:\n- label: {kind: Node, name: nosuchnode, key: a, value: b}\n".to_owned(),
            "changes.yaml:2: cluster-resources/nodes.json holds no Node nosuchnode",
        ),
        (
            "# a values file\ntoolkit: [1\n".to_owned(),
            "does not parse as YAML",
        ),
    ];
    for (text, why) in cases {
        let file = proposal(folder.path(), "changes.yaml", &text);
        let out = folder.path().join("out");
        let said = fix(&sample(TOOLKIT_STATE), &out, &["--what-if", &file]);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.err.contains(why), "{why}: {said:?}");
        assert!(!out.exists() || !out.join("README.md").exists());
    }
}
