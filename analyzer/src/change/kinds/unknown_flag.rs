//! A flag that this release of the kubelet does not know any more, taken out of its arguments.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kubelet_flag::KubeletFlag;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A node, and what its kubelet says before it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnknownFlag {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// A sentence with `unknown flag: --NAME`.
    pub sentence: String,
}

impl Kind for UnknownFlag {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let flag = named(&self.sentence).ok_or_else(|| {
            Refused::new("only a flag that the kubelet does not know can go without another value; which value was meant is known to whoever set it")
        })?;
        let change = KubeletFlag {
            node: self.node.clone(),
            path: None,
            flag: flag.clone(),
            value: None,
            unit: None,
        };
        let mut applied = change.apply(state)?;
        applied.costs.push(format!(
            "what --{flag} did in an older release is set in the kubelet's file or in the container runtime, or not at all"
        ));
        Ok(applied.only_there(format!(
            "the kubelet starts without --{flag}; only the node shows whether it then stays up"
        )))
    }
}

fn named(sentence: &str) -> Option<String> {
    let flag = Regex::new(r"unknown flag: --([a-z0-9][a-z0-9-]*)").ok()?;
    Some(flag.captures(sentence)?[1].to_owned())
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let of = |sentence: &str| serde_json::json!({"unknown-flag": {"sentence": sentence}});
    vec![of("unknown flag: --x"), of(trial.bad)]
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn the_flag_is_the_one_that_the_kubelet_names() {
        let said = "failed to parse kubelet flag: unknown flag: --network-plugin";
        assert_eq!(named(said).as_deref(), Some("network-plugin"));
        assert_eq!(
            named("failed to run Kubelet: unable to read physical memory"),
            None
        );
    }
}
