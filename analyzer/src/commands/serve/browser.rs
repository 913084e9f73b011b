//! Opens an address in the person's browser.

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Starts the browser that `BROWSER` names, else the one of the desktop. It gets nothing but the address and is not waited for.
///
/// Errors: what was tried.
pub(super) fn open(address: &str) -> Result<(), String> {
    let own = std::env::var_os("BROWSER").filter(|program| !program.is_empty());
    let desktop = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let program = own.unwrap_or_else(|| OsString::from(desktop));
    let started = Command::new(&program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(_) => Ok(()),
        Err(error) => Err(format!(
            "{} cannot be started ({error}); open the address yourself",
            program.to_string_lossy()
        )),
    }
}
