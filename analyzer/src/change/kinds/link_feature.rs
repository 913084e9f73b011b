//! A feature that a network device does itself, such as checksums of what it sends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::captured::Captured;
use crate::change::shell::{Command, Line, Pipe, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// A device, and a feature of it that is switched off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFeature {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Device, e.g. `flannel.1`.
    pub link: String,
    /// Feature as ethtool names it, e.g. `tx-checksum-ip-generic`.
    pub feature: String,
}

impl Kind for LinkFeature {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        self.check()?;
        let node = super::node(self.node.as_deref(), state)?;
        Ok(self.told(&node))
    }
}

impl LinkFeature {
    fn check(&self) -> Result<(), Refused> {
        let plain = |text: &str, also: &[u8]| {
            let known = |byte: u8| byte.is_ascii_alphanumeric() || also.contains(&byte);
            text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.bytes().all(known)
        };
        // What the kernel takes for a name has 15 characters at most.
        if self.link.len() > 15 || !plain(&self.link, b"._-") {
            return Err(Refused::new(format!("{:?} is no interface", self.link)));
        }
        if !plain(&self.feature, b"-") {
            return Err(Refused::new(format!(
                "{:?} is no feature of a device",
                self.feature
            )));
        }
        Ok(())
    }

    fn set(&self, value: &'static str) -> Command {
        let command = run(Program::Ethtool).with("-K", Word::text(&self.link));
        command.text(&self.feature).word(value)
    }

    /// Succeeds where the feature has this value. One that is `[fixed]` cannot be changed, and has none.
    fn is(&self, value: &str) -> Pipe {
        let list = run(Program::Ethtool).with("-k", Word::text(&self.link));
        let line = format!("[[:space:]]*{}: {value}", self.feature);
        list.pipe(run(Program::Grep).words(&["-c", "-x", "-E"]).text(line))
            .quiet()
    }

    fn told(&self, node: &str) -> Applied {
        let (link, feature) = (&self.link, &self.feature);
        let on = Line::Say("the feature is on");
        let back = Line::If(
            Test::Succeeds(self.is("off")),
            self.set("on").into(),
            on.into(),
        );
        let list = run(Program::Ethtool).with("-k", Word::text(link));
        let shown = list.pipe(run(Program::Grep).word("-F").text(feature));
        Applied {
            title: format!("Switch {feature} of {link} on {node} off"),
            actions: vec![Action {
                text: format!("Switch {feature} of {link} off."),
                place: RunsOn::Node(node.to_owned()),
                guard: Some(Guard {
                    test: Test::Succeeds(self.is("on")),
                    says: format!("{feature} of {link} is on, and can be changed"),
                }),
                dry_run: shown.into(),
                backup: Vec::new(),
                act: Act::Script(Script::from(self.set("off"))),
                expect: format!("'ethtool -k {link}' says {feature}: off."),
                back: Back::Script(back.into()),
                interrupts: "Nothing: it takes effect for the next packet.".into(),
            }],
            runtime: vec![format!(
                "{feature} of {link} is switched off on {node}; only traffic shows whether that helps"
            )],
            assumes: vec![format!(
                "what makes {link} at a boot is told the same, for a new device has the feature on again"
            )],
            ..Applied::default()
        }
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let of = |link: &str, feature: &str| serde_json::json!({"link-feature": {"link": link, "feature": feature}});
    vec![
        of("flannel.1", "tx-checksum-ip-generic"),
        of(trial.bad, "x"),
        of("a", trial.bad),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_interface_or_no_feature_is_refused() {
        let of = |link: &str, feature: &str| {
            let change = LinkFeature {
                node: None,
                link: link.into(),
                feature: feature.into(),
            };
            change.check()
        };
        assert!(of("vxlan.calico", "tx-checksum-ip-generic").is_ok());
        for (link, feature) in [
            ("-K", "x"),
            ("a b", "x"),
            ("an-interface-that-is-too-long", "x"),
            ("a", "x.*"),
        ] {
            assert!(of(link, feature).is_err(), "{link} {feature}");
        }
    }
}
