//! Writes the reports of the hand-made analyses into a folder, to look at them:
//! `cargo run -p casefile-analyzer --example render_fixture -- out`.

use std::path::PathBuf;

use anyhow::Context as _;
use casefile_analyzer::report::{self, Format};

mod model {
    pub(crate) use casefile_analyzer::model::*;
}

#[path = "../src/report/fixture/mod.rs"]
mod fixture;

fn main() -> anyhow::Result<()> {
    let dir = PathBuf::from(
        std::env::args_os()
            .nth(1)
            .context("usage: render_fixture FOLDER")?,
    );
    let fixtures = [
        ("model", fixture::model_incident()),
        ("nothing", fixture::nothing_found()),
    ];
    for (name, analysis) in fixtures {
        report::write_reports(&analysis, &dir, &Format::ALL, name, None)?;
        std::fs::write(
            dir.join(format!("{name}.txt")),
            report::render_text(&analysis),
        )?;
    }
    Ok(())
}
