//! What people do to lines on their way into a ticket: wraps, quotes, bullets, typography, entities, missing heads,
//! elisions and typing errors. A cause stays in play, and none gets surer.

use crate::{Files, Verdicts, analyze, analyzer, confirmed, verdicts};
use casefile_analyzer::dress::undress;
use casefile_analyzer::rules::file::Kind;

/// Column at which a terminal or a mail program breaks lines.
const WIDTH: usize = 72;

/// A pasted example of a rule.
struct Pasted {
    cause: String,
    name: String,
    text: String,
}

fn pasted() -> Vec<Pasted> {
    let set = crate::shipped_rules();
    let causes = set.rules.iter().filter(|one| one.file.kind == Kind::Cause);
    let examples = causes.flat_map(|rule| {
        rule.file.examples.iter().filter_map(|example| {
            let live = example.expect.verdict()?.is_live();
            let (path, text) = example.files.first_key_value()?;
            let alone = example.files.len() == 1 && !path.contains('/');
            (live && alone).then(|| Pasted {
                cause: rule.file.id.clone(),
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

fn wrapped(line: &str) -> String {
    let letters: Vec<char> = line.chars().collect();
    let pieces = letters.chunks(WIDTH).map(|piece| piece.iter().collect());
    pieces.collect::<Vec<String>>().join("\n")
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

/// A kind of damage, and how many of a hundred examples keep their cause at least.
type Damage = (&'static str, usize, fn(&str) -> String);

const MISTYPED: &str = "a typing error in each line";

static DAMAGES: &[Damage] = &[
    ("wrapped at 72 columns", 95, wrapped),
    ("quoted with >", 95, |line| format!("> {line}")),
    ("as a list", 95, |line| format!("- {line}")),
    ("typographic quotes", 95, typographic),
    ("HTML entities", 95, escaped),
    ("without the head of its line", 95, headless),
    ("elided at both ends", 95, |line| {
        format!("... {} [...]", headless(line))
    }),
    // Short words, and words of the texts that parsers look for, are not respelled; 95 is the aim.
    (MISTYPED, 90, mistyped),
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
    for (name, least, damage) in DAMAGES {
        let mut lost = Vec::new();
        let mut same = 0;
        for (one, before) in pasted.iter().zip(&plain) {
            let after = judged(&analyzer, &each(&one.text, damage));
            let kept = after.contains_key(&one.cause) || !before.contains_key(&one.cause);
            if !kept {
                lost.push(format!("    {}: {}", one.cause, one.name));
            }
            same += usize::from(after.get(&one.cause) == before.get(&one.cause));
            let sure = confirmed(before);
            for cause in confirmed(&after)
                .iter()
                .filter(|cause| !sure.contains(*cause) && *name != MISTYPED)
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
        if kept * 100 < pasted.len() * least {
            wrong.push(format!(
                "{name}: {kept} of {} keep their cause",
                pasted.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
