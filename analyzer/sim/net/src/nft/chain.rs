//! The statements of a chain as rules: conditions, effects and a verdict.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::set::{RawElement, RawSet, anonymous};
use super::tokens::{Token, written};
use crate::condition::field::Field;
use crate::condition::lookup::{Lookup, Masked};
use crate::condition::set::Set;
use crate::condition::{Condition, Test};
use crate::iptables::{Origin, Rule, Target, VerdictMap};

/// Reads the rules of one table.
pub(super) struct Compiler<'t, 'a> {
    pub(super) text: &'a str,
    path: &'t Arc<str>,
    sets: &'t BTreeMap<&'a str, RawSet<'a>>,
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
) -> Compiler<'t, 'a> {
    Compiler {
        text,
        path,
        sets,
        read: BTreeMap::new(),
        unnamed: Vec::new(),
        problems: Vec::new(),
    }
}

/// A rule while it is read.
pub(super) struct Statement<'c, 't, 'a> {
    pub(super) compiler: &'c mut Compiler<'t, 'a>,
    pub(super) tokens: &'a [Token<'a>],
    pub(super) at: usize,
    pub(super) conditions: Vec<Condition>,
    pub(super) effects: Vec<Target>,
    target: Option<Target>,
}

/// Words that start a statement, at which reading goes on behind something unknown.
const STARTS: [&str; 18] = [
    "accept",
    "drop",
    "return",
    "continue",
    "jump",
    "goto",
    "reject",
    "counter",
    "log",
    "limit",
    "masquerade",
    "snat",
    "dnat",
    "redirect",
    "queue",
    "notrack",
    "comment",
    "meta",
];

/// Words that a value begins with which is read from the packet or made for it.
const READ: [&str; 24] = [
    "(", "ct", "ether", "fib", "icmp", "icmpv6", "iif", "iifname", "ip", "ip6", "jhash", "mark",
    "meta", "numgen", "oif", "oifname", "osf", "rt", "sctp", "socket", "symhash", "tcp", "th",
    "udp",
];

fn reads(value: &Token<'_>) -> bool {
    !value.quoted && (READ.contains(&value.text) || value.text.starts_with('@'))
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
        };
        statement.run();
        Rule {
            origin,
            text,
            counters,
            conditions: statement.conditions,
            effects: statement.effects,
            target: statement.target.unwrap_or(Target::None),
        }
    }

    fn named(&mut self, name: &str, fields: &[Masked]) -> Arc<Set> {
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

/// The statements of a block inside a rule.
fn parts<'a>(body: &'a [Token<'a>]) -> Vec<&'a [Token<'a>]> {
    let (mut all, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, token) in body.iter().enumerate() {
        if token.is("{") {
            depth += 1;
        } else if token.is("}") {
            depth = depth.saturating_sub(1);
        } else if token.is(";") && depth == 0 {
            all.push(&body[start..at]);
            start = at + 1;
        }
    }
    all.push(&body[start..]);
    all.retain(|part: &&[Token<'_>]| !part.is_empty());
    all
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

impl<'a> Statement<'_, '_, 'a> {
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).copied()
    }

    /// The next word, where it is this one.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is(word));
        self.at += usize::from(found);
        found
    }

    pub(super) fn word(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    /// Goes on by some words, or to the end of a statement that is cut off.
    pub(super) fn step(&mut self, words: usize) {
        self.at = (self.at + words).min(self.tokens.len());
    }

    fn run(&mut self) {
        while let Some(token) = self.peek() {
            let start = self.at;
            if token.is(";") {
                self.at += 1;
                continue;
            }
            if self.one(&token).is_none() {
                self.at = start;
                self.unknown();
            }
        }
    }

    /// A verdict, if one stands here.
    pub(super) fn verdict(&mut self) -> Option<()> {
        let rest = self.tokens.get(self.at..)?;
        if let [jump, open, ..] = rest
            && open.is("{")
            && (jump.is("jump") || jump.is("goto"))
        {
            return self.unnamed_chain(jump);
        }
        let target = plain_verdict(rest)?;
        self.at += if matches!(target, Target::Jump(_) | Target::Goto(_)) {
            2
        } else {
            1
        };
        self.finish(target);
        Some(())
    }

    /// `jump { ... }`: the rules stand inside the rule that calls them.
    fn unnamed_chain(&mut self, jump: &Token<'a>) -> Option<()> {
        let start = self.at;
        self.at += 1;
        let Some(body) = self.braces() else {
            self.at = start;
            return None;
        };
        let rules = parts(body);
        let rules = rules.into_iter().map(|one| self.compiler.rule(one));
        let rules: Vec<Rule> = rules.collect();
        // No named chain has a brace in its name.
        let name = format!("{{{}:{start}}}", jump.line);
        self.compiler.unnamed.push((name.clone(), rules));
        self.finish(if jump.is("goto") {
            Target::Goto(name)
        } else {
            Target::Jump(name)
        });
        Some(())
    }

    pub(super) fn finish(&mut self, target: Target) {
        if let Some(Target::Map(map)) = &self.target {
            // What stands behind a map is reached only by an element that says `continue`: any other ends the rule, and
            // so does a packet that the map does not hold.
            if map.verdicts.contains(&Target::None) {
                self.target = Some(Target::Named("a verdict behind a map".to_owned()));
            }
            return;
        }
        if let Some(before) = self.target.replace(target) {
            self.effects.push(before);
        }
    }

    /// Words up to the next statement that is known.
    pub(super) fn skip(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.peek() {
            match token.text {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                word if depth == 0 && !token.quoted && STARTS.contains(&word) => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// A value that is set, of any number of words: what begins a statement elsewhere is a part of it behind a sign.
    pub(super) fn skip_value(&mut self) {
        const JOINS: [&str; 11] = [
            "(", ".", "&", "|", "^", "and", "or", "xor", "set", "<<", ">>",
        ];
        // A plain value is one word; what stands behind it is another condition of the rule.
        if self.peek().is_some_and(|value| !reads(&value)) {
            self.step(1);
            let goes_on = |next: Token<'_>| {
                JOINS.iter().any(|sign| next.is(sign)) || next.is(",") || next.is("map")
            };
            if !self.peek().is_some_and(goes_on) {
                return;
            }
        }
        loop {
            self.step(1);
            self.skip();
            let before = self.tokens.get(self.at.wrapping_sub(1));
            let joined = before.is_some_and(|token| JOINS.iter().any(|sign| token.is(sign)));
            if !joined || self.peek().is_none() {
                return;
            }
        }
    }

    /// The words between the braces that stand here.
    pub(super) fn braces(&mut self) -> Option<&'a [Token<'a>]> {
        if !self.eat("{") {
            return None;
        }
        let start = self.at;
        let mut depth = 1usize;
        while let Some(token) = self.word() {
            match token.text {
                "{" if !token.quoted => depth += 1,
                "}" if !token.quoted => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(&self.tokens[start..self.at - 1]);
            }
        }
        None
    }

    /// The set that stands here, named or in braces, for these fields.
    pub(super) fn set(&mut self, fields: &[Masked]) -> Option<(Arc<Set>, String, RawElements<'a>)> {
        let plain: Vec<Field> = fields.iter().map(|one| one.field).collect();
        let token = self.peek()?;
        if let Some(name) = token.text.strip_prefix('@') {
            self.step(1);
            let set = self.compiler.named(name, fields);
            let raw = self.compiler.sets.get(name);
            let elements = raw.map(|raw| raw.elements.clone()).unwrap_or_default();
            return Some((set, format!("@{name}"), elements));
        }
        let raw = anonymous(self.braces()?);
        let set = raw.read(&plain, "in the rule");
        if set.doubt.is_some() {
            return None;
        }
        Some((set, String::new(), raw.elements))
    }

    /// The verdict map behind `vmap`.
    pub(super) fn verdict_map(&mut self, fields: Vec<Masked>) -> Option<()> {
        let (set, name, elements) = self.set(&fields)?;
        let verdicts = elements
            .iter()
            .map(|element| match plain_verdict(element.data) {
                Some(target) => target,
                None => Target::Named(element.data.iter().map(|t| t.text).collect()),
            })
            .collect();
        let lookup = Lookup { fields, set, name };
        self.finish(Target::Map(Box::new(VerdictMap { lookup, verdicts })));
        Some(())
    }

    pub(super) fn test(&mut self, negated: bool, test: Test) {
        // A mark that this rule has set itself is not followed within the rule.
        let marks = |effect: &Target| match effect {
            Target::Log(_) | Target::Pass(_) => false,
            Target::SetService(_) | Target::SetTtl(_) => test.of_header(),
            _ => true,
        };
        if self.effects.iter().any(marks) {
            self.opaque("order", "a condition behind a change".to_owned());
        }
        self.conditions.push(Condition { negated, test });
    }

    pub(super) fn opaque(&mut self, module: &str, text: String) {
        let module = module.to_owned();
        self.conditions.push(Condition {
            negated: false,
            test: Test::Opaque { module, text },
        });
    }

    /// Something that is not understood: named, and doubtful where it could decide.
    fn unknown(&mut self) {
        let start = self.at;
        self.step(1);
        self.skip();
        let tokens = &self.tokens[start..self.at];
        let text = written(self.compiler.text, tokens);
        let origin = Origin {
            path: Arc::clone(self.compiler.path),
            line: tokens.first().map_or(0, |token| token.line),
        };
        self.compiler
            .problems
            .push((origin, format!("`{text}` is not understood")));
        self.opaque("unread", text.clone());
        if self.at >= self.tokens.len() && self.target.is_none() {
            // It may be a verdict of its own.
            self.target = Some(Target::Named(text));
        }
    }
}

/// Elements of a map as written, with what it holds for each.
pub(super) type RawElements<'a> = Vec<RawElement<'a>>;

/// A verdict that needs nothing but its name.
fn plain_verdict(tokens: &[Token<'_>]) -> Option<Target> {
    let first = tokens.first().filter(|token| !token.quoted)?;
    let chain = || tokens.get(1).map(|token| token.text.to_owned());
    Some(match first.text {
        "accept" => Target::Accept,
        "drop" => Target::Drop,
        "return" => Target::Return,
        "continue" => Target::None,
        "jump" => Target::Jump(chain()?),
        "goto" => Target::Goto(chain()?),
        _ => return None,
    })
}
