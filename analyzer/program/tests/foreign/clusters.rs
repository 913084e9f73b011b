//! Captures of clusters that tools of the platforms make, filled with the sample's objects and logs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::support::{
    EVENTS, Files, NODE, PODS, VERSION, counted, diagnose_files, node, objects, of_cluster,
    outcome, real, text, yaml_list, yaml_object,
};

const NAMESPACES: [&str; 3] = ["kube-system", "gpu-operator", "default"];
const TOOLKIT: &str = "nvidia-container-toolkit-daemonset-bhqw6";

fn of_namespace(plural: &str, namespace: &str) -> Vec<Value> {
    let mut items = objects(plural);
    items.retain(|item| item["metadata"]["namespace"] == namespace);
    items
}

/// A list as the API server answers it.
fn json_list(kind: &str, items: Vec<Value>) -> String {
    json!({ "kind": kind, "apiVersion": "v1", "metadata": {}, "items": items }).to_string()
}

/// The log of the sample's failing pod.
fn toolkit_log() -> String {
    let folder = "cluster-resources/pods/logs/gpu-operator";
    real(&format!(
        "{folder}/{TOOLKIT}/nvidia-container-toolkit-ctr.log"
    ))
}

/// Objects as a bundle of troubleshoot holds them: JSON and YAML side by side.
#[test]
fn troubleshoot_bundle_with_host_collectors() {
    let mut files: Files = vec![
        text(
            "version.yaml",
            "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\n",
        ),
        text(
            "cluster-resources/nodes.json",
            json_list("NodeList", objects("nodes")),
        ),
        text("cluster-resources/nodes.yaml", yaml_list(&objects("nodes"))),
        text(
            "cluster-resources/pods/default-errors.json",
            "[\"forbidden\"]\n",
        ),
        text(
            "host-collectors/run-host/uptime.txt",
            " 10:15:00 up 3 days,  1 user\n",
        ),
        text(
            "host-collectors/system/hostos_info.json",
            json!({ "hostname": NODE, "kernelVersion": "6.8.0-79-generic" }).to_string(),
        ),
        text(
            &format!("host-collectors/run-host/{NODE}/iptables-save.txt"),
            node("commands/iptables-save.out"),
        ),
        text(
            &format!(
                "cluster-resources/pods/logs/gpu-operator/{TOOLKIT}/nvidia-container-toolkit-ctr.log"
            ),
            toolkit_log(),
        ),
    ];
    for namespace in NAMESPACES {
        for (plural, kind) in [("pods", "PodList"), ("events", "EventList")] {
            let items = of_namespace(plural, namespace);
            let path = format!("cluster-resources/{plural}/{namespace}");
            files.push(text(&format!("{path}.yaml"), yaml_list(&items)));
            files.push(text(&format!("{path}.json"), json_list(kind, items)));
        }
    }
    of_cluster(&files, "troubleshoot", EVENTS);
    assert_eq!(outcome(&diagnose_files(&files), "firewall"), "unknown");
}

#[test]
fn must_gather_with_the_pods_of_each_namespace_twice() {
    let image = "quay-io-openshift-origin-must-gather-sha256-0a1b";
    let mut files: Files = vec![text(
        &format!("{image}/version"),
        "openshift/must-gather\n4.18.3\n",
    )];
    for object in objects("nodes") {
        let name = object["metadata"]["name"].as_str().unwrap();
        let path = format!("{image}/cluster-scoped-resources/core/nodes/{name}.yaml");
        files.push(text(&path, yaml_object(&object)));
    }
    for namespace in NAMESPACES {
        let folder = format!("{image}/namespaces/{namespace}");
        for plural in ["pods", "events"] {
            let items = of_namespace(plural, namespace);
            files.push(text(
                &format!("{folder}/core/{plural}.yaml"),
                yaml_list(&items),
            ));
            for pod in items.iter().filter(|_| plural == "pods") {
                let name = pod["metadata"]["name"].as_str().unwrap();
                let path = format!("{folder}/pods/{name}/{name}.yaml");
                files.push(text(&path, yaml_object(pod)));
            }
        }
    }
    let logs = "nvidia-container-toolkit-ctr/nvidia-container-toolkit-ctr/logs";
    let folder = format!("{image}/namespaces/gpu-operator/pods/{TOOLKIT}");
    files.push(text(&format!("{folder}/{logs}/current.log"), toolkit_log()));
    of_cluster(&files, "must-gather", EVENTS);
    let analysis = diagnose_files(&files);
    let causes = analysis["differential"].as_array().unwrap();
    assert_eq!(causes[0]["cause"], "toolkit-containerd-socket-wrong");
}

/// What `hack/must-gather.sh` writes of the sample's operator, moved to another namespace: one object by itself, the lists, and logs
/// whose lines say their container.
fn gpu_operator_must_gather(namespace: &str) -> Files {
    let mut pods = of_namespace("pods", "gpu-operator");
    for pod in &mut pods {
        pod["metadata"]["namespace"] = namespace.into();
    }
    let of_operator = |pod: &&Value| {
        let name = pod["metadata"]["name"].as_str().unwrap();
        name.starts_with("gpu-operator-687")
    };
    let operator = pods.iter().find(of_operator).unwrap();
    let mark = format!("[pod/{TOOLKIT}/nvidia-container-toolkit-ctr] ");
    let log: String = toolkit_log()
        .lines()
        .map(|line| format!("{mark}{line}\n"))
        .collect();
    vec![
        text(
            "gpu_nodes.status",
            format!("Name:               {NODE}\nRoles:              control-plane\n"),
        ),
        text("gpu_operand_pods.yaml", yaml_list(&pods)),
        text("gpu_operator_pod.yaml", yaml_object(operator)),
        text("gpu_operator_pod.log", "2026-11-20T09:00:00.1Z started\n"),
        text("gpu_operator_pod.previous.log", ""),
        text(&format!("gpu_operand_pod_{TOOLKIT}.log"), log),
        text("cluster_policy.yaml", yaml_list(&[])),
    ]
}

#[test]
fn the_gpu_operators_must_gather() {
    for namespace in ["gpu-operator", "nvidia-gpu-operator"] {
        let analysis = diagnose_files(&gpu_operator_must_gather(namespace));
        assert_eq!(analysis["seen"]["format"], "gpu-operator-must-gather");
        // Neither the operator's own object nor a log makes a pod more.
        let pods = of_namespace("pods", "gpu-operator").len();
        assert_eq!(analysis["seen"]["pods"], pods, "{namespace}");
        let unhealthy = analysis["seen"]["unhealthy_pods"].as_array().unwrap();
        let failing = format!("{namespace}/{TOOLKIT}");
        assert!(
            unhealthy
                .iter()
                .any(|pod| pod.as_str().unwrap().starts_with(&failing)),
            "{unhealthy:?}"
        );
        // The log is cited by the name that the capture has it by.
        let cited = format!("\"path\":\"gpu_operand_pod_{TOOLKIT}.log\"");
        assert!(analysis.to_string().contains(&cited));
    }
}

#[test]
fn cluster_info_dump_as_one_text() {
    let pretty = |kind: &str, items: Vec<Value>| {
        let list = json!({ "kind": kind, "apiVersion": "v1", "items": items });
        // As kubectl writes it: the kind first, four blanks a level.
        let mut text = serde_json::to_string_pretty(&list["items"]).unwrap();
        text = text.replace("\n  ", "\n      ");
        format!(
            "{{\n    \"kind\": \"{kind}\",\n    \"apiVersion\": \"v1\",\n    \"items\": {text}\n}}\n"
        )
    };
    let mut dump = pretty("NodeList", objects("nodes"));
    for namespace in NAMESPACES {
        dump += &pretty("EventList", of_namespace("events", namespace));
        dump += &pretty("PodList", of_namespace("pods", namespace));
    }
    let mark = format!(
        "logs for container nvidia-container-toolkit-ctr of pod gpu-operator/{TOOLKIT} ===="
    );
    let _ = write!(
        dump,
        "==== START {mark}\n{}==== END {mark}\n",
        toolkit_log()
    );
    of_cluster(&[text("dump.txt", dump)], "cluster-info-dump", EVENTS);
}

#[test]
fn kind_and_sonobuoy() {
    let line = format!(
        "Nov 20 10:15:00 {NODE} kubelet[1]: I1120 10:15:00.000001       1 server.go:1] \"Kubelet version\" kubeletVersion=\"{VERSION}\"\n"
    );
    let log = "2026-11-20T10:15:00.000000001Z stderr F started\n";
    let kind = [
        text("kind-version.txt", "kind v0.29.0 go1.24.2 linux/amd64\n"),
        text("docker-info.txt", "Server Version: 28.1.1\n"),
        text(
            &format!("{NODE}/kubernetes-version.txt"),
            format!("{VERSION}\n"),
        ),
        text(&format!("{NODE}/kubelet.log"), line.repeat(6)),
        text(
            &format!(
                "{NODE}/pods/kube-system_coredns-x2x4z_0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f/coredns/0.log"
            ),
            log,
        ),
        text(
            &format!(
                "{NODE}/pods/kube-system_coredns-x2x4z_0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f/coredns/1.log"
            ),
            log,
        ),
        text(
            &format!(
                "{NODE}/containers/coredns-x2x4z_kube-system_coredns-0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d.log"
            ),
            log,
        ),
    ];
    let seen = diagnose_files(&kind)["seen"].clone();
    assert_eq!(
        (
            &seen["format"],
            &seen["nodes"],
            &seen["pods"],
            &seen["kubernetes_version"]
        ),
        (&json!("kind-logs"), &json!(1), &json!(1), &json!(VERSION))
    );

    let mut sonobuoy: Files = vec![
        text(
            "serverversion.json",
            json!({ "gitVersion": VERSION }).to_string(),
        ),
        text(
            "resources/cluster/core_v1_nodes.json",
            json_list("NodeList", objects("nodes")),
        ),
        text("podlogs/kube-system/coredns-x2x4z/logs/coredns.txt", log),
    ];
    for namespace in NAMESPACES {
        for (plural, kind) in [("pods", "PodList"), ("events", "EventList")] {
            let path = format!("resources/ns/{namespace}/core_v1_{plural}.json");
            sonobuoy.push(text(
                &path,
                json_list(kind, of_namespace(plural, namespace)),
            ));
        }
    }
    let analysis = diagnose_files(&sonobuoy);
    let seen = &analysis["seen"];
    // The pod whose log alone is there counts.
    assert_eq!(
        (
            &seen["format"],
            &seen["nodes"],
            &seen["pods"],
            &seen["events"]
        ),
        (
            &json!("sonobuoy"),
            &json!(1),
            &json!(PODS + 1),
            &json!(EVENTS)
        )
    );
}

#[test]
fn minikube_logs() {
    let describe = format!(
        "Name:               {NODE}\nRoles:              control-plane\nSystem Info:\n  Kernel Version:             6.8.0-79-generic\n  Kubelet Version:            {VERSION}\n"
    );
    let logs = format!(
        "\n==> Audit <==\n|---------|------|\n| Command | Args |\n|---------|------|\n\n==> container status <==\nCONTAINER           IMAGE          CREATED         STATE     NAME      ATTEMPT   POD ID          POD\n0a1b2c3d4e5f6       coredns        3 minutes ago   Running   coredns   0         aaaaaaaaaaaaa   coredns-674b8bbfcf-x2x4z\n\n==> coredns [0a1b2c3d4e5f] <==\n[INFO] plugin/ready: Still waiting on: \"kubernetes\"\n\n==> describe nodes <==\n{describe}\n==> kernel <==\n 10:15:00 up 3 min,  0 users\nLinux {NODE} 6.8.0-79-generic #79 SMP x86_64 GNU/Linux\n\n==> dmesg <==\n{}",
        node("commands/dmesg.out")
    );
    let seen = diagnose_files(&[text("logs.txt", logs)])["seen"].clone();
    assert_eq!(
        (&seen["format"], &seen["nodes"]),
        (&json!("minikube-logs"), &json!(1))
    );
    assert_eq!(
        (&seen["kernel"], &seen["kubernetes_version"]),
        (&json!("6.8.0-79-generic"), &json!(VERSION))
    );
}

#[test]
fn a_pod_that_only_the_runtime_lists_is_unhealthy_in_minikubes_logs() {
    let row = |name: &str, state: &str, attempt: u32, pod: &str| {
        format!(
            "0a1b2c3d4e5f6       image          44 seconds ago       {state}              {name}                  {attempt}                  9c576eb7c19cd       {pod}\n"
        )
    };
    let rows =
        row("train", "Exited", 11, "train-cf678-x2x4z") + &row("dns", "Running", 1, "dns-5b8bb-q");
    let describe = format!(
        "Name:               {NODE}\nRoles:              control-plane\nSystem Info:\n  Kubelet Version:            {VERSION}\nNon-terminated Pods:          (2 in total)\n  Namespace   Name                CPU Requests\n  ---------   ----                ------------\n  jobs        train-cf678-x2x4z   0 (0%)\n  shop        dns-5b8bb-q         0 (0%)\n"
    );
    let logs = format!(
        "\n==> Audit <==\n|---------|------|\n| Command | Args |\n|---------|------|\n\n==> container status <==\nCONTAINER           IMAGE          CREATED         STATE     NAME      ATTEMPT   POD ID          POD\n{rows}\n==> describe nodes <==\n{describe}\n"
    );
    let analysis = diagnose_files(&[text("logs.txt", logs)]);
    assert_eq!(
        analysis["seen"]["unhealthy_pods"],
        json!(["jobs/train-cf678-x2x4z Exited"])
    );
    assert_eq!(
        analysis["unexplained"][0]["subject"],
        "pod/jobs/train-cf678-x2x4z"
    );
}

/// A list as `kubectl get -o json` prints it.
fn printed(items: &[Value]) -> String {
    let list = json!({ "apiVersion": "v1", "items": items, "kind": "List", "metadata": {} });
    let text = serde_json::to_string_pretty(&list).unwrap();
    // It indents by four blanks.
    let lines = text.lines().map(|line| {
        let blanks = line.len() - line.trim_start().len();
        format!("{}{line}\n", " ".repeat(blanks))
    });
    lines.collect()
}

/// What a person packs by hand: long lists of all kinds, of which objects lie across the pieces that are read, and folders of logs.
#[test]
fn folders_of_logs_and_long_lists_of_nobodys() {
    let kinds = [("pods", "Pod"), ("nodes", "Node"), ("events", "Event")];
    let mut all = Vec::new();
    for (plural, kind) in kinds {
        all.extend(objects(plural).into_iter().map(|mut object| {
            object["apiVersion"] = json!("v1");
            object["kind"] = json!(kind);
            object["metadata"]["annotations"] = json!({ "notes": "-".repeat(400_000) });
            object
        }));
    }
    let log = toolkit_log();
    let (id, uid) = ("0a".repeat(32), "0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f");
    let cri = log
        .lines()
        .map(|line| line.replacen(' ', " stderr F ", 1) + "\n");
    let docker = log.lines().filter_map(|line| {
        let (time, said) = line.split_once(' ')?;
        let log = json!(format!("{said}\n"));
        Some(format!(
            "{{\"log\":{log},\"stream\":\"stderr\",\"time\":\"{time}\"}}\n"
        ))
    });
    let refused = json!("failed to get sandbox runtime: no runtime for \"nvidia\" is configured\n");
    let time = "2026-11-20T10:00:00.5Z";
    let refused = format!("{{\"log\":{refused},\"stream\":\"stderr\",\"time\":\"{time}\"}}\n");
    let of_pod =
        format!("n/log/pods/gpu-operator_{TOOLKIT}_{uid}/nvidia-container-toolkit-ctr/0.log");
    let of_docker = format!("n/docker/{id}/{id}-json.log");
    let logs = [
        text(&of_pod, cri.collect::<String>()),
        text(&of_docker, docker.chain([refused]).collect::<String>()),
    ];
    for list in [printed(&all), yaml_list(&all)] {
        let alone = vec![text("everything-17h30.txt", list.clone())];
        of_cluster(&alone, "object-list", EVENTS);
        for log in &logs {
            let found = diagnose_files(&[
                text("notes/everything-17h30.txt", list.clone()),
                log.clone(),
            ]);
            let (_, _, pods, events, _) = counted(&found);
            assert_eq!((pods, events), (PODS, EVENTS));
            assert!(found.to_string().contains(&log.0), "nothing of {}", log.0);
        }
    }
}
