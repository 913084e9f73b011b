//! All patterns of all rules, searched in one pass.
//!
//! An index holds a text of each pattern that a line must contain for it to match. Where one stands, the pattern's
//! other texts are looked for, and only then the line is decoded and the expression tried.

mod asking;
mod boots;
mod caught;
mod certain;
mod clauses;
mod hit;
mod known;
mod line_pattern;
mod repeats;
mod search;
mod shapes;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock};

use casefile_shapes::automaton::Automaton;
pub use casefile_shapes::expression::Expression;
use casefile_shapes::index::{Held, Index};
use casefile_shapes::tries::Tries;
use casefile_shapes::words::Words;

use crate::dress::Voice;
use crate::dress::respell;
pub use crate::lines::earliest;
use crate::parsers::{Channel, EXTRACTORS, Said};
use crate::shared::Shared;
use crate::{shipped, spread};
use clauses::Clauses;
pub use hit::{Captures, Found, Hit};
use known::Open;
pub use line_pattern::LinePattern;
use shapes::{Learnt, Shapes};

/// The compiled set.
pub struct Patterns {
    /// Texts that make patterns worth trying, by the channel; ready when a line of it is first met.
    indices: [OnceLock<Index>; CHANNELS.len()],
    clauses: Vec<Clauses>,
    patterns: Vec<LinePattern>,
    /// The first pattern with the same expression: of those a line meets one.
    same: Vec<usize>,
    /// The words of all expressions; ready when a pasted text is first met.
    spelling: OnceLock<respell::Words>,
    /// Expressions that facts are tested with: their words are those of messages as well.
    tests: Vec<String>,
    /// The same as patterns; ready when a text that may be wrapped is first met.
    tested: OnceLock<Box<Patterns>>,
    /// Automata that tell which shapes of lines a pattern cannot match; made when first asked.
    automata: Vec<OnceLock<Option<Automaton>>>,
    /// Words that shapes of lines have to show; known when first asked.
    words: OnceLock<Words>,
    /// Shapes of lines that were met, together and for each thread that is not searching now.
    learnt: Learnt,
    learners: Mutex<Vec<Shapes>>,
    /// What is remembered of expressions.
    tries: Tries,
}

/// All channels, in the order of their indices.
const CHANNELS: [Channel; 8] = [
    Channel::Kernel,
    Channel::Journal,
    Channel::PodLog,
    Channel::Event,
    Channel::Status,
    Channel::Command,
    Channel::File,
    Channel::Text,
];

impl Patterns {
    /// Takes the set. Patterns without a required literal are never tried; the rule checker has refused those before.
    pub fn new(patterns: Vec<LinePattern>) -> Self {
        let clauses = spread::each(&patterns, |pattern| Clauses::of(pattern.regex.as_str()));
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let expressions = patterns.iter().map(|pattern| pattern.regex.as_str());
        let same = expressions
            .enumerate()
            .map(|(at, text)| *first.entry(text).or_insert(at));
        Self {
            same: same.collect(),
            spelling: OnceLock::new(),
            tests: Vec::new(),
            tested: OnceLock::new(),
            automata: patterns.iter().map(|_| OnceLock::new()).collect(),
            words: OnceLock::new(),
            learnt: Learnt::default(),
            learners: Mutex::default(),
            tries: Tries::default(),
            indices: Default::default(),
            clauses,
            patterns,
        }
    }

    /// Also mends typing errors in the words of expressions that facts are tested with.
    pub fn with_tests(self, tests: Vec<String>) -> Self {
        Self { tests, ..self }
    }

    /// Expressions that facts are tested with, to be searched in lines: what they match is as good as a message.
    pub(super) fn tested(&self) -> &Patterns {
        self.tested.get_or_init(|| {
            let lines = self.tests.iter().map(|expression| LinePattern {
                regex: Expression::new(expression),
                channels: Vec::new(),
                speaker: None,
                nature: None,
            });
            Box::new(Patterns::new(lines.collect()))
        })
    }

    /// The texts that make patterns worth trying in a channel. What asks for them is a pattern or, behind all
    /// patterns, an extractor.
    fn index(&self, channel: Channel) -> &Index {
        let at = CHANNELS.iter().position(|one| *one == channel);
        self.indices[at.unwrap_or(0)].get_or_init(|| {
            let searched = self.patterns.iter().zip(&self.clauses).zip(0u32..);
            let searched = searched.filter(|((pattern, _), _)| pattern.searches(channel));
            let texts = searched.flat_map(|((_, clauses), number)| {
                let texts = match is_log(channel) {
                    true => clauses.rare(),
                    false => clauses.first(),
                };
                texts.into_iter().map(move |text| (text, number))
            });
            let needles = EXTRACTORS.iter().map(|one| one.needle.to_ascii_lowercase());
            let needles: Vec<String> = needles.collect();
            let extractors = needles.iter().map(String::as_str);
            Index::new(texts.chain(extractors.zip(self.extractors_from()..)))
        })
    }

    /// The words that the messages of all patterns are made of.
    pub(super) fn spelling(&self) -> &respell::Words {
        self.spelling.get_or_init(|| {
            let expressions = self.patterns.iter().map(|one| one.regex.as_str());
            let expressions = expressions.chain(self.tests.iter().map(String::as_str));
            let words: Vec<_> = expressions.map(shipped::words).collect();
            let texts = words.iter().map(AsRef::as_ref);
            respell::Words::of(texts.chain(crate::loose::HEADINGS))
        })
    }

    /// The number of the first extractor among what asks for texts.
    fn extractors_from(&self) -> u32 {
        u32::try_from(self.patterns.len()).unwrap_or(u32::MAX)
    }

    /// What a line in lower case must show so that its shape tells which texts it holds.
    fn words(&self) -> &Words {
        self.words.get_or_init(|| {
            let clauses = self.clauses.iter().flat_map(Clauses::all);
            Words::of(clauses.chain(EXTRACTORS.iter().map(|one| one.needle)))
        })
    }

    /// What asks for some text that may stand in a line of a shape, and of that what asks for none that stands in every line
    /// of it, with the texts that may.
    fn asking_in_shape(&self, channel: Channel, shape: &Held) -> (Vec<u32>, Vec<Open>) {
        let index = self.index(channel);
        let (mut standing, mut open) = (Vec::new(), Vec::new());
        index.search(shape.lower(), &mut |owners| {
            standing.extend_from_slice(owners)
        });
        standing.sort_unstable();
        standing.dedup();
        index.search_open(shape, &mut |text, owners| {
            let owners = owners.iter().copied();
            let owners = owners.filter(|owner| standing.binary_search(owner).is_err());
            open.extend(owners.map(|owner| (owner, text.into())));
        });
        let mut asking: Vec<u32> = open.iter().map(|(owner, _)| *owner).collect();
        asking.extend(standing);
        asking.sort_unstable();
        asking.dedup();
        (asking, open)
    }

    /// The automaton of a pattern; none of an extractor, or where it is too large.
    fn automaton(&self, number: u32) -> Option<&Automaton> {
        // Patterns with the same expression share it.
        let first = *self.same.get(usize::try_from(number).ok()?)?;
        let source = self.patterns.get(first)?.regex.as_str();
        let made = self.automata.get(first)?;
        made.get_or_init(|| Automaton::of(source)).as_ref()
    }

    /// Searches a text that was found inside an object.
    pub fn search_said(&self, said: &Said) -> Vec<Hit> {
        let matching = self.matching(said).into_iter();
        matching
            .filter_map(|(pattern, captures)| self.hit_of(said, pattern, captures))
            .collect()
    }

    /// The hit of a pattern in a text that was found inside an object.
    pub(super) fn hit_of(&self, said: &Said, index: usize, captures: Captures) -> Option<Hit> {
        Some(Hit {
            pattern: index,
            captures,
            subject: said.subject.clone(),
            speaker: Shared::default(),
            place: said.place.clone(),
            text: caught::shown(&self.patterns.get(index)?.regex, &said.text),
            at: said.at,
            last: said.at,
            count: said.count,
            voice: Voice::Spoken,
            last_place: said.place.clone(),
            host: Shared::default(),
            clock: None,
            klog: None,
            boot: Shared::default(),
            earlier_boot: false,
            scattered: false,
            also: BTreeSet::new(),
        })
    }
}

/// Channels that hold so many lines that each pattern has to be rare in them.
fn is_log(channel: Channel) -> bool {
    matches!(
        channel,
        Channel::Kernel | Channel::Journal | Channel::PodLog
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Origin;

    fn patterns(expressions: &[&str]) -> Patterns {
        let patterns = expressions.iter().map(|expression| LinePattern {
            regex: Expression::new(expression),
            channels: Vec::new(),
            speaker: None,
            nature: None,
        });
        Patterns::new(patterns.collect())
    }

    #[test]
    fn what_a_rule_marks_as_sensitive_is_in_no_capture_and_in_no_quoted_line() {
        let set = patterns(&[r"login of (?P<who>\S+) with code (?P<sensitive_code>\d+)"]);
        let text = b"{\"MESSAGE\":\"login of mm with code 774411 (774411)\"}\n";
        let origin = Origin::of("nodes/n/journal/c.json", Channel::Journal);
        let hit = &set.search(&origin, text).hits[0];
        assert_eq!(hit.captures[1], ("who".into(), "mm".into()));
        assert_eq!(hit.captures[0].1, "<withheld>");
        assert_eq!(hit.text, "login of mm with code <withheld> (<withheld>)");
    }

    #[test]
    fn a_pattern_with_quotes_is_found_in_a_journal_line_where_they_are_escaped() {
        let set = patterns(&[r#"no runtime for "(?P<handler>[^"]+)" is configured"#]);
        let text = b"{\"MESSAGE\":\"fine\"}\n{\"MESSAGE\":\"no runtime for \\\"nvidia\\\" is configured\"}\n";
        let origin = Origin::of("nodes/n/journal/c.json", Channel::Journal);
        let found = set.search(&origin, text);
        assert_eq!(found.hits.len(), 1);
        assert_eq!(found.hits[0].captures[0].1, "nvidia");
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

    #[test]
    fn what_is_searched_in_a_log_does_not_depend_on_how_many_lines_alike_came_before() {
        // Digits alone are looked for in no log, and "k3s" may stand in an id.
        let set = patterns(&["k3s|=4711="]);
        let origin = Origin::of("nodes/n/journal/c.json", Channel::Journal);
        let record = |said: &str| format!("{{\"MESSAGE\":\"{said}\",\"_HOSTNAME\":\"k3s-1\"}}\n");
        let line = |at: usize| record(&format!("port =4711= of ao{}zu{at}e", at % 7));
        let lines: String = (0..60).map(line).collect();
        assert!(set.search(&origin, lines.as_bytes()).hits.is_empty());
        let named = lines + &record("port =4711= of k3s");
        let hits = set.search(&origin, named.as_bytes()).hits;
        assert_eq!((hits.len(), hits[0].count), (1, 1));
    }
}
