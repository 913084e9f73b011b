//! The sets of `ipset list` (or `ipset save`), which rules ask for with `--match-set`.

mod member;
mod resolve;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::condition::set::{Element, Set};
use super::question::CapturedText;
use member::Part;

/// All sets of a node by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IpSets {
    sets: BTreeMap<String, IpSet>,
}

/// One set.
#[derive(Debug, Clone, Default, PartialEq)]
struct IpSet {
    /// What its keys consist of; `None` for a type that is not read.
    parts: Option<Vec<Part>>,
    /// True for IPv6.
    six: bool,
    /// Length of the networks that addresses stand for.
    netmask: Option<u8>,
    /// Bits of marks that count (`markmask`).
    markmask: Option<u32>,
    elements: Vec<Element>,
    /// Names of the sets in a `list:set`.
    members: Vec<String>,
    /// Members that the listing announces.
    announced: Option<usize>,
    seen: usize,
    /// Members that could not be read.
    unread: usize,
    /// The members were reached: a listing that ends before them is cut off.
    reached: bool,
}

/// Longest member line that is read.
const MAX_LINE: usize = 1024;

impl IpSets {
    /// Reads `ipset list` or `ipset save`; what is something else has no sets.
    pub fn parse(captured: CapturedText<'_>) -> IpSets {
        let mut sets = IpSets::default();
        let mut current: Option<(String, IpSet)> = None;
        let mut in_members = false;
        for line in captured.text.lines().filter(|line| line.len() <= MAX_LINE) {
            if let Some(name) = line.strip_prefix("Name: ") {
                sets.keep(current.replace((name.trim().to_owned(), IpSet::default())));
                in_members = false;
            } else if line.starts_with("create ") || line.starts_with("add ") {
                sets.saved(line);
            } else if let Some((_, set)) = &mut current {
                match line.split_once(": ") {
                    _ if in_members => set.member(line),
                    Some(("Type", kind)) => set.set_type(kind.trim()),
                    Some(("Header", options)) => set.options(options),
                    Some(("Number of entries", count)) => set.announced = count.trim().parse().ok(),
                    _ if line.trim() == "Members:" => {
                        in_members = true;
                        set.reached = true;
                    }
                    _ => {}
                }
            }
        }
        sets.keep(current);
        sets
    }

    fn keep(&mut self, named: Option<(String, IpSet)>) {
        if let Some((name, set)) = named {
            self.sets.insert(name, set);
        }
    }

    /// A line of `ipset save`.
    fn saved(&mut self, line: &str) {
        let mut words = line.splitn(4, ' ');
        let (Some(command), Some(name), Some(third)) = (words.next(), words.next(), words.next())
        else {
            return;
        };
        let rest = words.next().unwrap_or("");
        let set = self.sets.entry(name.to_owned()).or_default();
        if command == "create" {
            set.set_type(third);
            set.options(rest);
            set.reached = true;
        } else {
            set.member(&format!("{third} {rest}"));
        }
    }
}

impl IpSet {
    fn set_type(&mut self, name: &str) {
        self.parts = member::parts(name);
    }

    fn options(&mut self, text: &str) {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        for pair in words.windows(2) {
            match pair {
                ["family", "inet6"] => self.six = true,
                // Addresses are compared by other bits than they are listed with.
                ["bitmask", _] => self.parts = None,
                ["netmask", length] => self.netmask = length.parse().ok(),
                ["markmask", mask] => self.markmask = member::number(mask),
                _ => {}
            }
        }
    }

    fn member(&mut self, line: &str) {
        let line = line.trim();
        let Some(key) = line.split_ascii_whitespace().next() else {
            return;
        };
        self.seen += 1;
        let Some(parts) = &self.parts else {
            return;
        };
        if *parts == [Part::Set] {
            self.members.push(key.to_owned());
            return;
        }
        let says = |option: &str| line.split_ascii_whitespace().any(|word| word == option);
        let except = says("nomatch");
        // The name of an interface is then only how it begins.
        let read = member::key(parts, key, self.six, self.netmask).filter(|_| !says("wildcard"));
        match read {
            Some(key) => self.elements.push(Element {
                except,
                ..Element::new(key)
            }),
            None => self.unread += 1,
        }
    }

    /// The elements, with why they may not be all.
    fn set(&self, name: &str) -> Set {
        let mut set = Set::new(self.elements.clone());
        if !self.reached || self.announced.is_some_and(|count| count > self.seen) {
            set.doubt = Some(format!("the members of ipset {name} are cut off"));
        } else if self.unread > 0 {
            let count = self.unread;
            set.doubt = Some(format!(
                "{count} member(s) of ipset {name} are not understood"
            ));
        }
        set
    }
}
