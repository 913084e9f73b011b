//! Rules of iptables' table `filter`.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::iptables_rule::Rule;
use crate::change::captured::Captured;
use crate::change::shell::{Line, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Change, Guard, Kind, Refused, RunsOn};
use crate::firewall::packet::Interface;

/// The programs of one backend.
#[derive(Clone, Copy)]
struct Backend {
    rules: Program,
    save: Program,
    restore: Program,
}

/// Their dumps are called as the programs that print them.
const BACKENDS: [Backend; 3] = [
    Backend {
        rules: Program::Iptables,
        save: Program::IptablesSave,
        restore: Program::IptablesRestore,
    },
    Backend {
        rules: Program::IptablesNft,
        save: Program::IptablesNftSave,
        restore: Program::IptablesNftRestore,
    },
    Backend {
        rules: Program::IptablesLegacy,
        save: Program::IptablesLegacySave,
        restore: Program::IptablesLegacyRestore,
    },
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
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

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
        for backend in BACKENDS {
            let path = Entry::Printed(&node, backend.save.name()).path();
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
            return Ok(told(&node, backend, &rules, path, &text));
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
pub(crate) fn interfaces(change: &Iptables) -> Vec<(Option<Interface>, Option<Interface>)> {
    let rules = change
        .rules
        .iter()
        .filter_map(|rule| Rule::parse(rule).ok());
    rules.filter_map(|rule| rule.accepts()).collect()
}

fn told(node: &str, backend: Backend, rules: &[Rule], path: String, before: &str) -> Applied {
    let lines = rules.iter().map(Rule::test_line);
    let table = std::iter::once("*filter".to_owned())
        .chain(lines)
        .chain(["COMMIT".to_owned()]);
    let printed = table.fold(run(Program::Printf).word("%s\\n"), |command, line| {
        command.on(Word::Checked(line))
    });
    let tested = printed.pipe(run(backend.restore).words(&["--test", "--noflush"]));
    // For a person to compare with: it is not loaded again, since that would undo what others changed meanwhile.
    let save = Script::from(Line::Save(
        run(backend.save).into(),
        Word::saved("iptables.rules"),
    ));
    let back = rules
        .iter()
        .rev()
        .filter_map(|rule| rule.undone(backend.rules, rule.policy(before)));
    let guards = rules
        .iter()
        .map(|rule| rule.guard(backend.rules, rule.policy(before)));
    let (tests, says): (Vec<Test>, Vec<String>) =
        guards.map(|guard| (guard.test, guard.says)).unzip();
    let name = backend.save.name();
    Applied {
        title: format!("Change {} rule(s) of iptables on {node}", rules.len()),
        changed: vec![path],
        actions: vec![Action {
            text: "Change the running rules.".into(),
            place: RunsOn::Node(node.to_owned()),
            guard: Some(Guard {
                test: Test::All(tests),
                says: says.join(", and "),
            }),
            dry_run: tested.into(),
            backup: Vec::new(),
            act: Act::Script(rules.iter().fold(save, |script, rule| script.run(rule.command(backend.rules)))),
            expect: format!("'{name} -t filter' shows the rules."),
            back: Back::Script(back.fold(Script::default(), Script::then)),
            interrupts: "Nothing: rules take effect for the next packet.".into(),
        }],
        assumes: vec!["the rules are also put where the node loads them at boot; what runs iptables (Docker, a CNI, kube-proxy, a firewall service) may change them again".into()],
        simulated: true,
        ..Applied::default()
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let rule = format!("-I FORWARD -i {} -j ACCEPT", trial.bad);
    vec![serde_json::json!({"iptables": {"rules": [rule, "-P FORWARD ACCEPT"]}})]
}
