//! `cargo bench -p casefile-tests --bench fleet`: 2,000 made-up bundles by 1, 2 and 4 shards in processes of their own,
//! from a folder and from an S3 server with shards that are killed; what goes with what in them and in 20 fleets without
//! any correlation; 10,000 broken bundles; the questions of docs/fleet.md with their answers.
//!
//! `CASEFILE_BENCH_BUNDLES` sets another number, `CASEFILE_ANALYZER` another program, and words pick parts:
//! `... --bench fleet -- folder s3 odd random broken questions`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod shards;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use casefile_tests::bins::{ANALYZER, checkout, find};
use casefile_tests::fleet::{Fleet, HIDDEN, make};
use serde_json::Value;

fn main() -> anyhow::Result<()> {
    let bundles = std::env::var("CASEFILE_BENCH_BUNDLES").map_or(Ok(2_000), |text| text.parse())?;
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wanted = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("in");
    let start = Instant::now();
    let truth = fleet(bundles, 1, true, &input)?;
    println!(
        "made {bundles} bundles in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    let output = folder.path().join("out-1");
    if wanted("folder") {
        shards::of_folder(&input, folder.path())?;
    } else {
        shards::run(&input, &output, 1)?;
    }
    if wanted("s3") {
        shards::of_s3(&input, &output)?;
    }
    let right = right(&truth, &output)?;
    println!(
        "the planted cause is the first one, or none where none is planted: {right} of {bundles}"
    );
    if wanted("odd") {
        odd(&output)?;
    }
    if wanted("questions") {
        questions(&output)?;
    }
    if wanted("random") {
        random(bundles, folder.path())?;
    }
    if wanted("broken") {
        broken(folder.path())?;
    }
    Ok(())
}

type Truth = std::collections::BTreeMap<String, Option<String>>;

fn fleet(bundles: usize, seed: u64, hidden: bool, folder: &Path) -> anyhow::Result<Truth> {
    let fleet = Fleet {
        bundles,
        nodes_a_cluster: 50,
        seed,
        hidden,
    };
    make(fleet, &checkout().join("analyzer/rules"), folder)
}

/// The analyzer under test.
pub(crate) fn analyzer() -> Command {
    let named = std::env::var_os("CASEFILE_ANALYZER").map(PathBuf::from);
    Command::new(named.unwrap_or_else(|| find(ANALYZER)))
}

/// What a command prints.
pub(crate) fn output_of(command: &mut Command) -> anyhow::Result<String> {
    let done = command.output()?;
    ensure!(
        done.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    Ok(String::from_utf8(done.stdout)?)
}

fn right(truth: &Truth, output: &Path) -> anyhow::Result<usize> {
    let question = "SELECT input, coalesce(cause, '') FROM bundles";
    let found = output_of(
        analyzer()
            .args(["sql", question, "--format", "csv"])
            .arg(output),
    )?;
    let fits = |line: &&str| {
        let (input, cause) = line.split_once(',').unwrap_or((line, ""));
        truth
            .get(input)
            .is_some_and(|planted| planted.as_deref().unwrap_or("") == cause)
    };
    Ok(found.lines().skip(1).filter(fits).count())
}

/// Prints what goes with what, and gives it as cause, name and value.
fn found(output: &Path) -> anyhow::Result<Vec<[String; 3]>> {
    let start = Instant::now();
    let text = output_of(analyzer().args(["fleet", "odd", "--json"]).arg(output))?;
    let odd: Value = serde_json::from_str(&text)?;
    println!(
        "  {} comparisons in {:.1} s",
        odd["comparisons"],
        start.elapsed().as_secs_f64()
    );
    let all = odd["findings"].as_array().context("no findings")?;
    let word = |value: &Value| value.as_str().unwrap_or("").to_owned();
    for one in all {
        println!(
            "  {} goes with {} = {}: {} of {} with it, {} of {} in all; lift {:.1}, chance {:.1e}",
            one["cause"],
            one["value"]["name"],
            one["value"]["value"],
            one["both"],
            one["with"],
            one["sick"],
            one["units"],
            one["lift"].as_f64().unwrap_or(0.0),
            one["chance"].as_f64().unwrap_or(1.0)
        );
    }
    Ok(all
        .iter()
        .map(|one| {
            [
                word(&one["cause"]),
                word(&one["value"]["name"]),
                word(&one["value"]["value"]),
            ]
        })
        .collect())
}

fn odd(output: &Path) -> anyhow::Result<()> {
    println!("hidden correlations:");
    let mut found = found(output)?;
    found.sort();
    let mut hidden: Vec<[String; 3]> = HIDDEN
        .iter()
        .map(|one| [one.cause, one.name, one.value].map(str::to_owned))
        .collect();
    hidden.sort();
    println!(
        "  found: {}",
        if found == hidden {
            "the three, and no other"
        } else {
            "NOT the three alone"
        }
    );
    Ok(())
}

fn random(bundles: usize, folder: &Path) -> anyhow::Result<()> {
    println!("20 fleets of {bundles} bundles without a correlation:");
    let mut wrong = 0;
    for seed in 101..121 {
        let (input, output) = (folder.join("random"), folder.join("random-out"));
        fleet(bundles, seed, false, &input)?;
        shards::quiet(&input, &output, 2)?;
        wrong += usize::from(!found(&output)?.is_empty());
        std::fs::remove_dir_all(&input)?;
        std::fs::remove_dir_all(&output)?;
    }
    println!("  with a false finding: {wrong} of 20");
    Ok(())
}

fn broken(folder: &Path) -> anyhow::Result<()> {
    let (input, output) = (folder.join("broken"), folder.join("broken-out"));
    fleet(20, 7, true, &input)?;
    for number in 0..10_000 {
        std::fs::write(
            input.join(format!("broken-{number}.tar.gz")),
            format!("\u{1f}\u{8b}no gzip {number}"),
        )?;
    }
    let start = Instant::now();
    shards::quiet(&input, &output, 2)?;
    let question = "SELECT count(error), count(*) - count(error) FROM bundles";
    let counted = output_of(
        analyzer()
            .args(["sql", question, "--format", "csv"])
            .arg(&output),
    )?;
    println!(
        "10,000 broken bundles among 20: {} broken and whole, {:.1} s",
        counted.lines().last().unwrap_or(""),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The questions of the documentation, as they stand there, with their answers.
fn questions(output: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(checkout().join("docs/fleet.md"))?;
    for part in text.split("```sql\n").skip(1) {
        let question = part
            .split("```")
            .next()
            .context("a question without an end")?;
        let start = Instant::now();
        let answer = output_of(analyzer().args(["sql", question]).arg(output))?;
        let took = start.elapsed().as_secs_f64() * 1000.0;
        println!("-- {took:.0} ms\n{question}\n{answer}");
    }
    Ok(())
}
