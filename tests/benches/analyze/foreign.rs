//! Data that our own generator did not make: `../shared/bench`, three seeds, as one gzip stream and laid out as our
//! bundle, interleaved with `gzip -dc` of the same file.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use casefile_bundle::{EntrySpool, Input, Limits, Piece, Writer, read_through};

use crate::bundle::{end, header, meta};
use crate::measure::{RUNS, Turns, diagnose, peak, target, took};

const SEEDS: [u32; 3] = [20_240_611, 7, 424_242];

/// What the generator says of how many lines are faults, and the same ten times.
const NEEDLES: [&str; 2] = ["nprob=9/", "nprob=90/"];

/// Prints the median ratio and the peak memory for each seed and layout, and what ten times the faults cost.
pub(crate) fn print(analyzer: &Path) -> anyhow::Result<()> {
    let scripts = casefile_tests::bins::checkout().join("../shared/bench");
    if !scripts.join("gen_bundle_data.py").exists() {
        println!("other data: skipped, ../shared/bench is not there");
        return Ok(());
    }
    for seed in SEEDS {
        let folder = target().join(format!("bench/other-{seed}"));
        let stream = folder.join("data.tar.gz");
        if !stream.exists() {
            make(&scripts, &folder, seed, NEEDLES[0]).context("making the other data")?;
        }
        let ours = folder.join("ours.tar.gz");
        if !ours.exists() {
            lay_out(&stream, &ours)?;
        }
        for (layout, path) in [("one gzip stream", &stream), ("our layout", &ours)] {
            let turns = Turns::of(analyzer, path)?;
            let peak = peak(&diagnose(analyzer, path))?;
            println!(
                "other data, seed {seed}, {layout}: {}, peak {peak} MiB",
                turns.print()
            );
        }
    }
    needles(analyzer, &scripts)
}

/// Prints what ten times the faults cost: both in turns.
fn needles(analyzer: &Path, scripts: &Path) -> anyhow::Result<()> {
    let few = target().join(format!("bench/other-{}/data.tar.gz", SEEDS[0]));
    let folder = target().join("bench/other-needles");
    let many = folder.join("data.tar.gz");
    if !many.exists() {
        make(scripts, &folder, SEEDS[0], NEEDLES[1]).context("making the data with more faults")?;
    }
    let mut ratios = Vec::new();
    for _ in 0..RUNS {
        let time = |path: &Path| took(&mut diagnose(analyzer, path));
        ratios.push(time(&many)?.processor / time(&few)?.processor);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "ten times the faults: {:.2} times the processor time",
        ratios[RUNS / 2]
    );
    Ok(())
}

/// Writes the data of a seed and packs it as one stream.
fn make(scripts: &Path, folder: &Path, seed: u32, needles: &str) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let script = fs::read_to_string(scripts.join("gen_bundle_data.py"))?;
    let seeded = script.replace("SEED=20240611", &format!("SEED={seed}"));
    ensure!(
        seeded.contains(&format!("SEED={seed}")),
        "the generator names its seed in another way"
    );
    ensure!(
        seeded.contains(NEEDLES[0]),
        "the generator names its share of faults in another way"
    );
    let seeded = seeded.replace(NEEDLES[0], needles);
    let generator = folder.join("gen.py");
    fs::write(&generator, seeded)?;
    let python = |script: PathBuf, arguments: [PathBuf; 2]| {
        let [first, second] = arguments;
        let mut command = Command::new("python3");
        command.arg(script).arg(first);
        if !second.as_os_str().is_empty() {
            command.arg(second);
        }
        took(&mut command)
    };
    let data = folder.join("data");
    python(generator, [data.clone(), PathBuf::new()])?;
    let tar = folder.join("data.tar");
    python(scripts.join("as_bundle.py"), [data.clone(), tar.clone()])?;
    took(Command::new("gzip").args(["-6", "-f"]).arg(&tar))?;
    fs::remove_dir_all(&data)?;
    Ok(fs::remove_dir_all(folder.join("data-compact"))?)
}

/// The same entries as our collector would pack them.
fn lay_out(stream: &Path, to: &Path) -> anyhow::Result<()> {
    let out = BufWriter::new(File::create(to)?);
    let mut writer = Writer::new(out, "casefile-bench", &header()?)?;
    let mut spool: Option<EntrySpool> = None;
    let mut failed = None;
    let mut take = |piece: &Piece<'_>| -> anyhow::Result<()> {
        if piece.entry.path.as_str() == casefile_bundle::HEADER_PATH {
            return Ok(());
        }
        let into = spool.get_or_insert_with(|| EntrySpool::new(&std::env::temp_dir()));
        into.write_all(piece.bytes)?;
        if piece.last
            && let Some(spool) = spool.take()
        {
            let path = piece.entry.path.clone();
            writer.append(meta(path, "journal"), spool.finish()?)?;
        }
        Ok(())
    };
    let mut each = |piece: &Piece<'_>| match take(piece) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    };
    read_through(Input::new(stream, None), &Limits::default(), &mut each)?;
    if let Some(error) = failed {
        return Err(error);
    }
    writer.finish(end()?)?;
    Ok(())
}
