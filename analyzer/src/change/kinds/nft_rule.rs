//! A rule of nftables that is deleted, found by what it says: its handle is known on the node only. Where a chain's policy
//! drops what no rule decides, the policy is set to accept.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nft_policy;
use super::nft_text::{Found, Rule, find, is_plain, pattern};
use crate::change::captured::Captured;
use crate::change::shell::{Command, Line, Pipe, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};
use crate::firewall::packet::Interface;

/// A rule as `nft list ruleset` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NftRule {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Family and name of the table, e.g. `inet filter`.
    pub table: String,
    /// Chain.
    pub chain: String,
    /// The rule, e.g. `iifname "cni0" drop`; what its counter counts may differ. `policy drop` is the chain's policy.
    pub rule: String,
}

impl Kind for NftRule {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let place = self.place()?;
        let node = super::node(self.node.as_deref(), state)?;
        let path = Entry::Printed(&node, "nft-list-ruleset").path();
        let text = state.now(&path).ok_or_else(|| {
            Refused::new(format!(
                "{path} is not in the bundle, so nothing can be shown about its rules"
            ))
        })?;
        if place.rule == nft_policy::DROP {
            let accepting = nft_policy::accepting(&text, &place);
            let accepting = accepting.map_err(|why| Refused::new(format!("{path}: {why}")))?;
            state.set(&path, accepting);
            return Ok(nft_policy::told(&node, &place, path));
        }
        let found = find(&text, &place).map_err(|why| Refused::new(format!("{path}: {why}")))?;
        let kept = text.lines().enumerate().filter(|(at, _)| *at != found.line);
        let lines: Vec<&str> = kept.map(|(_, line)| line).collect();
        state.set(&path, lines.join("\n") + "\n");
        Ok(Step {
            node: &node,
            rule: &place,
            found,
        }
        .told(path))
    }
}

impl NftRule {
    fn place(&self) -> Result<Rule, Refused> {
        let wrong =
            |what: &str, text: &str| Refused::new(format!("{text:?} is no {what} of nftables"));
        let name = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
            text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && text.bytes().all(plain)
        };
        let (family, table) = self
            .table
            .split_once(' ')
            .filter(|(family, table)| ["inet", "ip", "ip6"].contains(family) && name(table))
            .ok_or_else(|| wrong("table", &self.table))?;
        if !name(&self.chain) {
            return Err(wrong("chain", &self.chain));
        }
        if !is_plain(&self.rule) {
            return Err(wrong("rule that is understood here", &self.rule));
        }
        Ok(Rule {
            family: family.to_owned(),
            table: table.to_owned(),
            chain: self.chain.clone(),
            rule: self.rule.trim().to_owned(),
        })
    }
}

/// The interfaces that the rule asks for, for what its end lets through.
pub(crate) fn interfaces(change: &NftRule) -> Vec<(Option<Interface>, Option<Interface>)> {
    let words: Vec<&str> = change.rule.split_whitespace().collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        let value = words.get(at + 1)?.trim_matches('"').replace('*', "+");
        (value != "!=" && value != "{").then(|| Interface::parse(&value))
    };
    vec![(after("iifname"), after("oifname"))]
}

struct Step<'a> {
    node: &'a str,
    rule: &'a Rule,
    found: Found,
}

impl Step<'_> {
    fn nft(&self, verb: &[&'static str]) -> Command {
        let (family, table, chain) = (&self.rule.family, &self.rule.table, &self.rule.chain);
        run(Program::Nft)
            .words(verb)
            .text(family)
            .text(table)
            .text(chain)
    }

    /// The rule's line with its handle, as often as it is there.
    fn lines(&self, option: &'static str) -> Pipe {
        // Without what counters count, and with handles.
        let list = self.nft(&["-s", "-a", "list", "chain"]);
        let own = run(Program::Grep).word(option).words(&["-x", "-E"]);
        list.pipe(own.text(pattern(&self.found.stateless)))
    }

    fn handle(&self) -> Line {
        let cut = run(Program::Sed)
            .word("-E")
            .word("s/.* # handle ([0-9]+)$/\\1/");
        Line::Save(self.lines("-h").pipe(cut), Word::saved("handle"))
    }

    /// Puts the rule back where it was: before the one that came after it, or at the end.
    fn back(&self) -> Script {
        let put = match self.found.index {
            Some(index) => self
                .nft(&["insert", "rule"])
                .word("index")
                .text(index.to_string()),
            None => self.nft(&["add", "rule"]),
        };
        // nft joins its words to one line, which holds no end of a statement: `is_plain` has looked.
        let put = put.on(Word::Checked(self.found.stateless.clone()));
        let there = Script::from(Line::Say("the rule is there"));
        let gone = Line::If(Test::Succeeds(self.lines("-c").quiet()), there, put.into());
        let untouched = Script::from(Line::Say("nothing was changed"));
        Line::If(Test::IsSaved(Word::saved("handle")), gone.into(), untouched).into()
    }

    fn told(&self, path: String) -> Applied {
        let Rule {
            family,
            table,
            chain,
            rule,
        } = self.rule;
        let node = self.node;
        let list = Line::Save(
            self.nft(&["-a", "list", "chain"]).into(),
            Word::saved("chain.nft"),
        );
        let delete = self
            .nft(&["delete", "rule"])
            .word("handle")
            .on(Word::saved_text("handle"));
        Applied {
            title: format!("Delete the rule '{rule}' of chain {chain} in {family} {table} on {node}"),
            changed: vec![path],
            actions: vec![Action {
                text: format!("Delete the rule '{rule}' of chain {chain}, by the handle that it has on the node."),
                place: RunsOn::Node(node.to_owned()),
                guard: Some(Guard {
                    test: Test::Prints(self.lines("-c"), Word::text("1")),
                    says: format!("the chain {chain} of {family} {table} holds the rule '{rule}' once"),
                }),
                dry_run: self.lines("-h").into(),
                backup: Vec::new(),
                act: Act::Script(Script::from(list).then(self.handle()).run(delete)),
                expect: format!("'nft list chain {family} {table} {chain}' does not show the rule."),
                back: Back::Script(self.back()),
                interrupts: "Nothing: rules take effect for the next packet.".into(),
            }],
            assumes: vec![
                "the rule is also taken out of what loads it at boot (/etc/nftables.conf, or the program that wrote it)".into(),
            ],
            costs: vec![format!("what the rule '{rule}' stopped on {node} passes, unless another rule stops it")],
            simulated: true,
            ..Applied::default()
        }
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let of = |table: &str, rule: &str| serde_json::json!({"nft-rule": {"table": table, "chain": "forward", "rule": rule}});
    vec![
        of("inet own", "iifname \"cni0\" counter drop"),
        of("ip own", "policy drop"),
        of("inet own", &format!("iifname \"{}\" drop", trial.bad)),
        of(&format!("inet {}", trial.bad), "drop"),
    ]
}
