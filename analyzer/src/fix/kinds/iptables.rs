//! Rules of iptables' table `filter`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::iptables_rule::Rule;
use crate::firewall::packet::Interface;
use crate::fix::captured::Captured;
use crate::fix::change::{Action, Applied, Change, Kind, Place, Refused, quoted};

/// Dumps of the rules, one for each backend.
const DUMPS: [(&str, &str); 3] = [
    ("iptables-save", "iptables"),
    ("iptables-nft-save", "iptables-nft"),
    ("iptables-legacy-save", "iptables-legacy"),
];

/// Rules to add or remove, in iptables' words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iptables {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// E.g. `-I FORWARD -i cni0 -j ACCEPT`, `-D FORWARD ...` or `-P FORWARD ACCEPT`.
    pub rules: Vec<String>,
}

impl Kind for Iptables {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let rules: Vec<Rule> = self
            .rules
            .iter()
            .map(|rule| Rule::parse(rule))
            .collect::<Result<_, _>>()?;
        if rules.is_empty() {
            return Err(Refused::new("no rule is named"));
        }
        let node = super::node(self.node.as_deref(), state)?;
        for (dump, program) in DUMPS {
            let path = format!("nodes/{node}/commands/{dump}.out");
            let Some(text) = state.now(&path) else {
                continue;
            };
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let mut took = Ok(());
            for rule in &rules {
                took = took.and_then(|()| {
                    rule.apply(&mut lines)
                        .map_err(|why| Refused::new(format!("{path}: {why}")))
                });
            }
            took?;
            state.set(&path, lines.join("\n") + "\n");
            return Ok(told(&node, program, &rules, path));
        }
        Err(Refused::new(format!(
            "the bundle holds no iptables-save of node {node}, so nothing can be shown about its rules"
        )))
    }

    /// Each rule may be unnecessary.
    fn narrower(&self) -> Vec<Change> {
        let smaller = super::each_left_out(&self.rules).into_iter();
        let change = |rules| {
            Change::Iptables(Self {
                node: self.node.clone(),
                rules,
            })
        };
        smaller.map(change).collect()
    }
}

/// The interfaces that each rule which accepts something goes in and out on.
pub(in crate::fix) fn interfaces(change: &Iptables) -> Vec<(Option<Interface>, Option<Interface>)> {
    let rules = change
        .rules
        .iter()
        .filter_map(|rule| Rule::parse(rule).ok());
    rules.filter_map(|rule| rule.accepts()).collect()
}

fn told(node: &str, program: &str, rules: &[Rule], path: String) -> Applied {
    let all = |of: &dyn Fn(&Rule) -> String| rules.iter().map(of).collect::<Vec<_>>().join("\n");
    let check = rules
        .iter()
        .map(|rule| rule.test_line())
        .collect::<Vec<_>>()
        .join("\\n");
    Applied {
        title: format!("Change {} rule(s) of iptables on {node}", rules.len()),
        changed: vec![path],
        actions: vec![Action {
            text: "Change the running rules.".into(),
            place: Place::Node(node.to_owned()),
            guard: rules.iter().find_map(|rule| rule.guard(program)),
            dry_run: Some(format!("printf '*filter\\n%b\\nCOMMIT\\n' {} | {program}-restore --test --noflush", quoted(&check))),
            backup: Vec::new(),
            command: Some(format!("{program}-save > \"$backup/iptables.rules\"\n{}", all(&|rule| rule.command(program)))),
            expect: format!("'{program}-save -t filter' shows the rules."),
            roll_back: format!("{program}-restore < \"$backup/iptables.rules\""),
            interrupts: "Nothing: rules take effect for the next packet.".into(),
        }],
        assumes: vec!["the rules are also put where the node loads them at boot; what runs iptables (Docker, a CNI, kube-proxy, a firewall service) may change them again".into()],
        simulated: true,
        ..Applied::default()
    }
}
