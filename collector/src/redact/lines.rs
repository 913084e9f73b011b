//! Redaction of text, line by line, with what the lines before mean for the next one.

use super::args::{self, Command};
use super::cut_key::{CutKey, Head};
use super::marker::Marker;
use super::pem::{self, Pem};
use super::secret_object::{SecretObjects, Taken};
use super::span::{Open, is_open_mark, word};
use super::value::{harmless, looks_random};
use super::words::{self, KeyClass};
use super::wrapped::{Step, Wrapped};
use super::{Content, audit, encoded, json, pairs, patterns, scan};

/// Lines that one YAML block or quoted value may hold back.
const MAX_OPEN_LINES: usize = 400;

/// The state between lines.
pub(super) struct Lines {
    content: Content,
    depth: usize,
    pub(super) marker: Marker,
    pem: Option<Pem>,
    open: Option<(Open, usize)>,
    named: Option<KeyClass>,
    objects: SecretObjects,
    wrapped: Wrapped,
    list: Option<ListArgs>,
    /// `- value: x`, whose name may stand in the next line.
    value_first: Option<Vec<u8>>,
    /// The first lines, until one of them shows that the stream does not begin inside a key.
    head: Option<CutKey>,
}

/// A YAML list of arguments, as far as its next item may be a secret.
struct ListArgs {
    indent: usize,
    flag: Option<KeyClass>,
    command: Option<Command>,
}

impl Lines {
    /// At the beginning of a stream.
    pub(super) fn new(content: Content, depth: usize, marker: Marker) -> Self {
        Self {
            content,
            depth,
            marker,
            pem: None,
            open: None,
            named: None,
            objects: SecretObjects::default(),
            wrapped: Wrapped::default(),
            list: None,
            value_first: None,
            head: (content == Content::Text).then(CutKey::new),
        }
    }

    /// Takes one line with its line end, if it has one.
    pub(super) fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        if let Some(mut head) = self.head.take() {
            match head.push(line, &mut self.marker) {
                Head::Held => {
                    self.head = Some(head);
                    return;
                }
                Head::Key(mark) => return out.extend_from_slice(mark.as_bytes()),
                Head::Other(lines) => lines.iter().for_each(|line| self.line(line, out)),
            }
        }
        if self.content == Content::Text && self.objects.wants(line) {
            match self.objects.push(line) {
                Taken::No => {}
                Taken::Held => return,
                Taken::Before(lines) => {
                    for earlier in lines {
                        self.ordered(&earlier, out);
                    }
                    return self.line(line, out);
                }
            }
        }
        self.ordered(line, out);
    }

    /// Hands on what was held back.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        for line in self.head.take().map(CutKey::finish).unwrap_or_default() {
            self.line(&line, out);
        }
        for line in self.objects.finish() {
            self.ordered(&line, out);
        }
        if let Some(value) = self.value_first.take() {
            self.plain(&value, out);
        }
        self.unwrap(out);
        if let Some(mut pem) = self.pem.take() {
            out.extend_from_slice(pem.close(&mut self.marker, "").as_bytes());
            self.marker.key_lines = pem::MAX_LINES;
        }
    }

    /// A value that stands before its name waits for it.
    fn ordered(&mut self, line: &[u8], out: &mut Vec<u8>) {
        if let Some(value) = self.value_first.take() {
            self.named = yaml_name(&String::from_utf8_lossy(line));
            self.plain(&value, out);
        }
        let body = line.trim_ascii_start();
        if self.content == Content::Text && body.starts_with(b"- value: ") && self.open.is_none() {
            self.value_first = Some(line.to_vec());
            return;
        }
        self.plain(line, out);
    }

    /// Whether the next line means what it would at the beginning of the stream.
    pub(super) fn idle(&self) -> bool {
        self.head.is_none()
            && self.quiet()
            && self.value_first.is_none()
            && self.objects.nothing_held()
    }

    fn quiet(&self) -> bool {
        self.pem.is_none()
            && self.open.is_none()
            && self.named.is_none()
            && self.list.is_none()
            && self.wrapped.is_empty()
            && self.marker.key_lines == 0
    }

    fn plain(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let quiet = self.quiet();
        if quiet
            && self.content == Content::JsonLines
            && let Ok(text) = std::str::from_utf8(line)
            && let Some(cleaned) = json::clean(text, self.depth, &mut self.marker)
        {
            out.extend_from_slice(cleaned.as_bytes());
            return;
        }
        if quiet && scan::hints(line).none() && !encoded::possible(line) {
            out.extend_from_slice(line);
            return;
        }
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let end = &line[body.len()..];
        // Bytes that are no UTF-8 are replaced in this line alone; quiet lines keep theirs.
        let text = String::from_utf8_lossy(body);
        if let Some(pem) = &mut self.pem {
            if let Some(done) = pem.push(&text, &mut self.marker) {
                self.pem = None;
                out.extend_from_slice(done.as_bytes());
            }
            return;
        }
        if let Some(cleaned) = self.continued(&text) {
            out.extend_from_slice(cleaned.as_bytes());
            out.extend_from_slice(end);
            return;
        }
        if self.content == Content::Text {
            match self.wrapped.push(&text, end) {
                Step::Held => return,
                Step::Complete => return self.unwrap(out),
                Step::Other => self.unwrap(out),
            }
        }
        if let Some(cleaned) = self.fresh(&text) {
            out.extend_from_slice(cleaned.as_bytes());
            out.extend_from_slice(end);
        }
    }

    /// Hands on base64 over several lines.
    fn unwrap(&mut self, out: &mut Vec<u8>) {
        if let Some(lines) = self.wrapped.finish(self.depth, &mut self.marker) {
            out.extend_from_slice(lines.as_bytes());
        }
    }

    /// A line that belongs to a value begun before.
    fn continued(&mut self, text: &str) -> Option<String> {
        let (open, lines) = self.open.take()?;
        let indent = text.len() - text.trim_start().len();
        let blank = text.trim().is_empty();
        let keep = |this: &mut Self, open: Open| {
            if lines < MAX_OPEN_LINES || matches!(open, Open::Values(..)) {
                this.open = Some((open, lines + 1));
            }
        };
        match open {
            Open::Items(above, class) => self.below(text, above, class, lines),
            Open::Word(class) => {
                let start = text.len() - text.trim_start().trim_start_matches(": ").len();
                let length = word(&text[start..]);
                let value = &text[start..start + length];
                let bare = value.trim_matches(['"', '\'']);
                if harmless(bare) || bare.starts_with('-') {
                    return None;
                }
                let mark = self.marker.mark(class, bare.as_bytes());
                Some(text.replacen(bare, &mark, 1))
            }
            Open::Deeper(above, class) => {
                if !blank && indent <= above {
                    return None;
                }
                keep(self, Open::Deeper(above, class));
                Some(self.whole(text, class))
            }
            Open::Values(above, class) => {
                if !blank && indent <= above {
                    return None;
                }
                keep(self, Open::Values(above, class));
                Some(self.value_alone(text, class))
            }
            Open::Until(mark, class) => match text.find(mark) {
                Some(at) => {
                    let secret = self.whole(&text[..at], class);
                    Some(format!("{secret}{}", &text[at..]))
                }
                None => {
                    keep(self, Open::Until(mark, class));
                    Some(self.whole(text, class))
                }
            },
        }
    }

    /// A line that is secret from its first letter to its last.
    fn whole(&mut self, text: &str, class: &'static str) -> String {
        let body = text.trim();
        if body.is_empty() || harmless(body) {
            return text.to_owned();
        }
        let indent = text.len() - text.trim_start().len();
        let mark = self.marker.mark(class, body.as_bytes());
        format!("{}{mark}", &text[..indent])
    }

    /// A line of a Secret's data: the name stays, the value does not.
    fn value_alone(&mut self, text: &str, class: &'static str) -> String {
        let named = text.split_once(':').filter(|(key, value)| {
            let key = key.trim_start_matches([' ', '-']).trim_matches(['"', '\'']);
            let name = !key.is_empty()
                && key
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"._-/".contains(&b));
            name && (value.is_empty() || value.starts_with(' '))
        });
        let Some((key, value)) = named else {
            return self.whole(text, class);
        };
        let bare = value.trim();
        if bare.is_empty() || bare.starts_with("<redacted:") || is_open_mark(bare) {
            return text.to_owned();
        }
        let mark = self
            .marker
            .mark(class, bare.trim_matches(['"', '\'']).as_bytes());
        format!("{key}: {mark}")
    }

    /// A line below a secret's name that has no value of its own: an item of its list, its value, or something else.
    fn below(
        &mut self,
        text: &str,
        above: usize,
        class: &'static str,
        lines: usize,
    ) -> Option<String> {
        let indent = text.len() - text.trim_start().len();
        let body = text.trim();
        if body.is_empty() && lines < MAX_OPEN_LINES {
            self.open = Some((Open::Items(above, class), lines + 1));
            return Some(text.to_owned());
        }
        let item = body.strip_prefix("- ").map(str::trim);
        let value = item.unwrap_or(body);
        let structure = value.contains(": ")
            || value.ends_with(':')
            || value.starts_with(['{', '[', '#', '-', '}', ']', '<']);
        if structure || indent < above || (item.is_none() && indent == above) {
            return None;
        }
        if lines < MAX_OPEN_LINES {
            let open = match item {
                Some(_) => Open::Items(above, class),
                None => Open::Deeper(above, class),
            };
            self.open = Some((open, lines + 1));
        }
        let plain = value.trim_matches(['"', '\'']);
        if harmless(plain) || !looks_random(plain) && class != "password" {
            self.open = self.open.take().filter(|_| item.is_some());
            return Some(text.to_owned());
        }
        let mark = self.marker.mark(class, plain.as_bytes());
        Some(text.replacen(plain, &mark, 1))
    }

    /// A line that begins anew; none while a private key is open.
    fn fresh(&mut self, text: &str) -> Option<String> {
        if text.contains('\u{1b}') && self.content == Content::Text {
            return self.coloured(text);
        }
        self.bare(text)
    }

    /// A line with a terminal's colours: they stay where nothing is secret, and go where they would stand between a
    /// name and its value.
    fn coloured(&mut self, text: &str) -> Option<String> {
        let plain = without_colours(text);
        match self.bare(&plain) {
            Some(cleaned) if cleaned == plain => self.bare(text),
            other => other,
        }
    }

    fn bare(&mut self, text: &str) -> Option<String> {
        let force = self.named.take();
        if let Some(cleaned) = self.json(text) {
            return Some(cleaned);
        }
        let (text, pem) = pem::enter(text.to_owned(), &mut self.marker);
        if pem.is_some() {
            self.pem = pem;
            return None;
        }
        // A comment between a name and its value changes nothing.
        self.named = yaml_name(&text).or(force.filter(|_| text.trim_start().starts_with('#')));
        let text = self.list_item(text);
        let hints = scan::hints(text.as_bytes());
        let mut open = None;
        let mut text = text;
        if hints.names() || force.is_some() {
            let cleaned = pairs::clean_line(&text, force, &mut self.marker);
            text = cleaned.text;
            open = cleaned.open;
        }
        if hints.programs() {
            text = args::clean_line(&text, &mut self.marker);
        }
        text = audit::clean(text, &mut self.marker);
        if encoded::possible(text.as_bytes()) {
            text = encoded::clean(text, self.depth, &mut self.marker);
        }
        text = patterns::replace(text, hints, &mut self.marker);
        self.open = self.opened(&text, open).map(|open| (open, 0));
        Some(text)
    }

    /// What the next lines are to this one.
    fn opened(&self, text: &str, found: Option<Open>) -> Option<Open> {
        if self.content == Content::Text
            && let Some(indent) = self.objects.data(text)
        {
            return Some(Open::Values(indent, "secret-data"));
        }
        found
            .or_else(|| continued_flag(text))
            .or_else(|| cut_value(text))
            .or_else(|| element(text))
            .or_else(|| explicit_key(text))
            .or_else(|| putty_key(text))
    }

    /// A line that is JSON, or ends in JSON behind a log's own prefix.
    fn json(&mut self, text: &str) -> Option<String> {
        let body = text.trim();
        let begins = body.starts_with("{\"") || body.starts_with("[\"") || body.starts_with("[{\"");
        if self.content == Content::JsonLines || (begins && body.ends_with(['}', ']', ','])) {
            return json::clean(text, self.depth, &mut self.marker);
        }
        let at = text.find("{\"").filter(|at| *at > 0)?;
        let (before, rest) = text.split_at(at);
        let rest = rest.trim_end();
        serde_json::from_str::<serde::de::IgnoredAny>(rest).ok()?;
        // What stands before it must be a prefix, not a name whose value this is.
        if !before.ends_with(' ') || scan::hints(before.as_bytes()).names() {
            return None;
        }
        let hints = scan::hints(before.as_bytes());
        let before = patterns::replace(before.to_owned(), hints, &mut self.marker);
        let rest = json::clean(rest, self.depth, &mut self.marker)?;
        Some(format!("{before}{rest}"))
    }

    /// An item of a YAML list of arguments: `- --token` and what follows it.
    fn list_item(&mut self, text: String) -> String {
        let list = self.list.take();
        let indent = text.len() - text.trim_start().len();
        let Some(item) = text.trim().strip_prefix("- ").map(str::trim) else {
            return text;
        };
        let bare = item.trim_matches(['"', '\'']);
        let mut list = list
            .filter(|list| list.indent == indent)
            .unwrap_or_else(|| ListArgs {
                indent,
                flag: None,
                command: Command::begin(bare),
            });
        let flagged = list.flag.take().map(|class| (class.name, 0..bare.len()));
        let secret = flagged
            .filter(|_| !harmless(bare) && !bare.starts_with('-'))
            .or_else(|| {
                let range = list.command.as_mut()?.next(bare)?;
                Some(("password", range))
            });
        list.flag = bare
            .strip_prefix("--")
            .filter(|flag| !flag.contains(['=', ' ']))
            .and_then(words::classify);
        if list.flag.is_some() || list.command.is_some() {
            self.list = Some(list);
        }
        match secret {
            Some((class, range)) => {
                let value = &bare[range];
                let mark = self.marker.mark(class, value.as_bytes());
                text.replacen(value, &mark, 1)
            }
            None => text,
        }
    }
}

/// A text without the sequences `ESC [ ... letter`.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 2..];
        let end = behind.find(|c: char| !(c.is_ascii_digit() || c == ';' || c == '?'));
        rest = end.map_or("", |end| {
            let letter = behind[end..].chars().next().map_or(0, char::len_utf8);
            &behind[end + letter..]
        });
    }
    out.push_str(rest);
    out
}

/// The class of `- name: DB_PASSWORD` or `<name>db.password</name>`, whose value stands in the next line.
fn yaml_name(text: &str) -> Option<KeyClass> {
    if let Some(element) = text.trim().strip_prefix('<') {
        let (tag, rest) = element.split_once('>')?;
        let rest = rest.strip_suffix('>')?;
        let name = rest.strip_suffix(tag)?.strip_suffix("</")?;
        let names = matches!(tag, "name" | "key");
        return names.then(|| words::classify(name)).flatten();
    }
    let text = text.trim_start().trim_start_matches("- ").trim_start();
    let name = text
        .strip_prefix("name:")
        .or_else(|| text.strip_prefix("\"name\":"))?;
    words::classify(name.trim().trim_end_matches(',').trim_matches(['"', '\'']))
}

/// `--password \`, whose value stands in the next line.
fn continued_flag(text: &str) -> Option<Open> {
    let before = text.trim_end().strip_suffix('\\')?.trim_end();
    let flag = before.rsplit(' ').next()?.strip_prefix("--")?;
    words::classify(flag).map(|class| Open::Word(class.name))
}

/// A secret that a backslash behind it continues in the next line.
fn cut_value(text: &str) -> Option<Open> {
    let before = text.strip_suffix(">\\")?;
    let mark = &before[before.rfind("<redacted:")?..];
    (!mark.contains('>')).then_some(Open::Word("token"))
}

/// `? password`, whose value stands behind the colon of the next line.
fn explicit_key(text: &str) -> Option<Open> {
    let name = text.trim().strip_prefix("? ")?;
    words::classify(name.trim_matches(['"', '\''])).map(|class| Open::Word(class.name))
}

/// The part of a PuTTY key that is private, up to its checksum.
fn putty_key(text: &str) -> Option<Open> {
    text.starts_with("Private-Lines:")
        .then_some(Open::Until("Private-MAC", "private-key"))
}

/// `<password>`, whose value stands in the next lines.
fn element(text: &str) -> Option<Open> {
    let tag = text.trim().strip_prefix('<')?.strip_suffix('>')?;
    let name = tag.split(' ').next()?;
    let placeholder = name.starts_with("redacted:") || name.starts_with('/');
    let class = words::classify(name).filter(|_| !placeholder)?;
    Some(Open::Until("</", class.name))
}
