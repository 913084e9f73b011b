//! Times that stand beside the lines of a cause or of something that fails, where none of those lines has one.

use crate::facts::text::TimedLine;
use crate::facts::{Fact, Facts, Rows};
use crate::model::{Analysis, Beside, Near, Place, Role};
use crate::words;

/// Finds for each cause, and for each thing that fails, the line that dates it.
pub(super) fn date(facts: &Facts, analysis: &mut Analysis) {
    let timed = facts.table::<TimedLine>();
    if timed.is_empty() {
        return;
    }
    for incident in &mut analysis.incidents {
        let lines = incident.evidence.iter();
        let places: Vec<&Place> = lines
            .filter(|line| line.role == Role::For)
            .map(|line| &line.place)
            .collect();
        incident.beside = find(timed, &places, &incident.subjects);
    }
    for one in &mut analysis.unexplained {
        one.beside = find(timed, &[&one.place], std::slice::from_ref(&one.subject));
    }
}

fn find(timed: Rows<'_, TimedLine>, places: &[&Place], subjects: &[String]) -> Option<Beside> {
    let same = |row: bool| {
        let at = |place: &&Place| {
            let mut lines = timed.iter();
            lines.find(|line| line.place == **place && line.data.row == row)
        };
        places.iter().find_map(at)
    };
    let above = || places.iter().find_map(|place| above(timed, place));
    same(false)
        .or_else(|| Some(oldest(timed, same(true)?)))
        .map(|line| (line, Near::Same))
        .or_else(|| Some((row_of(timed, subjects)?, Near::OfPod)))
        .or_else(|| Some((above()?, Near::Above)))
        .map(|(line, near)| Beside {
            text: line.text.to_string(),
            place: line.place.clone(),
            near,
        })
}

/// Of the rows of events that warn of the same, as one says it, the one that began first.
fn oldest<'a>(timed: Rows<'a, TimedLine>, row: &'a Fact<TimedLine>) -> &'a Fact<TimedLine> {
    let Some(reason) = warns_of(&row.text) else {
        return row;
    };
    let alike = timed.iter().filter(|one| {
        one.data.row && one.place.path == row.place.path && warns_of(&one.text) == Some(reason)
    });
    let first = alike.min_by_key(|one| std::cmp::Reverse(began(&one.text)));
    first
        .filter(|first| began(&first.text) > began(&row.text))
        .unwrap_or(row)
}

/// The reason of a warning in its row.
fn warns_of(row: &str) -> Option<&str> {
    let mut words = row.split_whitespace();
    words.find(|word| *word == "Warning")?;
    words.next()
}

/// How many seconds ago a row of old tables of events began: last time, first time, how often.
fn began(row: &str) -> u64 {
    let first = row.split_whitespace().nth(1);
    first.and_then(words::age).unwrap_or(0)
}

/// The row of a pod that this is about.
fn row_of<'a>(timed: Rows<'a, TimedLine>, subjects: &[String]) -> Option<&'a Fact<TimedLine>> {
    let pods = subjects.iter().filter(|one| one.starts_with("pod/"));
    let named = pods.filter(|one| !words::is_unnamed(one));
    let mut names = named.filter_map(|one| one.rsplit('/').next());
    names.find_map(|name| {
        let of = |line: &&Fact<TimedLine>| {
            let mut cells = line.text.split_whitespace();
            line.data.row && cells.any(|cell| cell.strip_prefix("pod/").unwrap_or(cell) == name)
        };
        timed.iter().find(of)
    })
}

/// The nearest line of a log above a place.
fn above<'a>(timed: Rows<'a, TimedLine>, place: &Place) -> Option<&'a Fact<TimedLine>> {
    let own = place.line?;
    let near = |line: &&Fact<TimedLine>| {
        let number = line.place.line.unwrap_or(0);
        let is_above = number < own && own - number <= TimedLine::REACH;
        !line.data.row && line.place.path == place.path && is_above
    };
    timed.iter().rev().find(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u32, row: bool, text: &str) -> Fact<TimedLine> {
        Fact {
            place: place(number),
            text: text.into(),
            at: None,
            data: TimedLine { row },
        }
    }

    fn facts(lines: impl IntoIterator<Item = Fact<TimedLine>>) -> Facts {
        let mut facts = Facts::default();
        lines.into_iter().for_each(|line| facts.add(line.into()));
        facts
    }

    fn place(number: u32) -> Place {
        Place {
            path: "a.txt".into(),
            line: Some(number),
        }
    }

    #[test]
    fn of_rows_that_warn_of_the_same_the_one_counts_that_began_first() {
        let row = |number, text: &str| line(number, true, text);
        let facts = facts([
            row(
                15,
                "17m  22m  265  web-0.15  Pod  Warning  FailedCreatePodSandBox  kubelet, n1  a",
            ),
            row(
                16,
                "2m   5h   9    web-0.16  Pod  Warning  BackOff  kubelet, n1  b",
            ),
            row(
                44,
                "1h   2h   327  web-1.17  Pod  Warning  FailedCreatePodSandBox  kubelet, n1  c",
            ),
        ]);
        let timed = facts.table::<TimedLine>();
        let found = find(timed, &[&timed[0].place], &[]).unwrap();
        assert!(found.text.starts_with("1h   2h"), "{}", found.text);
    }

    #[test]
    fn the_line_itself_dates_it_then_the_pods_row_then_a_line_above() {
        let facts = facts([
            line(2, false, "2022/12/15 12:28:28 x"),
            line(9, true, "web-0   0/1   Error   0   73m"),
        ]);
        let timed = facts.table::<TimedLine>();
        let found = |number: u32, subject: &str| {
            let subjects = [subject.to_owned()];
            let found = find(timed, &[&place(number)], &subjects)?;
            Some((found.place.line?, found.near))
        };
        let both = find(timed, &[&place(9), &place(2)], &[]);
        assert_eq!(both.unwrap().place.line, Some(2));
        assert_eq!(found(2, "pod/a/b"), Some((2, Near::Same)));
        assert_eq!(found(3, "pod/a/b"), Some((2, Near::Above)));
        assert_eq!(found(3, "pod/a/web-0"), Some((9, Near::OfPod)));
        assert_eq!(found(90, "pod/a/b"), None);
    }
}
