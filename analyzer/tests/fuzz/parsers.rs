//! Every registered parser, on its own entries of the samples and on bytes that are nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use casefile_analyzer::facts::Facts;
use casefile_analyzer::model::Place;
use casefile_analyzer::parsers::{Document, Item, PARSERS, Parsed, Parser, Read};
use casefile_analyzer::scan::{Router, node_of};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::mutate::{edited, edits};

/// Bytes taken of an entry; broken places are found as well in its beginning.
const SEED: usize = 6 << 10;
/// Entries taken for each parser.
const SEEDS: usize = 12;

/// Entries of all samples by parser.
pub(crate) fn seeds() -> BTreeMap<&'static str, Vec<(String, Vec<u8>)>> {
    let router = Router::new().unwrap();
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../samples"));
    let mut seeds: BTreeMap<&str, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    for file in files(samples) {
        let relative = file
            .strip_prefix(samples)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let Some((_, path)) = relative.split_once("/bundle/") else {
            continue;
        };
        let Some(parser) = router.parser(path) else {
            continue;
        };
        let own = seeds.entry(parser.id).or_default();
        if own.len() < SEEDS && own.iter().all(|(known, _)| known != path) {
            let mut bytes = std::fs::read(&file).unwrap();
            bytes.truncate(SEED);
            own.push((path.to_owned(), bytes));
        }
    }
    seeds
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut inside: Vec<PathBuf> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        inside.sort();
        for path in inside {
            if path.is_dir() {
                folders.push(path);
            } else {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// A path that a parser reads, from the first of its globs.
fn a_path(parser: &Parser) -> String {
    parser.reads[0]
        .path()
        .replace("**", "a/b")
        .replace('*', "a")
}

/// Runs a parser as the scan does, without the guard that turns a panic into a problem.
fn parse(parser: &Parser, path: &str, bytes: &[u8]) -> Vec<Parsed> {
    let text = String::from_utf8_lossy(bytes);
    match parser.read {
        Read::Items(parse) => {
            let items = text.lines().take(60).zip(1u32..).map(|(line, number)| {
                let json = line.trim().trim_end_matches(',').as_bytes();
                let place = Place {
                    path: path.into(),
                    line: Some(number),
                };
                parse(&Item::listed(json, place))
            });
            items.collect()
        }
        Read::Whole(parse) | Read::Small(parse) => vec![parse(&Document {
            path,
            node: node_of(path),
            text: &text,
        })],
        // Lines, kept texts and loose texts go through the scan: see `whole`.
        Read::Lines(_) | Read::Keep | Read::Loose | Read::Skip => Vec::new(),
    }
}

/// What came out, in words, and how much it is.
fn told(parsed: Vec<Parsed>) -> (String, usize) {
    let mut facts = Facts::default();
    let (mut text, mut count) = (String::new(), 0);
    for one in parsed {
        count += one.facts.len() + one.said.len() + one.problems.len();
        for fact in one.facts {
            facts.add(fact);
        }
        write!(text, "{:?}{:?}", one.said, one.problems).unwrap();
    }
    for kind in casefile_analyzer::facts::KINDS {
        for view in facts.views(kind.kind) {
            write!(text, "{view:?}").unwrap();
        }
    }
    (text, count)
}

/// Only this parser, where one is named: `CASEFILE_FUZZ_PARSER=pods PROPTEST_CASES=1000000000 timeout 120 ...`.
fn wanted(parser: &Parser) -> bool {
    std::env::var("CASEFILE_FUZZ_PARSER").map_or(true, |name| name == parser.id)
}

/// Entries of a parser, real ones and one that is nearly nothing, broken or replaced by bytes.
fn inputs(
    parser: &'static Parser,
    mut own: Vec<(String, Vec<u8>)>,
) -> impl Strategy<Value = (String, Vec<u8>)> {
    own.push((
        a_path(parser),
        b"{\"items\":[\n{},\n[]\n]}\nkey: value\n".to_vec(),
    ));
    let seed = proptest::sample::select(own);
    prop_oneof![
        4 => (seed, edits()).prop_map(|((path, seed), edits)| (path, edited(&seed, &edits))),
        1 => proptest::collection::vec(any::<u8>(), 0..300).prop_map(move |bytes| (a_path(parser), bytes)),
    ]
}

fn runner() -> TestRunner {
    TestRunner::new(Config {
        failure_persistence: None,
        ..Config::default()
    })
}

#[test]
fn no_bytes_make_a_parser_panic_lie_or_grow() {
    let seeds = seeds();
    let mut covered = Vec::new();
    for parser in PARSERS.iter().filter(|parser| wanted(parser)) {
        if !matches!(
            parser.read,
            Read::Items(_) | Read::Whole(_) | Read::Small(_)
        ) {
            continue;
        }
        covered.push(parser.id);
        let own = seeds.get(parser.id).cloned().unwrap_or_default();
        runner()
            .run(&inputs(parser, own), |(path, bytes)| {
                let (first, count) = told(parse(parser, &path, &bytes));
                let (second, _) = told(parse(parser, &path, &bytes));
                prop_assert_eq!(first, second, "{}: two answers to one input", parser.id);
                prop_assert!(
                    count <= 64 + bytes.len(),
                    "{}: {count} statements",
                    parser.id
                );
                Ok(())
            })
            .unwrap_or_else(|error| panic!("parser {}: {error}", parser.id));
    }
    println!("{} parsers: {}", covered.len(), covered.join(", "));
    assert!(covered.len() > 12 || std::env::var_os("CASEFILE_FUZZ_PARSER").is_some());
}

/// Logs, texts that are kept for derivers, and texts of unknown origin have no function of their own to call: each goes
/// through the whole analyzer, as the only entry of a bundle.
#[test]
fn no_bytes_make_the_reading_of_lines_kept_texts_or_loose_texts_fail() {
    let seeds = seeds();
    let set = crate::shipped_rules();
    let analyzer = casefile_analyzer::diagnose::Analyzer::new(set).unwrap();
    let mut covered = Vec::new();
    for parser in PARSERS.iter().filter(|parser| wanted(parser)) {
        if !matches!(parser.read, Read::Lines(_) | Read::Keep | Read::Loose) {
            continue;
        }
        covered.push(parser.id);
        let own = seeds.get(parser.id).cloned().unwrap_or_default();
        let mut runner = TestRunner::new(Config {
            cases: std::env::var("CASEFILE_FUZZ_PARSER").map_or(12, |_| Config::default().cases),
            failure_persistence: None,
            max_shrink_iters: 60,
            ..Config::default()
        });
        runner
            .run(&inputs(parser, own), |(path, bytes)| {
                let folder = tempfile::tempdir().unwrap();
                let file = folder.path().join(&path);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(&file, &bytes).unwrap();
                let analysis = analyzer.analyze(folder.path()).unwrap();
                let text = serde_json::to_string(&analysis).unwrap();
                prop_assert!(
                    !text.contains("this is a bug in casefile"),
                    "{}: {text}",
                    parser.id
                );
                Ok(())
            })
            .unwrap_or_else(|error| panic!("parser {}: {error}", parser.id));
    }
    println!("{} parsers: {}", covered.len(), covered.join(", "));
}

/// Prints what eight times the input costs, so that a reader that takes more than eight times as long stands out.
#[test]
fn what_eight_times_the_input_costs() {
    if std::env::var_os("CASEFILE_FUZZ_GROWTH").is_none() {
        println!("skipped: what_eight_times_the_input_costs: CASEFILE_FUZZ_GROWTH is not set");
        return;
    }
    let seeds = seeds();
    for parser in PARSERS {
        if !matches!(
            parser.read,
            Read::Items(_) | Read::Whole(_) | Read::Small(_)
        ) {
            continue;
        }
        for (path, bytes) in seeds.get(parser.id).into_iter().flatten() {
            let time = |times: usize| {
                let long = bytes.repeat(times);
                let began = std::time::Instant::now();
                std::hint::black_box(parse(parser, path, &long));
                began.elapsed()
            };
            let (short, long) = (time(32), time(256));
            let factor = long.as_secs_f64() / short.as_secs_f64().max(1e-6);
            println!(
                "{factor:7.1} x  {long:>12.3?}  {} KiB  {} {path}",
                bytes.len() * 256 / 1024,
                parser.id
            );
        }
    }
}
