//! The sections of the report, in order: one file each, each a function from the analysis to blocks.
//!
//! To add one: a file beside this one with a `SECTION`, and its line in the list below.

use std::collections::BTreeMap;

use super::blocks::{Block, ExcerptItem, Rich};
pub(crate) use super::words::is_calm;
use super::{escape, words};
use crate::model::{Analysis, Evidence, Incident, Place, Verdict};

pub(crate) mod replayed;

/// Makes the modules of the sections and the list of them.
macro_rules! sections {
    ($($seen:vis $section:ident)*) => {
        $($seen mod $section;)*

        /// Every section, in the order of the post-mortem.
        pub static SECTIONS: &[&Section] = &[$(&$section::SECTION,)*];
    };
}

sections! {
    problem_statement
    executive_summary
    state
    hami
    investigation
    root_cause
    unexplained
    resolution
    verification
    prevention
    if_you_see_this_again
    mitigation
    pub(crate) communication
    next_steps
    timeline
    differential
    pub(crate) coverage
    environment
    appendix
}

/// A part of the report with a heading of its own.
pub struct Section {
    /// Anchor of the section, stable.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// What it says; a section that says nothing is left out, heading and all.
    pub build: fn(&Analysis, &SectionCtx) -> Vec<Block>,
}

/// How much of a long list the report prints. The rest stays in the bundle, and the report says where.
pub struct Limits {
    /// Causes in play that are explained in full.
    pub incidents: usize,
    /// Causes among them that are only possible.
    pub possible: usize,
    /// Lines under one cause or question.
    pub evidence: usize,
    /// Rows of a table or items of a list.
    pub rows: usize,
    /// Rows of the timeline.
    pub moments: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            incidents: 12,
            possible: 3,
            evidence: 12,
            rows: 40,
            moments: 60,
        }
    }
}

/// What sections need beside the analysis.
pub struct SectionCtx {
    /// How much to print.
    pub limits: Limits,
    anchors: BTreeMap<Place, String>,
}

impl SectionCtx {
    /// Numbers every line that the report will print, so that all mentions of its place can link to it.
    pub fn new(analysis: &Analysis) -> Self {
        let mut ctx = SectionCtx {
            limits: Limits::default(),
            anchors: BTreeMap::new(),
        };
        // In the order of the page: a line is quoted where it is met first, and only pointed to further down.
        for (number, incident) in (1..).zip(&analysis.incidents) {
            for (nth, observation) in (1..).zip(&incident.observations) {
                let lines = observation.lines.iter().take(investigation::LINES);
                ctx.number(&format!("o{number}-{nth}"), lines);
            }
            ctx.number(&format!("e{number}"), incident.evidence.iter());
        }
        for (number, incident) in (1..).zip(&analysis.incidents) {
            for (nth, observation) in (1..).zip(&incident.observations) {
                ctx.number(&format!("o{number}-{nth}"), observation.lines.iter());
            }
            for (nth, symptom) in (1..).zip(&incident.symptoms) {
                ctx.number(&format!("s{number}-{nth}"), symptom.evidence.iter());
            }
        }
        ctx
    }

    fn number<'a>(&mut self, prefix: &str, lines: impl Iterator<Item = &'a Evidence>) {
        for (nth, line) in (1..).zip(lines.take(self.limits.evidence)) {
            let anchor = format!("{prefix}-{nth}");
            self.anchors.entry(line.place.clone()).or_insert(anchor);
        }
    }

    /// Where the line at `place` is printed, or an empty text.
    pub fn anchor(&self, place: &Place) -> &str {
        self.anchors.get(place).map_or("", String::as_str)
    }

    /// Appends `place` to `text`, linked to its excerpt.
    pub(crate) fn place(&self, text: Rich, place: &Place) -> Rich {
        text.place(place, self.anchor(place))
    }

    /// The same for the first screen, where a path of several lines says little; its excerpt has it in full.
    pub(crate) fn short_place(&self, text: Rich, place: &Place) -> Rich {
        const LONGEST: usize = 120;
        const KEPT: usize = 70;
        let full = place.to_string();
        let from = full.char_indices().rev().nth(KEPT).map(|(at, _)| at);
        let tail = from.and_then(|from| full[from..].split_once('/'));
        match tail.filter(|_| full.chars().count() > LONGEST) {
            Some((_, tail)) => text.place_as(format!("…/{tail}"), self.anchor(place)),
            None => self.place(text, place),
        }
    }

    /// Every place that the report cites, with its anchor.
    pub(crate) fn cited(&self) -> &BTreeMap<Place, String> {
        &self.anchors
    }

    /// The chosen lines as one excerpt; `prefix` must be the one [`SectionCtx::new`] numbered them under.
    pub(crate) fn excerpt(
        &self,
        prefix: &str,
        lines: &[Evidence],
        keep: impl Fn(&Evidence) -> bool,
    ) -> Vec<Block> {
        let chosen = (1..).zip(lines).filter(|(_, line)| keep(line));
        self.items(prefix, chosen.collect())
    }

    /// The same of lines that follow `before` others.
    pub(crate) fn excerpt_from(
        &self,
        prefix: &str,
        before: usize,
        lines: &[Evidence],
    ) -> Vec<Block> {
        self.items(prefix, (before + 1..).zip(lines).collect())
    }

    fn items(&self, prefix: &str, lines: Vec<(usize, &Evidence)>) -> Vec<Block> {
        let (shown, rest): (Vec<_>, Vec<_>) = lines
            .into_iter()
            .partition(|(nth, _)| *nth <= self.limits.evidence);
        let mut items: Vec<ExcerptItem> = Vec::new();
        let mut above: Vec<&Place> = Vec::new();
        for (nth, line) in shown {
            let anchor = format!("{prefix}-{nth}");
            let place = line.place.to_string();
            // Its own place stands before the statement.
            let says = line.says.replace(&format!(" ({place})"), "");
            let says = without_quote(says.trim(), &line.text);
            let here = self.anchor(&line.place) == anchor;
            // What is quoted in full further up is only pointed to.
            if !here {
                let above_here = items.iter().any(|known| known.place == place);
                if !above_here && !above.contains(&&line.place) {
                    above.push(&line.place);
                }
                continue;
            }
            let says = Rich::prose(says);
            // Several signals may stand on one line: each statement once.
            let mut same = items.iter().filter(|known| known.place == place);
            if same.any(|known| known.says == says) {
                continue;
            }
            let text = escape::cut_middle(&line.text, escape::EXCERPT_CHARS).into_owned();
            // A statement that the item above makes is not made again for its second line.
            let again = items.iter().any(|known| known.says == says);
            items.push(ExcerptItem {
                anchor,
                place,
                says: if again { Rich::new() } else { says },
                note: words::seen(line),
                text,
                around: Vec::new(),
            });
        }
        let mut blocks = Vec::new();
        if !items.is_empty() {
            blocks.push(Block::Excerpt {
                ordered: false,
                items,
            });
        }
        if !above.is_empty() {
            let mut text = Rich::from("Quoted above: ");
            for (nth, place) in above.into_iter().enumerate() {
                text = self.short_place(text.text(if nth == 0 { "" } else { ", " }), place);
            }
            blocks.push(Block::paragraph(text.text(".")));
        }
        if let Some((_, first)) = rest.first() {
            let text = Rich::from(format!("{} more, the first in ", rest.len()))
                .code(first.place.to_string());
            blocks.push(Block::paragraph(text));
        }
        blocks
    }
}

/// A sentence without the quoted line at its end, where that line is printed with it anyway. Either may be cut.
pub(crate) fn without_quote<'a>(says: &'a str, quoted: &str) -> &'a str {
    const TELLING: usize = 24;
    let plain = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").trim_end_matches(['…', '.']).to_owned()
    };
    let quoted = plain(quoted);
    let begins = |one: &str, with: &str| with.len() >= TELLING && one.starts_with(with);
    // The sentence itself may hold colons before the one that introduces the quote.
    let cut = says.match_indices(": ").map(|(at, _)| at).find(|at| {
        let tail = plain(&says[at + 2..]);
        tail == quoted || begins(&tail, &quoted) || begins(&quoted, &tail)
    });
    cut.map_or(says, |at| &says[..at])
}

/// One sub-heading of `level` per incident if there are several, none if there is one.
pub(crate) fn per_incident(
    analysis: &Analysis,
    id: &str,
    level: u8,
    build: impl Fn(usize, &Incident) -> Vec<Block>,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (index, incident) in analysis.incidents.iter().enumerate() {
        // What is only possible is to be settled first; the best guess alone is laid out.
        if index > 0 && incident.verdict == Verdict::Possible {
            continue;
        }
        let part = build(index, incident);
        if part.is_empty() {
            continue;
        }
        if analysis.incidents.len() > 1 {
            let text = Rich::from(format!("{}: ", words::rank(index))).code(incident.cause.clone());
            blocks.push(Block::heading(level, format!("{id}-{}", index + 1), text));
        }
        blocks.extend(part);
    }
    blocks
}

/// The level of headings below those of [`per_incident`] at `level`.
pub(crate) fn below(analysis: &Analysis, level: u8) -> u8 {
    if analysis.incidents.len() > 1 {
        level + 1
    } else {
        level
    }
}

/// Cuts rows to the limit and returns the sentence about the rest, if rows were left out.
pub(crate) fn limited<T>(rows: &mut Vec<T>, limit: usize, whence: &str) -> Option<Block> {
    let total = rows.len();
    if total <= limit {
        return None;
    }
    rows.truncate(limit);
    Some(Block::paragraph(format!(
        "{} more in {whence}.",
        total - limit
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_at_the_end_of_a_sentence_goes_and_other_words_stay() {
        let line = "E1120 09:37:10 file_linux.go:61] unable to create inotify: too many open files";
        let says = |tail: &str| format!("a watcher cannot be made: {tail}");
        assert_eq!(without_quote(&says(line), line), "a watcher cannot be made");
        assert_eq!(
            without_quote(&says("E1120 09:37:10 file_linux.go:61]…"), line),
            "a watcher cannot be made"
        );
        let longer = format!("the watcher: {}", says(line));
        assert_eq!(
            without_quote(&longer, line),
            "the watcher: a watcher cannot be made"
        );
        assert_eq!(without_quote(&says("E1"), line), says("E1"));
        assert_eq!(
            without_quote(&says("too many open files"), line),
            says("too many open files")
        );
    }
}
