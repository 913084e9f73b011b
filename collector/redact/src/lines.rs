//! Redaction of text, line by line, with what the lines before mean for the next one.

mod cri;
mod list;
mod open;
mod starts;

use std::borrow::Cow;

use super::alike::Alike;
use super::args;
use super::calm::{Kept, Tally};
use super::cut_key::{CutKey, Head};
use super::marker::Marker;
use super::pem::{self, Pem};
use super::scan::{Hits, Seen};
use super::secret_object::{SecretObjects, Taken};
use super::span::Open;
use super::unexplained::Found;
use super::words::KeyClass;
use super::wrapped::{Step, Wrapped};
use super::{Content, audit, encoded, escapes, json, pairs, patterns, scan, unexplained, wrapped};
use cri::{Joined, Part, Parts};
use list::ListArgs;
use starts::{
    continued_flag, cut_value, element, explicit_key, log_prefix, putty_key, says_more,
    without_colours, yaml_name,
};

/// Lines that one YAML block or quoted value may hold back.
const MAX_OPEN_LINES: usize = 400;

/// Lines of PEM are this long at most.
const PEM_WIDTH: usize = 80;

/// The state between lines.
pub(super) struct Lines {
    content: Content,
    depth: usize,
    pub(super) marker: Marker,
    pem: Option<Pem>,
    open: Option<(Open, usize)>,
    /// The line that opened it had a log's own prefix.
    logged: bool,
    named: Option<KeyClass>,
    objects: SecretObjects,
    wrapped: Wrapped,
    list: Option<ListArgs>,
    parts: Parts,
    /// So many lines may still belong to a certificate or another public thing in PEM form.
    public: u32,
    /// The lines before that were base64 of one width.
    block: wrapped::Block,
    /// `- value: x`, whose name may stand in the next line.
    value_first: Option<Vec<u8>>,
    /// How often lines were known again.
    pub(super) tally: Tally,
    /// The first lines, until one of them shows that the stream does not begin inside a key.
    head: Option<CutKey>,
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
            logged: false,
            named: None,
            objects: SecretObjects::default(),
            wrapped: Wrapped::default(),
            list: None,
            parts: Parts::default(),
            public: 0,
            block: wrapped::Block::default(),
            value_first: None,
            tally: Tally::default(),
            head: (content == Content::Text).then(CutKey::new),
        }
    }

    /// Takes one line with its line end, if it has one.
    pub(super) fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        self.seen_line(line, None, out);
    }

    /// Takes a line of which is known what it may hold.
    pub(super) fn seen_line(&mut self, line: &[u8], seen: Option<Seen>, out: &mut Vec<u8>) {
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
        if self.content == Content::Text {
            match self.parts.push(line) {
                Part::Other => {}
                Part::Held => return,
                Part::Joined(joined) => return self.joined(&joined, out),
            }
        }
        if self.content == Content::Text && self.objects.wants(line) {
            match self.objects.push(line) {
                Taken::No => {}
                Taken::Held => return,
                Taken::Before(lines) => {
                    for earlier in lines {
                        self.ordered(&earlier, None, out);
                    }
                    return self.line(line, out);
                }
            }
        }
        self.ordered(line, seen, out);
    }

    /// Parts of a line, as they came where nothing in the whole is secret.
    fn joined(&mut self, joined: &Joined, out: &mut Vec<u8>) {
        let from = out.len();
        self.ordered(&joined.line, None, out);
        if let Some(raw) = joined.raw.as_ref().filter(|_| out[from..] == joined.line) {
            out.truncate(from);
            out.extend_from_slice(raw);
        }
    }

    /// Hands on what was held back.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        for line in self.head.take().map(CutKey::finish).unwrap_or_default() {
            self.line(&line, out);
        }
        for line in self.objects.finish() {
            self.ordered(&line, None, out);
        }
        for joined in self.parts.finish() {
            self.joined(&joined, out);
        }
        if let Some(value) = self.value_first.take() {
            self.plain(&value, None, out);
        }
        self.unwrap(out);
        if let Some(mut pem) = self.pem.take() {
            out.extend_from_slice(pem.close(&mut self.marker, "").as_bytes());
            self.marker.key_lines = pem::MAX_LINES;
        }
    }

    /// A value that stands before its name waits for it.
    fn ordered(&mut self, line: &[u8], seen: Option<Seen>, out: &mut Vec<u8>) {
        if let Some(value) = self.value_first.take() {
            self.named = yaml_name(&String::from_utf8_lossy(line));
            self.plain(&value, None, out);
        }
        let body = line.trim_ascii_start();
        if self.content == Content::Text && body.starts_with(b"- value: ") && self.open.is_none() {
            self.value_first = Some(line.to_vec());
            return;
        }
        self.plain(line, seen, out);
    }

    /// Whether the next line of text means what it would at the beginning of the stream.
    pub(super) fn idle(&self) -> bool {
        self.content == Content::Text
            && self.head.is_none()
            && self.quiet()
            && self.value_first.is_none()
            && self.objects.nothing_held()
            && self.parts.is_empty()
    }

    fn quiet(&self) -> bool {
        self.pem.is_none()
            && self.open.is_none()
            && self.named.is_none()
            && self.list.is_none()
            && self.public == 0
            && self.wrapped.is_empty()
            && self.marker.key_lines == 0
    }

    fn plain(&mut self, line: &[u8], seen: Option<Seen>, out: &mut Vec<u8>) {
        let quiet = self.quiet();
        if quiet && self.content == Content::JsonLines {
            let known = self.marker.known();
            let (kept, alike) = Kept::line(line, known, &mut self.tally);
            if kept.is_some_and(|kept| kept.passes(alike.as_deref(), known)) {
                return out.extend_from_slice(line);
            }
            let (depth, marker) = (self.depth, &mut self.marker);
            let text = std::str::from_utf8(line).ok();
            let alike = alike.unwrap_or_else(|| Box::new(Alike::of(line)));
            let cleaned = text.and_then(|text| json::clean_kept(text, alike, kept, depth, marker));
            if let Some(cleaned) = cleaned {
                return out.extend_from_slice(cleaned.as_bytes());
            }
        }
        let seen = quiet.then(|| seen.unwrap_or_else(|| Seen::of(line)));
        if seen.as_ref().is_some_and(Seen::nothing) {
            let alike = Alike::of(line);
            return match unexplained::found(&alike, self.marker.known()) {
                Some(found) => self.almost_quiet(&alike, found, out),
                None => out.extend_from_slice(line),
            };
        }
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let end = &line[body.len()..];
        // Bytes that are no UTF-8 are replaced in this line alone; quiet lines keep theirs.
        let text = match std::str::from_utf8(body) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(body),
        };
        if let Some(pem) = &mut self.pem {
            if let Some(done) = pem.push(&text, &mut self.marker) {
                self.pem = None;
                out.extend_from_slice(done.as_bytes());
            }
            return;
        }
        let prefix = match self.open {
            Some(_) => log_prefix(&text),
            None => 0,
        };
        if prefix > 0 && !self.logged {
            // A log goes on: what a line without a prefix opened was no value.
            self.open = None;
        }
        if let Some(cleaned) = self.continued(&text[prefix..]) {
            out.extend_from_slice(&text.as_bytes()[..prefix]);
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
        // Places are those of the line where all of it is text.
        let seen = seen.filter(|_| matches!(text, Cow::Borrowed(_)));
        let hits = seen.as_ref().map(|seen| &seen.hits);
        if let Some(cleaned) = self.fresh(&text, hits) {
            out.extend_from_slice(cleaned.as_bytes());
            out.extend_from_slice(end);
        }
    }

    /// A line in which only words stand that nothing explains, where nothing is open.
    pub(super) fn almost_quiet(&mut self, line: &Alike<'_>, first: Found, out: &mut Vec<u8>) {
        let text = std::str::from_utf8(line.text).ok();
        let text = text.filter(|text| !self.block.goes_on(text));
        let cleaned = text.and_then(|text| {
            unexplained::clean_from(line, text, first, self.depth, &mut self.marker)
        });
        out.extend_from_slice(cleaned.as_deref().map_or(line.text, str::as_bytes));
    }

    /// Whether a line belongs to a certificate or another public thing in PEM form.
    fn in_public_block(&mut self, text: &str) -> bool {
        if self.public == 0 && memchr::memmem::find(text.as_bytes(), b"-----").is_none() {
            return false;
        }
        if let Some(at) = text.rfind("-----BEGIN ") {
            let private = text[at..].contains("PRIVATE");
            let ended = text[at..].contains("-----END ");
            self.public = if private || ended { 0 } else { pem::MAX_LINES };
        } else if self.public > 0 {
            let ended = text.contains("-----END ");
            self.public = if ended { 0 } else { self.public - 1 };
            let last = text.split_ascii_whitespace().next_back().unwrap_or("");
            return last.len() <= PEM_WIDTH;
        }
        false
    }

    /// Hands on base64 over several lines.
    fn unwrap(&mut self, out: &mut Vec<u8>) {
        if let Some(lines) = self.wrapped.finish(self.depth, &mut self.marker) {
            out.extend_from_slice(lines.as_bytes());
        }
    }

    /// A line that begins anew; none while a private key is open.
    fn fresh<'a>(&mut self, text: &'a str, hits: Option<&Hits>) -> Option<Cow<'a, str>> {
        if text.contains('\u{1b}') && self.content == Content::Text {
            return self.coloured(text);
        }
        self.bare(text, hits)
    }

    /// A line with a terminal's colours: they stay where nothing is secret, and go where they would stand between a
    /// name and its value.
    fn coloured<'a>(&mut self, text: &'a str) -> Option<Cow<'a, str>> {
        let plain = without_colours(text);
        match self.bare(&plain, None) {
            Some(cleaned) if cleaned == plain => self.bare(text, None),
            other => other.map(|cleaned| cleaned.into_owned().into()),
        }
    }

    fn bare<'a>(&mut self, line: &'a str, hits: Option<&Hits>) -> Option<Cow<'a, str>> {
        let force = self.named.take();
        if let Some(cleaned) = self.json(line) {
            return Some(cleaned.into());
        }
        let (entered, pem) = pem::enter(line, &mut self.marker);
        if pem.is_some() {
            self.pem = pem;
            return None;
        }
        let (prefix, text) = entered.split_at(log_prefix(&entered));
        self.logged = !prefix.is_empty();
        // A comment between a name and its value changes nothing.
        self.named = yaml_name(text).or(force.filter(|_| says_more(text)));
        let text = self.list_item(text);
        let hints = match hits {
            Some(hits) if line.get(prefix.len()..) == Some(&*text) => {
                hits.behind(prefix.len(), text.as_bytes())
            }
            _ => scan::hints(text.as_bytes()),
        };
        debug_assert_eq!(hints, scan::hints(text.as_bytes()));
        let mut open = None;
        let mut text = text;
        if hints.names() || force.is_some() {
            let cleaned = pairs::clean_line(&text, force, &mut self.marker);
            text = cleaned.text.into();
            open = cleaned.open;
        }
        if hints.programs() {
            text = args::clean_line(&text, &mut self.marker).into();
        }
        text = audit::clean(text, &mut self.marker);
        text = escapes::clean(text, self.depth, &mut self.marker);
        text = encoded::clean(text, self.depth, &mut self.marker);
        text = patterns::replace(text, hints, &mut self.marker);
        if !self.in_public_block(&text) && !self.block.goes_on(&text) {
            text = unexplained::clean(text, self.depth, &mut self.marker);
        }
        self.open = self.opened(&text, open).map(|open| (open, 0));
        let as_it_was = matches!((&entered, &text), (Cow::Borrowed(_), Cow::Borrowed(_)));
        Some(match as_it_was {
            true => line.into(),
            false => [prefix, &text].concat().into(),
        })
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
            return json::clean(text, self.depth, &mut self.marker).map(Cow::into_owned);
        }
        let begins = |at: &usize| text[*at..].starts_with("{\"");
        let at = memchr::memchr_iter(b'{', text.as_bytes())
            .find(begins)
            .filter(|at| *at > 0)?;
        let (before, rest) = text.split_at(at);
        let rest = rest.trim_end();
        serde_json::from_str::<serde::de::IgnoredAny>(rest).ok()?;
        // What stands before it must be a prefix, not a name whose value this is.
        if !before.ends_with(' ') || scan::hints(before.as_bytes()).names() {
            return None;
        }
        let hints = scan::hints(before.as_bytes());
        let before = patterns::replace(before.into(), hints, &mut self.marker);
        let rest = json::clean(rest, self.depth, &mut self.marker)?;
        Some(format!("{before}{rest}"))
    }
}
