//! Escaping for the wiki markup of Jira and Confluence.
//!
//! A backslash does not tame every mark there, a numeric entity does: it is read after the markup is.

use std::fmt::Write as _;

use super::escape::{one_line, visible};

/// Text for a paragraph, list item, heading or table cell. Never holds a line feed.
pub(crate) fn text(text: &str) -> String {
    let text = one_line(text);
    let text = visible(&text, false);
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + 16);
    for (index, &c) in chars.iter().enumerate() {
        if is_mark(&chars, index, c) {
            // Writing to a String cannot fail.
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether a character could be read as markup, an icon, a link or a mention where it stands.
fn is_mark(chars: &[char], index: usize, c: char) -> bool {
    let before = index.checked_sub(1).and_then(|at| chars.get(at)).copied();
    let after = chars.get(index + 1).copied();
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    match c {
        '{' | '}' | '[' | ']' | '\\' | '|' | '*' | '!' | '^' | '~' | '&' | '<' | '>' | '#'
        | '@' => true,
        '(' => is_icon(&chars[index + 1..]),
        ':' | ';' => after.is_some_and(|c| "/()DPp-|".contains(c)),
        '/' => before == Some(':') || before == Some('/'),
        // An issue key is a link, a word between hyphens is struck out.
        '-' => {
            let key =
                before.is_some_and(char::is_uppercase) && after.is_some_and(|c| c.is_ascii_digit());
            key || !(word(before) && word(after))
        }
        '+' | '_' => !(word(before) && word(after)),
        '?' => before == Some('?') || after == Some('?'),
        // `bq.` and `h1.` begin a paragraph of their own kind.
        '.' => after == Some(' ') && before.is_some_and(|c| c.is_ascii_digit() || c == 'q'),
        _ => false,
    }
}

/// Whether an icon such as `(x)` or `(flagoff)` could follow an opening parenthesis.
fn is_icon(rest: &[char]) -> bool {
    let end = rest.iter().take(9).position(|c| *c == ')');
    end.is_some_and(|end| end > 0 && !rest[..end].contains(&' '))
}

/// Text in a fixed-width font.
pub(crate) fn code(text_in: &str) -> String {
    let inner = text(text_in);
    if inner.trim().is_empty() {
        return inner;
    }
    format!("{{{{{inner}}}}}")
}

/// A block that is shown as it stands. Nothing in it is read but its own end, which is therefore broken up.
pub(crate) fn block(content: &str) -> String {
    let mut out = String::from("{noformat}\n");
    for line in content.trim_end_matches('\n').split('\n') {
        let line = visible(line.trim_end_matches('\r'), false);
        out.push_str(&line.replace("{noformat", "{ noformat"));
        out.push('\n');
    }
    out.push_str("{noformat}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_readable_and_marks_are_tamed() {
        assert_eq!(text("gpu-textgen of gpu_nodes"), "gpu-textgen of gpu_nodes");
        assert_eq!(
            text("*b* {color:red}x"),
            "&#42;b&#42; &#123;color:red&#125;x"
        );
        assert_eq!(text("GPU-12 bq. x"), "GPU&#45;12 bq&#46; x");
        assert_eq!(text("https://a.test"), "https&#58;&#47;&#47;a.test");
    }

    #[test]
    fn a_block_cannot_be_ended_from_inside() {
        assert_eq!(
            block("a\n{noformat}*b*"),
            "{noformat}\na\n{ noformat}*b*\n{noformat}"
        );
    }
}
