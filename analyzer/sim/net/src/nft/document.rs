//! The blocks of `nft list ruleset`: tables, chains, sets and maps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compiler::{Compiler, compile};
use super::set::{RawSet, raw_set};
use super::tokens::{Token, tokens};
use super::{Base, NftTable, Ruleset};
use crate::iptables::{Chain, MAX_PROBLEMS, Origin, Policy, Problem, Table};

/// Reads `nft list ruleset`. Never fails: what is not understood is in
/// [`Ruleset::problems`], and text that is something else has no tables.
pub fn parse_ruleset(path: &str, text: &str) -> Ruleset {
    let mut ruleset = Ruleset {
        path: Arc::from(path),
        tables: Vec::new(),
        cut: false,
        problems: Vec::new(),
        unread: 0,
    };
    let tokens = tokens(text);
    let mut reader = Reader {
        text,
        tokens: &tokens,
        at: 0,
        cut: false,
    };
    while let Some(token) = reader.next() {
        if token.is("table") {
            reader.table(&mut ruleset);
        }
    }
    ruleset.cut = reader.cut;
    ruleset
}

/// A table before its rules are understood, which may name sets that follow them.
#[derive(Default)]
struct RawTable<'a> {
    /// `flags dormant`: its chains are attached to no hook.
    dormant: bool,
    sets: BTreeMap<&'a str, RawSet<'a>>,
    chains: Vec<RawChain<'a>>,
}

struct RawChain<'a> {
    name: &'a str,
    statements: Vec<&'a [Token<'a>]>,
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token<'a>],
    at: usize,
    cut: bool,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(*token)
    }

    /// The words up to the `{` of a block; empty where something else comes first.
    fn head(&mut self) -> Vec<Token<'a>> {
        let mut head = Vec::new();
        while let Some(token) = self.next() {
            match token.text {
                "{" if !token.quoted => return head,
                ";" if !token.quoted => break,
                _ => head.push(token),
            }
        }
        Vec::new()
    }

    /// Whether a word stands before the end of the statement, which is read past.
    fn line_holds(&mut self, word: &str) -> bool {
        let mut held = false;
        while let Some(token) = self.tokens.get(self.at).filter(|token| !token.is("}")) {
            self.at += 1;
            if token.is(";") {
                break;
            }
            held |= token.is(word);
        }
        held
    }

    /// The statements of a block, up to its closing brace.
    fn statements(&mut self) -> Vec<&'a [Token<'a>]> {
        let mut statements = Vec::new();
        let (mut start, mut depth) = (self.at, 0usize);
        while let Some(token) = self.next() {
            if token.quoted {
                continue;
            }
            match token.text {
                "{" => depth += 1,
                "}" if depth == 0 => {
                    statements.push(&self.tokens[start..self.at - 1]);
                    statements.retain(|tokens: &&[Token<'_>]| !tokens.is_empty());
                    return statements;
                }
                "}" => depth -= 1,
                ";" if depth == 0 => {
                    statements.push(&self.tokens[start..self.at - 1]);
                    start = self.at;
                }
                _ => {}
            }
        }
        // The last statement of a text that is cut off may be half a statement.
        self.cut = true;
        statements.retain(|tokens| !tokens.is_empty());
        statements
    }

    fn table(&mut self, ruleset: &mut Ruleset) {
        let line = self.tokens[self.at - 1].line;
        let head = self.head();
        let [family, name, ..] = head.as_slice() else {
            return;
        };
        let mut raw = RawTable::default();
        self.table_body(&mut raw);
        let mut table = NftTable {
            family: family.text.to_owned(),
            name: name.text.to_owned(),
            title: format!("{} {}", family.text, name.text),
            path: Arc::clone(&ruleset.path),
            line,
            rules: Table {
                chains: BTreeMap::new(),
                complete: !self.cut,
            },
            bases: Vec::new(),
        };
        let mut compiled = compile(self.text, &ruleset.path, &raw.sets, asked(&raw.chains));
        for chain in &raw.chains {
            let built = self.chain(chain, &mut table, &mut compiled);
            table.rules.chains.insert(chain.name.to_owned(), built);
        }
        for (name, rules) in compiled.unnamed {
            let policy = None;
            table.rules.chains.insert(name, Chain { policy, rules });
        }
        for (origin, message) in compiled.problems {
            ruleset.unread += 1;
            if ruleset.problems.len() < MAX_PROBLEMS {
                ruleset.problems.push(Problem { origin, message });
            }
        }
        if raw.dormant {
            table.bases.clear();
        }
        ruleset.tables.push(table);
    }

    fn table_body(&mut self, raw: &mut RawTable<'a>) {
        while let Some(token) = self.next() {
            match token.text {
                "}" if !token.quoted => return,
                "chain" => {
                    let head = self.head();
                    let statements = self.statements();
                    if let Some(name) = head.first() {
                        let name = name.text;
                        raw.chains.push(RawChain { name, statements });
                    }
                }
                "set" | "map" => {
                    let head = self.head();
                    let statements = self.statements();
                    if let Some(name) = head.first() {
                        raw.sets.insert(name.text, raw_set(&statements, self.cut));
                    }
                }
                ";" => {}
                "flags" => raw.dormant |= self.line_holds("dormant"),
                // Counters, flow tables and other objects that no verdict depends on.
                _ => {
                    if !self.head().is_empty() {
                        self.statements();
                    }
                }
            }
        }
        self.cut = true;
    }

    fn chain(
        &self,
        raw: &RawChain<'a>,
        table: &mut NftTable,
        compiled: &mut Compiler<'_, 'a>,
    ) -> Chain {
        let mut chain = Chain {
            policy: None,
            rules: Vec::new(),
        };
        for statement in &raw.statements {
            let words: Vec<&str> = statement.iter().map(|token| token.text).collect();
            match words.as_slice() {
                ["type", kind, "hook", hook, rest @ ..] => {
                    table.bases.push(Base {
                        chain: raw.name.to_owned(),
                        kind: (*kind).to_owned(),
                        hook: (*hook).to_owned(),
                        priority: priority(rest),
                        devices: devices(rest),
                    });
                    // Without a policy of its own a base chain accepts.
                    chain.policy = Some(policy("accept", statement, &table.path));
                }
                ["policy", word @ ("accept" | "drop")] => {
                    chain.policy = Some(policy(word, statement, &table.path));
                }
                ["comment", _] | ["flags", ..] => {}
                _ => chain.rules.push(compiled.rule(statement)),
            }
        }
        chain
    }
}

/// Sets that rules look up, and do not merely fill.
fn asked<'a>(chains: &[RawChain<'a>]) -> BTreeSet<&'a str> {
    const FILLS: [&str; 3] = ["add", "update", "delete"];
    let statements = chains.iter().flat_map(|chain| &chain.statements);
    let names = statements.flat_map(|tokens| {
        let looks_up = |pair: &&[Token<'a>]| !FILLS.iter().any(|word| pair[0].is(word));
        let pairs = tokens.windows(2).filter(looks_up);
        pairs.filter_map(|pair| pair[1].text.strip_prefix('@'))
    });
    names.collect()
}

fn policy(word: &str, statement: &[Token<'_>], path: &Arc<str>) -> Policy {
    Policy {
        accept: word == "accept",
        text: word.to_owned(),
        counters: None,
        origin: Origin {
            path: Arc::clone(path),
            line: statement.first().map_or(0, |token| token.line),
        },
    }
}

/// `device eth0`, `devices = { eth0, eth1 }` before the word `priority`.
fn devices(words: &[&str]) -> Vec<String> {
    const SIGNS: [&str; 4] = ["=", "{", "}", ","];
    let end = words.iter().position(|word| *word == "priority");
    let [first, names @ ..] = words.get(..end.unwrap_or(0)).unwrap_or_default() else {
        return Vec::new();
    };
    let names = names.iter().filter(|name| !SIGNS.contains(name));
    let named = first.starts_with("device");
    names
        .filter(|_| named)
        .map(|name| (*name).to_owned())
        .collect()
}

/// `filter - 5`, `dstnat`, `-150` behind the word `priority`.
fn priority(words: &[&str]) -> i32 {
    let at = words.iter().position(|word| *word == "priority");
    let rest = at.and_then(|at| words.get(at + 1..)).unwrap_or_default();
    let named = |word: &str| -> i32 {
        match word {
            "raw" => -300,
            "mangle" => -150,
            "dstnat" => -100,
            "filter" => 0,
            "security" => 50,
            "srcnat" => 100,
            number => number.parse().unwrap_or(0),
        }
    };
    let number = |word: &str| word.parse::<i32>().unwrap_or(0);
    match rest {
        [base, "-", by, ..] => named(base).saturating_sub(number(by)),
        [base, "+", by, ..] => named(base).saturating_add(number(by)),
        [base, ..] => named(base),
        [] => 0,
    }
}
