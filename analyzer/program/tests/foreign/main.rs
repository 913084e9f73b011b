//! Captures of other tools: trees as each tool lays them out, filled with what a real node and its API server answered (the sample
//! of the model incident), and read by the real program.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]

mod bad_input;
mod clusters;
mod convert;
mod formats;
mod large;
mod nodes;
mod packings;
mod support;
mod tools;
mod tools_nodes;
