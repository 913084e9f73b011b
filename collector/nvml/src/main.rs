//! `casefile-nvml LIBRARY`: prints what the NVIDIA Management Library (NVML) says of the driver and its GPUs as JSON,
//! one GPU a line. It only calls functions that read.
//!
//! A program of its own, because the collector is static and cannot load libraries, and because NVML may hang on a
//! sick GPU: a child can be given up.

mod card;

use std::ffi::OsStr;
use std::io::{self, Write};

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::InitFlags;
use nvml_wrapper::error::NvmlError;
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let library = std::env::args_os().nth(1);
    let library = library
        .as_deref()
        .unwrap_or(OsStr::new("libnvidia-ml.so.1"));
    let mut out = io::stdout().lock();
    match start(library) {
        Ok(nvml) => report(&nvml, &mut out),
        // The words of nvidia-smi, which people search for.
        Err(error) => writeln!(
            out,
            "{}",
            json!({"error": format!("Failed to initialize NVML: {}", words(&error))})
        ),
    }
}

/// Loads the library. A GPU that is lost must not keep the others from being asked.
fn start(library: &OsStr) -> Result<Nvml, NvmlError> {
    let mut builder = Nvml::builder();
    builder.lib_path(library);
    match builder.flags(InitFlags::NO_GPUS).init() {
        // The flags came with driver 396.
        Err(NvmlError::FailedToLoadSymbol(_)) => Nvml::builder().lib_path(library).init(),
        other => other,
    }
}

fn report(nvml: &Nvml, out: &mut dyn Write) -> io::Result<()> {
    let cuda = nvml.sys_cuda_driver_version().ok().map(|version| {
        let major = nvml_wrapper::cuda_driver_version_major(version);
        format!(
            "{major}.{}",
            nvml_wrapper::cuda_driver_version_minor(version)
        )
    });
    let count = nvml.device_count();
    let head = json!({
        "driver": said(nvml.sys_driver_version()),
        "nvml": said(nvml.sys_nvml_version()),
        "cuda": cuda,
        "attached": said(count.as_ref().copied()),
    });
    // An object that is left open: each GPU is written when it has answered, so that one that hangs costs no other.
    let head = head.to_string();
    write!(out, "{},\"gpus\":[", head.trim_end_matches('}'))?;
    for index in 0..count.unwrap_or(0) {
        write!(
            out,
            "{}\n{}",
            if index > 0 { "," } else { "" },
            card::read(nvml, index)
        )?;
        out.flush()?;
    }
    writeln!(out, "\n]}}")
}

/// A value, or nothing where the library or the card does not have it.
fn said<T: serde::Serialize, E>(value: Result<T, E>) -> Value {
    value
        .ok()
        .and_then(|value| serde_json::to_value(value).ok())
        .unwrap_or(Value::Null)
}

/// The library's own words for an error, where it has some.
fn words(error: &NvmlError) -> String {
    match error {
        NvmlError::LibRmVersionMismatch => "Driver/library version mismatch".to_owned(),
        NvmlError::DriverNotLoaded => "Driver Not Loaded".to_owned(),
        NvmlError::NoPermission => "Insufficient Permissions".to_owned(),
        NvmlError::GpuLost => "GPU is lost".to_owned(),
        NvmlError::Unknown => "Unknown Error".to_owned(),
        other => other.to_string(),
    }
}
