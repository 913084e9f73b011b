use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn objects(text: &str) -> Vec<(u32, Value)> {
    let found = pieces(text).into_iter();
    found
        .filter_map(|piece| match piece.what {
            What::Object(value) => Some((piece.line, value)),
            _ => None,
        })
        .collect()
}

fn entries(text: &str) -> Vec<(u32, String)> {
    let found = pieces(text).into_iter();
    found
        .filter_map(|piece| match piece.what {
            What::Entry(path) => Some((piece.line, path)),
            What::ContainerdConfig { whole } => Some((piece.line, format!("containerd {whole}"))),
            What::Cluster(path) => Some((piece.line, path)),
            What::OperatorValues => Some((piece.line, "values".into())),
            What::Part(path) => Some((piece.line, path.into())),
            _ => None,
        })
        .collect()
}

const DESCRIBE: &str = "\
Name:             gpu-job
Namespace:        research
Priority:         0
Runtime Class Name:  nvidia
Node:             gpu-1/10.0.0.5
Labels:           app=job
                  team=a
Status:           Pending
IP:
Controlled By:  Job/gpu
Containers:
  cuda:
    Container ID:
    Image:         registry.local/cuda:12
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       Error
      Message:      first line
                    second line
      Exit Code:    127
    Ready:          False
    Restart Count:  4
    Limits:
      nvidia.com/gpu:  2
    Environment:
      NVIDIA_VISIBLE_DEVICES:  all
Conditions:
  Type              Status
  Ready             False
  PodScheduled      True
Events:
  Type     Reason                  Age                From     Message
  ----     ------                  ----               ----     -------
  Warning  FailedCreatePodSandBox  3s (x4 over 1m)    kubelet  Failed to create pod sandbox: no runtime for \"nvidia\" is configured
";

#[test]
fn a_described_pod_is_a_pod_with_its_states_and_events() {
    let found = objects(&format!("Please help:\n\n{DESCRIBE}\nThanks\n"));
    let (line, pod) = &found[0];
    assert_eq!(
        (*line, &pod["metadata"]["namespace"]),
        (3, &Value::from("research"))
    );
    assert_eq!(pod["spec"]["runtimeClassName"], "nvidia");
    assert_eq!(pod["spec"]["nodeName"], "gpu-1");
    assert_eq!(
        pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"],
        "2"
    );
    assert_eq!(pod["metadata"]["labels"]["team"], "a");
    let status = &pod["status"]["containerStatuses"][0];
    assert_eq!(status["state"]["waiting"]["reason"], "CrashLoopBackOff");
    assert_eq!(
        status["lastState"]["terminated"]["message"],
        "first line second line"
    );
    assert_eq!(status["restartCount"], 4);
    let (line, event) = &found[1];
    assert_eq!((*line, &event["count"]), (37, &Value::from(4)));
    assert_eq!(event["involvedObject"]["name"], "gpu-job");
}

#[test]
fn tables_of_kubectl_get_are_objects_with_the_namespace_of_the_command() {
    let text = "\
$ kubectl get pods -n gpu-operator -o wide
NAME                READY   STATUS             RESTARTS      AGE   IP          NODE    NOMINATED NODE
toolkit-abc         0/1     Init:Error         7 (67s ago)   6m    10.1.0.4    gpu-1   <none>
driver-xyz          1/1     Running            0             6m    10.1.0.5    gpu-1   <none>
$ kubectl get nodes
NAME    STATUS                     ROLES    AGE   VERSION
gpu-1   Ready,SchedulingDisabled   <none>   9d    v1.30.1
gpu-2   NotReady                   <none>   9d    v1.30.1
$ kubectl get events
LAST SEEN   TYPE      REASON    OBJECT       MESSAGE
3m          Warning   BackOff   pod/worker   Back-off restarting  failed container
";
    let found = objects(text);
    assert_eq!(found.len(), 5);
    assert_eq!(found[0].0, 3);
    assert_eq!(found[0].1["metadata"]["namespace"], "gpu-operator");
    assert_eq!(
        found[0].1["status"]["initContainerStatuses"][0]["state"]["waiting"]["reason"],
        "Error"
    );
    assert_eq!(found[1].1["status"]["conditions"][0]["status"], "True");
    assert_eq!(found[2].1["spec"]["unschedulable"], true);
    assert_eq!(found[3].1["status"]["conditions"][0]["status"], "False");
    assert_eq!(found[4].1["involvedObject"]["kind"], "pod");
}

/// Kind, namespace and name, and phase, readiness or reason.
fn named(text: &str) -> Vec<String> {
    let said = |value: &Value, path: &str| {
        value
            .pointer(path)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let all = objects(text).into_iter().map(|(_, value)| {
        let kind = said(&value, "/kind").unwrap_or_default();
        let about = match kind.as_str() {
            "Event" => [
                "/involvedObject/namespace",
                "/involvedObject/name",
                "/reason",
            ],
            "Node" => ["/kind", "/metadata/name", "/status/conditions/0/status"],
            _ => ["/metadata/namespace", "/metadata/name", "/status/phase"],
        };
        let words: Vec<String> = about
            .iter()
            .map(|path| said(&value, path).unwrap_or_default())
            .collect();
        format!("{kind} {}", words.join(" "))
    });
    all.collect()
}

#[test]
fn tables_of_every_age_and_of_chosen_columns_are_read() {
    let all = "$ kubectl get all -n shop\nNAME          READY   STATUS    RESTARTS       AGE\npod/web-1     1/1     Running   2 (3d ago)     8d\n\nNAME                 TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE\nservice/web          ClusterIP   10.0.0.1     <none>        80/TCP    8d\n\nNAME                  DESIRED   CURRENT   READY   AGE\nreplicaset.apps/web   1         1         1       8d\n";
    assert_eq!(named(all), ["Pod shop web-1 Running"]);
    let nodes = "NAME      STATUS                     AGE       VERSION\nmaster    Ready,SchedulingDisabled   5d        v1.6.2\nworker    NotReady                   5d        v1.6.2\n";
    assert_eq!(
        named(nodes),
        ["Node Node master True", "Node Node worker False"]
    );
    let namespaces = "NAME      STATUS    AGE\ndefault   Active    5d\n";
    assert_eq!(named(namespaces), Vec::<String>::new());
    let old = "NAMESPACE   LAST SEEN   FIRST SEEN   COUNT     NAME                KIND      SUBOBJECT   TYPE      REASON             SOURCE              MESSAGE\nshop        1m          2h           14        web-1.15b3f0a1      Pod                   Warning   FailedScheduling   default-scheduler   0/2 nodes are available\n";
    assert_eq!(named(old), ["Event shop web-1 FailedScheduling"]);
    let chosen = "$ kubectl get pods -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,STATUS:.status.phase,NODE:.spec.nodeName\nNAMESPACE     NAME      STATUS    NODE\nshop          web-1     Pending   <none>\n";
    assert_eq!(named(chosen), ["Pod shop web-1 Pending"]);
    let headless = "shop   web-1   0/1   CrashLoopBackOff   14 (2m ago)   8d\nshop   web-2   1/1   Running   0   8d   10.0.0.4   worker   <none>   <none>\n";
    assert_eq!(
        named(headless),
        ["Pod shop web-1 Running", "Pod shop web-2 Running"]
    );
    let squeezed = "NAME READY STATUS RESTARTS AGE\nweb-1 0/1 ImagePullBackOff 3 (67s ago) 8d\n";
    assert_eq!(named(squeezed), ["Pod  web-1 Pending"]);
}

#[test]
fn configurations_are_told_apart_by_content_and_by_name() {
    let config = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n  runtime_type = \"io.containerd.runc.v2\"\n";
    assert_eq!(
        entries(&format!("here it is\n\n{config}\nbye\n")),
        [(3, "containerd true".to_owned())]
    );
    let cut = config.replace("version = 2", "...");
    assert_eq!(
        entries(&format!("x\n{cut}")),
        [(3, "containerd false".to_owned())]
    );
    let named =
        format!("root@gpu-1:~# cat /etc/containerd/config.toml\n{config}root@gpu-1:~# date\n");
    assert_eq!(
        entries(&named),
        [(2, "rootfs/etc/containerd/config.toml".to_owned())]
    );
    // The configuration of the NVIDIA runtime is TOML too and is none of containerd's.
    assert!(
        entries(
            "disable-require = false\n[nvidia-container-cli]\nldcache = \"/etc/ld.so.cache\"\n"
        )
        .is_empty()
    );
}

#[test]
fn output_of_the_nodes_programs_goes_to_the_entries_of_a_bundle() {
    let text = "\
net.ipv4.ip_forward = 0
Status: active
Logging: on (low)
Default: deny (incoming), allow (outgoing), deny (routed)

# Generated by iptables-save v1.8.7
*filter
:FORWARD DROP [0:0]
-A FORWARD -j ACCEPT
COMMIT
+----+
| NVIDIA-SMI 535.1    Driver Version: 535.1    CUDA Version: 12.2 |
+----+
default via 10.0.0.1 dev eth0
";
    let paths: Vec<String> = entries(text).into_iter().map(|(_, path)| path).collect();
    assert_eq!(
        paths,
        [
            "commands/sysctl.out",
            "commands/ufw-status-verbose.out",
            "commands/iptables-save.out",
            "commands/nvidia-smi.out",
            "commands/ip-route.out"
        ]
    );
}

#[test]
fn a_firewall_table_that_is_cut_is_not_evaluated() {
    assert!(entries("*filter\n:FORWARD DROP [0:0]\n-A FORWARD -j ACCEPT\n").is_empty());
    assert!(entries("*filter\n:FORWARD DROP [0:0]\n...\nCOMMIT\n").is_empty());
}

#[test]
fn yaml_of_any_indentation_is_read_and_a_list_item_by_item() {
    let text = "  apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: Pod\n    metadata:\n      name: a\n  - apiVersion: v1\n    kind: Pod\n    metadata:\n      name: b\n";
    let found = objects(text);
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[1].0, &found[1].1["metadata"]["name"]),
        (8, &Value::from("b"))
    );
    let values =
        "driver:\n  enabled: false\ntoolkit:\n  env:\n  - name: CONTAINERD_CONFIG\n    value: /x\n";
    assert_eq!(entries(values), [(1, "values".to_owned())]);
}

#[test]
fn a_process_line_gives_the_command_line() {
    let line = "root  990  1.0  2.0 1234 567 ?  Ssl  10:00  0:01 /usr/bin/kubelet --container-runtime-endpoint=unix:///run/containerd/containerd.sock";
    assert_eq!(entries(line), [(1, "processes.json".to_owned())]);
    let record: Value = serde_json::from_str(&process_record(line).unwrap()).unwrap();
    assert_eq!(
        (&record["pid"], &record["comm"]),
        (&Value::from(990), &Value::from("kubelet"))
    );
    assert_eq!(
        record["cmdline"][1],
        "--container-runtime-endpoint=unix:///run/containerd/containerd.sock"
    );
}

#[test]
fn a_text_that_begins_everything_and_ends_nothing_is_given_up() {
    for line in [
        "{\"a\": [",
        "{",
        "Name: x",
        "toolkit:",
        "apiVersion: b",
        "a = [",
        "# Generated by iptables-save",
        "message: a",
    ] {
        let text = format!("{line}\n").repeat(20_000);
        // It ends, which is what is shown: reading each line's rest again would take hours.
        assert!(pieces(&text).len() <= MOST_PIECES, "{line}");
    }
}

/// Fragments whose mixture reaches every recogniser.
fn fragment() -> impl Strategy<Value = String> {
    let known = [
        "Name: x",
        "  Namespace: y",
        "Containers:",
        "  c:",
        "    State: Waiting",
        "Events:",
        "apiVersion: v1",
        "kind: Pod",
        "- apiVersion: v1",
        "items:",
        "{",
        "}",
        "[",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}",
        "version = 2",
        "[plugins.\"cri\"]",
        "imports = [",
        "]",
        "...",
        "*filter",
        "COMMIT",
        ":A B",
        "Status: active",
        "| NVIDIA-SMI 1 |",
        "=====NVSMI LOG=====",
        "<nvidia_smi_log>",
        "</nvidia_smi_log>",
        "net.a.b = 1",
        "NAME   READY   STATUS   RESTARTS   AGE",
        "a   0/1   Error   1   2d",
        "```",
        "$ cat /etc/containerd/config.toml",
        "root@h:~# ps aux",
        "root 1 /usr/bin/containerd",
        "toolkit:",
        "  env: []",
        "message: a",
        "    b",
        "",
        "NAME   HANDLER   AGE",
        "1: lo: <UP>",
        "==> /etc/a.toml <==",
    ];
    prop_oneof![
        6 => prop::sample::select(known.to_vec()).prop_map(str::to_owned),
        1 => "[ -~]{0,40}",
        1 => "\\PC{0,20}",
    ]
}

#[test]
fn lspci_ends_where_neither_a_device_nor_its_lines_follow() {
    let text = "3b:00.0 3D controller [0302]: NVIDIA Corporation TU104GL [10de:1eb8] (rev a1)\n\
        \tKernel driver in use: vfio-pci\n\
        0000:af:00.0 VGA compatible controller: NVIDIA Corporation GA102\n\
        nvidia-container-cli: initialization error: nvml error: driver not loaded\n";
    let found = pieces(text);
    let first = found.first().unwrap();
    assert!(matches!(&first.what, What::Entry(path) if path == "commands/lspci.out"));
    assert_eq!(first.text.lines().count(), 3);
}

#[test]
fn the_middle_of_a_nodes_description_is_a_node_without_a_name() {
    let text =
        "Capacity:\n cpu: 8\n nvidia.com/gpu: 8\nAllocatable:\n cpu: 8\n nvidia.com/gpu: 4\n";
    let found = objects(text);
    let (line, node) = found.first().unwrap();
    assert_eq!(*line, 1);
    assert_eq!(node["metadata"]["name"], "");
    assert_eq!(node["status"]["allocatable"]["nvidia.com/gpu"], "4");
    assert!(objects("Capacity:\n cpu: 8\nConditions:\n Ready True\n").is_empty());
}

#[test]
fn one_container_of_a_pods_description_is_a_pod_without_a_name() {
    let text = "seen:\n```\nexporter:\n    Container ID:  docker://3f\n    Image:  e:1\n    Last State:  Terminated\n      Reason:  OOMKilled\n      Exit Code:  137\n    Limits:\n      memory:  64Mi\n```\n";
    let found = objects(text);
    let (line, pod) = found.first().unwrap();
    assert_eq!(*line, 3);
    assert_eq!(pod["metadata"]["name"], "");
    let status = &pod["status"]["containerStatuses"][0];
    assert_eq!(status["name"], "exporter");
    assert_eq!(status["lastState"]["terminated"]["reason"], "OOMKilled");
    assert_eq!(
        pod["spec"]["containers"][0]["resources"]["limits"]["memory"],
        "64Mi"
    );
}

#[test]
fn what_stands_behind_a_long_table_is_read_and_its_rows_are_kept_once() {
    let rows: String = (0..2000)
        .map(|row| format!("web-{row}   1/1   Running   0   5d\n"))
        .collect();
    let device = "3b:00.0 3D controller [0302]: NVIDIA Corporation TU104GL [10de:1eb8] (rev a1)";
    let text = format!("NAME   READY   STATUS   RESTARTS   AGE\n{rows}\n{device}\n");
    let found = pieces(&text);
    assert_eq!(found.len(), 2001);
    let last = &found[2000].what;
    assert!(matches!(last, What::Entry(path) if path == "commands/lspci.out"));
    let kept: usize = found.iter().map(|piece| piece.text.len()).sum();
    assert!(kept <= text.len(), "{kept}");
}

#[test]
fn a_json_file_ends_with_its_value() {
    let text =
        "# cat /etc/docker/daemon.json\n{\n\"debug\": true\n}\nStatus: Downloaded newer image\n";
    let found = pieces(text);
    let file = found.first().unwrap();
    assert!(matches!(&file.what, What::Entry(path) if path == "rootfs/etc/docker/daemon.json"));
    assert_eq!(file.text.lines().count(), 3);
}

proptest! {
    #[test]
    fn any_mixture_is_read_without_a_panic_and_within_its_lines(lines in prop::collection::vec(fragment(), 0..60)) {
        let text = lines.join("\n");
        let count = u32::try_from(text.lines().count()).unwrap();
        let mut before = 0;
        for piece in pieces(&text) {
            prop_assert!(piece.line >= 1 && piece.line <= count.max(1));
            prop_assert!(piece.line >= before, "pieces come in the order of the text");
            before = piece.line;
            prop_assert!(piece.text.len() <= text.len() + 1);
        }
    }
}

#[test]
fn what_helm_prints_is_taken_with_the_release_that_the_command_names() {
    let values = "$ helm get values -n gpu-operator gpu --all\nCOMPUTED VALUES:\ntoolkit:\n  version: v1\n\nthanks";
    let told = |text: &str| -> Vec<(u32, String)> {
        let pieces = pieces(text).into_iter();
        pieces
            .filter_map(|piece| match piece.what {
                What::Cluster(path) => Some((piece.line, path)),
                _ => None,
            })
            .collect()
    };
    let at = |line: u32, path: &str| (line, path.to_owned());
    assert_eq!(
        told(values),
        [at(3, "helm/gpu-operator/gpu/values-all.yaml")]
    );
    let plain = "$ helm get values gpu -o yaml\na: 1\n";
    assert_eq!(told(plain), [at(2, "helm/default/gpu/values-user.yaml")]);
    let bare = "USER-SUPPLIED VALUES:\na: 1\n";
    assert_eq!(told(bare), [at(2, "helm/pasted/pasted/values-user.yaml")]);
    assert!(told("USER-SUPPLIED VALUES:\nnull\n").is_empty());
    let climbing = "$ helm get values ../../x -n a\nUSER-SUPPLIED VALUES:\na: 1\n";
    assert_eq!(told(climbing), [at(3, "helm/a/pasted/values-user.yaml")]);
    let list = "NAME\tNAMESPACE\tREVISION\tUPDATED\tSTATUS\tCHART\tAPP VERSION\ngpu \tgpu-operator\t3 \t2026-11-20 11:04:02.37 +0000 UTC\tpending-upgrade\tgpu-operator-v25.3.0\tv25.3.0\n";
    assert_eq!(told(list), [at(2, "helm/gpu-operator/gpu/release.json")]);
}

#[test]
fn tables_of_helm_become_the_entries_of_a_bundle_line_by_line() {
    let row = "gpu  gpu-operator  3  2026-11-20 11:04:02.37 +0000 UTC  failed  k8s-device-plugin-0.17.4  0.17.4";
    let release: Value =
        serde_json::from_str(&super::helm_entry("helm/a/b/release.json", row.to_owned())).unwrap();
    assert_eq!(
        (
            &release["chart"],
            &release["chart_version"],
            &release["revision"]
        ),
        (&"k8s-device-plugin".into(), &"0.17.4".into(), &3.into())
    );
    let table = "REVISION\tUPDATED                 \tSTATUS    \tCHART      \tAPP VERSION\tDESCRIPTION\n1       \tFri Nov 20 11:03:51 2026\tdeployed\tgpu-operator-v25.3.0\tv25.3.0    \tInstall complete\n2       \tFri Nov 20 12:03:51 2026\tfailed    \tgpu-operator-v25.3.0\tv25.3.0    \tUpgrade \"gpu\" failed: timed out";
    let history = super::helm_entry("helm/a/b/history.json", table.to_owned());
    let read: Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history.lines().count(), 3);
    assert_eq!(read[1]["status"], "failed");
    assert_eq!(read[1]["description"], "Upgrade \"gpu\" failed: timed out");
}
