//! Faults: the ways in which an API server under stress misbehaves, chosen by path prefix.

use std::str::FromStr;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An answer with this status and a `Status` object.
    Status(u16),
    /// The request is read and never answered.
    Hang,
    /// The body comes a few bytes at a time, for ever.
    Drip,
    /// The connection breaks in the middle of the body.
    Cut,
    /// Half of the body comes, and then nothing.
    Stall,
    /// The connection is closed without an answer.
    Close,
    /// This status with `Retry-After: 1` for the first two requests, then the answer.
    Busy(u16),
    /// For a third of a second from the first request on, connections are closed without an answer.
    Blip,
    /// A page of HTML, as a proxy in between sends it.
    Garbage,
    /// A list with one object of 20 MiB among the others.
    Huge,
    /// The list says that it goes on, and its continue token has expired.
    Expired,
}

/// The faults of one server: the longest prefix that fits decides.
#[derive(Debug, Clone, Default)]
pub struct Faults(Vec<(String, Fault)>);

impl Faults {
    /// Adds a fault for all paths that begin with `prefix`.
    #[must_use]
    pub fn with(mut self, prefix: &str, fault: Fault) -> Self {
        self.0.push((prefix.to_owned(), fault));
        self
    }

    /// The fault for a path, if any.
    pub fn of(&self, path: &str) -> Option<Fault> {
        let fitting = self
            .0
            .iter()
            .filter(|(prefix, _)| path.starts_with(prefix.as_str()));
        fitting
            .max_by_key(|(prefix, _)| prefix.len())
            .map(|(_, fault)| *fault)
    }

    /// Adds a fault written as `PREFIX=500|hang|drip|cut|stall|close|garbage|huge|expired|busy|blip`.
    ///
    /// # Errors
    /// When the text has another form.
    pub fn parse_into(self, text: &str) -> anyhow::Result<Self> {
        let (prefix, fault) = text
            .rsplit_once('=')
            .ok_or_else(|| anyhow::anyhow!("a fault is PREFIX=500|hang|drip|cut|stall|close|garbage|huge|expired|busy|blip, not {text:?}"))?;
        Ok(self.with(prefix, fault.parse()?))
    }
}

impl FromStr for Fault {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "hang" => Ok(Fault::Hang),
            "drip" => Ok(Fault::Drip),
            "cut" => Ok(Fault::Cut),
            "stall" => Ok(Fault::Stall),
            "blip" => Ok(Fault::Blip),
            "close" => Ok(Fault::Close),
            "garbage" => Ok(Fault::Garbage),
            "huge" => Ok(Fault::Huge),
            "expired" => Ok(Fault::Expired),
            "busy" => Ok(Fault::Busy(429)),
            status => Ok(Fault::Status(status.parse()?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_fitting_prefix_decides() {
        let faults = Faults::default()
            .with("/api", Fault::Hang)
            .with("/api/v1/pods", Fault::Status(500));
        assert_eq!(faults.of("/api/v1/pods"), Some(Fault::Status(500)));
        assert_eq!(faults.of("/api/v1/nodes"), Some(Fault::Hang));
        assert_eq!(faults.of("/version"), None);
    }
}
