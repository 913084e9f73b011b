//! Puts the program that asks NVML into the collector, where the environment names it (`collector/package` does).

use std::io;
use std::path::{Path, PathBuf};

const NAMED_BY: &str = "CASEFILE_NVML";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed={NAMED_BY}");
    let program = std::env::var_os(NAMED_BY).filter(|path| !path.is_empty());
    let code = match program.map(PathBuf::from) {
        Some(path) => {
            println!("cargo::rerun-if-changed={}", path.display());
            format!("Some(include_bytes!({:?}))", std::path::absolute(&path)?)
        }
        None => "None".to_owned(),
    };
    let folder = std::env::var("OUT_DIR").map_err(io::Error::other)?;
    let text = format!(
        "/// The program, in builds that hold it.\npub(super) static PROGRAM: Option<&[u8]> = {code};\n"
    );
    std::fs::write(Path::new(&folder).join("nvml.rs"), text)
}
