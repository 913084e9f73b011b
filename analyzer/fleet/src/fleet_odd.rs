//! [`crate::odd`] on tables: counts by SQL, so that no row of a setting is held in memory.

use std::collections::BTreeMap;

use crate::odd::{Comparison, Finding, Stratum, Threshold, Unit, Value, findings};
use crate::sql::{Engine, SqlError};

/// The newest readable bundle of each node, and which of them have which cause.
const NODES: &str = "WITH newest AS (
  SELECT bundle, coalesce(cluster, '') AS cluster, node FROM (
    SELECT bundle, cluster, node, row_number() OVER (
      PARTITION BY coalesce(cluster, ''), node ORDER BY finished DESC NULLS LAST, bundle) AS age
    FROM bundles WHERE error IS NULL AND node IS NOT NULL)
  WHERE age = 1),
sick AS (
  SELECT DISTINCT newest.bundle, newest.cluster, incidents.cause
  FROM incidents JOIN newest ON incidents.bundle = newest.bundle
  WHERE incidents.verdict IN ('confirmed', 'likely')),
has AS (
  SELECT DISTINCT newest.bundle, newest.cluster, kind, name, value
  FROM settings JOIN newest ON settings.bundle = newest.bundle
  WHERE value IS NOT NULL)
";

/// What was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Looked {
    /// Nodes with a readable bundle.
    pub nodes: u64,
    /// Causes that some of them have.
    pub causes: usize,
    /// Comparisons that could show anything.
    pub comparisons: usize,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// Counts of one value or setting by cluster.
type Counts = BTreeMap<String, u64>;

/// Looks for settings that go with causes.
///
/// # Errors
/// [`SqlError`].
pub fn look(engine: &Engine, threshold: Threshold) -> Result<Looked, SqlError> {
    let nodes = ask(engine, "SELECT count(*) FROM newest")?;
    let known = by_key(ask(
        engine,
        "SELECT kind, name, cluster, count(DISTINCT bundle) FROM has GROUP BY 1, 2, 3",
    )?);
    let with = by_key(ask(
        engine,
        "SELECT kind, name, value, cluster, count(DISTINCT bundle) FROM has GROUP BY 1, 2, 3, 4",
    )?);
    let sick = by_key(ask(
        engine,
        "SELECT sick.cause, kind, name, has.cluster, count(DISTINCT has.bundle)
         FROM has JOIN sick ON has.bundle = sick.bundle GROUP BY 1, 2, 3, 4",
    )?);
    let both = by_key(ask(
        engine,
        "SELECT sick.cause, kind, name, value, has.cluster, count(DISTINCT has.bundle)
         FROM has JOIN sick ON has.bundle = sick.bundle GROUP BY 1, 2, 3, 4, 5",
    )?);
    let mut causes: Vec<&str> = both.keys().map(|key| key[0].as_str()).collect();
    causes.dedup();
    let causes = causes.len();
    let mut comparisons = Vec::new();
    for (key, both) in &both {
        let [cause, kind, name, value] = key.as_slice() else {
            continue;
        };
        let of = |map: &'_ BTreeMap<Vec<String>, Counts>, key: &[&String]| {
            let key: Vec<String> = key.iter().map(|part| (*part).clone()).collect();
            map.get(&key).cloned().unwrap_or_default()
        };
        let known = of(&known, &[kind, name]);
        let with = of(&with, &[kind, name, value]);
        let sick = of(&sick, &[cause, kind, name]);
        let count = |map: &Counts, cluster: &str| map.get(cluster).copied().unwrap_or(0);
        let strata: Vec<Stratum> = known
            .iter()
            .map(|(cluster, units)| Stratum {
                units: *units,
                sick: count(&sick, cluster),
                with: count(&with, cluster),
                both: count(both, cluster),
            })
            .collect();
        let comparison = |strata, of| Comparison {
            cause: cause.clone(),
            value: Value {
                kind: kind.clone(),
                name: name.clone(),
                value: value.clone(),
            },
            strata,
            of,
        };
        comparisons.push(comparison(strata.clone(), Unit::Nodes));
        let shared = strata.iter().all(|s| s.with == 0 || s.with == s.units);
        if shared && strata.len() > 1 {
            comparisons.push(comparison(vec![by_cluster(&strata)], Unit::Clusters));
        }
    }
    let (findings, comparisons) = findings(&comparisons, threshold);
    let nodes = nodes.first().and_then(|row| row.first()?.parse().ok());
    Ok(Looked {
        nodes: nodes.unwrap_or(0),
        causes,
        comparisons,
        findings,
    })
}

/// Clusters as units: sick where any node is, with the value where all nodes have it.
fn by_cluster(strata: &[Stratum]) -> Stratum {
    let count = |fits: fn(&Stratum) -> bool| strata.iter().filter(|s| fits(s)).count() as u64;
    Stratum {
        units: strata.len() as u64,
        sick: count(|s| s.sick > 0),
        with: count(|s| s.with > 0),
        both: count(|s| s.sick > 0 && s.with > 0),
    }
}

fn ask(engine: &Engine, question: &str) -> Result<Vec<Vec<String>>, SqlError> {
    engine.ask(&format!("{NODES}{question}"))?.texts()
}

/// Rows whose last two columns are cluster and count, by what stands before.
fn by_key(rows: Vec<Vec<String>>) -> BTreeMap<Vec<String>, Counts> {
    let mut all: BTreeMap<Vec<String>, Counts> = BTreeMap::new();
    for mut row in rows {
        let (Some(count), Some(cluster)) = (row.pop(), row.pop()) else {
            continue;
        };
        let count = count.parse().unwrap_or(0);
        all.entry(row).or_default().insert(cluster, count);
    }
    all
}

/// Messages that no rule knows: speaker, message, nodes, times, an example. The most widespread first.
///
/// # Errors
/// [`SqlError`].
pub fn unknown_messages(engine: &Engine, most: usize) -> Result<Vec<Vec<String>>, SqlError> {
    let question = format!(
        "SELECT speaker, template, count(DISTINCT node) AS nodes, sum(\"count\") AS times, min(example)
         FROM said WHERE NOT known GROUP BY speaker, template
         ORDER BY nodes DESC, times DESC, speaker, template LIMIT {most}"
    );
    engine.ask(&question)?.texts()
}
