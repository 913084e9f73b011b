//! The object that a stretch of text is of: what `kubectl logs` and `kubectl exec` print is of the pod that they name, and a
//! description is of the object at its head; no other line says so.

use super::split::{Section, sections};
use crate::facts::text::Printed;

/// Options of kubectl whose value is a word of its own.
const VALUED: [&str; 11] = [
    "-n",
    "--namespace",
    "-c",
    "--container",
    "--context",
    "--kubeconfig",
    "--tail",
    "--since",
    "-o",
    "-l",
    "--cluster",
];
/// Programs that only call the next one.
const CALLING: [&str; 4] = ["sudo", "microk8s", "k3s", "k8s"];

/// Kinds by how kubectl calls them in a command, and by a word that only their description has.
const KINDS: [(&[&str], &str, &str); 5] = [
    (
        &["daemonset", "daemonsets", "ds"],
        "daemonset",
        "Desired Number of Nodes Scheduled:",
    ),
    (
        &["deployment", "deployments", "deploy"],
        "deployment",
        "StrategyType:",
    ),
    (
        &["statefulset", "statefulsets", "sts"],
        "statefulset",
        "Update Strategy:",
    ),
    (&["job", "jobs"], "job", "Completions:"),
    (&["service", "services", "svc"], "service", "Endpoints:"),
];

/// The objects that stretches of a text are of, each with its first line, from 1.
pub(crate) fn printed(text: &str) -> Vec<(Printed, u32)> {
    let found = sections(text).into_iter().filter_map(|section| {
        let (kind, namespace, name) = of_command(&section).or_else(|| described(&section))?;
        let printed = Printed {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            lines: u32::try_from(section.len()).unwrap_or(u32::MAX),
        };
        Some((printed, section.number(0)))
    });
    found.collect()
}

fn of_command<'a>(section: &Section<'a>) -> Option<(&'static str, &'a str, &'a str)> {
    let (namespace, name) = pod_of(section.command?)?;
    Some(("pod", namespace, name))
}

/// The object at the head of a description of one that is neither a pod nor a node: those are read as objects.
fn described<'a>(section: &Section<'a>) -> Option<(&'static str, &'a str, &'a str)> {
    const LONGEST: usize = 400;
    let lines = section.range(0, section.len().min(LONGEST));
    let value = |key: &str| {
        let mut lines = lines.iter();
        lines.find_map(|line| Some(line.strip_prefix(key)?.trim()))
    };
    let mut names = lines.iter().filter(|line| line.starts_with("Name:"));
    let only = names.next().is_some() && names.next().is_none();
    let name = value("Name:").filter(|name| only && is_name(name))?;
    let mut words = section.command.unwrap_or_default().split_whitespace();
    let asked = words.find_map(|word| KINDS.iter().find(|(names, ..)| names.contains(&word)));
    let (_, kind, _) = asked.or_else(|| {
        let mut kinds = KINDS.iter();
        kinds.find(|(_, _, own)| lines.iter().any(|line| line.starts_with(own)))
    })?;
    let namespace = value("Namespace:").or_else(|| {
        let command = section.command?;
        namespace_in(command)
    });
    Some((
        kind,
        namespace.filter(|one| is_name(one)).unwrap_or(""),
        name,
    ))
}

fn namespace_in(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some(("-n" | "--namespace", value)) => return Some(value),
            None if ["-n", "--namespace"].contains(&word) => return words.next(),
            _ => {}
        }
    }
    None
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte))
}

/// Namespace and name of the one pod that a command asks; the namespace is empty where the command names none.
fn pod_of(command: &str) -> Option<(&str, &str)> {
    let mut words = command
        .split_whitespace()
        .skip_while(|word| CALLING.contains(word));
    if !["kubectl", "oc"].contains(&words.next()?) {
        return None;
    }
    let namespace = namespace_in(command).unwrap_or("");
    let mut named = Vec::new();
    while let Some(word) = words.next().filter(|word| !["--", "|", ";"].contains(word)) {
        match word {
            _ if VALUED.contains(&word) => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => named.push(word),
        }
    }
    let name = match named.as_slice() {
        ["exec" | "logs" | "attach" | "rsh", name, ..] => name.strip_prefix("pod/").unwrap_or(name),
        ["describe" | "get", "pod" | "pods" | "po", name] => name,
        ["describe" | "get", name] => name.strip_prefix("pod/")?,
        _ => return None,
    };
    (is_name(name) && (namespace.is_empty() || is_name(namespace))).then_some((namespace, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::FactType;

    #[test]
    fn a_command_names_its_pod() {
        for (command, pod) in [
            (
                "kubectl logs -f coredns-b75-5dlbd -n kube-system",
                Some(("kube-system", "coredns-b75-5dlbd")),
            ),
            (
                "kubectl exec -it nginx-8fmz2 -- cat /x",
                Some(("", "nginx-8fmz2")),
            ),
            (
                "sudo k3s kubectl -n a describe pod web-0",
                Some(("a", "web-0")),
            ),
            ("oc logs --tail 5 pod/web-0 -c app", Some(("", "web-0"))),
            ("kubectl logs ds/nvidia-dcgm-exporter", None),
            ("kubectl get pods", None),
            ("kubectl get pod a b", None),
            ("docker logs web-0", None),
        ] {
            assert_eq!(pod_of(command), pod, "{command}");
        }
    }

    #[test]
    fn what_it_printed_begins_below_it() {
        let text = "$ kubectl exec web-0 -- df\nFilesystem\nshm\n$ ls\nx\n";
        let found = printed(text);
        let told: Vec<(&str, u32, u32)> = found
            .iter()
            .map(|(pod, line)| (pod.name.as_str(), *line, pod.lines))
            .collect();
        assert_eq!(told, [("web-0", 2, 2)]);
    }

    #[test]
    fn a_description_is_of_the_object_at_its_head() {
        let text = "$ kubectl -n gpus describe ds\nName:           plugin\nSelector:       a=b\nDesired Number of Nodes Scheduled: 0\n";
        let found = printed(text);
        assert_eq!(found[0].0.subject(), "daemonset/gpus/plugin");
        let text = "Name:      web\nNamespace: shop\nStrategyType: RollingUpdate\n";
        assert_eq!(printed(text)[0].0.subject(), "deployment/shop/web");
        assert!(printed("Name: a pod\nNode: x\n").is_empty());
    }
}
