//! A bundle that holds less than another: the proof never says more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::fix::fix;
use crate::samples::samples;
use crate::support::{diagnose, plant};

/// Evidence files of a sample that are taken away one at a time.
const FILES: usize = 3;

/// What `fix` says of each cause.
fn words(input: &Path, output: &Path) -> BTreeMap<String, String> {
    let said = fix(input, output, &[]);
    assert_eq!(said.code, 0, "{said:?}");
    let told = said.out.lines().filter_map(|line| {
        let words = [
            "gone: ",
            "still there: ",
            "needs a runtime step: ",
            "cannot be shown: ",
        ];
        let word = words.into_iter().find(|word| line.starts_with(word))?;
        let cause = line.rsplit_once('(')?.1.trim_end_matches(')');
        Some((cause.to_owned(), word.trim_end_matches(": ").to_owned()))
    });
    told.collect()
}

/// The captured entries that each fix changes.
fn changed(output: &Path, cause: &str) -> BTreeSet<String> {
    let files = std::fs::read_dir(output.join(cause)).unwrap();
    let diffs = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "diff"));
    let named = diffs.filter_map(|diff| {
        let text = std::fs::read_to_string(diff).unwrap();
        let first = text.lines().next()?.strip_prefix("--- captured/")?;
        Some(first.to_owned())
    });
    named.collect()
}

fn without(bundle: &Path, left_out: &BTreeSet<String>, to: &Path) {
    for file in walkdir::WalkDir::new(bundle)
        .into_iter()
        .filter_map(Result::ok)
    {
        let path = file.path().strip_prefix(bundle).unwrap().to_str().unwrap();
        if file.file_type().is_file() && !left_out.contains(path) {
            plant(to, path, std::fs::read(file.path()).unwrap());
        }
    }
}

#[test]
fn a_bundle_without_a_piece_of_evidence_proves_no_more_than_the_whole() {
    for sample in samples() {
        let bundle = sample.join("bundle");
        let folder = tempfile::tempdir().unwrap();
        let whole_out = folder.path().join("whole");
        let whole = words(&bundle, &whole_out);
        let analysis = diagnose(&bundle);
        let evidence = analysis["incidents"].as_array().unwrap().iter();
        let lines = evidence.flat_map(|incident| incident["evidence"].as_array().unwrap());
        let files: BTreeSet<String> = lines
            .filter_map(|line| Some(line["path"].as_str()?.to_owned()))
            .collect();
        let mut trials: Vec<BTreeSet<String>> = files
            .into_iter()
            .take(FILES)
            .map(|file| BTreeSet::from([file]))
            .collect();
        let decisive: BTreeMap<&String, BTreeSet<String>> = whole
            .iter()
            .filter(|(_, word)| *word == "gone")
            .map(|(cause, _)| (cause, changed(&whole_out, cause)))
            .collect();
        trials.extend(decisive.values().cloned());
        for (number, left_out) in trials.iter().enumerate() {
            let less = folder.path().join(format!("less-{number}"));
            without(&bundle, left_out, &less);
            let now = words(&less, &folder.path().join(format!("out-{number}")));
            for (cause, word) in &now {
                let said = whole.get(cause).map_or("nothing", String::as_str);
                assert!(
                    word != "gone" || ["gone", "nothing"].contains(&said),
                    "{}: {cause} is {word} without {left_out:?}, and {said} with it",
                    sample.display()
                );
                // What the change edits is not there, so nothing can be shown about the change.
                let blind = decisive
                    .get(cause)
                    .is_some_and(|own| own.is_subset(left_out));
                assert!(
                    word != "gone" || !blind,
                    "{}: {cause} is gone although {left_out:?} is missing",
                    sample.display()
                );
            }
        }
    }
}
