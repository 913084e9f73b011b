//! `host/libraries.json`: the driver's libraries, where the loader would find them and which version each is of; and
//! `host/boot.json`: whether the firmware lets unsigned modules in.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::json;

use crate::elf;
use crate::files::json_lines;
use crate::host::{Host, Stat};
use crate::ld_cache;
use crate::out::Out;
use crate::sources::nvidia_smi::put;
use crate::take::Tally;

const CACHE: &str = "/etc/ld.so.cache";
/// Where libraries lie that the loader's cache does not know: driver containers, GKE, containers' own.
const PLACES: [&str; 12] = [
    "/usr/lib/*/libcuda.so*",
    "/usr/lib/*/libnvidia-*.so*",
    "/usr/lib64/libcuda.so*",
    "/usr/lib64/libnvidia-*.so*",
    "/usr/local/lib/libnvidia-*.so*",
    "/run/nvidia/driver/usr/lib/*/libcuda.so*",
    "/run/nvidia/driver/usr/lib/*/libnvidia-*.so*",
    "/run/nvidia/driver/usr/lib64/libcuda.so*",
    "/run/nvidia/driver/usr/lib64/libnvidia-*.so*",
    "/home/kubernetes/bin/nvidia/lib64/libcuda.so*",
    "/home/kubernetes/bin/nvidia/lib64/libnvidia-*.so*",
    "/usr/local/vgpu/libvgpu.so*",
];
const EFI: &str = "/sys/firmware/efi";
/// Variables of the EFI specification's global variable GUID.
const SECURE_BOOT: &str =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
const SETUP_MODE: &str = "/sys/firmware/efi/efivars/SetupMode-8be4df61-93ca-11d2-aa0d-00e098032b8c";
/// Names of libraries that concern GPUs.
const STEMS: [&str; 8] = [
    "libcuda",
    "libnvidia",
    "libnvcuvid",
    "libnccl",
    "libcudnn",
    "libvdpau_nvidia",
    "libnvoptix",
    "libvgpu",
];

/// What is read, for the plan.
pub(super) fn reads() -> impl Iterator<Item = &'static str> {
    [CACHE, SECURE_BOOT, SETUP_MODE].into_iter().chain(PLACES)
}

/// A line of `host/libraries.json`.
#[derive(Debug, Serialize)]
struct Library {
    path: String,
    /// The name under which programs ask for it, where the loader's cache has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_as: Option<String>,
    exists: bool,
    /// Where its links end.
    #[serde(skip_serializing_if = "Option::is_none")]
    real: Option<String>,
    /// The driver's version, from that file's name: `535.129.03`.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

/// Writes both.
pub(super) fn write(host: &Host, out: &Out, tally: &mut Tally) {
    boot(host, out, tally);
    let mut paths: BTreeMap<String, Option<String>> = BTreeMap::new();
    match host.read(CACHE, 8 << 20) {
        Ok((bytes, _)) => match ld_cache::libraries(&bytes) {
            Some(all) => {
                let wanted = all.into_iter().filter(|(name, _)| wanted(name));
                paths.extend(wanted.map(|(name, path)| (path, Some(name))));
            }
            None => tally.broken(out, format!("{CACHE}: not a cache of glibc's loader")),
        },
        Err(error) if error.is_absent() => {}
        Err(error) => tally.broken(out, error.sentence()),
    }
    let placed: BTreeSet<String> = PLACES.iter().flat_map(|place| host.glob(place)).collect();
    for path in placed {
        paths.entry(path).or_insert(None);
    }
    if paths.is_empty() {
        return;
    }
    tally.taken += paths.len();
    let rows = paths
        .into_iter()
        .map(|(path, name)| library(host, path, name));
    put(
        out,
        "host/libraries.json",
        &json_lines("libraries", rows),
        tally,
    );
}

fn wanted(name: &str) -> bool {
    STEMS.iter().any(|stem| name.starts_with(stem))
}

fn library(host: &Host, path: String, cached_as: Option<String>) -> Library {
    let meta = host.metadata(&path).ok();
    let real = end_of_links(host, &path);
    let binary = host
        .open(&path)
        .ok()
        .and_then(|file| elf::inspect(file).ok());
    Library {
        cached_as,
        exists: meta.is_some(),
        version: version(real.as_deref().unwrap_or(&path)),
        real: real.filter(|real| *real != path),
        machine: binary.and_then(|binary| binary.machine),
        size: meta.as_ref().map(|meta| Stat::from(meta).size),
        path,
    }
}

/// The path behind all links of the last segment.
fn end_of_links(host: &Host, path: &str) -> Option<String> {
    let mut here = path.to_owned();
    for _ in 0..10 {
        let Some(target) = host.read_link(&here) else {
            return Some(here);
        };
        here = if target.starts_with('/') {
            target
        } else {
            let (dir, _) = here.rsplit_once('/')?;
            format!("{dir}/{target}")
        };
    }
    None
}

/// `535.129.03` of `libcuda.so.535.129.03`; `libcuda.so.1` has none.
fn version(path: &str) -> Option<String> {
    let (_, version) = path.rsplit_once(".so.")?;
    let numbers = version
        .split('.')
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    (numbers && version.contains('.')).then(|| version.to_owned())
}

fn boot(host: &Host, out: &Out, tally: &mut Tally) {
    if !host.is_live() {
        return;
    }
    let efi = host.exists(EFI);
    let row = json!({
        "efi": efi,
        "secure_boot": flag(host, SECURE_BOOT),
        "setup_mode": flag(host, SETUP_MODE),
    });
    put(out, "host/boot.json", &format!("{row}\n"), tally);
}

/// An EFI variable of one byte, behind four bytes of attributes. None where it cannot be known.
fn flag(host: &Host, path: &str) -> Option<bool> {
    let (bytes, _) = host.read(path, 16).ok()?;
    bytes.get(4).map(|byte| *byte == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_library_is_that_of_the_file_behind_its_links() {
        let dir = tempfile::tempdir().unwrap();
        let lib = dir.path().join("usr/lib/x86_64-linux-gnu");
        std::fs::create_dir_all(&lib).unwrap();
        std::fs::write(lib.join("libcuda.so.535.129.03"), "").unwrap();
        std::os::unix::fs::symlink("libcuda.so.535.129.03", lib.join("libcuda.so.1")).unwrap();
        std::os::unix::fs::symlink("libcuda.so.1", lib.join("libcuda.so")).unwrap();
        std::os::unix::fs::symlink("libnvidia-ml.so.550.1.2", lib.join("libnvidia-ml.so.1"))
            .unwrap();
        let host = Host::new(dir.path());
        let at = |name: &str| library(&host, format!("/usr/lib/x86_64-linux-gnu/{name}"), None);
        assert_eq!(at("libcuda.so").version.as_deref(), Some("535.129.03"));
        let broken = at("libnvidia-ml.so.1");
        assert_eq!(
            (broken.exists, broken.version.as_deref()),
            (false, Some("550.1.2")),
            "a link into nothing still says what it was"
        );
        assert_eq!(version("/x/libcuda.so.1"), None);
    }
}
