//! How many shards a fleet needs, and what is there of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::commit::Commit;
use crate::names;
use crate::shard::inputs;
use crate::store::{Object, Store, StoreError};

/// Buckets of an output, where nothing else is asked for.
pub const BUCKETS: u32 = 64;
/// Bundles that a bucket should have at most: what a killed shard loses, and what its memory holds.
const PER_BUCKET: u64 = 250;

/// What a plan says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Bundles.
    pub bundles: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// The largest, with its size.
    pub largest: Option<(String, u64)>,
    /// Buckets to write the output with.
    pub buckets: u32,
    /// Shards that end within the time.
    pub shards: u32,
    /// Bundles of the fullest shard.
    pub fullest: u64,
    /// How long the fullest shard takes, in seconds.
    pub seconds: f64,
    /// Core hours of all shards.
    pub core_hours: f64,
}

/// What is assumed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumed {
    /// Bundles that one core analyses in a second.
    pub rate: f64,
    /// Workers of a shard.
    pub jobs: u32,
    /// Time for all, in seconds.
    pub within: f64,
}

/// Sizes shards for the bundles of a place.
///
/// # Errors
/// [`StoreError`] where they cannot be listed.
pub fn plan(from: &Store, assumed: Assumed) -> Result<Plan, StoreError> {
    Ok(sized(&inputs(from)?, assumed))
}

fn sized(objects: &[Object], assumed: Assumed) -> Plan {
    let bundles = objects.len() as u64;
    let work = bundles as f64 / assumed.rate;
    let per_shard = assumed.within * f64::from(assumed.jobs.max(1));
    // Whole shards; a float that large is far beyond any fleet.
    let needed = (work / per_shard).ceil().clamp(1.0, 100_000.0) as u32;
    let least = u32::try_from(bundles.div_ceil(PER_BUCKET)).unwrap_or(u32::MAX);
    // Each shard has several buckets, so that they are about equally full.
    let buckets = least
        .max(needed.saturating_mul(4))
        .max(BUCKETS)
        .next_power_of_two();
    let mut loads: BTreeMap<u32, u64> = BTreeMap::new();
    for object in objects {
        *loads
            .entry(names::bucket(&object.path, buckets) % needed)
            .or_default() += 1;
    }
    let fullest = loads.values().copied().max().unwrap_or(0);
    let largest = objects.iter().max_by_key(|object| object.bytes);
    Plan {
        bundles,
        bytes: objects.iter().map(|object| object.bytes).sum(),
        largest: largest.map(|object| (object.path.clone(), object.bytes)),
        buckets,
        shards: needed,
        fullest,
        seconds: fullest as f64 / assumed.rate / f64::from(assumed.jobs.max(1)),
        core_hours: work / 3600.0,
    }
}

/// What is there of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Buckets with a commit record.
    pub written: u32,
    /// Buckets that have inputs, where the inputs were listed.
    pub wanted: Option<u32>,
    /// Numbers of buckets that have inputs and no record.
    pub missing: Vec<u32>,
    /// Bundles.
    pub bundles: u64,
    /// Inputs that are the same as another one.
    pub duplicates: u64,
    /// Inputs that could not be analysed, with the reason.
    pub refused: BTreeMap<String, String>,
    /// Rows by table.
    pub rows: BTreeMap<String, u64>,
    /// What judged, with the number of buckets; more than one means that the output is of several releases.
    pub judges: BTreeMap<String, u32>,
}

/// Reads what is there.
pub fn status(commits: &BTreeMap<u32, Commit>, objects: Option<&[Object]>) -> Status {
    let mut status = Status {
        written: u32::try_from(commits.len()).unwrap_or(u32::MAX),
        ..Status::default()
    };
    for commit in commits.values() {
        status.bundles += commit.bundles;
        status.duplicates += commit.duplicates.len() as u64;
        status.refused.extend(commit.refused.clone());
        *status.judges.entry(commit.judge.clone()).or_default() += 1;
        for (table, rows) in &commit.rows {
            *status.rows.entry(table.clone()).or_default() += rows;
        }
    }
    if let Some(objects) = objects {
        let buckets = commits.values().next().map_or(BUCKETS, |one| one.buckets);
        let mut wanted: Vec<u32> = objects
            .iter()
            .map(|object| names::bucket(&object.path, buckets))
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        status.wanted = Some(u32::try_from(wanted.len()).unwrap_or(u32::MAX));
        status.missing = wanted;
        status
            .missing
            .retain(|bucket| !commits.contains_key(bucket));
    }
    status
}

/// The files of an output by table, as its commit records name them.
pub fn files(commits: &BTreeMap<u32, Commit>) -> BTreeMap<String, Vec<String>> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (table, file) in commits.values().flat_map(|commit| &commit.files) {
        files.entry(table.clone()).or_default().push(file.clone());
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_as_many_as_the_time_asks_for() {
        let object = |n: u32| Object {
            path: format!("casefile-{n}.tar.gz"),
            bytes: 1000,
            mark: String::new(),
            modified: 0,
        };
        let objects: Vec<Object> = (0..10_000).map(object).collect();
        let plan = sized(
            &objects,
            Assumed {
                rate: 5.0,
                jobs: 2,
                within: 100.0,
            },
        );
        assert_eq!(plan.shards, 10);
        assert!(plan.buckets >= 40 && plan.fullest < 1_500, "{plan:?}");
    }
}
