//! What the running runtime says of its own handlers, beside what its files define: the program's word goes before a
//! simulation of it.

use std::collections::BTreeSet;

use casefile_bundle::Entry;
use serde_json::Value;

use super::{Resolved, stale};
use crate::containerd::handlers::Cri;
use crate::containerd::instances::Instance;
use crate::containerd::{Answer, EffectiveConfig};
use crate::derive::Known;
use crate::facts::said::SaidOtherwise;
use crate::facts::{AnyFact, Fact};
use crate::model::Place;
use crate::shared::Shared;

/// The handlers that the running runtime lists, and where it does.
pub(super) struct Said {
    handlers: BTreeSet<String>,
    path: String,
}

/// What the instance that the kubelet uses says of itself. Nothing where several runtimes answered, since their answers
/// do not name their files, or where the files are newer than the process, which explains every difference.
pub(super) fn said(
    known: &Known<'_>,
    resolved: &Resolved,
    instance: &Instance,
    config: &EffectiveConfig,
) -> Option<Said> {
    if known.replayed
        || resolved.used(&instance.id) != "yes"
        || stale(known, resolved, instance, config) == "yes"
    {
        return None;
    }
    let status = Entry::Node(&resolved.node, "cri/").path();
    let pasted = Entry::Printed(&resolved.node, "crictl-info").path();
    let is_one = |path: &str| {
        (path.starts_with(&status) && path.ends_with("/status.json")) || path == pasted
    };
    let mut answers = known.documents.iter().filter(|(path, _)| is_one(path));
    let (path, text) = answers.next()?;
    if answers.next().is_some() {
        return None;
    }
    Some(Said {
        handlers: handlers(text)?,
        path: path.clone(),
    })
}

/// Names of the effective configuration that the runtime prints, else of the handlers that it offers.
fn handlers(text: &str) -> Option<BTreeSet<String>> {
    let status: Value = serde_json::from_str(text).ok()?;
    let runtimes = status.pointer("/config/containerd/runtimes");
    if let Some(runtimes) = runtimes.and_then(Value::as_object) {
        return Some(runtimes.keys().cloned().collect());
    }
    let listed = status
        .get("runtimeHandlers")
        .or_else(|| status.get("runtime_handlers"))?;
    let names = listed
        .as_array()?
        .iter()
        .filter_map(|one| one["name"].as_str());
    let names: BTreeSet<String> = names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    (!names.is_empty()).then_some(names)
}

impl Said {
    /// Why a handler's check is not used: the runtime says the opposite.
    pub(super) fn contradicts(&self, handler: &str, resolves: Answer) -> Option<String> {
        match (self.handlers.contains(handler), resolves) {
            (true, Answer::No) => Some(format!(
                "the running runtime lists the handler \"{handler}\" ({}), and the collected files do not define it",
                self.path
            )),
            (false, Answer::Yes) => Some(format!(
                "the running runtime does not list the handler \"{handler}\" ({}), and the collected files define it",
                self.path
            )),
            _ => None,
        }
    }

    /// The contradiction, where the runtime states its side.
    pub(super) fn fact(&self, node: &str, sentence: String) -> AnyFact {
        let data = SaidOtherwise {
            node: node.to_owned(),
            program: "containerd".to_owned(),
            sentence,
        };
        let place = Place {
            path: self.path.as_str().into(),
            line: None,
        };
        Fact {
            data,
            place,
            text: Shared::default(),
            at: None,
        }
        .into()
    }

    /// Whether the runtime lists the same handlers of NVIDIA's as the files define.
    pub(super) fn agrees_on_nvidia(&self, cri: &Cri) -> bool {
        let listed = self.handlers.iter().any(|name| name.contains("nvidia"));
        let defined = cri.nvidia_handlers();
        let by_name = defined.iter().any(|one| one.name.contains("nvidia"));
        listed == by_name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Said {
        Said {
            handlers: handlers(text).unwrap_or_default(),
            path: "status.json".into(),
        }
    }

    #[test]
    fn a_runtime_that_lists_a_handler_goes_before_files_that_lack_it() {
        let said = of(r#"{"config":{"containerd":{"runtimes":{"runc":{},"nvidia":{}}}}}"#);
        assert!(said.contradicts("nvidia", Answer::No).is_some());
        assert!(said.contradicts("nvidia", Answer::Yes).is_none());
        assert!(said.contradicts("kata", Answer::Yes).is_some());
        assert!(said.contradicts("kata", Answer::Unknown).is_none());
    }

    #[test]
    fn without_its_configuration_the_offered_handlers_count_and_nothing_else() {
        let said = of(r#"{"runtimeHandlers":[{"name":""},{"name":"runc"}]}"#);
        assert!(said.contradicts("nvidia", Answer::Yes).is_some());
        for text in [
            "",
            "[]",
            "{}",
            r#"{"runtimeHandlers":[{"name":""}]}"#,
            r#"{"config":[]}"#,
        ] {
            assert!(handlers(text).is_none(), "{text}");
        }
    }
}
