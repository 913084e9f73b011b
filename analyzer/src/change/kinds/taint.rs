//! A taint of a node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object::Named;
use crate::change::captured::Captured;
use crate::change::shell::{Line, Pipe, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// A node, and a taint that it shall have or lose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Taint {
    /// Node.
    pub node: String,
    /// Key.
    pub key: String,
    /// Value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
    /// Remove it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
}

impl Kind for Taint {
    fn sets(&self) -> Vec<(String, String)> {
        let value = match self.remove {
            true => "removed".to_owned(),
            false => format!("={}", self.value),
        };
        vec![(
            format!("taint {}:{} of {}", self.key, self.effect, self.node),
            value,
        )]
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        if !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&self.effect.as_str()) {
            return Err(Refused::new(format!(
                "{:?} is no effect of a taint; known are NoSchedule, PreferNoSchedule, NoExecute",
                self.effect
            )));
        }
        if !self.key.starts_with(|c: char| c.is_alphanumeric()) {
            return Err(Refused::new(format!("{:?} is no key of a taint", self.key)));
        }
        let named = Named::new("Node", None, &self.node);
        let mut before = None;
        named.edit(state, |node| {
            let taints = node["spec"]["taints"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let own = |taint: &Value| {
                taint["key"] == self.key.as_str() && taint["effect"] == self.effect.as_str()
            };
            before = taints
                .iter()
                .find(|taint| own(taint))
                .map(|taint| taint["value"].as_str().unwrap_or("").to_owned());
            let mut kept: Vec<Value> = taints.into_iter().filter(|taint| !own(taint)).collect();
            if !self.remove {
                kept.push(json!({"key": self.key, "value": self.value, "effect": self.effect}));
            }
            node["spec"]["taints"] = kept.into();
            Ok(())
        })?;
        if self.remove && before.is_none() {
            return Err(Refused::new(format!(
                "{named} has no taint {}:{}",
                self.key, self.effect
            )));
        }
        Ok(self.told(&named, before.as_deref()))
    }
}

impl Taint {
    fn told(&self, named: &Named, before: Option<&str>) -> Applied {
        let set = |value: &str| {
            let value = if value.is_empty() {
                String::new()
            } else {
                format!("={value}")
            };
            format!("{}{value}:{}", self.key, self.effect)
        };
        let gone = format!("{}:{}-", self.key, self.effect);
        let to = if self.remove {
            gone.clone()
        } else {
            set(&self.value)
        };
        let taint = |word: String| {
            let command = run(Program::Kubectl)
                .words(&["taint", "node"])
                .text(&self.node);
            command.word("--overwrite").text(word)
        };
        let has = || self.is_there();
        let back = match before {
            Some(value) => Script::from(taint(set(value))),
            // Where it was never set, kubectl would complain that there is none to remove.
            None => Line::If(Test::Succeeds(has()), taint(gone).into(), Script::default()).into(),
        };
        Applied {
            title: format!(
                "{} the taint {}:{} of {named}",
                if self.remove { "Remove" } else { "Set" },
                self.key,
                self.effect
            ),
            changed: vec![named.entry()],
            actions: vec![Action {
                text: format!("Change the taints of node {}.", self.node),
                place: RunsOn::Cluster,
                guard: Some(Guard {
                    test: if before.is_some() {
                        Test::Succeeds(has())
                    } else {
                        Test::Fails(has())
                    },
                    says: format!(
                        "node {} {} the taint {}",
                        self.node,
                        if before.is_some() {
                            "still has"
                        } else {
                            "does not have"
                        },
                        self.key
                    ),
                }),
                dry_run: taint(to.clone()).word("--dry-run=server").into(),
                backup: Vec::new(),
                act: Act::Script(taint(to).into()),
                expect: "'kubectl describe node' shows the taints.".into(),
                back: Back::Script(back),
                interrupts: if self.effect == "NoExecute" && !self.remove {
                    "Pods on the node that do not tolerate it are evicted.".into()
                } else {
                    "Nothing that runs.".into()
                },
            }],
            assumes: if self.remove {
                vec![
                    "nothing sets the taint again; a node pool's template or an operator would"
                        .into(),
                ]
            } else {
                Vec::new()
            },
            simulated: true,
            ..Applied::default()
        }
    }

    /// Succeeds where the node has the taint: its keys and effects, one a line.
    fn is_there(&self) -> Pipe {
        let get = run(Program::Kubectl)
            .words(&["get", "node"])
            .text(&self.node);
        let lines = "jsonpath={range .spec.taints[*]}{.key}:{.effect}{\"\\n\"}{end}";
        let all = get.with("-o", Word::Fixed(lines));
        let own = run(Program::Grep)
            .words(&["-c", "-x", "-F"])
            .text(format!("{}:{}", self.key, self.effect));
        all.pipe(own).quiet()
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        json!({"taint": {"node": trial.bad, "key": trial.bad, "value": "x", "effect": "NoSchedule"}}),
        json!({"taint": {"node": trial.bad, "key": trial.bad, "effect": "NoSchedule", "remove": true}}),
    ]
}
