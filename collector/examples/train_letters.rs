//! Makes `src/redact/random/letters.txt`: how surprising a letter is behind the two before it, in names that people
//! and programs write.
//!
//! `cargo run -p casefile-collector --example train_letters -- FOLDER... > collector/src/redact/random/letters.txt`
//! reads every text below the folders. The table in use was made from the sources and documentation of this
//! workspace's dependencies (`~/.cargo/registry/src`), `/etc` and `/usr/share/doc` of a Debian system. Only counts of
//! three letters in a row go in: no word of those texts can be read from the table.

#![expect(clippy::print_stdout, reason = "the table is what it prints")]

use std::collections::HashMap;
use std::path::Path;

mod train;

use train::printed;

/// 26 letters, any digit, and the edge of a word.
const SYMBOLS: usize = 28;
const DIGIT: usize = 26;
const EDGE: usize = 27;
/// A word counts so often at most, so that one generated file does not decide.
const MOST: u32 = 50;
/// A word that occurs once may be a random text itself.
const LEAST: u32 = 3;
const LONGEST_WORD: usize = 40;
const LARGEST_FILE: u64 = 1 << 20;

fn symbol(byte: u8) -> usize {
    match byte {
        b'0'..=b'9' => DIGIT,
        _ => usize::from(byte.to_ascii_lowercase() - b'a'),
    }
}

fn read(folder: &Path, words: &mut HashMap<String, u32>) {
    train::texts(folder, LARGEST_FILE, &mut |text| {
        let all = text.split(|c: char| !c.is_ascii_alphanumeric());
        for word in all.filter(|word| (3..=LONGEST_WORD).contains(&word.len())) {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    });
}

fn main() {
    let mut words = HashMap::new();
    for folder in std::env::args().skip(1) {
        read(Path::new(&folder), &mut words);
    }
    let mut threes = vec![0.0; SYMBOLS * SYMBOLS * SYMBOLS];
    let mut twos = vec![0.0; SYMBOLS * SYMBOLS];
    // Upper and lower case behind an edge, a lower-case letter, an upper-case letter and a digit.
    let mut cases = [[1.0; 2]; 4];
    for (word, count) in words.iter().filter(|(_, count)| **count >= LEAST) {
        let weight = f64::from((*count).min(MOST)).sqrt();
        let (mut before, mut last, mut state) = (EDGE, EDGE, 0);
        for byte in word.bytes() {
            let now = symbol(byte);
            threes[(before * SYMBOLS + last) * SYMBOLS + now] += weight;
            twos[last * SYMBOLS + now] += weight;
            (before, last) = (last, now);
            let upper = usize::from(byte.is_ascii_uppercase());
            if now != DIGIT {
                cases[state][upper] += weight;
            }
            state = if now == DIGIT { 3 } else { 1 + upper };
        }
    }
    let case = |row: &[f64; 2], of: usize| printed(row[of] / (row[0] + row[1]));
    let line: String = cases
        .iter()
        .flat_map(|row| [case(row, 0), case(row, 1)])
        .collect();
    println!("{line}");
    for (pair, row) in threes.chunks(SYMBOLS).enumerate() {
        let last = &twos[(pair % SYMBOLS) * SYMBOLS..][..SYMBOLS];
        let all_last: f64 = last.iter().sum::<f64>() + 28.0;
        let all: f64 = row.iter().sum();
        let line: String = row
            .iter()
            .zip(last)
            .map(|(three, two)| printed((three + 8.0 * (two + 1.0) / all_last) / (all + 8.0)))
            .collect();
        println!("{line}");
    }
}
