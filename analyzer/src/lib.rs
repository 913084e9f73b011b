//! The analyzer: replays a bundle offline, names the root cause and renders the post-mortem.
//!
//! The flow is one direction: [`scan`] reads the input once through [`parsers`] into [`facts`],
//! [`derive`] joins facts, [`rules`] judge them, [`diagnose`] makes one picture of it ([`model`]).

pub mod change;
pub mod cli;
pub mod commands;
mod compare;
pub mod derive;
pub mod diagnose;
pub mod dress;
pub mod facts;
pub mod fix;
pub mod grade;
pub mod join;
pub mod layouts;
pub mod ledger;
pub mod lines;
pub mod loose;
pub mod model;
pub mod parsers;
mod progress;
pub mod recording;
pub mod report;
pub mod rules;
pub mod scan;
pub mod shared;
pub mod shipped;
pub mod sources;
mod spread;
mod tables;
mod words;

use casefile_shapes::form;
pub use casefile_sim_cluster::{flat, helm, scheduling};
pub use casefile_sim_net as firewall;
pub use casefile_sim_node::{containerd, ending, gpu, runtimes};
