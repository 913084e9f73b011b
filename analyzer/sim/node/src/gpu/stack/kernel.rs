//! The module and the kernel that it has to fit: signature, release, and what DKMS built.

use super::{Dkms, Mismatch, Pair, Stack, mismatch, of, side};
use crate::gpu::version;

pub(super) fn mismatches<P: Clone>(stack: &Stack<P>) -> Vec<Mismatch<P>> {
    let mut found = Vec::new();
    if let (Some((true, place)), Some(signer)) = (&stack.secure_boot, &stack.signer)
        && signer.value.is_empty()
        && stack.module.is_none()
    {
        let left = side("secure boot", "enabled", place);
        let right = side("the signature of the module", "absent", &signer.place);
        found.push(mismatch(
            Pair::SecureBoot,
            left,
            right,
            "the kernel refuses an unsigned module",
        ));
    }
    let Some(kernel) = &stack.kernel else {
        return found;
    };
    if let Some(built) = &stack.built_for
        && built.value != kernel.value
    {
        let right = of("the kernel that the module was built for", built);
        found.push(mismatch(
            Pair::KernelModule,
            of("the running kernel", kernel),
            right,
            "it does not load there",
        ));
    }
    // What is loaded was built for the running kernel, whoever built it, and DKMS builds for each.
    let left_behind = stack.installed_for.as_ref().filter(|installed| {
        installed.value != kernel.value && stack.module.is_none() && stack.dkms.is_empty()
    });
    if let Some(installed) = left_behind {
        found.push(mismatch(
            Pair::InstalledKernel,
            of("the running kernel", kernel),
            of(
                "the one that NVIDIA's installer built the module for",
                installed,
            ),
            "no module is there for the running one",
        ));
    }
    let here = stack
        .dkms
        .iter()
        .any(|one| one.kernel == kernel.value && one.state == "installed");
    if let (Some(other), false, None) = (stack.dkms.first(), here, &stack.module) {
        let built: Vec<String> = stack
            .dkms
            .iter()
            .map(|one| format!("{} {}", one.kernel, one.state))
            .collect();
        let right = side(
            format!("what DKMS has of nvidia {}", other.version),
            built.join(", "),
            &other.place,
        );
        let left = of("the running kernel", kernel);
        found.push(mismatch(
            Pair::KernelModule,
            left,
            right,
            "no module is installed for the running kernel",
        ));
    }
    found
}

/// Reads `dkms status`, in its old form (`nvidia, 535.1, KERNEL, ARCH: installed`) and its present one
/// (`nvidia/535.1, KERNEL, ARCH: installed`); `place` notes down a line, counted from 1.
pub fn dkms<P>(text: &str, place: impl Fn(u32) -> P) -> Vec<Dkms<P>> {
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1_u32..) {
        let Some((head, state)) = line.split_once(':') else {
            continue;
        };
        let fields: Vec<&str> = head.split([',', '/']).map(str::trim).collect();
        let (Some(name), Some(version)) = (fields.first(), fields.get(1)) else {
            continue;
        };
        if name.starts_with("nvidia") && version::is_version(version) {
            found.push(Dkms {
                version: (*version).to_owned(),
                kernel: fields.get(2).copied().unwrap_or_default().to_owned(),
                state: state
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                place: place(number),
            });
        }
    }
    found
}
