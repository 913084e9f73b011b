//! Kinds of change that go to the cluster: the real kubectl, against a small API that keeps the captured objects.

use std::path::Path;
use std::process::Command;

use casefile_tests::store;
use serde_json::json;

use crate::fix_real::{Row, told, written};
use crate::support::{ended, skip};

const PROGRAM: &str = "kubectl, with a small API";

/// The rows of these kinds; none where there is no kubectl.
pub(crate) fn rows() -> Vec<Row> {
    if Command::new("kubectl")
        .args(["version", "--client"])
        .output()
        .is_err()
    {
        skip("rows of kubectl", "needs kubectl");
        return Vec::new();
    }
    let untainted =
        "kubectl get node g1 -o jsonpath='{.spec.taints[*].key}' | grep -q nvidia.com/gpu";
    let taints = "scheduling/untolerated-taint#every node that has GPUs";
    let mut all = vec![
        row(
            "label",
            "scheduling/node-selector-mismatch#the nodes with GPUs lack",
            "node-selector-mismatch",
            Some("changes:\n- label: {kind: Node, name: g1, key: gpu, value: h100}\n"),
            "! kubectl get node g1 -o jsonpath='{.metadata.labels.gpu}' | grep -qx h100",
        ),
        row(
            "taint",
            taints,
            "untolerated-taint",
            Some(
                "changes:\n- taint: {node: g1, key: nvidia.com/gpu, effect: NoSchedule, remove: true}\n",
            ),
            untainted,
        ),
        row(
            "annotation (of no effect)",
            taints,
            "untolerated-taint",
            Some(
                "changes:\n- annotation: {kind: Node, name: g1, key: example.org/note, value: seen}\n",
            ),
            untainted,
        ),
        row(
            "toleration",
            taints,
            "untolerated-taint",
            None,
            "! kubectl get statefulset next -n ml -o jsonpath='{.spec.template.spec.tolerations[*].key}' | grep -q nvidia.com/gpu",
        ),
        row(
            "toleration (wrong effect)",
            taints,
            "untolerated-taint",
            Some(
                "changes:\n- pod-spec:\n    pod: ml/next\n    spec: 'tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoExecute}]'\n",
            ),
            "! kubectl get statefulset next -n ml -o jsonpath='{.spec.template.spec.tolerations[?(@.key==\"nvidia.com/gpu\")].effect}' | grep -q NoSchedule",
        ),
        row(
            "label (wrong value)",
            "scheduling/node-selector-mismatch#the nodes with GPUs lack",
            "node-selector-mismatch",
            Some("changes:\n- label: {kind: Node, name: g1, key: gpu, value: t4}\n"),
            "! kubectl get node g1 -o jsonpath='{.metadata.labels.gpu}' | grep -qx h100",
        ),
    ];
    all.extend(of_workloads());
    all
}

/// Rows that change workloads, configuration and objects.
fn of_workloads() -> Vec<Row> {
    vec![
        row(
            "pod-spec of a Job",
            "nccl-shared-memory",
            "shm-too-small",
            None,
            "! kubectl get job ddp-resnet -n vision -o yaml | grep -q 'mountPath: /dev/shm'",
        ),
        row(
            "pod-spec of a DaemonSet",
            "mig-monitor-not-granted",
            "mig-monitor-devices-not-granted",
            None,
            "! kubectl get daemonset gpu-feature-discovery -n gpu-feature-discovery -o yaml | grep -q NVIDIA_MIG_MONITOR_DEVICES",
        ),
        row(
            "kube-object (new)",
            "runtime/runtimeclass-missing#",
            "runtimeclass-missing",
            None,
            "! kubectl get runtimeclass nvidia -o jsonpath='{.handler}' 2>/dev/null | grep -qx nvidia",
        ),
        row(
            "pod-spec",
            "hami-gpumem-taken",
            "hami-gpumem-insufficient",
            None,
            "kubectl get statefulset summarise -n teams -o jsonpath='{.spec.template.spec.containers[0].resources.limits}' | grep -q 28000",
        ),
        row(
            "configmap",
            "network/kube-proxy-masquerade-all",
            "kube-proxy-masquerade-all",
            None,
            "kubectl get configmap kube-proxy -n kube-system -o yaml | grep -q 'masqueradeAll: true'",
        ),
        row(
            "quota, kube-object",
            "scheduling/resource-quota-exceeded#a replica set lacks",
            "resource-quota-exceeded",
            None,
            "kubectl get resourcequota gpus -n ml -o jsonpath='{.spec.hard}' | grep -q '\"2\"'",
        ),
        row(
            "volume-attachment, kube-object",
            "storage/stale-volumeattachment",
            "stale-volumeattachment",
            None,
            "kubectl get volumeattachment csi-1 >/dev/null 2>&1",
        ),
    ]
}

/// A row without more to do before.
fn row(
    kind: &'static str,
    state: &'static str,
    cause: &'static str,
    proposal: Option<&'static str>,
    faulty: &'static str,
) -> Row {
    Row {
        kind,
        program: PROGRAM,
        state,
        cause,
        proposal,
        before: "",
        faulty,
    }
}

/// Runs apply.sh with the real kubectl: whether the fault is gone, and whether taking back brings it again.
pub(crate) fn apply(row: &Row, input: &Path, folder: &Path) -> (String, &'static str) {
    let address = store::serve(input).unwrap();
    let script = format!(
        r#"set -e
        kubectl() {{ command kubectl --cache-dir "$HOME/cache" "$@"; }}
        faulty() {{ {faulty}; }}
        faulty || {{ echo 'not the captured state'; exit 3; }}
        if ! bash {fix}/apply.sh --dry-run >&2; then
          if faulty; then echo 'still there'; fi
          exit 0
        fi
        faulty || {{ echo 'the dry run changed something'; exit 4; }}
        bash {fix}/apply.sh --yes >&2
        if faulty; then echo 'still there'; else echo gone; fi
        yes yes | bash {fix}/apply.sh --back >&2 || true
        if faulty; then echo 'taken back'; fi"#,
        faulty = row.faulty,
        fix = written(row, folder).display(),
    );
    let config = folder.join("kubeconfig");
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": format!("http://{address}")}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [{"name": "a", "user": {}}],
    });
    std::fs::write(&config, text.to_string()).unwrap();
    let mut command = Command::new("timeout");
    command.args(["120", "bash", "-c", &script]);
    command
        .env("KUBECONFIG", &config)
        .env("HOME", folder)
        .env("LOCK_DIR", folder)
        // A row may lower what a pod gets, which a person has to choose.
        .env("ACCEPT", "yes")
        .env("BACKUP_DIR", folder.join("backup"));
    told(row, &ended(command.output().unwrap()))
}
