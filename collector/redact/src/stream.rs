//! A stream line by line: those in which nothing is secret go out as they are, the others are looked at more closely.

use super::alike::Alike;
use super::calm::{Kept, LookedUp};
use super::scan::Seen;
use super::unexplained;
use super::{MAX_LINE, Redactor};

/// So much room stays for the next line that comes in pieces.
const ROOM: usize = 256 << 10;

impl Redactor {
    /// Takes lines, and where one is begun its beginning. In some files a NUL ends texts as well.
    pub(super) fn lines_of(&mut self, bytes: &[u8], strings: bool, out: &mut Vec<u8>) {
        let end = |rest: &[u8]| match strings {
            true => memchr::memchr2(b'\n', 0, rest),
            false => memchr::memchr(b'\n', rest),
        };
        let (mut from, mut passed) = (0, 0);
        // A line that passes leaves the stream idle.
        let mut idle = self.is_idle(strings);
        while let Some(length) = end(&bytes[from..]) {
            let line = &bytes[from..from + length + 1];
            from += line.len();
            let looked_up = match idle {
                true => Kept::line(line, self.lines.marker.known(), &mut self.lines.tally),
                false => (None, None),
            };
            if self.passes(&looked_up) {
                continue;
            }
            out.extend_from_slice(&bytes[passed..from - line.len()]);
            passed = from;
            if !self.held.is_empty() {
                self.held_line(line, out);
            } else if idle {
                self.idle_line(line, looked_up, out);
            } else {
                self.text(line, out);
            }
            idle = self.is_idle(strings);
        }
        out.extend_from_slice(&bytes[passed..from]);
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

    /// Whether the next line means what it would at the beginning of a stream of lines.
    fn is_idle(&self, strings: bool) -> bool {
        !strings && self.held.is_empty() && self.lines.idle()
    }

    /// Whether it is known of such a line that nothing in it is secret.
    fn passes(&self, (kept, alike): &LookedUp<'_>) -> bool {
        let known = self.lines.marker.known();
        kept.is_some_and(|kept| kept.passes(alike.as_deref(), known))
    }

    /// Such a line of which it is not known.
    fn idle_line<'a>(&mut self, line: &'a [u8], (kept, alike): LookedUp<'a>, out: &mut Vec<u8>) {
        let seen = Seen::of(line);
        if !seen.empty() {
            return self.lines.seen_line(line, Some(seen), out);
        }
        let alike = alike.unwrap_or_else(|| Box::new(Alike::of(line)));
        let known = self.lines.marker.known();
        let tried = kept.and_then(|kept| kept.tried(&alike, known));
        let found = || unexplained::found(&alike, known);
        if let Some(found) = tried.is_none().then(found).flatten() {
            return self.lines.almost_quiet(&alike, found, out);
        }
        out.extend_from_slice(line);
        if let Some(kept) = kept {
            kept.passed(&alike, &[], tried.as_ref());
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
    use crate::calm::ANEW;
    use crate::draws::Draws;
    use crate::{Content, Key, Redactor};

    const PARTS: [&str; 61] = [
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
        "{16}",
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
        "{u}",
        "{32}",
        "cri-containerd-{64}.scope",
        " sha256:{64} ",
        " sha256 {64} ",
        " sha512:{64} ",
        " the pod {16} ",
        " object {16} of k8s ",
        " using {32} now",
        " pod_uid={u} ",
        " containerID={32} ",
        " cannot use {u} here",
        "/var/lib/kubelet/pods/{u}/x",
        "Unauthorized 401 host:1812 s3 4",
        "(PCI:0000:3b:00): 79",
        " dev:5432:a:b:c7",
        "subnet-0f42f81bbda4269db",
        "{16}-us1",
        "x:{16}",
        "{16}-",
        "\\n{16}",
        "/{16}/",
        " md5 {32} ",
        "{32} 02 40 20 80 eth0",
        "{32} 40 {32} 00 {32} 00000400 00000003 eth0",
    ];

    fn redacted(content: Content, text: &str) -> String {
        let mut out = Vec::new();
        let mut redactor = Redactor::new(content, Key::fixed());
        redactor.push(text.as_bytes(), &mut out);
        redactor.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    /// A line with ids, and with other digits where they are not to be its own.
    fn written(line: &str, own: bool, draws: &mut Draws) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find(['{', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
            out += &rest[..at];
            rest = &rest[at..];
            match rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
                Some(("u", behind)) => {
                    let id = hex(32, draws);
                    out += &[&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-");
                    rest = behind;
                }
                Some((length, behind)) => {
                    out += &hex(length.parse().unwrap(), draws);
                    rest = behind;
                }
                None => {
                    let other = || char::from(b"0123456789"[draws.below(10)]);
                    out.push(rest.chars().next().filter(|_| own).unwrap_or_else(other));
                    rest = &rest[1..];
                }
            }
        }
        out + rest
    }

    /// Hexadecimal digits, some of which say something.
    fn hex(length: usize, draws: &mut Draws) -> String {
        let mut digits: Vec<u8> = (0..length)
            .map(|_| b"0123456789abcdef"[draws.below(16)])
            .collect();
        match draws.below(24) {
            0 => digits[..2].copy_from_slice(b"aa"),
            1 => digits[length - 2..].copy_from_slice(b"a3"),
            2 => digits[4..8].copy_from_slice(b"eaaa"),
            3 => digits[..4].copy_from_slice(b"0000"),
            4 => digits = b"6c6f6e6a6b6d6e63".repeat(length / 16),
            5 => digits.fill(b'7'),
            6 => digits.fill(b'e'),
            _ => {}
        }
        String::from_utf8(digits).unwrap()
    }

    fn record(message: &str, own: bool, draws: &mut Draws) -> String {
        let message = serde_json::to_string(message).unwrap();
        let boot = "3f9a1c7e5b08d2643f9a1c7e5b08d264";
        let (cursor, pid) = (draws.below(0xfff) + 0x1000, draws.below(800) + 100);
        let name = if own { "DB_PASSWORD" } else { "A9_KEY8" };
        format!(
            "{{\"__CURSOR\":\"s={boot};i={cursor:x};b={boot}\",\"_PID\":\"{pid}\",\
             \"env\":[{{\"name\":\"{name}\",\"valueFrom\":{{\"x\":{{\"key\":\"password\"}}}}}}],\
             \"MESSAGE\":{message}}}\n"
        )
    }

    #[test]
    fn what_is_known_again_comes_out_as_if_it_was_not() {
        for content in [Content::Text, Content::JsonLines] {
            let mut draws = Draws::new();
            let mut lines = Vec::new();
            for _ in 0..1500 {
                let line: String = (0..1 + draws.below(4)).map(|_| draws.of(&PARTS)).collect();
                // With its own digits it tells, or explains, the most: after others, or before them.
                let first = draws.below(2);
                for count in 0..7 {
                    let own = (count / 3 + first).is_multiple_of(2);
                    let line = written(&line, own, &mut draws);
                    lines.push(match content {
                        Content::Text => line + "\n",
                        Content::JsonLines => record(&line, first == 0, &mut draws),
                    });
                }
            }
            let known = redacted(content, &lines.concat());
            ANEW.set(true);
            let anew = redacted(content, &lines.concat());
            ANEW.set(false);
            let both = || known.lines().zip(anew.lines());
            for (known, anew) in both() {
                assert_eq!(known, anew);
            }
            assert_eq!(known.len(), anew.len());
            let same = lines
                .iter()
                .zip(both())
                .filter(|(line, (known, _))| line.trim_end() == *known);
            assert!((1000..lines.len() - 1000).contains(&same.count()));
        }
    }

    #[test]
    fn an_id_in_a_line_that_is_known_again_is_explained_elsewhere() {
        let id = |n: usize| {
            format!(
                "{}{n:02}",
                "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9".split_at(34).0
            )
        };
        for content in [Content::Text, Content::JsonLines] {
            let write = |text: &str| match content {
                Content::Text => format!("{text}\n"),
                Content::JsonLines => format!("{{\"MESSAGE\":\"{text}\"}}\n"),
            };
            let lines: String = (10..20)
                .map(|n| write(&format!("pod_uid={}", id(n))))
                .collect();
            let said = |n: usize| write(&format!("cannot use {} here", id(n)));
            let out = redacted(content, &format!("{lines}{}{}", said(19), said(77)));
            assert!(out.contains(&said(19)), "{out}");
            assert!(!out.contains(&id(77)), "{out}");
        }
    }
}
