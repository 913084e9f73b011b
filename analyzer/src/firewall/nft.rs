//! The tables of `nft list ruleset`, as far as needed to tell which of them
//! iptables rules do not show and whether those could stop a packet.
//!
//! Their rules are not evaluated; a table that could drop at a hook on the
//! packet's path makes an accepting verdict undecided.

use super::packet::{Direction, Family};

/// One nft table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NftTable {
    /// Family as written: `ip`, `ip6`, `inet`, `bridge`, `netdev`, `arp`.
    pub family: String,
    /// Table name.
    pub name: String,
    /// Line of the table in the captured file, counted from 1.
    pub line: u32,
    /// The chains of the table.
    chains: Vec<NftChain>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct NftChain {
    name: String,
    hook: Option<String>,
    policy_drop: bool,
    drops: bool,
    mark_matches: usize,
    calls: Vec<String>,
}

/// Table names that iptables-nft uses.
const IPTABLES_TABLES: [&str; 5] = ["filter", "nat", "mangle", "raw", "security"];
/// Base chain names that iptables-nft uses.
const IPTABLES_CHAINS: [&str; 5] = ["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"];

/// Reads the tables of `nft list ruleset`; text that is something else yields none.
pub fn parse_tables(text: &str) -> Vec<NftTable> {
    let mut tables: Vec<NftTable> = Vec::new();
    let mut line_number: u32 = 0;
    let mut in_chain = false;
    for line in text.lines() {
        line_number = line_number.saturating_add(1);
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["table", family, name, "{", ..] => {
                in_chain = false;
                let (family, name) = ((*family).to_owned(), (*name).to_owned());
                tables.push(NftTable {
                    family,
                    name,
                    line: line_number,
                    chains: Vec::new(),
                });
            }
            ["chain", name, "{", ..] => {
                in_chain = true;
                let chain = NftChain {
                    name: (*name).to_owned(),
                    ..NftChain::default()
                };
                tables
                    .last_mut()
                    .map(|table| table.chains.push(chain))
                    .unwrap_or_default();
            }
            [
                "set" | "map" | "flowtable" | "counter" | "ct" | "limit" | "quota",
                ..,
            ] if line.ends_with('{') => {
                in_chain = false;
            }
            words if in_chain => {
                if let Some(chain) = tables.last_mut().and_then(|table| table.chains.last_mut()) {
                    chain.take(words);
                }
            }
            _ => {}
        }
    }
    tables
}

impl NftChain {
    fn take(&mut self, words: &[&str]) {
        if words.first() == Some(&"type") {
            let after = |key: &str| {
                let at = words.iter().position(|word| *word == key)?;
                words.get(at + 1).map(|word| word.trim_end_matches(';'))
            };
            self.hook = after("hook").map(str::to_owned);
            self.policy_drop = after("policy") == Some("drop");
            return;
        }
        // `meta mark set meta mark and 0x1` reads the mark without asking for it.
        let asks_mark = |at: usize| {
            words[at..].starts_with(&["meta", "mark"])
                && words.get(at + 2) != Some(&"set")
                && (at == 0 || words[at - 1] != "set")
        };
        self.mark_matches += (0..words.len()).filter(|at| asks_mark(*at)).count();
        let mut words = words
            .iter()
            .map(|word| word.trim_matches(|c| matches!(c, ',' | ';' | '{' | '}')));
        while let Some(word) = words.next() {
            match word {
                "drop" | "reject" | "queue" | "synproxy" | "@nh" => self.drops = true,
                // Verdict maps by name may hold anything.
                "vmap" => self.drops = true,
                "jump" | "goto" => self.calls.extend(words.next().map(str::to_owned)),
                _ => {}
            }
        }
    }
}

impl NftTable {
    /// How the table is named in sentences: `table inet firewalld`.
    pub fn title(&self) -> String {
        format!("table {} {}", self.family, self.name)
    }

    /// Names of the table's chains, in file order.
    pub fn chain_names(&self) -> impl Iterator<Item = &str> {
        self.chains.iter().map(|chain| chain.name.as_str())
    }

    /// Number of rules that ask for the packet mark.
    pub fn mark_matches(&self) -> usize {
        self.chains.iter().map(|chain| chain.mark_matches).sum()
    }

    /// True for a table that iptables-nft keeps its rules in.
    pub fn looks_like_iptables(&self) -> bool {
        matches!(self.family.as_str(), "ip" | "ip6")
            && IPTABLES_TABLES.contains(&self.name.as_str())
            && self
                .chains
                .iter()
                .all(|chain| chain.hook.is_none() || IPTABLES_CHAINS.contains(&chain.name.as_str()))
    }

    /// True when a packet of this family passes the table's hooks at all.
    pub fn sees(&self, family: Family) -> bool {
        match self.family.as_str() {
            "ip" => family == Family::V4,
            "ip6" => family == Family::V6,
            "arp" => false,
            _ => true,
        }
    }

    /// True when a base chain at a hook on the packet's path can stop it: by
    /// policy, or by a rule of the chain or of a chain it calls.
    pub fn may_drop(&self, direction: Direction) -> bool {
        let hooks: &[&str] = match direction {
            Direction::Forward => &["ingress", "prerouting", "forward", "postrouting", "egress"],
            Direction::Input => &["ingress", "prerouting", "input"],
            Direction::Output => &["output", "postrouting", "egress"],
        };
        self.chains
            .iter()
            .filter(|chain| {
                chain
                    .hook
                    .as_deref()
                    .is_some_and(|hook| hooks.contains(&hook))
            })
            .any(|chain| chain.policy_drop || self.reaches_drop(chain))
    }

    fn reaches_drop(&self, start: &NftChain) -> bool {
        let mut seen = vec![start.name.as_str()];
        let mut waiting = vec![start];
        while let Some(chain) = waiting.pop() {
            if chain.drops {
                return true;
            }
            for called in self.chains.iter().filter(|c| chain.calls.contains(&c.name)) {
                if !seen.contains(&called.name.as_str()) {
                    seen.push(&called.name);
                    waiting.push(called);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIREWALLD: &str = "table inet firewalld {\n\tchain filter_FORWARD {\n\t\ttype filter hook forward priority filter + 10; policy accept;\n\t\tct state established,related accept\n\t\tjump filter_FORWARD_IN_ZONES\n\t}\n\tchain filter_FORWARD_IN_ZONES {\n\t\treject with icmpx admin-prohibited\n\t}\n\tchain nat_PREROUTING {\n\t\ttype nat hook prerouting priority dstnat; policy accept;\n\t}\n}\ntable ip filter {\n\tchain FORWARD {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}\n";

    #[test]
    fn a_firewalld_table_that_rejects_behind_a_jump_may_drop_forwarded_packets_only() {
        let tables = parse_tables(FIREWALLD);
        assert_eq!(tables.len(), 2);
        assert_eq!(tables[0].title(), "table inet firewalld");
        assert!(!tables[0].looks_like_iptables() && tables[1].looks_like_iptables());
        assert!(tables[0].may_drop(Direction::Forward));
        assert!(!tables[0].may_drop(Direction::Output));
    }

    #[test]
    fn a_rule_that_asks_for_a_mark_is_told_from_one_that_sets_it() {
        let text = "table ip mangle {\n chain c {\n meta mark & 0x1 == 0x1 accept\n meta mark set mark and 0x2\n meta mark set meta mark and 0x2\n }\n}\n";
        assert_eq!(parse_tables(text)[0].mark_matches(), 1);
    }

    #[test]
    fn an_own_table_named_filter_with_own_chain_names_is_not_taken_for_iptables() {
        let text = "table ip filter {\n chain forward {\n type filter hook forward priority 0; policy drop;\n }\n}\n";
        assert!(!parse_tables(text)[0].looks_like_iptables());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "(table|chain|type|hook|jump|\\{|\\}| |\n|drop|\\PC){0,80}") {
            for table in parse_tables(&text) {
                let _ = table.may_drop(Direction::Forward);
            }
        }
    }
}
