//! Shards in processes of their own: from a folder, and from an S3 server with random ones killed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::ensure;
use casefile_tests::fleet::Dice;
use casefile_tests::s3::S3;

use super::analyzer;

fn shard(input: &str, output: &str, index: u32, count: u32) -> Command {
    let mut command = analyzer();
    command.args(["fleet", "run", input, "-o", output, "--jobs", "1"]);
    command.args(["--shard", &format!("{index}/{count}")]);
    command
}

/// Runs shards of a folder side by side and prints what each says.
pub(super) fn run(input: &Path, output: &Path, count: u32) -> anyhow::Result<()> {
    let start = Instant::now();
    for line in finished(side_by_side(input, output, count)?)? {
        println!("  {line}");
    }
    println!("{count} shards: {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// The same without a word.
pub(super) fn quiet(input: &Path, output: &Path, count: u32) -> anyhow::Result<()> {
    finished(side_by_side(input, output, count)?).map(drop)
}

fn side_by_side(input: &Path, output: &Path, count: u32) -> anyhow::Result<Vec<Child>> {
    let (input, output) = (input.display().to_string(), output.display().to_string());
    let start = |index| {
        let mut one = shard(&input, &output, index, count);
        Ok(one.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
    };
    (0..count).map(start).collect()
}

/// The first line of each.
fn finished(running: Vec<Child>) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for child in running {
        let done = child.wait_with_output()?;
        ensure!(
            done.status.success(),
            "a shard failed: {}",
            String::from_utf8_lossy(&done.stdout)
        );
        lines.extend(
            String::from_utf8_lossy(&done.stdout)
                .lines()
                .next()
                .map(str::to_owned),
        );
    }
    Ok(lines)
}

/// 1, 2 and 4 shards of a folder write the same files.
pub(super) fn of_folder(input: &Path, folder: &Path) -> anyhow::Result<()> {
    let mut first = None;
    for count in [1, 2, 4] {
        let output = folder.join(format!("out-{count}"));
        run(input, &output, count)?;
        let files = files(&output)?;
        let same = first.get_or_insert_with(|| files.clone()) == &files;
        println!(
            "  {} files, {}",
            files.len(),
            if same {
                "the same"
            } else {
                "OTHERS than of one shard"
            }
        );
    }
    Ok(())
}

/// Names of the tables' files, which their content gives.
fn files(output: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in walkdir::WalkDir::new(output.join("tables")) {
        let entry = entry?;
        if entry.file_type().is_file() {
            names.push(entry.path().strip_prefix(output)?.display().to_string());
        }
    }
    names.sort();
    Ok(names)
}

/// 1, 2 and 4 shards of an S3 server, of which random ones are killed at random moments until each has ended by itself.
pub(super) fn of_s3(input: &Path, folder: &Path) -> anyhow::Result<()> {
    let Some(s3) = S3::start()? else {
        println!("skipped: S3: python3 has no moto[server]");
        return Ok(());
    };
    s3.upload(input, "night")?;
    let wanted = files(folder)?;
    let mut dice = Dice::new(3);
    for count in [1, 2, 4] {
        let start = Instant::now();
        let prefix = format!("tables-{count}");
        let output = format!("s3://casefile/{prefix}");
        let spawn = |index| {
            let mut one = shard("s3://casefile/night", &output, index, count);
            s3.environment(&mut one);
            one.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        let mut running: Vec<Child> = (0..count).map(spawn).collect::<Result<_, _>>()?;
        let mut kills = 0;
        while kills < 4 * count && start.elapsed() < Duration::from_secs(600) {
            std::thread::sleep(Duration::from_millis(500 + dice.roll(1500)));
            let index = u32::try_from(dice.roll(u64::from(count)))?;
            let victim = &mut running[usize::try_from(index)?];
            if victim.try_wait()?.is_none() {
                victim.kill()?;
                victim.wait()?;
                kills += 1;
            }
            *victim = spawn(index)?;
        }
        for mut child in running {
            ensure!(child.wait()?.success(), "a shard failed");
        }
        let names: Vec<String> = s3.names(&format!("{prefix}/"))?;
        let names: Vec<String> = names
            .into_iter()
            .filter(|name| name.starts_with("tables/"))
            .collect();
        let same = if names == wanted {
            "the same files as of a folder"
        } else {
            "OTHER files than of a folder"
        };
        println!(
            "S3, {count} shards, {kills} killed: {same}, {:.1} s",
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
