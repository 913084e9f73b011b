//! Typing errors that only the rest of a line tells: with one word read as its neighbour, the line is a message.
//!
//! A word by itself says too little. Each unknown word is read as each known one that is one slip away; what counts is a
//! message that the text does not hold otherwise, and of which more than that word stands in the line.

use std::collections::{BTreeMap, HashMap};

use super::lines::Origin;
use super::patterns::Patterns;
use super::typing;
use crate::dress::respell::{self, Words};

/// Readings of one text that are tried at most; more words that nobody knows are no typing errors.
const MOST: usize = 400;
/// A longer line is data.
const LONGEST: usize = 2000;

/// A line with one word read as another.
struct Reading<'t> {
    /// Number of the line, from 0.
    line: u32,
    /// The line as it stands.
    written: &'t str,
    word: &'t str,
    known: String,
    text: String,
}

/// A text with the slips mended that its messages tell, and what was read as what, by line from 0; none where nothing is.
pub(super) fn mend(
    text: &str,
    origin: &Origin<'_>,
    patterns: &Patterns,
) -> Option<(String, BTreeMap<u32, String>)> {
    let readings = readings(text, patterns.spelling())?;
    let mut weights: BTreeMap<usize, usize> = BTreeMap::new();
    for patterns in [patterns, patterns.tested()] {
        weigh(&readings, text, (origin, patterns), &mut weights);
    }
    let mut best: BTreeMap<u32, Vec<(usize, &Reading<'_>)>> = BTreeMap::new();
    for (at, weight) in weights {
        if let Some(reading) = readings.get(at) {
            best.entry(reading.line)
                .or_default()
                .push((weight, reading));
        }
    }
    let chosen: BTreeMap<u32, &Reading<'_>> = best
        .into_iter()
        .filter_map(|(line, all)| Some((line, only(&all)?)))
        .filter(|(_, one)| !Words::is_ordinary(one.word))
        .collect();
    let lines = text.lines().zip(0u32..);
    let lines =
        lines.map(|(line, number)| chosen.get(&number).map_or(line, |one| one.text.as_str()));
    let mended: String = lines.flat_map(|line| [line, "\n"]).collect();
    let told = chosen
        .iter()
        .map(|(line, one)| (*line, format!("{:?} is read as {:?}", one.word, one.known)));
    (!chosen.is_empty()).then(|| (mended, told.collect()))
}

/// The reading that most speaks for; none where as much speaks for another.
fn only<'r, 't>(all: &[(usize, &'r Reading<'t>)]) -> Option<&'r Reading<'t>> {
    let most = all.iter().map(|(weight, _)| *weight).max()?;
    let mut best = all.iter().filter(|(weight, _)| *weight == most);
    match (best.next(), best.next()) {
        (Some(&(_, one)), None) => Some(one),
        _ => None,
    }
}

/// All readings of all lines; none where they are too many.
fn readings<'t>(text: &'t str, words: &Words) -> Option<Vec<Reading<'t>>> {
    let mut all = Vec::new();
    let mut near: HashMap<&str, Vec<String>> = HashMap::new();
    let lines = text.lines().zip(0u32..);
    let prose = |line: &str| line.len() <= LONGEST && !respell::is_json_pair(line);
    for (line, number) in lines.filter(|(line, _)| prose(line)) {
        let mut begin = 0;
        for word in respell::split(line) {
            let Some(at) = line[begin..].find(word).map(|at| begin + at) else {
                continue;
            };
            begin = at + word.len();
            let known = near.entry(word).or_insert_with(|| words.near(word));
            all.extend(known.iter().map(|known| Reading {
                line: number,
                written: line,
                word,
                known: known.clone(),
                text: format!("{}{known}{}", &line[..at], &line[begin..]),
            }));
        }
        if all.len() > MOST {
            return None;
        }
    }
    (!all.is_empty()).then_some(all)
}

/// Adds how many messages each reading holds that the text does not, and not the word alone.
fn weigh(
    readings: &[Reading<'_>],
    text: &str,
    (origin, patterns): (&Origin<'_>, &Patterns),
    weights: &mut BTreeMap<usize, usize>,
) {
    let shown = |text: &str| typing::shown(origin, text.as_bytes(), patterns);
    let all: String = readings
        .iter()
        .flat_map(|one| [one.text.as_str(), "\n"])
        .collect();
    let mut new = shown(&all);
    if !new.is_empty() {
        let before = shown(text);
        new.retain(|pattern| !before.contains(pattern));
    }
    // Rarely is anything left, and only then is each looked at by itself.
    if new.is_empty() {
        return;
    }
    for (at, reading) in readings.iter().enumerate() {
        let found = shown(&reading.text);
        // What the line says as it stands does not go.
        if found.is_disjoint(&new) || !found.is_superset(&shown(reading.written)) {
            continue;
        }
        let alone = shown(&reading.known);
        let is_more = |pattern: &&usize| new.contains(pattern) && !alone.contains(pattern);
        *weights.entry(at).or_default() += found.iter().filter(is_more).count();
    }
    weights.retain(|_, weight| *weight > 0);
}

#[cfg(test)]
mod tests {
    use super::super::patterns::{Expression, LinePattern};
    use super::*;
    use crate::parsers::Channel;

    fn mended(text: &str) -> Option<(String, BTreeMap<u32, String>)> {
        let expressions = [
            r#"no runtime for "(?P<handler>[^"]+)" is configured"#,
            "network is unreachable",
            "OutOfMemory",
            "nvidia",
        ];
        let patterns = expressions.iter().map(|expression| LinePattern {
            regex: Expression::new(expression),
            channels: Vec::new(),
            speaker: None,
            nature: None,
        });
        let patterns = Patterns::new(patterns.collect());
        mend(text, &Origin::of("ticket.txt", Channel::Text), &patterns)
    }

    #[test]
    fn a_word_is_read_as_its_neighbour_where_the_rest_of_the_line_is_a_message() {
        for (typed, meant) in [
            (
                "no rutime for \"x\" is configured\n",
                "no runtime for \"x\" is configured\n",
            ),
            (
                "x\nconnect: netork is unreachable\n",
                "x\nconnect: network is unreachable\n",
            ),
        ] {
            let (text, told) = mended(typed).unwrap();
            assert_eq!(text, meant);
            assert_eq!(told.len(), 1, "{told:?}");
        }
    }

    #[test]
    fn a_word_alone_is_what_was_typed_and_so_is_one_that_hides_a_message() {
        for text in [
            "OutOfMexory\n",
            "xvidia\n",
            "network is unreachable\nnetork is unreachable\n",
            "no rutime for x\n",
        ] {
            assert!(mended(text).is_none(), "{text}");
        }
    }
}
