//! Programs that take a secret as a bare argument (`mysql -pX`, `curl -u me:X`), on a command line and in a list.

mod programs;

use std::ops::Range;
use std::sync::LazyLock;

use super::marker::Marker;
use super::value::harmless;
use programs::{PROGRAMS, Program};

/// The programs by the first byte of their names: most words begin otherwise.
static BY_LETTER: LazyLock<[Vec<(&str, &Program)>; 256]> = LazyLock::new(|| {
    let mut all = [const { Vec::new() }; 256];
    for program in PROGRAMS {
        for name in program.names {
            if let Some(first) = name.as_bytes().first() {
                all[usize::from(*first)].push((*name, program));
            }
        }
    }
    all
});

/// The arguments so far of one command.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    program: &'static Program,
    previous: String,
    allowed: bool,
    /// Of `htpasswd -b`: arguments that are no flags.
    words: usize,
    batch: bool,
}

impl Command {
    /// A command that begins with this word, if it is one that takes secrets.
    pub(crate) fn begin(word: &str) -> Option<Self> {
        let name = word.rsplit('/').next().unwrap_or(word);
        let alike = &BY_LETTER[usize::from(*name.as_bytes().first()?)];
        let (_, program) = alike.iter().find(|(other, _)| *other == name)?;
        Some(Self {
            program,
            previous: String::new(),
            allowed: program.only_after.is_empty(),
            words: 0,
            batch: false,
        })
    }

    /// The part of the next argument that is a secret.
    pub(crate) fn next(&mut self, word: &str) -> Option<Range<usize>> {
        let previous = std::mem::replace(&mut self.previous, word.to_owned());
        self.allowed |= self.program.only_after.contains(&word);
        let whole = 0..word.len();
        // A file of cookies is no cookie.
        let jar = matches!(previous.as_str(), "-b" | "--cookie") && !word.contains('=');
        let found = if !self.allowed || jar {
            None
        } else if self.program.separate.contains(&previous.as_str()) {
            Some(whole)
        } else if self.program.pair.contains(&previous.as_str()) {
            after_colon(word, 0)
        } else {
            self.attached(word).or_else(|| self.last_of_htpasswd(word))
        };
        found.filter(|range| {
            let value = word[range.clone()].trim_matches(['"', '\'']);
            !value.is_empty() && !harmless(value)
        })
    }

    fn attached(&self, word: &str) -> Option<Range<usize>> {
        for flag in self.program.separate {
            let rest = word.strip_prefix(flag);
            if rest.is_some_and(|rest| rest.len() > 1 && rest.starts_with('=')) {
                return Some(flag.len() + 1..word.len());
            }
        }
        if self.program.names == ["curl"]
            && let Some(at) = bundled_user(word)
        {
            return after_colon(word, at);
        }
        for flag in self.program.attached {
            if word.len() > flag.len() && word.starts_with(flag) {
                return Some(flag.len()..word.len());
            }
        }
        for flag in self.program.pair {
            let Some(rest) = word.strip_prefix(flag) else {
                continue;
            };
            let start = flag.len() + usize::from(rest.starts_with('='));
            if !rest.is_empty() && (!flag.starts_with("--") || rest.starts_with('=')) {
                return after_colon(word, start);
            }
        }
        None
    }

    fn last_of_htpasswd(&mut self, word: &str) -> Option<Range<usize>> {
        if self.program.names != ["htpasswd"] {
            return None;
        }
        if word.starts_with('-') {
            self.batch |= word.contains('b');
            return None;
        }
        self.words += 1;
        (self.batch && self.words == 3).then_some(0..word.len())
    }
}

/// `-sSu`: where the value of curl's `-u` begins behind letters that take none.
fn bundled_user(word: &str) -> Option<usize> {
    let letters = word.strip_prefix('-')?;
    let at = letters.find(|c: char| !"fgijkLlNnOqSsIiGv#".contains(c))?;
    (at > 0 && letters[at..].starts_with(['u', 'U'])).then_some(at + 2)
}

/// What stands behind `user:` or `user%`; numbers alone are user and group ids.
fn after_colon(word: &str, from: usize) -> Option<Range<usize>> {
    let at = word[from..].find([':', '%'])? + from + 1;
    let end = word.trim_end_matches(['"', '\'']).len();
    let ids = word[from..]
        .bytes()
        .all(|b| b.is_ascii_digit() || b == b':');
    (at < end && !ids).then_some(at..end)
}

/// Replaces the secrets of the commands in one line of text.
pub(crate) fn clean_line(line: &str, marker: &mut Marker) -> String {
    let mut out = String::with_capacity(line.len());
    let mut copied = 0;
    let mut command: Option<Command> = None;
    for word in words(line) {
        let text = &line[word.clone()];
        if matches!(text, "|" | ";" | "&&" | "||" | "&") {
            command = None;
            continue;
        }
        if let Some(running) = &mut command {
            if let Some(secret) = running.next(text) {
                let bare = text[secret.clone()].trim_matches(['"', '\'']);
                let start =
                    word.start + secret.start + text[secret.clone()].find(bare).unwrap_or(0);
                out.push_str(&line[copied..start]);
                out.push_str(&marker.mark("password", bare.as_bytes()));
                copied = start + bare.len();
            }
        } else {
            command = Command::begin(text.trim_start_matches(['(', '`', '$', '"', '\'', '=']));
        }
        if text.ends_with(';') {
            command = None;
        }
    }
    out.push_str(&line[copied..]);
    out
}

/// The words of a line; quotes hold a word together.
fn words(line: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                // A quote in front of a whole command does not hold it together.
                if start.is_some()
                    || line[at + 1..]
                        .find(c)
                        .is_some_and(|end| !line[at + 1..at + 1 + end].contains(" -"))
                {
                    quote = Some(c);
                }
                start.get_or_insert(at);
            }
            (None, c) if c.is_whitespace() => {
                words.extend(start.take().map(|start| start..at));
            }
            _ => {
                start.get_or_insert(at);
            }
        }
    }
    words.extend(start.map(|start| start..line.len()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    fn clean(line: &str) -> String {
        clean_line(line, &mut Marker::new(Key::fixed()))
    }

    #[test]
    fn bare_arguments_that_are_secrets_are_replaced() {
        for line in [
            "mysql -u me -phunter2 -h db",
            "/usr/bin/mysqldump -phunter2 shop",
            "curl -sS -u me:hunter2 https://x",
            "curl --user=me:hunter2 https://x",
            "sh -c 'mysql -phunter2 -e x'",
            "docker login -u me -p hunter2 nvcr.io",
            "ipmitool -H bmc -P 'hunter2' power status",
            "a | redis-cli -a hunter2 ping",
            "openssl rsa -passin pass:hunter2",
            "htpasswd -bc f me hunter2",
        ] {
            let out = clean(line);
            assert!(
                !out.contains("hunter2") && out.contains("<redacted:"),
                "{line} -> {out}"
            );
            assert_eq!(clean(&out), out);
        }
    }

    #[test]
    fn the_same_flags_of_other_programs_stay() {
        for line in [
            "journalctl -u kubelet.service -p err",
            "mkdir -p /var/lib/x && ssh -p 2222 host",
            "docker run -p 8080:80 -u 1000:1000 nginx",
            "ctr -u 0:0 run x",
            "mysql -u root -p shop",
            "openssl rsa -passin file:/etc/ssl/private/pw",
        ] {
            assert_eq!(clean(line), line);
        }
    }
}
