//! Lines around a cited line, as they were collected: folded below the quote in HTML.

use std::collections::BTreeMap;

use casefile_bundle::entry;
use serde::Serialize;

use super::blocks::Block;
use super::{Page, escape};
use crate::model::{Analysis, Evidence, Place};

/// Lines before and after a cited line.
pub const AROUND: u64 = 10;
/// Places that get their surroundings.
const PLACES: usize = 40;
/// Characters of a line.
const WIDTH: usize = 240;
/// Bytes of all surroundings together, so that a report stays small enough to be sent.
const MOST: usize = 64 * 1024;

/// A line near a cited one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextLine {
    /// Its number in the entry, from 1.
    pub number: u64,
    /// What stands there, cut where it is long.
    pub text: String,
    /// Whether it is the cited line itself.
    pub cited: bool,
}

/// The lines around cited places, by place as the report prints it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    by_place: BTreeMap<String, Vec<ContextLine>>,
    bytes: usize,
}

impl Context {
    /// Takes a line if it is near one of the places and there is room left.
    pub fn take(&mut self, places: &[Place], path: &str, number: u64, text: &str) {
        for place in places.iter().filter(|place| place.path == path) {
            let Some(cited) = place.line.map(u64::from) else {
                continue;
            };
            if number.abs_diff(cited) > AROUND || self.bytes >= MOST {
                continue;
            }
            let text = escape::cut_end(text.trim_end(), WIDTH).into_owned();
            self.bytes += text.len();
            let lines = self.by_place.entry(place.to_string()).or_default();
            lines.push(ContextLine {
                number,
                text,
                cited: number == cited,
            });
        }
    }

    /// Puts the lines below the quotes that a page holds.
    pub(super) fn attach(&self, page: &mut Page<'_>) {
        for section in &mut page.sections {
            self.attach_to(&mut section.blocks);
        }
    }

    fn attach_to(&self, blocks: &mut [Block]) {
        for block in blocks {
            match block {
                Block::Excerpt { items, .. } => {
                    for item in items.iter_mut().filter(|item| !item.text.is_empty()) {
                        let lines = self.by_place.get(&item.place);
                        // The line alone is quoted already.
                        let lines = lines.filter(|lines| lines.len() > 1);
                        item.around = lines.cloned().unwrap_or_default();
                    }
                }
                Block::Details { blocks, .. } => self.attach_to(blocks),
                _ => {}
            }
        }
    }
}

/// The places whose surroundings a reader may want: what the causes were seen in. Lists of objects and configuration in
/// one line have none that mean anything.
pub fn places(analysis: &Analysis) -> Vec<Place> {
    let incidents = analysis.incidents.iter();
    let lines = incidents.flat_map(|incident| {
        let observed = incident.observations.iter().flat_map(|one| &one.lines);
        incident.evidence.iter().chain(observed)
    });
    let mut found: Vec<Place> = Vec::new();
    for Evidence { place, .. } in lines {
        if place.line.is_some() && is_told(&place.path) && !found.contains(place) {
            found.push(place.clone());
        }
        if found.len() == PLACES {
            break;
        }
    }
    found
}

/// Whether an entry is a text of lines, or a list whose items read as lines.
fn is_told(path: &str) -> bool {
    let list = path.ends_with(".json");
    !list || path.contains("/journal/") || path.starts_with(entry::EVENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32) -> Place {
        Place {
            path: "a.log".into(),
            line: Some(line),
        }
    }

    #[test]
    fn ten_lines_before_and_after_are_kept_and_the_cited_one_is_marked() {
        let mut context = Context::default();
        for number in 1..=100 {
            context.take(&[place(50)], "a.log", number, "text");
            context.take(&[place(50)], "b.log", number, "text");
        }
        let lines = &context.by_place["a.log:50"];
        let numbers: Vec<u64> = lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, (40..=60).collect::<Vec<_>>());
        let cited: Vec<u64> = lines
            .iter()
            .filter(|one| one.cited)
            .map(|one| one.number)
            .collect();
        assert_eq!(cited, [50]);
    }

    #[test]
    fn long_lines_are_cut_and_all_of_it_is_bounded() {
        let mut context = Context::default();
        let places: Vec<Place> = (1..40).map(|at| place(at * 30)).collect();
        for number in 1..=2000 {
            context.take(&places, "a.log", number, &"x".repeat(10_000));
        }
        assert!(context.bytes < MOST + 2 * WIDTH, "{}", context.bytes);
    }

    #[test]
    fn lists_of_objects_have_no_surroundings() {
        assert!(is_told("nodes/n/journal/kernel.json"));
        assert!(is_told("cluster-resources/pods/logs/a/b/c.log"));
        assert!(!is_told("cluster-resources/pods/default.json"));
    }
}
