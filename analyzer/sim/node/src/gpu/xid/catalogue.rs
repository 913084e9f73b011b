//! Codes of the driver, with class and actions. Sources: NVIDIA's Xid catalogue
//! (<https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html>) for the actions, the older listing of causes
//! (<https://docs.nvidia.com/deploy/xid-errors/index.html>) and the driver's own names
//! (`nverror.h` of NVIDIA/open-gpu-kernel-modules) for codes that the catalogue no longer describes.

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
    /// The code says nothing that is known here; that is not to say that all is well.
    Unknown,
}

/// What NVIDIA says to do, ordered by how much it interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The catalogue names no action.
    NotNamed,
    /// Nothing at once.
    None,
    /// Call the vendor.
    ContactVendor,
    /// Look at the application and the CUDA version that it uses.
    CheckApplication,
    /// Look for a fault in software.
    InvestigateSoftware,
    /// Update driver, firmware or vGPU software.
    UpdateSoftware,
    /// Measure the link.
    CheckLink,
    /// See whether a link of the partition went down shortly before.
    CheckLinkDown,
    /// Look at the device at the other end of the link.
    CheckPeer,
    /// Follow the errors beside it.
    OtherErrorsFirst,
    /// See what the unified memory driver reports.
    CheckUvm,
    /// Check cables and seating.
    CheckCables,
    /// Follow the catalogue's own procedure for this code.
    Procedure,
    /// Do what Xid 154 of the GPU says; without one, restart the program.
    AsRecoveryAction,
    /// Restart the program.
    RestartApplication,
    /// End the programs that use the GPU together with its peers.
    DrainPeers,
    /// Restart the virtual machine.
    RestartVm,
    /// Reset the GPU.
    ResetGpu,
    /// Restart the machine.
    RestartMachine,
}

impl Action {
    /// As an instruction.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotNamed => "NVIDIA's catalogue names no action",
            Self::None => "nothing at once",
            Self::ContactVendor => "contact the vendor",
            Self::CheckApplication => "check the application and its CUDA version",
            Self::InvestigateSoftware => "look for a fault in software",
            Self::UpdateSoftware => "update driver, firmware or vGPU software",
            Self::CheckLink => "check the signal quality of the link",
            Self::CheckLinkDown => {
                "see whether a link of the partition went down in the 30 seconds before; if so, follow that"
            }
            Self::CheckPeer => "look at the device at the other end of the link",
            Self::OtherErrorsFirst => {
                "follow the other errors first; contact the vendor if it is the only error"
            }
            Self::CheckUvm => "see what the unified memory driver reports",
            Self::CheckCables => "check the board's power cables and seating",
            Self::Procedure => "follow NVIDIA's procedure for this code",
            Self::AsRecoveryAction => "restart the application",
            Self::RestartApplication => "restart the application",
            Self::DrainPeers => "end the programs that use this GPU together with its peers",
            Self::RestartVm => "restart the virtual machine",
            Self::ResetGpu => "drain the node and reset the GPU",
            Self::RestartMachine => "drain and restart the machine",
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
    /// What to do then, where that is more.
    pub then: Action,
}

/// Looks a code up; none for codes that no source names.
pub fn lookup(code: u32) -> Option<Xid> {
    let (_, class, action, then, meaning) = ROWS
        .iter()
        .find(|(codes, ..)| codes.iter().any(|(from, to)| (*from..=*to).contains(&code)))?;
    Some(Xid {
        meaning,
        class: *class,
        action: *action,
        then: *then,
    })
}

/// Codes from and to, class, immediate action, action then (`NotNamed`: no more), meaning.
type Row = (&'static [(u32, u32)], Class, Action, Action, &'static str);

use Action as A;
use Class as C;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (&[(8, 8)], C::Application, A::RestartApplication, A::ContactVendor, "a channel of the GPU made no progress in time"),
    (&[(11, 11), (25, 25)], C::Application, A::RestartApplication, A::CheckApplication, "a broken or illegal command stream reached the GPU"),
    (&[(13, 13)], C::Application, A::RestartApplication, A::Procedure, "an exception in the compute engine, such as an address out of range"),
    (&[(31, 31)], C::Application, A::RestartApplication, A::Procedure, "a page fault: a program used an address that is not mapped"),
    (&[(32, 32)], C::Application, A::RestartApplication, A::CheckApplication, "the command fetch unit read a corrupted stream"),
    (&[(37, 37)], C::Driver, A::None, A::CheckApplication, "the front-end firmware got a method that it does not know"),
    (&[(38, 38)], C::Driver, A::None, A::ContactVendor, "the watchdog of the front-end firmware expired"),
    (&[(39, 41), (70, 72), (75, 77), (85, 85), (126, 135)], C::Application, A::RestartApplication, A::ContactVendor, "a copy engine raised an exception"),
    (&[(43, 43)], C::Consequence, A::None, A::ContactVendor, "a channel was torn down after an earlier fault of its process"),
    (&[(44, 44)], C::Driver, A::None, A::ContactVendor, "an engine failed while it switched contexts"),
    (&[(45, 45)], C::Consequence, A::Procedure, A::NotNamed, "the driver removed a channel after its process ended or failed"),
    (&[(46, 46)], C::Driver, A::ResetGpu, A::ContactVendor, "the GPU stopped and a time-out fired"),
    (&[(48, 48)], C::Memory, A::Procedure, A::NotNamed, "an uncorrectable ECC error in the GPU's memory"),
    (&[(54, 54)], C::Power, A::CheckCables, A::ContactVendor, "the board's extra power connector is not connected"),
    (&[(60, 60)], C::Driver, A::RestartApplication, A::InvestigateSoftware, "an exception in the video or security processor"),
    (&[(62, 62)], C::Hardware, A::ResetGpu, A::ContactVendor, "the power management controller halted"),
    (&[(63, 63)], C::Memory, A::None, A::NotNamed, "a memory row was marked for remapping (or a page retired) at the next reset"),
    (&[(64, 64)], C::Memory, A::ResetGpu, A::ContactVendor, "recording a row remap or page retirement failed"),
    (&[(66, 66)], C::Driver, A::None, A::InvestigateSoftware, "the driver used a register that it must not"),
    (&[(67, 67)], C::Driver, A::None, A::ContactVendor, "the driver used a register that it must not"),
    (&[(68, 68)], C::Application, A::RestartApplication, A::ContactVendor, "the video decoder raised an exception"),
    (&[(69, 69)], C::Application, A::RestartApplication, A::CheckApplication, "a command did not fit its engine's class"),
    (&[(74, 74)], C::Link, A::Procedure, A::ContactVendor, "an NVLink error"),
    (&[(78, 78)], C::Driver, A::UpdateSoftware, A::NotNamed, "a vGPU could not start"),
    (&[(79, 79)], C::Bus, A::RestartMachine, A::ContactVendor, "the GPU no longer answers on PCIe"),
    (&[(80, 80)], C::Bus, A::RestartApplication, A::CheckApplication, "commands arrived corrupted at the GPU"),
    (&[(82, 84), (86, 86), (88, 89), (96, 105), (139, 139)], C::Application, A::RestartApplication, A::ContactVendor, "a media engine raised an error"),
    (&[(92, 92)], C::Memory, A::None, A::ContactVendor, "a high rate of corrected memory errors"),
    (&[(93, 93)], C::Hardware, A::None, A::ContactVendor, "the InfoROM passed its wear limit"),
    (&[(94, 94)], C::Memory, A::RestartApplication, A::NotNamed, "an uncorrectable memory error, contained to one application"),
    (&[(95, 95)], C::Memory, A::ResetGpu, A::NotNamed, "an uncorrectable memory error that was not contained"),
    (&[(106, 107)], C::Information, A::None, A::NotNamed, "a test message of the management interface"),
    (&[(109, 109)], C::Driver, A::ResetGpu, A::ContactVendor, "a context switch timed out"),
    (&[(110, 110)], C::Hardware, A::ResetGpu, A::InvestigateSoftware, "a security fault"),
    (&[(119, 119)], C::Driver, A::ResetGpu, A::InvestigateSoftware, "the GSP firmware did not answer in time"),
    (&[(120, 120)], C::Driver, A::ResetGpu, A::InvestigateSoftware, "the GSP firmware reported an error"),
    (&[(121, 121)], C::Link, A::None, A::ContactVendor, "a chip-to-chip link error"),
    (&[(136, 136)], C::Link, A::ResetGpu, A::CheckLink, "NVLink training failed"),
    (&[(137, 137)], C::Application, A::None, A::Procedure, "a program used a peer's memory over NVLink without permission"),
    (&[(140, 140)], C::Memory, A::ResetGpu, A::ContactVendor, "an uncorrectable ECC error escaped recovery"),
    (&[(141, 141)], C::Application, A::None, A::ContactVendor, "a CUDA fast-path error"),
    (&[(142, 142)], C::Driver, A::ContactVendor, A::NotNamed, "a video encoder error"),
    (&[(143, 143)], C::Hardware, A::ResetGpu, A::ContactVendor, "the GPU failed to initialise"),
    (&[(144, 150)], C::Link, A::Procedure, A::NotNamed, "an NVLink 5 error"),
    (&[(151, 151)], C::Driver, A::RestartVm, A::ContactVendor, "an encryption key was not renewed"),
    (&[(152, 153)], C::Application, A::None, A::ContactVendor, "a deep learning accelerator fault"),
    (&[(154, 154)], C::Consequence, A::Procedure, A::NotNamed, "the driver's recommended recovery action changed"),
    (&[(155, 155)], C::Link, A::ResetGpu, A::InvestigateSoftware, "an NVLink error class of the driver"),
    (&[(156, 156)], C::Memory, A::ResetGpu, A::NotNamed, "a resource was retired"),
    (&[(157, 157)], C::Memory, A::None, A::ContactVendor, "retiring a resource failed"),
    (&[(158, 158)], C::Hardware, A::ResetGpu, A::ContactVendor, "a fatal GPU time-out"),
    (&[(159, 159)], C::Consequence, A::CheckUvm, A::NotNamed, "a coherent interface error"),
    (&[(160, 160)], C::Memory, A::None, A::InvestigateSoftware, "a memory channel was retired"),
    (&[(161, 161)], C::Memory, A::None, A::InvestigateSoftware, "retiring a memory channel failed"),
    (&[(162, 164)], C::Information, A::NotNamed, A::NotNamed, "a notice of the power smoothing circuit"),
    (&[(165, 165)], C::Power, A::NotNamed, A::NotNamed, "the power smoothing circuit is used up"),
    (&[(166, 166), (170, 170)], C::Driver, A::NotNamed, A::NotNamed, "a fault of confidential computing"),
    (&[(167, 167)], C::Bus, A::NotNamed, A::NotNamed, "a fatal PCIe time-out"),
    (&[(168, 168)], C::Memory, A::NotNamed, A::NotNamed, "errors in a protected memory region"),
    (&[(169, 169)], C::Hardware, A::NotNamed, A::NotNamed, "the internal security controller halted"),
    (&[(171, 171)], C::Memory, A::NotNamed, A::NotNamed, "detail to an uncorrectable ECC error: it lies in DRAM"),
    (&[(172, 172)], C::Memory, A::NotNamed, A::NotNamed, "detail to an uncorrectable ECC error: it lies in SRAM"),
    (&[(14, 14)], C::Information, A::None, A::ContactVendor, "an error that a program asked the driver to make up"),
    (&[(108, 108)], C::Application, A::None, A::Procedure, "a program used a peer's memory over NVLink without permission"),
    // Unused in the present catalogue, which says to contact support, and printed by older drivers.
    (&[(42, 42), (47, 47), (65, 65), (73, 73)], C::Application, A::ContactVendor, A::NotNamed, "a video engine raised an error"),
    (&[(59, 59), (61, 61)], C::Driver, A::ContactVendor, A::NotNamed, "the power management controller reported an error"),
    (&[(81, 81)], C::Hardware, A::ContactVendor, A::NotNamed, "an error of the VGA subsystem"),
    (&[(90, 90)], C::Memory, A::ContactVendor, A::NotNamed, "an error of the level 2 cache"),
    (&[(122, 125)], C::Hardware, A::ContactVendor, A::NotNamed, "the board's InfoROM could not be read or written"),
    (&[(57, 58)], C::Memory, A::ContactVendor, A::NotNamed, "an error of the frame buffer memory"),
    (&[(1, 7), (9, 10), (12, 12), (15, 24), (26, 30), (33, 36), (49, 53), (55, 56), (87, 87), (91, 91), (111, 118), (138, 138)],
        C::Unknown, A::ContactVendor, A::NotNamed, "a code that NVIDIA's catalogue lists as unused"),
];
