//! `casefile-fleet-bundles FOLDER COUNT [SEED] [random|every]`: makes the bundles of a
//! fleet, and `truth.json` beside the folder. `random` plants no correlation; `every` plants each rule's example once.

use std::path::{Path, PathBuf};

use anyhow::Context;
use casefile_tests::bins::checkout;
use casefile_tests::fleet::{Fleet, make, make_every};

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().context("name a folder")?);
    let count = args.next().context("say how many bundles")?.parse()?;
    let seed = args.next().map_or(Ok(1), |seed| seed.parse())?;
    let mode = args.next();
    let rules = checkout().join("analyzer/rules");
    let truth = if mode.as_deref() == Some("every") {
        make_every(&rules, &folder)?
    } else {
        let fleet = Fleet {
            bundles: count,
            nodes_a_cluster: 50,
            seed,
            hidden: mode.as_deref() != Some("random"),
        };
        make(fleet, &rules, &folder)?
    };
    let beside = folder.with_extension("truth.json");
    write(&beside, &serde_json::to_vec_pretty(&truth)?)
}

fn write(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| path.display().to_string())
}
