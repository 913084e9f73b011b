//! Redaction of a line of JSON: string by string, so that it stays valid JSON whatever a string holds, including
//! files and other JSON inside a string.

mod strings;

use std::borrow::Cow;

use super::alike::Alike;
use super::args::Command;
use super::calm::Kept;
use super::marker::Marker;
use super::scan::{Drawn, Hints, Places};
use super::words::{KeyClass, classify};
use super::{MAX_DEPTH, clean_text, encoded, escapes, patterns, unexplained};
use strings::{
    byte_list, escape, holds_secret_object, is_word, key_line, name_behind, string_end, unescape,
};

/// Deeper nesting is copied without the knowledge of keys further out.
const MAX_NESTING: usize = 256;
/// What the data of a Secret is called.
const DATA: KeyClass = KeyClass {
    name: "secret-data",
    sure: true,
    weak: false,
};
/// What the private members of a JSON web key are called; one letter is too little to be sure of numbers.
const PRIVATE: KeyClass = KeyClass {
    name: "private-key",
    sure: false,
    weak: false,
};

/// One open `{` or `[`.
#[derive(Clone, Default)]
struct Level {
    object: bool,
    /// The class of the key whose value comes next (in an array: of the key that holds the array).
    class: Option<KeyClass>,
    /// The class of what the member `name` says, for the member `value` after it.
    named: Option<KeyClass>,
    key_is_name: bool,
    key_is_value: bool,
    key_is_flag: Option<KeyClass>,
    /// The class of the key whose value this object is, for its member `value`.
    held: Option<KeyClass>,
    /// Everything inside is the data of a Secret.
    data: bool,
    /// The key whose value comes next holds the data of a Secret.
    key_is_data: bool,
    /// A list of arguments that begins with a program that takes secrets.
    command: Option<Command>,
    begun: bool,
}

/// One line on its way.
struct Line<'a, 'm> {
    levels: Vec<Level>,
    depth: usize,
    /// A Secret stands somewhere in this line.
    secret_object: bool,
    /// A JSON web key stands somewhere in this line.
    jwk: bool,
    /// A password that Terraform made stands somewhere in this line.
    made: bool,
    marker: &'m mut Marker,
    places: Places,
    whole: &'a str,
    alike: Box<Alike<'a>>,
    /// The next thing that nothing explains, at or behind the place last asked for.
    drawn: Option<Drawn>,
    /// What was replaced, and everything in front of it.
    out: String,
    /// So much of the whole is in `out`.
    copied: usize,
}

/// A line with its secrets replaced; none when it is not JSON after all (a string does not end).
pub(crate) fn clean<'a>(line: &'a str, depth: usize, marker: &mut Marker) -> Option<Cow<'a, str>> {
    clean_kept(
        line,
        Box::new(Alike::of(line.as_bytes())),
        None,
        depth,
        marker,
    )
}

/// The same of a line that is kept where nothing in it is secret.
pub(crate) fn clean_kept<'a>(
    line: &'a str,
    alike: Box<Alike<'a>>,
    kept: Option<Kept>,
    depth: usize,
    marker: &mut Marker,
) -> Option<Cow<'a, str>> {
    let known = marker.known();
    let mut places = Places::of(&alike);
    if marker.key_lines == 0 && places.none(&alike, known) {
        if let Some(kept) = kept {
            let tried = kept.tried(&alike, known);
            kept.passed(&alike, places.hits(), tried.as_ref());
        }
        return Some(Cow::Borrowed(line));
    }
    // Each of these texts holds something that was searched for.
    let all = places.all();
    let mut state = Line {
        levels: vec![Level::default()],
        depth,
        secret_object: (all.names() || all.others()) && holds_secret_object(line),
        jwk: all.others() && (line.contains("\"kty\"") || line.contains("\"modulus\"")),
        made: all.names() && line.contains("\"random_password\""),
        marker,
        places,
        whole: line,
        alike,
        drawn: None,
        out: String::new(),
        copied: 0,
    };
    let mut at = 0;
    while let Some(found) = line.as_bytes()[at..]
        .iter()
        .position(|b| STRUCTURE[usize::from(*b)])
    {
        state.bare(at, at + found);
        at += found;
        match line.as_bytes()[at] {
            b'"' => {
                let start = at + 1;
                let end = start + string_end(&line[start..])?;
                let is_key = state.levels.last().is_some_and(|level| level.object)
                    && match line.as_bytes().get(end + 1) {
                        Some(b':') => true,
                        Some(b',' | b'}' | b']') => false,
                        _ => line[end + 1..].trim_start().starts_with(':'),
                    };
                if is_key {
                    state.key(start, end);
                } else {
                    state.string(start, end);
                }
                at = end;
            }
            b'[' => match byte_list(&line[at + 1..]) {
                Some((bytes, length)) if state.bytes(&bytes, at, at + 1 + length) => at += length,
                _ => state.open(b'['),
            },
            b'{' => state.open(b'{'),
            b'}' | b']' if state.levels.len() > 1 => {
                state.levels.pop();
            }
            b',' => state.next_member(),
            _ => {}
        }
        at += 1;
    }
    state.bare(at, line.len());
    Some(state.finish())
}

/// What means something outside strings.
static STRUCTURE: [bool; 256] = crate::table::of(b"\"{[}],");

impl<'a> Line<'a, '_> {
    fn open(&mut self, mark: u8) {
        if self.levels.len() >= MAX_NESTING {
            return;
        }
        let outer = self.levels.last();
        let class = outer.and_then(|level| level.class);
        let data = outer.is_some_and(|level| level.data || level.key_is_data);
        self.levels.push(Level {
            object: mark == b'{',
            class: class.filter(|_| mark == b'['),
            held: class.filter(|_| mark == b'{'),
            data,
            ..Level::default()
        });
    }

    fn next_member(&mut self) {
        if let Some(level) = self.levels.last_mut().filter(|level| level.object) {
            level.class = None;
            level.key_is_value = false;
            level.key_is_data = false;
        }
    }

    /// Puts something else in the place of a part of the line.
    fn replace(&mut self, start: usize, end: usize, with: &str) {
        self.out.push_str(&self.whole[self.copied..start]);
        self.out.push_str(with);
        self.copied = end;
    }

    fn finish(mut self) -> Cow<'a, str> {
        if self.copied == 0 {
            return Cow::Borrowed(self.whole);
        }
        self.out.push_str(&self.whole[self.copied..]);
        Cow::Owned(self.out)
    }

    /// Numbers, `true`, spaces: only a number under the name of a password can be a secret.
    fn bare(&mut self, from: usize, to: usize) {
        let class = self
            .levels
            .last()
            .and_then(|level| if level.data { Some(DATA) } else { level.class })
            .filter(|class| class.sure && from < to);
        let Some(class) = class else { return };
        let text = &self.whole[from..to];
        let number = text.trim_matches([' ', '\t', '\r', '\n', ':']);
        if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
            let mark = self.marker.mark(class.name, number.as_bytes());
            let start = from + text.find(number).unwrap_or(0);
            self.replace(start, start + number.len(), &format!("\"{mark}\""));
        }
    }

    /// A list of bytes; whether it was replaced.
    fn bytes(&mut self, bytes: &[u8], from: usize, to: usize) -> bool {
        let class = self.levels.last().and_then(|level| level.class);
        let cleaned = match (std::str::from_utf8(bytes), class) {
            (Err(_), None) => return false,
            (Err(_), Some(class)) => self.marker.mark(class.name, bytes),
            (Ok(_), Some(class)) if class.sure => self.marker.mark(class.name, bytes),
            (Ok(_), _) if self.depth >= MAX_DEPTH => return false,
            (Ok(text), _) => clean_text(text, self.depth + 1, self.marker),
        };
        if cleaned.as_bytes() == bytes {
            return false;
        }
        let quoted = format!("\"{}\"", escape(&cleaned));
        self.replace(from, to, &quoted);
        true
    }

    fn key(&mut self, start: usize, end: usize) {
        let hints = self.places.between(start, end);
        let raw = &self.whole[start..end];
        let Some(level) = self.levels.last_mut() else {
            return;
        };
        // `"SNMP_COMMUNITY":{"<secret>":{..}}`: where secrets are names themselves.
        let drawn = || unexplained::first(raw.as_bytes(), self.marker.known()).is_some();
        if let Some(class) = level.held.filter(|_| drawn()) {
            let mark = self.marker.mark(class.name, raw.as_bytes());
            level.class = None;
            return self.replace(start, end, &mark);
        }
        // A placeholder is no name, whatever its digits spell.
        level.class = classified(raw, hints).filter(|_| !raw.contains("<redacted:"));
        level.key_is_name = matches!(raw, "name" | "key" | "Name" | "Key");
        level.key_is_value = matches!(raw, "value" | "Value");
        if level.key_is_value {
            level.class = level.class.or(level.held);
        }
        if self.jwk && matches!(raw, "d" | "p" | "q" | "dp" | "dq" | "qi" | "k") {
            level.class = Some(PRIVATE);
        }
        if self.made && raw == "result" {
            level.class = classify("password");
        }
        level.key_is_data = self.secret_object && matches!(raw, "data" | "stringData");
        if hints.forms().next().is_some() {
            // A key is a name: only what has a form of its own can be a secret.
            let text = unescape(raw);
            let cleaned = patterns::replace(text.as_str().into(), hints, self.marker);
            if cleaned != text {
                self.replace(start, end, &escape(&cleaned));
            }
        }
    }

    fn string(&mut self, start: usize, end: usize) {
        let hints = self.places.between(start, end);
        let raw = &self.whole[start..end];
        let class = self.class_of(raw, &self.whole[end + 1..], hints);
        let secret = class.filter(|class| !class.spares(raw) && !raw.starts_with("--"));
        let nested = class.is_some() && raw.trim_start().starts_with('{');
        match secret {
            Some(class) if !nested => {
                let mark = self.marker.mark(class.name, unescape(raw).as_bytes());
                self.replace(start, end, &mark);
            }
            _ if self.argument(raw, start) => {}
            _ => self.text(start, end, hints),
        }
    }

    /// What the string is a secret of, by the names around it.
    fn class_of(&mut self, raw: &str, behind: &str, hints: Hints) -> Option<KeyClass> {
        let level = self.levels.last_mut()?;
        if level.data || level.key_is_data {
            return Some(DATA);
        }
        if level.object && level.key_is_name {
            level.named = classified(raw, hints);
            level.key_is_name = false;
        }
        let named = if level.key_is_value && level.named.is_none() {
            name_behind(behind)
        } else {
            level.named.filter(|_| level.key_is_value)
        };
        let class = level.class.or(named).or(level.key_is_flag.take());
        if !level.object {
            // `"--token","abc"` in a list of arguments.
            level.key_is_flag = raw
                .strip_prefix("--")
                .or_else(|| raw.strip_prefix('-').filter(|flag| flag.len() > 3))
                .filter(|flag| !flag.contains(['=', '<', ':']))
                .and_then(classify);
        }
        class
    }

    /// An argument of a program that takes secrets as bare arguments; whether it was written.
    fn argument(&mut self, raw: &str, start: usize) -> bool {
        let Some(level) = self.levels.last_mut().filter(|level| !level.object) else {
            return false;
        };
        if !std::mem::replace(&mut level.begun, true) {
            level.command = Command::begin(raw);
            return false;
        }
        let Some(secret) = level.command.as_mut().and_then(|command| command.next(raw)) else {
            return false;
        };
        let mark = self.marker.mark("password", raw[secret.clone()].as_bytes());
        self.replace(start + secret.start, start + secret.end, &mark);
        true
    }

    /// A string without a telling name.
    fn text(&mut self, start: usize, end: usize, hints: Hints) {
        let raw = &self.whole[start..end];
        if self.marker.key_lines > 0
            && let Some(cleaned) = key_line(raw, self.marker)
        {
            self.replace(start, end, &cleaned);
            return;
        }
        let hidden = (self.places.escaped() && escapes::first(raw.as_bytes()).is_some())
            || self.places.encoded(self.whole.as_bytes(), start, end);
        let quiet = hints.none() || (hints.forms().next().is_none() && is_word(raw));
        if (quiet && !hidden) || self.depth >= MAX_DEPTH {
            return self.unexplained(start, end);
        }
        let text = unescape(raw);
        // A single word is explained by its name alone, which stands in the line; what is encoded in it is not.
        let guesses = self.marker.guesses;
        self.marker.guesses &= !is_word(raw) || encoded::holds_text(raw);
        let cleaned = clean_text(&text, self.depth + 1, self.marker);
        self.marker.guesses = guesses;
        // Written back only where something was replaced, so that everything else keeps its own escapes.
        if cleaned == text {
            self.unexplained(start, end);
        } else {
            self.replace(start, end, &escape(&cleaned));
        }
    }

    /// What nothing explains in a string.
    fn unexplained(&mut self, start: usize, end: usize) {
        let known = self.marker.known();
        let asked = self.drawn.take().filter(|drawn| !drawn.is_before(start));
        let drawn = asked.unwrap_or_else(|| self.places.next_drawn(&self.alike, start, known));
        let first = drawn.is_before(end).then(|| drawn.still(known));
        self.drawn = Some(drawn);
        let Some(first) = first else { return };
        let part = start..end;
        let (depth, marker) = (self.depth, &mut *self.marker);
        let (alike, whole) = (&self.alike, self.whole);
        let all = unexplained::replacements(alike, whole, &part, first, depth, marker);
        for (place, with) in all {
            self.replace(place.start, place.end, &with);
        }
    }
}

/// The class of a name, as far as the search saw one there.
fn classified(raw: &str, hints: Hints) -> Option<KeyClass> {
    // A name with a blank in it is more than the words that the search looks at.
    (hints.names() || raw.contains(' '))
        .then(|| classify(raw))
        .flatten()
}

#[cfg(test)]
mod tests;
