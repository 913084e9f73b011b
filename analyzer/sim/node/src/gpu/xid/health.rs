//! What `nvidia-smi` says of a GPU, beside its messages.

/// State of a GPU; what is `None` or empty was not reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Uncorrectable ECC errors since the driver was loaded.
    pub ecc_uncorrectable: Option<u64>,
    /// A row remap or page retirement waits for a reset.
    pub remap_pending: Option<bool>,
    /// Remapping failed.
    pub remap_failed: Option<bool>,
    /// Action that the driver asks for, in its words.
    pub recovery_action: String,
    /// Why clocks are lowered: `hw-thermal`, `hw-power-brake`, `hw-slowdown`, `sw-thermal`.
    pub slowdowns: Vec<String>,
    /// Degrees Celsius, and those at which clocks are lowered.
    pub temperature: Option<(i64, i64)>,
    /// State and status of the NVLink fabric.
    pub fabric: (String, String),
    /// PCIe lanes in use, and those at most.
    pub lanes: Option<(i64, i64)>,
    /// What the driver says instead of values, e.g. `GPU is lost`.
    pub trouble: String,
}

impl Health {
    /// Whether the memory is known to be bad.
    pub(super) fn memory_is_bad(&self) -> bool {
        self.ecc_uncorrectable.unwrap_or(0) > 0
            || self.remap_pending == Some(true)
            || self.remap_failed == Some(true)
    }

    /// What stands out, in words: memory, links, heat, power; empty if nothing that was reported does. The recovery action
    /// is judged by itself.
    pub(super) fn words(&self) -> String {
        let mut found: Vec<String> = Vec::new();
        if let Some(errors) = self.ecc_uncorrectable.filter(|errors| *errors > 0) {
            found.push(match errors {
                1 => "1 uncorrectable ECC error".to_owned(),
                _ => format!("{errors} uncorrectable ECC errors"),
            });
        }
        if self.remap_pending == Some(true) {
            found.push("a remap that waits for a reset".into());
        }
        if self.remap_failed == Some(true) {
            found.push("a remap that failed".into());
        }
        let lowered = self.slowdowns.iter().filter(|why| *why != "sw-power-cap");
        found.extend(lowered.map(|why| format!("clocks lowered ({why})")));
        if let Some((now, limit)) = self.temperature.filter(|(now, limit)| now >= limit) {
            found.push(format!("{now} °C of {limit}"));
        }
        let (state, status) = (self.fabric.0.as_str(), self.fabric.1.as_str());
        let well = matches!(state, "" | "Completed" | "N/A") && matches!(status, "" | "Success");
        if !well {
            found.push(format!("NVLink fabric {state} {status}").trim().to_owned());
        }
        if let Some((now, most)) = self.lanes.filter(|(now, most)| now < most) {
            found.push(format!("{now} of {most} PCIe lanes"));
        }
        if !self.trouble.is_empty() {
            found.push(self.trouble.clone());
        }
        found.join(", ")
    }
}
