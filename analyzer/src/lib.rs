//! The analyzer: replays a bundle offline, names the root cause and renders the post-mortem.
//!
//! The flow is one direction: [`scan`] reads the input once through [`parsers`] into [`facts`],
//! [`derive`] joins facts, [`rules`] judge them, [`diagnose`] makes one picture of it ([`model`]).

pub mod cli;
pub mod commands;
pub mod compare;
pub mod containerd;
pub mod derive;
pub mod diagnose;
pub mod dress;
pub mod ending;
pub mod facts;
pub mod firewall;
pub mod fix;
pub mod gpu;
pub mod helm;
pub mod join;
pub mod loose;
pub mod model;
pub mod parsers;
mod progress;
pub mod report;
pub mod rules;
pub mod runtimes;
pub mod scan;
pub mod scheduling;
pub mod sources;
