//! Which parts of the driver stack do not fit one another: each pair with both values and where they were read.
//!
//! A place (`P`) is whatever the caller notes one down as; it is handed back with what was read there.

mod cuda;
mod generation;
mod kernel;
#[cfg(test)]
mod tests;

pub use kernel::dkms;
use serde::Serialize;

pub use cuda::{Requirement, cuda_of_image, required};
pub use generation::{Generation, generation};

use super::lspci::Controller;
use super::version;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read<P> {
    /// The value.
    pub value: String,
    /// Where.
    pub place: P,
}

/// Flavour of the kernel modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// `NVIDIA UNIX Open Kernel Module`.
    Open,
    /// `NVIDIA UNIX x86_64 Kernel Module`.
    Proprietary,
}

impl Flavour {
    /// Tells it from `/proc/driver/nvidia/version` or from a module's licence.
    pub fn of(text: &str) -> Option<Self> {
        if text.contains("Open Kernel Module") || text.contains("Dual MIT/GPL") {
            Some(Self::Open)
        } else if text.contains("Kernel Module") || text.trim() == "NVIDIA" {
            Some(Self::Proprietary)
        } else {
            None
        }
    }

    /// As a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Proprietary => "proprietary",
        }
    }
}

/// A GPU of the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu<P> {
    /// Product name.
    pub name: String,
    /// Architecture as `nvidia-smi` names it; empty if it does not.
    pub architecture: String,
    /// Where it was read.
    pub place: P,
}

/// An image that runs on the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image<P> {
    /// Image with its tag.
    pub image: String,
    /// `NVIDIA_REQUIRE_CUDA` of the pod; empty if it states none.
    pub requires: String,
    /// Where the pod stands.
    pub place: P,
}

/// A module that DKMS knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dkms<P> {
    /// Version of the driver.
    pub version: String,
    /// Kernel; empty if it is only added.
    pub kernel: String,
    /// `installed`, `built`, `added`.
    pub state: String,
    /// Where it was read.
    pub place: P,
}

/// Everything that was read of a node's driver stack. What is absent was not read.
#[derive(Debug, Clone, Default)]
pub struct Stack<P> {
    /// Version of the loaded kernel module.
    pub module: Option<Read<P>>,
    /// Flavour of the loaded kernel module.
    pub flavour: Option<(Flavour, P)>,
    /// Version of the module that would be loaded next.
    pub on_disk: Option<Read<P>>,
    /// Kernel for which that module was built.
    pub built_for: Option<Read<P>>,
    /// Kernel for which NVIDIA's installer built the module when it last ran to its end.
    pub installed_for: Option<Read<P>>,
    /// Who signed that module; an empty value if nobody did.
    pub signer: Option<Read<P>>,
    /// Libraries, by name.
    pub libraries: Vec<(String, Read<P>)>,
    /// Fabric Manager.
    pub fabric_manager: Option<Read<P>>,
    /// Installed packages of Fabric Manager and of libraries, by the pair that they make with the module.
    pub packages: Vec<(Pair, Read<P>)>,
    /// Version of which nvidia-smi got an answer; it gets one only if library and module are of the same.
    pub answered: Option<Read<P>>,
    /// GSP firmware.
    pub firmware: Option<Read<P>>,
    /// Newest CUDA that the driver offers.
    pub cuda: Option<Read<P>>,
    /// GPUs.
    pub gpus: Vec<Gpu<P>>,
    /// Images that use GPUs.
    pub images: Vec<Image<P>>,
    /// NVIDIA controllers with the kernel driver that holds each.
    pub controllers: Vec<(Controller, P)>,
    /// What DKMS says.
    pub dkms: Vec<Dkms<P>>,
    /// Running kernel.
    pub kernel: Option<Read<P>>,
    /// Whether secure boot is on.
    pub secure_boot: Option<(bool, P)>,
}

/// What two things do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pair {
    /// Loaded module and library.
    ModuleLibrary,
    /// Loaded module and module on disk.
    ModuleOnDisk,
    /// Module and Fabric Manager.
    ModuleFabricManager,
    /// Module and GSP firmware.
    ModuleFirmware,
    /// GPU generation and module flavour.
    GenerationFlavour,
    /// GPU generation and driver version.
    GenerationDriver,
    /// CUDA of an image and driver.
    ImageDriver,
    /// GPU and the kernel driver that holds it.
    GpuHolder,
    /// Running kernel and the kernel that a module was built for.
    KernelModule,
    /// The running kernel and the one that an installer built the module for.
    InstalledKernel,
    /// Secure boot and an unsigned module.
    SecureBoot,
}

/// One side of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side<P> {
    /// What it is.
    pub what: String,
    /// Its version or state.
    pub value: String,
    /// Where it was read.
    pub place: P,
}

/// Two things that do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch<P> {
    /// Which.
    pub pair: Pair,
    /// One.
    pub left: Side<P>,
    /// The other; the one to look at first.
    pub right: Side<P>,
    /// In words, without the places.
    pub says: String,
}

fn side<P: Clone>(what: impl Into<String>, value: impl Into<String>, place: &P) -> Side<P> {
    Side {
        what: what.into(),
        value: value.into(),
        place: place.clone(),
    }
}

fn of<P: Clone>(what: impl Into<String>, read: &Read<P>) -> Side<P> {
    side(what, &read.value, &read.place)
}

fn mismatch<P>(pair: Pair, left: Side<P>, right: Side<P>, why: &str) -> Mismatch<P> {
    let Side { what, value, .. } = &left;
    let says = format!(
        "{what} is {value}, {} is {}: {why}",
        right.what, right.value
    );
    Mismatch {
        pair,
        left,
        right,
        says,
    }
}

/// Every pair that does not fit.
pub fn mismatches<P: Clone>(stack: &Stack<P>) -> Vec<Mismatch<P>> {
    let mut found = versions(stack);
    found.extend(packages(stack));
    found.extend(generations(stack));
    found.extend(images(stack));
    found.extend(holders(stack));
    found.extend(kernel::mismatches(stack));
    found
}

/// Parts that must be of the loaded module's own version.
fn versions<P: Clone>(stack: &Stack<P>) -> Vec<Mismatch<P>> {
    let Some(module) = &stack.module else {
        return Vec::new();
    };
    let left = || of("the loaded kernel module", module);
    let mut found = Vec::new();
    let mut check = |pair: Pair, what: &str, other: &Read<P>, why: &str| {
        if version::compare(&module.value, &other.value).is_some_and(std::cmp::Ordering::is_ne) {
            found.push(mismatch(pair, left(), of(what, other), why));
        }
    };
    for (name, library) in &stack.libraries {
        let why = "both must be of one version; restart the node or reload the module";
        check(
            Pair::ModuleLibrary,
            &format!("the library {name}"),
            library,
            why,
        );
    }
    if let Some(other) = &stack.on_disk {
        let why = "the module on disk is loaded at the next start";
        check(Pair::ModuleOnDisk, "the module on disk", other, why);
    }
    if let Some(other) = &stack.fabric_manager {
        check(
            Pair::ModuleFabricManager,
            "Fabric Manager",
            other,
            "both must be of one version",
        );
    }
    if let Some(other) = &stack.firmware {
        check(
            Pair::ModuleFirmware,
            "the GSP firmware",
            other,
            "both must be of one version",
        );
    }
    found
}

/// Packages of another version than the module, where the part itself did not say its version.
fn packages<P: Clone>(stack: &Stack<P>) -> Vec<Mismatch<P>> {
    let Some(module) = stack.module.as_ref().or(stack.answered.as_ref()) else {
        return Vec::new();
    };
    let differs = |(_, package): &&(Pair, Read<P>)| {
        version::compare(&module.value, &package.value).is_some_and(std::cmp::Ordering::is_ne)
    };
    let unsaid = |(pair, _): &&(Pair, Read<P>)| match pair {
        Pair::ModuleFabricManager => stack.fabric_manager.is_none(),
        // A library that answers is of the module's version, whatever the package manager has put beside it.
        _ => stack.libraries.is_empty() && stack.answered.is_none(),
    };
    let others = stack.packages.iter().filter(unsaid);
    // Where one of several versions is the module's, that one may be what is in use.
    let fits = |pair: Pair| {
        let mut of_pair = stack.packages.iter().filter(|(other, _)| *other == pair);
        of_pair.any(|one| !differs(&one))
    };
    let bad = others.filter(differs).filter(|(pair, _)| !fits(*pair));
    bad.map(|(pair, package)| {
        let what = match pair {
            Pair::ModuleFabricManager => "the Fabric Manager package",
            _ => "the package of the library",
        };
        let left = of("the driver", module);
        mismatch(
            *pair,
            left,
            of(what, package),
            "both must be of one version",
        )
    })
    .collect()
}

fn generations<P: Clone>(stack: &Stack<P>) -> Vec<Mismatch<P>> {
    let mut found = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for gpu in &stack.gpus {
        let Some(generation) = generation(&gpu.name, &gpu.architecture) else {
            continue;
        };
        if !seen.insert(generation) {
            continue;
        }
        let left = || {
            side(
                "the GPU",
                format!("{} ({})", gpu.name, generation.word()),
                &gpu.place,
            )
        };
        if let Some((flavour, place)) = &stack.flavour
            && let Some(why) = generation::against_flavour(generation, &gpu.name, *flavour)
        {
            let right = side("the flavour of the kernel modules", flavour.word(), place);
            found.push(mismatch(Pair::GenerationFlavour, left(), right, why));
        }
        if let Some(module) = &stack.module
            && let Some(major) = version::major(&module.value)
            && let Some(why) = generation.against_driver(major)
        {
            found.push(mismatch(
                Pair::GenerationDriver,
                left(),
                of("the driver", module),
                &why,
            ));
        }
    }
    found
}

fn images<P: Clone>(stack: &Stack<P>) -> Vec<Mismatch<P>> {
    let driver = stack.module.as_ref();
    let cuda = stack.cuda.as_ref();
    let mut found = Vec::new();
    for image in &stack.images {
        if let Some(mismatch) = requirement(image, driver, cuda).or_else(|| tag(image, driver)) {
            found.push(mismatch);
        }
    }
    found
}

fn requirement<P: Clone>(
    image: &Image<P>,
    driver: Option<&Read<P>>,
    cuda: Option<&Read<P>>,
) -> Option<Mismatch<P>> {
    let offered = cuda?;
    let value = |read: Option<&Read<P>>| read.map(|read| read.value.clone()).unwrap_or_default();
    let verdict = required(&image.requires, &value(cuda), &value(driver));
    (verdict == Requirement::Unmet).then(|| {
        let left = side(
            format!("the requirement of {}", image.image),
            &image.requires,
            &image.place,
        );
        let right = of("the newest CUDA that the driver offers", offered);
        mismatch(
            Pair::ImageDriver,
            left,
            right,
            "the driver does not meet it",
        )
    })
}

fn tag<P: Clone>(image: &Image<P>, driver: Option<&Read<P>>) -> Option<Mismatch<P>> {
    let (major, minor) = cuda_of_image(&image.image)?;
    let least = cuda::least_driver(major)?;
    let driver = driver?;
    (version::major(&driver.value)? < least).then(|| {
        let left = side(
            format!("CUDA of {}", image.image),
            format!("{major}.{minor}"),
            &image.place,
        );
        let why = format!("CUDA {major} needs driver {least} or newer");
        mismatch(Pair::ImageDriver, left, of("the driver", driver), &why)
    })
}

fn holders<P: Clone>(stack: &Stack<P>) -> Vec<Mismatch<P>> {
    // Whatever holds the device keeps the module away: nouveau, nova, vfio and its variants, a frame buffer driver.
    let foreign = stack
        .controllers
        .iter()
        .filter(|(controller, _)| !matches!(controller.driver.as_str(), "" | "nvidia"));
    let each = foreign.map(|(controller, place)| {
        let left = side("the address of the GPU", &controller.address, place);
        let right = side("the kernel driver in use", &controller.driver, place);
        mismatch(
            Pair::GpuHolder,
            left,
            right,
            "the NVIDIA module cannot take the GPU",
        )
    });
    each.collect()
}
