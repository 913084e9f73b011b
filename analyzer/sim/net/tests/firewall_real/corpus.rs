//! Rule sets that others wrote, from a folder: `FW_CORPUS` names it, `*.nft` are nft's, everything else iptables-save's.
//! `FW_CORPUS_HALF` is `even` or `odd`: every second file of the sorted list, so that one half stays unseen.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::lab::{Lab, Texts, missing};
use super::{Score, check};

#[test]
fn rule_sets_of_a_folder_do_what_the_kernel_does_with_them() {
    let mut out = std::io::stderr();
    let Some(folder) = std::env::var_os("FW_CORPUS") else {
        let _ = writeln!(out, "skipped: FW_CORPUS names no folder of rule sets");
        return;
    };
    if let Some(why) = missing() {
        let _ = writeln!(out, "skipped: {why}");
        return;
    }
    let mut lab = Lab::new(false);
    let mut score = Score::default();
    for path in half(files(Path::new(&folder))) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let name = path.display().to_string();
        let rules = if name.ends_with(".nft") {
            Texts {
                nft: text,
                ..Texts::default()
            }
        } else {
            super::iptables(&text)
        };
        let _ = lab.router("nft flush ruleset");
        check(&mut lab, &name, &rules, &mut score);
    }
    let _ = writeln!(
        out,
        "{score}, {} refused by the kernel",
        score.refused.len()
    );
    for (count, (says, _)) in score.explained.iter().zip(super::EXPLAINED) {
        let _ = writeln!(out, "  {count} explained: {says}");
    }
    for difference in score.differences.iter().take(20) {
        let shown: String = difference.chars().take(1500).collect();
        let _ = writeln!(out, "{shown}\n");
    }
    assert!(
        score.differences.is_empty(),
        "{} differ",
        score.differences.len()
    );
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = read.map(|file| file.path()).collect();
    files.sort();
    files
}

fn half(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let wanted = match std::env::var("FW_CORPUS_HALF").as_deref() {
        Ok("even") => Some(0),
        Ok("odd") => Some(1),
        _ => None,
    };
    let all = files.into_iter().enumerate();
    let kept = all.filter(|(index, _)| wanted.is_none_or(|wanted| index % 2 == wanted));
    kept.map(|(_, file)| file).collect()
}
