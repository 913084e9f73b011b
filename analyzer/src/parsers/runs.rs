//! Runs of containers that ended, with all that their pod's status says of the end.

use chrono::{DateTime, Utc};

use super::Item;
use super::pod_json::Object;
use super::pod_state::{ContainerStatus, Terminated};
use super::pods::{fact, memory_limit, time};
use crate::ending::Run;
use crate::facts::{AnyFact, FactType, Field};

/// A run that ended.
#[derive(Debug, Clone, Default)]
pub struct ContainerRun {
    /// Namespace.
    pub namespace: String,
    /// Pod.
    pub pod: String,
    /// Node.
    pub node: String,
    /// Whether it is an init container.
    pub init: bool,
    /// Whether it is the present state; otherwise it is the run before.
    pub present: bool,
    /// Restarts of the container.
    pub restarts: u64,
    /// How it ended.
    pub run: Run,
}

impl serde::Serialize for ContainerRun {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.run.name)
    }
}

impl FactType for ContainerRun {
    const KIND: &'static str = "container-run";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("pod/{}/{}", self.namespace, self.pod)
    }
}

/// The runs of a pod's containers that ended: the present one, or the one before.
pub(super) fn of_pod(object: &Object, item: &Item<'_>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    let status = &object.status;
    for (statuses, init) in [
        (&status.init_container_statuses, true),
        (&status.container_statuses, false),
    ] {
        for one in statuses {
            let states = [(&one.state, true), (&one.last_state, false)];
            let mut ended = states
                .into_iter()
                .filter_map(|(state, present)| Some((state.terminated.as_ref()?, present)));
            if let Some((ended, present)) = ended.next() {
                let run = run(object, one, ended, init, present);
                let text = format!("\"exitCode\":{}", ended.exit_code);
                let mut fact = fact(run, item, text);
                fact.at = fact.data.run.finished;
                facts.push(fact.into());
            }
        }
    }
    facts
}

fn run(
    object: &Object,
    status: &ContainerStatus,
    ended: &Terminated,
    init: bool,
    present: bool,
) -> ContainerRun {
    let specs = object
        .spec
        .containers
        .iter()
        .chain(&object.spec.init_containers);
    let mut own = specs.filter(|spec| spec.name == status.name);
    let id = ended.container_id.as_deref().unwrap_or_default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let moment = |text: &Option<String>| -> Option<DateTime<Utc>> {
        // A runtime that lost a container dates it at the beginning of time.
        time(text.as_deref()).filter(|at| at.timestamp() > 0)
    };
    ContainerRun {
        namespace: object.metadata.namespace.clone(),
        pod: object.metadata.name.clone(),
        node: object.spec.node_name.clone(),
        init,
        present,
        restarts: status.restart_count,
        run: Run {
            name: status.name.clone(),
            id: id.rsplit('/').next().unwrap_or_default().to_owned(),
            pod_uid: object.metadata.uid.clone(),
            exit_code: ended.exit_code,
            reason: text(&ended.reason),
            message: text(&ended.message),
            started: moment(&ended.started_at),
            finished: moment(&ended.finished_at),
            memory_limit: own.find_map(memory_limit),
            pod_reason: text(&object.status.reason),
            pod_message: text(&object.status.message),
            deleted: time(object.metadata.deletion_timestamp.as_deref()),
        },
    }
}
