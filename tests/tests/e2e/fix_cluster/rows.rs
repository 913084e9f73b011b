//! The changes that go to the cluster, and what the object shows while the fault is there.

use std::process::Command;

use crate::fix_real::Row;
use crate::support::skip;

const PROGRAM: &str = "kubectl, with a small API";

/// The rows of these kinds; none where there is no kubectl.
pub(crate) fn runnable() -> Vec<Row> {
    if Command::new("kubectl")
        .args(["version", "--client"])
        .output()
        .is_err()
    {
        skip("rows of kubectl", "needs kubectl");
        return Vec::new();
    }
    rows()
}

/// All of them.
pub(crate) fn rows() -> Vec<Row> {
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
    all.extend(of_bounds());
    all.extend(of_pods());
    all
}

/// Rows of what a pod ran into by its own spec.
fn of_pods() -> Vec<Row> {
    vec![
        row(
            "raised-limit",
            "workload/container-memory-limit-reached#one of a set",
            "container-memory-limit-reached",
            None,
            "! kubectl get statefulset train -n ml -o jsonpath='{.spec.template.spec.containers[0].resources.limits.memory}' | grep -qx 4Gi",
        ),
        row(
            "raised-limit (a volume in memory)",
            "workload/shm-emptydir-sizelimit-eviction#volume of a set",
            "shm-emptydir-sizelimit-eviction",
            None,
            "! kubectl get statefulset train -n ml -o yaml | grep -q 'sizeLimit: 4Gi'",
        ),
        row(
            "raised-limit (GPU memory)",
            "hami/hami-vgpu-memory-quota-hit#one of a set",
            "hami-vgpu-memory-quota-hit",
            None,
            "! kubectl get statefulset llm -n ml -o jsonpath='{.spec.template.spec.containers[0].resources.limits}' | grep -q 9337",
        ),
        row(
            "probe-time",
            "workload/probe-ends-container#template of a set",
            "probe-ends-container",
            None,
            "! kubectl get statefulset web -n shop -o jsonpath='{.spec.template.spec.containers[0].livenessProbe.failureThreshold}' | grep -qx 6",
        ),
        row(
            "search-dots",
            "dns/dns-ndots-wildcard-search-domain#logs the address",
            "dns-ndots-wildcard-search-domain",
            None,
            "! kubectl get statefulset pull -n shop -o yaml | grep -A 1 'name: ndots' | grep -q '\"1\"'",
        ),
        row(
            "image-name",
            "image/image-name-invalid#a scheme",
            "image-name-invalid",
            None,
            "! kubectl get statefulset web -n shop -o jsonpath='{.spec.template.spec.containers[0].image}' | grep -qx registry.corp.example/shop/web:1",
        ),
        row(
            "claim-size",
            "storage/application-volume-full#claim that may grow",
            "application-volume-full",
            None,
            "! kubectl get persistentvolumeclaim data-db-0 -n shop -o jsonpath='{.spec.resources.requests.storage}' | grep -qx 20Gi",
        ),
    ]
}

/// Rows of what the cluster alone decides: who may do what, what is refused, and where pods of a daemon run.
fn of_bounds() -> Vec<Row> {
    vec![
        row(
            "default-class",
            "storage/claim-has-no-storage-class#the cluster has one class",
            "claim-has-no-storage-class",
            None,
            "! kubectl get storageclass ceph-block -o yaml | grep -q 'is-default-class: \"true\"'",
        ),
        row(
            "class-copy",
            "storage/storage-class-missing#a default class",
            "storage-class-missing",
            None,
            "! kubectl get storageclass fast >/dev/null 2>&1",
        ),
        row(
            "webhook-policy",
            "scheduling/admission-webhook-unreachable#the configuration of the webhook",
            "admission-webhook-unreachable",
            None,
            "kubectl get validatingwebhookconfiguration policy -o yaml | grep -q 'failurePolicy: Fail'",
        ),
        row(
            "limit-range",
            "scheduling/limit-range-refuses#the limit range was",
            "limit-range-refuses",
            None,
            "! kubectl get limitrange mem -n shop -o jsonpath='{.spec.limits[0].max.memory}' | grep -qx 2Gi",
        ),
        row(
            "api-right",
            "workload/application-api-forbidden#the refusal names",
            "application-api-forbidden",
            None,
            "! kubectl get rolebinding default-list-pods -n shop >/dev/null 2>&1",
        ),
        row(
            "daemonset-node",
            "scheduling/device-plugin-not-on-node#a taint that the daemonset",
            "device-plugin-not-on-node",
            None,
            "! kubectl get daemonset nvidia-device-plugin-daemonset -n kube-system -o jsonpath='{.spec.template.spec.tolerations[*].key}' | grep -q team",
        ),
        row(
            "host-port",
            "scheduling/host-port-taken#asks for a port of its node",
            "host-port-taken",
            None,
            "kubectl get statefulset web -n shop -o yaml | grep -q 'hostPort: 8080'",
        ),
        row(
            "scratch-volume",
            "workload/application-read-only-filesystem#ends with this",
            "application-read-only-filesystem",
            None,
            "! kubectl get statefulset web -n shop -o yaml | grep -q 'mountPath: /tmp'",
        ),
    ]
}

/// Rows that change workloads, configuration and objects.
#[expect(clippy::too_many_lines, reason = "a table of rows")]
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
            "kubectl get statefulset summarise -n teams -o jsonpath='{.spec.template.spec.containers[0].resources.limits}' | grep -qE '28000|28k'",
        ),
        row(
            "hami-cards",
            "hami/hami-request-exceeds-physical-cards#two vGPUs are asked",
            "hami-request-exceeds-physical-cards",
            None,
            "kubectl get statefulset next -n ml -o jsonpath='{.spec.template.spec.containers[0].resources}' | grep -q '\"nvidia.com/gpu\":\"2\"'",
        ),
        row(
            "sharing-config",
            "gpu-sharing/sharing-config-field-misplaced#the plugin rejects",
            "sharing-config-field-misplaced",
            None,
            "kubectl get configmap time-slicing -n gpu-operator -o jsonpath='{.data.any}' | grep -A 2 '^flags:' | grep -q failRequestsGreaterThanOne",
        ),
        row(
            "pod-restart",
            "hami-gpumem-taken",
            "hami-gpumem-insufficient",
            Some("changes:\n- pod-restart: {pod: teams/summarise-0}\n"),
            "kubectl get pod summarise-0 -n teams >/dev/null 2>&1",
        ),
        row(
            "recreate",
            "storage/rwo-volume-held-by-live-pod#a rolling update of",
            "rwo-volume-held-by-live-pod",
            None,
            "kubectl get deployment notebook -n lab -o jsonpath='{.spec.strategy.type}' | grep -qx RollingUpdate",
        ),
        row(
            "hami-whole",
            "hami/hami-not-installed#a pod waits for HAMi's",
            "hami-not-installed",
            None,
            "kubectl get statefulset next -n ml -o yaml | grep -q gpumem",
        ),
        row(
            "image-arch",
            "image/image-wrong-architecture#the same image runs",
            "image-wrong-architecture",
            None,
            "! kubectl get statefulset web -n shop -o jsonpath='{.spec.template.spec.nodeSelector}' | grep -q arm64",
        ),
        row(
            "plugin-folder",
            "scheduling/kubelet-device-plugin-dir-not-shared#the plugin mounts an old",
            "kubelet-device-plugin-dir-not-shared",
            None,
            "kubectl get daemonset nvidia-device-plugin-daemonset -n kube-system -o yaml | grep -q 'path: /var/lib/rancher'",
        ),
        row(
            "preset-node",
            "hami/hami-pod-nodename-preset#the webhook refuses the pods",
            "hami-pod-nodename-preset",
            None,
            "kubectl get deployment train -n ml -o jsonpath='{.spec.template.spec.nodeName}' | grep -qx gpu-3",
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
