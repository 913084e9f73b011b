//! `cargo bench -p casefile-tests --bench fleet`: 2,000 made-up bundles by 1, 2 and 4 shards in processes of their own, with
//! bundles per second and core, memory per worker, and how long the questions of docs/fleet.md take.
//!
//! `CASEFILE_BENCH_BUNDLES` sets another number.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use casefile_tests::bins::{ANALYZER, checkout, find};
use casefile_tests::fleet::{Fleet, make};

fn main() -> anyhow::Result<()> {
    let bundles = std::env::var("CASEFILE_BENCH_BUNDLES").map_or(Ok(2_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("in");
    let fleet = Fleet {
        bundles,
        nodes_a_cluster: 50,
        seed: 1,
        hidden: true,
    };
    let start = Instant::now();
    make(fleet, &checkout().join("analyzer/rules"), &input)?;
    println!(
        "made {bundles} bundles in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    for count in [1, 2, 4] {
        shards(&input, &folder.path().join(format!("out-{count}")), count)?;
    }
    questions(&folder.path().join("out-1"))
}

fn shards(input: &Path, output: &Path, count: u32) -> anyhow::Result<()> {
    let start = Instant::now();
    let running: Vec<_> = (0..count)
        .map(|index| {
            let mut command = Command::new(find(ANALYZER));
            command
                .args(["fleet", "run"])
                .arg(input)
                .arg("-o")
                .arg(output);
            command.args(["--jobs", "1", "--shard", &format!("{index}/{count}")]);
            command.stdout(Stdio::piped()).spawn()
        })
        .collect::<Result<_, _>>()?;
    for child in running {
        let done = child.wait_with_output()?;
        ensure!(done.status.success(), "a shard of {count} failed");
        print!("  {}", String::from_utf8_lossy(&done.stdout));
    }
    println!("{count} shards: {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// The questions of the documentation, as they stand there.
fn questions(output: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(checkout().join("docs/fleet.md"))?;
    for part in text.split("```sql\n").skip(1) {
        let question = part
            .split("```")
            .next()
            .context("a question without an end")?;
        let start = Instant::now();
        let done = Command::new(find(ANALYZER))
            .args(["sql", question])
            .arg(output)
            .output()?;
        ensure!(
            done.status.success(),
            "{question}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        println!(
            "{:.0} ms  {}",
            start.elapsed().as_secs_f64() * 1000.0,
            question.replace('\n', " ")
        );
    }
    Ok(())
}
