//! The rules of a table, with the sets that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::chain::Statement;
use super::set::RawSet;
use super::tokens::{Token, written};
use crate::condition::Condition;
use crate::condition::field::Field;
use crate::condition::lookup::Masked;
use crate::condition::set::Set;
use crate::eval::rest_name;
use crate::iptables::{Origin, Rule, Target};

/// Reads the rules of one table.
pub(super) struct Compiler<'t, 'a> {
    pub(super) text: &'a str,
    pub(super) path: &'t Arc<str>,
    pub(super) sets: &'t BTreeMap<&'a str, RawSet<'a>>,
    /// Sets that rules look up.
    pub(super) asked: BTreeSet<&'a str>,
    read: BTreeMap<(String, Vec<Field>), Arc<Set>>,
    /// Chains without a name that stand inside rules: `jump { ... }`.
    pub(super) unnamed: Vec<(String, Vec<Rule>)>,
    pub(super) problems: Vec<(Origin, String)>,
}

/// A reader for rules that may name these sets.
pub(super) fn compile<'t, 'a>(
    text: &'a str,
    path: &'t Arc<str>,
    sets: &'t BTreeMap<&'a str, RawSet<'a>>,
    asked: BTreeSet<&'a str>,
) -> Compiler<'t, 'a> {
    Compiler {
        text,
        path,
        sets,
        asked,
        read: BTreeMap::new(),
        unnamed: Vec::new(),
        problems: Vec::new(),
    }
}

impl<'a> Compiler<'_, 'a> {
    pub(super) fn rule(&mut self, tokens: &'a [Token<'a>]) -> Rule {
        let line = tokens.first().map_or(0, |token| token.line);
        let origin = Origin {
            path: Arc::clone(self.path),
            line,
        };
        let text = written(self.text, tokens);
        let counters = counters(tokens);
        let mut statement = Statement {
            compiler: self,
            tokens,
            at: 0,
            conditions: Vec::new(),
            effects: Vec::new(),
            target: None,
            before: Vec::new(),
        };
        statement.run();
        let before = std::mem::take(&mut statement.before);
        let (conditions, effects) = (statement.conditions, statement.effects);
        let target = statement.target.unwrap_or(Target::None);
        let last = Rule {
            origin,
            text,
            counters,
            conditions,
            effects,
            target,
        };
        self.in_parts(before, last)
    }

    /// A rule whose conditions stand behind what it changes: each part calls the next one.
    fn in_parts(&mut self, before: Vec<(Vec<Condition>, Vec<Target>)>, last: Rule) -> Rule {
        before
            .into_iter()
            .rev()
            .fold(last, |rest, (conditions, effects)| {
                let name = rest_name(rest.origin.line, self.unnamed.len());
                let part = Rule {
                    conditions,
                    effects,
                    target: Target::Jump(name.clone()),
                    ..rest.clone()
                };
                self.unnamed.push((name, vec![rest]));
                part
            })
    }

    pub(super) fn named(&mut self, name: &str, fields: &[Masked]) -> Arc<Set> {
        let fields: Vec<Field> = fields.iter().map(|one| one.field).collect();
        let key = (name.to_owned(), fields);
        if let Some(set) = self.read.get(&key) {
            return Arc::clone(set);
        }
        let set = match self.sets.get(name) {
            Some(raw) => raw.read(&key.1, name),
            None => {
                let mut set = Set::default();
                set.doubt = Some(format!("set {name} was not captured"));
                Arc::new(set)
            }
        };
        self.read.insert(key, Arc::clone(&set));
        set
    }
}

/// What `counter packets 12 bytes 3456` holds; a block inside the rule has counters of its own.
fn counters(tokens: &[Token<'_>]) -> Option<(u64, u64)> {
    let block = |pair: &[Token<'_>]| (pair[0].is("jump") || pair[0].is("goto")) && pair[1].is("{");
    let inside = tokens.windows(2).position(block).unwrap_or(tokens.len());
    let at = tokens[..inside]
        .iter()
        .position(|token| token.is("counter"))?;
    match tokens.get(at + 1..at + 5)? {
        [packets, count, bytes, size] if packets.is("packets") && bytes.is("bytes") => {
            Some((count.text.parse().ok()?, size.text.parse().ok()?))
        }
        _ => None,
    }
}
