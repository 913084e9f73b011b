//! One input for an outside fuzzer: the first line of standard input is the entry's path in a bundle, the rest its
//! content. The whole analyzer reads it; a panic that a guard caught ends the program as a crash would.
//!
//! `cargo afl build --release --example fuzz_one && cargo afl fuzz -i SEEDS -o FOUND target/release/examples/fuzz_one`,
//! or by hand: `(echo nodes/n1/processes.json; cat FILE) | cargo run -p casefile-analyzer-lib --example fuzz_one`

use std::io::{Read as _, Write as _};

use anyhow::Context as _;
use casefile_analyzer::diagnose::Analyzer;
use casefile_analyzer::rules;

/// Longer inputs find nothing that shorter ones do not.
const LONGEST: u64 = 4 << 20;

fn main() -> anyhow::Result<()> {
    let mut input = Vec::new();
    std::io::stdin().take(LONGEST).read_to_end(&mut input)?;
    let end = memchr::memchr(b'\n', &input).unwrap_or(input.len());
    let path = String::from_utf8_lossy(&input[..end]).into_owned();
    let Ok(path) = casefile_bundle::BundlePath::new(&path) else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join(path.as_str());
    let parent = file.parent().context("an entry has a folder")?;
    std::fs::create_dir_all(parent)?;
    std::fs::write(&file, input.get(end + 1..).unwrap_or_default())?;
    let files = casefile_catalogue_files::leaked(std::path::Path::new(env!("CARGO_MANIFEST_DIR")))?;
    casefile_analyzer::shipped::ship(|| files);
    let (set, _) = rules::load(None)?;
    let analysis = Analyzer::new(set)?.analyze(folder.path())?;
    let caught = analysis
        .problems
        .iter()
        .find(|one| one.text.contains("this is a bug in casefile"));
    match caught {
        Some(problem) => panic!("{path}: {}", problem.text),
        None => writeln!(
            std::io::stdout(),
            "{path}: {} problems",
            analysis.problems.len()
        )?,
    }
    Ok(())
}
