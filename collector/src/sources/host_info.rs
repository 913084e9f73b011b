//! Operating system and kernel.

use std::time::Duration;

use crate::outcome::Outcome;
use crate::source::{Scope, Source};

/// Operating system and kernel.
pub static SOURCE: Source = Source {
    id: "host_info",
    title: "Operating system and kernel",
    scope: Scope::Node,
    timeout: Duration::from_secs(60),
    max_bytes: 128 << 20,
    plan: |_| Vec::new(),
    collect: |_| Box::pin(async { Outcome::skipped("not built yet") }),
};
