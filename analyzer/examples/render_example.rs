//! Writes the reports of the hand-made analyses into a folder, to look at them:
//! `cargo run -p casefile-analyzer-lib --example render_example -- out`.

use std::path::PathBuf;

use anyhow::Context as _;
use casefile_analyzer::report::{self, Format, Options, example};

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1);
    let dir = PathBuf::from(folder.context("usage: render_example FOLDER")?);
    let all = [
        ("model", example::model_incident()),
        ("nothing", example::nothing_found()),
    ];
    for (name, analysis) in all {
        report::write_reports(&analysis, &dir, &Format::ALL, name, &Options::default())?;
        std::fs::write(
            dir.join(format!("{name}.txt")),
            report::render_text(&analysis, report::TextOptions::default()),
        )?;
    }
    Ok(())
}
