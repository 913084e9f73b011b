//! A rule of `ufw route`, as far as a fix needs it: read from its words, written as ufw writes it.

use std::fmt::Write as _;

use crate::change::Refused;
use crate::firewall::packet::Interface;
use crate::firewall::question::pod_interface;

/// `allow in on lxc+ out on eno1 proto udp from A port 1 to B port 53`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RouteRule {
    action: String,
    pub(super) input: Option<String>,
    pub(super) output: Option<String>,
    pub(super) proto: Option<String>,
    from: Option<String>,
    from_port: Option<String>,
    pub(super) to: Option<String>,
    pub(super) to_port: Option<String>,
}

impl RouteRule {
    /// Reads the words after `ufw route`. Names of single pod interfaces become their pattern, since the
    /// next pod has another name.
    pub(super) fn parse(text: &str) -> Result<Self, Refused> {
        let unknown = |word: &str| {
            Refused::new(format!(
                "ufw rule {text:?}: {word:?} is not understood here; known are allow, deny, reject, in on IF, out on IF, proto P, from A, to A, port N, any"
            ))
        };
        let text = text.trim();
        let words = text.strip_prefix("ufw ").unwrap_or(text).trim_start();
        let words = words.strip_prefix("route ").unwrap_or(words);
        let mut words = words.split_whitespace().peekable();
        let action = words.next().unwrap_or_default();
        if !["allow", "deny", "reject"].contains(&action) {
            return Err(unknown(action));
        }
        let mut rule = Self {
            action: action.to_owned(),
            ..Self::default()
        };
        let mut side_is_to = true;
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .filter(|word| plain(word))
                    .ok_or_else(|| unknown(word))
                    .map(str::to_owned)
            };
            match word {
                "in" | "out" => {
                    if value()? != "on" {
                        return Err(unknown(word));
                    }
                    let interface = pattern(&value()?);
                    let slot = if word == "in" {
                        &mut rule.input
                    } else {
                        &mut rule.output
                    };
                    *slot = Some(interface);
                }
                "proto" => rule.proto = Some(value()?),
                "from" | "to" => {
                    side_is_to = word == "to";
                    let address = Some(value()?).filter(|address| address != "any");
                    let slot = if side_is_to {
                        &mut rule.to
                    } else {
                        &mut rule.from
                    };
                    *slot = address;
                }
                "port" => {
                    let port = Some(value()?);
                    let slot = if side_is_to {
                        &mut rule.to_port
                    } else {
                        &mut rule.from_port
                    };
                    *slot = port;
                }
                _ => return Err(unknown(word)),
            }
        }
        Ok(rule)
    }

    /// Whether it lets traffic pass.
    pub(super) fn allows(&self) -> bool {
        self.action == "allow"
    }

    /// The words after `ufw route`.
    pub(super) fn words(&self) -> String {
        let mut words = self.action.clone();
        for (name, value) in [
            ("in on", &self.input),
            ("out on", &self.output),
            ("proto", &self.proto),
        ] {
            if let Some(value) = value {
                let _ = write!(words, " {name} {value}");
            }
        }
        for (name, address, port) in [
            ("from", &self.from, &self.from_port),
            ("to", &self.to, &self.to_port),
        ] {
            if address.is_some() || port.is_some() {
                let _ = write!(words, " {name} {}", address.as_deref().unwrap_or("any"));
            }
            if let Some(port) = port {
                let _ = write!(words, " port {port}");
            }
        }
        words
    }

    /// The rules of the chain `ufw-user-forward`, in iptables' words; one for each protocol that a port needs.
    pub(super) fn chain_rules(&self) -> Vec<String> {
        let ported = self.to_port.is_some() || self.from_port.is_some();
        let protocols: Vec<Option<&str>> = match &self.proto {
            Some(proto) => vec![Some(proto)],
            None if ported => vec![Some("tcp"), Some("udp")],
            None => vec![None],
        };
        protocols
            .into_iter()
            .map(|proto| self.chain_rule(proto))
            .collect()
    }

    fn chain_rule(&self, proto: Option<&str>) -> String {
        let mut rule = String::from("-A ufw-user-forward");
        let mut add = |flag: &str, value: Option<&str>| {
            if let Some(value) = value {
                let _ = write!(rule, " {flag} {value}");
            }
        };
        add("-s", self.from.as_deref());
        add("-d", self.to.as_deref());
        add("-i", self.input.as_deref());
        add("-o", self.output.as_deref());
        add("-p", proto);
        if self.from_port.is_some() || self.to_port.is_some() {
            add("-m", proto);
        }
        add("--sport", self.from_port.as_deref());
        add("--dport", self.to_port.as_deref());
        let target = match self.action.as_str() {
            "allow" => "ACCEPT",
            "deny" => "DROP",
            _ => "REJECT",
        };
        rule + " -j " + target
    }

    /// The comment that ufw keeps beside each rule in user.rules.
    pub(super) fn tuple(&self) -> String {
        let any = |value: &Option<String>, or: &str| value.clone().unwrap_or_else(|| or.to_owned());
        let side = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!("{name}_{value}"))
        };
        let interfaces: Vec<String> = [side("in", &self.input), side("out", &self.output)]
            .into_iter()
            .flatten()
            .collect();
        format!(
            "### tuple ### route:{} {} {} {} {} {} {}",
            self.action,
            any(&self.proto, "any"),
            any(&self.to_port, "any"),
            any(&self.to, "0.0.0.0/0"),
            any(&self.from_port, "any"),
            any(&self.from, "0.0.0.0/0"),
            interfaces.join("!")
        )
    }
}

/// Whether a word can be nothing but a name, an address or a port: it ends up in a script for root.
fn plain(word: &str) -> bool {
    word.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+._:/-@,".contains(&byte))
        && !word.starts_with('-')
}

fn pattern(name: &str) -> String {
    match pod_interface(name) {
        Some(Interface::Prefix(prefix)) => format!("{prefix}+"),
        Some(Interface::Name(name)) => name,
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_on_one_pods_interface_covers_all_pods() {
        let rule = RouteRule::parse("ufw route allow in on lxc4f39491e6165 out on eno1").unwrap();
        assert_eq!(rule.words(), "allow in on lxc+ out on eno1");
        assert_eq!(
            rule.chain_rules(),
            ["-A ufw-user-forward -i lxc+ -o eno1 -j ACCEPT"]
        );
        assert_eq!(
            rule.tuple(),
            "### tuple ### route:allow any any 0.0.0.0/0 any 0.0.0.0/0 in_lxc+!out_eno1"
        );
    }

    #[test]
    fn a_port_without_a_protocol_takes_both() {
        let rule = RouteRule::parse("route allow in on cali+ to 192.0.2.53 port 53").unwrap();
        assert_eq!(
            rule.chain_rules(),
            [
                "-A ufw-user-forward -d 192.0.2.53 -i cali+ -p tcp -m tcp --dport 53 -j ACCEPT",
                "-A ufw-user-forward -d 192.0.2.53 -i cali+ -p udp -m udp --dport 53 -j ACCEPT",
            ]
        );
    }

    #[test]
    fn words_that_are_not_understood_are_named() {
        let error = RouteRule::parse("allow in on lxc+ app OpenSSH").unwrap_err();
        assert!(error.why.contains("\"app\""), "{error}");
    }
}
