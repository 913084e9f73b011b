//! How far the value behind a secret's name reaches, on its line and beyond it.

use std::sync::LazyLock;

use regex::Regex;

/// What the lines after this one still hold of the same value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Open {
    /// Lines indented deeper than this belong to the value (a YAML block or a folded scalar).
    Deeper(usize, &'static str),
    /// What stands below a name without a value: a list's items at this indent, or a value deeper than it.
    Items(usize, &'static str),
    /// Everything up to this closing mark belongs to it (quotes, TOML's triple quotes).
    Until(&'static str, &'static str),
    /// Every value indented deeper than this is secret, whatever its name (the data of a Secret).
    Values(usize, &'static str),
    /// Everything up to a line that is this word belongs to it (here-documents).
    Heredoc(String, &'static str),
    /// Every item belongs to it, up to the bracket that closes the list (TOML over several lines).
    List(&'static str),
    /// The first word of the next line is the value (`--password \`).
    Word(&'static str),
}

/// Where a pair stands decides how far its value reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The pair is the whole line: the value is the rest of it.
    Line,
    /// Among other text: the value is one word.
    Prose,
}

impl Place {
    /// The place of a pair with this text before its name, this separator and this behind it.
    pub(crate) fn of(before: &str, separator: &str, behind: &str, flag: bool) -> Self {
        let lead = before.trim_start_matches('\u{feff}');
        let lead = lead.trim_start_matches([' ', '\t', '-', '#', ';', '"', '\'']);
        let lead = lead.strip_prefix("export ").unwrap_or(lead);
        // `"--client-cert-auth=true",` in a list of arguments: what follows the quote is JSON's.
        let dashes = before.trim_start().starts_with("--") || before.ends_with("\"--");
        let lead = lead.strip_prefix("Environment=").unwrap_or(lead);
        let tight_colon =
            !behind.is_empty() && separator.ends_with(':') && !separator.contains(['"', '\'']);
        if flag || dashes || tight_colon || !lead.trim_matches(['"', '\'']).is_empty() {
            Self::Prose
        } else {
            Self::Line
        }
    }
}

/// Where a value lies.
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    mark: Option<char>,
    closed: bool,
}

static PREFIX: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:[&!][^\s,\[\]{}]*[ \t]+)+").ok());

impl Found {
    /// The value that begins at `from`.
    pub(crate) fn at(text: &str, from: usize, place: Place) -> Self {
        // YAML's anchor and tag are no part of the value.
        let prefix = PREFIX
            .as_ref()
            .filter(|_| place == Place::Line)
            .and_then(|prefix| prefix.find(&text[from..]))
            .map_or(0, |prefix| prefix.end());
        let from = from + prefix;
        // Neither is the letter that languages write in front of a string: `b'..'`, `N'..'`, `f".."`, `$'..'`.
        let lettered = text[from..]
            .starts_with(['b', 'B', 'u', 'U', 'N', 'n', 'f', 'r', 'R', 'E', 'e', '$'])
            && text[from + 1..].starts_with(['\'', '"']);
        let from = from + usize::from(lettered);
        let rest = &text[from..];
        let slashes = rest.len() - rest.trim_start_matches('\\').len();
        let mark = rest[slashes..]
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'' | '`'));
        if let Some(mark) = mark {
            return Self::quoted(text, from, slashes, mark);
        }
        if let Some(length) = braced(&text[..from], rest) {
            return Self {
                start: from + 1,
                end: from + length,
                mark: None,
                closed: true,
            };
        }
        if rest.starts_with('[') || rest.starts_with('{') {
            return Self {
                start: from,
                end: from,
                mark: None,
                closed: true,
            };
        }
        let length = match place {
            Place::Line if !another_pair(rest) => rest.find(" #").unwrap_or(rest.len()),
            _ => word(rest),
        };
        let mut value = rest[..length].trim_end();
        // The comma of a line of JSON is no part of its value.
        if place == Place::Line && text[..from].trim_end().ends_with("\":") {
            value = value.trim_end_matches(',');
        }
        Self {
            start: from,
            end: from + value.len(),
            mark: None,
            closed: true,
        }
    }

    fn quoted(text: &str, from: usize, slashes: usize, mark: char) -> Self {
        let triple = if mark == '"' { "\"\"\"" } else { "'''" };
        let width = if text[from + slashes..].starts_with(triple) {
            3
        } else {
            1
        };
        let start = from + slashes + width;
        let closing = if width == 3 {
            text[start..].find(triple)
        } else {
            closing(&text[start..], mark, slashes)
        };
        Self {
            start,
            end: closing.map_or(text.len(), |length| start + length),
            mark: Some(mark),
            closed: closing.is_some(),
        }
    }

    /// Whether the value goes on in the next lines. `key` is where its name begins.
    pub(crate) fn open(
        &self,
        text: &str,
        key: usize,
        place: Place,
        class: &'static str,
    ) -> Option<Open> {
        let value = &text[self.start..self.end];
        let opening = &text[..self.start];
        if value == "\\" {
            return Some(Open::Word(class));
        }
        if let Some(tag) = heredoc(value) {
            return Some(Open::Heredoc(tag, class));
        }
        if text[self.start..].trim_end() == "[" && opening.trim_end().ends_with('=') {
            return Some(Open::List(class));
        }
        for mark in ["\"\"\"", "'''"] {
            if opening.ends_with(mark) && !self.closed {
                return Some(Open::Until(mark, class));
            }
        }
        if place != Place::Line {
            return None;
        }
        match (self.closed, self.mark) {
            (false, Some('"')) => return Some(Open::Until("\"", class)),
            (false, Some('\'')) => return Some(Open::Until("'", class)),
            _ => {}
        }
        let indent = column(text, key);
        let colon = opening.trim_end().ends_with(':');
        if value.is_empty() && self.end == text.len() && self.mark.is_none() && colon {
            return Some(Open::Items(indent, class));
        }
        let plain = colon && self.mark.is_none() && !value.is_empty() && !value.ends_with(',');
        (is_open_mark(value) || plain).then_some(Open::Deeper(indent, class))
    }

    /// Whether a bare number stands where only a quoted text keeps the document what it is: behind a JSON name,
    /// or behind ` = ` as in TOML.
    pub(crate) fn needs_quotes(&self, text: &str) -> bool {
        let before = &text[..self.start];
        let bare = self.mark.is_none()
            && text[self.start..self.end]
                .bytes()
                .all(|b| b.is_ascii_digit() || b"+-._".contains(&b));
        bare && (before.trim_end().ends_with("\":") || before.ends_with(" = "))
    }
}

/// The word that ends a here-document which a value opens: `<<EOT`, `<<-'EOT'`, `$(cat <<EOF`.
fn heredoc(value: &str) -> Option<String> {
    let (before, tag) = value.split_once("<<")?;
    let tag = tag.trim_start_matches(['-', '~', ' ']);
    let tag = tag.trim_matches(['"', '\'', ')']);
    let word = !tag.is_empty() && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let reads = before.is_empty() || before.trim_end().ends_with("cat");
    (word && reads).then(|| tag.to_owned())
}

/// Whether a value only says that what follows it is the secret.
pub(crate) fn announces(value: &str) -> bool {
    is_open_mark(value) || value == "\\" || heredoc(value).is_some()
}

/// The column of a name; the dashes of list items in front of it count as blanks, as YAML counts them.
fn column(text: &str, key: usize) -> usize {
    let before = text[..key].trim_end_matches(['"', '\'']);
    if before.bytes().all(|b| matches!(b, b' ' | b'-' | b'\t')) {
        before.len()
    } else {
        text.len() - text.trim_start().len()
    }
}

/// `|`, `>-`, `|2+`: YAML's mark that a block follows.
pub(crate) fn is_open_mark(value: &str) -> bool {
    value.starts_with(['|', '>'])
        && value.len() <= 3
        && value
            .chars()
            .skip(1)
            .all(|c| matches!(c, '+' | '-') || c.is_ascii_digit())
}

/// The length of a quoted value up to its closing mark, which stands behind as many backslashes as the opening one.
pub(crate) fn closing(text: &str, mark: char, slashes: usize) -> Option<usize> {
    let mut run = 0;
    let mut doubled = false;
    for (at, c) in text.char_indices() {
        if c == '\\' {
            run += 1;
            continue;
        }
        if doubled {
            doubled = false;
            run = 0;
            continue;
        }
        // `''` inside YAML's single quotes is one of them.
        if mark == '\'' && slashes == 0 && c == mark && text[at + 1..].starts_with(mark) {
            doubled = true;
            continue;
        }
        if c == mark && (run == slashes || (slashes == 0 && run % 2 == 0) || mark == '\'') {
            return Some(at - run.min(slashes));
        }
        run = 0;
    }
    None
}

/// `PWD={a;b}` of ODBC: what the braces hold is the value. Gives the place of the closing one.
fn braced(before: &str, rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('{').filter(|_| before.ends_with('='))?;
    let length = inner.find('}')?;
    let plain = length > 0 && !inner[..length].contains(['"', ':', '=', '{', ' ']);
    plain.then_some(length + 1)
}

static NEXT_PAIR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\s--?[A-Za-z]|[\s,;&][A-Za-z_][A-Za-z0-9_.-]*=").ok());
static CUT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"[,;&][ ]?["']?[A-Za-z_][A-Za-z0-9_.-]*["']?[=:]"#).ok());

/// Whether more pairs follow in the same line.
fn another_pair(rest: &str) -> bool {
    NEXT_PAIR.as_ref().is_some_and(|regex| regex.is_match(rest))
}

/// The length of one bare word: a `,` `;` `&` ends it only where another pair follows, brackets only at its end.
pub(crate) fn word(rest: &str) -> usize {
    // A scheme in front belongs to the value: `Authorization: Bearer abc`.
    let scheme = ["bearer ", "basic ", "digest ", "negotiate "]
        .iter()
        .find(|scheme| {
            rest.get(..scheme.len())
                .is_some_and(|lead| lead.eq_ignore_ascii_case(scheme))
        })
        .map_or(0, |scheme| scheme.len());
    let bytes = rest.as_bytes();
    let escape = |at: usize| {
        matches!(
            bytes.get(at + 1),
            Some(b'n' | b'r' | b't' | b'x' | b'"' | b'\'' | b'\\') | None
        )
    };
    let mut end = bytes.len();
    for (at, byte) in bytes.iter().enumerate().skip(scheme) {
        if byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'')
            || (*byte == b'\\' && escape(at))
        {
            end = at;
            break;
        }
    }
    let value = rest.get(..end).unwrap_or("");
    let end = CUT
        .as_ref()
        .and_then(|cut| cut.find(value))
        .map_or(end, |found| found.start());
    value
        .get(..end)
        .unwrap_or(value)
        .trim_end_matches([',', ';', ')', ']', '}'])
        .len()
}
