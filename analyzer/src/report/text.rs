//! The answer of `diagnose` for a person at a terminal: one screen, no colours, no control characters.
//!
//! A sentence is wrapped to the width and never cut; where the screen is too low, whole rows go.

use super::columns::{Columns, shown};
use super::first_screen::{self, Start, StatusRow};
use super::sections::{SectionCtx, coverage};
use super::words;
use crate::model::{About, Analysis, Evidence, Incident, Role, Verdict};

mod full;

/// Columns where the terminal does not say.
pub(crate) const WIDTH: usize = 100;
/// Lines of a screen.
const HEIGHT: usize = 40;
/// Characters of a quoted line.
const QUOTE: usize = 200;
/// Characters of a statement whose line is not quoted.
const STATED: usize = 120;

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// Everything about every cause instead of one screen.
    pub full: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions {
            width: WIDTH,
            full: false,
        }
    }
}

/// How much a screen shows.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// Lines of proof.
    proofs: usize,
    /// Whether lines are quoted.
    quotes: bool,
    /// Further causes.
    next: usize,
    /// Failing things that no cause explains.
    unexplained: usize,
}

/// The answer as text, each line ending with a line feed.
pub(crate) fn render(analysis: &Analysis, options: TextOptions) -> String {
    let analysis = &*first_screen::by_relevance(analysis);
    if options.full {
        return full::render(analysis, options.width);
    }
    let room = |proofs, quotes, next, unexplained| Room {
        proofs,
        quotes,
        next,
        unexplained,
    };
    let rooms = [
        room(4, true, 3, 4),
        room(3, true, 2, 3),
        room(3, false, 2, 2),
        room(2, false, 1, 1),
    ];
    let least = room(1, false, 1, 1);
    rooms
        .into_iter()
        .map(|room| draw(analysis, options.width, room))
        .find(|text| height(text, options.width) < HEIGHT)
        .unwrap_or_else(|| draw(analysis, options.width, least))
}

/// The answer in one line, for `-q`.
pub(crate) fn one_line(analysis: &Analysis) -> String {
    let text = match (analysis.incidents.first(), analysis.unexplained.first()) {
        (Some(first), Some(_)) if first.verdict == Verdict::Possible => words::title(analysis),
        (Some(first), _) => format!(
            "{}: {} ({})",
            first.verdict.word(),
            first.title,
            first.cause
        ),
        (None, Some(first)) => {
            let subject = words::subject(&first.subject);
            match words::clause(&first.reason) {
                reason if reason.is_empty() => {
                    format!("no cause confirmed: {subject} is failing")
                }
                reason => format!("no cause confirmed: {subject} is failing ({reason})"),
            }
        }
        (None, None) => "no cause confirmed".to_owned(),
    };
    format!("{}\n", shown(&text))
}

/// Lines that a text takes on the screen, where a place or a command goes on below.
fn height(text: &str, width: usize) -> usize {
    let lines = text.lines().map(|line| line.chars().count());
    lines.map(|wide| wide.div_ceil(width.max(1)).max(1)).sum()
}

fn draw(analysis: &Analysis, width: usize, room: Room) -> String {
    let mut out = Columns::new(width);
    out.plain(&words::title(analysis));
    let input = &analysis.input.name;
    out.plain(&match analysis.reference_time {
        Some(now) => format!("{input}, as of {}", words::time(now)),
        None => input.clone(),
    });
    out.blank();
    if let Some(asked) = &analysis.about {
        about(analysis, asked, &mut out);
    }
    // What fails is sure, and comes before causes that are guesses.
    let guessed = !analysis.unexplained.is_empty()
        && analysis
            .incidents
            .first()
            .is_some_and(|first| first.verdict == Verdict::Possible);
    if guessed {
        unexplained(analysis, room, &mut out);
    }
    let ctx = SectionCtx::new(analysis);
    for StatusRow { label, text, .. } in first_screen::status(analysis, &ctx) {
        match (label, analysis.incidents.first()) {
            ("Cause", Some(first)) => {
                let kind = format!("[{}] ", first.cause);
                out.row(label, &format!("{kind}{}", text.plain()));
            }
            ("Fix", Some(first)) => fix(first, &text.plain(), &mut out),
            ("Proof", Some(first)) => proof(first, room, &mut out),
            ("Also found" | "Failing" | "Command" | "Start with", _) => {}
            _ => out.row(label, &text.plain()),
        }
    }
    let others = analysis.incidents.iter().skip(1);
    for (number, next) in (2..).zip(others.filter(|_| !guessed)).take(room.next) {
        another(number, next, room, &mut out);
    }
    let hidden = analysis.incidents.len().saturating_sub(1 + room.next) as u64;
    if hidden > 0 && !guessed {
        out.row(
            "",
            &format!("{}: see --full.", words::count_more(hidden, "cause")),
        );
    }
    if !guessed {
        unexplained(analysis, room, &mut out);
    }
    // What is no trouble goes first where the screen is too low.
    if room.proofs > 1 {
        harmless(analysis, &mut out);
    }
    out.finish()
}

/// How the thing is that was asked for, and what explains it.
fn about(analysis: &Analysis, asked: &About, out: &mut Columns) {
    let subject = words::subject(&asked.subject);
    if !asked.found {
        out.row("Asked", &format!("{subject} is not in this input."));
        return;
    }
    let state = match asked.state.as_str() {
        "" => "its state was not collected",
        state => state,
    };
    let mut text = format!("{subject}: {state}.");
    let causes = |causes: &[String]| {
        let known = causes.iter().filter_map(|cause| {
            let mut incidents = analysis.incidents.iter();
            let at = incidents.position(|one| one.cause == *cause)?;
            Some(format!("{cause} ({})", at + 1))
        });
        words::join(&known.collect::<Vec<_>>())
    };
    if !asked.causes.is_empty() {
        text = format!("{text} Explained by {}.", causes(&asked.causes));
    }
    if !asked.on_its_node.is_empty() {
        text = format!("{text} On its node: {}.", causes(&asked.on_its_node));
    }
    match &asked.last_words {
        Some(words) => text = format!("{text} Not explained; its last words: {words}"),
        None if asked.causes.is_empty() => {
            text = format!("{text} Nothing collected shows that it is failing.");
        }
        None => {}
    }
    out.row("Asked", &text);
}

/// The fix, and how it begins.
fn fix(incident: &Incident, text: &str, out: &mut Columns) {
    out.row("Fix", text);
    match first_screen::start(incident) {
        Some(Start::ByHand(step)) => out.row("Start with", &step),
        Some(start) => {
            let line = start.command().unwrap_or_default();
            out.whole(&format!("$ {line}"));
        }
        None => {}
    }
}

/// The lines for and against, each with its place and what stands there.
fn proof(incident: &Incident, room: Room, out: &mut Columns) {
    for (role, label) in [(Role::For, "Proof"), (Role::Against, "Against")] {
        let mut said: Vec<&str> = Vec::new();
        // The same sentence about another line proves nothing more.
        let lines = incident.evidence.iter().filter(|line| {
            let new = line.role == role && !said.contains(&line.says.trim());
            if new {
                said.push(line.says.trim());
            }
            new
        });
        for (nth, line) in lines.enumerate().take(room.proofs) {
            quoted(if nth == 0 { label } else { "" }, line, room, out);
        }
    }
}

fn quoted(label: &str, line: &Evidence, room: Room, out: &mut Columns) {
    let says = super::sections::without_quote(line.says.trim(), &line.text);
    let times = match line.count {
        0 | 1 => String::new(),
        count => format!(" ({count} times)"),
    };
    // Without room for the line itself, the statement has to do without its details.
    let says = match room.quotes {
        true => words::clause(says),
        false => words::first_clause(&words::clause(says), STATED),
    };
    out.row(label, &format!("{says}{times}"));
    out.whole(&format!("  {}", line.place));
    let text = line.text.trim();
    if room.quotes && !text.is_empty() && !line.says.contains(text) {
        out.row(
            "",
            &format!("  > {}", super::escape::cut_middle(text, QUOTE)),
        );
    }
}

/// Another cause in short: what it is, a line for it, and what would settle it.
fn another(number: usize, incident: &Incident, room: Room, out: &mut Columns) {
    // How bad something is that may not be so says nothing.
    let severity = match incident.verdict {
        Verdict::Possible => String::new(),
        _ => format!(" Severity: {}.", incident.severity.word()),
    };
    let text = format!(
        "{number}. {} [{}] {}.{severity}",
        words::clause(&incident.title),
        incident.cause,
        incident.verdict.word(),
    );
    out.row("Also found", &text);
    let mut lines = incident.evidence.iter();
    if let Some(line) = lines.find(|line| line.role == Role::For) {
        let quotes = Room {
            quotes: false,
            ..room
        };
        quoted("", line, quotes, out);
    }
    if incident.verdict != Verdict::Confirmed
        && let Some(settle) = incident.would_settle.first()
    {
        out.row("", &words::sentence(&format!("To settle it: {settle}")));
    }
    if !incident.remedy.title.is_empty() {
        out.row(
            "",
            &format!("Fix: {}", words::sentence(&incident.remedy.title)),
        );
    }
}

/// What is failing and no cause explains, with its last words.
fn unexplained(analysis: &Analysis, room: Room, out: &mut Columns) {
    for entry in analysis.unexplained.iter().take(room.unexplained) {
        let mut text = words::subject(&entry.subject);
        if !entry.also.is_empty() {
            text = format!("{text} and {} more alike", entry.also.len());
        }
        if !entry.reason.is_empty() {
            text = format!("{text}: {}", words::clause(&entry.reason));
        }
        if let Some(since) = entry.since {
            text = format!("{text}, since {}", words::time(since));
        }
        out.row("Failing", &format!("{text}. No known cause explains it."));
        if !entry.last_words.is_empty() {
            out.row(
                "",
                &format!(
                    "  > {}",
                    super::escape::cut_middle(&entry.last_words, QUOTE)
                ),
            );
        }
        out.whole(&format!("  {}", entry.place));
        for flow in entry.flows.iter().take(1) {
            out.row("", &words::sentence(flow));
        }
        if let Some(first) = entry.candidates.first().filter(|_| room.quotes) {
            out.row("", &format!("Perhaps {}: {}", first.cause, first.settle));
        }
    }
    let rest = analysis.unexplained.iter().skip(room.unexplained);
    let more: u64 = rest.map(|entry| 1 + entry.also.len() as u64).sum();
    if more > 0 {
        out.row(
            "",
            &format!("{}: see --full.", words::count_more(more, "failing thing")),
        );
    }
}

fn harmless(analysis: &Analysis, out: &mut Columns) {
    let ids: Vec<String> = analysis.benign.iter().map(|one| one.id.clone()).collect();
    if !ids.is_empty() {
        out.row("Harmless", &format!("{}.", words::join(&ids)));
    }
    if analysis.incidents.is_empty() && coverage::is_whole(analysis) {
        out.row("", "Every source was read.");
    }
}
