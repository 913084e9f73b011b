//! The leak check: a second look at the finished bundle, with other means than the redaction's. It searches every
//! entry, the header and the manifest for the exact secret values of this run (plain, in base64 and escaped) and for
//! forms that it takes apart by hand (`forms`), for names that were anonymised, where they are encoded, and for random
//! texts (`entropy`). With `--leak-rules` it also asks the rules of other scanners (`rules`). What it finds is replaced where it stands, or its entry is withheld
//! (`crate::output`); what is public (`public`, `names`) is left alone.

mod entropy;
mod forms;
mod names;
mod public;
mod rules;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use casefile_bundle::{Input, Limits, OpenError, Piece, PieceSink, Summary, scan};

use crate::redact::Key;
use public::Says;
pub use rules::{Rules, RulesError};
pub use search::Search;

/// Places of one entry that are named.
const MAX_NAMED: usize = 20;

/// A place where a secret stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leak {
    /// The entry.
    pub path: String,
    /// The line within the stretch of the entry that was looked at; most entries are one stretch.
    pub line: u64,
    /// Which stretch of the entry, counted from 0.
    pub piece: u32,
    /// What it is, never the value.
    pub what: &'static str,
}

impl Leak {
    /// Whether replacing what was found would leave the rest of it.
    pub fn is_private_key(&self) -> bool {
        self.what == forms::PRIVATE_KEY
    }
}

impl std::fmt::Display for Leak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.piece {
            0 => write!(f, "{}:{}: {}", self.path, self.line, self.what),
            piece => write!(
                f,
                "{} (part {}, line {}): {}",
                self.path,
                piece + 1,
                self.line,
                self.what
            ),
        }
    }
}

/// Keeps what is secret in a Secret's value. Certificates, names, addresses and settings are not (`public`); of a file
/// the redaction finds out which parts are.
pub fn remember(key: &Key, name: &str, value: &[u8]) {
    if name.ends_with(".crt") {
        return;
    }
    let Ok(text) = std::str::from_utf8(value) else {
        key.remember(value);
        return;
    };
    let text = text.trim();
    if text.contains('\n') || text.starts_with('{') {
        remember_file(key, text);
        return;
    }
    for part in public::url_credentials(text) {
        key.remember(part.as_bytes());
    }
    if text.contains("://") || text.contains('=') && text.contains(' ') {
        // Cleaning remembers each secret that it replaces.
        let _ = crate::redact::clean_sentence(text, key);
        return;
    }
    let secret = match public::key_says(name) {
        Says::Credential => true,
        Says::Public => false,
        Says::Nothing => public::looks_random(text),
    };
    if secret {
        key.remember(text.as_bytes());
        // A line of a .pgpass file ends with the password.
        let last = text.rsplit(':').next().filter(|_| name.contains("pgpass"));
        last.into_iter()
            .for_each(|password| key.remember(password.as_bytes()));
    }
}

fn remember_file(key: &Key, text: &str) {
    let _ = crate::redact::clean_sentence(text, key);
    for line in text
        .lines()
        .filter(|line| line.len() >= 40 && !line.contains(' '))
    {
        if text.contains("PRIVATE KEY-----") && !line.contains("-----") {
            key.remember(line.as_bytes());
        }
    }
}

/// What a reading of the whole bundle came to.
pub struct Findings {
    /// Where something stands, sorted.
    pub leaks: Vec<Leak>,
    /// Finds each of them again.
    pub search: Search,
    /// Header and manifest of what was read.
    pub summary: Summary,
}

/// What of a piece is a leak unless its value turns out to be the name of an object.
struct Hit {
    at: usize,
    what: &'static str,
    value: Option<usize>,
}

/// What one piece brings.
struct Seen {
    leaks: Vec<(Leak, Option<usize>)>,
    public: BTreeSet<usize>,
}

struct Look<'a> {
    search: &'a Search,
    allowed: &'a Allowed,
}

impl PieceSink for Look<'_> {
    type Out = Seen;

    fn piece(&self, piece: &Piece<'_>) -> Option<Seen> {
        let path = piece.entry.path.as_str();
        let mut hits: Vec<Hit> = forms::find(piece.bytes)
            .into_iter()
            .chain(self.search.random(piece.bytes))
            .map(|(range, what)| Hit {
                at: range.start,
                what,
                value: None,
            })
            .collect();
        let mut public = BTreeSet::new();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        self.search.values(piece.bytes, &mut |range, value| {
            if names::is_object_name(piece.bytes, range.start, range.end) {
                public.insert(value);
            }
            let count = counts.entry(value).or_default();
            *count += 1;
            if *count <= MAX_NAMED {
                hits.push(Hit {
                    at: range.start,
                    what: self.search.what(value),
                    value: Some(value),
                });
            }
        });
        if piece.seq == 0 {
            self.in_path(path, &mut hits, &mut public);
        }
        let leaks = self.leaks(piece, hits);
        (!leaks.is_empty() || !public.is_empty()).then_some(Seen { leaks, public })
    }
}

impl Look<'_> {
    /// Secrets in an entry's name; a whole segment that is an object's name is public.
    fn in_path(&self, path: &str, hits: &mut Vec<Hit>, public: &mut BTreeSet<usize>) {
        const WHAT: &str = "a secret in the entry's name";
        let form = forms::find(path.as_bytes()).first().map(|_| None);
        let mut found: Vec<Option<usize>> = form.into_iter().collect();
        self.search.values(path.as_bytes(), &mut |range, value| {
            let (before, after) = (&path[..range.start], &path[range.end..]);
            let whole = before.is_empty() || before.ends_with('/');
            if whole && (after.is_empty() || after.starts_with(['/', '.'])) {
                public.insert(value);
            }
            found.push(Some(value));
        });
        hits.extend(found.into_iter().map(|value| Hit {
            at: 0,
            what: WHAT,
            value,
        }));
    }

    fn leaks(&self, piece: &Piece<'_>, mut hits: Vec<Hit>) -> Vec<(Leak, Option<usize>)> {
        let path = piece.entry.path.as_str();
        hits.sort_by_key(|hit| hit.at);
        let (mut line, mut counted) = (1, 0);
        let mut leaks = Vec::new();
        for hit in hits {
            line += memchr::memchr_iter(b'\n', &piece.bytes[counted..hit.at]).count() as u64;
            counted = hit.at;
            if !self.allowed.has(path, piece.seq, line) {
                let leak = Leak {
                    path: path.to_owned(),
                    line,
                    piece: piece.seq,
                    what: hit.what,
                };
                leaks.push((leak, hit.value));
            }
        }
        leaks
    }
}

/// Places that may hold what they hold: `PATH` for a whole entry, `PATH:LINE` for a line as a leak names it.
#[derive(Debug, Default, Clone)]
pub struct Allowed {
    whole: BTreeSet<String>,
    lines: BTreeSet<(String, u64)>,
}

impl Allowed {
    /// From the words of the command line.
    pub fn of(places: &BTreeSet<String>) -> Self {
        let mut allowed = Self::default();
        for place in places {
            let line = place
                .rsplit_once(':')
                .and_then(|(path, line)| Some((path.to_owned(), line.parse().ok()?)));
            match line {
                Some(line) => allowed.lines.insert(line),
                None => allowed.whole.insert(place.clone()),
            };
        }
        allowed
    }

    /// Whether a line of a stretch may hold what it holds.
    pub fn has(&self, path: &str, piece: u32, line: u64) -> bool {
        self.whole.contains(path)
            || piece == 0 && !self.lines.is_empty() && self.lines.contains(&(path.to_owned(), line))
    }
}

/// Looks through a finished bundle; `allowed` are places that may hold what they hold.
pub fn check<'a>(
    bundle: impl Into<Input<'a>>,
    key: &Key,
    allowed: &BTreeSet<String>,
) -> Result<Vec<Leak>, OpenError> {
    look(bundle, key, &Allowed::of(allowed), None).map(|found| found.leaks)
}

/// As [`check`], with rules of other scanners, and with what is needed to take out what was found.
pub fn look<'a>(
    bundle: impl Into<Input<'a>>,
    key: &Key,
    allowed: &Allowed,
    rules: Option<Arc<Rules>>,
) -> Result<Findings, OpenError> {
    let mut search = Search::new(key, rules);
    let sink = Look {
        search: &search,
        allowed,
    };
    let (summary, results) = scan(bundle, &Limits::default(), &sink)?;
    let mut public = BTreeSet::new();
    let mut all = Vec::new();
    for (_, _, seen) in results {
        public.extend(seen.public);
        all.extend(seen.leaks);
    }
    let kept = |value: &Option<usize>| !value.is_some_and(|value| public.contains(&value));
    let mut leaks: Vec<Leak> = all
        .into_iter()
        .filter(|(_, value)| kept(value))
        .map(|(leak, _)| leak)
        .collect();
    leaks.sort();
    leaks.dedup();
    search.forget(public);
    Ok(Findings {
        leaks,
        search,
        summary,
    })
}

/// The bytes of what is secret in a text, in order and apart.
fn apart(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in found {
        match apart.last_mut().filter(|last| range.start < last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => apart.push(range),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"k3Xy-9vQ2mPz77";

    #[test]
    fn public_parts_of_secrets_are_not_searched_for() {
        let key = Key::from_bytes(&[7; 32]);
        remember(&key, "ca.crt", SECRET);
        remember(&key, "username", SECRET);
        remember(&key, "host", b"pg16-cluster-rw");
        remember(&key, "LLM", b"Llama-3.1-8B-Instruct");
        remember(&key, "config", b"pg16-cluster-rw.data.svc.cluster.local");
        assert!(key.seen().is_empty());
        remember(&key, "config", SECRET);
        assert_eq!(key.seen(), vec![Box::from(SECRET)]);
    }

    #[test]
    fn of_a_url_in_a_secret_the_password_alone_is_searched_for() {
        let key = Key::from_bytes(&[7; 32]);
        let password = "k3Xy9vQ2mPz77";
        let url = format!("postgresql://app:{password}@pg16-cluster-rw.data:5432/app");
        remember(&key, "uri", url.as_bytes());
        let seen = key.seen();
        assert!(seen.iter().any(|value| **value == *password.as_bytes()));
        assert!(
            !seen
                .iter()
                .any(|value| value.windows(4).any(|part| part == b"pg16"))
        );
    }

    #[test]
    fn of_a_file_in_a_secret_only_its_secrets_are_remembered() {
        let key = Key::from_bytes(&[7; 32]);
        remember(
            &key,
            "app.yaml",
            b"mode: fastest1\npassword: k3Xy-9vQ2mPz77\n",
        );
        assert_eq!(key.seen(), vec![Box::from(SECRET)]);
    }
}
