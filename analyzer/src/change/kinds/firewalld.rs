//! Interfaces and ranges of a zone of firewalld.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::captured::Captured;
use crate::change::shell::{Command, Line, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};
use crate::firewall::packet::Interface;

/// The zone whose chains end in an accept; of any other only what its captured chains say is known.
const TRUSTED: &str = "trusted";

/// What a zone shall have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Firewalld {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Zone, e.g. `trusted`.
    pub zone: String,
    /// Interfaces, e.g. `cni0`, or `cali+` for all whose names begin so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// Ranges of addresses, e.g. `10.42.0.0/16`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// One of them, and the option's words for it.
struct Member<'a> {
    name: &'a str,
    query: &'static str,
    zone_of: &'static str,
    add: &'static str,
    remove: &'static str,
    /// What a rule of nft asks of a packet.
    asks: String,
}

impl Kind for Firewalld {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        self.check()?;
        let node = super::node(self.node.as_deref(), state)?;
        let path = format!("nodes/{node}/commands/nft-list-ruleset.out");
        let text = state.now(&path).unwrap_or_default();
        let edited = self.edited(&text).ok_or_else(|| {
            Refused::new(format!(
                "{path} holds no zones of firewalld, so nothing can be shown about them"
            ))
        })?;
        state.set(&path, edited);
        Ok(self.told(&node, path))
    }
}

impl Firewalld {
    fn check(&self) -> Result<(), Refused> {
        let plain = |text: &str, also: &[u8]| {
            let known = |byte: u8| byte.is_ascii_alphanumeric() || also.contains(&byte);
            text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.bytes().all(known)
        };
        if !plain(&self.zone, b"_-") {
            return Err(Refused::new(format!(
                "{:?} is no zone of firewalld",
                self.zone
            )));
        }
        let wrong = self
            .interfaces
            .iter()
            .find(|one| one.len() > 15 || !plain(one, b"._-+"));
        if let Some(name) = wrong {
            return Err(Refused::new(format!("{name:?} is no interface")));
        }
        let is_range = |text: &str| {
            let (address, length) = text.split_once('/').unwrap_or((text, "0"));
            address.parse::<IpAddr>().is_ok() && length.parse::<u8>().is_ok_and(|bits| bits <= 128)
        };
        if let Some(range) = self.sources.iter().find(|one| !is_range(one)) {
            return Err(Refused::new(format!("{range:?} is no range of addresses")));
        }
        if self.interfaces.is_empty() && self.sources.is_empty() {
            return Err(Refused::new("no interface and no range is named"));
        }
        Ok(())
    }

    fn members(&self) -> Vec<Member<'_>> {
        let interfaces = self.interfaces.iter().map(|name| Member {
            name,
            query: "--query-interface",
            zone_of: "--get-zone-of-interface",
            add: "--add-interface",
            remove: "--remove-interface",
            asks: format!("iifname \"{}\"", name.replace('+', "*")),
        });
        let sources = self.sources.iter().map(|range| Member {
            name: range,
            query: "--query-source",
            zone_of: "--get-zone-of-source",
            add: "--add-source",
            remove: "--remove-source",
            asks: format!(
                "{} saddr {range}",
                if range.contains(':') { "ip6" } else { "ip" }
            ),
        });
        // As firewalld orders them.
        sources.chain(interfaces).collect()
    }

    /// The dump with a rule for each member at the head of the chains that choose the zone of a packet that comes in.
    fn edited(&self, text: &str) -> Option<String> {
        let table = text
            .lines()
            .position(|line| line.trim() == "table inet firewalld {")?;
        let mut lines: Vec<String> = Vec::new();
        let mut needed: Vec<String> = Vec::new();
        let mut chain = String::new();
        for (at, line) in text.lines().enumerate() {
            lines.push(line.to_owned());
            let head = line.trim().strip_prefix("chain ");
            if let Some(name) = head
                .and_then(|rest| rest.strip_suffix(" {"))
                .filter(|_| at > table)
            {
                name.clone_into(&mut chain);
                if let Some(goal) = goal(text, name, &self.zone) {
                    let rules = self.members().into_iter();
                    lines.extend(rules.map(|one| format!("\t\t{} goto {goal}", one.asks)));
                    needed.push(goal);
                }
            }
        }
        if needed.is_empty() {
            return None;
        }
        needed.retain(|goal| !text.contains(&format!("chain {goal} {{")));
        let ending = if self.zone == TRUSTED {
            "\t\taccept\n"
        } else {
            ""
        };
        let new = needed
            .iter()
            .map(|goal| format!("\tchain {goal} {{\n{ending}\t}}"));
        lines.splice(table + 1..table + 1, new.collect::<Vec<_>>());
        Some(lines.join("\n") + "\n")
    }

    fn told(&self, node: &str, path: String) -> Applied {
        let zone = &self.zone;
        let names: Vec<&str> = self.members().iter().map(|one| one.name).collect();
        let names = names.join(", ");
        Applied {
            title: format!("Put {names} into firewalld's zone {zone} on {node}"),
            changed: vec![path],
            actions: vec![Action {
                text: format!(
                    "Put {names} into firewalld's zone {zone}, now and for the next start. Nothing is reloaded."
                ),
                place: RunsOn::Node(node.to_owned()),
                guard: Some(self.guard()),
                dry_run: run(Program::FirewallCmd).word("--get-active-zones").into(),
                backup: vec![self.file()],
                act: Act::Script(self.put_in()),
                expect: format!("'firewall-cmd --zone={zone} --list-all' shows {names}."),
                back: Back::Script(self.taken_out()),
                interrupts: "Nothing: rules take effect for the next packet.".into(),
            }],
            costs: vec![format!(
                "what comes in on {names} is treated as zone {zone} says on {node}: the zone trusted lets everything pass"
            )],
            simulated: true,
            ..Applied::default()
        }
    }

    fn call(&self, permanent: bool) -> Command {
        let command = run(Program::FirewallCmd);
        let command = if permanent {
            command.word("--permanent")
        } else {
            command
        };
        command.with("--zone", Word::text(&self.zone))
    }

    fn guard(&self) -> Guard {
        let runs = Test::Succeeds(run(Program::FirewallCmd).word("--state").quiet());
        let in_none = self.members().into_iter().map(|one| {
            let asked = run(Program::FirewallCmd).with(one.zone_of, Word::text(one.name));
            Test::Fails(asked.quiet())
        });
        let names: Vec<&str> = self.members().iter().map(|one| one.name).collect();
        Guard {
            says: format!(
                "firewalld runs, and {} is in none of its zones",
                names.join(", ")
            ),
            test: Test::All(std::iter::once(runs).chain(in_none).collect()),
        }
    }

    fn put_in(&self) -> Script {
        self.members()
            .iter()
            .fold(Script::default(), |script, one| {
                let add = |permanent| self.call(permanent).with(one.add, Word::text(one.name));
                script.run(add(true)).run(add(false))
            })
    }

    /// Where firewalld keeps what is the site's own of the zone.
    fn file(&self) -> String {
        format!("/etc/firewalld/zones/{}.xml", self.zone)
    }

    fn taken_out(&self) -> Script {
        let mut script = Script::default();
        for one in &self.members() {
            for permanent in [false, true] {
                let there = self.call(permanent).with(one.query, Word::text(one.name));
                let remove = self.call(permanent).with(one.remove, Word::text(one.name));
                let gone = Line::Say("it is not in the zone");
                let there = Test::Succeeds(there.quiet());
                script = script.then(Line::If(there, remove.into(), gone.into()));
            }
        }
        script.then(Line::Restore(Word::text(self.file())))
    }
}

/// The chain of a zone that a chain sends packets to which chooses one for what comes in: `filter_FORWARD_ZONES` ends in
/// `goto filter_FWD_public`, before firewalld 1.0 `filter_FORWARD_IN_ZONES` in `goto filter_FWDI_public`.
fn goal(text: &str, chain: &str, zone: &str) -> Option<String> {
    let chooses =
        chain.starts_with("filter_") && chain.contains("_ZONES") && !chain.contains("OUT");
    let body = text.split_once(&format!("chain {chain} {{"))?.1;
    let mut rules = body
        .lines()
        .skip(1)
        .map(str::trim)
        .take_while(|line| *line != "}");
    let target = rules.find_map(|rule| rule.split_once("goto ").map(|(_, target)| target));
    let (prefix, _) = target.filter(|_| chooses)?.rsplit_once('_')?;
    Some(format!("{prefix}_{zone}"))
}

/// The ways in that a change opens.
pub(crate) fn interfaces(change: &Firewalld) -> Vec<(Option<Interface>, Option<Interface>)> {
    let all = change.interfaces.iter();
    all.map(|name| (Some(Interface::parse(name)), None))
        .collect()
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"firewalld": {"zone": "trusted", "interfaces": [trial.bad], "sources": ["10.0.0.0/8"]}}),
        serde_json::json!({"firewalld": {"zone": trial.bad, "sources": [trial.bad]}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "table ip x {\n}\ntable inet firewalld {\n\tchain filter_FORWARD_ZONES {\n\t\tgoto filter_FWD_public\n\t}\n\tchain filter_OUTPUT_ZONES {\n\t\tgoto filter_OUT_public\n\t}\n\tchain filter_FWD_public {\n\t\treject\n\t}\n}\n";

    fn change(interfaces: &[&str]) -> Firewalld {
        Firewalld {
            node: None,
            zone: "trusted".into(),
            interfaces: interfaces.iter().map(|one| (*one).to_owned()).collect(),
            sources: vec!["10.42.0.0/16".into()],
        }
    }

    #[test]
    fn the_zone_is_chosen_before_any_other() {
        let text = change(&["cali+"]).edited(RULES).unwrap();
        let wanted = "\tchain filter_FORWARD_ZONES {\n\t\tip saddr 10.42.0.0/16 goto filter_FWD_trusted\n\t\tiifname \"cali*\" goto filter_FWD_trusted\n\t\tgoto filter_FWD_public\n\t}\n\tchain filter_OUTPUT_ZONES {\n\t\tgoto";
        assert!(text.contains(wanted), "{text}");
        assert!(
            text.contains("firewalld {\n\tchain filter_FWD_trusted {\n\t\taccept\n\t}\n"),
            "{text}"
        );
        assert_eq!(change(&["a"]).edited("table ip x {\n}\n"), None);
    }

    #[test]
    fn what_is_no_interface_range_or_zone_is_refused() {
        assert!(change(&["cni0", "flannel.1"]).check().is_ok());
        for bad in ["--all", "a b", "$(x)", "an-interface-that-is-too-long"] {
            assert!(change(&[bad]).check().is_err(), "{bad}");
        }
        let range = Firewalld {
            sources: vec!["10.0.0.0/8;x".into()],
            ..change(&[])
        };
        assert!(range.check().is_err());
    }
}
