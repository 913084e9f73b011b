//! Statements that are no matches: counters, logs, limits, sets that fill, marks, translations.

use std::collections::BTreeSet;

use super::chain::Statement;
use super::expression::{Subject, expression, subjects};
use super::tokens::{Token, written};
use super::translate;
use super::values::single;
use crate::condition::Test;
use crate::condition::field::Field;
use crate::condition::lookup::{Lookup, Masked};
use crate::header;
use crate::iptables::Target;
use crate::packet::{CtState, Family, Protocol, tcp_flag};
use crate::queue::Queue;

impl<'a> Statement<'_, '_, 'a> {
    pub(super) fn one(&mut self, token: &Token<'a>) -> Option<()> {
        if self.verdict().is_some() || self.action(token)?.is_some() {
            return Some(());
        }
        expression(self)
    }

    /// Statements that are no matches; the inner `None` is for what is none of them.
    fn action(&mut self, token: &Token<'a>) -> Option<Option<()>> {
        if token.quoted {
            return None;
        }
        let second = self.tokens.get(self.at + 1).map_or("", |next| next.text);
        match (token.text, second) {
            ("counter" | "comment" | "log" | "reject" | "notrack" | "flow" | "queue", _) => {
                self.simple()
            }
            ("limit" | "quota", _) | ("ct", "count") => self.doubtful("limit"),
            ("synproxy", _) => self.synproxy(),
            ("tproxy", _) => {
                self.listener();
                Some(Some(()))
            }
            ("osf", _) => {
                self.system();
                Some(Some(()))
            }
            ("meter", _) => self.meter(),
            ("reset", _) => Some(self.strip()),
            ("add" | "update" | "delete" | "set", _) => self.dynamic(),
            ("masquerade" | "snat" | "dnat" | "redirect", _) => {
                let nat = translate::nat(self)?;
                self.finish(Target::Nat(Box::new(nat)));
                Some(Some(()))
            }
            ("dup", _) => {
                self.step(1);
                for word in ["to", "device"] {
                    if self.eat(word) {
                        self.operand()?;
                    }
                }
                Some(Some(()))
            }
            ("#", _) => self.foreign(),
            _ => Some(self.changes()),
        }
    }

    fn simple(&mut self) -> Option<Option<()>> {
        match self.word()?.text {
            "counter" => {
                if self.eat("packets") {
                    self.step(3);
                } else if self.eat("name") {
                    self.object();
                }
            }
            "comment" => self.step(1),
            "notrack" => self.effects.push(Target::Untrack),
            "flow" => {
                self.step(2);
                self.effects.push(Target::Pass("flow".to_owned()));
            }
            "log" => self.log(),
            "reject" => {
                let start = self.at;
                self.skip();
                let with = self.tokens.get(start..self.at).unwrap_or_default();
                let words: Vec<&str> = with.iter().skip(1).map(|token| token.text).collect();
                // nft makes such a rule ask for the protocol, and its listing leaves the question out.
                if words.starts_with(&["tcp", "reset"]) {
                    self.test(false, Test::Protocol(Protocol::TCP));
                }
                self.finish(Target::Reject(if words.is_empty() {
                    "port-unreachable".to_owned()
                } else {
                    words.join(" ")
                }));
            }
            _ => {
                let start = self.at;
                self.skip();
                let with = self.tokens.get(start..self.at).unwrap_or_default();
                let words: Vec<&str> = with.iter().map(|token| token.text).collect();
                self.finish(Target::Queue(Queue::of_words(&words)));
            }
        }
        Some(Some(()))
    }

    fn log(&mut self) {
        let mut prefix = String::new();
        let mut group = false;
        while let Some(token) = self.peek() {
            match token.text {
                "prefix" => {
                    self.step(1);
                    prefix = self.word().map_or("", |word| word.text).trim().to_owned();
                }
                "level" | "snaplen" | "queue-threshold" => self.step(2),
                "group" => {
                    group = true;
                    self.step(2);
                }
                "flags" => self.log_flags(),
                _ => break,
            }
        }
        self.effects.push(if group {
            Target::Pass("log group".to_owned())
        } else {
            Target::Log(prefix)
        });
    }

    fn log_flags(&mut self) {
        self.step(1);
        if self.eat("tcp") || self.eat("ip") {
            self.step(1);
            while self.eat(",") {
                self.step(1);
            }
        } else {
            self.step(1);
        }
    }

    /// A statement that lets the packet go on only sometimes.
    fn doubtful(&mut self, module: &str) -> Option<Option<()>> {
        let start = self.at;
        let first = self.word()?;
        if self.eat("name") {
            self.object();
        } else {
            self.amount(first.is("ct"));
        }
        let text = written(self.compiler.text, &self.tokens[start..self.at]);
        self.opaque(module, text);
        Some(Some(()))
    }

    /// `rate over 5/second burst 10 packets`, `over 1023 mbytes used 3 bytes`, `count over 10`.
    fn amount(&mut self, count: bool) {
        let _ = self.eat("rate") || self.eat("count");
        let _ = self.eat("over") || self.eat("until");
        loop {
            let Some(number) = self.word() else { return };
            // `10 mbytes/second` has its unit apart, `5/second` has not, a number of connections has none.
            if !count && !number.text.contains('/') {
                self.step(1);
            }
            if !self.eat("burst") && !self.eat("used") {
                return;
            }
        }
    }

    /// The object behind `name`: itself, or the one that a map holds for fields of the packet. A packet that the map does
    /// not hold fails the rule.
    fn object(&mut self) {
        let start = self.at;
        let held = subjects(self)
            .filter(|_| self.eat("map"))
            .and_then(|subjects| {
                let fields: Vec<Masked> = subjects.iter().map(Subject::masked).collect();
                let (set, name, _) = self.set(&fields)?;
                Some(Lookup { fields, set, name })
            });
        match held {
            Some(lookup) => self.test(false, Test::Lookup(Box::new(lookup))),
            None => {
                self.at = start;
                self.step(1);
                if self.tokens[self.at..].iter().any(|token| token.is("map")) {
                    self.skip();
                }
            }
        }
    }

    /// `tproxy to 127.0.0.1:52345`: goes on where a process listens there, and breaks off elsewhere.
    fn listener(&mut self) {
        let start = self.at;
        self.step(1);
        let _ = self.eat("ip") || self.eat("ip6");
        if self.eat("to") {
            let _ = self.operand();
        }
        let tokens = self.tokens.get(start..self.at).unwrap_or_default();
        self.opaque("listener", written(self.compiler.text, tokens));
    }

    /// `osf name "Linux"`: the sender's system, told by its first packet of TCP; what is no such packet fails.
    pub(super) fn system(&mut self) {
        let start = self.at;
        self.step(1);
        while self.eat("ttl") || self.eat("name") || self.eat("version") || self.eat("!=") {
            if self.peek().is_some_and(|next| next.is("{")) {
                let _ = self.braces();
            } else if !self.peek().is_some_and(|next| next.is("!=")) {
                self.step(1);
            }
        }
        let (mask, set) = (tcp_flag::SYN, tcp_flag::SYN);
        self.test(false, Test::Protocol(Protocol::TCP));
        self.test(false, Test::TcpFlags { mask, set });
        let tokens = self.tokens.get(start..self.at).unwrap_or_default();
        self.opaque("osf", written(self.compiler.text, tokens));
    }

    /// Answers for a host that stands behind: only TCP is answered (`nft_synproxy_eval`).
    fn synproxy(&mut self) -> Option<Option<()>> {
        let start = self.at;
        self.step(1);
        self.test(false, Test::Protocol(Protocol::TCP));
        if self.eat("name") {
            self.object();
        } else {
            self.skip();
        }
        let text = written(self.compiler.text, &self.tokens[start..self.at]);
        self.finish(Target::Named(text));
        Some(Some(()))
    }

    /// `reset tcp option timestamp`: takes the option away where it is, and fails what is no TCP.
    fn strip(&mut self) -> Option<()> {
        self.step(1);
        if !self.eat("tcp") || !self.eat("option") {
            return None;
        }
        self.word()?;
        self.test(false, Test::Protocol(Protocol::TCP));
        Some(())
    }

    /// `ct expectation set "e"`: drops the first packet of a connection where another one holds the same expectation.
    fn expects(&mut self) {
        let start = self.at;
        self.step(4);
        let states = BTreeSet::from([CtState::New, CtState::Related]);
        let (snat, dnat) = (false, false);
        self.test(false, Test::States { states, snat, dnat });
        let tokens = self.tokens.get(start..self.at).unwrap_or_default();
        self.opaque("limit", written(self.compiler.text, tokens));
        self.at = self.tokens.len();
        self.finish(Target::Drop);
    }

    /// `meter m size 8192 { ip saddr limit rate 10/second }`, as old releases write what fills a set.
    fn meter(&mut self) -> Option<Option<()>> {
        let start = self.at;
        self.step(2);
        if self.eat("size") {
            self.step(1);
        }
        self.fills(start, Vec::new())
    }

    /// `update @set { ip saddr timeout 5m }`: goes on, unless a limit inside says no.
    fn dynamic(&mut self) -> Option<Option<()>> {
        let start = self.at;
        let deletes = self.word()?.is("delete");
        let name = self.peek()?.text.strip_prefix('@')?;
        self.step(1);
        let open = self.at;
        self.step(1);
        let fields = subjects(self).unwrap_or_default();
        let fields = fields.iter().map(Subject::masked).collect();
        self.at = open;
        let filled = self.effects.len();
        self.fill(name, fields, deletes);
        let effects = self.effects.split_off(filled);
        self.fills(start, effects)
    }

    /// What stands in braces behind a set that is filled.
    fn fills(&mut self, start: usize, effects: Vec<Target>) -> Option<Option<()>> {
        // The key is read from the packet, which may not have it.
        let open = self.at;
        self.step(1);
        self.reads_value();
        self.at = open;
        let body = self.braces()?;
        // The element is made before what stands in it is asked.
        self.effects.extend(effects);
        if body
            .iter()
            .any(|t| t.is("limit") || t.is("quota") || t.is("ct"))
        {
            let text = written(self.compiler.text, &self.tokens[start..self.at]);
            self.opaque("limit", text);
        }
        Some(Some(()))
    }

    /// A match or target of iptables that this nft could not translate.
    fn foreign(&mut self) -> Option<Option<()>> {
        self.step(1);
        let name = self.word()?;
        match name.text {
            "handle" | "nfacct-name" | "last" => self.step(1),
            _ => return None,
        }
        Some(Some(()))
    }

    /// Statements that set a field of the packet or of its connection.
    fn changes(&mut self) -> Option<()> {
        let words: Vec<&str> = self.tokens[self.at..]
            .iter()
            .take(5)
            .map(|token| token.text)
            .collect();
        match words.as_slice() {
            ["meta", "mark", "set", ..] => self.step(3),
            ["mark", "set", ..] => self.step(2),
            ["ct", "mark", "set", ..] => {
                self.step(3);
                self.reads_value();
                let target = translate::connmark(self);
                self.effects.push(target);
                return Some(());
            }
            ["ct", "expectation", "set", ..] => self.expects(),
            [
                "meta" | "ct",
                "nftrace" | "priority" | "pkttype" | "helper" | "zone" | "label" | "timeout"
                | "event" | "secmark" | "notrack",
                "set",
                ..,
            ] => {
                self.step(3);
                self.reads_value();
                self.skip_value();
                return Some(());
            }
            ["ct", "original" | "reply", "zone", "set", ..] => {
                self.step(4);
                self.reads_value();
                self.skip_value();
                return Some(());
            }
            [
                family @ ("ip" | "ip6"),
                field @ ("dscp" | "ecn" | "ttl" | "hoplimit" | "flowlabel"),
                "set",
                value,
                ..,
            ] => {
                self.rewrite(family, field, value);
                return Some(());
            }
            ["tcp", "option", "maxseg", "size", "set"] => {
                self.test(false, Test::Protocol(Protocol::TCP));
                self.skip_words(5);
                return Some(());
            }
            _ => return None,
        }
        self.reads_value();
        let target = translate::mark(self);
        self.effects.push(target);
        Some(())
    }

    /// A field of the internet header that is set, which asks for its family as well.
    fn rewrite(&mut self, family: &str, field: &str, value: &str) {
        let family = match family {
            "ip" => Family::V4,
            _ => Family::V6,
        };
        self.of_family(family);
        let bits = header::network_field(field, family == Family::V4).map(Field::Bits);
        let number = bits.and_then(|field| single(field, value));
        let start = self.at;
        self.skip_words(3);
        // A value of several words is not followed.
        let number = number.filter(|_| self.at == start + 4);
        let number = number.and_then(|number| u8::try_from(number).ok());
        let effect = match field {
            "dscp" => {
                Target::SetService(number.and_then(|class| Some((class.checked_mul(4)?, 0xfc))))
            }
            "ecn" => Target::SetService(number.map(|bits| (bits, 0x03))),
            "ttl" | "hoplimit" => {
                Target::SetTtl(value.parse().ok().filter(|_| self.at == start + 4))
            }
            _ => return,
        };
        self.effects.push(effect);
    }

    fn skip_words(&mut self, words: usize) {
        self.step(words);
        self.skip_value();
    }
}
