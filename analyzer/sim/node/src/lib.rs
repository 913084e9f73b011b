//! What one node would do, computed from captured files and texts alone: which containerd, Docker or CRI-O runs with
//! which configuration and handlers, which parts of the GPU driver do not fit one another, and why a container ended.
//!
//! Pure: no I/O, no clock. What the captures cannot tell is said to be unknown, never guessed.

pub mod containerd;
pub mod ending;
pub mod gpu;
pub mod runtimes;
