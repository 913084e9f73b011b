//! Logs of containers as Docker keeps them on its node, `/var/lib/docker/containers/<id>/<id>-json.log`. The settings beside a
//! log name the pod where the kubelet made the container.
//!
//! Source: Moby's `daemon/container` for the files; `dockershim` and `cri-dockerd` for the labels.

use super::kubernetes_dirs::log;
use super::survey::without_packing;
use super::{Capture, Entry, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "docker-containers",
    title: "logs of Docker's containers",
    recognise: |survey| survey.roots_of(|path| Some(container(path)?.0)),
    identity: |_: &Survey, _| Identity::default(),
    map: |survey: &Survey, capture: &Capture, path: &str| {
        let log = target(survey, capture, &format!("{}{path}", capture.root));
        log.unwrap_or(Target::Loose)
    },
};

/// So much of an id Docker prints.
const SHORT: usize = 12;

/// What an entry is, in whatever capture it lies; none where it is no container's log. One whose pod nothing names is a log of
/// its node.
pub(super) fn target(survey: &Survey, capture: &Capture, path: &str) -> Option<Target> {
    let (root, id, rotated) = container(path)?;
    let named = |name: &str| match rotated {
        "" => name.to_owned(),
        number => format!("{name}-rotated-{number}"),
    };
    let settings = survey.get(&format!("{root}{id}/config.v2.json"));
    let settings = settings.map(Entry::text).unwrap_or_default();
    let label = |name: &str| {
        let start = format!("\"io.kubernetes.{name}\":\"");
        let (_, behind) = settings.split_once(&start)?;
        behind.split('"').next()
    };
    Some(match (label("pod.namespace"), label("pod.name")) {
        (Some(namespace), Some(pod)) => {
            let name = named(label("container.name").unwrap_or("POD"));
            Target::As(log(namespace, pod, &name, !rotated.is_empty()))
        }
        _ => capture.of_node(&format!("docker/{}.log", named(&id[..SHORT]))),
    })
}

/// The folder of all containers, the id of one, and which of its rotated logs it is. A log that was copied alone has no folder.
fn container(path: &str) -> Option<(&str, &str, &str)> {
    let name = without_packing(path.rsplit('/').next()?);
    let (id, rest) = name.split_at_checked(64)?;
    let rotated = rest.strip_prefix("-json.log")?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_log = rotated.is_empty() || rotated.starts_with('.');
    let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    let own = folder
        .strip_suffix('/')
        .and_then(|rest| rest.strip_suffix(id));
    (is_id && is_log).then_some((own.unwrap_or(folder), id, rotated.trim_start_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Plan;

    #[test]
    fn a_container_whose_settings_name_a_pod_is_its_log() {
        let (of_pod, other) = ("0a".repeat(32), "1b".repeat(32));
        let entry = |path: String, head: &str| Entry {
            path: format!("n1/containers/{path}"),
            head: head.as_bytes().to_vec(),
            tail: Vec::new(),
            size: None,
        };
        let settings = r#"{"ID":"x","Config":{"Labels":{"io.kubernetes.container.name":"web","io.kubernetes.pod.name":"web-0","io.kubernetes.pod.namespace":"shop"}}}"#;
        let mut survey = Survey::new(vec![
            entry(format!("{of_pod}/{of_pod}-json.log"), ""),
            entry(format!("{of_pod}/{of_pod}-json.log.1"), ""),
            entry(format!("{of_pod}/config.v2.json"), settings),
            entry(format!("{other}/{other}-json.log"), ""),
        ]);
        let plan = Plan::of(&mut survey);
        let ours = |path: String| match plan.target(&format!("n1/containers/{path}")) {
            Some((_, Target::As(ours))) => ours.clone(),
            _ => String::new(),
        };
        let logs = "cluster-resources/pods/logs/shop/web-0";
        let log = ours(format!("{of_pod}/{of_pod}-json.log"));
        assert_eq!(log, format!("{logs}/web.log"));
        let rotated = ours(format!("{of_pod}/{of_pod}-json.log.1"));
        assert_eq!(rotated, format!("{logs}/web-rotated-1-previous.log"));
        let log = ours(format!("{other}/{other}-json.log"));
        assert_eq!(log, "nodes/unnamed-node/docker/1b1b1b1b1b1b.log");
        assert!((LAYOUT.recognise)(&survey).contains(&"n1/containers/".to_owned()));
        assert_eq!(
            container(&format!("{other}-json.log.gz")),
            Some(("", &*other, ""))
        );
    }
}
