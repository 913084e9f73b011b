//! Wraps that only a guess undoes: at any width, at blanks as mail programs break, and inside the cells of a table. A guess
//! counts where a known message is found in it that the text as it stands does not hold.

use std::collections::BTreeSet;

use super::mend::Mended;

/// Nobody wraps more narrowly.
const NARROWEST: usize = 12;
/// A line that goes on in the cell above stands so far to the right at least.
const INDENT: usize = 8;
/// Signs between the cells of a table.
const BARS: [char; 3] = ['|', '\u{2502}', '\u{2503}'];

/// How a text may have been before it was wrapped, the likeliest first. Lines keep their numbers.
pub fn guesses(text: &str) -> impl Iterator<Item = Mended> + '_ {
    let ways: [fn(&str) -> Option<Mended>; 4] = [in_cells, at_width, at_blanks, below];
    ways.into_iter().filter_map(move |way| way(text))
}

/// A text whose lines are put together, each with those that go on with it.
#[derive(Default)]
struct Joining {
    lines: Vec<String>,
    joined: BTreeSet<u32>,
}

impl Joining {
    fn push(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    /// Puts a line behind an earlier one and leaves its place empty.
    fn join(&mut self, at: usize, between: &str, rest: &str) {
        if let Some(line) = self.lines.get_mut(at) {
            line.push_str(between);
            line.push_str(rest);
            self.joined.insert(u32::try_from(at).unwrap_or(u32::MAX));
        }
        self.lines.push(String::new());
    }

    fn done(self) -> Option<Mended> {
        let lines = self.lines.iter().map(String::as_str);
        (!self.joined.is_empty()).then(|| Mended {
            text: super::mend::joined(lines),
            joined: self.joined,
        })
    }
}

/// Whether a line may be the rest of another one: it has no head of its own.
fn continues(line: &str) -> bool {
    !line.trim().is_empty() && !super::undress(line).is_dressed
}

/// Letters of a line.
fn width(line: &str) -> usize {
    line.chars().count()
}

fn widest(text: &str) -> Option<usize> {
    let widths = text.lines().map(width).max();
    widths.filter(|widest| *widest >= NARROWEST)
}

/// Broken after so many letters, wherever that is: a full line goes on with the next one.
fn at_width(text: &str) -> Option<Mended> {
    let widest = widest(text)?;
    let mut all = Joining::default();
    let mut open: Option<usize> = None;
    for line in text.lines() {
        match open.filter(|_| continues(line)) {
            Some(at) => all.join(at, "", line),
            None => {
                open = Some(all.lines.len());
                all.push(line);
            }
        }
        open = open.filter(|_| width(line) == widest);
    }
    all.done()
}

/// Broken at a blank: the first word of the next line had found no room.
fn at_blanks(text: &str) -> Option<Mended> {
    let widest = widest(text)?;
    let mut all = Joining::default();
    let mut open: Option<usize> = None;
    let mut before = 0;
    for line in text.lines() {
        let word = width(line.split_whitespace().next().unwrap_or(""));
        let had_room = before + 1 + word <= widest;
        match open.filter(|_| !had_room && continues(line)) {
            Some(at) => all.join(at, " ", line.trim_start()),
            None => {
                open = Some(all.lines.len());
                all.push(line);
            }
        }
        before = width(line);
    }
    all.done()
}

/// A row of a table with bars whose first cell is empty: its cells go on with those above.
fn in_cells(text: &str) -> Option<Mended> {
    let mut all = Joining::default();
    // The row that is open: its line, and its cells.
    let mut open: Option<(usize, Vec<String>)> = None;
    for line in text.lines() {
        let row = cells(line);
        let more = row.as_ref().zip(open.as_mut()).filter(|(row, (_, above))| {
            above.len() == row.len() && row.first().is_some_and(String::is_empty)
        });
        if let Some((row, (at, above))) = more {
            for (cell, rest) in above.iter_mut().zip(row) {
                append(cell, rest);
            }
            if let Some(first) = all.lines.get_mut(*at) {
                *first = above.join("  ");
            }
            all.joined.insert(u32::try_from(*at).unwrap_or(u32::MAX));
            all.lines.push(String::new());
        } else {
            open = row.map(|row| (all.lines.len(), row));
            all.push(line);
        }
    }
    all.done()
}

/// The rest of a cell behind what stands above it: a word that was cut has no blank.
fn append(cell: &mut String, rest: &str) {
    let cut = cell.ends_with(['-', '/', '=', '.']) && !cell.ends_with(" =");
    if !cell.is_empty() && !rest.is_empty() && !cut {
        cell.push(' ');
    }
    cell.push_str(rest);
}

/// The cells of a row between bars; none for another line.
fn cells(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let inner = line.strip_prefix(BARS)?.strip_suffix(BARS)?;
    let cells: Vec<String> = inner
        .split(BARS)
        .map(|cell| cell.trim().to_owned())
        .collect();
    (cells.len() > 1).then_some(cells)
}

/// The last column of a table without bars: it goes on far to the right, below a row that does not.
fn below(text: &str) -> Option<Mended> {
    let mut all = Joining::default();
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let indent = width(line) - width(line.trim_start());
        let column = open.and_then(|at| all.lines.get(at)).is_some_and(|above| {
            above
                .chars()
                .take(indent)
                .last()
                .is_some_and(char::is_whitespace)
        });
        let goes_on = indent >= INDENT && column && !super::undress(line).is_dressed;
        match open.filter(|_| goes_on) {
            Some(at) => all.join(at, " ", line.trim()),
            None => {
                let begins = !line.starts_with(' ') && !line.trim().is_empty();
                open = begins.then_some(all.lines.len());
                all.push(line);
            }
        }
    }
    all.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r#"Failed to pull image "reg/app:1": rpc error: code = Unknown desc = no such host"#;

    fn holds(damaged: &str) {
        let numbers = damaged.lines().count();
        let found = guesses(damaged).any(|one| {
            assert_eq!(one.text.lines().count(), numbers);
            one.text.contains(LINE)
        });
        assert!(found, "{damaged}");
    }

    #[test]
    fn a_line_is_one_again_whatever_width_it_was_broken_at() {
        for width in 20..=LINE.len() - 1 {
            let letters: Vec<char> = LINE.chars().collect();
            let pieces = letters.chunks(width).map(|piece| piece.iter().collect());
            let hard: Vec<String> = pieces.collect();
            holds(&hard.join("\n"));
            let mut soft = vec![String::new()];
            for word in LINE.split(' ') {
                let last = soft.last_mut().unwrap();
                if last.is_empty() {
                    last.push_str(word);
                } else if last.len() + 1 + word.len() <= width {
                    last.push(' ');
                    last.push_str(word);
                } else {
                    soft.push(word.to_owned());
                }
            }
            holds(&soft.join("\n"));
        }
    }

    #[test]
    fn a_cell_goes_on_below() {
        holds(
            "| pod   | message                          |\n|-------|------|\n| web-1 | Failed to pull image \"reg/app:1\": |\n|       | rpc error: code = Unknown desc =  |\n|       | no such host                      |\n",
        );
        holds(
            "NAME    MESSAGE\nweb-1   Failed to pull image \"reg/app:1\": rpc\n        error: code = Unknown desc = no such\n        host\n",
        );
    }

    #[test]
    fn lines_with_a_head_of_their_own_stay_apart() {
        let text = "Nov 20 10:00:00 gpu-1 kubelet[1]: a message of some length\nNov 20 10:00:01 gpu-1 kubelet[1]: b\n";
        assert_eq!(guesses(text).count(), 0);
    }
}
