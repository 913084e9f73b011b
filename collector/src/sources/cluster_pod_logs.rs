//! Pod logs, current and previous.

use std::time::Duration;

use crate::outcome::Outcome;
use crate::source::{Scope, Source};

/// Pod logs, current and previous.
pub static SOURCE: Source = Source {
    id: "cluster_pod_logs",
    title: "Pod logs, current and previous",
    scope: Scope::Cluster,
    timeout: Duration::from_secs(60),
    max_bytes: 128 << 20,
    plan: |_| Vec::new(),
    collect: |_| Box::pin(async { Outcome::skipped("not built yet") }),
};
