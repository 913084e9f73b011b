//! The policy of a chain of nftables: what becomes of a packet that no rule of the chain decides.

use super::nft_text::Rule;
use crate::change::shell::{Command, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, RunsOn};

/// As the line that declares a chain has it.
pub(super) const DROP: &str = "policy drop";

/// The line of the chain that has the policy, changed to let pass; the text otherwise as it was.
pub(super) fn accepting(text: &str, place: &Rule) -> Result<String, String> {
    let (table, chain) = (
        format!("table {} {} {{", place.family, place.table),
        format!("chain {} {{", place.chain),
    );
    let (mut in_table, mut in_chain, mut found) = (false, false, 0);
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if line.starts_with("table ") {
            (in_table, in_chain) = (trimmed == table, false);
        } else if trimmed.starts_with("chain ") {
            in_chain = in_table && trimmed == chain;
        }
        let own = in_chain && trimmed.starts_with("type ") && trimmed.contains("policy drop;");
        found += usize::from(own);
        lines.push(if own {
            line.replace("policy drop;", "policy accept;")
        } else {
            line.to_owned()
        });
    }
    match found {
        1 => Ok(lines.join("\n") + "\n"),
        _ => Err(format!(
            "the chain {} of {} {} has no {DROP}",
            place.chain, place.family, place.table
        )),
    }
}

/// The step: nft sets the policy of a chain that is there, and leaves its rules.
pub(super) fn told(node: &str, place: &Rule, path: String) -> Applied {
    let Rule {
        family,
        table,
        chain,
        ..
    } = place;
    let of_chain = |command: Command| command.text(family).text(table).text(chain);
    let set = |check: bool, policy: &'static str| {
        let nft = run(Program::Nft);
        let nft = if check { nft.word("-c") } else { nft };
        of_chain(nft.word("chain")).on(Word::Fixed(policy))
    };
    let listed = || of_chain(run(Program::Nft).words(&["list", "chain"]));
    let drops = run(Program::Grep).words(&["-c", "-E", "^[[:space:]]*type .*policy drop;"]);
    let (accept, drop) = ("{ policy accept ; }", "{ policy drop ; }");
    Applied {
        title: format!("Let chain {chain} in {family} {table} on {node} accept what none of its rules decides"),
        changed: vec![path],
        actions: vec![Action {
            text: format!("Set the policy of chain {chain} in {family} {table} to accept."),
            place: RunsOn::Node(node.to_owned()),
            guard: Some(Guard {
                test: Test::Prints(listed().pipe(drops), Word::text("1")),
                says: format!("the policy of chain {chain} in {family} {table} is drop"),
            }),
            dry_run: Script::from(listed()).run(set(true, accept)),
            backup: Vec::new(),
            act: Act::Script(set(false, accept).into()),
            expect: format!("'nft list chain {family} {table} {chain}' shows policy accept."),
            back: Back::Script(set(false, drop).into()),
            interrupts: "Nothing: the policy takes effect for the next packet.".into(),
        }],
        assumes: vec![
            "the policy is also changed in what loads the table at boot (/etc/nftables.conf, or the program that wrote it)".into(),
        ],
        costs: vec![format!(
            "everything that no rule of chain {chain} on {node} decides passes, whoever sends it"
        )],
        simulated: true,
        ..Applied::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_of_the_named_chain_changes_and_no_other() {
        let text = "table ip own {\n\tchain forward {\n\t\ttype filter hook forward priority 0; policy drop;\n\t}\n}\ntable inet own {\n\tchain input {\n\t\ttype filter hook input priority 0; policy drop;\n\t}\n\tchain forward {\n\t\ttype filter hook forward priority 0; policy drop;\n\t\taccept\n\t}\n}\n";
        let place = |chain: &str| Rule {
            family: "inet".into(),
            table: "own".into(),
            chain: chain.into(),
            rule: DROP.into(),
        };
        let after = accepting(text, &place("forward")).unwrap();
        let changed: Vec<usize> = (0..)
            .zip(text.lines().zip(after.lines()))
            .filter(|(_, (old, new))| old != new)
            .map(|(at, _)| at)
            .collect();
        assert_eq!(changed, [10]);
        assert!(
            accepting(text, &place("none"))
                .unwrap_err()
                .contains("has no policy drop")
        );
    }
}
