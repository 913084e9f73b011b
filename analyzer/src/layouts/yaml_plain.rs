//! The YAML that Kubernetes' tools write of objects, as JSON: block collections, and scalars that are folded behind the 80th
//! column. The whole language costs three times as much to read; whatever is not plainly of this part of it is left to the
//! library.

use std::borrow::Cow;

/// Deeper objects are the library's, which has bounds of its own.
const DEEPEST: usize = 60;

/// A document as JSON; none of one that is not plainly of this part of YAML.
pub(super) fn json(text: &str) -> Option<Vec<u8>> {
    let mut reader = Reader {
        lines: text.lines().map(|line| (indent(line), line)).collect(),
        at: 0,
        out: Vec::with_capacity(text.len()),
    };
    reader.block(0, DEEPEST)?;
    (reader.at == reader.lines.len()).then_some(reader.out)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

struct Reader<'a> {
    /// Each with the column at which what is still to be read of it begins.
    lines: Vec<(usize, &'a str)>,
    at: usize,
    out: Vec<u8>,
}

impl<'a> Reader<'a> {
    /// The next line and its column; none at the end and where it is empty.
    fn next(&self) -> Option<(usize, &'a str)> {
        let (column, line) = *self.lines.get(self.at)?;
        let rest = line.get(column..).filter(|rest| !rest.is_empty())?;
        Some((column, rest))
    }

    /// A mapping or a sequence at this column.
    fn block(&mut self, column: usize, depth: usize) -> Option<()> {
        let (at, rest) = self.next()?;
        let depth = depth.checked_sub(1)?;
        match at == column {
            true if is_item(rest) => self.sequence(column, depth),
            true => self.mapping(column, depth),
            false => None,
        }
    }

    fn mapping(&mut self, column: usize, depth: usize) -> Option<()> {
        let mut before = b'{';
        while let Some((at, rest)) = self.next() {
            if at < column || (at == column && is_item(rest)) {
                break;
            }
            let (key, value) = key(rest).filter(|_| at == column)?;
            self.out.push(before);
            before = b',';
            self.text(key)?;
            self.out.push(b':');
            self.at += 1;
            self.value(value, column, depth)?;
        }
        // An empty line is not known to belong to anything.
        self.close(before, b'}', column)
    }

    fn sequence(&mut self, column: usize, depth: usize) -> Option<()> {
        let mut before = b'[';
        while let Some((at, rest)) = self.next() {
            if at < column || (at == column && !is_item(rest)) {
                break;
            }
            if at > column {
                return None;
            }
            self.out.push(before);
            before = b',';
            let inside = rest[1..].trim_start_matches(' ');
            if key(inside).is_some() || is_item(inside) {
                let below = column + rest.len() - inside.len();
                self.lines.get_mut(self.at)?.0 = below;
                self.block(below, depth)?;
            } else {
                self.at += 1;
                let own = Some(inside).filter(|inside| !inside.is_empty());
                self.value(own?, column, depth)?;
            }
        }
        self.close(before, b']', column)
    }

    /// Ends a collection that began, unless an empty line ended it or a line that is not of what is around it.
    fn close(&mut self, before: u8, bracket: u8, column: usize) -> Option<()> {
        let over = match self.lines.get(self.at) {
            None => true,
            Some((at, line)) => *at <= column && line.len() > *at,
        };
        (over && before == b',').then(|| self.out.push(bracket))
    }

    /// What is behind a key or a dash of this column: in the line, or below it.
    fn value(&mut self, value: &'a str, column: usize, depth: usize) -> Option<()> {
        match value {
            "" => match self.next() {
                Some((below, _)) if below > column => self.block(below, depth),
                Some((same, rest)) if same == column && is_item(rest) => {
                    self.sequence(column, depth.checked_sub(1)?)
                }
                Some(_) => self.literal(b"null"),
                None if self.at == self.lines.len() => self.literal(b"null"),
                None => None,
            },
            "|" | "|-" => self.block_text(value == "|", column),
            _ => {
                let whole = self.folded(value, column)?;
                self.scalar(&whole)
            }
        }
    }

    /// A scalar with the lines that it goes on in, which are further in than this column: a line break is a blank.
    fn folded(&mut self, value: &'a str, column: usize) -> Option<Cow<'a, str>> {
        let quote = value.bytes().next().filter(|first| b"\"'".contains(first));
        let is_open = |line: &str| match quote {
            Some(quote) => is_open(line.as_bytes(), quote),
            None => Some(true),
        };
        let mut goes_on = is_open(value.get(usize::from(quote.is_some())..)?)?;
        let mut whole = Cow::Borrowed(value);
        while let Some((_, rest)) = self.next().filter(|(at, _)| goes_on && *at > column) {
            // Its blanks at the end are none of the text.
            if whole.ends_with(' ') || is_item(rest) {
                return None;
            }
            let whole = whole.to_mut();
            whole.push(' ');
            whole.push_str(rest);
            goes_on = is_open(rest)?;
            self.at += 1;
        }
        (quote.is_none() || !goes_on).then_some(whole)
    }

    fn literal(&mut self, json: &[u8]) -> Option<()> {
        self.out.extend_from_slice(json);
        Some(())
    }

    fn text(&mut self, text: &str) -> Option<()> {
        serde_json::to_writer(&mut self.out, text).ok()
    }

    /// Lines as they are, with one line break at the end or none.
    fn block_text(&mut self, breaks: bool, column: usize) -> Option<()> {
        let (inner, _) = self.next().filter(|(inner, _)| *inner > column)?;
        let mut text = String::new();
        while let Some((at, line)) = self.lines.get(self.at) {
            let empty = line.trim_start_matches(' ').is_empty();
            if !empty && *at <= column {
                break;
            }
            if !empty && *at < inner {
                return None;
            }
            text.push_str(line.get(inner..).unwrap_or(""));
            text.push('\n');
            self.at += 1;
        }
        let kept = text.trim_end_matches('\n').len();
        let plain = |letter: char| letter == '\n' || letter == '\t' || is_plain(letter);
        (kept > 0 && text.chars().all(plain)).then_some(())?;
        text.truncate(kept);
        if breaks {
            text.push('\n');
        }
        self.text(&text)
    }

    fn scalar(&mut self, value: &str) -> Option<()> {
        let printable = value.chars().all(is_plain) && !value.ends_with(' ');
        match value.as_bytes() {
            _ if !printable => None,
            b"{}" | b"[]" | b"true" | b"false" | b"null" => self.literal(value.as_bytes()),
            [b'"', inner @ .., b'"'] => {
                is_json_text(inner).then(|| self.out.extend_from_slice(value.as_bytes()))
            }
            [b'\'', .., b'\''] if value.len() > 1 => {
                let inner = &value[1..value.len() - 1];
                let doubled = inner.replace("''", "");
                if doubled.contains('\'') {
                    return None;
                }
                self.text(&inner.replace("''", "'"))
            }
            _ if is_integer(value) => self.literal(value.as_bytes()),
            _ if is_text(value) => self.text(value),
            _ => None,
        }
    }
}

/// Whether a text in such quotes goes on behind a line of it; none where it ends before the line does.
fn is_open(line: &[u8], quote: u8) -> Option<bool> {
    let mut bytes = line.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        let is_doubled = quote == b'\'' && line[at..].starts_with(b"''");
        if is_doubled || (quote == b'"' && *byte == b'\\') {
            bytes.next();
        } else if *byte == quote {
            return (at + 1 == line.len()).then_some(false);
        }
    }
    Some(true)
}

fn is_plain(letter: char) -> bool {
    letter == ' ' || letter.is_ascii_graphic() || letter.is_alphanumeric()
}

fn is_item(rest: &str) -> bool {
    rest.starts_with("- ")
}

/// A key and what is behind its colon.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = match line.split_once(": ") {
        Some((key, value)) => (key, value.trim_start_matches(' ')),
        None => (line.strip_suffix(':')?, ""),
    };
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    let first = *key.as_bytes().first()?;
    let plain = key.bytes().all(letter) && (first.is_ascii_alphanumeric() || first == b'_');
    (plain && !is_other(key)).then_some((key, value))
}

/// Whether what is between double quotes is the same text in JSON.
fn is_json_text(inner: &[u8]) -> bool {
    let mut bytes = inner.iter();
    while let Some(byte) = bytes.next() {
        let same = match byte {
            b'\\' => matches!(bytes.next(), Some(b'"' | b'\\' | b'n' | b't')),
            byte => *byte != b'"',
        };
        if !same {
            return false;
        }
    }
    true
}

fn is_integer(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let usual = digits == "0" && value == "0" || !digits.starts_with('0');
    usual && (1..16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Words that are no text, or were none in an older edition of YAML.
const OTHERS: [&str; 15] = [
    "y",
    "yes",
    "n",
    "no",
    "on",
    "off",
    "true",
    "false",
    "null",
    "inf",
    "infinity",
    "nan",
    "-inf",
    "-infinity",
    "-nan",
];

fn is_other(word: &str) -> bool {
    OTHERS.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Whether an unquoted scalar is a text, and no number, truth or absence in any edition of YAML.
fn is_text(value: &str) -> bool {
    let bytes = value.as_bytes();
    let begins = match bytes {
        [first, ..] if first.is_ascii_alphabetic() || b"/_$".contains(first) => true,
        [b'-', second, ..] => *second == b'-' || second.is_ascii_alphabetic(),
        [first, ..] if first.is_ascii_digit() => is_no_number(bytes),
        _ => false,
    };
    let whole = !value.contains(": ") && !value.contains(" #") && !value.ends_with(':');
    begins && whole && !is_other(value)
}

/// Whether what begins with a digit holds what no number and no time of any edition has: other letters, a slash, a comma, several
/// dots between digits, or the dashes of an id. A digest is no number by its letters, but where it begins as one of base 16.
fn is_no_number(bytes: &[u8]) -> bool {
    let count = |wanted: u8| bytes.iter().filter(|byte| **byte == wanted).count();
    let is_based = matches!(bytes, [b'0', b'x' | b'X' | b'o' | b'O' | b'b' | b'B', ..]);
    let of_numbers: &[u8] = if is_based {
        b"abcdefinotxz"
    } else {
        b"einotxz"
    };
    let other =
        |byte: &u8| byte.is_ascii_alphabetic() && !of_numbers.contains(&byte.to_ascii_lowercase());
    bytes.iter().any(|byte| other(byte) || b"/,".contains(byte))
        || count(b'-') > 2
        || count(b'.') > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn library(text: &str) -> Option<Value> {
        serde_saphyr::from_str(text).ok()
    }

    fn ours(text: &str) -> Option<Value> {
        json(text).map(|json| serde_json::from_slice(&json).unwrap())
    }

    #[test]
    fn what_kubectl_writes_is_read_as_the_library_reads_it() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    a/b: \"x: \\\"y\\\" # z\"\n    note: |\n      two\n\n        lines\n    last: |-\n      one\n  labels: {}\n  name: a-b\n  uid: 7a25eb81-6443-47ec-a62f-50165bffede8\nspec:\n  containers:\n  - args:\n    - --flag=1\n    - -v\n    - '3'\n    - it''s\n    image: r.example/a:1.2\n    ports:\n    - containerPort: 80\n      hostIP: 10.0.0.1\n    - containerPort: -1\n  empty: []\n  none:\n  nothing: null\n  tolerations:\n  - - deep\n    - deeper: true\nstatus:\n  phase: Running\n";
        let found = ours(text);
        assert!(found.is_some());
        assert_eq!(found, library(text));
    }

    #[test]
    fn scalars_are_the_librarys_or_left_to_it() {
        let words = "a|true|True|yes|No|on|OFF|y|null|Null|~|nan|inf|.inf|-.inf|-inf|1|-1|01|0|-0|0x1f|0o17|0b1|1_000|1.5|1e3|1.5e+06|12:30:45|2026-11-20|2026-11-20T09:00:00Z|2026-11-20t09:00:00z|10.0.0.1|10.0.0.0/16|100m|10Gi|1Ei|0.1.2|1-2|-a|--a|-|- a|:a|a:|a: b|a #b|a# b|#a|*a|&a|!a|%a|@a|`a|{a|[a|a]|<a>|=|<<|?|? a|'a'|'a''b'|'a'b'|\"a\"|\"a\\n\"|\"a\\x41\"|\"a\"b\"|\"|'|''|\"\"|a b|123456789012345678901|9007199254740993|1__2|1,000|$a|7622bc7e48|0b2c|0xbe|1e3b|12e4|(a)|+1|+a|/a|_a|3a|0a|1e|1d|1f|0xg|1s|1t|1z|1n|1i|1o|1x|a\tb|ä|\"ä\"";
        for word in words.split('|') {
            for text in [
                format!("k: {word}\n"),
                format!("k:\n- {word}\n"),
                format!("{word}: v\n"),
                format!("k: {word}\n  more\nl: 1\n"),
            ] {
                if let Some(found) = ours(&text) {
                    assert_eq!(Some(found), library(&text), "{text}");
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_folded_scalar_is_the_librarys_or_left_to_it(
            quote in "[\"']?",
            lines in proptest::collection::vec("[ab1\u{e4}]?[-ab1:#,'\"\\\\ ]{0,4}[ab1'\"]", 1..4),
            deep in 0..3usize,
            item in proptest::bool::ANY,
        ) {
            let between = format!("\n{}", " ".repeat(deep));
            let scalar = format!("{quote}{}{quote}", lines.join(&between));
            let text = match item {
                true => format!("key:\n- {scalar}\n- z\nend: 1\n"),
                false => format!("key: {scalar}\nend: 1\n"),
            };
            if let Some(found) = ours(&text) {
                proptest::prop_assert_eq!(Some(found), library(&text), "{}", text);
            }
        }
    }

    #[test]
    fn what_kubectl_folds_is_read_as_the_library_reads_it() {
        for text in [
            "a: one two\n  three four\n  five\nb: 1\n",
            "a: 'it''s: one\n  two'''\nb: 1\n",
            "a: \"one \\\"x\\\" \\\\\n  two\"\nb: 1\n",
            "a:\n- three\n  four\n- '5\n  6'\n- \"7\n    8\"\n",
            "a: 0,1,2\n",
            "a: pulled in 12\u{b5}s (13\u{b5}s\n  including waiting)\n",
        ] {
            let found = ours(text);
            assert!(found.is_some(), "{text}");
            assert_eq!(found, library(text));
        }
    }

    #[test]
    fn other_forms_are_left_to_the_library() {
        for text in [
            "a: >\n  folded\n",
            "a: |+\n  kept\n\n",
            "a: one\n\n  two\n",
            "a: one \n  two\n",
            "a: one\n  two: 2\n",
            "a: one\n  # two\n",
            "a: one\ntwo\n",
            "a: \"one\\\n  two\"\n",
            "a: \"one\n  two\" three\n",
            "a: 'one\n  two\n",
            "a: 'one\nb: two'\n",
            "a: {b: 1}\n",
            "a: &x 1\nb: *x\n",
            "# said\na: 1\n",
            "---\na: 1\n",
            "a: 1\n\nb: 2\n",
            "a:\n    b: 1\n  c: 2\n",
            "a:\n\tb: 1\n",
            "a: 1 \n",
            "",
            "a\n",
            "- a\n - b\n",
            "a:\n- b\n c: 1\n",
        ] {
            let found = ours(text);
            assert!(found.is_none(), "{text}: {found:?}");
        }
    }
}
