//! Files that tools' documentation shows, with made-up secrets in them: `../shared/privacy/own-half.txt`, where it lies
//! beside the checkout. `CASEFILE_REDACTION_HALF=FILE` names another file of the same form.

use std::collections::BTreeMap;

use casefile_collector::redact::{Content, Key, Redactor};
use casefile_tests::bins;
use casefile_tests::planted::{fill, reveals};

/// Each file is filled so often.
const TIMES: u64 = 4;

fn text() -> Option<String> {
    let named = std::env::var_os("CASEFILE_REDACTION_HALF").map(std::path::PathBuf::from);
    let beside = bins::checkout().join("../shared/privacy/own-half.txt");
    std::fs::read_to_string(named.unwrap_or(beside)).ok()
}

fn redact(text: &str) -> Vec<u8> {
    let mut redactor = Redactor::new(Content::Text, Key::random().unwrap());
    let mut out = Vec::new();
    redactor.push(text.as_bytes(), &mut out);
    redactor.finish(&mut out);
    out
}

#[test]
fn secrets_in_files_of_sixty_tools_do_not_leave() {
    let Some(text) = text() else {
        eprintln!("skipped: own half: ../shared/privacy/own-half.txt is not beside the checkout");
        return;
    };
    let (mut all, mut kept, mut lost) = (0, 0, 0);
    let mut leaks: BTreeMap<String, usize> = BTreeMap::new();
    for block in text
        .split("\n== ")
        .filter_map(|block| block.split_once('\n'))
    {
        let (title, template) = block;
        let kind = title.trim_start_matches("== ").split(" | ").next().unwrap();
        for seed in 1..=TIMES {
            let filled = fill(template, seed).unwrap_or_else(|| panic!("{kind}: unknown shape"));
            let out = redact(&filled.text);
            for (shape, needles) in &filled.secrets {
                all += 1;
                if needles.iter().any(|needle| reveals(&out, needle)) {
                    *leaks.entry(format!("{kind}: {shape}")).or_default() += 1;
                }
            }
            let left = String::from_utf8_lossy(&out);
            kept += filled.kept.len();
            lost += filled.kept.iter().filter(|id| !left.contains(*id)).count();
        }
    }
    let count: usize = leaks.values().sum();
    println!("own half: {count} of {all} secrets leak; {lost} of {kept} ids are replaced");
    for (kind, count) in &leaks {
        println!("  {count} {kind}");
    }
    assert!(all > 1000, "too few secrets were planted: {all}");
    assert!(count * 100 < all, "1 % of the secrets or more leak");
}
