//! What only the sick ones have: settings that go with a cause more often than chance allows.
//!
//! Nodes of one cluster share much, and so do their faults. So a setting is judged within clusters: of the nodes of each
//! cluster that have the cause, how many have the value, and how many would by chance (the hypergeometric
//! distribution, summed over clusters, exactly). A value that all nodes of a cluster share is judged by cluster
//! instead: sick clusters against well ones. The chance of a finding is multiplied by the number of comparisons made
//! (Bonferroni), so that a fleet of thousands of settings has no more false ones than a fleet of ten.

use std::collections::BTreeMap;

/// A value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    /// What it is a setting of, e.g. `sysctl`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// One cluster, or one group of units that are like one another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stratum {
    /// Units of which the setting is known.
    pub units: u64,
    /// Of them with the cause.
    pub sick: u64,
    /// Of them with the value.
    pub with: u64,
    /// Of them with both.
    pub both: u64,
}

/// What is compared: one cause with one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// Cause id.
    pub cause: String,
    /// The value.
    pub value: Value,
    /// Counts by cluster.
    pub strata: Vec<Stratum>,
    /// What a unit is.
    pub of: Unit,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Nodes, compared with others of their cluster.
    Nodes,
    /// Clusters, compared with one another.
    Clusters,
}

/// When a comparison is a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Chance of any false finding in the whole fleet.
    pub chance: f64,
    /// Least lift.
    pub lift: f64,
    /// Fewest sick units with the value.
    pub least: u64,
}

impl Default for Threshold {
    fn default() -> Self {
        Self {
            chance: 0.001,
            lift: 1.5,
            least: 3,
        }
    }
}

/// A value that goes with a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Cause id.
    pub cause: String,
    /// The value.
    pub value: Value,
    /// Other values that the same units have.
    pub also: Vec<Value>,
    /// What was counted.
    pub of: Unit,
    /// Sum of all clusters that tell anything.
    pub counts: Stratum,
    /// Sick units with the value over the number that chance gives: 1 is none.
    pub lift: f64,
    /// The lift lies between these with a confidence of 95 %.
    pub between: (f64, f64),
    /// Chance of such a finding anywhere in a fleet where nothing goes with anything.
    pub chance: f64,
}

/// All findings, the surest first, and how many comparisons were made.
pub fn findings(comparisons: &[Comparison], threshold: Threshold) -> (Vec<Finding>, usize) {
    let could: Vec<&Comparison> = comparisons
        .iter()
        .filter(|one| could_be(one, threshold.least))
        .collect();
    let tests = could.len();
    let mut found: Vec<Finding> = could
        .into_iter()
        .filter_map(|one| judge(one, tests, threshold))
        .collect();
    found.sort_by(|a, b| {
        (a.chance.total_cmp(&b.chance))
            .then(b.lift.total_cmp(&a.lift))
            .then_with(|| (&a.cause, &a.value).cmp(&(&b.cause, &b.value)))
    });
    (together(found), tests)
}

/// Whether the comparison could show anything: enough sick ones, and units with and without.
fn could_be(one: &Comparison, least: u64) -> bool {
    let told = telling(one);
    let possible: u64 = told.iter().map(|s| s.sick.min(s.with)).sum();
    possible >= least
}

/// Strata where units differ in both; others say nothing.
fn telling(one: &Comparison) -> Vec<Stratum> {
    let differs = |part: u64, all: u64| part > 0 && part < all;
    let strata = one.strata.iter().copied();
    strata
        .filter(|s| differs(s.sick, s.units) && differs(s.with, s.units))
        .collect()
}

fn judge(one: &Comparison, tests: usize, threshold: Threshold) -> Option<Finding> {
    let strata = telling(one);
    let counts = strata.iter().fold(Stratum::default(), |sum, s| Stratum {
        units: sum.units + s.units,
        sick: sum.sick + s.sick,
        with: sum.with + s.with,
        both: sum.both + s.both,
    });
    let expected: f64 = strata.iter().map(mean).sum();
    if counts.both < threshold.least || expected <= 0.0 {
        return None;
    }
    let lift = float(counts.both) / expected;
    if lift < threshold.lift {
        return None;
    }
    let chance = (at_least(&strata, counts.both) * float(tests as u64)).min(1.0);
    if chance > threshold.chance {
        return None;
    }
    let (low, high) = poisson_interval(counts.both);
    Some(Finding {
        cause: one.cause.clone(),
        value: one.value.clone(),
        also: Vec::new(),
        of: one.of,
        counts,
        lift,
        between: (low / expected, high / expected),
        chance,
    })
}

/// Values of the same units are one finding.
fn together(found: Vec<Finding>) -> Vec<Finding> {
    let mut groups: BTreeMap<(String, Unit, Stratum, u64), usize> = BTreeMap::new();
    let mut out: Vec<Finding> = Vec::new();
    for one in found {
        let key = (one.cause.clone(), one.of, one.counts, one.lift.to_bits());
        match groups.get(&key) {
            Some(at) => out[*at].also.push(one.value),
            None => {
                groups.insert(key, out.len());
                out.push(one);
            }
        }
    }
    out
}

/// Counts are far below the 2^52 from which they would lose precision.
fn float(count: u64) -> f64 {
    count as f64
}

fn mean(s: &Stratum) -> f64 {
    float(s.sick) * float(s.with) / float(s.units)
}

/// Chance that by the draw alone so many sick units or more have the value.
fn at_least(strata: &[Stratum], both: u64) -> f64 {
    /// From here on the sum of the strata is as good as normal.
    const EXACT: u64 = 4_000;
    let most: u64 = strata.iter().map(|s| s.sick.min(s.with)).sum();
    if most > EXACT {
        return normal(strata, both);
    }
    let mut sum = vec![1.0_f64];
    for stratum in strata {
        sum = convolve(&sum, &hypergeometric(stratum));
    }
    let from = usize::try_from(both).unwrap_or(usize::MAX).min(sum.len());
    sum[from..].iter().sum::<f64>().min(1.0)
}

/// Chance of 0, 1, 2, ... units with both.
fn hypergeometric(s: &Stratum) -> Vec<f64> {
    let most = s.sick.min(s.with);
    let least = (s.sick + s.with).saturating_sub(s.units);
    let all = ln_choose(s.units, s.with);
    (0..=most)
        .map(|both| {
            if both < least {
                0.0
            } else {
                let ways = ln_choose(s.sick, both) + ln_choose(s.units - s.sick, s.with - both);
                (ways - all).exp()
            }
        })
        .collect()
}

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Stirling's series; below 16 the sum itself.
fn ln_factorial(n: u64) -> f64 {
    if n < 16 {
        return (2..=n).map(|i| float(i).ln()).sum();
    }
    let x = float(n) + 1.0;
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate().filter(|(_, x)| **x > 0.0) {
        for (j, y) in b.iter().enumerate() {
            sum[i + j] += x * y;
        }
    }
    sum
}

/// The same by the normal distribution, with the correction for whole numbers.
fn normal(strata: &[Stratum], both: u64) -> f64 {
    let expected: f64 = strata.iter().map(mean).sum();
    let variance: f64 = strata
        .iter()
        .filter(|s| s.units > 1)
        .map(|s| {
            let n = float(s.units);
            mean(s) * (n - float(s.sick)) / n * (n - float(s.with)) / (n - 1.0)
        })
        .sum();
    let z = (float(both) - 0.5 - expected) / variance.sqrt();
    if z <= 0.0 {
        return 1.0;
    }
    // Upper bound of the tail (Mills' ratio): never below the truth.
    (-0.5 * z * z).exp() / (z * (2.0 * std::f64::consts::PI).sqrt()).max(1.0)
}

/// Byar's approximation: between what a count's mean lies with a confidence of 95 %.
fn poisson_interval(count: u64) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    let (low, high) = (float(count), float(count) + 1.0);
    let side =
        |n: f64, sign: f64| n * (1.0 - 1.0 / (9.0 * n) + sign * Z / (3.0 * n.sqrt())).powi(3);
    let below = if count == 0 { 0.0 } else { side(low, -1.0) };
    (below.max(0.0), side(high, 1.0))
}

#[cfg(test)]
#[path = "odd_tests.rs"]
mod tests;
