//! Real clients of a served capture: every kubectl at hand, helm, and what they ask for besides lists.

use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;
use serde_json::{Value, json};

use crate::serve::{Served, ask, kubectl, sample, serve};
use crate::support::{self, run};

/// Every kubectl of this machine: on the path, of the cloud SDK, and in the folder that `CASEFILE_KUBECTLS` names.
fn kubectls() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/lib/google-cloud-sdk/bin".into());
    folders.extend(std::env::var_os("CASEFILE_KUBECTLS").map(PathBuf::from));
    let mut found: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name == "kubectl" || name.starts_with("kubectl.1.") || name.starts_with("kubectl-1.")
        })
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn every_kubectl_at_hand_prints_the_same() {
    let all = kubectls();
    if all.is_empty() {
        return support::skip(
            "every_kubectl_at_hand_prints_the_same",
            "there is no kubectl on this machine",
        );
    }
    let served = serve(&sample());
    let commands = [
        "get pods -A",
        "get pods -A -o wide",
        "get nodes -o wide",
        "get events -A",
        "get all -A -o name",
        "get deployments,daemonsets,services -A",
        "get crd",
        "get pods -A -l app=gpu-feature-discovery -o jsonpath={.items[*].metadata.name}",
        "get pods -A --field-selector=status.phase=Failed -o name",
        "get pods -A --chunk-size=2 -o name",
        "logs -n default gpu-textgen --tail=3 --timestamps",
        "rollout history -n gpu-operator deployment/gpu-operator",
        "auth can-i list pods",
        "auth can-i delete pods",
    ];
    for command in commands {
        let mut first: Option<(String, &Path)> = None;
        for program in &all {
            let (out, errors) = ask(program, &served, command);
            let place = program.display();
            let failed = format!("{place} {command}: {errors}");
            assert!(!out.trim().is_empty(), "{failed}");
            let (known, by) = first.get_or_insert((out.clone(), program));
            assert_eq!(out, *known, "{command}: {place} and {}", by.display());
        }
    }
    let changes = [
        "delete pod -n default gpu-textgen",
        "create namespace other --dry-run=server",
        "label node --all a=b",
    ];
    for (program, change) in all
        .iter()
        .flat_map(|one| changes.map(|change| (one, change)))
    {
        let (out, errors) = ask(program, &served, change);
        assert!(
            out.is_empty() && errors.contains("this is a recording"),
            "{} {change}: {out}{errors}",
            program.display()
        );
    }
    println!("{} releases of kubectl print the same", all.len());
}

/// A capture of a v1.20 cluster with the usage of a node, and a custom resource's definition.
fn measured(folder: &Path) {
    let list = |path: &str, version: &str, kind: &str, item: Value| {
        let text = format!(
            "{{\"kind\":\"{kind}List\",\"apiVersion\":\"{version}\",\"items\":[\n{item}\n]}}\n"
        );
        support::plant(folder, &format!("cluster-resources/{path}"), text);
    };
    let header = json!({"format": "1.0", "tool": "casefile-collector 0.1.0", "node": "n1", "started": "2026-11-20T10:15:00Z"});
    support::plant(folder, "casefile.json", header.to_string());
    let version = json!({"info": {"major": "1", "minor": "20", "gitVersion": "v1.20.2"}});
    support::plant(
        folder,
        "cluster-info/cluster_version.json",
        version.to_string(),
    );
    let size = json!({"cpu": "4", "memory": "8Gi"});
    let node =
        json!({"metadata": {"name": "n1"}, "status": {"allocatable": size, "capacity": size}});
    list("nodes.json", "v1", "Node", node);
    let named = json!({"name": "p", "namespace": "a"});
    let pod = json!({"metadata": named, "spec": {"containers": [{"name": "c"}]}});
    list("pods/a.json", "v1", "Pod", pod);
    list(
        "endpoints/a.json",
        "v1",
        "Endpoints",
        json!({"metadata": named}),
    );
    let used = json!({"metadata": {"name": "n1"}, "timestamp": "2026-11-20T10:15:00Z", "window": "20s",
        "usage": {"cpu": "500m", "memory": "1Gi"}});
    let path = "custom-resources/nodes.metrics.k8s.io.json";
    list(path, "metrics.k8s.io/v1beta1", "NodeMetrics", used);
    let schema = json!({"type": "object", "description": "Thing is a thing.", "properties": {"spec": {"type": "object",
        "description": "What it should be.", "properties": {"size": {"type": "integer", "description": "How large it is."}}}}});
    let names =
        json!({"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let definition = json!({"metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}});
    let (version, kind) = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    list("customresourcedefinitions.json", version, kind, definition);
}

#[test]
fn usage_and_schemas_are_shown_where_they_were_collected() {
    let test = "usage_and_schemas_are_shown_where_they_were_collected";
    if kubectl(test).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    measured(folder.path());
    let served = serve(folder.path().to_str().unwrap());
    let without = serve(&sample());
    for program in kubectls() {
        let says = |served: &Served, command: &str, words: &[&str]| {
            let (out, errors) = ask(&program, served, command);
            let text = format!("{out}{errors}");
            assert!(
                words.iter().all(|word| text.contains(word)),
                "{} {command}: {text}",
                program.display()
            );
            text
        };
        says(&served, "top nodes", &["n1", "500m", "12%", "1024Mi"]);
        says(&without, "top nodes", &["Metrics API not available"]);
        says(
            &served,
            "explain things",
            &["Thing is a thing.", "What it should be."],
        );
        says(
            &served,
            "explain things.spec.size",
            &["integer", "How large it is."],
        );
        let words = ["No schema of Pod was collected", "kubectl get pods -o yaml"];
        let text = says(&served, "explain pods", &["Pod"]);
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.iter().all(|word| joined.contains(word)), "{text}");
        // Servers of v1.20 did not call Endpoints deprecated yet.
        let text = says(&served, "get endpoints -A", &["a", "p"]);
        assert!(!text.contains("deprecated"), "{text}");
    }
}

#[test]
fn helm_reads_the_releases() {
    let Some(program) = support::helm("helm_reads_the_releases") else {
        return;
    };
    let served = serve(&sample());
    let (list, errors) = ask(&program, &served, "list -A -o json");
    let list: Value = serde_json::from_str(&list).unwrap_or_else(|_| panic!("{list}{errors}"));
    let (name, namespace) = (&list[0]["name"], &list[0]["namespace"]);
    let release = format!(
        "-n {} {}",
        namespace.as_str().unwrap(),
        name.as_str().unwrap()
    );
    assert_eq!(list[0]["status"], "deployed", "{list}");
    for (command, words) in [
        ("history", "Upgrade complete"),
        ("status", "STATUS: deployed"),
        ("get values", "CONTAINERD_CONFIG"),
        ("get manifest", "was not collected"),
    ] {
        let (out, errors) = ask(&program, &served, &format!("{command} {release}"));
        assert!(out.contains(words), "{command}: {out}{errors}");
    }
    let (_, errors) = ask(&program, &served, &format!("uninstall {release}"));
    assert!(errors.contains("this is a recording"), "{errors}");
}

#[test]
fn a_second_server_of_one_bundle_answers_and_a_taken_port_is_said_to_be() {
    let Some(program) =
        kubectl("a_second_server_of_one_bundle_answers_and_a_taken_port_is_said_to_be")
    else {
        return;
    };
    let (first, second) = (serve(&sample()), serve(&sample()));
    let pods = ask(&program, &first, "get pods -A");
    assert!(pods.0.contains("gpu-textgen"), "{pods:?}");
    assert_eq!(pods, ask(&program, &second, "get pods -A"));
    // The token of one is nothing to the other.
    let config = |served: &Served| std::fs::read_to_string(&served.kubeconfig).unwrap();
    let token = |text: &str| {
        let config: Value = serde_json::from_str(text).unwrap();
        config["users"][0]["user"]["token"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (one, other) = (config(&first), config(&second));
    let stranger = one.replace(&token(&one), &token(&other));
    std::fs::write(&first.kubeconfig, stranger).unwrap();
    let (out, errors) = ask(&program, &first, "get pods -A");
    let refused = errors.contains("Unauthorized") || errors.contains("logged in");
    assert!(out.is_empty() && refused, "{out}{errors}");
    let one: Value = serde_json::from_str(&one).unwrap();
    let address = one["clusters"][0]["cluster"]["server"].as_str().unwrap();
    let address = address.trim_start_matches("https://");
    let ended = run(
        "casefile-analyzer",
        &["serve", &sample(), "--listen", address],
    );
    assert_ne!(ended.code, 0);
    assert!(
        ended.err.contains("cannot listen on") && ended.err.contains(address),
        "{}",
        ended.err
    );
}

#[test]
fn shell_sets_the_kubeconfig_and_tidies_up() {
    let Some(program) = kubectl("shell_sets_the_kubeconfig_and_tidies_up") else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("shell");
    let text = format!(
        "#!/bin/sh\necho \"config=$KUBECONFIG\"\n{} get pods -A\n",
        program.display()
    );
    support::plant(home.path(), "shell", text);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = Command::new(bins::find("casefile-analyzer"))
        .args(["shell", &sample()])
        .env("SHELL", &script)
        .env("HOME", home.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("gpu-textgen"),
        "{output:?}"
    );
    let config = text.lines().find_map(|line| line.strip_prefix("config="));
    let config = config.unwrap();
    assert!(
        !config.is_empty() && !Path::new(config).exists(),
        "{config}"
    );
}

#[test]
fn client_go_lists_and_watches_every_kind() {
    let test = "client_go_lists_and_watches_every_kind";
    let Some(program) = std::env::var_os("CASEFILE_INFORMERS").map(PathBuf::from) else {
        return support::skip(
            test,
            "CASEFILE_INFORMERS names no program built from tests/lab/informers",
        );
    };
    let served = serve(&sample());
    let (out, errors) = ask(&program, &served, "");
    println!("{out}");
    assert!(out.contains("100 watches gave"), "{out}{errors}");
    // klog's errors begin with E; warnings that the real server gives as well are none.
    let complaints: Vec<&str> = errors
        .lines()
        .filter(|line| line.starts_with('E'))
        .collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}
