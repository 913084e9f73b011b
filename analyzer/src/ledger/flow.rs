//! Packets that errors name: the address, port and protocol of a connection that failed, and how it failed.

use std::net::IpAddr;

use crate::form::Form;

/// A packet that an error names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// Source, where the error tells it.
    pub from: Option<IpAddr>,
    /// Destination.
    pub to: IpAddr,
    /// Destination port.
    pub port: u16,
    /// UDP; otherwise TCP.
    pub udp: bool,
    /// How it failed, in the words of the error.
    pub error: String,
}

const ADDRESS: &str =
    r"\[?(?P<to>\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}:[0-9a-fA-F:]{2,40})\]?:(?P<port>\d{1,5})";
const FAILURE: &str = r"(?P<error>no route to host|network is unreachable|connection refused|i/o timeout|connection timed out|operation not permitted|context deadline exceeded)";

/// Go: `dial tcp A:P: connect: no route to host`.
static DIAL: Form =
    Form::made(|| format!(r"dial (?P<proto>tcp|udp)[46]? {ADDRESS}: (?:connect: )?{FAILURE}"));
/// Go: `read udp S:p->A:53: i/o timeout`, as lookups end.
static READ: Form = Form::made(|| {
    format!(
        r"(?:read|write) (?P<proto>tcp|udp)[46]? \[?(?P<from>[0-9a-fA-F.:]+?)\]?:\d+->{ADDRESS}: (?:read: |write: )?{FAILURE}"
    )
});
/// Go: `lookup NAME on S:53: ...: i/o timeout`.
static LOOKUP: Form = Form::made(|| format!(r"lookup \S+ on {ADDRESS}: .{{0,160}}?{FAILURE}"));
/// Node: `connect ECONNREFUSED A:P`.
static NODE: Form = Form::made(|| {
    format!(r"connect (?P<error>ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) {ADDRESS}")
});
/// curl and libpq: `connect to A port P failed: Connection refused`, `server at "x" (A), port P failed: timeout expired`.
static PORT: Form = Form::new(
    r"(?i)(?:connect to |\()(?P<to>\d{1,3}(?:\.\d{1,3}){3})\)?,? (?:TCP/IP )?port:? (?P<port>\d{1,5}).{0,20}?(?:failed|:).{0,40}?(?P<error>connection refused|no route to host|connection timed out|timeout expired|network is unreachable)",
);

/// The packets that a text names, each once.
pub fn named(text: &str) -> Vec<Named> {
    let mut found: Vec<Named> = Vec::new();
    for pattern in [&READ, &DIAL, &LOOKUP, &NODE, &PORT] {
        let Some(regex) = pattern.on(text) else {
            continue;
        };
        for captures in regex.captures_iter(text) {
            let part = |name: &str| captures.name(name).map(|part| part.as_str());
            let to = part("to").and_then(|to| to.parse::<IpAddr>().ok());
            let port = part("port").and_then(|port| port.parse::<u16>().ok());
            let (Some(to), Some(port)) = (to, port) else {
                continue;
            };
            let is_lookup = captures
                .get(0)
                .is_some_and(|all| all.as_str().starts_with("lookup "));
            let packet = Named {
                from: part("from").and_then(|from| from.parse().ok()),
                to,
                port,
                udp: is_lookup || part("proto") == Some("udp"),
                error: part("error").unwrap_or_default().to_ascii_lowercase(),
            };
            let same = |known: &Named| {
                (known.to, known.port, known.udp) == (packet.to, packet.port, packet.udp)
            };
            if !found.iter().any(same) {
                found.push(packet);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> (String, u16, bool, String) {
        let found = named(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        let packet = &found[0];
        (
            packet.to.to_string(),
            packet.port,
            packet.udp,
            packet.error.clone(),
        )
    }

    #[test]
    fn an_error_of_each_client_names_its_packet() {
        for (text, to, port, udp, error) in [
            (
                "Get \"https://10.96.0.1:443/api\": dial tcp 10.96.0.1:443: connect: no route to host",
                "10.96.0.1",
                443,
                false,
                "no route to host",
            ),
            (
                "dial tcp: lookup db on 10.96.0.10:53: read udp 10.42.0.7:41000->10.96.0.10:53: i/o timeout",
                "10.96.0.10",
                53,
                true,
                "i/o timeout",
            ),
            (
                "lookup r.example on 192.168.1.1:53: i/o timeout",
                "192.168.1.1",
                53,
                true,
                "i/o timeout",
            ),
            (
                "Error: connect ECONNREFUSED 10.43.7.12:5432",
                "10.43.7.12",
                5432,
                false,
                "econnrefused",
            ),
            (
                "dial tcp [fd00::1]:6443: i/o timeout",
                "fd00::1",
                6443,
                false,
                "i/o timeout",
            ),
            (
                "curl: (7) Failed to connect to 10.0.0.5 port 80: Connection refused",
                "10.0.0.5",
                80,
                false,
                "connection refused",
            ),
        ] {
            assert_eq!(one(text), (to.to_owned(), port, udp, error.to_owned()));
        }
        assert_eq!(named("lookup db on 10.96.0.10:53: no such host"), []);
    }
}
