//! End-to-end tests: the real binaries, on replayed, real and hostile input.
//!
//! They need the workspace's binaries (`cargo test --workspace` builds them). What a machine lacks is
//! skipped with a line that says so; `.ci/install` installs it.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]

mod ask;
mod bad_input;
mod bare_machine;
mod browser;
mod captured;
mod claims;
mod cluster;
mod containers;
mod determinism;
mod diff;
mod fix;
mod fix_cluster;
mod fix_families;
mod fix_joined;
mod fix_less;
mod fix_real;
mod fix_unfit;
mod fix_wrong;
mod fleet;
mod handover;
mod hostile;
mod inbox;
mod joined;
mod locked;
mod machines;
mod markdown;
mod minimal_cases;
mod nvml;
mod page;
mod privacy_input;
mod probe;
mod real_node;
mod recordings;
mod release;
mod report_cli;
mod root_tree;
mod samples;
mod scheduled;
mod screens;
mod serve;
mod serve_clients;
mod static_binary;
mod support;
mod traceable;
mod unchanged;
mod wording;
