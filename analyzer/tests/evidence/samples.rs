//! Every sample with parts of its evidence lost, cut, doubled or in another order: no panic, and nothing is
//! confirmed that the whole does not confirm.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{Files, Verdicts, analyze, analyzer, confirmed, verdicts};

/// What a change does to the verdicts.
#[derive(PartialEq)]
enum Effect {
    /// It leaves every verdict as it was.
    None,
    /// What was confirmed stays so; what is only possible may come or go.
    Weak,
    /// Causes become less sure or are not seen any more.
    Loss,
}

type Change = (&'static str, Effect, fn(&Files) -> Files);

static CHANGES: &[Change] = &[
    ("lines of logs and events shuffled", Effect::Weak, |files| {
        each_log(files, shuffled)
    }),
    ("every line of the logs twice", Effect::None, |files| {
        each_log(files, |path, lines| {
            let twice = lines.iter().flat_map(|line| [line.clone(), line.clone()]);
            if path.contains("/events/") {
                lines
            } else {
                twice.collect()
            }
        })
    }),
    ("logs and events as second files", Effect::Weak, doubled),
    ("each file cut at 80 %", Effect::Loss, |files| {
        cut(files, 4, 5)
    }),
    ("each file cut at 50 %", Effect::Loss, |files| {
        cut(files, 1, 2)
    }),
    ("logs and events cut at 50 %", Effect::Loss, |files| {
        each_log(files, |_, lines| lines[..lines.len() / 2].to_vec())
    }),
    ("without the journal", Effect::Loss, |files| {
        without(files, |path| path.contains("/journal/"))
    }),
    ("without the firewall", Effect::Loss, |files| {
        without(files, |path| {
            path.contains("nft") || path.contains("iptables")
        })
    }),
    ("without objects of the cluster", Effect::Loss, |files| {
        without(files, |path| path.starts_with("cluster-resources/"))
    }),
    ("without processes and settings", Effect::Loss, |files| {
        without(files, |path| {
            path.contains("/rootfs/") || path.ends_with("processes.json")
        })
    }),
];

fn is_log(path: &str) -> bool {
    ["/journal/", "/pods/logs/", "/events/"]
        .iter()
        .any(|part| path.contains(part))
}

/// Changes the lines of logs, and the items of lists of events.
fn each_log(files: &Files, change: impl Fn(&str, Vec<String>) -> Vec<String>) -> Files {
    let changed = files.iter().map(|(path, bytes)| {
        if !is_log(path) {
            return (path.clone(), bytes.clone());
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let list = path.contains("/events/") && lines.len() > 2;
        if list {
            // A list of the API has its head and its end on lines of their own.
            let (head, end) = (lines.remove(0), lines.pop().unwrap());
            let items = lines
                .iter()
                .map(|line| line.trim_end_matches(',').to_owned());
            let items = change(path, items.collect()).join(",\n");
            lines = vec![head, items, end];
        } else {
            lines = change(path, lines);
        }
        (path.clone(), (lines.join("\n") + "\n").into_bytes())
    });
    changed.collect()
}

/// The lines in an order that has nothing to do with the one they had, the same each time.
fn shuffled(_: &str, mut lines: Vec<String>) -> Vec<String> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for at in (1..lines.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let other = usize::try_from(state >> 33).unwrap() % (at + 1);
        lines.swap(at, other);
    }
    lines
}

fn doubled(files: &Files) -> Files {
    let again = files.iter().filter(|(path, _)| is_log(path));
    let again = again.map(|(path, bytes)| {
        let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
        (format!("{stem}-again.{ending}"), bytes.clone())
    });
    again.chain(files.clone()).collect()
}

fn cut(files: &Files, numerator: usize, denominator: usize) -> Files {
    let cut = files.iter().map(|(path, bytes)| {
        let whole = path == "casefile.json" || path == "manifest.json";
        let end = bytes.len() * numerator / denominator;
        let end = if whole { bytes.len() } else { end };
        (path.clone(), bytes[..end].to_vec())
    });
    cut.collect()
}

fn without(files: &Files, lost: impl Fn(&str) -> bool) -> Files {
    let kept = files.iter().filter(|(path, _)| !lost(path));
    kept.map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect()
}

fn read(folder: &Path, below: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(folder, &path, files);
        } else {
            let inside = path.strip_prefix(folder).unwrap().to_string_lossy();
            files.insert(inside.into_owned(), std::fs::read(&path).unwrap());
        }
    }
}

pub(crate) fn samples() -> Vec<(String, Files)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let mut bundles: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("bundle"))
        .filter(|bundle| bundle.is_dir())
        .collect();
    bundles.sort();
    assert!(!bundles.is_empty());
    let read = bundles.iter().map(|bundle| {
        let name = bundle.parent().unwrap().file_name().unwrap();
        let mut files = Files::new();
        read(bundle, bundle, &mut files);
        (name.to_string_lossy().into_owned(), files)
    });
    read.collect()
}

#[test]
fn a_changed_sample_is_not_surer_of_another_cause() {
    let analyzer = analyzer();
    let mut wrong = Vec::new();
    let samples = samples();
    let wholes: Vec<Verdicts> = samples
        .iter()
        .map(|(_, files)| verdicts(&analyze(&analyzer, files)))
        .collect();
    println!(
        "{:34} {:>9} {:>9} {:>6}",
        "", "confirmed", "still so", "new"
    );
    for (what, effect, change) in CHANGES {
        let (mut were, mut stayed, mut new) = (0, 0, 0);
        for ((name, files), whole) in samples.iter().zip(&wholes) {
            let analysis = analyze(&analyzer, &change(files));
            let found = verdicts(&analysis);
            let (before, after) = (confirmed(whole), confirmed(&found));
            let lost: BTreeSet<_> = before.difference(&after).collect();
            let gained: BTreeSet<_> = after.difference(&before).collect();
            were += before.len();
            stayed += before.len() - lost.len();
            new += gained.len();
            wrong.extend(
                gained
                    .iter()
                    .map(|cause| format!("{name}, {what}: {cause} is confirmed")),
            );
            if *effect == Effect::None && found != *whole {
                wrong.push(format!("{name}, {what}: {whole:?} became {found:?}"));
            }
            if *effect != Effect::Loss && !lost.is_empty() {
                wrong.push(format!(
                    "{name}, {what}: {lost:?} is not confirmed any more"
                ));
            }
            let mut told = analysis.problems.iter();
            if let Some(bug) = told.find(|one| one.text.contains("bug in casefile")) {
                wrong.push(format!("{name}, {what}: {}: {}", bug.place, bug.text));
            }
        }
        println!("{what:34} {were:>9} {stayed:>9} {new:>6}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
