//! Names and addresses of a site under pseudonyms that stay the same within one bundle, so that joins still work.
//!
//! Addresses are found by their form, hosts, users and namespaces by a list that is made before the first entry
//! (`gather`). The map from pseudonyms back to names stays with the site (`map`).

mod addresses;
mod edges;
mod gather;
mod hardware;
mod images;
mod ip;
mod map;
mod people;
mod written;

pub use gather::gather;
pub use map::{MapError, MapFile, reveal};

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use aho_corasick::{AhoCorasick, MatchKind};

use crate::redact::{Key, Site};

/// Pairs that the map holds at most.
const MAX_PAIRS: usize = 1 << 20;

/// What may be anonymised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Class {
    /// Names of nodes and other machines, and their domains.
    Hosts,
    /// IPv4 and IPv6 addresses, prefix-preserving.
    Ips,
    /// Ethernet and InfiniBand addresses.
    Macs,
    /// Login names of people.
    Users,
    /// Namespaces of the cluster, but for those that every cluster has.
    Namespaces,
    /// Registries and repositories of images, but for public ones; tags and digests stay.
    Images,
}

impl Class {
    /// The word on the command line and in the privacy report.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Ips => "ips",
            Self::Macs => "macs",
            Self::Users => "users",
            Self::Namespaces => "namespaces",
            Self::Images => "images",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Hosts => "host",
            Self::Ips => "ip",
            Self::Macs => "mac",
            Self::Users => "user",
            Self::Namespaces => "ns",
            Self::Images => "image",
        }
    }
}

/// The names of a site.
#[derive(Debug, Default, Clone)]
pub struct Names {
    /// Names by class.
    pub names: BTreeMap<Class, BTreeSet<String>>,
    /// Addresses of this site that stay readable (cluster DNS).
    pub kept: Vec<IpAddr>,
    /// Names that are words of Kubernetes or of Linux, and therefore stay.
    pub common: BTreeSet<String>,
}

/// Replaces names and addresses.
pub struct Anonymizer {
    key: Key,
    classes: BTreeSet<Class>,
    permutation: ip::Permutation,
    names: Option<AhoCorasick>,
    listed: Vec<(Class, String, String)>,
    common: BTreeSet<String>,
    pairs: Mutex<BTreeMap<String, (Class, String)>>,
    counts: Mutex<BTreeMap<Class, u64>>,
}

impl Site for Anonymizer {
    fn text(&self, text: &str) -> String {
        let text = people::replace(self, self.listed_names(text));
        let text = if self.classes.contains(&Class::Images) {
            images::replace(self, &text)
        } else {
            text
        };
        addresses::replace(self, &written::replace(self, text))
    }

    /// Where bytes are not UTF-8, names that reach over them stay.
    fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            out.extend_from_slice(self.text(chunk.valid()).as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        out
    }
}

impl Anonymizer {
    /// For these classes and names.
    pub fn new(key: Key, classes: BTreeSet<Class>, names: &Names) -> Self {
        let mut listed = Vec::new();
        for (class, list) in &names.names {
            for name in list.iter().filter(|_| classes.contains(class)) {
                let pseudonym = match class {
                    Class::Images => images::registry(&key, name),
                    _ => pseudonym(&key, *class, name),
                };
                listed.extend(variants(*class, name, &pseudonym));
                listed.push((*class, name.clone(), pseudonym));
            }
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            .build(listed.iter().map(|(_, name, _)| name));
        Self {
            permutation: ip::Permutation::new(key.clone(), &names.kept),
            key,
            classes,
            names: automaton.ok().filter(|_| !listed.is_empty()),
            listed,
            common: names.common.clone(),
            pairs: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    /// The one that a run's key replaces names with, where that is wanted.
    pub fn of(key: &Key) -> Option<&Self> {
        let site: &dyn Any = key.site()?;
        site.downcast_ref()
    }

    /// What is anonymised.
    pub fn classes(&self) -> &BTreeSet<Class> {
        &self.classes
    }

    /// Replacements so far.
    pub fn counts(&self) -> BTreeMap<Class, u64> {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Names that stay because they are common words.
    pub fn common(&self) -> &BTreeSet<String> {
        &self.common
    }

    /// Pseudonyms that were used, with their class and what they stand for.
    pub fn pairs(&self) -> BTreeMap<String, (Class, String)> {
        self.pairs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn has(&self, class: Class) -> bool {
        self.classes.contains(&class)
    }

    /// Notes a replacement for the map.
    fn used(&self, class: Class, real: &str, pseudonym: &str) {
        *self
            .counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(class)
            .or_default() += 1;
        let mut pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
        if real != pseudonym && pairs.len() < MAX_PAIRS && !pairs.contains_key(pseudonym) {
            pairs.insert(pseudonym.to_owned(), (class, real.to_owned()));
        }
    }

    /// What stands in front of a domain of the site, with the label that ends there replaced: `bmc-17.` of
    /// `bmc-17.lab.example.com`.
    fn labels(&self, class: Class, domain: &str, before: &str) -> String {
        let whole = || before.to_owned();
        if class != Class::Hosts || !domain.contains('.') || !before.ends_with('.') {
            return whole();
        }
        let body = &before[..before.len() - 1];
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let label = &body[body.trim_end_matches(inside).len()..];
        let label = label.trim_start_matches('-');
        if label.is_empty() || gather::tells_nothing(label) || label.starts_with("host-") {
            return whole();
        }
        let pseudonym = pseudonym(&self.key, Class::Hosts, label);
        self.used(Class::Hosts, label, &pseudonym);
        format!("{}{pseudonym}.", &body[..body.len() - label.len()])
    }

    fn listed_names(&self, text: &str) -> String {
        let Some(names) = &self.names else {
            return text.to_owned();
        };
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for found in names.find_iter(text) {
            let (class, real, pseudonym) = &self.listed[found.pattern().as_usize()];
            // Other names are made of a node's: `etcd-<node>`, `<node>-10-1-2-0-26`, `node-debugger-<node>-x7k2q`.
            let part = |c: char| match class {
                Class::Hosts => c.is_alphanumeric(),
                Class::Namespaces => c.is_alphanumeric() || c == '-',
                _ => part_of_name(c),
            };
            let behind = text[found.end()..].chars().next();
            if !edges::begins(text, found.start(), part) || behind.is_some_and(part) {
                continue;
            }
            let seen = &text[found.range()];
            out.push_str(&self.labels(*class, real, &text[copied..found.start()]));
            copied = found.end();
            if seen == real {
                out.push_str(pseudonym);
                self.used(*class, real, pseudonym);
            } else {
                // Another spelling has a pseudonym of its own, which leads back to that spelling.
                let own = self::pseudonym(&self.key, *class, seen);
                out.push_str(&own);
                self.used(*class, seen, &own);
            }
        }
        out.push_str(&text[copied..]);
        out
    }
}

/// How systemd, Calico and Windows write a name, each with its pseudonym in the same manner.
fn variants(class: Class, name: &str, pseudonym: &str) -> Vec<(Class, String, String)> {
    let mut all = Vec::new();
    if class == Class::Hosts && name != name.to_ascii_uppercase() {
        all.push((
            class,
            name.to_ascii_uppercase(),
            pseudonym.to_ascii_uppercase(),
        ));
    }
    if matches!(class, Class::Hosts | Class::Namespaces) && name.contains('-') {
        for dash in ["--", r"\x2d", r"\\x2d"] {
            all.push((class, name.replace('-', dash), pseudonym.replace('-', dash)));
        }
    }
    all
}

fn part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// So many digits tell pseudonyms apart.
const PSEUDONYM_DIGITS: usize = 8;

/// `host-1a2b3c4d`: a name that is valid wherever the real one is.
fn pseudonym(key: &Key, class: Class, name: &str) -> String {
    let digest = key.digest(format!("{}:{name}", class.word()).as_bytes());
    let digits = casefile_bundle::hex(&digest[..PSEUDONYM_DIGITS / 2]);
    format!("{}-{digits}", class.prefix())
}

#[cfg(test)]
mod tests;
