//! Texts in the cells of a table with bars: a cell goes on in the rows below, whose other cells are empty.

use super::seams::heals;
use super::{BLANK, CUT, Guess, Joining, Known, width};

/// Signs between the cells of a table.
const BARS: [char; 3] = ['|', '\u{2502}', '\u{2503}'];
/// Signs of which the rules between rows are made.
const RULES: [char; 9] = [
    '+', '-', '=', '|', ':', ' ', '\u{2500}', '\u{253c}', '\u{251c}',
];
/// A narrower column holds no text.
const NARROWEST: usize = 20;

/// A row of a table with bars whose first cell is empty: its cells go on with those above.
pub(super) fn row_by_row(lines: &[&str]) -> Option<Guess> {
    let mut all = Joining::default();
    // The row that is open: its line, and its cells.
    let mut open: Option<(usize, Vec<String>)> = None;
    for line in lines {
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
    if !cell.is_empty() && !rest.is_empty() {
        let cut = cell.ends_with(['-', '/', '=', '.']) && !cell.ends_with(" =");
        cell.push(if cut { CUT } else { BLANK });
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

/// The widest column of a table that all of the text stands in, as a text of its own.
pub(super) fn column(lines: &[&str], known: Known<'_>) -> Option<Guess> {
    let rows: Vec<Option<Vec<char>>> = lines.iter().map(|line| row(line)).collect();
    let framed: Vec<&Vec<char>> = rows.iter().flatten().collect();
    let other = |line: &&&str| {
        !line.trim().is_empty() && !line.chars().all(|letter| RULES.contains(&letter))
    };
    if framed.len() < 2 || lines.iter().filter(other).count() > framed.len() {
        return None;
    }
    let (from, to) = widest(&framed)?;
    let mut all = Joining::default();
    let mut open: Option<usize> = None;
    for (row, line) in rows.iter().zip(lines) {
        let Some(row) = row else {
            open = None;
            let is_rule = line.chars().all(|letter| RULES.contains(&letter));
            all.push(if is_rule { "" } else { line });
            continue;
        };
        let cell: String = row.iter().take(to).skip(from).collect();
        let cell = cell
            .strip_prefix(' ')
            .unwrap_or(&cell)
            .trim_end()
            .to_owned();
        let outside = |(at, letter): (usize, &char)| {
            (at < from || at >= to) && !letter.is_whitespace() && !BARS.contains(letter)
        };
        let goes_on = !row.iter().enumerate().any(outside) && !cell.is_empty();
        match open.filter(|_| goes_on) {
            Some(at) => {
                let before = all.lines.get(at).cloned().unwrap_or_default();
                let last = before.rsplit([CUT, BLANK]).next().unwrap_or("");
                let full = width(last) + 2 >= to.saturating_sub(from);
                let cut = full && heals(last, &cell, known);
                all.join(at, if cut { CUT } else { BLANK }, cell.trim_start());
            }
            None => {
                open = Some(all.lines.len());
                all.joined
                    .insert(u32::try_from(all.lines.len()).unwrap_or(u32::MAX));
                all.push(&cell);
            }
        }
    }
    let mut guess = all.done()?;
    guess.is_framed = true;
    Some(guess)
}

/// A row with a bar before it and behind it, without the last one; none for another line.
fn row(line: &str) -> Option<Vec<char>> {
    let line = line.trim_end();
    let is_rule = line.chars().all(|letter| RULES.contains(&letter));
    (line.trim_start().starts_with(BARS) && !is_rule)
        .then(|| line.strip_suffix(BARS))
        .flatten()
        .map(|row| row.chars().collect())
}

/// Where the widest column begins and ends that is between bars in all rows. The last one ends with its row.
fn widest(rows: &[&Vec<char>]) -> Option<(usize, usize)> {
    let shortest = rows.iter().map(|row| row.len()).min()?;
    let is_bar = |at: &usize| {
        let mut rows = rows.iter();
        rows.all(|row| row.get(*at).is_some_and(|letter| BARS.contains(letter)))
    };
    let mut bars: Vec<usize> = (0..shortest).filter(is_bar).collect();
    bars.push(rows.iter().map(|row| row.len()).max()?);
    let columns = bars.windows(2).filter_map(|pair| match pair {
        [from, to] => Some((from + 1, *to)),
        _ => None,
    });
    let best = columns.max_by_key(|(from, to)| to.saturating_sub(*from))?;
    (bars.len() > 2 && best.1.saturating_sub(best.0) >= NARROWEST).then_some(best)
}
