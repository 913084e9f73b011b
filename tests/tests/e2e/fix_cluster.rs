//! Kinds of change that go to the cluster: the real kubectl, against a small API that keeps the captured objects.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use casefile_tests::store;
use serde_json::json;

use crate::fix_real::{Row, print, state, told, what_if, written};
use crate::support::{ended, plant, skip};

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
    all
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

/// Runs apply.sh with the real kubectl: whether the fault is gone, and whether taking back brings it again.
pub(crate) fn apply(row: &Row, input: &Path, folder: &Path) -> (String, &'static str) {
    let served = folder.join("served");
    with_secrets(input, &served, SECRET);
    let address = store::serve(&served).unwrap();
    let script = tried(row, &written(row, folder));
    let mut command = Command::new("timeout");
    command.args(["120", "bash", "-c", &script]);
    command
        .current_dir(folder)
        .env("KUBECONFIG", kubeconfig(address, folder))
        .env("HOME", folder)
        .env("LOCK_DIR", folder)
        // A row may lower what a pod gets, which a person has to choose.
        .env("ACCEPT", "yes")
        .env("BACKUP_DIR", folder.join("backup"));
    let ended = ended(command.output().unwrap());
    assert!(
        !ended.out.contains("other secrets"),
        "{}: {ended:?}",
        row.kind
    );
    told(row, &ended)
}

/// The script of a try: the captured state, a dry run, apply.sh, the secrets of each object, and back.
pub(crate) fn tried(row: &Row, fix: &Path) -> String {
    format!(
        r#"set -e
        kubectl() {{ command kubectl --cache-dir "$HOME/cache" "$@"; }}
        faulty() {{ {faulty}; }}
        {HELD}
        held >before
        grep -q '[1-9]$' before || echo 'no object has a secret'
        faulty || {{ echo 'not the captured state'; exit 3; }}
        if ! bash {fix}/apply.sh --dry-run >&2; then
          if faulty; then echo 'still there'; fi
          exit 0
        fi
        faulty || {{ echo 'the dry run changed something'; exit 4; }}
        bash {fix}/apply.sh --yes >&2
        if faulty; then echo 'still there'; else echo gone; fi
        held >after
        awk 'NR == FNR {{ was[$1] = $2; next }} ($1 in was) && was[$1] != $2 {{ print "other secrets than before: " $1 }}' before after
        yes yes | bash {fix}/apply.sh --back >&2 || true
        if faulty; then echo 'taken back'; fi"#,
        faulty = row.faulty,
        fix = fix.display(),
    )
}

/// What stands in a bundle where the cluster has the secret.
pub(crate) const PLACEHOLDER: &str = "<redacted:token:0a1b2c3d>";
pub(crate) const SECRET: &str = "s3cret-of-the-site";
/// Each object with how often it holds the secret, and placeholders counted apart so that one is a difference.
const HELD: &str = r#"held() {
          for kind in nodes pods configmaps deployments statefulsets daemonsets jobs storageclasses limitranges resourcequotas; do
            kubectl get "$kind" -A -o json | jq -r '.items[] | [([.kind, .metadata.namespace, .metadata.name] | map(. // "") | join("/")),
              ([.. | strings | select(contains("s3cret-of-the-site"))] | length) + 1000 * ([.. | strings | select(contains("<redacted"))] | length)] | join(" ")'
          done
        }"#;

/// A copy of a bundle in which each object has this text where objects have secrets: an annotation, a variable of each
/// container, a key of a ConfigMap.
pub(crate) fn with_secrets(bundle: &Path, to: &Path, text: &str) {
    for file in walkdir::WalkDir::new(bundle)
        .into_iter()
        .map(Result::unwrap)
    {
        if !file.file_type().is_file() {
            continue;
        }
        let own = file.path().strip_prefix(bundle).unwrap();
        let mut bytes = std::fs::read(file.path()).unwrap();
        let of_cluster = own.starts_with("cluster-resources")
            && own.extension().is_some_and(|end| end == "json");
        if let (true, Ok(mut list)) = (
            of_cluster,
            serde_json::from_slice::<serde_json::Value>(&bytes),
        ) {
            list["items"]
                .as_array_mut()
                .into_iter()
                .flatten()
                .for_each(|item| with_secret(item, text));
            bytes = list.to_string().into_bytes();
        }
        plant(to, own.to_str().unwrap(), bytes);
    }
}

fn with_secret(item: &mut serde_json::Value, text: &str) {
    item["metadata"]["annotations"]["example.org/secret"] = text.into();
    if let Some(data) = item["data"].as_object_mut() {
        data.insert("secret".into(), text.into());
    }
    for spec in ["/spec/containers", "/spec/template/spec/containers"] {
        let containers = item
            .pointer_mut(spec)
            .and_then(serde_json::Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let token = json!({"name": "TOKEN", "value": text});
            match container["env"].as_array_mut() {
                Some(env) => env.push(token),
                None => container["env"] = json!([token]),
            }
        }
    }
}

/// Killed before commands that can change anything: taking back and a run that begins again end clean, for each kind
/// that goes to the cluster; also for a Job, which is another one each time that it is made anew.
/// `CASEFILE_KILL_STEP=1` stops before each such command, `CASEFILE_KILL_ROWS=WORDS` picks rows.
#[test]
fn a_change_of_the_cluster_that_is_killed_ends_clean() {
    let wanted = std::env::var("CASEFILE_KILL_ROWS").unwrap_or_default();
    let step = std::env::var("CASEFILE_KILL_STEP").ok();
    let step = step.and_then(|text| text.parse().ok()).unwrap_or(9);
    let rows = runnable();
    let rows: Vec<&Row> = rows
        .iter()
        .filter(|row| row.kind.contains(&wanted))
        .collect();
    let turns = std::sync::Mutex::new(rows.iter().enumerate());
    let mut table = String::from("\n| kind, killed on the way | times |\n|---|---|\n");
    let done = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((number, row)) = turns.lock().unwrap().next() else {
                        return;
                    };
                    // Each row leaves out other commands.
                    if let Some(times) = killed_at_each(row, 1 + number % step, step) {
                        done.lock().unwrap().push((row.kind, times));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_unstable();
    for (kind, times) in &done {
        let _ = writeln!(table, "| {kind} | {times} |");
    }
    print(&table);
    assert!(done.iter().all(|(_, times)| *times > 0), "{table}");
}

/// How often a run of a row's fix died, and ended clean all the same; none for a change that does not help.
fn killed_at_each(row: &Row, first: usize, step: usize) -> Option<usize> {
    let folder = tempfile::tempdir().unwrap();
    let input = state(row.state, folder.path());
    let said = what_if(row, &input, folder.path());
    if !["gone", "needs a runtime step"].contains(&said.as_str()) {
        return None;
    }
    let mut times = 0;
    for at in (first..).step_by(step) {
        let ends =
            ["back", "again"].map(|how| killed(row, &input, &written(row, folder.path()), at, how));
        if ends.iter().all(|out| out == "the script has ended\n") {
            return Some(times);
        }
        times += ends.len();
        assert_eq!(ends, ["clean\n", "clean\n"], "{} at {at}", row.kind);
    }
    Some(times)
}

/// What became of a run that was killed before this command, on a cluster of its own.
fn killed(row: &Row, input: &Path, fix: &Path, at: usize, how: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let address = store::serve(input).unwrap();
    let words = casefile_tests::bins::checkout().join("tests/lab/tried.sh");
    let script = format!(
        r#"set -e
        . {words}
        deadly
        status=0
        killed_once {at} {how} || status=$?
        case $status in 0) echo clean ;; 9) echo 'the script has ended' ;; *) exit 3 ;; esac"#,
        words = words.display()
    );
    let mut command = Command::new("timeout");
    command.args(["120", "bash", "-c", &script]);
    command
        .env("KUBECONFIG", kubeconfig(address, folder.path()))
        .env("HOME", folder.path())
        .env("LOCK_DIR", folder.path())
        .env("SCRATCH", folder.path())
        .env("BACKUP_DIR", folder.path().join("backup"))
        .env("FIX", fix)
        .env("FAULTY", row.faulty);
    let ended = ended(command.output().unwrap());
    assert_eq!(ended.code, 0, "{at} {how}: {ended:?}");
    if !["clean\n", "the script has ended\n"].contains(&ended.out.as_str()) {
        return format!("{}{}", ended.out, ended.err);
    }
    ended.out
}

/// A file that names the small API.
pub(crate) fn kubeconfig(address: std::net::SocketAddr, folder: &Path) -> std::path::PathBuf {
    let config = folder.join("kubeconfig");
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": format!("http://{address}")}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [{"name": "a", "user": {}}],
    });
    std::fs::write(&config, text.to_string()).unwrap();
    config
}
