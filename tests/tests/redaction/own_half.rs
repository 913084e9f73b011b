//! Files that tools' documentation shows, with made-up secrets in them: `../shared/privacy/own-half.txt`, where it lies
//! beside the checkout. `CASEFILE_REDACTION_HALF=FILE` names another file of the same form.

use std::collections::BTreeMap;

use casefile_collector::redact::{Content, Key, Redactor};
use casefile_tests::bins;
use casefile_tests::planted::{fill, reveals};

/// Each file is filled so often.
const TIMES: u64 = 4;
/// Of `estate.txt` less than so many % leak.
const ESTATE: usize = 2;
/// Of `products.txt`.
const PRODUCTS: usize = 4;

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
    let report = measure("own half", &text, 1);
    println!("{report}");
}

/// Sixty files of tools that the other corpora lack, written before their author read the redaction; 6.7 % leaked at
/// first sight.
#[test]
fn secrets_in_files_of_sixty_other_tools_do_not_leave() {
    let report = measure("fresh", include_str!("../../data/fresh/tools.txt"), 1);
    println!("{report}");
}

/// 74 files of sites, written from tools' documentation. At first sight 5.4 % of the half that was not mended against leaked
/// through the whole collector, 4.6 % after the other half was mended; both were looked at since.
#[test]
fn secrets_in_files_of_sites_do_not_leave() {
    let report = measure("sites", include_str!("../../data/fresh/sites.txt"), 2);
    println!("{}", report.lines().next().unwrap_or_default());
}

/// 65 files of switches, consoles, arrays, mail, charts and shells, written before their author had read further into the
/// redaction; of each second one it was never looked at what leaks, so only the sum is printed.
#[test]
fn secrets_in_files_of_an_estate_do_not_leave() {
    let report = measure(
        "estate",
        include_str!("../../data/fresh/estate.txt"),
        ESTATE,
    );
    println!("{}", report.lines().next().unwrap_or_default());
}

/// Tokens of sixty products where their own logs show them, most without a name, written from the products' documentation
/// before their author had read the redaction. At first sight 6.1 % and 5.2 % of the halves leaked; both were looked at
/// since.
#[test]
fn tokens_of_sixty_products_do_not_leave() {
    let text = include_str!("../../data/fresh/products.txt");
    let seen = measure("products, seen half", &half(text, 0), PRODUCTS);
    println!("{seen}");
    let unseen = measure("products, unseen half", &half(text, 1), PRODUCTS);
    println!("{}", unseen.lines().next().unwrap_or_default());
}

/// Every second file, from this one on.
fn half(text: &str, from: usize) -> String {
    let blocks: Vec<&str> = text.trim_start_matches("== ").split("\n== ").collect();
    let every: Vec<&str> = blocks.into_iter().skip(from).step_by(2).collect();
    format!("== {}", every.join("\n== "))
}

/// What leaks and what is replaced without need, as lines; fails where more than `most` % leak.
fn measure(corpus: &str, text: &str, most: usize) -> String {
    let (mut all, mut kept, mut lost) = (0, 0, 0);
    let mut leaks: BTreeMap<String, usize> = BTreeMap::new();
    let mut damage: BTreeMap<String, usize> = BTreeMap::new();
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
            for id in filled.kept.iter().filter(|id| !left.contains(*id)) {
                lost += 1;
                *damage.entry(format!("{kind}: {id}")).or_default() += 1;
            }
        }
    }
    let count: usize = leaks.values().sum();
    let mut report =
        format!("{corpus}: {count} of {all} secrets leak; {lost} of {kept} ids are replaced");
    let line = |what: &str, (kind, count): (&String, &usize)| format!("\n  {count} {what}: {kind}");
    report.extend(leaks.iter().map(|row| line("leak", row)));
    report.extend(damage.iter().map(|row| line("replaced", row)));
    assert!(all > 500, "too few secrets were planted: {all}");
    assert!(
        count * 100 < all * most,
        "{most} % of the secrets or more leak: {report}"
    );
    report
}
