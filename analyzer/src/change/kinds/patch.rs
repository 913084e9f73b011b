//! The smallest change of a text, as unified differences that are found by what they say and not by where they stand.
//!
//! A hunk holds lines before and after, until it fits one place only. Lines whose copy in the bundle is not the
//! node's own (a placeholder for a secret) are in no hunk, so that they stay on the node as they are.

use std::ops::Range;

use similar::{DiffOp, TextDiff};

/// Lines around a change, at first and at most.
const AROUND: usize = 3;
const AT_MOST: usize = 40;

/// Lines that go, and lines of the new text that come in their place.
type Part = (Range<usize>, Range<usize>);

/// Lines of the captured text that change together.
struct RunsOn {
    /// The lines that are taken along, those that change included.
    lines: Range<usize>,
    /// Lines that go, and lines of the new text that come in their place.
    parts: Vec<Part>,
}

/// Why there is no such change: these lines (from 1) of the captured text are concerned and are not the node's own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hidden(pub(super) Vec<usize>);

/// The differences between two texts. `is_hidden` says of a line whether its copy is another one than the node's.
pub(super) fn patch(
    path: &str,
    before: &str,
    after: &str,
    is_hidden: &dyn Fn(&str) -> bool,
) -> Result<String, Hidden> {
    // Lines as the script reads them: a carriage return ends none.
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let diff = TextDiff::from_slices(&old, &new);
    let mut places: Vec<RunsOn> = Vec::new();
    for op in diff.ops() {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (goes, comes) = (op.old_range(), op.new_range());
        let hidden: Vec<usize> = goes
            .clone()
            .filter(|at| is_hidden(old[*at]))
            .map(|at| at + 1)
            .collect();
        if !hidden.is_empty() || new[comes.clone()].iter().any(|line| is_hidden(line)) {
            return Err(Hidden(if hidden.is_empty() {
                vec![goes.start + 1]
            } else {
                hidden
            }));
        }
        match places.last_mut() {
            Some(last) if together(&old[last.lines.end..goes.start], is_hidden) => {
                last.lines.end = goes.end;
                last.parts.push((goes, comes));
            }
            _ => places.push(RunsOn {
                lines: goes.clone(),
                parts: vec![(goes, comes)],
            }),
        }
    }
    for at in 0..places.len() {
        let floor = at
            .checked_sub(1)
            .map_or(0, |before| places[before].lines.end);
        let next = places.get(at + 1);
        let ceiling = next.map_or(old.len(), |next| next.lines.start.saturating_sub(AROUND));
        widen(&mut places[at].lines, &old, floor..ceiling, is_hidden)?;
    }
    let mut text = format!("--- {0}\n+++ {0}\n", name(path));
    let mut shift = 0_i64;
    for place in &places {
        hunk(&mut text, place, &old, &new, &mut shift);
    }
    Ok(text)
}

/// Whether what lies between two changes is so short, and known, that they are one place.
fn together(between: &[&str], is_hidden: &dyn Fn(&str) -> bool) -> bool {
    between.len() <= 2 * AROUND && !between.iter().any(|line| is_hidden(line))
}

/// Takes lines around a change along, until it fits one place of the text only.
fn widen(
    lines: &mut Range<usize>,
    old: &[&str],
    within: Range<usize>,
    is_hidden: &dyn Fn(&str) -> bool,
) -> Result<(), Hidden> {
    let changed = lines.start;
    let (mut up, mut down) = (true, true);
    for round in 0..AT_MOST {
        if round >= AROUND && is_unique(old, lines.clone()) {
            return Ok(());
        }
        up = up && lines.start > within.start && !is_hidden(old[lines.start - 1]);
        lines.start -= usize::from(up);
        down = down && lines.end < within.end && !is_hidden(old[lines.end]);
        lines.end += usize::from(down);
        if !up && !down {
            break;
        }
    }
    if old.is_empty() || is_unique(old, lines.clone()) {
        Ok(())
    } else {
        Err(Hidden(vec![changed + 1]))
    }
}

fn is_unique(old: &[&str], range: std::ops::Range<usize>) -> bool {
    let wanted = &old[range];
    !wanted.is_empty()
        && old
            .windows(wanted.len())
            .filter(|window| *window == wanted)
            .count()
            == 1
}

fn hunk(text: &mut String, place: &RunsOn, old: &[&str], new: &[&str], shift: &mut i64) {
    let sum = |of: &dyn Fn(&Part) -> usize| place.parts.iter().map(of).sum::<usize>();
    let had = place.lines.len();
    let gets = had - sum(&|(goes, _)| goes.len()) + sum(&|(_, comes)| comes.len());
    let number = |count: usize| i64::try_from(count).unwrap_or_default();
    let start = |first: i64, count: usize| if count == 0 { first } else { first + 1 };
    let first = number(place.lines.start);
    let head = format!(
        "@@ -{},{had} +{},{gets} @@\n",
        start(first, had),
        start(first + *shift, gets)
    );
    text.push_str(&head);
    *shift += number(gets) - number(had);
    let mut add = |mark: char, lines: &[&str]| {
        for line in lines {
            text.push(mark);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    let mut at = place.lines.start;
    for (goes, comes) in &place.parts {
        add(' ', &old[at..goes.start]);
        add('-', &old[goes.clone()]);
        add('+', &new[comes.clone()]);
        at = goes.end;
    }
    add(' ', &old[at..place.lines.end]);
}

/// A path that breaks no line of the head.
fn name(path: &str) -> String {
    path.chars()
        .map(|c| if c.is_control() { '_' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no(_: &str) -> bool {
        false
    }

    #[test]
    fn a_change_takes_lines_along_until_it_fits_one_place() {
        let before = "a\nx\ny\nz\nw\nb\nx\ny\nz\nw\n";
        let after = "a\nx\ny\nz\nw\nb\nx\ny\nNEW\nz\nw\n";
        let text = patch("/f", before, after, &no).unwrap();
        assert_eq!(
            text,
            "--- /f\n+++ /f\n@@ -6,5 +6,6 @@\n b\n x\n y\n+NEW\n z\n w\n"
        );
    }

    #[test]
    fn changes_that_are_near_each_other_are_one_place() {
        let text = patch("/f", "a\nb\nc\n", "x\na\nb\nc\ny\n", &no).unwrap();
        assert_eq!(
            text,
            "--- /f\n+++ /f\n@@ -1,3 +1,5 @@\n+x\n a\n b\n c\n+y\n"
        );
    }

    #[test]
    fn a_secret_is_in_no_hunk_and_a_change_of_it_is_none() {
        let hidden = |line: &str| line.contains("<redacted:");
        let before = "a = 1\npassword = <redacted:x>\nb = 1\nc = 1\n";
        let text = patch("/f", before, &before.replace("b = 1", "b = 2"), &hidden).unwrap();
        assert_eq!(
            text,
            "--- /f\n+++ /f\n@@ -3,2 +3,2 @@\n-b = 1\n+b = 2\n c = 1\n"
        );
        let none = patch("/f", before, &before.replace("<redacted:x>", "1"), &hidden);
        assert_eq!(none, Err(Hidden(vec![2])));
    }

    #[test]
    fn an_end_without_a_line_break_is_said() {
        let text = patch("/f", "a", "b", &no).unwrap();
        let end = "\\ No newline at end of file\n";
        assert_eq!(
            text,
            format!("--- /f\n+++ /f\n@@ -1,1 +1,1 @@\n-a\n{end}+b\n{end}")
        );
    }
}
