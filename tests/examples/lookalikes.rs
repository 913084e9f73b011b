//! What the redaction takes out of real captures: lines of every kind that folders hold, and how many of them change.
//!
//! `cargo run --release -p casefile-tests --example lookalikes -- FOLDER... [--unseen] [--changed]`
//!
//! Every text below the folders is redacted as a whole. Lines are of one kind where they differ in digits, hexadecimal
//! digits and long words only; of each kind at most three are counted. Files belong to two halves by a hash of their
//! path; `--changed` names what changed in the seen half, which is the one that redaction is mended against.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints its figures and stops at what it does not expect"
)]

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use casefile_collector::redact::{Content, Key, Redactor};
use sha2::{Digest as _, Sha256};

/// Lines of one kind that are counted.
const OF_A_KIND: usize = 3;
const LARGEST: u64 = 8 << 20;

fn main() {
    let (options, folders): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    let unseen = options.iter().any(|word| word == "--unseen");
    let show = !unseen && options.iter().any(|word| word == "--changed");
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut changed: BTreeMap<String, usize> = BTreeMap::new();
    let (mut lines, mut lost) = (0, 0);
    for folder in &folders {
        for path in files(Path::new(folder)) {
            let odd = Sha256::digest(path.as_bytes())[0] % 2 == 1;
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            if odd != unseen {
                continue;
            }
            let out = redact(&text, &path);
            let left: HashSet<&str> = out.lines().collect();
            for line in text.lines().filter(|line| line.len() > 8) {
                let count = kinds.entry(kind(line)).or_default();
                *count += 1;
                if *count > OF_A_KIND {
                    continue;
                }
                lines += 1;
                if !left.contains(line) {
                    lost += 1;
                    if show {
                        let place = difference(line, &out);
                        println!("changed\t{path}\t{place}");
                    }
                    for class in classes(line, &out) {
                        *changed.entry(class).or_default() += 1;
                    }
                }
            }
        }
    }
    println!("{lost} of {lines} lines of {} kinds change", kinds.len());
    for (class, count) in changed {
        println!("  {count:>6} {class}");
    }
}

/// The line that an original became: the one that begins alike and holds a placeholder.
fn became<'a>(line: &str, out: &'a str) -> Option<&'a str> {
    let begin = |other: &str| {
        line.bytes()
            .zip(other.bytes())
            .take_while(|(a, b)| a == b)
            .count()
    };
    out.lines()
        .filter(|other| other.contains("<redacted:"))
        .filter(|other| other[..other.floor_char_boundary(begin(other) + 12)].contains("<red"))
        .max_by_key(|other| begin(other))
}

fn classes(line: &str, out: &str) -> Vec<String> {
    let found = became(line, out).unwrap_or("<redacted:over several lines:");
    found
        .split("<redacted:")
        .skip(1)
        .map(|rest| rest.split([':', '>']).next().unwrap_or_default().to_owned())
        .collect()
}

fn difference(line: &str, out: &str) -> String {
    let Some(other) = became(line, out) else {
        return line.chars().take(160).collect();
    };
    let at = other.find("<redacted:").unwrap_or(0);
    let at = line.floor_char_boundary(at.saturating_sub(70));
    let end = line.floor_char_boundary(at + 200);
    let after = other.floor_char_boundary(at);
    format!(
        "{}\t=> {}",
        &line[at..end],
        other[after..].chars().take(200).collect::<String>()
    )
}

/// A line without its numbers and ids.
fn kind(line: &str) -> String {
    let mut kind = String::new();
    for word in line
        .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
        .take(40)
    {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        if digits == 0 && word.len() < 24 {
            kind.push_str(word);
        } else {
            kind.push('0');
        }
    }
    kind
}

fn files(folder: &Path) -> Vec<String> {
    let mut files: Vec<String> = walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .filter(|entry| entry.metadata().is_ok_and(|about| about.len() <= LARGEST))
        .map(|entry| entry.path().to_string_lossy().into_owned())
        .collect();
    files.sort();
    files
}

fn redact(text: &str, path: &str) -> String {
    let json = path.ends_with(".jsonl")
        || text.starts_with("{\"")
            && text
                .lines()
                .nth(1)
                .is_some_and(|line| line.starts_with("{\""));
    let content = if json {
        Content::JsonLines
    } else {
        Content::Text
    };
    let mut redactor = Redactor::new(content, Key::random().unwrap());
    let mut out = Vec::new();
    redactor.push(text.as_bytes(), &mut out);
    redactor.finish(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}
