//! `--leak-rules FILE`: rule sets of secret scanners, read as data when the collector starts. The leak check then shares
//! nothing with the redaction, neither code nor lists. Two formats are understood: the TOML of gitleaks and the YAML of
//! noseyparker.

use std::collections::HashMap;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

mod formats;

use formats::Written;

/// What is said of such a place.
pub(super) const WHAT: &str = "a secret by a rule of --leak-rules";

/// The most bytes of one file.
const MAX_FILE: u64 = 4 << 20;
/// The most rules of one run.
const MAX_RULES: usize = 5_000;
/// The most memory that one expression may take, in bytes.
const MAX_EXPRESSION: usize = 4 << 20;
/// A rule is tried on so many bytes at once, cut at the end of a line: its keyword and its secret stand near each other.
const WINDOW: usize = 16 << 10;
/// A shorter find is a chance of spelling.
const SHORTEST: usize = 8;
/// A longer find is no one secret.
const LONGEST: usize = 4096;

/// Why rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// A file cannot be read.
    #[error("{}: {why}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There are too many.
    #[error("{0} rules are too many (at most {MAX_RULES})")]
    Many(usize),
}

/// One rule.
struct Rule {
    expression: Regex,
    /// The group that is the secret; the first one that took part where 0.
    group: usize,
    /// The least entropy of a secret, in bits a character.
    entropy: f64,
    /// What is no secret after all.
    allowed: Vec<Regex>,
    /// Words that no secret holds, in lower case.
    stop: Vec<String>,
}

/// The rules of all files.
pub struct Rules {
    rules: Vec<Rule>,
    /// What is no secret for any rule.
    allowed: Vec<Regex>,
    /// Finds the words of which a rule needs one.
    words: Option<AhoCorasick>,
    /// The rules that wait for each word.
    waiting: Vec<Vec<usize>>,
    /// The rules that wait for none.
    always: Vec<usize>,
    /// So many rules cannot be used here: they need what this program's expressions do not have.
    unusable: usize,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} rules, {} unusable", self.rules.len(), self.unusable)
    }
}

impl Rules {
    /// Reads rule files; `.toml` is gitleaks' format, `.yml` and `.yaml` noseyparker's.
    ///
    /// # Errors
    /// Names the file that cannot be read, is of another format, or has no rule that can be used.
    pub fn read(files: &[PathBuf]) -> Result<Self, RulesError> {
        let mut rules = Self {
            rules: Vec::new(),
            allowed: Vec::new(),
            words: None,
            waiting: Vec::new(),
            always: Vec::new(),
            unusable: 0,
        };
        let mut words: HashMap<String, Vec<usize>> = HashMap::new();
        for file in files {
            let wrong = |why: String| RulesError::File {
                file: file.clone(),
                why,
            };
            let text = text(file).map_err(wrong)?;
            let written = formats::parse(file, &text).map_err(wrong)?;
            let before = rules.rules.len();
            rules.add(written, &mut words);
            if rules.rules.len() == before {
                return Err(wrong("no rule in it can be used here".to_owned()));
            }
            if rules.rules.len() > MAX_RULES {
                return Err(RulesError::Many(rules.rules.len()));
            }
        }
        let mut words: Vec<(String, Vec<usize>)> = words.into_iter().collect();
        words.sort();
        let texts = words.iter().map(|(word, _)| word);
        rules.words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(texts)
            .ok()
            .filter(|_| !words.is_empty());
        rules.waiting = words.into_iter().map(|(_, rules)| rules).collect();
        Ok(rules)
    }

    fn add(&mut self, written: Written, words: &mut HashMap<String, Vec<usize>>) {
        let compiled = |texts: &[String]| texts.iter().filter_map(|text| compile(text)).collect();
        self.allowed
            .extend::<Vec<Regex>>(compiled(&written.allowed));
        for one in written.rules {
            let Some(expression) = compile(&one.expression) else {
                self.unusable += 1;
                continue;
            };
            let at = self.rules.len();
            let keywords = one.keywords.iter().filter(|word| !word.is_empty());
            let mut waits = false;
            for word in keywords {
                waits = true;
                words.entry(word.to_ascii_lowercase()).or_default().push(at);
            }
            if !waits {
                self.always.push(at);
            }
            self.rules.push(Rule {
                expression,
                group: one.group,
                entropy: one.entropy,
                allowed: compiled(&one.allowed),
                stop: one.stop.iter().map(|word| word.to_lowercase()).collect(),
            });
        }
    }

    /// How many rules there are, and how many cannot be used.
    pub fn counts(&self) -> (usize, usize) {
        (self.rules.len(), self.unusable)
    }

    /// What the rules find, in order.
    pub(super) fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut from = 0;
        while from < bytes.len() {
            let to = window(bytes, from);
            self.find_in(bytes, from..to, &mut found);
            from = to;
        }
        super::apart(found)
    }

    fn find_in(&self, bytes: &[u8], window: Range<usize>, found: &mut Vec<Range<usize>>) {
        let text = &bytes[window.clone()];
        let mut wanted = vec![false; self.rules.len()];
        self.always.iter().for_each(|rule| wanted[*rule] = true);
        if let Some(words) = &self.words {
            for hit in words.find_overlapping_iter(text) {
                let rules = &self.waiting[hit.pattern().as_usize()];
                rules.iter().for_each(|rule| wanted[*rule] = true);
            }
        }
        let rules = self.rules.iter().zip(wanted);
        for rule in rules.filter_map(|(rule, wanted)| wanted.then_some(rule)) {
            for captures in rule.expression.captures_iter(text) {
                let Some(secret) = rule.secret(&captures) else {
                    continue;
                };
                let line = captures.get(0).map_or(0..0, |whole| whole.range());
                if let Some(secret) = self.counts_as_secret(rule, text, &line, secret) {
                    found.push(secret.start + window.start..secret.end + window.start);
                }
            }
        }
    }

    /// The part of a find that is a secret: without quotes, so that a document stays one, and no placeholder.
    fn counts_as_secret(
        &self,
        rule: &Rule,
        text: &[u8],
        whole: &Range<usize>,
        find: Range<usize>,
    ) -> Option<Range<usize>> {
        let part = &text[find.clone()];
        let length = part
            .iter()
            .position(|byte| b"\"'\\\n\r<>".contains(byte))
            .unwrap_or(part.len());
        let part = &part[..length];
        if !(SHORTEST..=LONGEST).contains(&length) || in_placeholder(text, find.start) {
            return None;
        }
        let lower = String::from_utf8_lossy(part).to_lowercase();
        let mut allowed = self.allowed.iter().chain(&rule.allowed);
        let known = allowed.any(|one| one.is_match(part) || one.is_match(&text[whole.clone()]));
        let stopped = rule.stop.iter().any(|word| lower.contains(word.as_str()));
        (!known && !stopped && entropy(part) >= rule.entropy)
            .then(|| find.start..find.start + length)
    }
}

impl Rule {
    /// Where the secret of a find stands.
    fn secret(&self, captures: &regex::bytes::Captures<'_>) -> Option<Range<usize>> {
        let named = captures.get(self.group).filter(|_| self.group > 0);
        let first = || captures.iter().skip(1).flatten().next();
        let secret = named.or_else(first).or_else(|| captures.get(0))?;
        Some(secret.range())
    }
}

/// A file's text, as far as rules may be long.
fn text(file: &Path) -> Result<String, String> {
    let mut text = String::new();
    let open = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let read = open.take(MAX_FILE + 1).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_FILE {
        return Err(format!("larger than {} MiB", MAX_FILE >> 20));
    }
    Ok(text)
}

fn compile(expression: &str) -> Option<Regex> {
    // Bytes of a bundle are no UTF-8 everywhere, and Unicode's classes are large.
    RegexBuilder::new(&without_comments(expression))
        .unicode(false)
        .size_limit(MAX_EXPRESSION)
        .build()
        .ok()
}

/// An expression without `(?# words )`, which other engines pass over.
fn without_comments(expression: &str) -> String {
    let mut parts = expression.split("(?#");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest.push_str(part.split_once(')').map_or("", |(_, behind)| behind));
    }
    rest
}

/// The end of a stretch that begins here: behind a line's end, or where a line is too long behind a blank.
fn window(bytes: &[u8], from: usize) -> usize {
    let end = bytes.len().min(from + WINDOW);
    if end == bytes.len() {
        return end;
    }
    let text = &bytes[from..end];
    let cut = memchr::memrchr(b'\n', text).or_else(|| memchr::memrchr2(b' ', b',', text));
    cut.map_or(end, |at| from + at + 1)
}

/// Whether a place is within a placeholder of the redaction or of this check.
fn in_placeholder(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(80)..at];
    memchr::memrchr(b'<', before).is_some_and(|open| {
        let inside = &before[open..];
        inside.starts_with(b"<redacted") && !inside.contains(&b'>')
    })
}

/// Shannon's entropy, in bits a character.
#[expect(clippy::cast_precision_loss, reason = "lengths of at most 4096")]
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    text.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| *count as f64 / length)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(name: &str, text: &str) -> Result<Rules, RulesError> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        Rules::read(&[file])
    }

    const TOML: &str = "[[rules]]\nid = 'acme'\nregex = '''acme_([a-z0-9]{12})\\b'''\nkeywords = ['acme_']\nentropy = 2.5\n\
        [rules.allowlist]\nregexes = ['^zzz']\nstopwords = ['example']\n[allowlist]\nregexes = ['^public']\n";

    fn found(rules: &Rules, text: &str) -> Vec<String> {
        let found = rules.find(text.as_bytes());
        found
            .into_iter()
            .map(|range| text[range].to_owned())
            .collect()
    }

    #[test]
    fn a_rule_finds_its_group_where_its_keyword_stands_and_nothing_allows_it() {
        let rules = rules("a.toml", TOML).unwrap();
        let text = "x acme_q7zkp2mxv9lw y\nACME_q7zkp2mxv9lw acme_zzz7kp2mxv9l acme_publicmxv9lw acme_aaaaaaaaaaaa\n\
                    acme_1example2345 <redacted:acme_q7zkp2mxv9lw>";
        assert_eq!(found(&rules, text), ["q7zkp2mxv9lw"]);
        assert_eq!(
            found(&rules, &"a line of no interest\n".repeat(4000)),
            [""; 0]
        );
    }

    #[test]
    fn a_secret_behind_the_first_window_is_found() {
        let rules = rules("a.toml", TOML).unwrap();
        let text = format!("{}\nx acme_q7zkp2mxv9lw\n", "word ".repeat(9000));
        assert_eq!(found(&rules, &text), ["q7zkp2mxv9lw"]);
    }

    #[test]
    fn noseyparkers_rules_are_read_too() {
        let yaml = "rules:\n- name: Acme\n  id: acme.1\n  pattern: |\n    (?x)(?i)\n    acme [:=] \\s* (?# a blank or none )\n    ([a-z0-9]{12})\n";
        let rules = rules("a.yml", yaml).unwrap();
        assert_eq!(found(&rules, "Acme: q7zkp2mxv9lw"), ["q7zkp2mxv9lw"]);
    }

    #[test]
    fn files_that_are_no_rules_are_refused_by_name() {
        for (name, text, said) in [
            ("a.toml", "x = 1\n", "no rule"),
            ("a.toml", "[[", "TOML"),
            ("a.yml", "rules: 7\n", "YAML"),
            ("a.json", "{}", "neither"),
            (
                "a.toml",
                "[[rules]]\nid='a'\nregex='(?=x)'\n",
                "no rule in it can be used",
            ),
        ] {
            let error = rules(name, text).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains(name), "{error}");
        }
        assert!(Rules::read(&[PathBuf::from("/nonexistent.toml")]).is_err());
    }
}
