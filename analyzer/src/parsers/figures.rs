//! Figures of a machine that its logs tell where no command was captured: versions, and GPUs that the kernel found.

use super::host_lines::said;
use super::{Extracted, Extractor, HostSays};
use crate::lines::LogLine;

/// A figure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Version of the kubelet.
    Kubelet(String),
    /// Place of an NVIDIA GPU: its PCI address, or the name of one on a chip.
    Gpu(String),
    /// Version of the NVIDIA kernel module that was loaded.
    Module(String),
    /// Version of the kernel that runs.
    Kernel(String),
    /// The kernel that NVIDIA's installer builds the module for.
    BuildsFor(String),
    /// The machine is virtual.
    Virtual,
    /// The machine has a battery, as laptops have.
    Battery,
    /// The kubelet says that its node became ready.
    Ready,
    /// The kubelet says that its node became not ready.
    NotReady,
    /// NVIDIA's installer came to its end: version of the driver.
    Installed(String),
}

/// The kubelet's first line: `"Kubelet version" kubeletVersion="v1.31.4"`.
pub(super) static KUBELET: Extractor = Extractor {
    needle: "kubeletVersion=",
    extract: |line| {
        let (_, rest) = line.text.split_once("kubeletVersion=")?;
        version(line, rest.trim_start_matches(['\\', '"']))
    },
};

/// The same before 1.21, which wrote plain lines: `server.go:411] Version: v1.19.4`.
pub(super) static OLD_KUBELET: Extractor = Extractor {
    needle: "] Version: v",
    extract: |line| {
        let (before, rest) = line.text.split_once("] Version: ")?;
        let by_server = before.contains(" server.go:");
        by_server.then(|| version(line, rest)).flatten()
    },
};

/// The first line of k3s and RKE2: `Starting k3s agent v1.28.4+k3s1 (6ba6c1b6)`.
pub(super) static DISTRIBUTION: Extractor = Extractor {
    needle: "Starting k3s ",
    extract: |line| {
        let (_, rest) = line.text.split_once("Starting k3s ")?;
        version(line, rest.trim_start_matches("agent "))
    },
};

/// What the kernel finds on the bus: `pci 0000:01:00.0: [10de:1c8d] type 00 class 0x030000`.
pub(super) static GPU_ON_BUS: Extractor = Extractor {
    needle: ": [10de:",
    extract: |line| {
        let (before, behind) = line.text.split_once(": [10de:")?;
        let address = before.rsplit(' ').next()?;
        // Display controllers, with and without an output.
        let display = ["class 0x0300", "class 0x0302", "class 0x0380"];
        let shows = display.iter().any(|class| behind.contains(class));
        (shows && address.matches(':').count() == 2)
            .then(|| figure(line, Figure::Gpu(address.to_owned())))
    },
};

/// The GPU of a Tegra: `gk20a 57000000.gpu: ...`, `nvgpu: 17000000.ga10b ...`.
pub(super) static GPU_ON_CHIP: Extractor = Extractor {
    needle: "7000000.g",
    extract: |line| {
        const CHIPS: [&str; 6] = ["gpu", "gk20a", "gm20b", "gp10b", "gv11b", "ga10b"];
        let mut words = line
            .text
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
        let word = words.find(|word| {
            let chip = word.split_once('.').map(|(_, chip)| chip);
            word.contains("7000000.g") && chip.is_some_and(|chip| CHIPS.contains(&chip))
        })?;
        Some(figure(line, Figure::Gpu(word.to_owned())))
    },
};

/// `NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03  ...`
pub(super) static MODULE: Extractor = Extractor {
    needle: "NVRM: loading NVIDIA UNIX",
    extract: |line| {
        let mut words = line.text.split_whitespace();
        let version = words.find(|word| {
            word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        })?;
        Some(figure(line, Figure::Module(version.to_owned())))
    },
};

/// What cAdvisor in the kubelet finds: `manager.go:229] Version: {KernelVersion:4.9.56 ContainerOsVersion:...`.
pub(super) static KERNEL: Extractor = Extractor {
    needle: "] Version: {KernelVersion:",
    extract: |line| {
        let (_, rest) = line.text.split_once("{KernelVersion:")?;
        let version = rest.split([' ', '}']).next()?;
        let like = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
        like.then(|| figure(line, Figure::Kernel(version.to_owned())))
    },
};

/// What `dcgmi diag` found: `| Driver Version Detected   | 570.148.08   |`, with `-j` `"Driver Version Detected" : "570.148.08"`.
pub(super) static DCGM_DRIVER: Extractor = Extractor {
    needle: "Driver Version Detected",
    extract: |line| {
        let name = "Driver Version Detected";
        let version = cell(&line.text, name).or_else(|| member(&line.text, name))?;
        Some(figure(line, Figure::Module(version.to_owned())))
    },
};

/// What `gpud` found: `|     GPU Driver Version     |   535.161.08   |`.
pub(super) static GPUD_DRIVER: Extractor = Extractor {
    needle: "GPU Driver Version",
    extract: |line| {
        let version = cell(&line.text, "GPU Driver Version")?;
        Some(figure(line, Figure::Module(version.to_owned())))
    },
};

/// The same for the kernel that runs.
pub(super) static GPUD_KERNEL: Extractor = Extractor {
    needle: " Kernel Version ",
    extract: |line| {
        let version = cell(&line.text, "Kernel Version")?;
        Some(figure(line, Figure::Kernel(version.to_owned())))
    },
};

/// What `dcgmi discovery -l` lists: `|        | PCI Bus ID: 00000000:4C:00.0   |`.
pub(super) static DCGM_GPU: Extractor = Extractor {
    needle: "| PCI Bus ID: ",
    extract: |line| {
        let (_, rest) = line.text.split_once("| PCI Bus ID: ")?;
        let address = rest.split([' ', '|']).next()?;
        // The driver writes a domain with eight digits, the kernel with four.
        let short = address.get(address.len().saturating_sub(12)..)?;
        let place = short.to_ascii_lowercase();
        (place.matches(':').count() == 2).then(|| figure(line, Figure::Gpu(place)))
    },
};

/// The value beside a name in a table's row of two, where it begins like a version.
fn cell<'t>(row: &'t str, name: &str) -> Option<&'t str> {
    let mut cells = row.trim().strip_prefix('|')?.split('|').map(str::trim);
    (cells.next()? == name).then_some(())?;
    cells.next().filter(|value| is_version(value))
}

/// The text of a JSON object's member that has a line to itself, where it begins like a version.
fn member<'t>(line: &'t str, name: &str) -> Option<&'t str> {
    let rest = line.trim().strip_prefix('"')?.strip_prefix(name)?;
    let rest = rest.strip_prefix('"')?.trim_start().strip_prefix(':')?;
    let value = rest.trim().trim_end_matches(',').trim_matches('"');
    is_version(value).then_some(value)
}

fn is_version(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_digit()) && value.contains('.')
}

fn version(line: &LogLine<'_>, text: &str) -> Option<Extracted> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-')));
    let version = &text[..end.unwrap_or(text.len())];
    let like = version.starts_with('v') && version.matches('.').count() >= 2;
    like.then(|| figure(line, Figure::Kubelet(version.to_owned())))
}

/// `Hypervisor detected: KVM`, arch/x86/kernel/cpu/hypervisor.c.
pub(super) static VIRTUAL: Extractor = Extractor {
    needle: "Hypervisor detected: ",
    extract: |line| Some(figure(line, Figure::Virtual)),
};

/// `ACPI: battery: Slot [BAT0] (battery present)`, drivers/acpi/battery.c.
pub(super) static BATTERY: Extractor = Extractor {
    needle: "(battery present)",
    extract: |line| {
        let is_there = line.text.contains("Slot [");
        is_there.then(|| figure(line, Figure::Battery))
    },
};

/// `"Fast updating node status as it just became ready"`, pkg/kubelet/kubelet_node_status.go since 1.26.
pub(super) static NODE_READY: Extractor = Extractor {
    needle: "node status as it just became ready",
    extract: |line| Some(figure(line, Figure::Ready)),
};

/// `"Node became not ready" node="gpu-1" condition={...}`, pkg/kubelet/nodestatus/setters.go.
pub(super) static NODE_NOT_READY: Extractor = Extractor {
    needle: "Node became not ready",
    extract: |line| Some(figure(line, Figure::NotReady)),
};

/// `-> Kernel source path: '/lib/modules/5.13.0-35-generic/build'` of NVIDIA's installer, kernel.c of nvidia-installer.
pub(super) static INSTALLER_KERNEL: Extractor = Extractor {
    needle: "-> Kernel source path: '/lib/modules/",
    extract: |line| {
        let (_, rest) = line.text.split_once("'/lib/modules/")?;
        let (kernel, _) = rest.split_once('/')?;
        Some(figure(line, Figure::BuildsFor(kernel.to_owned())))
    },
};

/// `Installation of the NVIDIA Accelerated Graphics Driver for Linux-x86_64 (version: 525.116.04) is now complete.`
pub(super) static INSTALLER_DONE: Extractor = Extractor {
    needle: ") is now complete.",
    extract: |line| {
        let (_, rest) = line.text.split_once("Installation of the NVIDIA ")?;
        let (version, _) = rest.split_once("(version: ")?.1.split_once(')')?;
        Some(figure(line, Figure::Installed(version.to_owned())))
    },
};

fn figure(line: &LogLine<'_>, figure: Figure) -> Extracted {
    Extracted::Host(said(line, HostSays::Figure(figure)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{Channel, Origin};

    fn told(extractor: &Extractor, channel: Channel, text: &str) -> Option<Figure> {
        let origin = Origin::of("nodes/n/journal/x", channel);
        let line = origin.decode(text.as_bytes(), 0);
        assert!(text.contains(extractor.needle));
        match (extractor.extract)(&line)? {
            Extracted::Host(host) => match host.says {
                HostSays::Figure(figure) => Some(figure),
                _ => None,
            },
            _ => None,
        }
    }

    #[test]
    fn versions_and_gpus_are_read_from_lines() {
        let kubelet = "May 12 04:54:38 h kubelet.sh[2]: I0512 04:54:38.738598    2473 server.go:491] \"Kubelet version\" kubeletVersion=\"v1.31.4\"";
        assert_eq!(
            told(&KUBELET, Channel::Journal, kubelet),
            Some(Figure::Kubelet("v1.31.4".into()))
        );
        let old = "I1119 11:58:27.862196    4390 server.go:411] Version: v1.19.4";
        assert_eq!(
            told(&OLD_KUBELET, Channel::Journal, old),
            Some(Figure::Kubelet("v1.19.4".into()))
        );
        let other = old.replace("server.go", "main.go");
        assert_eq!(told(&OLD_KUBELET, Channel::Journal, &other), None);
        let k3s = "time=\"2024-01-02T03:04:05Z\" level=info msg=\"Starting k3s agent v1.28.4+k3s1 (6ba6c1b6)\"";
        assert_eq!(
            told(&DISTRIBUTION, Channel::Journal, k3s),
            Some(Figure::Kubelet("v1.28.4+k3s1".into()))
        );
        let kernel = "I1119 11:58:33.235865    4390 manager.go:229] Version: {KernelVersion:4.9.56 ContainerOsVersion:Alpine Linux v3.12}";
        assert_eq!(
            told(&KERNEL, Channel::Journal, kernel),
            Some(Figure::Kernel("4.9.56".into()))
        );
        let gpu = "[    0.5] pci 0000:01:00.0: [10de:1c8d] type 00 class 0x030000";
        let found = told(&GPU_ON_BUS, Channel::Kernel, gpu);
        assert_eq!(found, Some(Figure::Gpu("0000:01:00.0".into())));
        let audio = "[    0.5] pci 0000:01:00.1: [10de:0fb9] type 00 class 0x040300";
        assert_eq!(told(&GPU_ON_BUS, Channel::Kernel, audio), None);
        let table = "| Driver Version Detected   | 570.148.08               |";
        let found = told(&DCGM_DRIVER, Channel::Journal, table);
        assert_eq!(found, Some(Figure::Module("570.148.08".into())));
        let json = "\t\t\"Driver Version Detected\" : \"580.82.09\",";
        let found = told(&DCGM_DRIVER, Channel::Journal, json);
        assert_eq!(found, Some(Figure::Module("580.82.09".into())));
        let bus = "|        | PCI Bus ID: 00000000:4C:00.0                |";
        let found = told(&DCGM_GPU, Channel::Journal, bus);
        assert_eq!(found, Some(Figure::Gpu("0000:4c:00.0".into())));
        let driver = "|     GPU Driver Version    |          535.161.08          |";
        let found = told(&GPUD_DRIVER, Channel::Journal, driver);
        assert_eq!(found, Some(Figure::Module("535.161.08".into())));
        let kernel = "|       Kernel Version      |       6.8.0-79-generic       |";
        let found = told(&GPUD_KERNEL, Channel::Journal, kernel);
        assert_eq!(found, Some(Figure::Kernel("6.8.0-79-generic".into())));
        let none = "|     GPU Driver Version    |                              |";
        assert_eq!(told(&GPUD_DRIVER, Channel::Journal, none), None);
        let module = "[    5.1] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.126.09  Release Build";
        let found = told(&MODULE, Channel::Kernel, module);
        assert_eq!(found, Some(Figure::Module("580.126.09".into())));
    }
}
