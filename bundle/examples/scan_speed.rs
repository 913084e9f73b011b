//! Times one scan of a bundle with a sink that counts lines, and shows the memory it took.
//!
//! `cargo run --release -p casefile-bundle --example scan_speed -- BUNDLE`; compare with `time gzip -dc BUNDLE`.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use casefile_bundle::{Limits, Piece, PieceSink, scan};

struct CountLines;

impl PieceSink for CountLines {
    type Out = u64;

    fn piece(&self, piece: &Piece<'_>) -> Option<u64> {
        Some(memchr::memchr_iter(b'\n', piece.bytes).count() as u64)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("usage: scan_speed BUNDLE")?;
    let started = Instant::now();
    let (summary, counts) = scan(Path::new(&path), &Limits::default(), &CountLines)?;
    let seconds = started.elapsed().as_secs_f64();
    let lines: u64 = counts.iter().map(|(_, _, count)| count).sum();
    let megabytes = summary.bytes as f64 / 1e6;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{seconds:.3} s, {:.0} MB/s, peak {}, {} entries, {megabytes:.0} MB, {lines} lines, {} problems",
        megabytes / seconds,
        peak_memory(),
        summary.entries,
        summary.problems.len(),
    )?;
    for problem in summary.problems.iter().take(10) {
        writeln!(out, "problem: {problem}")?;
    }
    Ok(())
}

/// The process's highest resident size as Linux words it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.map_or_else(|| "memory unknown".to_owned(), |l| l.trim().to_owned())
}
