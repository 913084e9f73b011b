//! What shows at the end of one line and the beginning of the next that they were one.

use super::Known;

/// A shorter word is put together from the ends of any two lines.
const WORD: usize = 6;

/// Whether a word of messages is whole again where one line ends and the next begins, and its halves are no such words.
pub(super) fn heals(end: &str, begin: &str, known: Known<'_>) -> bool {
    let is_other = |letter: char| !letter.is_ascii_alphabetic();
    let left = end.rsplit(is_other).next().unwrap_or("");
    let right = begin.split(is_other).next().unwrap_or("");
    let word = format!("{left}{right}").to_ascii_lowercase();
    let both = || known(&left.to_ascii_lowercase()) && known(&right.to_ascii_lowercase());
    !left.is_empty() && !right.is_empty() && word.len() >= WORD && known(&word) && !both()
}

/// Whether a line opens a bracket or a quote, or ends with a sign behind which more has to come, and the next line is
/// that.
pub(super) fn is_unfinished(line: &str, next: &str) -> bool {
    const SIGNS: [char; 3] = [':', ',', '='];
    let quotes = |text: &str| text.matches('"').count();
    let quoted = quotes(line) % 2 == 1 && quotes(next) % 2 == 1;
    let bracketed = [('(', ')'), ('[', ']'), ('{', '}')]
        .into_iter()
        .any(|(open, close)| {
            // A bracket at the very end opens a block of its own.
            let inner = line.trim_end().strip_suffix(open).unwrap_or(line);
            depth(inner, open, close).0 > 0 && depth(next, open, close).1 > 0
        });
    quoted || bracketed || line.trim_end().ends_with(SIGNS)
}

/// How many brackets a text opens and does not close, and how many it closes that it did not open.
fn depth(text: &str, open: char, close: char) -> (usize, usize) {
    let mut depth = (0usize, 0usize);
    for letter in text.chars() {
        if letter == open {
            depth.0 += 1;
        } else if letter == close && depth.0 > 0 {
            depth.0 -= 1;
        } else if letter == close {
            depth.1 += 1;
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_unfinished_that_opens_what_the_next_one_closes() {
        for (line, next) in [
            ("out of memory (GPU 0", "; 23 GiB)"),
            ("request to \"https://a", "/b\": no"),
            ("could not insert 'nvidia':", "Required key"),
        ] {
            assert!(is_unfinished(line, next), "{line}");
        }
        for (line, next) in [("list [", "]"), ("a (b) c", "d"), ("failed (x", "y")] {
            assert!(!is_unfinished(line, next), "{line}");
        }
    }

    #[test]
    fn a_word_is_healed_whose_halves_are_none() {
        let known = |word: &str| ["configured", "without", "with", "out"].contains(&word);
        assert!(heals("is con", "figured x", &known));
        assert!(!heals("with", "out", &known) && !heals("is con", " figured", &known));
    }
}
