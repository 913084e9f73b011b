//! `ip route show table all` and `ip rule`, as text and as JSON (`-j`).

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use serde_json::Value;

use super::{PolicyRule, RouteEntry, RouteKind, Routing};
use crate::iptables::Origin;
use crate::question::CapturedText;

/// Routes and rules that are kept of one text.
const MAX: usize = 200_000;

impl Routing {
    /// Adds the routes of an output of `ip route`.
    pub fn read_routes(&mut self, captured: CapturedText<'_>) {
        let path: Arc<str> = Arc::from(captured.path);
        self.realms |= captured.text.contains("realm");
        if let Some(objects) = objects(captured.text) {
            let routes = objects
                .iter()
                .filter_map(|object| from_words(&json_words(object), &path, 1));
            self.routes.extend(routes.take(MAX));
            return;
        }
        for (index, line) in captured.text.lines().enumerate().take(MAX) {
            let number = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
            let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
            if words.first().is_some_and(|word| word == "nexthop") {
                self.next_hop(&words);
            } else {
                self.routes.extend(from_words(&words, &path, number));
            }
        }
    }

    /// A further line of a route with several next hops.
    fn next_hop(&mut self, words: &[String]) {
        let Some(last) = self.routes.last_mut() else {
            return;
        };
        let device = after(words, "dev").map(str::to_owned);
        if last.device.is_none() {
            last.device = device;
            last.gateway = after(words, "via").and_then(|via| via.parse().ok());
        } else {
            last.also.extend(device);
        }
    }

    /// Adds the rules of an output of `ip rule`.
    pub fn read_rules(&mut self, captured: CapturedText<'_>) {
        self.realms |= captured.text.contains("realm");
        let rules: Vec<PolicyRule> = match objects(captured.text) {
            Some(objects) => objects.iter().filter_map(rule_of_json).take(MAX).collect(),
            None => captured
                .text
                .lines()
                .filter_map(rule_of_line)
                .take(MAX)
                .collect(),
        };
        self.rules.extend(rules);
        self.rules.sort_by_key(|rule| rule.priority);
    }
}

fn objects(text: &str) -> Option<Vec<Value>> {
    match serde_json::from_str(text.trim_start()).ok()? {
        Value::Array(objects) => Some(objects),
        _ => None,
    }
}

/// The words that the text form has for a route of the JSON form.
fn json_words(object: &Value) -> Vec<String> {
    let text = |key: &str| match object.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let mut words: Vec<String> = text("type").into_iter().collect();
    words.extend(text("dst"));
    let hop = object.get("nexthops").and_then(|hops| hops.get(0));
    let of_hop = |key: &str| hop.and_then(|hop| Some(hop.get(key)?.as_str()?.to_owned()));
    for (word, value) in [
        ("via", text("gateway").or_else(|| of_hop("gateway"))),
        ("dev", text("dev").or_else(|| of_hop("dev"))),
        ("table", text("table")),
        ("metric", text("metric")),
        ("src", text("prefsrc")),
        ("pref", text("pref")),
    ] {
        if let Some(value) = value {
            words.extend([word.to_owned(), value]);
        }
    }
    let metrics = object.get("metrics").and_then(|metrics| metrics.get(0));
    for key in ["mtu", "advmss"] {
        let value = metrics.and_then(|metrics| metrics.get(key)?.as_u64());
        words.extend(
            value
                .map(|value| [key.to_owned(), value.to_string()])
                .into_iter()
                .flatten(),
        );
    }
    let hops = object.get("nexthops").and_then(Value::as_array);
    for device in hops
        .into_iter()
        .flatten()
        .skip(1)
        .filter_map(|hop| hop.get("dev")?.as_str())
    {
        words.extend(["nexthop", "dev", device].map(str::to_owned));
    }
    let flags = object.get("flags").and_then(Value::as_array);
    words.extend(
        flags
            .into_iter()
            .flatten()
            .filter_map(|flag| flag.as_str().map(str::to_owned)),
    );
    words
}

fn after<'a>(words: &'a [String], key: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| word == key)?;
    words.get(at + 1).map(String::as_str)
}

fn from_words(words: &[String], path: &Arc<str>, line: u32) -> Option<RouteEntry> {
    let kind = |word: &str| {
        Some(match word {
            "unicast" => RouteKind::Unicast,
            "local" => RouteKind::Local,
            "broadcast" | "multicast" | "anycast" => RouteKind::Broadcast,
            "unreachable" => RouteKind::Unreachable,
            "blackhole" => RouteKind::Blackhole,
            "prohibit" => RouteKind::Prohibit,
            "throw" => RouteKind::Throw,
            _ => return None,
        })
    };
    let (kind, rest) = match words.first().and_then(|word| kind(word)) {
        Some(kind) => (kind, words.get(1..)?),
        None => (RouteKind::Unicast, words),
    };
    let gateway: Option<IpAddr> = after(rest, "via").and_then(|via| via.parse().ok());
    let dead = words.iter().any(|word| word == "dead");
    let mut devices = rest
        .windows(2)
        .filter(|pair| pair[0] == "dev")
        .map(|pair| pair[1].clone());
    let to = destination(rest.first()?, words, gateway)?;
    Some(RouteEntry {
        to,
        table: after(rest, "table").unwrap_or("main").to_owned(),
        kind,
        device: devices.next(),
        also: devices.collect(),
        gateway,
        metric: after(rest, "metric")
            .and_then(|metric| metric.parse().ok())
            .unwrap_or(0),
        mtu: after(rest, "mtu")
            .filter(|word| *word != "lock")
            .or(after(rest, "lock"))
            .and_then(|mtu| mtu.parse().ok()),
        mtu_locked: after(rest, "mtu") == Some("lock"),
        advmss: after(rest, "advmss").and_then(|size| size.parse().ok()),
        dead,
        origin: Origin {
            path: Arc::clone(path),
            line,
        },
        text: words.join(" "),
    })
}

/// A prefix, an address, or `default` of the family that the rest of the line shows.
fn destination(word: &str, words: &[String], gateway: Option<IpAddr>) -> Option<IpNet> {
    if word == "default" {
        let six = gateway.is_some_and(|gateway| gateway.is_ipv6())
            // Only routes of IPv6 have a preference.
            || words.iter().any(|word| word.contains("::") || word == "pref");
        let any = if six { "::/0" } else { "0.0.0.0/0" };
        return any.parse().ok();
    }
    prefix(word)
}

fn prefix(word: &str) -> Option<IpNet> {
    match word.parse() {
        Ok(net) => Some(net),
        Err(_) => word.parse::<IpAddr>().ok().map(IpNet::from),
    }
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `99: not from all fwmark 0x100000/0x100000 lookup 1`.
fn rule_of_line(line: &str) -> Option<PolicyRule> {
    let (priority, rest) = line.split_once(':')?;
    let words: Vec<String> = rest.split_ascii_whitespace().map(str::to_owned).collect();
    rule(priority.trim().parse().ok()?, &words)
}

fn rule_of_json(object: &Value) -> Option<PolicyRule> {
    let text = |key: &str| match object.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let mut words = Vec::new();
    if object.get("not").is_some() {
        words.push("not".to_owned());
    }
    for (word, key, length) in [("from", "src", "srclen"), ("to", "dst", "dstlen")] {
        if let Some(address) = text(key) {
            let net = match text(length) {
                Some(length) if address != "all" => format!("{address}/{length}"),
                _ => address,
            };
            words.extend([word.to_owned(), net]);
        }
    }
    if let Some(mark) = text("fwmark") {
        let mask = text("fwmask").map_or_else(String::new, |mask| format!("/{mask}"));
        words.extend(["fwmark".to_owned(), format!("{mark}{mask}")]);
    }
    for key in ["iif", "oif", "ipproto", "sport", "dport", "tos", "uidrange"] {
        if let Some(value) = text(key) {
            words.extend([key.to_owned(), value]);
        }
    }
    if let Some(length) = text("suppress_prefixlen") {
        words.extend(["suppress_prefixlength".to_owned(), length]);
    }
    match text("table") {
        Some(table) => words.extend(["lookup".to_owned(), table]),
        None => words.extend(text("action")),
    }
    rule(number(&text("priority")?)?, &words)
}

fn rule(priority: u32, words: &[String]) -> Option<PolicyRule> {
    let net = |key: &str| match after(words, key) {
        None | Some("all" | "any" | "default") => Some(None),
        Some(word) => prefix(word).map(Some),
    };
    let mark = match after(words, "fwmark") {
        None => None,
        Some(text) => Some(match text.split_once('/') {
            Some((value, mask)) => (number(value)?, number(mask)?),
            None => (number(text)?, u32::MAX),
        }),
    };
    let has = |key: &str| words.iter().any(|word| word == key);
    let table = after(words, "lookup").or(after(words, "table"));
    let any_of = |names: &[&str]| names.iter().any(|name| has(name));
    if any_of(&["nop"]) {
        return None;
    }
    // A rule with another action is kept as one that may do anything.
    let followed = table.is_some() || any_of(&["unreachable", "blackhole", "prohibit"]);
    Some(PolicyRule {
        priority,
        not: has("not"),
        from: net("from")?,
        to: net("to")?,
        iif: after(words, "iif").map(str::to_owned),
        mark,
        other: !followed || any_of(&["oif", "ipproto", "sport", "dport", "tos", "uidrange"]),
        table: table.map(str::to_owned),
        suppress: after(words, "suppress_prefixlength").and_then(|length| length.parse().ok()),
    })
}
