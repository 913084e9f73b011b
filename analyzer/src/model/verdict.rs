//! How sure a cause is, how bad it is, and what a line says of it.

use serde::Serialize;

/// How sure a cause is, from the strongest to the weakest.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Discriminating evidence was seen: nothing else in the catalogue looks like this.
    Confirmed,
    /// The evidence points here and nothing seen speaks against it, but a look-alike is not excluded.
    Likely,
    /// Something that this cause would produce was seen; so would other causes.
    Possible,
    /// It was so, and what was seen since has ended it.
    Past,
    /// Something was seen that this cause excludes.
    RuledOut,
    /// What would decide it was not collected.
    NotChecked,
}

impl Verdict {
    /// The word as reports and JSON print it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Likely => "likely",
            Verdict::Possible => "possible",
            Verdict::Past => "past",
            Verdict::RuledOut => "ruled-out",
            Verdict::NotChecked => "not-checked",
        }
    }

    /// Whether the cause is still in play (confirmed, likely or possible).
    pub fn is_live(self) -> bool {
        self <= Verdict::Possible
    }
}

/// How bad it is for the people who use the node.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The node or the cluster is down, or data is at risk.
    Critical,
    /// No GPU workload can run, or pods have no network.
    High,
    /// Some workloads fail or run degraded.
    Medium,
    /// A defect without present harm.
    Low,
}

impl Severity {
    /// The word as reports and JSON print it.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Critical => "critical",
            Severity::High => "high",
            Severity::Medium => "medium",
            Severity::Low => "low",
        }
    }
}

/// Whether a line speaks for or against the cause it is listed under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Speaks for the cause.
    For,
    /// Speaks against the cause.
    Against,
}
