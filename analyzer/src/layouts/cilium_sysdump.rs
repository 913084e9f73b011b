//! cilium sysdumps: flat files `<what>-<time>.yaml`, logs `logs-<pod>-<container>-<time>.log`, and a bugtool folder an agent.
//!
//! Source: cilium-cli's `sysdump/constants.go`, and the Python tool before it, whose lists are JSON.

use casefile_bundle::Entry;

use super::kubernetes_dirs::{everywhere, is_read, log};
use super::survey::name;
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "cilium-sysdump",
    title: "cilium sysdump",
    recognise,
    identity,
    map,
};

fn recognise(survey: &Survey) -> Vec<String> {
    let mut roots = survey.roots("cilium-sysdump.log");
    for entry in &survey.entries {
        let file = name(&entry.path);
        let listed = stem(file).is_some_and(|stem| stem == "k8s-nodes" || stem == "ciliumnodes");
        if listed {
            roots.push(entry.path[..entry.path.len() - file.len()].to_owned());
        }
    }
    roots.sort();
    roots.dedup();
    roots
}

/// What stands before the time in a file's name: `k8s-pods` of `k8s-pods-20240102-030405.yaml`.
fn stem(file: &str) -> Option<&str> {
    let (name, _) = file.rsplit_once('.')?;
    let (name, clock) = name.rsplit_once('-')?;
    let (name, day) = name.rsplit_once('-')?;
    let digits = |text: &str, len: usize| {
        text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    (digits(day, 8) && digits(clock, 6)).then_some(name)
}

fn identity(survey: &Survey, root: &str) -> Identity {
    let log = survey.get(&format!("{root}cilium-sysdump.log"));
    let version = log.and_then(|entry| {
        let text = entry.text().into_owned();
        let (_, rest) = text.split_once("cilium-cli version: ")?;
        Some(rest.split([',', '\n']).next()?.trim().to_owned())
    });
    let kubernetes = survey.below(&format!("{root}k8s-version-")).next();
    let kubernetes = kubernetes.and_then(|entry| {
        let text = entry.text().into_owned();
        let (_, rest) = text.split_once("GitVersion:\"")?;
        Some(rest.split('"').next()?.to_owned())
    });
    Identity {
        version,
        kubernetes,
        ..Identity::default()
    }
}

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    let file = path.strip_suffix("-prev.log").map(|rest| (rest, true));
    let (whole, previous) = file.unwrap_or((path, false));
    if path == "cilium-sysdump.log" {
        // What the tool did, and which of it failed.
        return Target::Loose;
    }
    if path.contains('/') {
        // A bugtool's folder is a capture by itself; what else has folders is profiles of the agent.
        return Target::Unknown;
    }
    if let Some(rest) = whole.strip_prefix("logs-") {
        let name = match previous {
            true => stem(&format!("{rest}.log")).map(str::to_owned),
            false => stem(rest).map(str::to_owned),
        };
        return name.map_or(Target::Loose, |name| {
            pod_log(&namespace(survey, &capture.root), &name, previous)
        });
    }
    let Some(stem) = stem(path) else {
        return Target::Unknown;
    };
    if !path.ends_with(".yaml") && !path.ends_with(".json") {
        let twin = format!("{}{}", capture.root, path.replace(".txt", ".yaml"));
        return match stem {
            "k8s-events" => Target::Double,
            "k8s-pods" if survey.has(&twin) => Target::Double,
            // The version is read for whose the capture is.
            "k8s-pods" | "k8s-version" => Target::Loose,
            _ => Target::Unknown,
        };
    }
    object(stem).map_or(Target::Unknown, Target::Yaml)
}

/// Our path of a list `k8s-<plural>`, or of one object `<name>-<kind>`.
fn object(stem: &str) -> Option<String> {
    if let Some(plural) = stem.strip_prefix("k8s-") {
        return is_read(plural).then(|| everywhere(plural));
    }
    let (name, kind) = stem.rsplit_once('-')?;
    let plural = match kind {
        "configmap" | "config" => "configmaps",
        "daemonset" => "daemonsets",
        "deployment" => "deployments",
        "statefulset" => "statefulsets",
        "cronjob" => "cronjobs",
        _ => return None,
    };
    Some(Entry::ListIn(plural, name).path())
}

/// The namespace that Cilium runs in, as its own objects say.
fn namespace(survey: &Survey, root: &str) -> String {
    let known = ["cilium-daemonset-", "cilium-configmap-", "cilium-operator-"];
    let heads = known
        .iter()
        .flat_map(|one| survey.below(&format!("{root}{one}")));
    let told = heads.filter_map(|entry| {
        let text = entry.text().into_owned();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("  namespace: "))?;
        Some(line.trim().to_owned())
    });
    told.into_iter()
        .next()
        .unwrap_or_else(|| "kube-system".to_owned())
}

/// `<pod>-<container>`: a pod's name ends with what its controller drew for it.
fn pod_log(namespace: &str, name: &str, previous: bool) -> Target {
    match super::kubernetes_dirs::pod_and_rest(name) {
        Some((pod, container)) => Target::As(log(namespace, pod, container, previous)),
        None => Target::Loose,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Entry;

    fn entry(path: &str, text: &str) -> Entry {
        Entry {
            path: path.to_owned(),
            head: text.as_bytes().to_vec(),
            tail: Vec::new(),
            size: None,
        }
    }

    #[test]
    fn files_are_told_by_what_stands_before_the_time() {
        let survey = Survey::new(vec![
            entry("d/cilium-sysdump.log", "cilium-cli version: v0.12.6, args"),
            entry(
                "d/cilium-daemonset-20221110-185842.yaml",
                "metadata:\n  namespace: cni\n",
            ),
            entry("d/k8s-pods-20221110-185842.yaml", ""),
            entry(
                "d/k8s-version-20221110-185842.txt",
                "version.Info{Major:\"1\", GitVersion:\"v1.25.3+k3s1\"",
            ),
        ]);
        assert_eq!((LAYOUT.recognise)(&survey), ["d/"]);
        let identity = identity(&survey, "d/");
        assert_eq!(identity.version.as_deref(), Some("v0.12.6"));
        assert_eq!(identity.kubernetes.as_deref(), Some("v1.25.3+k3s1"));
        let capture = Capture {
            format: "x",
            title: "x",
            root: "d/".into(),
            identity,
        };
        let path = |file: &str| match map(&survey, &capture, file) {
            Target::As(path) | Target::Yaml(path) => path,
            _ => String::new(),
        };
        let logs = "cluster-resources/pods/logs/cni";
        assert_eq!(
            [
                path("k8s-pods-20221110-185842.yaml"),
                path("k8s-nodes-20221110-185842.yaml"),
                path("cilium-daemonset-20221110-185842.yaml"),
                path("logs-cilium-cbzlp-cilium-agent-20221110-185842-prev.log"),
                path("logs-cilium-operator-76c6d95785-jzz9l-cilium-operator-20221110-185842.log"),
            ],
            [
                "cluster-resources/pods/all-namespaces.json".to_owned(),
                "cluster-resources/nodes.json".to_owned(),
                "cluster-resources/daemonsets/cilium.json".to_owned(),
                format!("{logs}/cilium-cbzlp/cilium-agent-previous.log"),
                format!("{logs}/cilium-operator-76c6d95785-jzz9l/cilium-operator.log"),
            ]
        );
        assert!(matches!(
            map(&survey, &capture, "k8s-pods-20221110-185842.txt"),
            Target::Double
        ));
    }
}
