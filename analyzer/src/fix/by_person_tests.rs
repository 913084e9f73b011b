//! Every remedy is a typed change, or says why a person has to do it.

use crate::rules;
use crate::rules::file::Kind;

#[test]
fn a_remedy_without_a_change_says_in_one_sentence_why_a_person_does_it() {
    let (set, _) = rules::load(None).unwrap();
    let causes = set.rules.iter().map(|rule| &rule.file);
    let mut wrong = Vec::new();
    for file in causes.filter(|file| file.kind == Kind::Cause) {
        match (&file.remedy.by_person, file.remedy.changes.is_empty()) {
            (None, true) => wrong.push(format!("{}: neither a change nor by_person", file.id)),
            (Some(_), false) => wrong.push(format!("{}: by_person beside changes", file.id)),
            (Some(text), true) => {
                let one = text.ends_with('.') && !text.trim_end_matches('.').contains(". ");
                if !one || text.split_whitespace().count() > 25 {
                    wrong.push(format!("{}: not one short sentence: {text}", file.id));
                }
            }
            (None, false) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
