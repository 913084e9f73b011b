//! Where a program's own word contradicts its simulation, the simulation steps back and the report says so.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of a test stop it where they cannot go on"
)]

use std::path::Path;

use casefile_analyzer::diagnose::Analyzer;
use casefile_analyzer::model::{Analysis, Considered, Verdict};
use casefile_analyzer::rules;

fn plant(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Problems that the analysis of these files states.
fn problems(files: &[(&str, &str)]) -> Vec<String> {
    let problems = examined(files).problems.into_iter();
    problems.map(|one| one.text).collect()
}

fn examined(files: &[(&str, &str)]) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        plant(folder.path(), path, text);
    }
    casefile_analyzer::shipped::ship(|| {
        casefile_catalogue_files::leaked(std::path::Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
    });
    let (set, _) = rules::load(None).unwrap();
    let analyzer = Analyzer::new(set).unwrap();
    analyzer.examine(folder.path()).unwrap().analysis
}

/// Causes that the analysis holds for true or probable.
fn causes(files: &[(&str, &str)]) -> Vec<String> {
    let sure = |one: &Considered| matches!(one.verdict, Verdict::Confirmed | Verdict::Likely);
    let all = examined(files).differential.into_iter().filter(sure);
    all.map(|one| one.cause).collect()
}

const PROCESSES: &str = r#"{"processes":[
{"pid":1,"ppid":0,"start":"2026-01-02T00:00:00Z","comm":"containerd","exe":"/usr/bin/containerd","cmdline":["/usr/bin/containerd"],"cgroup":"/system.slice/containerd.service","root":"/"},
{"pid":2,"ppid":1,"start":"2026-01-02T00:00:01Z","comm":"kubelet","exe":"/usr/bin/kubelet","cmdline":["/usr/bin/kubelet","--container-runtime-endpoint=unix:///run/containerd/containerd.sock"],"cgroup":"/system.slice/kubelet.service","root":"/"}
]}
"#;
const CLASSES: &str = r#"{"kind":"RuntimeClassList","apiVersion":"node.k8s.io/v1","items":[
{"metadata":{"name":"nvidia"},"handler":"nvidia"}
]}
"#;
const CONFIG: &str = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n";

#[test]
fn a_handler_that_the_running_runtime_lists_is_not_called_missing() {
    let status = |handlers: &str| {
        format!("{{\n\"config\":{{\"containerd\":{{\"runtimes\":{handlers}}}}}\n}}\n")
    };
    let of = |handlers: &str| {
        let said = status(handlers);
        let files = [
            ("nodes/n1/processes.json", PROCESSES),
            ("nodes/n1/rootfs/etc/containerd/config.toml", CONFIG),
            ("cluster-resources/runtimeclasses.json", CLASSES),
            ("nodes/n1/cri/containerd/status.json", said.as_str()),
        ];
        (problems(&files), causes(&files))
    };
    let told = |all: &[String]| {
        all.iter()
            .any(|one| one.contains("lists the handler \"nvidia\""))
    };
    let missing = "nvidia-runtime-not-configured".to_owned();
    let (known, steps_back) = of(r#"{"runc":{},"nvidia":{}}"#);
    assert!(told(&known), "{known:?}");
    assert!(!steps_back.contains(&missing), "{steps_back:?}");
    let (unknown, stands) = of(r#"{"runc":{}}"#);
    assert!(!told(&unknown), "{unknown:?}");
    assert!(stands.contains(&missing), "{stands:?}");
}

#[test]
fn a_packet_that_the_kernel_blocked_is_not_called_accepted() {
    let of = |policy: &str| {
        let rules = format!(
            "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD {policy} [0:0]\n:OUTPUT ACCEPT [0:0]\n:elsewhere - [0:0]\n-A elsewhere -j LOG --log-prefix \"[UFW BLOCK] \"\nCOMMIT\n"
        );
        problems(&[
            ("nodes/n1/commands/iptables-save.out", &rules),
            (
                "nodes/n1/journal/kernel.json",
                "{\"__REALTIME_TIMESTAMP\":\"1767225600000000\",\"_TRANSPORT\":\"kernel\",\"SYSLOG_IDENTIFIER\":\"kernel\",\"MESSAGE\":\"[UFW BLOCK] IN=cni0 OUT=eth0 SRC=10.42.0.7 DST=1.1.1.1 LEN=45 TOS=0x00 PREC=0x00 TTL=62 ID=1 DF PROTO=UDP SPT=5000 DPT=53 LEN=25\"}\n",
            ),
        ])
    };
    let told = |all: &[String]| all.iter().any(|one| one.contains("the kernel logged"));
    let accepted = of("ACCEPT");
    assert!(told(&accepted), "{accepted:?}");
    let dropped = of("DROP");
    assert!(!told(&dropped), "{dropped:?}");
}

#[test]
fn a_pod_that_the_scheduler_refuses_is_not_said_to_fit() {
    let nodes = r#"{"kind":"NodeList","apiVersion":"v1","items":[
{"metadata":{"name":"n1","labels":{"kubernetes.io/hostname":"n1"}},"spec":{},"status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"110"},"nodeInfo":{"kubeletVersion":"v1.33.1"},"conditions":[{"type":"Ready","status":"True"}]}}
]}
"#;
    let of = |says: &str| {
        let pods = format!(
            r#"{{"kind":"PodList","apiVersion":"v1","items":[
{{"metadata":{{"name":"train","namespace":"default","uid":"1"}},"spec":{{"schedulerName":"default-scheduler","containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"16"}}}}}}]}},"status":{{"phase":"Pending","conditions":[{{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"{says}"}}]}}}}
]}}
"#
        );
        problems(&[
            ("cluster-resources/nodes.json", nodes),
            ("cluster-resources/pods/default.json", &pods),
        ])
    };
    let told = |all: &[String]| all.iter().any(|one| one.contains("the scheduler says"));
    let same = of(
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    );
    assert!(!told(&same), "{same:?}");
    let other = of(
        "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: true}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    );
    assert!(told(&other), "{other:?}");
}
