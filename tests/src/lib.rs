//! Helpers of the end-to-end tests: a server that replays recorded API answers, a node made of real
//! programs, and what a sample is expected to say.

pub mod bins;
pub mod cri;
pub mod expected;
pub mod fleet;
pub mod journal;
pub mod packet;
pub mod planted;
pub mod recording;
pub mod replay;
pub mod s3;
pub mod store;
mod store_kinds;
mod store_wire;
pub mod story;
