//! Derived facts about helm releases: values that the running workloads do not show, upgrades that did not end well, and
//! values that no template reads.

use serde::Serialize;

use super::fact;

fact! {
    /// A value of a release that does not show.
    #[derive(Debug, Clone, Default, Serialize)]
    "helm-drift" = pub struct HelmDrift {
        /// Namespace of the release.
        pub namespace: String,
        /// Release.
        pub release: String,
        /// Chart.
        pub chart: String,
        /// Newest revision.
        pub revision: u64,
        /// `image`, `env`, `arg`, `resource`, `node-selector`, `toleration`, `runtime-class`, `config-map`, `replicas`,
        /// `custom-resource`, `node-label`, `disabled` or `absent`.
        pub kind: String,
        /// Path of the value, e.g. `toolkit.version`.
        pub value: String,
        /// What it says.
        pub expected: String,
        /// What is seen instead.
        pub seen: String,
        /// Workloads and containers that show it.
        pub places: Vec<String>,
        /// `user` or `chart`: who set the value.
        pub set_by: String,
        /// An earlier revision whose values are what is seen: the upgrade did not reach the workload. None where no
        /// captured revision has it.
        pub seen_in_revision: Option<u64>,
        /// What shows that the first of `places` is the release's: `annotation`, `label`, `legacy-label`, `chart-label`,
        /// `owner`; `image` where nothing but its image and namespace do.
        pub joined_by: String,
    }
    subject = |fact| format!("helmrelease/{}/{}", fact.namespace, fact.release);
}

fact! {
    /// The object that shows another thing than the value says: the other place of a [`HelmDrift`].
    #[derive(Debug, Clone, Default, Serialize)]
    "helm-shown" = pub struct HelmShown {
        /// Namespace of the release.
        pub namespace: String,
        /// Release.
        pub release: String,
        /// Path of the value.
        pub value: String,
        /// What is seen.
        pub seen: String,
        /// Object, e.g. `daemonset/gpu-operator/nvidia-container-toolkit-daemonset`.
        pub object: String,
        /// Who set the value: `user` or `chart`.
        pub set_by: String,
    }
    subject = |fact| format!("helmrelease/{}/{}", fact.namespace, fact.release);
}

fact! {
    /// A newest revision that is not the one in effect, or that is still under way.
    #[derive(Debug, Clone, Default, Serialize)]
    "helm-upgrade" = pub struct HelmUpgrade {
        /// Namespace of the release.
        pub namespace: String,
        /// Release.
        pub release: String,
        /// Newest revision.
        pub revision: u64,
        /// Its status: `failed`, `pending-install`, `pending-upgrade`, `pending-rollback` or `uninstalling`.
        pub status: String,
        /// Helm's own words.
        pub description: String,
        /// Revision that is deployed; none where no revision is.
        pub deployed: Option<u64>,
        /// What the newest one wanted to change: `toolkit.version: v1.17.8 -> v1.18.0`.
        pub wanted: Vec<String>,
        /// Minutes since it was begun, by the clock of the collection.
        pub minutes: Option<i64>,
    }
    subject = |fact| format!("helmrelease/{}/{}", fact.namespace, fact.release);
}

fact! {
    /// A value that the user set and no template of the chart reads.
    #[derive(Debug, Clone, Default, Serialize)]
    "helm-unread" = pub struct HelmUnread {
        /// Namespace of the release.
        pub namespace: String,
        /// Release.
        pub release: String,
        /// Chart.
        pub chart: String,
        /// Path of the value.
        pub value: String,
        /// A value of the chart that is called alike; empty where none is.
        pub alike: String,
    }
    subject = |fact| format!("helmrelease/{}/{}", fact.namespace, fact.release);
}
