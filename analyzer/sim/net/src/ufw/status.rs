//! The output of `ufw status`, plain, verbose or numbered.

use super::origin;
use crate::iptables::Origin;

/// What `ufw status` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UfwStatus {
    /// Active or inactive; `None` when the output says neither (an error text).
    pub active: Option<bool>,
    /// Where it says so.
    pub active_origin: Option<Origin>,
    /// Logging, e.g. `on (low)`.
    pub logging: Option<String>,
    /// Default for incoming traffic: `allow`, `deny` or `reject`.
    pub incoming: Option<String>,
    /// Default for outgoing traffic.
    pub outgoing: Option<String>,
    /// Default for routed traffic; `disabled` where the host does not forward.
    pub routed: Option<String>,
    /// Where the defaults stand.
    pub defaults_origin: Option<Origin>,
    /// The rules, in order.
    pub rows: Vec<UfwRow>,
}

/// One row of the rule table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UfwRow {
    /// The `To` column, e.g. `Anywhere on eno1` or `22/tcp`.
    pub to: String,
    /// `ALLOW`, `DENY`, `REJECT` or `LIMIT`.
    pub action: String,
    /// `IN`, `OUT` or `FWD`; `IN` where the output leaves it out.
    pub direction: String,
    /// The `From` column, e.g. `Anywhere on lxc+`.
    pub from: String,
    /// True for a rule of IPv6.
    pub v6: bool,
    /// Where it stands.
    pub origin: Origin,
}

/// Reads `ufw status`; never fails, unknown lines are passed over.
pub fn parse_status(path: &str, text: &str) -> UfwStatus {
    let mut status = UfwStatus::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if let Some(value) = line.strip_prefix("Status:") {
            status.active = match value.trim() {
                "active" => Some(true),
                "inactive" => Some(false),
                _ => None,
            };
            status.active_origin = Some(origin(path, index));
        } else if let Some(value) = line.strip_prefix("Logging:") {
            status.logging = Some(value.trim().to_owned());
        } else if let Some(value) = line.strip_prefix("Default:") {
            defaults(&mut status, value);
            status.defaults_origin = Some(origin(path, index));
        } else if let Some(row) = row(path, index, line) {
            status.rows.push(row);
        }
    }
    status
}

fn defaults(status: &mut UfwStatus, text: &str) {
    for part in text.split(',') {
        let mut words = part.split_ascii_whitespace();
        let Some(word) = words.next().map(str::to_owned) else {
            continue;
        };
        match words.next() {
            Some("(incoming)") => status.incoming = Some(word),
            Some("(outgoing)") => status.outgoing = Some(word),
            Some("(routed)") => status.routed = Some(word),
            _ => {}
        }
    }
}

fn row(path: &str, index: usize, line: &str) -> Option<UfwRow> {
    let mut line = line.trim();
    if let Some(rest) = line.strip_prefix('[')
        && let Some((number, rest)) = rest.split_once(']')
        && number.trim().parse::<u32>().is_ok()
    {
        line = rest.trim();
    }
    let (at, action) = ["ALLOW", "DENY", "REJECT", "LIMIT"]
        .into_iter()
        .filter_map(|action| line.find(&format!(" {action}")).map(|at| (at, action)))
        .min()?;
    let rest = line[at + 1 + action.len()..].trim_start();
    if line[at + 1 + action.len()..].starts_with(|c: char| !c.is_ascii_whitespace()) {
        return None;
    }
    let (direction, from) = match rest.split_once(char::is_whitespace) {
        Some((word @ ("IN" | "OUT" | "FWD"), from)) => (word, from),
        _ => ("IN", rest),
    };
    // Comments and remarks such as `(log)` stand two spaces behind the column.
    let from = from.split(" #").next().unwrap_or(from).trim();
    let to = line[..at].trim();
    Some(UfwRow {
        to: to.to_owned(),
        action: action.to_owned(),
        direction: direction.to_owned(),
        from: from.to_owned(),
        v6: to.contains("(v6)")
            || from.contains("(v6)")
            || [to, from].iter().any(|t| t.contains("::")),
        origin: origin(path, index),
    })
}
