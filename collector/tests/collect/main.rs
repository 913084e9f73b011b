//! The binary as its users meet it: on trees laid out like nodes, with commands that behave badly, and with outputs
//! that cannot be written.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its tree has failed"
)]

mod commands;
mod desk;
mod outputs;
mod trees;
mod usage;
