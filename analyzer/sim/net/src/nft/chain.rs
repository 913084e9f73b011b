//! The statements of a chain as rules: conditions, effects and a verdict.

use std::sync::Arc;

use super::compiler::Compiler;
use super::set::{RawElement, anonymous};
use super::tokens::{Token, written};
use crate::condition::field::Field;
use crate::condition::lookup::{Fill, Lookup, Masked};
use crate::condition::set::Set;
use crate::condition::{Condition, Test};
use crate::iptables::{Origin, Rule, Target, VerdictMap};

/// A rule while it is read.
pub(super) struct Statement<'c, 't, 'a> {
    pub(super) compiler: &'c mut Compiler<'t, 'a>,
    pub(super) tokens: &'a [Token<'a>],
    pub(super) at: usize,
    pub(super) conditions: Vec<Condition>,
    pub(super) effects: Vec<Target>,
    pub(super) target: Option<Target>,
    /// What stands before a condition that follows a change: the change is made whatever the condition says.
    pub(super) before: Vec<(Vec<Condition>, Vec<Target>)>,
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

    pub(super) fn run(&mut self) {
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

    /// Notes that the rule puts these fields into a set, or takes them out of it, where some rule looks them up.
    pub(super) fn fill(&mut self, name: &str, fields: Vec<Masked>, deletes: bool) {
        if !self.compiler.asked.contains(name) {
            return;
        }
        let set = self.compiler.named(name, &fields);
        let name = format!("@{name}");
        let key = Some(Lookup {
            fields,
            set,
            name: name.clone(),
        });
        self.effects
            .push(Target::Fill(Box::new(Fill { name, key, deletes })));
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
        let passes = |effect: &Target| matches!(effect, Target::Log(_) | Target::Pass(_));
        if self.effects.iter().any(|effect| !passes(effect)) {
            let conditions = std::mem::take(&mut self.conditions);
            self.before
                .push((conditions, std::mem::take(&mut self.effects)));
        }
        self.conditions.push(Condition { negated, test });
    }

    pub(super) fn opaque(&mut self, module: &str, text: String) {
        let (module, text) = (module.into(), text.into());
        self.test(false, Test::Opaque { module, text });
    }

    /// No more than a counter or a comment stands behind it.
    fn ends(&self) -> bool {
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        match rest {
            [] => true,
            [first, ..] if first.is("comment") => rest.len() == 2,
            [first, ..] if first.is("counter") => rest.len() <= 5,
            _ => false,
        }
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
        // What is set may be what later rules ask for, and the last statement may be a verdict of its own.
        let sets = tokens.iter().any(|token| token.is("set"));
        if sets || (self.ends() && self.target.is_none()) {
            self.target = Some(Target::Named(text));
            self.at = self.tokens.len();
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
