//! The end of a log: what its program said last, and which units systemd saw fail again and again.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::grade::{self, Grade};
use super::{check, kernel, kubelet, own_node, span};
use crate::facts::excerpt;
use crate::form::Form;
use crate::lines::Origin;
use crate::parsers::Channel;
use crate::parsers::marks::{CAPTION, Mark, Marks, UNIT_FAILED};

/// Lines from the end in which the last grave line is looked for.
const LINES: usize = 200;
/// Bytes from the end of a piece that are read for it.
const BYTES: usize = 96 << 10;
/// A line as it is kept, in bytes.
const LONGEST: usize = 600;
/// Units whose failures are counted in one piece.
const MOST_UNITS: usize = 64;
/// What `kubectl cluster-info dump` writes instead of a log that it could not fetch (pkg/cmd/clusterinfo of kubectl): its own
/// words, and none of the program.
const NOT_FETCHED: &[u8] = b"Request log error: ";
/// Lines before a unit's end that may hold its last word.
const BEFORE_END: usize = 80;

/// A line of a log with its offset in the piece, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) offset: u32,
    pub(super) text: String,
    /// As it stands in the entry.
    pub(super) raw: String,
    pub(super) grade: Grade,
    pub(super) at: Option<DateTime<Utc>>,
}

/// What one piece of a log gave.
#[derive(Debug, Default)]
pub struct Tail {
    pub(super) last: Option<Said>,
    pub(super) units: BTreeMap<String, Ends>,
    pub(super) span: span::Ends,
    pub(super) pods: Vec<kubelet::Said>,
    pub(super) node: own_node::Ends,
    pub(super) kernel: Option<kernel::Said>,
    pub(super) checks: Vec<Said>,
    pub(super) lines: u32,
}

/// How often systemd saw a unit fail, at which lines, and what was said before the last time.
#[derive(Debug, Clone, Default)]
pub(super) struct Ends {
    pub(super) offsets: Vec<u32>,
    /// Where in the piece the line of the last end starts.
    start: usize,
    /// How the last line about an end is worded: systemd 229 to 235 says both.
    wording: usize,
    pub(super) restarts: bool,
    /// Nothing of the unit's own program follows its last end.
    pub(super) stays: bool,
    pub(super) first: Option<Said>,
    pub(super) first_words: Option<Said>,
    pub(super) result: Option<Said>,
    pub(super) words: Option<Said>,
}

impl Ends {
    /// The lines of the first end and of the last.
    pub(super) fn lines(&self) -> Vec<String> {
        let told = [&self.first_words, &self.first, &self.words, &self.result];
        let mut lines: Vec<String> = Vec::new();
        for said in told.into_iter().flatten() {
            if !lines.contains(&said.raw) {
                lines.push(said.raw.clone());
            }
        }
        lines
    }
}

/// What is known of a piece when it is read for its ends.
#[derive(Debug, Clone, Copy)]
pub struct PieceOfLog {
    /// It begins its entry.
    pub is_first: bool,
    /// It ends its entry.
    pub is_last: bool,
    /// Every line is a record of the journal.
    pub is_records: bool,
    /// What its lines may hold.
    pub marks: Marks,
}

impl PieceOfLog {
    /// A piece of which it is not known what its lines are.
    pub fn unsearched((is_first, is_last): (bool, bool)) -> Self {
        Self {
            is_first,
            is_last,
            is_records: false,
            marks: Marks::unsearched(),
        }
    }
}

/// Reads the ends of a piece. Only what ends its entry can hold the program's last word.
pub fn of_piece(origin: &Origin<'_>, bytes: &[u8], lines: u32, piece: PieceOfLog) -> Tail {
    let PieceOfLog {
        is_first,
        is_last,
        marks,
        ..
    } = piece;
    let kernel = match is_last {
        true => kernel::of_end(origin, bytes, lines),
        false => None,
    };
    if !matches!(
        origin.channel,
        Channel::PodLog | Channel::Journal | Channel::Text
    ) {
        return Tail {
            kernel,
            lines,
            ..Tail::default()
        };
    }
    let is_captioned = marks.hold(Mark::Caption) && is_captioned(bytes);
    // Where several programs wrote, as sections with captions or as the head of syslog tell, the end is no program's last word.
    let is_of_several = |said: &Said| is_captioned || !grade::message(&said.text).0.is_empty();
    let last = is_last
        .then(|| last_words(origin, bytes, lines))
        .flatten()
        .filter(|said| origin.channel != Channel::Text || !is_of_several(said));
    Tail {
        last,
        units: match marks.hold(Mark::UnitFailed) {
            true => units(origin, bytes),
            false => BTreeMap::new(),
        },
        span: match !piece.is_records && is_captioned {
            true => span::Ends::default(),
            false => span::of_piece(origin, bytes, (is_first, is_last)),
        },
        pods: match is_last {
            true => kubelet::of_end(origin, bytes, lines),
            false => Vec::new(),
        },
        node: own_node::of_piece(origin, bytes, (lines, marks.hold(Mark::NodeTrouble))),
        checks: match marks.hold(Mark::TestFailed) {
            true => check::of_piece(origin, bytes),
            false => Vec::new(),
        },
        kernel,
        lines,
    }
}

/// A line as it stands, so that it can be searched for.
pub(super) fn verbatim(raw: &[u8]) -> String {
    excerpt(String::from_utf8_lossy(raw).trim(), LONGEST)
}

/// Whether a text holds sections with captions, as `tail` and `head` print of several files.
fn is_captioned(bytes: &[u8]) -> bool {
    let mut captions = memchr::memmem::find_iter(bytes, CAPTION.as_bytes());
    captions.any(|at| at == 0 || bytes[at - 1] == b'\n')
}

/// How grave a text's last word is; none where it has none.
pub fn gravest(origin: &Origin<'_>, bytes: &[u8]) -> Option<Grade> {
    last_words(origin, bytes, 0).map(|said| said.grade)
}

/// The gravest of the last lines; of equally grave ones the last, and else the very last line.
fn last_words(origin: &Origin<'_>, bytes: &[u8], lines: u32) -> Option<Said> {
    let begin = bytes.len().saturating_sub(BYTES);
    let ends_line = bytes.last() == Some(&b'\n');
    let mut number = if ends_line { lines } else { lines + 1 };
    let mut best: Option<Said> = None;
    for raw in bytes[begin..].rsplit(|byte| *byte == b'\n').take(LINES) {
        if ends_line && raw.is_empty() && best.is_none() && number == lines {
            number = lines.saturating_sub(1);
            continue;
        }
        let offset = number.saturating_sub(u32::from(!ends_line));
        number = number.saturating_sub(1);
        if raw.iter().all(u8::is_ascii_whitespace) || raw.starts_with(NOT_FETCHED) {
            continue;
        }
        if best.is_some() && !grade::may_be_marked(raw) {
            continue;
        }
        let line = origin.decode(raw, offset);
        let text = grade::plain(&line.text);
        let found = match &best {
            Some(best) => grade::above(&text, best.grade),
            None => Some(grade::grade(&text)),
        };
        if let Some(grade) = found {
            best = Some(Said {
                offset,
                text: excerpt(text.trim(), LONGEST),
                raw: verbatim(raw),
                grade,
                at: line.at,
            });
        }
        if found == Some(Grade::Fatal) {
            break;
        }
    }
    best
}

/// What systemd says when it starts a unit again, behind the unit's name: since 235, since 236, 229 to 235, and before.
const STARTS_AGAIN: [&str; 4] = [
    ": Scheduled restart job",
    ": Service RestartSec=",
    ": Service hold-off time over",
    " holdoff time over",
];
/// Two wordings of one end stand no further apart, in lines.
const ONE_END: u32 = 8;

static FAILED: Form = Form::new(concat!(
    r"(?P<unit>[\w@.\\:-]+\.(?:service|mount|socket)): (?:Failed with result '[\w-]+'|Unit entered failed state)",
    r"|Unit (?P<old>[\w@.\\:-]+\.(?:service|mount|socket)) entered failed state",
));

/// Where a piece holds what systemd says when a unit failed, and which of the wordings.
fn failed_texts(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (wording, text) in UNIT_FAILED.iter().enumerate() {
        found.extend(memchr::memmem::find_iter(bytes, text.as_bytes()).map(|at| (at, wording)));
    }
    found.sort_unstable();
    found
}

fn units(origin: &Origin<'_>, bytes: &[u8]) -> BTreeMap<String, Ends> {
    let mut found: BTreeMap<String, Ends> = BTreeMap::new();
    if origin.channel == Channel::PodLog {
        return found;
    }
    let (mut counted, mut number) = (0usize, 0u32);
    for (at, wording) in failed_texts(bytes) {
        let newlines = memchr::memchr_iter(b'\n', &bytes[counted..at]).count();
        number = number.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        counted = at;
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |after| at + after);
        let line = origin.decode(&bytes[start..end], number);
        let Some(unit) = failed_unit(&line.text) else {
            continue;
        };
        if found.len() >= MOST_UNITS && !found.contains_key(&unit) {
            continue;
        }
        let ends = found.entry(unit).or_default();
        let before = ends.offsets.last();
        let near = before.is_some_and(|before| number.saturating_sub(*before) <= ONE_END);
        if near && ends.wording != wording {
            continue;
        }
        ends.wording = wording;
        ends.offsets.push(number);
        ends.result = Some(Said {
            offset: number,
            text: excerpt(line.text.trim(), LONGEST),
            raw: verbatim(&bytes[start..end]),
            grade: Grade::Fatal,
            at: line.at,
        });
        ends.first = ends.first.take().or_else(|| ends.result.clone());
        if ends.offsets.len() == 1 {
            ends.first_words = said_before(origin, &bytes[..start], number);
        }
        ends.start = start;
    }
    // A unit may fail many times in one piece; what counts is said before its last end. The log may end with that one,
    // before systemd says that it will try again.
    for (unit, ends) in &mut found {
        ends.restarts = STARTS_AGAIN.iter().any(|text| {
            let text = format!("{unit}{text}");
            memchr::memmem::find(bytes, text.as_bytes()).is_some()
        });
        let program = format!(" {}[", unit.split(['.', '@']).next().unwrap_or(unit));
        ends.stays = memchr::memmem::find(&bytes[ends.start..], program.as_bytes()).is_none();
        let number = ends.offsets.last().copied().unwrap_or(0);
        ends.words = said_before(origin, &bytes[..ends.start], number);
    }
    found
}

/// The unit that a line of systemd says has failed.
fn failed_unit(text: &str) -> Option<String> {
    let found = FAILED.captures(text)?;
    let unit = found.name("unit").or_else(|| found.name("old"))?;
    Some(unit.as_str().to_owned())
}

/// The last grave line of a program before its unit ended; systemd's own lines only say that it did.
fn said_before(origin: &Origin<'_>, bytes: &[u8], lines: u32) -> Option<Said> {
    let begin = bytes.len().saturating_sub(BYTES);
    let mut number = lines;
    let mut best: Option<Said> = None;
    for raw in bytes[begin..]
        .rsplit(|byte| *byte == b'\n')
        .skip(1)
        .take(BEFORE_END)
    {
        number = number.saturating_sub(1);
        let line = origin.decode(raw, number);
        let (speaker, message) = grade::message(&line.text);
        let systemd = speaker == "systemd" || message.contains("Main process exited");
        let found = grade::grade(&line.text);
        if systemd || found < Grade::Error {
            continue;
        }
        if best.as_ref().is_none_or(|best| found > best.grade) {
            best = Some(Said {
                offset: number,
                text: excerpt(line.text.trim(), LONGEST),
                raw: verbatim(raw),
                grade: found,
                at: line.at,
            });
        }
    }
    best
}
