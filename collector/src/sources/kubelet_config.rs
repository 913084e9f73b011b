//! Kubelet command line and configuration.

use std::time::Duration;

use crate::outcome::Outcome;
use crate::source::{Scope, Source};

/// Kubelet command line and configuration.
pub static SOURCE: Source = Source {
    id: "kubelet_config",
    title: "Kubelet command line and configuration",
    scope: Scope::Node,
    timeout: Duration::from_secs(60),
    max_bytes: 128 << 20,
    plan: |_| Vec::new(),
    collect: |_| Box::pin(async { Outcome::skipped("not built yet") }),
};
