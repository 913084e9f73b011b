//! The analyzer.
pub mod containerd;
