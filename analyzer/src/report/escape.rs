//! Escaping: how untrusted text becomes inert, readable text in each output format.
//!
//! Everything in a bundle was written by strangers. Characters that hide or reorder text are shown
//! as `\u{..}`; markup of the output format is escaped; in Markdown, words that a tracker would turn
//! into a link or a notification are put into a code span.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Longest excerpt line that is printed whole, in characters.
pub(crate) const EXCERPT_CHARS: usize = 400;

/// Whether a character is invisible, moves the cursor or changes the reading direction.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
            | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0xE000..=0xF8FF | 0xE0000..=0xE0FFF
            | 0xF0000..=0x10FFFF)
        || (u32::from(c) & 0xFFFE) == 0xFFFE
}

/// Shows hidden characters as `\u{..}`; tab stays, and with `lines` the line feed too.
pub(crate) fn visible(text: &str, lines: bool) -> Cow<'_, str> {
    let keep = |c: char| c == '\t' || (lines && c == '\n');
    // Of ASCII only what controls a terminal is hidden.
    let is_seen = |byte: &u8| matches!(byte, b' '..=b'~');
    if text.as_bytes().iter().all(is_seen) || !text.chars().any(|c| is_hidden(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) && !keep(c) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// White space runs, line feeds included, become one space: text for a sentence or a cell.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars() {
        if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
            gap = true;
            continue;
        }
        if gap {
            out.push(' ');
            gap = false;
        }
        out.push(c);
    }
    if gap {
        out.push(' ');
    }
    out
}

/// Cuts a long line in the middle. Both halves stay as they stand in the bundle, so each can be searched for.
pub(crate) fn cut_middle(text: &str, max: usize) -> Cow<'_, str> {
    // The note about what is left out is about as long.
    const NOTE: usize = 32;
    let count = text.chars().count();
    if count <= max + NOTE || max < 16 {
        return Cow::Borrowed(text);
    }
    let head = max * 2 / 3;
    let tail = max - head;
    let dropped = count - head - tail;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    Cow::Owned(format!("{start} …[{dropped} characters left out]… {end}"))
}

/// Cuts text at the end to at most `max` characters, with `…` as the last one.
pub(crate) fn cut_end(text: &str, max: usize) -> Cow<'_, str> {
    if text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    let mut cut: String = text.chars().take(max.saturating_sub(1)).collect();
    cut.push('…');
    Cow::Owned(cut)
}

/// Text for HTML and SVG, in element content and in quoted attributes.
pub(crate) fn html(text: &str) -> String {
    let text = visible(text, true);
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// Text for the inside of a quoted string of a style sheet: what is no plain character is written by its number.
pub(crate) fn css_string(text: &str) -> String {
    let text = one_line(text);
    let text = visible(&text, false);
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c.is_alphanumeric() || " .,:-()".contains(c) {
            out.push(c);
        } else {
            // Writing to a String cannot fail. Six digits need no end mark.
            let _ = write!(out, "\\{:06x}", u32::from(c));
        }
    }
    out
}

/// Text for a Markdown paragraph, list item, heading or table cell. Never holds a line feed.
pub(crate) fn md_text(text: &str) -> String {
    let text = one_line(text);
    let text = visible(&text, false);
    let mut out = String::with_capacity(text.len() + 16);
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            out.push(' ');
        }
        for (piece_index, piece) in word.split('|').enumerate() {
            if piece_index > 0 {
                out.push_str("\\|");
            }
            if is_live_word(piece) {
                push_code(&mut out, &md_code(piece, false));
            } else {
                md_word(piece, index == 0 && piece_index == 0, &mut out);
            }
        }
    }
    out
}

/// Appends a code span, keeping it apart from a code span that ends right before it.
pub(crate) fn push_code(out: &mut String, code: &str) {
    if out.ends_with('`') {
        out.push(' ');
    }
    out.push_str(code);
}

/// Whether trackers make a link, a notification or a picture of the word: mentions, addresses, `#1`, `!1`, `:name:`.
fn is_live_word(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let number_after = |mark: &str| {
        lower.match_indices(mark).any(|(at, _)| {
            lower
                .get(at + mark.len()..)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    word.contains('@')
        || lower.contains("://")
        || lower.contains("www.")
        || number_after("#")
        || number_after("!")
        || number_after("gh-")
        || is_emoji_code(&lower)
}

/// Whether the word holds `:name:` as trackers write pictures.
fn is_emoji_code(word: &str) -> bool {
    let mut parts = word.split(':');
    parts.next();
    let inner: Vec<&str> = parts.collect();
    inner.iter().rev().skip(1).any(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '+' || c == '-')
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-'))
    })
}

/// Escapes the marks of one word; `leads` if it may begin a line, where more of them are marks.
fn md_word(word: &str, leads: bool, out: &mut String) {
    let chars: Vec<char> = word.chars().collect();
    let lead_digits = chars.iter().take_while(|c| c.is_ascii_digit()).count();
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(index + 1);
        let inside = before.is_some_and(|c| c.is_alphanumeric())
            && after.is_some_and(|c| c.is_alphanumeric());
        let escape = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' | '$' | '|' => true,
            '_' => !inside,
            '&' => after.is_some_and(|c| *c == '#' || c.is_ascii_alphanumeric()),
            '#' | '>' | '=' => leads && index == 0,
            '-' | '+' => leads && index == 0 && (after.is_none() || after == Some(&c)),
            '.' | ')' => leads && index == lead_digits && index > 0 && after.is_none(),
            _ => false,
        };
        if escape {
            out.push('\\');
        }
        out.push(c);
    }
}

/// A code span that shows the text exactly. In a table, text that no single span can hold becomes several.
pub(crate) fn md_code(text: &str, in_table: bool) -> String {
    let text = visible(text, false).replace('\t', " ");
    if text.trim().is_empty() {
        return text;
    }
    if !in_table || !text.contains('|') {
        return fence_span(&text);
    }
    if !text.contains("\\|") && !text.contains('`') {
        return fence_span(&text.replace('|', "\\|"));
    }
    // Renderers disagree on what `\\|` means in a table's code span, so no pipe goes into one.
    let pieces: Vec<String> = text
        .split('|')
        .map(|piece| {
            if piece.trim().is_empty() {
                piece.to_owned()
            } else {
                fence_span(piece)
            }
        })
        .collect();
    pieces.join("\\|")
}

/// Wraps text into a code span whose fence is longer than any run of backticks in it.
fn fence_span(text: &str) -> String {
    let fence = "`".repeat(longest_backticks(text) + 1);
    let pad = text.starts_with('`')
        || text.ends_with('`')
        || (text.starts_with(' ') && text.ends_with(' '));
    if pad {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

/// A fenced code block, each line indented by `indent` spaces; it starts with the fence and ends without a line feed.
pub(crate) fn md_fence(content: &str, language: &str, indent: usize) -> String {
    let fence = "`".repeat((longest_backticks(content) + 1).max(3));
    let margin = " ".repeat(indent);
    let language = if language.chars().all(|c| c.is_ascii_alphanumeric()) {
        language
    } else {
        "text"
    };
    let mut out = format!("{margin}{fence}{language}\n");
    for line in content.trim_end_matches('\n').split('\n') {
        let line = visible(line.trim_end_matches('\r'), false);
        if !line.is_empty() {
            out.push_str(&margin);
            out.push_str(&line);
        }
        out.push('\n');
    }
    out.push_str(&margin);
    out.push_str(&fence);
    out
}

/// Length of the longest run of backticks.
fn longest_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_or_address_in_text_is_shown_as_code_so_that_nobody_is_notified() {
        assert_eq!(
            md_text("ask @alice, see https://x.test/a"),
            "ask `@alice,` see `https://x.test/a`"
        );
        assert_eq!(md_text("a|@b"), "a\\|`@b`");
        assert_eq!(md_text("see nvidia/x#12"), "see `nvidia/x#12`");
    }

    #[test]
    fn markup_in_text_is_escaped_but_names_with_underscores_stay_readable() {
        assert_eq!(
            md_text("<b> *x* gpu_nodes _y_"),
            "\\<b> \\*x\\* gpu_nodes \\_y\\_"
        );
        assert_eq!(md_text("# head\n- item"), "\\# head - item");
        assert_eq!(md_text("1. one"), "1\\. one");
    }

    #[test]
    fn a_code_span_survives_backticks_and_pipes() {
        assert_eq!(md_code("a`b", false), "``a`b``");
        assert_eq!(md_code("`a", false), "`` `a ``");
        assert_eq!(md_code("a|b", true), "`a\\|b`");
        assert_eq!(md_code("a\\|b", true), "`a\\`\\|`b`");
    }

    #[test]
    fn text_in_a_style_sheet_can_end_neither_its_string_nor_the_sheet() {
        assert_eq!(
            css_string("a\"}</style>\\\n"),
            "a\\000022\\00007d\\00003c\\00002fstyle\\00003e\\00005c "
        );
    }

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(
            visible("a\u{202e}b\u{1b}[31m", false),
            "a\\u{202e}b\\u{1b}[31m"
        );
        assert_eq!(html("\u{9b}<"), "\\u{9b}&lt;");
    }

    #[test]
    fn both_halves_of_a_cut_line_are_found_in_the_original() {
        let line: String = (0..900)
            .map(|n| char::from(b'a' + (n % 26) as u8))
            .collect();
        let cut = cut_middle(&line, EXCERPT_CHARS).into_owned();
        let (head, rest) = cut.split_once(" …[").unwrap();
        let (_, tail) = rest.split_once("]… ").unwrap();
        assert!(line.starts_with(head) && line.ends_with(tail));
    }

    #[test]
    fn a_fence_is_longer_than_any_fence_in_the_content() {
        let block = md_fence("x\n````\ny", "yaml", 3);
        assert!(block.starts_with("   `````yaml\n   x\n"));
        assert!(block.ends_with("\n   `````"));
    }
}
