//! Kubernetes objects.

use std::time::Duration;

use crate::outcome::Outcome;
use crate::source::{Scope, Source};

/// Kubernetes objects.
pub static SOURCE: Source = Source {
    id: "cluster_objects",
    title: "Kubernetes objects",
    scope: Scope::Cluster,
    timeout: Duration::from_secs(60),
    max_bytes: 128 << 20,
    plan: |_| Vec::new(),
    collect: |_| Box::pin(async { Outcome::skipped("not built yet") }),
};
