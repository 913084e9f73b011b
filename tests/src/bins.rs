//! The binaries under test, found beside the test executable in cargo's target folder.

use std::path::{Path, PathBuf};

/// The collector.
pub const COLLECTOR: &str = "casefile-collector";
/// The analyzer.
pub const ANALYZER: &str = "casefile-analyzer";

/// The folder into which cargo puts this profile's binaries.
///
/// # Panics
/// When the test executable does not lie in a target folder.
pub fn folder() -> PathBuf {
    let own = std::env::current_exe().expect("the path of the test executable");
    let deps = own.parent().expect("a folder around the test executable");
    let profile = if deps.ends_with("deps") {
        deps.parent().unwrap_or(deps)
    } else {
        deps
    };
    profile.to_owned()
}

/// A workspace binary.
///
/// # Panics
/// When it was not built: `cargo test --workspace` builds all of them, `cargo test -p casefile-tests` does not.
pub fn find(name: &str) -> PathBuf {
    let path = folder().join(name);
    assert!(
        path.exists(),
        "{} is not built: run `cargo test --workspace --no-run` first",
        path.display()
    );
    path
}

/// The root of the checkout.
pub fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}
