//! What a mail program, a browser or a terminal does to lines on their way into a ticket, undone where it is plain to
//! see: marks of quotes and lists before every line, typographic quotes, HTML entities, elisions, wraps at one width.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::memmem;

/// Texts of at most so many bytes are pasted; larger ones are captured.
const LARGEST: usize = 256 << 10;
/// Widths at which programs wrap.
const WIDTHS: [usize; 9] = [64, 70, 72, 76, 78, 79, 80, 100, 120];
/// Marks that stand before the lines of a quote or of a list.
const MARKS: [&str; 4] = ["> ", "- ", "* ", "\u{2022} "];
/// Entities in which a browser gives out a text.
const ENTITIES: [(&str, &str); 6] = [
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
];

/// The text as it was before, line by line; none where nothing was done to it.
pub fn mend(bytes: &[u8]) -> Option<Mended> {
    if bytes.is_empty() || bytes.len() > LARGEST {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let mut mended = plain(text);
    if let Some(mark) = mark(&mended) {
        let lines = mended.lines();
        let bare = lines.map(|line| line.strip_prefix(mark).unwrap_or(line));
        mended = Cow::Owned(joined(bare));
    }
    if mended.contains("...") {
        let whole = joined(mended.lines().map(whole));
        mended = Cow::Owned(whole);
    }
    let mut joined = BTreeSet::new();
    if let Some(width) = width(&mended) {
        let (whole, lines) = unwrapped(&mended, width);
        (mended, joined) = (Cow::Owned(whole), lines);
    }
    (mended != text).then(|| Mended {
        text: mended.into_owned(),
        joined,
    })
}

/// A text as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// The text.
    pub text: String,
    /// Lines, from 0, that were put together from wrapped ones: where they belong together is a guess.
    pub joined: BTreeSet<u32>,
}

pub(super) fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Quotes and brackets as a keyboard has them.
fn plain(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    // All four begin with the same two bytes. Most texts have neither them nor an entity.
    if memmem::find(text.as_bytes(), b"\xe2\x80").is_some() {
        let turned = text.chars().map(|letter| match letter {
            '\u{201c}' | '\u{201d}' => '"',
            '\u{2018}' | '\u{2019}' => '\'',
            other => other,
        });
        text = Cow::Owned(turned.collect());
    }
    let has = |entity: &str| memmem::find(text.as_bytes(), entity.as_bytes()).is_some();
    if has("&quot;") || has("&gt;") || has("&lt;") {
        for (entity, sign) in ENTITIES {
            text = Cow::Owned(text.replace(entity, sign));
        }
    }
    text
}

/// The mark that every line begins with. A list of YAML has other lines, too.
fn mark(text: &str) -> Option<&'static str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    MARKS
        .into_iter()
        .find(|mark| lines().next().is_some() && lines().all(|line| line.starts_with(mark)))
}

/// A line without `... ` before and ` [...]` behind it.
fn whole(line: &str) -> &str {
    let begun = ["... ", "[...] ", "\u{2026} "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line);
    [" ...", " [...]", " \u{2026}"]
        .iter()
        .find_map(|mark| begun.strip_suffix(mark))
        .unwrap_or(begun)
}

/// The width at which a text was wrapped: lines have exactly so many letters, and none has more.
fn width(text: &str) -> Option<usize> {
    let longest = text.lines().map(|line| line.chars().count()).max()?;
    let full = text.lines().filter(|line| line.chars().count() == longest);
    let followed = text.lines().nth(1).is_some();
    (WIDTHS.contains(&longest) && followed && full.count() > 0).then_some(longest)
}

/// Whether a line may be the rest of the one before: it has no head of its own, opens no block and is no row of a table.
fn continues(line: &str) -> bool {
    let opens = line.trim_end().ends_with(':');
    let row = line.matches("   ").count() > 1;
    !line.trim().is_empty() && !opens && !row && !super::undress(line).is_dressed
}

/// Wrapped lines as one; the lines that they were continued on stay empty, so that the others keep their numbers.
fn unwrapped(text: &str, width: usize) -> (String, BTreeSet<u32>) {
    let mut guessed = BTreeSet::new();
    let mut lines: Vec<String> = Vec::new();
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let full = line.chars().count() == width;
        match open {
            Some(at) if continues(line) => {
                lines[at].push_str(line);
                guessed.insert(u32::try_from(at).unwrap_or(u32::MAX));
                lines.push(String::new());
            }
            _ => {
                open = None;
                lines.push(line.to_owned());
            }
        }
        open = match (full, open) {
            (true, Some(at)) => Some(at),
            (true, None) => lines.len().checked_sub(1),
            (false, _) => None,
        };
    }
    (joined(lines.iter().map(String::as_str)), guessed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_ticket_does_to_a_text_is_undone_and_lines_keep_their_numbers() {
        let text = "E1120 failed to \"load\"\nsecond\n";
        for damaged in [
            "> E1120 failed to \"load\"\n> second\n",
            "- E1120 failed to \u{201c}load\u{201d}\n- second\n",
            "E1120 failed to &quot;load&quot;\nsecond\n",
            "... E1120 failed to \"load\" [...]\nsecond ...\n",
        ] {
            let mended = mend(damaged.as_bytes()).map(|one| one.text);
            assert_eq!(mended.as_deref(), Some(text), "{damaged}");
        }
        assert_eq!(mend(text.as_bytes()), None);
        assert_eq!(mend(b"args:\n- one\n- two\n"), None, "a list of YAML");
    }

    #[test]
    fn a_line_that_was_wrapped_at_the_width_of_a_terminal_is_one_again() {
        let long = "x".repeat(95);
        let damaged = format!("{}\n{}\nnext\n", &long[..80], &long[80..]);
        let mended = mend(damaged.as_bytes()).unwrap();
        assert_eq!(mended.text, format!("{long}\n\nnext\n"));
        assert_eq!(mended.joined, BTreeSet::from([0]));
        let dressed = format!("{}\nNov 20 10:00:00 gpu-1 kubelet[1]: b\n", &long[..80]);
        assert_eq!(
            mend(dressed.as_bytes()),
            None,
            "the next line has a head of its own"
        );
    }
}
