//! Operators that say of themselves that they fail, or that the Operator Lifecycle Manager cannot install.

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;

use super::pods::{Meta, fact, time};
use super::{Item, Parsed, Parser, Read};
use crate::facts::failing::Unready;

/// Reads the objects that an operator's state stands in.
pub(super) static PARSER: Parser = Parser {
    id: "operators",
    reads: &[
        Entry::List("clusteroperators"),
        Entry::ListIn("clusteroperators", ANY),
        Entry::Custom("clusteroperators.config.openshift.io"),
        Entry::List("clusterserviceversions"),
        Entry::ListIn("clusterserviceversions", ANY),
        Entry::CustomIn("clusterserviceversions.operators.coreos.com", ANY),
        Entry::List("installplans"),
        Entry::ListIn("installplans", ANY),
        Entry::CustomIn("installplans.operators.coreos.com", ANY),
        Entry::List("clusterversions"),
        Entry::ListIn("clusterversions", ANY),
        Entry::Custom("clusterversions.config.openshift.io"),
    ],
    read: Read::Items(parse),
};

/// Conditions that are bad when they hold (`config/v1/types_cluster_operator.go` of openshift/api).
const BAD: [&str; 2] = ["Degraded", "Failing"];
/// Phases of a ClusterServiceVersion that is not installed (`operators/v1alpha1` of operator-framework/api).
const WAITING: [&str; 2] = ["Pending", "Failed"];
/// The Operator Lifecycle Manager copies an object to every namespace that its operator watches.
const COPY: &str = "Copied";
/// An object that lists what is created to install an operator.
const PLAN: &str = "installplan";
/// Requirements that are named.
const MOST: usize = 4;
/// Resources that are named of a policy.
const RESOURCES: usize = 6;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Object {
    kind: String,
    metadata: Meta,
    spec: Spec,
    status: Status,
}

/// What an InstallPlan installs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    cluster_service_version_names: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    phase: String,
    reason: String,
    message: String,
    last_transition_time: Option<String>,
    conditions: Vec<Condition>,
    requirement_status: Vec<Requirement>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Condition {
    r#type: String,
    /// Of a ClusterServiceVersion, whose conditions are what it went through.
    phase: String,
    status: String,
    reason: String,
    message: String,
    last_transition_time: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Requirement {
    kind: String,
    name: String,
    status: String,
    message: String,
    /// Of a service account the rules that it needs.
    dependents: Vec<Requirement>,
}

/// What a rule of a policy allows, as a dependent's message has it behind `cluster rule:`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PolicyRule {
    resources: Vec<String>,
}

impl Requirement {
    fn is_unmet(&self) -> bool {
        !matches!(self.status.as_str(), "Present" | "Satisfied" | "")
    }

    /// What is missing, and of a policy for which resources.
    fn says(&self) -> String {
        let lacks = self.lacks();
        let lacks = match lacks.is_empty() {
            true => String::new(),
            false => format!(": {}", lacks.join(", ")),
        };
        format!(
            "{} {}: {}{lacks} ({})",
            self.kind, self.name, self.message, self.status
        )
    }

    /// The resources of the rules that are not granted, each once; a part of one (`pods/status`) goes with it.
    fn lacks(&self) -> Vec<String> {
        let unmet = self.dependents.iter().filter(|one| one.is_unmet());
        let rules = unmet.filter_map(|one| {
            let (_, rule) = one.message.split_once("rule:")?;
            serde_json::from_str::<PolicyRule>(rule).ok()
        });
        let mut lacks: Vec<String> = Vec::new();
        for name in rules.flat_map(|rule| rule.resources) {
            let name = name.split('/').next().unwrap_or_default().to_owned();
            if !name.is_empty() && !lacks.contains(&name) {
                lacks.push(name);
            }
        }
        let more = lacks.len().saturating_sub(RESOURCES);
        lacks.truncate(RESOURCES);
        lacks.extend((more > 0).then(|| format!("{more} more")));
        lacks
    }
}

fn parse(item: &Item<'_>) -> Parsed {
    let object: Object = match item.object("operator") {
        Ok(object) => object,
        Err(problem) => return problem,
    };
    let Some(data) = unready(object, item) else {
        return Parsed::default();
    };
    let text = match data.kind.as_str() {
        PLAN => format!("\"reason\":\"{}\"", data.reason),
        _ => format!("\"name\":\"{}\"", data.name),
    };
    Parsed {
        facts: vec![fact(data, item, text).into()],
        ..Parsed::default()
    }
}

/// An InstallPlan that failed: what could not be created (`operators/v1alpha1/installplan_types.go`).
fn failed(object: Object) -> Option<Unready> {
    let status = object.status;
    if status.phase != "Failed" {
        return None;
    }
    let mut conditions = status.conditions.into_iter();
    let installed = conditions.find(|one| one.r#type == "Installed" && one.status == "False");
    let installed = installed.unwrap_or_default();
    Some(Unready {
        kind: PLAN.to_owned(),
        namespace: object.metadata.namespace,
        name: object.metadata.name,
        operator: object
            .spec
            .cluster_service_version_names
            .into_iter()
            .next()
            .unwrap_or_default(),
        state: status.phase,
        reason: installed.reason,
        message: match installed.message.is_empty() {
            true => status.message,
            false => installed.message,
        },
        unmet: Vec::new(),
        since: time(installed.last_transition_time.as_deref()),
    })
}

fn unready(object: Object, item: &Item<'_>) -> Option<Unready> {
    let kind = item.singular(&object.kind);
    if kind == PLAN {
        return failed(object);
    }
    let status = object.status;
    let bad = status.conditions.iter().find(|one| {
        let holds = one.status == "True";
        (holds && BAD.contains(&one.r#type.as_str()))
            || (one.status == "False" && one.r#type == "Available")
    });
    let unmet = status
        .requirement_status
        .iter()
        .filter(|one| one.is_unmet());
    let unmet: Vec<String> = unmet.take(MOST).map(Requirement::says).collect();
    let (state, reason, message, since) = match bad {
        Some(one) => {
            let state = if one.status == "True" {
                one.r#type.clone()
            } else {
                "not available".to_owned()
            };
            let since = one.last_transition_time.as_deref();
            (state, one.reason.clone(), one.message.clone(), time(since))
        }
        None if WAITING.contains(&status.phase.as_str()) && status.reason != COPY => {
            let since = time(status.last_transition_time.as_deref());
            (status.phase, status.reason, status.message, since)
        }
        // What was given up once is tried again for ever.
        None if status.phase == "Installing" && status.reason != COPY => {
            let mut conditions = status.conditions.iter();
            let failed = conditions.find(|one| one.phase == "Failed")?;
            let since = time(failed.last_transition_time.as_deref());
            let state = format!("Installing again after {}", failed.reason);
            (state, status.reason, status.message, since)
        }
        None => return None,
    };
    Some(Unready {
        kind,
        namespace: object.metadata.namespace,
        name: object.metadata.name,
        operator: String::new(),
        state,
        reason,
        message,
        unmet,
        since,
    })
}
