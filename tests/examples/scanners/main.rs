//! What the redaction misses of the samples that public scanners of secrets test themselves with.
//!
//! `cargo run --release -p casefile-tests --example scanners -- FOLDER [seen|unseen] [--leaks|--list|--shapes|--varied]
//! [--but OTHER] [--burnt]`
//!
//! `FOLDER` holds checkouts of any of gitleaks, trufflehog, detect-secrets, noseyparker and secretlint, however they are
//! called, or of those that `more` reads (Kingfisher, Titus, 2ms, ...); nothing of theirs is kept in this repository. `--but`
//! leaves out what another such folder holds. A rule (a detector, a plug-in, a file of rules) belongs to the
//! seen half where the first byte of SHA-256 of `SCANNER/RULE` is even, to the unseen one where it is odd. Redaction is
//! mended against the seen half only; of the unseen one nothing but figures is printed, unless it was given up (`--burnt`).
//!
//! Each secret is planted beside a name and, where it has a prefix of its issuer, or nothing of its own, in sentences
//! and lists without a name (`places`); the scanner's own text goes in as it is. `--leaks` names what was missed in the
//! seen half, `--list` the rules of each half, `--shapes` the table by shape of the unseen half as well. `--varied` measures
//! the seen half as other issuers would have written it (`varied`): other words, letters, lengths and signs. Texts that are
//! no secrets (`hf_xxxx`, names, addresses, words, fewer than eight letters) are left out.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints its figures and stops at what it does not expect"
)]

mod go;
mod more;
mod places;
mod rules;
mod samples;
mod varied;
mod worth;

use std::collections::BTreeMap;
use std::path::Path;

use casefile_collector::redact::{Content, Key, Redactor};
use casefile_tests::planted::reveals;
use samples::Sample;

/// How often something was planted and how often it came through.
#[derive(Default, Clone, Copy)]
struct Count {
    all: usize,
    leaks: usize,
}

/// What is planted and printed.
#[derive(Clone, Copy)]
struct Show {
    /// What leaks.
    leaks: bool,
    /// The table by shape.
    shapes: bool,
    /// The places beside a name as well.
    named: bool,
}

type Table = BTreeMap<String, Count>;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|given| given == word);
    let Some(folder) = words.first() else {
        println!("usage: scanners FOLDER [seen|unseen] [--leaks|--list]");
        return;
    };
    let but = words.iter().position(|word| word == "--but");
    let but = but.and_then(|at| words.get(at + 1));
    let samples = samples::read(Path::new(folder), but.map(Path::new));
    for seen in [true, false] {
        let name = if seen { "seen" } else { "unseen" };
        let other = if seen { "unseen" } else { "seen" };
        if has(other) && !has(name) {
            continue;
        }
        let half: Vec<&Sample> = samples.iter().filter(|s| s.seen() == seen).collect();
        if has("--varied") {
            if seen {
                measure_varied(&half, has("--leaks"));
            }
        } else if has("--list") {
            list(name, &half);
        } else {
            let show = Show {
                leaks: (seen || has("--burnt")) && has("--leaks"),
                shapes: seen || has("--shapes"),
                named: true,
            };
            measure(name, &half, show);
        }
    }
}

/// Each sample is varied so often.
const VARIED: u64 = 4;

fn measure_varied(half: &[&Sample], show: bool) {
    let made: Vec<Sample> = (0..VARIED)
        .flat_map(|number| half.iter().filter_map(move |s| varied::varied(s, number)))
        .filter(Sample::worth)
        .collect();
    let show = Show {
        leaks: show,
        shapes: true,
        named: false,
    };
    measure("seen, varied", &made.iter().collect::<Vec<_>>(), show);
}

fn list(name: &str, half: &[&Sample]) {
    let mut rules: Vec<String> = half.iter().map(|sample| sample.title()).collect();
    rules.sort();
    rules.dedup();
    println!("{name}: {} rules: {}", rules.len(), rules.join(" "));
}

fn measure(name: &str, half: &[&Sample], show: Show) {
    let mut by_sort = Table::new();
    let mut by_scanner = Table::new();
    let mut by_shape = Table::new();
    let key = Key::random().unwrap();
    for sample in half {
        let places = places::plant(sample);
        for (sort, path, text) in places
            .into_iter()
            .filter(|(sort, ..)| show.named || *sort != "named")
        {
            let out = redact(&text, path, &key);
            let leaks = sample.needles().iter().any(|needle| reveals(&out, needle));
            let shape = format!("{sort:<9} {}", samples::shape(&sample.secret));
            let scanner = format!("{sort:<9} {}", sample.scanner);
            for (table, row) in [
                (&mut by_sort, sort.to_owned()),
                (&mut by_scanner, scanner),
                (&mut by_shape, shape),
            ] {
                let count = table.entry(row).or_default();
                count.all += 1;
                count.leaks += usize::from(leaks);
            }
            if show.leaks && leaks {
                let text: String = text.chars().take(400).collect();
                println!(
                    "leak\t{sort}\t{}\t{}\t{}",
                    sample.title(),
                    sample.secret.escape_debug(),
                    text.escape_debug()
                );
            }
        }
    }
    println!("{name} half: {} samples", half.len());
    for (title, table) in [
        ("by sort", by_sort),
        ("by scanner", by_scanner),
        ("by shape", by_shape),
    ] {
        if !show.shapes && title == "by shape" {
            continue;
        }
        println!("  {title}");
        for (row, count) in table {
            println!(
                "    {row:<44} {:>6} of {:>6} leak ({:.2} %)",
                count.leaks,
                count.all,
                percent(count)
            );
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of thousands")]
fn percent(count: Count) -> f64 {
    100.0 * count.leaks as f64 / count.all.max(1) as f64
}

fn redact(text: &str, path: &str, key: &Key) -> Vec<u8> {
    let content = if path.ends_with(".jsonl") {
        Content::JsonLines
    } else {
        Content::Text
    };
    let mut redactor = Redactor::new(content, key.clone());
    let mut out = Vec::new();
    redactor.push(text.as_bytes(), &mut out);
    redactor.finish(&mut out);
    out
}
