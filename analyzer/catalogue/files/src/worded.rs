//! What the matches of an expression are worded like.

use std::collections::BTreeSet;

/// The words of the texts of an expression, each once, with blanks between them.
pub fn words_of(expression: &str) -> String {
    let texts = texts_of(expression);
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| split(text)).collect();
    Vec::from_iter(words).join(" ")
}

/// Runs of letters.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphabetic());
    words.filter(|word| !word.is_empty())
}

/// The texts that matches of an expression are made of, each way that it can be worded.
fn texts_of(expression: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Letters beyond ASCII make classes of hundreds of ranges, and no word; some expressions need them all the same.
    let mut plain = regex_syntax::ParserBuilder::new();
    let plain = plain.unicode(false).utf8(false).build().parse(expression);
    let hir = plain.ok().or_else(|| regex_syntax::parse(expression).ok());
    if let Some(hir) = hir {
        let runs = worded(&hir, vec![String::new()], &mut found);
        found.extend(runs);
    }
    found.retain(|text| !text.is_empty());
    found.sort();
    found.dedup();
    found
}

/// Ways of wording one text that are followed at once.
const WAYS: usize = 16;

/// Puts what an expression matches behind each of the texts before it; texts that end are found.
fn worded(hir: &regex_syntax::hir::Hir, runs: Vec<String>, found: &mut Vec<String>) -> Vec<String> {
    use regex_syntax::hir::HirKind;
    let behind = |text: &str| runs.iter().map(|run| format!("{run}{text}")).collect();
    match hir.kind() {
        HirKind::Literal(literal) => behind(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => match pair(class) {
            Some(letter) => behind(letter.encode_utf8(&mut [0; 4])),
            None => ended(runs, found),
        },
        HirKind::Concat(parts) => parts
            .iter()
            .fold(runs, |runs, part| worded(part, runs, found)),
        HirKind::Alternation(parts) => {
            let ways = parts.iter().map(|part| worded(part, runs.clone(), found));
            let ways: Vec<String> = ways.flatten().collect();
            bounded(ways, found)
        }
        HirKind::Capture(capture) => worded(&capture.sub, runs, found),
        HirKind::Repetition(repetition) if repetition.max == Some(1) => {
            let mut ways = worded(&repetition.sub, runs.clone(), found);
            ways.extend(runs);
            bounded(ways, found)
        }
        HirKind::Repetition(repetition) => {
            let ways = worded(&repetition.sub, runs.clone(), found);
            found.extend(runs);
            ended(ways, found)
        }
        HirKind::Look(_) | HirKind::Empty => runs,
    }
}

/// Texts that end here; the next one starts anew.
fn ended(runs: Vec<String>, found: &mut Vec<String>) -> Vec<String> {
    found.extend(runs);
    vec![String::new()]
}

/// The same texts, unless they are more than are followed.
fn bounded(mut ways: Vec<String>, found: &mut Vec<String>) -> Vec<String> {
    ways.sort();
    ways.dedup();
    match ways.len() {
        0..=WAYS => ways,
        _ => ended(ways, found),
    }
}

/// The letter of a class that holds it in both cases, small.
fn pair(class: &regex_syntax::hir::Class) -> Option<char> {
    use regex_syntax::hir::Class;
    let letters: Vec<char> = match class {
        Class::Unicode(class) => {
            let ranges = class.iter().take(4);
            ranges
                .map(|range| (range.start() == range.end()).then_some(range.start()))
                .collect::<Option<_>>()?
        }
        Class::Bytes(class) => {
            let ranges = class.iter().take(4);
            ranges
                .map(|range| (range.start() == range.end()).then_some(char::from(range.start())))
                .collect::<Option<_>>()?
        }
    };
    let small = letters.iter().find(|letter| letter.is_ascii_lowercase())?;
    let same = |letter: &char| letter.to_lowercase().eq(small.to_lowercase()) || !letter.is_ascii();
    letters.iter().all(same).then_some(*small)
}
