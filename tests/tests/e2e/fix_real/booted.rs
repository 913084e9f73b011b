//! The same on a machine that systemd has booted: units that really start, are restarted, and read their files then.

use super::{Row, has_no_way_back, on, print, state, there, times_killed, told_by, what_if};
use crate::support::{ended, skip};

/// Puts the captured files in their places and has containerd read them.
const CONTAINERD: &str = "place; systemctl restart containerd";
/// No package has a kubelet: this one stays, so that its command line can be read. It has begun once it bears its name,
/// which a busy machine gives it only after systemd took it for started.
const KUBELET: &str = r#"place
    mkdir -p /run/systemd/system/kubelet.service.d
    printf '%s\n' '[Service]' \
        "ExecStartPost=/bin/sh -c 'until grep -qa ^kubelet /proc/\${MAINPID}/cmdline; do sleep 0.05; done'" \
        >/run/systemd/system/kubelet.service.d/lab.conf
    printf '#!/bin/sh\nexec -a "kubelet $*" sleep 1000\n' | sed 's/sh$/bash/' >/usr/bin/kubelet
    chmod +x /usr/bin/kubelet
    [ -e /etc/systemd/system/kubelet.service ] || printf '%s\n' '[Service]' \
        'EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env' \
        'ExecStart=/usr/bin/kubelet $KUBELET_KUBEADM_ARGS' >/etc/systemd/system/kubelet.service
    systemctl daemon-reload
    systemctl start kubelet"#;
/// It runs in no container by itself. There is no network, so that it sets no clock.
const TIME: &str = r#"mkdir -p /run/systemd/system/systemd-timesyncd.service.d
    printf '%s\n' '[Unit]' 'ConditionVirtualization=' >/run/systemd/system/systemd-timesyncd.service.d/lab.conf
    systemctl daemon-reload
    systemctl start systemd-timesyncd
    first=$(systemctl show -p MainPID --value systemd-timesyncd)"#;
/// Two images of which one has a name that was captured, and neither a container.
const IMAGES: &str = r#"place
    systemctl restart containerd
    load_sandbox_image
    load_image registry.local/team/train:1 train
    until crictl inspecti registry.local/team/train:1 >/dev/null 2>&1; do sleep 0.2; done"#;
const CRI_FAILS: &str = "! ctr plugins ls | grep -q 'grpc.v1.*cri .*ok'";

fn row(
    [kind, program, state, cause]: [&'static str; 4],
    before: &'static str,
    faulty: &'static str,
) -> Row {
    Row {
        kind,
        program,
        state,
        cause,
        proposal: None,
        before,
        faulty,
    }
}

pub(super) fn rows() -> Vec<Row> {
    let mut all = of_containerd();
    all.extend(of_units());
    all.extend(of_firewalld());
    all.extend(of_images());
    all
}

/// Images as the real crictl removes them from a real containerd.
fn of_images() -> Vec<Row> {
    let there = "ctr -n k8s.io images ls -q | grep -qx registry.local/team/train:1";
    vec![
        row(
            [
                "image-removal",
                "crictl, with containerd.service",
                "image/image-corrupt-on-node#a node's runtime finds",
                "image-corrupt-on-node",
            ],
            IMAGES,
            there,
        ),
        row(
            [
                "image-removal (all that are unused)",
                "crictl, with containerd.service",
                "node/imagefs-full#a node's kubelet finds nothing",
                "imagefs-full",
            ],
            IMAGES,
            there,
        ),
    ]
}

/// What the pods of the example sent out is rejected by firewalld's zone for all interfaces that are in none.
fn of_firewalld() -> Vec<Row> {
    let one = |kind, proposal| Row {
        proposal,
        ..row(
            [
                kind,
                "firewall-cmd, with a pod's packet",
                "network/firewalld-blocks-pod-traffic#captured rules reject",
                "firewalld-blocks-pod-traffic",
            ],
            "raise_pod cali12345; systemctl start firewalld; until firewall-cmd --state >/dev/null 2>&1; do sleep 0.2; done",
            "! query_arrives",
        )
    };
    vec![
        one("firewalld", None),
        one(
            "iptables (beside firewalld)",
            Some("changes:\n- iptables:\n    rules: ['-I FORWARD -i cali12345 -j ACCEPT']\n"),
        ),
        one(
            "firewalld (wrong interface)",
            Some("changes:\n- firewalld: {zone: trusted, interfaces: [flannel.1]}\n"),
        ),
    ]
}

fn of_containerd() -> Vec<Row> {
    let handler = "containerd asked for a sandbox";
    vec![
        row(
            [
                "toml-type, restart",
                "containerd.service",
                "runtime/containerd-config-type-error#a number is quoted",
                "containerd-config-type-error",
            ],
            "place; systemctl restart containerd || true",
            "! systemctl is-active -q containerd",
        ),
        row(
            [
                "host-file, restart",
                "containerd.service",
                "runtime/containerd-cri-plugin-disabled#as captured",
                "containerd-cri-plugin-disabled",
            ],
            CONTAINERD,
            CRI_FAILS,
        ),
        row(
            [
                "containerd-registry, restart",
                "containerd.service",
                "image/containerd-registry-config-conflict",
                "containerd-registry-config-conflict",
            ],
            CONTAINERD,
            CRI_FAILS,
        ),
        row(
            [
                "containerd-runtime, restart",
                handler,
                "runtime/nvidia-runtime-not-configured#the collected configuration",
                "nvidia-runtime-not-configured",
            ],
            "place; systemctl restart containerd; load_sandbox_image",
            "lacks_handler nvidia",
        ),
        row(
            [
                "containerd-import, restart",
                handler,
                "runtime/containerd-dropin-not-imported#the toolkit was told",
                "containerd-dropin-not-imported",
            ],
            "place; systemctl restart containerd; load_sandbox_image",
            "lacks_handler nvidia",
        ),
        row(
            [
                "restart",
                handler,
                "runtime/containerd-running-with-stale-config#younger than the process",
                "containerd-running-with-stale-config",
            ],
            "rm -rf /etc/containerd; systemctl restart containerd; load_sandbox_image; place",
            "lacks_handler nvidia",
        ),
        Row {
            proposal: Some(
                "changes:\n- host-file: {node: n1, path: /etc/containerd/config.toml, merge_toml: 'oom_score = 1', restart: containerd.service}\n",
            ),
            ..row(
                [
                    "host-file, restart (another setting)",
                    "containerd.service",
                    "runtime/containerd-cri-plugin-disabled#as captured",
                    "containerd-cri-plugin-disabled",
                ],
                CONTAINERD,
                CRI_FAILS,
            )
        },
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of rows")]
fn of_units() -> Vec<Row> {
    vec![
        row(
            [
                "unit",
                "kubelet.service beside containerd.service",
                "kubelet-bound-to-containerd",
                "kubelet-stopped-with-runtime-restart",
            ],
            KUBELET,
            // What a package's upgrade does.
            "systemctl stop containerd; systemctl start containerd; ! systemctl is-active -q kubelet",
        ),
        row(
            [
                "kubelet-flag, restart",
                "kubelet.service, a stand-in",
                "runtime/kubelet-runtime-endpoint-mismatch",
                "kubelet-runtime-endpoint-mismatch",
            ],
            KUBELET,
            "pgrep -f '^kubelet.*cri-dockerd.sock' >/dev/null",
        ),
        row(
            [
                "kubelet-config, restart",
                "kubelet.service, a stand-in",
                "dns-loop",
                "dns-loop-systemd-resolved-stub",
            ],
            KUBELET,
            // It reads its file when it starts.
            "started=$(stat -c %Y /proc/$(systemctl show -p MainPID --value kubelet)); written=$(stat -c %Z /var/lib/kubelet/config.yaml); [ \"$started\" -lt \"$written\" ] || grep -q '^resolvConf: /etc/resolv.conf' /var/lib/kubelet/config.yaml",
        ),
        row(
            [
                "unknown-flag",
                "kubelet.service, a stand-in",
                "node/kubelet-refuses-to-start#a flag that this release does not know, in",
                "kubelet-refuses-to-start",
            ],
            KUBELET,
            "pgrep -f '^kubelet.*--experimental-bootstrap' >/dev/null",
        ),
        row(
            [
                "node-ip",
                "kubelet.service, a stand-in",
                "network/node-name-resolves-wrong#the kubelet finds no address",
                "node-name-resolves-wrong",
            ],
            KUBELET,
            "! pgrep -f '^kubelet.*--node-ip=192.0.2.7' >/dev/null",
        ),
        row(
            [
                "kubelet-unquote",
                "kubelet.service, a stand-in",
                "runtime/kubelet-flag-quoted-in-unit-file#the unit's command line",
                "kubelet-flag-quoted-in-unit-file",
            ],
            KUBELET,
            "pgrep -f '^kubelet.*=\"systemd\"' >/dev/null",
        ),
        Row {
            proposal: Some("changes:\n- time-service: {node: n1}\n"),
            ..row(
                [
                    "time-service",
                    "systemd-timesyncd.service",
                    "node/node-clock-skew#a time service runs",
                    "node-clock-skew",
                ],
                TIME,
                "[ \"$(systemctl show -p MainPID --value systemd-timesyncd)\" = \"$first\" ]",
            )
        },
        row(
            [
                "docker-daemon",
                "docker.service",
                "runtime/docker-nvidia-runtime-missing",
                "docker-nvidia-runtime-missing",
            ],
            "place; systemctl restart docker",
            "! docker info 2>/dev/null | grep -q 'Runtimes:.* nvidia'",
        ),
        row(
            [
                "sysctl",
                "systemd-sysctl.service, as at a boot",
                "ip-forward-off",
                "ip-forward-disabled",
            ],
            // One of the captured files, whose name sorts late, sets it to 0.
            "place",
            "sysctl -qw net.ipv4.ip_forward=0; systemctl restart systemd-sysctl; [ \"$(cat /proc/sys/net/ipv4/ip_forward)\" = 0 ]",
        ),
    ]
}

#[test]
fn units_that_systemd_really_starts_do_what_the_replay_says() {
    let test = "units_that_systemd_really_starts_do_what_the_replay_says";
    if let Some(why) = why_not() {
        skip(test, &why);
        return;
    }
    let mut wrong = Vec::new();
    let mut table = String::from(
        "\n| kind | under systemd | what-if | real | taken back |\n|---|---|---|---|---|\n",
    );
    let wanted = std::env::var("CASEFILE_REAL_ROWS").unwrap_or_default();
    for row in rows() {
        if !row.kind.contains(&wanted) || !there(&row) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let input = state(row.state, folder.path());
        let said = what_if(&row, &input, folder.path());
        let (real, back) = told_by("booted", &row, &input, folder.path());
        let line = format!(
            "| {} | {} | {said} | {real} | {back} |\n",
            row.kind, row.program
        );
        table.push_str(&line);
        // Of a step that no replay can show, only the real program tells whether it was made.
        let agree = said == real || said == "needs a runtime step" && real == "gone";
        if !agree || back == "no" && !has_no_way_back(&row) {
            wrong.push(row.kind);
        }
    }
    print(&table);
    assert!(wrong.is_empty(), "{wrong:?}{table}");
}

/// Killed with all that it started, between the commands of the shell: what systemd runs then is what ran before, and a
/// run that begins again ends as any other.
#[test]
fn a_fix_that_is_killed_ends_clean_under_systemd() {
    let test = "a_fix_that_is_killed_ends_clean_under_systemd";
    if let Some(why) = why_not() {
        skip(test, &why);
        return;
    }
    // A unit, and firewalld, whose rules are there twice: those that run and those of the next start.
    for row in [of_units().remove(0), of_firewalld().remove(0)] {
        if !there(&row) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let input = state(row.state, folder.path());
        what_if(&row, &input, folder.path());
        let step = std::env::var("CASEFILE_KILL_STEP").unwrap_or_else(|_| "9".into());
        let mut command = on("booted", &row, &input, folder.path());
        command.env("KILL_STEP", step).env("BOOTED_LIMIT", "3000");
        let ended = ended(command.output().unwrap());
        let times = times_killed(&ended).unwrap_or_else(|| panic!("{}: {ended:?}", row.kind));
        print(&format!("{}: killed {times} times", row.kind));
        assert!(times > 1, "{}: {ended:?}", row.kind);
    }
}

/// Why systemd cannot be the first process of namespaces here.
fn why_not() -> Option<String> {
    let root = nix::unistd::geteuid().is_root();
    let systemd = std::path::Path::new("/lib/systemd/systemd").exists();
    let groups = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !root || !super::namespaces() {
        Some("needs root and namespaces, for a machine of its own".into())
    } else if !systemd || !groups.contains("cgroup2") {
        Some("needs systemd and the second kind of control groups, to boot a machine".into())
    } else {
        None
    }
}
