//! Codes of the driver, with class and first action. Sources: NVIDIA's Xid catalogue
//! (<https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html>) and the older listing of causes
//! (<https://docs.nvidia.com/deploy/xid-errors/index.html>).

use serde::Serialize;

/// Where the fault most often lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The program; the GPU is well.
    Application,
    /// The driver or its firmware.
    Driver,
    /// The GPU's memory.
    Memory,
    /// NVLink or chip-to-chip link.
    Link,
    /// PCIe.
    Bus,
    /// Power or temperature.
    Power,
    /// The GPU as a whole.
    Hardware,
    /// Another message's consequence.
    Consequence,
    /// No fault.
    Information,
}

/// What NVIDIA says to do first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Nothing at once.
    None,
    /// Restart the program.
    RestartApplication,
    /// Reset the GPU.
    ResetGpu,
    /// Restart the machine.
    RestartMachine,
    /// Follow the catalogue's own procedure for this code.
    Procedure,
    /// Call the vendor.
    ContactVendor,
    /// Check cables and seating.
    CheckCables,
}

impl Action {
    /// As an instruction.
    pub fn words(self) -> &'static str {
        match self {
            Self::None => "nothing at once",
            Self::RestartApplication => "restart the application",
            Self::ResetGpu => "drain the node and reset the GPU",
            Self::RestartMachine => "drain and restart the machine",
            Self::Procedure => "follow NVIDIA's procedure for this code",
            Self::ContactVendor => "contact the vendor",
            Self::CheckCables => "check the board's power cables and seating",
        }
    }
}

/// What is known of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Xid {
    /// What happened.
    pub meaning: &'static str,
    /// Where the fault most often lies.
    pub class: Class,
    /// What to do first.
    pub action: Action,
}

/// Looks a code up; none for codes that the catalogue marks as unused or that are newer than it.
#[expect(clippy::too_many_lines, reason = "a table: one row a code")]
pub fn lookup(code: u32) -> Option<Xid> {
    use Action as A;
    use Class as C;
    let (meaning, class, action) = match code {
        8 => (
            "a channel of the GPU made no progress in time",
            C::Application,
            A::RestartApplication,
        ),
        11 | 25 => (
            "a broken or illegal command stream reached the GPU",
            C::Application,
            A::RestartApplication,
        ),
        13 => (
            "an exception in the compute engine, such as an address out of range",
            C::Application,
            A::RestartApplication,
        ),
        31 => (
            "a page fault: a program used an address that is not mapped",
            C::Application,
            A::RestartApplication,
        ),
        32 => (
            "the command fetch unit read a corrupted stream",
            C::Application,
            A::RestartApplication,
        ),
        37 | 38 | 44 => ("the front-end firmware failed", C::Driver, A::None),
        39..=41 | 70..=72 | 75..=77 | 85 | 126..=135 => (
            "a copy engine raised an exception",
            C::Application,
            A::RestartApplication,
        ),
        43 => (
            "a channel was torn down after an earlier fault of its process",
            C::Consequence,
            A::None,
        ),
        45 => (
            "the driver removed a channel after its process ended or failed",
            C::Consequence,
            A::None,
        ),
        46 => (
            "the GPU stopped and a time-out fired",
            C::Driver,
            A::ResetGpu,
        ),
        48 => (
            "an uncorrectable ECC error in the GPU's memory",
            C::Memory,
            A::Procedure,
        ),
        54 => (
            "the board's extra power connector is not connected",
            C::Power,
            A::CheckCables,
        ),
        60 => (
            "an exception in the video or security processor",
            C::Driver,
            A::RestartApplication,
        ),
        62 => (
            "the power management controller halted",
            C::Hardware,
            A::ResetGpu,
        ),
        63 => (
            "a memory row was marked for remapping (or a page retired) at the next reset",
            C::Memory,
            A::None,
        ),
        64 => (
            "recording a row remap or page retirement failed",
            C::Memory,
            A::ResetGpu,
        ),
        66 | 67 => (
            "the driver used a register that it must not",
            C::Driver,
            A::None,
        ),
        68 => (
            "the video decoder raised an exception",
            C::Application,
            A::RestartApplication,
        ),
        69 => (
            "a command did not fit its engine's class",
            C::Application,
            A::RestartApplication,
        ),
        74 => ("an NVLink error", C::Link, A::Procedure),
        78 => ("a vGPU could not start", C::Driver, A::ContactVendor),
        79 => (
            "the GPU no longer answers on PCIe",
            C::Bus,
            A::RestartMachine,
        ),
        80 => (
            "commands arrived corrupted at the GPU",
            C::Bus,
            A::RestartApplication,
        ),
        82..=84 | 86 | 88 | 89 | 96..=105 | 139 => (
            "a media engine raised an error",
            C::Application,
            A::RestartApplication,
        ),
        92 => ("a high rate of corrected memory errors", C::Memory, A::None),
        93 => ("the InfoROM passed its wear limit", C::Hardware, A::None),
        94 => (
            "an uncorrectable memory error, contained to one application",
            C::Memory,
            A::RestartApplication,
        ),
        95 => (
            "an uncorrectable memory error that was not contained",
            C::Memory,
            A::ResetGpu,
        ),
        106 | 107 | 162..=164 => (
            "a notice of the management interface",
            C::Information,
            A::None,
        ),
        109 => ("a context switch timed out", C::Driver, A::ResetGpu),
        110 => ("a security fault", C::Hardware, A::ResetGpu),
        119 => (
            "the GSP firmware did not answer in time",
            C::Driver,
            A::ResetGpu,
        ),
        120 => ("the GSP firmware reported an error", C::Driver, A::ResetGpu),
        121 => ("a chip-to-chip link error", C::Link, A::None),
        136 => ("NVLink training failed", C::Link, A::ResetGpu),
        137 => (
            "a program used a peer's memory over NVLink without permission",
            C::Application,
            A::None,
        ),
        140 => (
            "an uncorrectable ECC error escaped recovery",
            C::Memory,
            A::ResetGpu,
        ),
        141 => ("a CUDA fast-path error", C::Application, A::None),
        142 => ("a video encoder error", C::Driver, A::ContactVendor),
        143 => ("the GPU failed to initialise", C::Hardware, A::ResetGpu),
        144..=150 => ("an NVLink 5 error", C::Link, A::Procedure),
        151 => (
            "an encryption key was not renewed",
            C::Driver,
            A::RestartMachine,
        ),
        152 | 153 => ("a deep learning accelerator fault", C::Application, A::None),
        154 => (
            "the driver's recommended recovery action changed",
            C::Consequence,
            A::Procedure,
        ),
        155 => ("an NVLink error class of the driver", C::Link, A::ResetGpu),
        156 | 160 => (
            "a resource or memory channel was retired",
            C::Memory,
            A::ResetGpu,
        ),
        157 | 161 => (
            "retiring a resource or memory channel failed",
            C::Memory,
            A::ContactVendor,
        ),
        158 => ("a fatal GPU time-out", C::Hardware, A::ResetGpu),
        159 => ("a coherent interface error", C::Consequence, A::Procedure),
        165 => (
            "the power smoothing circuit is used up",
            C::Power,
            A::ContactVendor,
        ),
        167 => ("a fatal PCIe time-out", C::Bus, A::RestartMachine),
        168 => (
            "errors in a protected memory region",
            C::Memory,
            A::ContactVendor,
        ),
        169 => (
            "the internal security controller halted",
            C::Hardware,
            A::ResetGpu,
        ),
        166 | 170 => (
            "a fault of confidential computing",
            C::Driver,
            A::ContactVendor,
        ),
        171 | 172 => (
            "detail to an uncorrectable ECC error",
            C::Memory,
            A::Procedure,
        ),
        _ => return None,
    };
    Some(Xid {
        meaning,
        class,
        action,
    })
}
