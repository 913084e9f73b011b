//! All patterns of all rules, searched in one pass.
//!
//! Two automata hold the literals that patterns need. In logs a first one, of the literals that are rare
//! there, says at which lines to stop; the second finds all literals of such a line, and only patterns
//! that have one of each of their clauses there are tried. Other lines are never decoded.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use chrono::{DateTime, Utc};
use regex::Regex;

use super::lines::{LogLine, Origin};
use super::literals;
use crate::facts::excerpt;
use crate::model::Place;
use crate::parsers::{
    Channel, DriverLine, EXTRACTORS, Extracted, HostLine, PacketLine, Repeats, Said,
};

/// Different groups of one pattern that are kept from one stretch of log; more are counted only.
const GROUPS_PER_PIECE: usize = 40;
/// Longest excerpt of a line, in bytes.
const EXCERPT: usize = 700;

/// An expression that is compiled when it is first tried: of more than a thousand, most never are.
#[derive(Debug, Default)]
pub struct Expression {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Expression {
    /// An expression as written. One that does not compile matches nothing; the rule checker and the
    /// tests refuse it before.
    pub fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            compiled: OnceLock::new(),
        }
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    fn get(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| Regex::new(&self.source).ok())
            .as_ref()
    }
}

/// A capture whose name begins so holds what no report may print.
const SENSITIVE: &str = "sensitive_";
/// What is printed instead.
const WITHHELD: &str = "<withheld>";

/// A pattern to look for in lines.
pub struct LinePattern {
    /// Expression, matched against the decoded text.
    pub regex: Expression,
    /// Channels it is looked for in; empty means everything that is said, which commands' output and
    /// files are not: what stands there is data, and is searched only by patterns that ask for it.
    pub channels: Vec<Channel>,
    /// Expression that the speaker (unit, identifier or pod) must match.
    pub speaker: Option<Regex>,
}

impl LinePattern {
    fn searches(&self, channel: Channel) -> bool {
        match channel {
            // Text of unknown origin may be anything, so every pattern is tried on it.
            Channel::Text => true,
            Channel::Command | Channel::File => self.channels.contains(&channel),
            _ => self.channels.is_empty() || self.channels.contains(&channel),
        }
    }

    fn applies(&self, channel: Channel, speaker: &str) -> bool {
        let here = self.searches(channel);
        let unknown = channel == Channel::Text || speaker.is_empty();
        here && (unknown
            || self
                .speaker
                .as_ref()
                .is_none_or(|regex| regex.is_match(speaker)))
    }
}

/// Lines that matched a pattern and are alike in subject and captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Index of the pattern.
    pub pattern: usize,
    /// What the line is about.
    pub subject: String,
    /// Who said it: a unit or a pod; empty for messages inside objects.
    pub speaker: String,
    /// Named captures.
    pub captures: BTreeMap<String, String>,
    /// Where the first one stands.
    pub place: Place,
    /// Text of the first one.
    pub text: String,
    /// Time of the first one.
    pub at: Option<DateTime<Utc>>,
    /// Time of the last one.
    pub last: Option<DateTime<Utc>>,
    /// How many.
    pub count: u64,
    /// Other entries that hold alike ones.
    pub also: BTreeSet<String>,
}

impl Hit {
    /// What makes two hits alike.
    pub fn key(&self) -> (usize, &str, &str, &BTreeMap<String, String>) {
        (self.pattern, &self.subject, &self.speaker, &self.captures)
    }

    /// Adds a later hit that is alike.
    pub fn absorb(&mut self, later: &Hit) {
        self.count = self.count.saturating_add(later.count);
        self.at = earliest(self.at, later.at);
        self.last = self.last.max(later.last);
        self.also.extend(later.also.iter().cloned());
        if later.place.path != self.place.path {
            self.also.insert(later.place.path.clone());
        }
    }
}

/// The earlier of two times, where a missing one does not count.
pub fn earliest(a: Option<DateTime<Utc>>, b: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// What a stretch of lines held.
#[derive(Default)]
pub struct Found {
    /// Pattern hits, in order of appearance.
    pub hits: Vec<Hit>,
    /// Packets, alike ones added up.
    pub packets: Vec<PacketLine>,
    /// Messages of the NVIDIA driver, alike ones added up.
    pub driver: Vec<DriverLine>,
    /// What happened to the node, alike lines added up.
    pub host: Vec<HostLine>,
}

/// What makes a pattern worth trying on a line: a literal of every clause, by their ids.
struct Clauses {
    all: Vec<Vec<usize>>,
    /// Those of the first clause that are rare in logs. In a log one of these has to be there; an
    /// everyday word alone does not make a pattern worth trying.
    rare: Vec<usize>,
}

/// The compiled set.
pub struct Patterns {
    /// Literals worth stopping at in a log.
    rare: AhoCorasick,
    /// All literals.
    every: AhoCorasick,
    /// Patterns whose best clause holds the literal.
    triggers: Vec<Vec<usize>>,
    /// Extractor that the literal is the needle of.
    needles: Vec<Option<usize>>,
    clauses: Vec<Clauses>,
    patterns: Vec<LinePattern>,
}

impl Patterns {
    /// Compiles the set. Patterns without a required literal are left out; the rule checker has
    /// refused those before.
    pub fn new(patterns: Vec<LinePattern>) -> Result<Self, aho_corasick::BuildError> {
        let texts: Vec<Vec<Vec<String>>> = patterns
            .iter()
            .map(|pattern| literals::clauses(pattern.regex.as_str()))
            .collect();
        let needles = EXTRACTORS.iter().map(|one| one.needle.to_ascii_lowercase());
        let known: BTreeSet<String> = texts
            .iter()
            .flatten()
            .flatten()
            .cloned()
            .chain(needles)
            .collect();
        let known: Vec<String> = known.into_iter().collect();
        let id = |text: &String| known.binary_search(text).unwrap_or(0);
        let mut set = Self {
            rare: automaton(&[], AhoCorasickKind::DFA)?,
            // Used on lines that the first automaton stopped at, so small matters more than fast.
            every: automaton(&known, AhoCorasickKind::ContiguousNFA)?,
            triggers: vec![Vec::new(); known.len()],
            needles: vec![None; known.len()],
            clauses: Vec::new(),
            patterns,
        };
        let mut rare: BTreeSet<usize> = BTreeSet::new();
        for (index, clauses) in texts.iter().enumerate() {
            let all: Vec<Vec<usize>> = clauses
                .iter()
                .map(|clause| clause.iter().map(id).collect())
                .collect();
            let first = || all.first().into_iter().flatten().copied();
            for literal in first() {
                set.triggers[literal].push(index);
            }
            let of_logs: Vec<usize> = first()
                .filter(|one| !literals::is_everyday_text(&known[*one]))
                .collect();
            rare.extend(&of_logs);
            set.clauses.push(Clauses { rare: of_logs, all });
        }
        for (index, extractor) in EXTRACTORS.iter().enumerate() {
            let literal = id(&extractor.needle.to_ascii_lowercase());
            set.needles[literal] = Some(index);
            rare.insert(literal);
        }
        let rare: Vec<String> = rare
            .into_iter()
            .map(|literal| known[literal].clone())
            .collect();
        set.rare = automaton(&rare, AhoCorasickKind::DFA)?;
        Ok(set)
    }

    /// Searches a stretch of whole lines.
    pub fn search(&self, origin: &Origin<'_>, bytes: &[u8]) -> Found {
        let mut found = Found::default();
        let mut counts = Counter::default();
        let journal = is_log(origin.channel) && origin.path.ends_with(".json");
        let message = memchr::memmem::Finder::new("\"MESSAGE\":");
        let mut from = 0;
        let mut counted_to = 0;
        let mut line_number = 0u32;
        while let Some(hit) = if journal {
            self.stop_in_message(bytes, from, &message)
        } else {
            self.stop(origin.channel, bytes, from)
        } {
            let start = memchr::memrchr(b'\n', &bytes[..hit.start]).map_or(0, |at| at + 1);
            let end =
                memchr::memchr(b'\n', &bytes[hit.end..]).map_or(bytes.len(), |at| hit.end + at);
            let newlines = memchr::memchr_iter(b'\n', &bytes[counted_to..start]).count();
            line_number = line_number.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
            counted_to = start;
            self.line(
                origin,
                &bytes[start..end],
                line_number,
                &mut found,
                &mut counts,
            );
            from = end;
        }
        found
    }

    /// The next literal that is worth stopping at.
    fn stop(&self, channel: Channel, bytes: &[u8], from: usize) -> Option<Range<usize>> {
        let first = if is_log(channel) {
            &self.rare
        } else {
            &self.every
        };
        let hit = first.find(aho_corasick::Input::new(bytes).range(from..))?;
        Some(hit.range())
    }

    /// The same in a journal, where half of each line is fields that no pattern is matched against:
    /// it is searched from the message on. A line that is no journal record is searched whole.
    fn stop_in_message(
        &self,
        bytes: &[u8],
        from: usize,
        message: &memchr::memmem::Finder<'_>,
    ) -> Option<Range<usize>> {
        let mut start = from;
        while start < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
            let skip = message.find(&bytes[start..end]).unwrap_or(0);
            let input = aho_corasick::Input::new(bytes).range(start + skip..end);
            if let Some(hit) = self.rare.find(input) {
                return Some(hit.range());
            }
            start = end + 1;
        }
        None
    }

    fn line(
        &self,
        origin: &Origin<'_>,
        raw: &[u8],
        number: u32,
        found: &mut Found,
        counts: &mut Counter,
    ) {
        let seen = self.literals_in(raw);
        let patterns = self.worth_trying(&seen, origin.channel);
        let extractors: Vec<usize> = seen
            .iter()
            .filter_map(|literal| self.needles[*literal])
            .collect();
        if patterns.is_empty() && extractors.is_empty() {
            return;
        }
        let line = origin.decode(raw, number);
        for index in patterns {
            self.try_pattern(index, &line, found, counts);
        }
        for index in extractors {
            match (EXTRACTORS[index].extract)(&line) {
                Some(Extracted::Packet(packet)) => add_alike(packet, &mut found.packets),
                Some(Extracted::Driver(said)) => add_alike(said, &mut found.driver),
                Some(Extracted::Host(said)) => add_alike(said, &mut found.host),
                None => {}
            }
        }
    }

    fn literals_in(&self, raw: &[u8]) -> BTreeSet<usize> {
        self.every
            .find_overlapping_iter(raw)
            .map(|literal| literal.pattern().as_usize())
            .collect()
    }

    /// Patterns of which every clause has a literal in the line, in the order of their indices.
    fn worth_trying(&self, seen: &BTreeSet<usize>, channel: Channel) -> BTreeSet<usize> {
        let triggered = seen
            .iter()
            .flat_map(|literal| &self.triggers[*literal])
            .copied();
        let log = is_log(channel);
        triggered
            .filter(|index| {
                let clauses = &self.clauses[*index];
                (!log || clauses.rare.iter().any(|one| seen.contains(one)))
                    && self.patterns[*index].searches(channel)
                    && clauses
                        .all
                        .iter()
                        .all(|clause| clause.iter().any(|one| seen.contains(one)))
            })
            .collect()
    }

    fn try_pattern(
        &self,
        index: usize,
        line: &LogLine<'_>,
        found: &mut Found,
        counts: &mut Counter,
    ) {
        let pattern = &self.patterns[index];
        if !pattern.applies(line.channel, &line.speaker) {
            return;
        }
        let Some(regex) = pattern.regex.get() else {
            return;
        };
        if let Some(captures) = captures(regex, &line.text) {
            let hit = Hit {
                pattern: index,
                subject: line.subject(),
                speaker: line.speaker.clone(),
                captures,
                place: line.place(),
                text: around(regex, &line.text),
                at: line.at,
                last: line.at,
                count: 1,
                also: BTreeSet::new(),
            };
            counts.add(hit, &mut found.hits);
        }
    }

    /// Searches a text that was found inside an object.
    pub fn search_said(&self, said: &Said) -> Vec<Hit> {
        let seen = self.literals_in(said.text.as_bytes());
        let indices = self.worth_trying(&seen, said.channel);
        let matching = indices.into_iter().filter_map(|index| {
            let pattern = &self.patterns[index];
            if !pattern.applies(said.channel, "") {
                return None;
            }
            let regex = pattern.regex.get()?;
            Some(Hit {
                pattern: index,
                captures: captures(regex, &said.text)?,
                subject: said.subject.clone(),
                speaker: String::new(),
                place: said.place.clone(),
                text: around(regex, &said.text),
                at: said.at,
                last: said.at,
                count: said.count,
                also: BTreeSet::new(),
            })
        });
        matching.collect()
    }
}

/// Channels that hold so many lines that each pattern has to be rare in them.
fn is_log(channel: Channel) -> bool {
    matches!(
        channel,
        Channel::Kernel | Channel::Journal | Channel::PodLog
    )
}

fn automaton(
    literals: &[String],
    kind: AhoCorasickKind,
) -> Result<AhoCorasick, aho_corasick::BuildError> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(kind))
        .build(literals)
}

fn captures(regex: &Regex, text: &str) -> Option<BTreeMap<String, String>> {
    let matched = regex.captures(text)?;
    let named = regex.capture_names().flatten().filter_map(|name| {
        let value = matched.name(name)?;
        if name.starts_with(SENSITIVE) {
            return Some((name.to_owned(), WITHHELD.to_owned()));
        }
        Some((name.to_owned(), excerpt(value.as_str(), 200)))
    });
    Some(named.collect())
}

/// A line without what a rule's captures mark as sensitive: nothing that quotes it may print that.
fn without_sensitive<'a>(regex: &Regex, text: &'a str) -> Cow<'a, str> {
    let mut names = regex.capture_names().flatten();
    if !names.any(|name| name.starts_with(SENSITIVE)) {
        return Cow::Borrowed(text);
    }
    let mut spans: Vec<Range<usize>> = Vec::new();
    for matched in regex.captures_iter(text) {
        for name in regex.capture_names().flatten() {
            let value = matched.name(name).filter(|_| name.starts_with(SENSITIVE));
            spans.extend(value.map(|value| value.range()));
        }
    }
    let mut cleaned = text.to_owned();
    // The value may stand elsewhere in the same line as well.
    let mut values: Vec<&str> = spans.into_iter().map(|span| &text[span]).collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    for value in values.into_iter().filter(|value| !value.is_empty()) {
        cleaned = cleaned.replace(value, WITHHELD);
    }
    Cow::Owned(cleaned)
}

/// The line, or of a very long one the part around the match.
fn around(regex: &Regex, text: &str) -> String {
    let at = regex.find(text).map_or(0, |found| found.start());
    let cleaned = without_sensitive(regex, text.trim_end());
    let text = cleaned.as_ref();
    if text.len() <= EXCERPT {
        return text.to_owned();
    }
    let mut start = at.min(text.len()).saturating_sub(120);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    excerpt(&text[start..], EXCERPT)
}

fn add_alike<T: Repeats>(line: T, lines: &mut Vec<T>) {
    let key = line.key();
    if let Some(known) = lines.iter_mut().find(|known| known.key() == key) {
        known.absorb(&line);
    } else if lines.len() < GROUPS_PER_PIECE {
        lines.push(line);
    }
}

/// Pattern, subject, speaker and captures: what alike hits share.
type GroupKey = (usize, String, String, BTreeMap<String, String>);

/// Adds alike hits up and bounds how many different ones are kept.
#[derive(Default)]
struct Counter {
    groups: BTreeMap<GroupKey, usize>,
    kept: BTreeMap<usize, usize>,
}

impl Counter {
    fn add(&mut self, hit: Hit, hits: &mut Vec<Hit>) {
        let key = (
            hit.pattern,
            hit.subject.clone(),
            hit.speaker.clone(),
            hit.captures.clone(),
        );
        if let Some(&at) = self.groups.get(&key) {
            hits[at].absorb(&hit);
            return;
        }
        let kept = self.kept.entry(hit.pattern).or_default();
        if *kept < GROUPS_PER_PIECE {
            *kept += 1;
            self.groups.insert(key, hits.len());
            hits.push(hit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(expressions: &[&str]) -> Patterns {
        let patterns = expressions.iter().map(|expression| LinePattern {
            regex: Expression::new(expression),
            channels: Vec::new(),
            speaker: None,
        });
        Patterns::new(patterns.collect()).unwrap()
    }

    #[test]
    fn what_a_rule_marks_as_sensitive_is_in_no_capture_and_in_no_quoted_line() {
        let set = patterns(&[r"login of (?P<who>\S+) with code (?P<sensitive_code>\d+)"]);
        let text = b"{\"MESSAGE\":\"login of mm with code 774411 (774411)\"}\n";
        let origin = Origin::of("nodes/n/journal/c.json", Channel::Journal);
        let hit = &set.search(&origin, text).hits[0];
        assert_eq!(hit.captures["who"], "mm");
        assert_eq!(hit.captures["sensitive_code"], "<withheld>");
        assert_eq!(hit.text, "login of mm with code <withheld> (<withheld>)");
    }

    #[test]
    fn a_pattern_with_quotes_is_found_in_a_journal_line_where_they_are_escaped() {
        let set = patterns(&[r#"no runtime for "(?P<handler>[^"]+)" is configured"#]);
        let text = b"{\"MESSAGE\":\"fine\"}\n{\"MESSAGE\":\"no runtime for \\\"nvidia\\\" is configured\"}\n";
        let origin = Origin::of("nodes/n/journal/c.json", Channel::Journal);
        let found = set.search(&origin, text);
        assert_eq!(found.hits.len(), 1);
        assert_eq!(found.hits[0].captures["handler"], "nvidia");
        assert_eq!(found.hits[0].place.line, Some(2));
    }

    #[test]
    fn two_patterns_on_one_line_are_both_found_although_their_literals_overlap() {
        let set = patterns(&["failed to get sandbox runtime", "sandbox runtime: no"]);
        let origin = Origin::of("x.txt", Channel::Text);
        let found = set.search(&origin, b"failed to get sandbox runtime: no runtime\n");
        let indices: Vec<usize> = found.hits.iter().map(|hit| hit.pattern).collect();
        assert_eq!(indices, [0, 1]);
    }

    #[test]
    fn alike_lines_are_added_up_and_the_first_is_kept() {
        let set = patterns(&["timeout"]);
        let origin = Origin::of("x.txt", Channel::Text);
        let found = set.search(&origin, b"a\ntimeout 1\nb\ntimeout 2\n");
        assert_eq!(found.hits.len(), 1);
        assert_eq!(
            (found.hits[0].count, found.hits[0].place.line),
            (2, Some(2))
        );
    }
}
