//! Rules of ufw for routed traffic.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry;
use super::ufw_rule::RouteRule;
use crate::change::captured::Captured;
use crate::change::shell::{Command, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Change, Guard, Kind, Refused, RunsOn};
use crate::firewall::packet::Interface;

const USER_RULES: &str = "/etc/ufw/user.rules";
/// Dumps that hold the rules which ufw loads.
const DUMPS: [&str; 2] = ["iptables-save", "iptables-nft-save"];

/// Rules to add, in the words of `ufw route`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UfwRoute {
    /// Node.
    pub node: String,
    /// E.g. `allow in on lxc+ out on eno1`.
    pub rules: Vec<String>,
}

impl Kind for UfwRoute {
    fn sets(&self) -> Vec<(String, String)> {
        let rules = self.rules.iter().filter_map(|rule| {
            let rule = rule
                .trim()
                .trim_start_matches("ufw ")
                .trim_start_matches("route ");
            let (action, rest) = rule.split_once(' ')?;
            let what = format!("routed traffic {rest} on {}", self.node);
            Some((what, action.to_owned()))
        });
        rules.collect()
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let rules: Vec<RouteRule> = self
            .rules
            .iter()
            .map(|rule| RouteRule::parse(rule))
            .collect::<Result<_, _>>()?;
        if rules.is_empty() {
            return Err(Refused::new("no ufw rule is named"));
        }
        let mut changed = Vec::new();
        for dump in DUMPS {
            let path = Entry::Printed(&self.node, dump).path();
            if let Some(text) = state.now(&path)
                && let Some(edited) = in_dump(&text, &rules)
            {
                state.set(&path, edited);
                changed.push(path);
            }
        }
        let user = entry(&self.node, USER_RULES);
        let guard = self.guard(state, &user);
        if let Some(text) = state.now(&user) {
            state.set(&user, in_user_rules(&text, &rules));
            changed.push(user);
        }
        if changed.is_empty() {
            return Err(Refused::new(format!(
                "the bundle holds neither {USER_RULES} nor iptables-save with ufw's chains for node {:?}",
                self.node
            )));
        }
        Ok(self.told(&rules, guard, changed))
    }

    /// Each rule may be unnecessary: answers pass as RELATED,ESTABLISHED before any rule of the user's.
    fn narrower(&self) -> Vec<Change> {
        let smaller = super::each_left_out(&self.rules).into_iter();
        let change = |rules| {
            Change::UfwRoute(Self {
                node: self.node.clone(),
                rules,
            })
        };
        smaller.map(change).collect()
    }
}

impl UfwRoute {
    /// ufw writes its file itself, so a copy without its comments is enough to know that nobody else did.
    fn guard(&self, state: &mut Captured, user: &str) -> Option<Guard> {
        let file = Word::text(USER_RULES);
        let says = || format!("{USER_RULES} is as it was when the bundle was collected");
        let text = match state.before(user) {
            Some(text) if state.now(user).as_ref() == Some(&text) => text,
            Some(_) => return None,
            None => {
                return state.altered(user).is_none().then(|| Guard {
                    test: Test::Missing(file),
                    says: format!("{USER_RULES} still does not exist"),
                });
            }
        };
        state.altered(user).is_none().then(|| Guard {
            test: Test::Sha256(file, casefile_bundle::sha256_hex(text.as_bytes())),
            says: says(),
        })
    }

    fn told(&self, rules: &[RouteRule], guard: Option<Guard>, changed: Vec<String>) -> Applied {
        let each = |call: &dyn Fn(&RouteRule) -> Command| {
            rules
                .iter()
                .fold(Script::default(), |script, rule| script.run(call(rule)))
        };
        let words = |command: Command, rule: &RouteRule| {
            rule.words()
                .split(' ')
                .fold(command, |command, word| command.text(word))
        };
        Applied {
            title: format!(
                "Add {} rule(s) for routed traffic to ufw on {}",
                rules.len(),
                self.node
            ),
            changed,
            actions: vec![Action {
                text: "Allow the routed traffic.".into(),
                place: RunsOn::Node(self.node.clone()),
                guard,
                dry_run: each(&|rule| {
                    words(run(Program::Ufw).words(&["--dry-run", "route"]), rule)
                }),
                backup: vec![USER_RULES.into(), "/etc/ufw/user6.rules".into()],
                act: Act::Script(each(&|rule| words(run(Program::Ufw).word("route"), rule))),
                expect: "'ufw status verbose' lists each rule as ALLOW FWD.".into(),
                back: Back::Script(each(&|rule| {
                    words(run(Program::Ufw).words(&["route", "delete"]), rule)
                })),
                interrupts: "Nothing: ufw adds the rules to the running chains.".into(),
            }],
            simulated: true,
            ..Applied::default()
        }
    }
}

/// The interfaces that each rule which allows something goes in and out on.
pub(crate) fn interfaces(change: &UfwRoute) -> Vec<(Option<Interface>, Option<Interface>)> {
    let rules = change
        .rules
        .iter()
        .filter_map(|rule| RouteRule::parse(rule).ok());
    let interface = |name: &Option<String>| name.as_deref().map(Interface::parse);
    rules
        .filter(RouteRule::allows)
        .map(|rule| (interface(&rule.input), interface(&rule.output)))
        .collect()
}

/// The rules at the end of `ufw-user-forward` in a dump; none where the dump has no such chain.
fn in_dump(text: &str, rules: &[RouteRule]) -> Option<String> {
    const CHAIN: &str = ":ufw-user-forward ";
    const RULE: &str = "-A ufw-user-forward ";
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.iter().position(|line| line.starts_with(CHAIN))?;
    let last_own = lines.iter().rposition(|line| line.contains(RULE));
    let after_chains = lines.iter().rposition(|line| line.starts_with(":ufw-"));
    let at = last_own.or(after_chains)? + 1;
    // A dump with counters has them before every rule.
    let counters = lines
        .iter()
        .any(|line| line.starts_with('[') && line.contains("] -A "));
    let prefix = if counters { "[0:0] " } else { "" };
    let added = rules.iter().flat_map(RouteRule::chain_rules);
    lines.splice(at..at, added.map(|rule| format!("{prefix}{rule}")));
    Some(lines.join("\n") + "\n")
}

fn in_user_rules(text: &str, rules: &[RouteRule]) -> String {
    let mut added = String::new();
    for rule in rules {
        added.push_str(&rule.tuple());
        added.push('\n');
        for line in rule.chain_rules() {
            added.push_str(&line);
            added.push('\n');
        }
        added.push('\n');
    }
    match text.find("### END RULES ###") {
        Some(at) => format!("{}{added}{}", &text[..at], &text[at..]),
        None => format!("{text}{added}"),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let rule = format!("allow in on {}", trial.bad);
    vec![serde_json::json!({"ufw-route": {"node": trial.node, "rules": [rule, "allow in on a"]}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_go_to_the_end_of_the_users_chain_with_counters_where_the_dump_has_them() {
        let dump = "*filter\n:FORWARD DROP [2:90]\n:ufw-user-forward - [0:0]\n[2:90] -A FORWARD -j ufw-user-forward\n[1:1] -A ufw-user-forward -i a -j DROP\nCOMMIT\n";
        let rule = RouteRule::parse("allow in on lxc+").unwrap();
        let edited = in_dump(dump, &[rule]).unwrap();
        assert!(
            edited.contains("-i a -j DROP\n[0:0] -A ufw-user-forward -i lxc+ -j ACCEPT\nCOMMIT"),
            "{edited}"
        );
    }

    #[test]
    fn a_dump_without_ufw_is_not_touched() {
        let rule = RouteRule::parse("allow in on lxc+").unwrap();
        assert_eq!(
            in_dump("*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n", &[rule]),
            None
        );
    }
}
