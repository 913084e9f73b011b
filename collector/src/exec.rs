//! The only place that starts a process.

use std::path::PathBuf;

/// Starts inspecting commands from the fixed table.
#[derive(Debug, Clone)]
pub struct Exec {
    _command_dir: Option<PathBuf>,
}
