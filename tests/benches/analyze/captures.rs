//! The largest captures of other tools, as they lie there, against `gzip -dc` of the same files packed as one stream.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::measure::{Turns, diagnose, peak, target, took};

/// So many of them.
const LARGEST: usize = 5;

/// Prints a line for each.
pub(crate) fn print(analyzer: &Path) -> anyhow::Result<()> {
    let all = casefile_tests::bins::checkout().join("../shared/captures");
    if !all.exists() {
        println!("captures: skipped, ../shared/captures is not there");
        return Ok(());
    }
    let mut sized: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(&all)? {
        let capture = entry?.path().join("capture");
        if capture.is_dir() {
            sized.push((bytes(&capture)?, capture));
        }
    }
    sized.sort();
    for (size, capture) in sized.into_iter().rev().take(LARGEST) {
        let name = capture.strip_prefix(&all)?.display().to_string();
        let packed = target().join(format!("bench/{}.tar.gz", name.replace('/', "-")));
        if !packed.exists() {
            let mut tar = Command::new("tar");
            tar.arg("-czf").arg(&packed).arg("-C").arg(&capture);
            took(tar.arg("."))?;
        }
        let turns = Turns::between(analyzer, &capture, &packed)?;
        let peak = peak(&diagnose(analyzer, &capture))?;
        println!(
            "{name}, {} MiB: {}, peak {peak} MiB",
            size >> 20,
            turns.print()
        );
    }
    Ok(())
}

fn bytes(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    for file in walkdir::WalkDir::new(folder) {
        let file = file?;
        if file.file_type().is_file() {
            sum += file.metadata()?.len();
        }
    }
    Ok(sum)
}
