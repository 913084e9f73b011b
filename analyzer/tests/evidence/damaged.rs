//! What people do to lines on their way into a ticket: wraps, quotes, bullets, typography, entities, missing heads,
//! elisions and typing errors. A cause stays in play, and none gets surer.

use crate::{Files, Verdicts, analyze, analyzer, confirmed, verdicts};
use casefile_analyzer::dress::undress;
use casefile_analyzer::model::Verdict;
use casefile_analyzer::rules::file::Kind;

/// Column at which a terminal or a mail program breaks lines.
const WIDTH: usize = 72;
/// Columns at which no program breaks lines by itself: a window of any size.
const ODD_WIDTHS: [usize; 4] = [47, 61, 83, 97];

/// A pasted example of a rule.
struct Pasted {
    cause: String,
    /// Its author expects it to be confirmed.
    is_sure: bool,
    name: String,
    text: String,
}

fn pasted() -> Vec<Pasted> {
    let set = crate::shipped_rules();
    let causes = set.rules.iter().filter(|one| one.file.kind == Kind::Cause);
    let examples = causes.flat_map(|rule| {
        rule.file.examples.all().iter().filter_map(|example| {
            let live = example.expect.verdict()?.is_live();
            let (path, text) = example.files.first_key_value()?;
            let alone = example.files.len() == 1 && !path.contains('/');
            (live && alone).then(|| Pasted {
                cause: rule.file.id.clone(),
                is_sure: example.expect.verdict() == Some(Verdict::Confirmed),
                name: example.name.clone(),
                text: text.clone(),
            })
        })
    });
    examples.collect()
}

fn each(text: &str, change: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| change(line) + "\n").collect()
}

fn broken(line: &str, width: usize) -> String {
    let letters: Vec<char> = line.chars().collect();
    let pieces = letters.chunks(width).map(|piece| piece.iter().collect());
    pieces.collect::<Vec<String>>().join("\n")
}

/// Broken at the last blank before a column, as mail programs do.
fn flowed(line: &str, width: usize) -> String {
    let mut rows = vec![String::new()];
    for (at, word) in line.split(' ').enumerate() {
        let last = rows.last_mut().unwrap();
        if at > 0 && last.chars().count() + 1 + word.chars().count() > width {
            rows.push(word.to_owned());
        } else {
            if at > 0 {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    rows.join("\n")
}

/// A table with bars whose second column is narrow: its cells go on in the rows below.
fn tabled(line: &str) -> String {
    let rows = flowed(line, 60);
    let mut first = "1";
    let rows = rows.lines().map(|row| {
        let row = format!("| {first:2} | {row:60} |");
        first = "";
        row
    });
    rows.collect::<Vec<String>>().join("\n")
}

/// A number that a text alone decides.
fn drawn(text: &str) -> usize {
    let mut sum = 0xcbf2_9ce4_u32;
    for byte in text.bytes() {
        sum = (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    usize::try_from(sum).unwrap()
}

/// One slip in one word of a text, both drawn: two letters exchanged, one too few, one too many, a wrong one.
fn slipped(text: &str) -> String {
    let drawn = drawn(text);
    let words: Vec<(usize, &str)> = text
        .match_indices(|letter: char| letter.is_ascii_alphabetic())
        .filter(|(at, _)| *at == 0 || !text.as_bytes()[at - 1].is_ascii_alphabetic())
        .map(|(at, _)| {
            let rest = &text[at..];
            let end = rest.find(|letter: char| !letter.is_ascii_alphabetic());
            (at, &rest[..end.unwrap_or(rest.len())])
        })
        .filter(|(_, word)| word.len() > 4)
        .collect();
    let Some((at, word)) = words.get(drawn % words.len().max(1)) else {
        return text.to_owned();
    };
    let inner = 1 + (drawn / 7) % (word.len() - 3);
    let mut letters: Vec<u8> = word.bytes().collect();
    match drawn % 4 {
        0 => letters.swap(inner, inner + 1),
        1 => drop(letters.remove(inner)),
        2 => letters.insert(inner, letters[inner]),
        _ => letters[inner] = if letters[inner] == b'x' { b'c' } else { b'x' },
    }
    let slip = String::from_utf8(letters).unwrap();
    format!("{}{slip}{}", &text[..*at], &text[at + word.len()..])
}

fn typographic(line: &str) -> String {
    let mut open = false;
    let turned = line.chars().map(|letter| match letter {
        '"' => {
            open = !open;
            if open { '\u{201c}' } else { '\u{201d}' }
        }
        '\'' => '\u{2019}',
        other => other,
    });
    turned.collect()
}

fn escaped(line: &str) -> String {
    let amp = line.replace('&', "&amp;");
    amp.replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn headless(line: &str) -> String {
    line[undress(line).outer..].to_owned()
}

/// Two neighbouring letters of the longest word are exchanged.
fn mistyped(line: &str) -> String {
    let words = line.split(|letter: char| !letter.is_ascii_alphabetic());
    let Some(word) = words
        .max_by_key(|word| word.len())
        .filter(|word| word.len() > 7)
    else {
        return line.to_owned();
    };
    let (head, tail) = word.split_at(word.len() / 2);
    let mut swapped: Vec<char> = head.chars().chain(tail.chars()).collect();
    swapped.swap(head.len() - 1, head.len());
    line.replacen(word, &swapped.into_iter().collect::<String>(), 1)
}

/// A kind of damage, and what it does to a whole text.
type Damage = (&'static str, fn(&str) -> String);

const MISTYPED: &str = "a typing error in each line";
const SLIPPED: &str = "one typing error, anywhere";
/// Of a hundred examples so many keep their cause at least.
const KEPT: usize = 95;

static DAMAGES: &[Damage] = &[
    ("wrapped at 72 columns", |text| {
        each(text, |line| broken(line, WIDTH))
    }),
    ("wrapped at an odd width", |text| {
        let width = ODD_WIDTHS[drawn(text) % ODD_WIDTHS.len()];
        each(text, |line| broken(line, width))
    }),
    ("wrapped at blanks", |text| {
        let width = ODD_WIDTHS[drawn(text) % ODD_WIDTHS.len()];
        each(text, |line| flowed(line, width))
    }),
    ("wrapped in a table's cells", |text| each(text, tabled)),
    ("quoted with >", |text| {
        each(text, |line| format!("> {line}"))
    }),
    ("as a list", |text| each(text, |line| format!("- {line}"))),
    ("with bullets", |text| {
        each(text, |line| format!("\u{2022} {line}"))
    }),
    ("typographic quotes", |text| each(text, typographic)),
    ("HTML entities", |text| each(text, escaped)),
    ("without the head of its line", |text| each(text, headless)),
    ("elided at both ends", |text| {
        each(text, |line| format!("... {} [...]", headless(line)))
    }),
    (MISTYPED, |text| each(text, mistyped)),
    (SLIPPED, slipped),
];

fn judged(analyzer: &casefile_analyzer::diagnose::Analyzer, text: &str) -> Verdicts {
    verdicts(&analyze(
        analyzer,
        &Files::from([("ticket.txt".to_owned(), text.into())]),
    ))
}

#[test]
fn damaged_lines_keep_their_causes_and_confirm_none() {
    let analyzer = analyzer();
    let pasted = pasted();
    let plain: Vec<Verdicts> = pasted
        .iter()
        .map(|one| judged(&analyzer, &one.text))
        .collect();
    let mut wrong = Vec::new();
    for (name, damage) in DAMAGES {
        let mut lost = Vec::new();
        let mut same = 0;
        for (one, before) in pasted.iter().zip(&plain) {
            let after = judged(&analyzer, &damage(&one.text));
            let kept = after.contains_key(&one.cause) || !before.contains_key(&one.cause);
            if !kept {
                lost.push(format!(
                    "    {}: {}\n{}",
                    one.cause,
                    one.name,
                    damage(&one.text)
                ));
            }
            same += usize::from(after.get(&one.cause) == before.get(&one.cause));
            let sure = confirmed(before);
            for cause in confirmed(&after)
                .iter()
                .filter(|cause| !(sure.contains(*cause) || one.is_sure && **cause == one.cause))
            {
                wrong.push(format!(
                    "{name}: {} / {}: {cause} is confirmed",
                    one.cause, one.name
                ));
            }
        }
        let kept = pasted.len() - lost.len();
        println!(
            "{name:30} same verdict {same:3}, cause in play {kept:3} of {}",
            pasted.len()
        );
        if std::env::var_os("CASEFILE_DAMAGED").is_some() {
            println!("{}", lost.join("\n"));
        }
        if kept * 100 < pasted.len() * KEPT {
            wrong.push(format!(
                "{name}: {kept} of {} keep their cause",
                pasted.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
