//! `kubectl cluster-info dump --output-directory`: nodes.json, a folder a namespace, a `logs.txt` a pod.

use super::{Identity, Layout, Survey, Target, kubernetes_dirs};

pub(super) static LAYOUT: Layout = Layout {
    id: "cluster-info-dump",
    title: "kubectl cluster-info dump",
    recognise: |survey: &Survey| {
        let mut roots = survey.roots("nodes.json");
        roots.retain(|root| kubernetes_dirs::is_dump(survey, root));
        roots
    },
    identity: |_, _| Identity::default(),
    map: |_, _, path| kubernetes_dirs::dump(path).unwrap_or(Target::Unknown),
};
