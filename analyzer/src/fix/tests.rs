//! Every typed change of a rule, tried on the rule's own examples.

use super::replay::{Aim, Replay, Shown};
use crate::change::Change;
use crate::change::captured::Captured;
use crate::diagnose::{Analyzer, Reading};
use crate::model::Verdict;
use crate::rules;

/// The rules' changes remove their causes, or the replay says that it cannot show it; printed as a table.
/// A cause that is told by its message alone (a used-up limit of inotify) is one that it cannot show.
/// `CASEFILE_FIX_RULES=ID,ID` tries those only.
#[test]
fn each_change_that_a_rule_proposes_fits_one_of_its_examples_and_none_leaves_the_cause_there() {
    let (set, _) = rules::load(None).unwrap();
    let wanted = std::env::var("CASEFILE_FIX_RULES").ok();
    let is_wanted = |id: &str| {
        wanted
            .as_ref()
            .is_none_or(|ids| ids.split(',').any(|own| own == id))
    };
    let proposing: Vec<_> = set
        .rules
        .iter()
        .filter(|rule| !rule.file.remedy.changes.is_empty() && is_wanted(&rule.file.id))
        .map(|rule| rule.file.clone())
        .collect();
    let analyzer = Analyzer::new(set).unwrap();
    assert!(
        proposing.len() >= 45 || wanted.is_some(),
        "only {} rules propose changes",
        proposing.len()
    );
    let (mut untried, mut left, mut removed) = (Vec::new(), Vec::new(), 0);
    for rule in proposing {
        let (mut gone, mut tried) = (false, false);
        for example in rule.examples.all() {
            if !matches!(
                example.expect.verdict(),
                Some(Verdict::Confirmed | Verdict::Likely)
            ) {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            for (path, text) in &example.files {
                let path = folder.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            let examined = analyzer.examine(folder.path()).unwrap();
            let own = examined.proposals.iter().find(|one| one.cause == rule.id);
            let Some(own) = own else { continue };
            let changes: Result<Vec<Change>, _> = own.changes.iter().cloned().collect();
            let shown = match changes {
                Err(refused) => format!("refused: {refused}"),
                Ok(changes) => {
                    let replay = Replay::new(&analyzer, &examined.reading).unwrap();
                    match replay.attempt(&changes, Some(Aim::of(own))) {
                        Err(error) => format!("refused: {error}"),
                        Ok(proof) => {
                            let shown = proof.shown.unwrap();
                            tried = true;
                            gone |= matches!(shown, Shown::Gone(_));
                            same_without_a_new_scan(&analyzer, &examined.reading, &proof.state);
                            if matches!(shown, Shown::StillThere(_)) {
                                let what =
                                    format!("{} does not help on {:?}", rule.id, example.name);
                                left.push(what);
                            }
                            format!("{}: {}", shown.word(), shown.why())
                        }
                    }
                }
            };
            print(&format!("{} / {}: {shown}", rule.id, example.name));
        }
        removed += usize::from(gone);
        if !tried {
            untried.push(rule.id);
        }
    }
    assert!(left.is_empty(), "{left:#?}");
    assert!(
        untried.is_empty(),
        "no example fits the changes of {untried:?}"
    );
    let all = wanted.is_none();
    assert!(
        removed >= 35 || !all,
        "only {removed} causes are shown to be gone"
    );
}

/// What is judged from one reading is what a new scan of the changed state says.
fn same_without_a_new_scan(analyzer: &Analyzer, reading: &Reading, state: &Captured) {
    // A pasted text is read anew each time.
    if !reading.suffices() {
        return;
    }
    let again = analyzer.judge_again(reading, state.overlay()).unwrap();
    let anew = analyzer.judge(reading.input(), state.overlay()).unwrap();
    assert!(again == anew, "{:?}", state.overlay().keys());
}

fn print(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}
