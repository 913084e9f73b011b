//! Private keys in PEM form: the whole block becomes one placeholder, also where a log prefixes each of its lines.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::marker::Marker;

/// A block that has no end after so many lines was none; a key of 16,384 bits has about 220.
pub(crate) const MAX_LINES: u32 = 400;
/// Key material among other words is at least so long; lines of it have 64 and more.
const MIN_MATERIAL: usize = 16;
const BEGIN: &str = "---BEGIN ";
static FIND_BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("BEGIN "));
const END: &str = "---END ";
/// The same of SSH2 keys, with a blank and one dash less.
const SPACED: [&str; 2] = ["---- BEGIN ", "---- END "];
const NAMES: [&str; 2] = ["PRIVATE KEY", "OpenVPN Static key"];

/// A block that has begun and not ended.
pub(crate) struct Pem {
    /// What stood before it on its first line.
    prefix: String,
    /// `Version: ..`, `DEK-Info: ..`: lines in front of the key material, which belong to the block if some follows.
    headers: String,
    /// The lines that carried more than key material, each already cleaned.
    others: String,
    /// What the placeholder's pseudonym is made of.
    body: String,
    lines: u32,
}

/// Where a private key's first line begins within a line, and where that marker ends.
fn begins(line: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some((at, name)) = mark(line, from, BEGIN, SPACED[0]) {
        if let Some(length) = line[name..].find("----") {
            let title = &line[name..name + length];
            if NAMES.iter().any(|name| title.contains(name)) {
                return Some((at, name + length + dashes(&line[name + length..])));
            }
        }
        from = name;
    }
    None
}

/// Where a key's last line ends within a line.
fn ends(line: &str) -> Option<(usize, usize)> {
    let (at, name) = mark(line, 0, END, SPACED[1])?;
    let end = name + line[name..].find("----")?;
    Some((at, end + dashes(&line[end..])))
}

/// Where such a mark begins, with all its dashes, and where the name behind it begins.
fn mark(line: &str, from: usize, plain: &str, spaced: &str) -> Option<(usize, usize)> {
    let find = |text: &str| {
        line[from..]
            .find(text)
            .map(|at| (at + from, at + from + text.len()))
    };
    let (at, name) = match (find(plain), find(spaced)) {
        (Some(one), Some(other)) => one.min(other),
        (one, other) => one.or(other)?,
    };
    let before = line[..at].len() - line[..at].trim_end_matches('-').len();
    Some((at - before, name))
}

fn dashes(text: &str) -> usize {
    (text.len() - text.trim_start_matches('-').len()).min(5)
}

/// Replaces the keys that begin and end on this line. What is left may open one: then the rest of the line is in the
/// block and none comes back as text.
pub(crate) fn enter<'a>(line: &'a str, marker: &mut Marker) -> (Cow<'a, str>, Option<Pem>) {
    // Most lines hold neither mark.
    if FIND_BEGIN.find(line.as_bytes()).is_none() {
        return (line.into(), None);
    }
    let mut line = Cow::Borrowed(line);
    for _ in 0..1000 {
        let Some((start, inner)) = begins(&line) else {
            return (line, None);
        };
        let Some((last, end)) = ends(&line[inner..]).map(|(a, b)| (a + inner, b + inner)) else {
            let pem = Pem {
                prefix: line[..start].to_owned(),
                headers: String::new(),
                others: String::new(),
                body: line[inner..].to_owned(),
                lines: 0,
            };
            return (Cow::default(), Some(pem));
        };
        let mark = marker.mark("private-key", &line.as_bytes()[inner..last]);
        line = format!("{}{mark}{}", &line[..start], &line[end..]).into();
    }
    (line, None)
}

/// A line inside a block without what is key material in it: in a script words stand around it, as in
/// `echo "..." >> key.pem`.
fn without_material(line: &str, marker: &mut Marker) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let mut clean = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(fits) {
        let length = rest[start..].find(|c| !fits(c));
        let (run, behind) = rest[start..].split_at(length.unwrap_or(rest.len() - start));
        clean.push_str(&rest[..start]);
        let has = |kind: fn(&u8) -> bool| run.as_bytes().iter().any(kind);
        let drawn =
            has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        if run.len() >= MIN_MATERIAL && drawn {
            clean.push_str(&marker.mark("private-key", run.as_bytes()));
        } else {
            clean.push_str(run);
        }
        rest = behind;
    }
    clean.push_str(rest);
    clean
}

/// A block has no more headers.
const MAX_HEADERS: u32 = 6;

/// `Proc-Type: 4,ENCRYPTED`: a name that begins its line, and a value.
fn is_header(line: &str) -> bool {
    let name = line.split_once(": ").map_or("", |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.len() <= 16
        && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-')
}

impl Pem {
    /// Takes the next line. When the block is over, gives back what stands for it (with line ends) and the rest.
    pub(crate) fn push(&mut self, line: &str, marker: &mut Marker) -> Option<String> {
        self.lines += 1;
        if let Some((start, end)) = ends(line) {
            let before = &line[..start];
            // A log's own prefix in front of the last line: that line was more than the key.
            if !self.others.is_empty() && !before.trim().is_empty() {
                self.others.push_str(line);
                self.others.push('\n');
                return Some(self.close(marker, ""));
            }
            return Some(self.close(marker, &line[end..]));
        }
        let token = line
            .trim_end()
            .rsplit([' ', '\t', '"', '\'', ',', '\\'])
            .find(|part| part.len() > 1)
            .unwrap_or("");
        let material = !token.is_empty()
            && token
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
        if line.trim() == token && material {
            self.headers.clear();
            self.body.push_str(token);
        } else if self.lines <= MAX_HEADERS && self.others.is_empty() && is_header(line) {
            self.headers.push_str(&without_material(line, marker));
            self.headers.push('\n');
        } else if material && token.len() >= 4 {
            let mark = marker.mark("private-key", token.as_bytes());
            self.others.push_str(&line.replace(token, &mark));
            self.others.push('\n');
        } else if !line.trim().is_empty() {
            self.others.push_str(&without_material(line, marker));
            self.others.push('\n');
        }
        (self.lines >= MAX_LINES).then(|| self.close(marker, ""))
    }

    /// What stands for the block, its line end included.
    pub(crate) fn close(&mut self, marker: &mut Marker, suffix: &str) -> String {
        let mark = marker.mark("private-key", self.body.as_bytes());
        let (prefix, headers, others) = (&self.prefix, &self.headers, &self.others);
        format!("{prefix}{mark}{suffix}\n{headers}{others}")
    }
}
