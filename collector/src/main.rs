//! `casefile-collector`: snapshots a Kubernetes GPU node into one bundle, read-only.

mod cluster;
mod exec;
mod files;
mod host;
mod options;
mod out;
mod outcome;
mod redact;
mod source;
mod sources;

fn main() {}
