//! The analyzer.
