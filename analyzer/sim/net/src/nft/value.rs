//! Values that statements set, word by word: what stands behind one is another condition or statement of the rule.

use super::chain::Statement;
use super::expression::subjects;
use super::tokens::Token;

/// Words that a value begins with which is read from the packet or made for it.
const READ: [&str; 24] = [
    "(", "ct", "ether", "fib", "icmp", "icmpv6", "iif", "iifname", "ip", "ip6", "jhash", "mark",
    "meta", "numgen", "oif", "oifname", "osf", "rt", "sctp", "socket", "symhash", "tcp", "th",
    "udp",
];

fn reads(value: &Token<'_>) -> bool {
    !value.quoted && (READ.contains(&value.text) || value.text.starts_with('@'))
}

/// Signs between the parts of a value.
const SIGNS: [&str; 9] = ["&", "|", "^", "and", "or", "xor", "<<", ">>", "."];

impl Statement<'_, '_, '_> {
    /// Goes on behind the value that stands here, of any number of words.
    pub(super) fn skip_value(&mut self) {
        loop {
            let start = self.at;
            if self.operand().is_none() {
                self.at = start;
                self.step(1);
                return self.skip();
            }
            if !SIGNS.iter().any(|sign| self.eat(sign)) {
                return;
            }
        }
    }

    /// One part of a value: `0x10`, `(meta mark & 0xff)`, `ip saddr map { ... }`, `new,related`.
    pub(super) fn operand(&mut self) -> Option<()> {
        let first = self.peek()?;
        if self.eat("(") {
            let mut depth = 1usize;
            while depth > 0 {
                let word = self.word()?;
                depth += usize::from(word.is("("));
                depth -= usize::from(word.is(")"));
            }
            return Some(());
        }
        if first.is("osf") {
            while !self.eat("map") {
                self.word()?;
            }
            return self.held();
        }
        if !reads(&first) {
            self.step(1);
            while self.eat(",") {
                self.step(1);
            }
            return Some(());
        }
        let start = self.at;
        if subjects(self).is_none() {
            // `rt mtu` and its like are two words.
            self.at = start;
            self.step(2);
        }
        if self.eat("map") {
            return self.held();
        }
        Some(())
    }

    /// The map that a value is looked up in.
    fn held(&mut self) -> Option<()> {
        if self.peek()?.text.starts_with('@') {
            self.step(1);
            return Some(());
        }
        self.braces().map(|_| ())
    }
}
