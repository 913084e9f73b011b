//! A stream line by line: those in which nothing is secret go out as they are, the others are looked at more closely.

use super::calm::Line;
use super::scan::Seen;
use super::unexplained::{self, Looked};
use super::{MAX_LINE, Redactor};

/// So much room stays for the next line that comes in pieces.
const ROOM: usize = 256 << 10;

impl Redactor {
    /// Takes lines, and where one is begun its beginning. In some files a NUL ends texts as well.
    pub(super) fn lines_of(&mut self, bytes: &[u8], strings: bool, out: &mut Vec<u8>) {
        let mut from = 0;
        let end = |rest: &[u8]| match strings {
            true => memchr::memchr2(b'\n', 0, rest),
            false => memchr::memchr(b'\n', rest),
        };
        while let Some(length) = end(&bytes[from..]) {
            let line = &bytes[from..from + length + 1];
            from += line.len();
            if !self.held.is_empty() {
                self.held_line(line, out);
            } else if !strings && self.lines.idle() {
                self.idle_line(line, out);
            } else {
                self.text(line, out);
            }
        }
        self.held.extend_from_slice(&bytes[from..]);
        while self.held.len() > MAX_LINE {
            let at = cut_point(&self.held);
            let behind = self.held.split_off(at);
            let piece = std::mem::replace(&mut self.held, behind);
            self.lines.line(&piece, out);
        }
    }

    /// The end of a line that is held.
    fn held_line(&mut self, end: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(end);
        let mut whole = std::mem::take(&mut self.held);
        self.text(&whole, out);
        // Its room is kept for the next one.
        if whole.capacity() <= ROOM {
            whole.clear();
            self.held = whole;
        }
    }

    /// A line that means what it would at the beginning of the stream.
    fn idle_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let kept = Line::of(line);
        if kept.is_some_and(Line::is_calm) {
            return out.extend_from_slice(line);
        }
        let seen = Seen::of(line);
        if !seen.empty() {
            return self.lines.seen_line(line, Some(seen), out);
        }
        let mut looked = Looked::default();
        let found = unexplained::found_with(line, self.lines.marker.known(), &mut looked);
        match (found, kept) {
            (Some(found), _) => self.lines.almost_quiet(line, found, out),
            (None, kept) => {
                out.extend_from_slice(line);
                if let Some(kept) = kept {
                    kept.passed(line, looked);
                }
            }
        }
    }

    /// One line, or one text that a NUL ends: the NUL is no part of it.
    fn text(&mut self, line: &[u8], out: &mut Vec<u8>) {
        match line.split_last() {
            Some((0, text)) => {
                self.lines.line(text, out);
                out.push(0);
            }
            _ => self.lines.line(line, out),
        }
    }
}

/// Where to cut a line that is too long: behind the last space or comma, so that no word is cut.
pub(super) fn cut_point(bytes: &[u8]) -> usize {
    let from = MAX_LINE / 2;
    let tail = &bytes[from..MAX_LINE];
    tail.iter()
        .rposition(|b| matches!(b, b',' | b' '))
        .map_or(MAX_LINE, |at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use crate::draws::Draws;
    use crate::{Content, Key, Redactor};

    const PARTS: [&str; 36] = [
        " ",
        " ",
        " ",
        "took",
        "ms",
        "815",
        "10.0.0.1",
        "pid=812",
        "retry 7z",
        "x 9z -pabc1",
        "s3_key=ab12cd34",
        "s4_key: 9",
        "key: 5",
        "api key 3",
        "q7ZkP2mXv9q7ZkP2mXv9",
        "q1ZkP9mXv2q3ZkP4mXv5",
        "2274a335e18222d6",
        "web-7f9c-x2x4z",
        "cGFzc3dvcmQ6IGh1bnRlcjI=",
        "aGFsbG8gd2VsdCAxMjM0NQ==",
        "%41%42",
        "[112, 97, 115, 115]",
        "sk-",
        "k10",
        "password=a1b2",
        "token-9",
        "://u:p1@h",
        "main.go:12]",
        "2026-11-20T10:15:09Z",
        "v1.0-",
        "kube-2",
        "[40404.047159]",
        "libc.so.6",
        "mysql -p1x",
        "564i_0a9_v58bn",
        "ZQK9-7RT4-XW2P-8NVH",
    ];

    fn redacted(key: &Key, text: &str) -> String {
        let mut out = Vec::new();
        let mut redactor = Redactor::new(Content::Text, key.clone());
        redactor.push(text.as_bytes(), &mut out);
        redactor.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_that_stood_there_with_other_digits_is_what_it_is_alone() {
        let (key, mut draws) = (Key::fixed(), Draws::new());
        let mut lines: Vec<String> = Vec::new();
        for _ in 0..700 {
            let line: String = (0..1 + draws.below(5)).map(|_| draws.of(&PARTS)).collect();
            for _ in 0..4 {
                let mut other = |letter: char| match letter {
                    '0'..='9' if draws.below(2) == 0 => char::from(b"0123456789"[draws.below(10)]),
                    _ => letter,
                };
                lines.push(line.chars().map(&mut other).collect::<String>() + "\n");
            }
        }
        let mut replaced = 0;
        for line in &lines {
            let here = redacted(&key, line);
            replaced += usize::from(here != *line);
            // A thread of its own knows of no other line.
            let alone = std::thread::scope(|scope| scope.spawn(|| redacted(&key, line)).join());
            assert_eq!(alone.unwrap(), here, "{line}");
        }
        assert!((500..lines.len() - 500).contains(&replaced), "{replaced}");
    }
}
