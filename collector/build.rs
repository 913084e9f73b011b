//! Puts the program that asks NVML into the collector, where the environment names it (`collector/package` does).

use std::path::{Path, PathBuf};

const NAMED_BY: &str = "CASEFILE_NVML";

fn main() {
    println!("cargo::rerun-if-env-changed={NAMED_BY}");
    let program = std::env::var_os(NAMED_BY).filter(|path| !path.is_empty());
    let code = match program.map(PathBuf::from) {
        Some(path) => {
            println!("cargo::rerun-if-changed={}", path.display());
            format!("Some(include_bytes!({:?}))", absolute(&path))
        }
        None => "None".to_owned(),
    };
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let text = format!(
        "/// The program, in builds that hold it.\npub(super) static PROGRAM: Option<&[u8]> = {code};\n"
    );
    std::fs::write(Path::new(&folder).join("nvml.rs"), text).expect("OUT_DIR can be written");
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
