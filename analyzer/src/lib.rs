//! The analyzer: replays a bundle offline, names the root cause and renders the post-mortem.

pub mod model;
pub mod report;
