//! NVIDIA's display controllers and the kernel driver that holds each: `lspci -nnk`, or sysfs as the collector read it.

use serde::Deserialize;

/// A display controller of NVIDIA.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Controller {
    /// PCI address as printed, e.g. `19:00.0`.
    pub address: String,
    /// Kernel driver in use; empty if none is named.
    pub driver: String,
    /// Line of the driver (or of the device if none is named), from 1.
    pub line: u32,
}

/// Reads the controllers (classes `03xx`) of vendor `10de`, or named NVIDIA where numbers are not printed.
pub fn controllers(text: &str) -> Vec<Controller> {
    let mut found: Vec<Controller> = Vec::new();
    let mut inside = false;
    for (line, number) in text.lines().zip(1_u32..) {
        if !line.starts_with([' ', '\t']) {
            inside = is_controller(line);
            if inside {
                found.push(Controller {
                    address: line.split(' ').next().unwrap_or_default().to_owned(),
                    driver: String::new(),
                    line: number,
                });
            }
        } else if let (true, Some(driver), Some(last)) = (
            inside,
            line.trim().strip_prefix("Kernel driver in use:"),
            found.last_mut(),
        ) {
            driver.trim().clone_into(&mut last.driver);
            last.line = number;
        }
    }
    found
}

fn is_controller(line: &str) -> bool {
    let kinds = [
        "VGA compatible controller",
        "3D controller",
        "Display controller",
    ];
    let display = kinds.iter().any(|kind| line.contains(kind));
    display && (line.contains("[10de:") || line.contains("NVIDIA Corporation"))
}

/// A device as the collector lists it, attributes as sysfs prints them.
#[derive(Deserialize)]
struct Device {
    address: String,
    vendor: Option<String>,
    class: Option<String>,
    driver: Option<String>,
}

/// Reads the controllers of `host/pci.json`, one device a line. A line that is no device is passed over.
pub fn from_sysfs(text: &str) -> Vec<Controller> {
    let lines = text.lines().zip(1_u32..);
    let devices = lines.filter_map(|(line, number)| {
        let json = line.trim().trim_end_matches(',');
        let device: Device = serde_json::from_str(json).ok()?;
        Some((device, number))
    });
    let display = devices.filter(|(device, _)| {
        let has = |value: &Option<String>, start: &str| {
            value
                .as_deref()
                .is_some_and(|value| value.starts_with(start))
        };
        has(&device.vendor, "0x10de") && has(&device.class, "0x03")
    });
    display
        .map(|(device, line)| Controller {
            address: device.address,
            driver: device.driver.unwrap_or_default(),
            line,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{controllers, from_sysfs};

    #[test]
    fn the_driver_of_each_gpu_is_read_and_other_devices_are_left_out() {
        let text = "00:1f.3 Audio device [0403]: Intel\n\tKernel driver in use: snd_hda_intel\n\
            19:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev a1)\n\tSubsystem: x\n\tKernel driver in use: nouveau\n\
            1a:00.0 Bridge [0680]: NVIDIA Corporation Device [10de:22a3]\n\tKernel driver in use: nvidia-nvswitch\n\
            3b:00.0 VGA compatible controller [0300]: NVIDIA Corporation [10de:2684]\n";
        let found = controllers(text);
        assert_eq!(found.len(), 2);
        assert_eq!(
            (
                found[0].address.as_str(),
                found[0].driver.as_str(),
                found[0].line
            ),
            ("19:00.0", "nouveau", 5)
        );
        assert_eq!((found[1].driver.as_str(), found[1].line), ("", 8));
    }

    #[test]
    fn devices_that_the_collector_listed_are_read_without_lspci() {
        let text = "{\"devices\":[\n\
            {\"address\":\"0000:19:00.0\",\"vendor\":\"0x10de\",\"class\":\"0x030200\",\"driver\":\"nouveau\"},\n\
            {\"address\":\"0000:1a:00.0\",\"vendor\":\"0x10de\",\"class\":\"0x068000\",\"driver\":null},\n\
            {\"address\":\"0000:1b:00.0\",\"vendor\":\"0x10de\",\"class\":\"0x030000\",\"driver\":null}\n]}\n";
        let found = from_sysfs(text);
        let told: Vec<(&str, &str, u32)> = found
            .iter()
            .map(|one| (one.address.as_str(), one.driver.as_str(), one.line))
            .collect();
        assert_eq!(
            told,
            [("0000:19:00.0", "nouveau", 2), ("0000:1b:00.0", "", 4)]
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,80}|(3D controller: NVIDIA Corporation\n?\t?Kernel driver in use:){0,4}") {
            let _ = (controllers(&text), from_sysfs(&text));
        }
    }
}
