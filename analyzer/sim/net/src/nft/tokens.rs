//! The words of an nft text, each with its line.

/// A word, a quoted text, a brace, a comma or the end of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// The text without quotes; `;` for every end of a statement.
    pub(super) text: &'a str,
    /// True for a text in double quotes.
    pub(super) quoted: bool,
    /// Line, counted from 1.
    pub(super) line: u32,
    /// Byte offset of its first character in the whole text.
    pub(super) start: usize,
    /// Byte offset behind its last character.
    pub(super) end: usize,
}

impl Token<'_> {
    /// True for this word or sign, unquoted.
    pub(super) fn is(&self, text: &str) -> bool {
        !self.quoted && self.text == text
    }
}

/// Longest text of one rule that is kept.
const MAX_RULE_TEXT: usize = 4096;

/// Cuts a text into tokens. Lines that start with `#` are left out.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut line, mut at) = (1u32, 0usize);
    while let Some(byte) = text.as_bytes().get(at).copied() {
        let (kind, length) = match byte {
            b'\n' => (Some(";"), 1),
            b';' | b'{' | b'}' | b',' | b'(' | b')' => (Some(&text[at..=at]), 1),
            b'"' => {
                let end = closing_quote(text, at);
                tokens.push(token(text, (at + 1, end), true, line));
                let length = (end + 1).min(text.len()) - at;
                line = line.saturating_add(newlines(&text[at..at + length]));
                at += length;
                continue;
            }
            // `redirect to :tcp dport map`: what follows the sign is no port.
            b':' if text[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic()) => {
                (Some(&text[at..=at]), 1)
            }
            b'#' if first_of_line(text, at) => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b if b.is_ascii_whitespace() => (None, 1),
            _ => {
                let length = word_length(&text[at..]);
                (Some(&text[at..at + length]), length)
            }
        };
        if let Some(word) = kind {
            tokens.push(Token {
                text: word,
                quoted: false,
                line,
                start: at,
                end: at + length,
            });
        }
        line = line.saturating_add(u32::from(byte == b'\n'));
        at += length;
    }
    tokens
}

fn token(text: &str, (start, end): (usize, usize), quoted: bool, line: u32) -> Token<'_> {
    Token {
        text: &text[start..end],
        quoted,
        line,
        start,
        end,
    }
}

fn newlines(text: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text.as_bytes()).count()).unwrap_or(u32::MAX)
}

/// The offset of the closing quote, or the end of the line where there is none.
fn closing_quote(text: &str, open: usize) -> usize {
    let mut escaped = false;
    for (offset, c) in text[open + 1..].char_indices() {
        match c {
            '\n' => return open + 1 + offset,
            '"' if !escaped => return open + 1 + offset,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn first_of_line(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let line = before
        .rfind('\n')
        .map_or(before, |newline| &before[newline + 1..]);
    line.trim().is_empty()
}

fn word_length(text: &str) -> usize {
    let end = text.find(|c: char| {
        c.is_ascii_whitespace() || matches!(c, ';' | '{' | '}' | ',' | '"' | '(' | ')')
    });
    end.unwrap_or(text.len()).max(1)
}

/// The text of a statement as written, in one line.
pub(super) fn written(text: &str, tokens: &[Token<'_>]) -> String {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return String::new();
    };
    let start = first.start - usize::from(first.quoted);
    let end = (last.end + usize::from(last.quoted)).min(text.len());
    let mut all = String::new();
    for word in text[start..end].split_ascii_whitespace() {
        if !all.is_empty() {
            all.push(' ');
        }
        if all.len() + word.len() > MAX_RULE_TEXT {
            all.push_str("...");
            break;
        }
        all.push_str(word);
    }
    all
}
