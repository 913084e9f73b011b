//! All patterns of all rules, searched in one pass.
//!
//! Two automata hold the literals that patterns need. In logs a first one, of the literals that are rare
//! there, says at which lines to stop; the second finds all literals of such a line, and only patterns
//! that have one of each of their clauses there are tried. Other lines are never decoded.

mod boots;
mod expression;
mod hit;

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::lines::{LogLine, Origin};
use super::{literals, manual};
use crate::dress::{Nature, Voice};
pub use crate::lines::earliest;
use crate::parsers::{Channel, EXTRACTORS, Extracted, Said};
pub use expression::{Expression, LinePattern};
use expression::{around, captures};
use hit::{Counter, add_alike};
pub use hit::{Found, Hit};

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
        boots::mark(origin, bytes, &mut found);
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
        if (patterns.is_empty() && extractors.is_empty()) || manual::explains(raw) {
            return;
        }
        let mut line = origin.decode(raw, number);
        let is_note = |index: &usize| {
            let pattern = &self.patterns[*index];
            pattern.nature.is_some_and(Nature::is_note)
                && pattern.applies(line.heard, &line.speaker)
                && pattern
                    .regex
                    .get()
                    .is_some_and(|regex| regex.is_match(&line.text))
        };
        if patterns.iter().any(is_note) {
            line.voice = line.voice.max(Voice::Routine);
        }
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
        if !pattern.applies(line.heard, &line.speaker) {
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
                text: around(regex, &line.shown),
                at: line.at,
                last: line.at,
                count: 1,
                voice: line.voice,
                last_place: line.place(),
                host: line.host.clone(),
                clock: line.clock,
                boot: line.boot.clone(),
                earlier_boot: false,
                scattered: line.channel == Channel::Text,
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
                voice: Voice::Spoken,
                last_place: said.place.clone(),
                host: String::new(),
                clock: None,
                boot: String::new(),
                earlier_boot: false,
                scattered: false,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(expressions: &[&str]) -> Patterns {
        let patterns = expressions.iter().map(|expression| LinePattern {
            regex: Expression::new(expression),
            channels: Vec::new(),
            speaker: None,
            nature: None,
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
