//! Logs of containers as the kubelet keeps them on its node, copied by whatever tool or person:
//! `<namespace>_<pod>_<uid>/<container>/<restart>.log` below `/var/log/pods`, and the links to them, `<pod>_<namespace>_<container>-<id>.log`.
//!
//! Source: `BuildPodLogsDirectory` and `logSymlink` in Kubernetes' `pkg/kubelet/kuberuntime`, and
//! `pkg/kubelet/logs/container_log_manager.go` for what a rotated log is called.

use super::kubernetes_dirs::log;
use super::survey::without_packing;
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "node-pod-logs",
    title: "logs of pods of a node",
    recognise: |survey| survey.roots_of(|path| Some(File::of(path)?.root)),
    identity: |_: &Survey, _| Identity::default(),
    map: |survey: &Survey, capture: &Capture, path: &str| {
        let log = target(survey, &format!("{}{path}", capture.root));
        log.unwrap_or(Target::Loose)
    },
};

/// Logs of one container that are looked at for the newest.
const MOST: usize = 1000;

/// What an entry is, in whatever capture it lies; none where it is no log by its name.
pub(super) fn target(survey: &Survey, path: &str) -> Option<Target> {
    let file = File::of(path)?;
    let Some((number, rotated)) = file.restart else {
        return Some(match is_copied_too(survey, &file) {
            true => Target::Double,
            false => of(&file, file.container, false),
        });
    };
    let folder = path.rfind('/').map_or(path, |at| &path[..=at]);
    let others = survey
        .below(folder)
        .take(MOST)
        .filter_map(|entry| restart(entry.path.rsplit('/').next()?));
    let newest = others.map(|(number, _)| number).max().unwrap_or(number);
    let container = match (newest.saturating_sub(number), rotated) {
        (0, "") => return Some(of(&file, file.container, false)),
        (1, "") => return Some(of(&file, file.container, true)),
        (0, when) => format!("{}-until-{when}", file.container),
        (older, "") => format!("{}-before-{older}", file.container),
        (older, when) => format!("{}-before-{older}-until-{when}", file.container),
    };
    Some(of(&file, &container, true))
}

/// Whether the folder of the pod that a link leads to was copied as well.
fn is_copied_too(survey: &Survey, link: &File<'_>) -> bool {
    let beside = link.root.strip_suffix("containers/");
    let folders = [
        Some(link.root.to_owned()),
        beside.map(|folder| format!("{folder}pods/")),
    ];
    let mut folders = folders.into_iter().flatten();
    folders.any(|folder| survey.has_folder(&format!("{folder}{}_{}_", link.namespace, link.pod)))
}

fn of(file: &File<'_>, container: &str, previous: bool) -> Target {
    Target::As(log(file.namespace, file.pod, container, previous))
}

/// A log by its path.
struct File<'p> {
    /// The path up to the pod's folder, or up to the link.
    root: &'p str,
    namespace: &'p str,
    pod: &'p str,
    container: &'p str,
    /// How often the container was started again before, and when the log was rotated; none of a link.
    restart: Option<(u32, &'p str)>,
}

impl<'p> File<'p> {
    fn of(path: &'p str) -> Option<Self> {
        let name = path.rsplit('/').next()?;
        let folder = &path[..path.len() - name.len()];
        Self::of_pod(folder, name).or_else(|| Self::of_link(folder, name))
    }

    /// `<namespace>_<pod>_<uid>/<container>/<restart>.log`
    fn of_pod(folder: &'p str, name: &'p str) -> Option<Self> {
        let restart = Some(restart(name)?);
        let (pods, container) = folder.strip_suffix('/')?.rsplit_once('/')?;
        let id = pods.rsplit('/').next()?;
        let mut parts = id.split('_');
        let (namespace, pod, uid) = (parts.next()?, parts.next()?, parts.next()?);
        // A pod that the kubelet read from a file has a digest for an id.
        let digits = uid.bytes().filter(u8::is_ascii_hexdigit).count();
        let is_pod = digits == 32 && matches!(uid.len(), 32 | 36) && parts.next().is_none();
        is_pod.then_some(Self {
            root: &pods[..pods.len() - id.len()],
            namespace,
            pod,
            container,
            restart,
        })
    }

    /// `<pod>_<namespace>_<container>-<id>.log`
    fn of_link(folder: &'p str, name: &'p str) -> Option<Self> {
        let mut parts = without_packing(name).strip_suffix(".log")?.split('_');
        let (pod, namespace, container) = (parts.next()?, parts.next()?, parts.next()?);
        let (container, id) = container.rsplit_once('-')?;
        let is_id = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_id && parts.next().is_none()).then_some(Self {
            root: folder,
            namespace,
            pod,
            container,
            restart: None,
        })
    }
}

/// `3.log`, or `3.log.20261120-101112` where it was rotated, perhaps packed.
fn restart(name: &str) -> Option<(u32, &str)> {
    let (number, rest) = without_packing(name).split_once(".log")?;
    let is_known = rest.is_empty() || rest.starts_with('.');
    let number = number.parse().ok().filter(|_| is_known)?;
    Some((number, rest.trim_start_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{Entry, Plan};

    const POD: &str = "var/log/pods/shop_web-0_0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f/web/";

    fn survey(paths: &[&str]) -> Survey {
        let entry = |path: &&str| Entry {
            path: (*path).to_owned(),
            head: Vec::new(),
            tail: Vec::new(),
            size: None,
        };
        Survey::new(paths.iter().map(entry).collect())
    }

    fn ours(survey: &mut Survey, path: &str) -> String {
        match Plan::of(survey).target(path) {
            Some((_, Target::As(ours))) => ours.replacen("cluster-resources/pods/logs/", "", 1),
            Some((_, Target::Double)) => "the same".to_owned(),
            Some((_, Target::Loose)) => "by content".to_owned(),
            _ => String::new(),
        }
    }

    #[test]
    fn a_log_is_its_pods_wherever_the_folder_was_copied_to() {
        let file = |name: &str| format!("n1/{POD}{name}");
        let (now, before, older) = (file("7.log"), file("6.log"), file("5.log"));
        let (rotated, other) = (file("7.log.20261120-101112.gz"), file("notes.txt"));
        let link = format!(
            "n1/var/log/containers/web-0_shop_web-{}.log",
            "0a".repeat(32)
        );
        let alone = format!("n1/var/log/containers/db-0_shop_db-{}.log", "0a".repeat(32));
        let paths = [&now, &before, &older, &rotated, &other, &link, &alone];
        let mut survey = survey(&paths.map(String::as_str));
        for (path, wanted) in [
            (&now, "shop/web-0/web.log"),
            (&before, "shop/web-0/web-previous.log"),
            (&older, "shop/web-0/web-before-2-previous.log"),
            (
                &rotated,
                "shop/web-0/web-until-20261120-101112-previous.log",
            ),
            (&other, "by content"),
            (&link, "the same"),
            (&alone, "shop/db-0/db.log"),
        ] {
            assert_eq!(ours(&mut survey, path), wanted, "{path}");
        }
    }

    #[test]
    fn what_is_only_named_alike_is_no_log_of_a_pod() {
        let paths = [
            "a/b_c_d/e/0.log",
            "containers/a_b_c-1.log",
            "0.log",
            "x/0.log",
        ];
        let survey = survey(&paths);
        assert!(paths.iter().all(|path| target(&survey, path).is_none()));
        assert!((LAYOUT.recognise)(&survey).is_empty());
    }
}
