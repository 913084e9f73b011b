//! Makes `redact/src/random/signs.txt`: how surprising a sign is behind what stands in front of it, in words that people
//! and programs write with signs in them (`kubelet.go:2448`, `--v=2`, `a/b_c.d`).
//!
//! `cargo run -p casefile-collector --example train_signs -- FOLDER... > collector/redact/src/random/signs.txt` reads
//! every text below the folders. The table in use was made from `/etc`, the change logs below `/usr/share/doc`, the
//! symbols of a kernel, the names of files, packages and processes of a Debian system, and the seen half of what
//! `lookalikes` counts (logs, objects and captures). Only counts of two sorts of characters in a row go in.

#![expect(clippy::print_stdout, reason = "the table is what it prints")]

use std::collections::BTreeMap;
use std::path::Path;

mod train;

use train::printed;

/// The 32 signs of ASCII.
const SIGNS: usize = 32;
/// What may stand in front: nothing, a small letter, a capital, a digit, or a sign.
const BEFORE: usize = 4 + SIGNS;
/// What may follow: a letter or digit, a sign, or the end.
const NEXT: usize = SIGNS + 2;
/// A word counts so often at most, so that one generated file does not decide.
const MOST: u32 = 4;
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=80;
const LARGEST_FILE: u64 = 4 << 20;

fn sign(byte: u8) -> Option<usize> {
    (b'!'..=b'~')
        .filter(u8::is_ascii_punctuation)
        .position(|sign| sign == byte)
}

fn read(folder: &Path, words: &mut BTreeMap<String, u32>) {
    train::texts(folder, LARGEST_FILE, &mut |text| {
        let apart = |c: char| c.is_whitespace() || "\"'`\\".contains(c);
        for word in text.split(apart) {
            let word = word.trim_matches(|c| "()[]{}<>,;:.".contains(c));
            let graphic = word.bytes().all(|byte| byte.is_ascii_graphic());
            if graphic && LENGTHS.contains(&word.len()) {
                *words.entry(word.to_owned()).or_default() += 1;
            }
        }
    });
}

fn before(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => sign(byte).map_or(0, |sign| 4 + sign),
    }
}

fn main() {
    let mut words = BTreeMap::new();
    for folder in std::env::args().skip(1) {
        read(Path::new(&folder), &mut words);
    }
    let mut counts = vec![[1.0; NEXT]; BEFORE];
    for (word, count) in &words {
        let weight = f64::from((*count).min(MOST)).sqrt();
        let mut last = 0;
        for byte in word.bytes() {
            counts[last][sign(byte).map_or(0, |sign| 1 + sign)] += weight;
            last = before(byte);
        }
        counts[last][NEXT - 1] += weight;
    }
    for row in counts {
        let all: f64 = row.iter().sum();
        println!(
            "{}",
            row.map(|count| printed(count / all))
                .iter()
                .collect::<String>()
        );
    }
}
