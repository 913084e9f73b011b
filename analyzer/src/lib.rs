//! The analyzer.

pub mod firewall;
