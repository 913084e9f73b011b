//! Xid messages: what a code means, and which of a GPU's messages came first.

mod catalogue;
mod detail;
mod health;
mod judge;
mod nvlink5;
mod story;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_lines;

pub use catalogue::{Action, Class, Xid, lookup};
pub use detail::{Detail, recovery};
pub use health::Health;
pub use story::{Event, Story, stories};

/// A message of the driver about a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// PCI address without function, as `0000:a1:00`.
    pub bus: String,
    /// Code.
    pub code: u32,
    /// Process that the driver names; empty if none.
    pub process: String,
    /// What the message says besides, if it is understood.
    pub detail: Option<Detail>,
    /// What follows the code.
    pub message: String,
}

/// Reads `NVRM: Xid (PCI:0000:a1:00): 79, pid=..., name=..., GPU has fallen off the bus.`; older drivers leave out
/// `PCI:`, process and name. A fault of a MIG instance has it behind the address: `(PCI:0000:a1:00 GPU-I:05 GPU-CI:00)`.
pub fn parse(text: &str) -> Option<Line> {
    let rest = &text[text.find("NVRM: Xid (")? + "NVRM: Xid (".len()..];
    let (inside, rest) = rest.split_once(')')?;
    let mut words = inside.split_whitespace();
    let address = words.next()?;
    let bus = bus(address.strip_prefix("PCI:").unwrap_or(address))?;
    let instance = words.find_map(|word| word.strip_prefix("GPU-I:")?.parse().ok());
    let rest = rest.trim_start_matches([':', ' ']);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let code = rest[..end].parse().ok()?;
    let message = rest[end..].trim_start_matches([',', ' ']);
    Some(Line {
        bus,
        code,
        process: process(message),
        detail: detail::read(code, message).or(instance.map(Detail::Instance)),
        message: message.to_owned(),
    })
}

/// Brings PCI addresses to one form: four digits of domain, small letters, no function.
pub fn bus(address: &str) -> Option<String> {
    let address = address.trim();
    let parts: Vec<&str> = address.split([':', '.']).collect();
    let hex = |part: &str| {
        !part.is_empty() && part.len() <= 8 && part.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let (domain, bus, device) = match parts.as_slice() {
        [domain, bus, device] | [domain, bus, device, _] => (*domain, *bus, *device),
        _ => return None,
    };
    if !parts.iter().all(|part| hex(part)) {
        return None;
    }
    let domain = u32::from_str_radix(domain, 16).ok()?;
    let bus = u8::from_str_radix(bus, 16).ok()?;
    let device = u8::from_str_radix(device, 16).ok()?;
    Some(format!("{domain:04x}:{bus:02x}:{device:02x}"))
}

fn process(message: &str) -> String {
    let value = |key: &str| {
        let rest = &message[message.find(key)? + key.len()..];
        let end = rest.find([',', ' ']).unwrap_or(rest.len());
        let value = rest[..end].trim_matches(['\'', '"', '<', '>']);
        (!value.is_empty() && value != "unknown").then(|| value.to_owned())
    };
    value("name=")
        .or_else(|| value("pid=").map(|pid| format!("pid {pid}")))
        .unwrap_or_default()
}
