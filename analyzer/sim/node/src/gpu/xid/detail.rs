//! What a message says besides its code: the recovery action of 154, the severity of an NVLink 5 error, what 45 follows
//! from, the MIG instance that is hit.

use super::catalogue::Action;

/// A detail of a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// The MIG instance that the fault is attributed to.
    Instance(u32),
    /// The code that this one follows from, as the driver says.
    After(u32),
    /// A unit of NVLink 5 reports an error.
    Nvlink5 {
        /// The unit, with the link where one is named.
        unit: String,
        /// Whether the driver calls it fatal.
        fatal: bool,
        /// The first two numbers in brackets, which say what is to be done: see [`super::nvlink5`].
        numbers: Option<(u32, u32)>,
    },
    /// The recovery action that the driver asks for from now on, in its own words.
    Recovery(String),
}

/// Longer words are none of the driver.
const LONGEST: usize = 48;

/// Reads the detail that a message of this code can have.
pub(super) fn read(code: u32, message: &str) -> Option<Detail> {
    match code {
        154 => asked_for(message).map(Detail::Recovery),
        144..=150 => unit(message),
        45 => {
            let (_, rest) = message.split_once("previous Xid ")?;
            let end = rest.find(|c: char| !c.is_ascii_digit());
            let code = rest[..end.unwrap_or(rest.len())].parse().ok()?;
            Some(Detail::After(code))
        }
        _ => None,
    }
}

/// `GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)`.
fn asked_for(message: &str) -> Option<String> {
    let (_, to) = message.rsplit_once(" to ")?;
    let (_, words) = to.split_once('(')?;
    let words = words.split_once(')')?.0.trim();
    (!words.is_empty() && words.len() <= LONGEST).then(|| words.to_owned())
}

/// `RLW_RXPIPE Nonfatal XC0 i0 Link 13 (...)`.
fn unit(message: &str) -> Option<Detail> {
    let words: Vec<&str> = message.split_whitespace().take(24).collect();
    let at = words
        .iter()
        .position(|word| matches!(*word, "Fatal" | "Nonfatal"))?;
    let named = words.get(at.checked_sub(1)?)?;
    let mut name: String = named.chars().take(LONGEST).collect();
    if let Some(link) = words.iter().position(|word| *word == "Link")
        && let Some(number) = words.get(link + 1)
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        name = format!("{name}, link {number}");
    }
    Some(Detail::Nvlink5 {
        unit: name,
        fatal: words[at] == "Fatal",
        numbers: numbers(message),
    })
}

/// `(0x0409a0c2 0x00000008 0x00000001 ...)`: IntrInfo and error status.
fn numbers(message: &str) -> Option<(u32, u32)> {
    let (_, inside) = message.split_once("(0x")?;
    let (inside, _) = inside.split_once(')')?;
    let mut words = inside.split_whitespace();
    let hex = |word: &str| u32::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    Some((hex(words.next()?)?, hex(words.next()?)?))
}

/// What a recovery action in the words of the driver or of `nvidia-smi` asks for; none for words that are not known.
/// Words of drivers 550 to 610: None, Reset, GPU Reset Required, PF FLR, Reboot, Node Reboot Required, OS Reboot,
/// Drain P2P, Drain and Reset.
pub fn recovery(words: &str) -> Option<Action> {
    let lower = words.to_ascii_lowercase();
    Some(match lower.as_str() {
        "none" => Action::None,
        "drain p2p" => Action::DrainPeers,
        _ if lower.contains("reboot") => Action::RestartMachine,
        _ if lower.contains("reset") || lower.contains("flr") => Action::ResetGpu,
        _ => return None,
    })
}
