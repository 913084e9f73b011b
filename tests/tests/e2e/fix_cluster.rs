//! Kinds of change that go to the cluster: the real kubectl, against a small API that keeps the captured objects.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::fix_real::{Row, written};
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
    vec![
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

/// Runs apply.sh with the real kubectl: whether the fault is gone.
pub(crate) fn apply(row: &Row, input: &Path, folder: &Path) -> (String, &'static str) {
    let address = serve(objects(input));
    let script = format!(
        r#"set -e
        kubectl() {{ command kubectl --cache-dir "$HOME/cache" "$@"; }}
        faulty() {{ {faulty}; }}
        faulty || {{ echo 'not the captured state'; exit 3; }}
        bash {fix}/apply.sh --dry-run >&2
        faulty || {{ echo 'the dry run changed something'; exit 4; }}
        bash {fix}/apply.sh --yes >&2
        if faulty; then echo 'still there'; else echo gone; fi"#,
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
    command.args(["60", "bash", "-c", &script]);
    command
        .env("KUBECONFIG", &config)
        .env("HOME", folder)
        .env("BACKUP_DIR", folder.join("backup"));
    let ended = ended(command.output().unwrap());
    assert_eq!(ended.code, 0, "{}: {ended:?}", row.kind);
    (
        ended.out.lines().last().unwrap_or_default().to_owned(),
        "not tried",
    )
}

/// Objects by their path in the API.
type Store = Arc<Mutex<BTreeMap<String, Value>>>;

/// The captured objects, and for each pod the workload that made it.
fn objects(input: &Path) -> Store {
    let mut all = BTreeMap::new();
    for file in walkdir::WalkDir::new(input.join("cluster-resources")) {
        let file = file.unwrap();
        let relative = file
            .path()
            .strip_prefix(input.join("cluster-resources"))
            .unwrap()
            .to_owned();
        let is_list =
            file.file_type().is_file() && file.path().extension().is_some_and(|end| end == "json");
        if !is_list || relative.starts_with("events") {
            continue;
        }
        let list: Value = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
        let kind = list["kind"]
            .as_str()
            .unwrap()
            .trim_end_matches("List")
            .to_owned();
        let version = list["apiVersion"].as_str().unwrap().to_owned();
        for item in list["items"].as_array().unwrap() {
            let mut item = item.clone();
            item["kind"] = kind.clone().into();
            item["apiVersion"] = version.clone().into();
            if kind == "Pod"
                && let Some(owner) = owner(&item)
            {
                all.insert(path(&owner), owner);
            }
            all.insert(path(&item), item);
        }
    }
    Arc::new(Mutex::new(all))
}

fn owner(pod: &Value) -> Option<Value> {
    let own = pod["metadata"]["ownerReferences"].get(0)?;
    let (kind, name) = (own["kind"].as_str()?, own["name"].as_str()?);
    ["StatefulSet", "DaemonSet"].contains(&kind).then(|| {
        json!({
            "apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": name, "namespace": pod["metadata"]["namespace"], "generation": 1},
            "spec": {"template": {"metadata": {}, "spec": pod["spec"]}},
        })
    })
}

fn path(item: &Value) -> String {
    let version = item["apiVersion"].as_str().unwrap();
    let root = if version.contains('/') {
        format!("/apis/{version}")
    } else {
        format!("/api/{version}")
    };
    let plural = format!("{}s", item["kind"].as_str().unwrap().to_lowercase());
    let name = item["metadata"]["name"].as_str().unwrap();
    match item["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}/{name}"),
        None => format!("{root}/{plural}/{name}"),
    }
}

fn serve(store: Store) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Ends with the test's process.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let store = Arc::clone(&store);
            std::thread::spawn(move || answer(stream, &store));
        }
    });
    address
}

fn answer(stream: TcpStream, store: &Store) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    // A deletion names its dry run in the body.
    let dry = query.contains("dryRun=All") || body.windows(6).any(|part| part == b"dryRun");
    let (status, answer) = decide(store, &method, path, dry, &body);
    let text = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    reader.get_mut().write_all((head + &text).as_bytes()).ok()
}

fn decide(
    store: &Store,
    method: &str,
    path: &str,
    dry: bool,
    body: &[u8],
) -> (&'static str, Value) {
    if let Some(found) = discovery(path) {
        return ("200 OK", found);
    }
    let mut store = store.lock().unwrap();
    let Some(item) = store.get(path).cloned() else {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": format!("{path} not found")});
        return ("404 Not Found", status);
    };
    let mut changed = item.clone();
    match method {
        "PATCH" => merge(&mut changed, &serde_json::from_slice(body).unwrap()),
        "DELETE" => {
            if !dry {
                store.remove(path);
            }
            return (
                "200 OK",
                json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}),
            );
        }
        _ => {}
    }
    if !dry {
        store.insert(path.to_owned(), changed.clone());
    }
    ("200 OK", changed)
}

/// As the API server does with a strategic merge patch, for the lists that the rows patch.
fn merge(into: &mut Value, delta: &Value) {
    match (into, delta) {
        (Value::Object(into), Value::Object(delta)) => {
            for (key, value) in delta {
                if value.is_null() {
                    into.remove(key);
                } else if !key.starts_with('$') {
                    merge(into.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (Value::Array(into), Value::Array(delta))
            if delta.iter().all(|one| one.get("name").is_some()) =>
        {
            for one in delta {
                match into.iter_mut().find(|old| old["name"] == one["name"]) {
                    Some(old) => merge(old, one),
                    None => into.push(one.clone()),
                }
            }
        }
        (into, delta) => *into = delta.clone(),
    }
}

/// What kubectl asks before it knows what there is.
fn discovery(path: &str) -> Option<Value> {
    let resources = |version: &str, all: &[(&str, &str, bool)]| {
        let all: Vec<Value> = all.iter().map(|(name, kind, namespaced)| json!({
            "name": name, "singularName": name.trim_end_matches('s'), "kind": kind, "namespaced": namespaced,
            "verbs": ["get", "list", "patch", "delete", "create", "update"],
        })).collect();
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": all})
    };
    Some(match path {
        "/api" => json!({"kind": "APIVersions", "versions": ["v1"]}),
        "/apis" => {
            let group = |name: &str| {
                let version = json!({"groupVersion": format!("{name}/v1"), "version": "v1"});
                json!({"name": name, "versions": [version], "preferredVersion": version})
            };
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [group("apps"), group("storage.k8s.io")]})
        }
        "/api/v1" => resources(
            "v1",
            &[
                ("nodes", "Node", false),
                ("pods", "Pod", true),
                ("configmaps", "ConfigMap", true),
                ("resourcequotas", "ResourceQuota", true),
            ],
        ),
        "/apis/apps/v1" => resources(
            "apps/v1",
            &[
                ("statefulsets", "StatefulSet", true),
                ("daemonsets", "DaemonSet", true),
            ],
        ),
        "/apis/storage.k8s.io/v1" => resources(
            "storage.k8s.io/v1",
            &[("volumeattachments", "VolumeAttachment", false)],
        ),
        _ => return None,
    })
}
