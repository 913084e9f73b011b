//! How rules speak: the texts of a rule against the house's words and lengths.
//!
//! `rules test` prints what is found. A shipped rule with a fault fails it; rules of users are only warned about.

use std::collections::BTreeSet;

use super::compile::Rule;
use super::file::{Group, RuleFile, StepFile};

/// Words of a sentence that a reader who was just woken up still follows.
const LONGEST: usize = 30;

/// Phrases that readers stumble over, and what to write instead.
pub const BANNED: &[(&str, &str)] = &[
    ("do not do their work", "are failing"),
    ("does not do its work", "is failing"),
    ("hit since", "affected since"),
    ("people notice", "Symptom"),
    ("here it stands", "Source"),
    ("it is said", "the fact itself, with its place"),
    ("it is told", "the fact itself, with its place"),
    ("is told to", "is configured to"),
    ("was told to", "is configured to"),
    ("it is no longer so", "what has changed"),
    ("for granted", "assumes"),
    ("for want of", "insufficient"),
    ("is in play", "is involved"),
    ("in play:", "involved:"),
    ("comes to nothing", "has no effect"),
    ("the last words name", "the error names"),
    ("by what is seen", "nothing"),
    ("someone found", "what is reported"),
    ("someone notes", "what is reported"),
    ("is well after", "is still faulty"),
    ("way of a packet", "packet path"),
    ("look-alike shows", "only this cause fits"),
    ("all the same:", "still"),
    ("as many pods as wanted", "the desired number of pods"),
];

/// Images that a cluster without a way to the internet does not have.
const PUBLIC: &[&str] = &["--image=busybox", "--image=alpine", "--image=nginx"];

/// What is wrong with the texts of a rule, each as `rule: what`.
pub fn faults(rule: &Rule) -> Vec<String> {
    let file = &rule.file;
    let mut found = Vec::new();
    for text in sentences_of(file) {
        found.extend(faults_of(text));
    }
    found.extend(unanswered(file));
    for command in commands_of(file) {
        let public = PUBLIC.iter().find(|image| command.contains(**image));
        found.extend(public.map(|image| {
            format!("a command needs {image}, which an air-gapped cluster does not have: {command}")
        }));
    }
    found
        .iter()
        .map(|fault| format!("{}: {fault}", file.id))
        .collect()
}

/// What is wrong with one text.
pub fn faults_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lower = text.to_lowercase();
    for (banned, instead) in BANNED {
        if lower.contains(banned) {
            found.push(format!("says {banned:?}; write {instead:?}: {text}"));
        }
    }
    for sentence in sentences(text) {
        let words = sentence.split_whitespace().count();
        if words > LONGEST {
            found.push(format!("a sentence of {words} words; split it: {sentence}"));
        }
    }
    found
}

/// Sentences: what a full stop, question or exclamation mark, colon or semicolon ends.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, c): (usize, char)| {
        (".?!:;".contains(c) && text[at + c.len_utf8()..].starts_with(char::is_whitespace))
            .then_some(at + c.len_utf8())
    };
    let mut ends: Vec<usize> = text.char_indices().filter_map(ends).collect();
    ends.push(text.len());
    let mut from = 0;
    ends.into_iter().map(move |end| {
        let sentence = text[from..end].trim();
        from = end;
        sentence
    })
}

/// Questions that may settle a cause, and do not say what each answer means.
fn unanswered(file: &RuleFile) -> Vec<String> {
    let names = |groups: &[Group]| -> BTreeSet<String> {
        let each = groups
            .iter()
            .flat_map(|group| group.all.iter().chain(&group.any));
        each.cloned().collect()
    };
    if file.likely.is_empty() && file.possible.is_empty() {
        return Vec::new();
    }
    let confirming = names(&file.confirmed);
    let asked = file.observations.iter();
    let settles = asked.filter(|one| one.shows.iter().any(|name| confirming.contains(name)));
    settles
        .filter(|one| {
            let answers = one.answers.as_deref().unwrap_or_default();
            sentences(answers).count() < 2
        })
        .map(|one| format!("answers says for each answer what it means: {}", one.ask))
        .collect()
}

/// Every text of a rule that a person reads as prose.
fn sentences_of(file: &RuleFile) -> Vec<&str> {
    let mut texts = vec![
        file.title.as_str(),
        file.headline.as_deref().unwrap_or_default(),
        &file.summary,
        &file.explanation,
        &file.look_alikes,
        file.cannot_be_refuted.as_deref().unwrap_or_default(),
        &file.remedy.title,
    ];
    texts.extend(file.signals.values().map(|signal| signal.says.as_str()));
    texts.extend(file.refuted_by_hand.iter().map(String::as_str));
    texts.extend(file.chain.iter().flatten().map(String::as_str));
    let observations = file.observations.iter();
    texts.extend(observations.flat_map(|one| {
        let answers = one.answers.as_deref();
        [
            one.ask.as_str(),
            one.so.as_str(),
            answers.unwrap_or_default(),
        ]
    }));
    for StepFile { text, expect, .. } in steps(file) {
        texts.push(text);
        texts.extend(expect.as_deref());
    }
    let remedy = &file.remedy;
    texts.extend(
        remedy
            .mitigate
            .iter()
            .chain(&remedy.prevent)
            .map(String::as_str),
    );
    texts
}

fn steps(file: &RuleFile) -> impl Iterator<Item = &StepFile> {
    file.remedy.steps.iter().chain(&file.remedy.verify)
}

fn commands_of(file: &RuleFile) -> impl Iterator<Item = &str> {
    let asked = file.observations.iter().map(|one| one.run.as_str());
    asked.chain(steps(file).filter_map(|step| step.run.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_rules_speak_as_the_house_does() {
        let (set, _) = crate::rules::load(None).unwrap();
        let found: Vec<String> = set.rules.iter().flat_map(faults).collect();
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn a_banned_phrase_and_a_sentence_that_is_too_long_are_named() {
        let long = "word ".repeat(LONGEST + 1);
        assert_eq!(faults_of("The pods do not do their work.").len(), 1);
        assert_eq!(faults_of(&long).len(), 1);
        assert_eq!(
            faults_of(&format!("{}. {}", "word ".repeat(20), "word ".repeat(20))).len(),
            0
        );
        assert_eq!(faults_of("The node is NotReady.").len(), 0);
    }
}
