//! The one program that the collector carries inside: it asks NVML, which a static program cannot load. It runs from
//! memory, so nothing is written to the host.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

include!(concat!(env!("OUT_DIR"), "/nvml.rs"));

const NAME: &CStr = c"casefile-nvml";

/// The path under which the program can be run; none in a build without it.
///
/// # Errors
/// Where the kernel has no files in memory, or forbids to run them (`vm.memfd_noexec`).
pub fn nvml() -> Option<io::Result<PathBuf>> {
    static FILE: OnceLock<File> = OnceLock::new();
    let program = PROGRAM?;
    let file = match FILE.get() {
        Some(file) => Ok(file),
        None => load(program).map(|file| FILE.get_or_init(|| file)),
    };
    // A child has the same open files until it becomes the program.
    Some(file.map(|file| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))))
}

fn load(program: &[u8]) -> io::Result<File> {
    let descriptor = match memfd_create(NAME, MemfdFlags::CLOEXEC | MemfdFlags::EXEC) {
        // Kernels before 6.3 do not know that flag, and allow it without.
        Err(Errno::INVAL) => memfd_create(NAME, MemfdFlags::CLOEXEC),
        other => other,
    }?;
    let mut file = File::from(descriptor);
    file.write_all(program)?;
    Ok(file)
}
