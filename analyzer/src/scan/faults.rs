//! What is wrong with a stretch of log lines: said once a stretch, with the first place and how many.

use casefile_bundle::Piece;

use super::lines::Origin;
use crate::model::{Place, Problem};
use crate::parsers::Channel;

/// Bytes that are not UTF-8, and journal lines that are not JSON objects.
pub(super) fn of_lines(origin: &Origin<'_>, bytes: &[u8]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Err(error) = std::str::from_utf8(bytes) {
        let before = memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count();
        let text = "holds bytes that are not UTF-8 from here on; they are shown as \u{fffd}";
        problems.push(problem(origin, before, text.to_owned()));
    }
    let journal = matches!(origin.channel, Channel::Journal | Channel::Kernel)
        && origin.path.ends_with(".json");
    if journal {
        problems.extend(of_journal(origin, bytes));
    }
    problems
}

/// The beginning of a line that is too long for one piece.
pub(super) fn of_split(origin: &Origin<'_>, piece: &Piece<'_>) -> Option<Problem> {
    let begins = piece.starts_line && !piece.ends_line;
    let text = "is a line of more than a mebibyte; it was read in parts, and what lies across two parts is not seen";
    begins.then(|| {
        let before = memchr::memchr_iter(b'\n', piece.bytes).count();
        problem(origin, before, text.to_owned())
    })
}

/// Looks at the ends of each line only: a full parse of every line would cost more than the search.
fn of_journal(origin: &Origin<'_>, bytes: &[u8]) -> Option<Problem> {
    let mut first = None;
    let mut count = 0u64;
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', bytes).chain(std::iter::once(bytes.len()));
    for (number, end) in ends.enumerate() {
        let line = bytes[start..end].trim_ascii();
        start = (end + 1).min(bytes.len());
        let object = line.starts_with(b"{") && line.ends_with(b"}");
        if !line.is_empty() && !object {
            count += 1;
            first.get_or_insert(number);
        }
    }
    let first = first?;
    let text = format!("not a JSON object ({count} lines from here on); read as plain text");
    Some(problem(origin, first, text))
}

fn problem(origin: &Origin<'_>, lines_before: usize, text: String) -> Problem {
    let line = u32::try_from(lines_before)
        .unwrap_or(u32::MAX)
        .saturating_add(1);
    Problem {
        place: Place {
            path: origin.path.into(),
            line: Some(line),
        },
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_journal_is_told_once_with_its_first_line() {
        let origin = Origin::of("nodes/n/journal/kernel.json", Channel::Kernel);
        let problems = of_lines(&origin, b"{\"MESSAGE\":\"a\"}\ngarbage\n{\"MESS\n{}\n");
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place.line, Some(2));
        assert!(problems[0].text.contains("2 lines"));
    }

    #[test]
    fn bytes_that_are_not_text_are_told_and_a_good_log_is_not() {
        let origin = Origin::of("x.log", Channel::Text);
        assert_eq!(of_lines(&origin, b"ok\nb\xffd\n")[0].place.line, Some(2));
        assert!(of_lines(&origin, "gr\u{fc}n\n".as_bytes()).is_empty());
    }
}
