//! The rule set that ufw loads from its files, chain by chain as its init
//! script builds it. For when the kernel's rules themselves were not captured.

use super::{UfwFiles, setting};
use crate::iptables::{Backend, Origin, Policy, Problem, RuleSet};
use crate::packet::Family;
use crate::question::CapturedText;

/// The path shown for what ufw adds without a file.
const INIT: &str = "<ufw-init>";

const DIRECTIONS: [(&str, &str, &str); 3] = [
    ("input", "INPUT", "DEFAULT_INPUT_POLICY"),
    ("output", "OUTPUT", "DEFAULT_OUTPUT_POLICY"),
    ("forward", "FORWARD", "DEFAULT_FORWARD_POLICY"),
];

/// Builds the rule set of one family; `None` when neither defaults nor user
/// rules were captured. Missing files are problems of the rule set and make
/// its filter table incomplete.
pub fn assemble(files: &UfwFiles<'_>, family: Family) -> Option<RuleSet> {
    files.defaults.or(files.user)?;
    let path = files.user.or(files.defaults).map_or(INIT, |file| file.path);
    let mut set = RuleSet::empty(family, Backend::UfwFiles, path);
    let ipv6 = setting(files.defaults, "IPV6");
    if family == Family::V6 && ipv6.is_some_and(|s| !s.value.eq_ignore_ascii_case("yes")) {
        set.apply(INIT, "*filter\n:INPUT DROP\n:FORWARD DROP\n:OUTPUT DROP\n-A INPUT -i lo -j ACCEPT\n-A OUTPUT -o lo -j ACCEPT\nCOMMIT\n");
        return Some(set);
    }
    let name = if family == Family::V6 { "ufw6" } else { "ufw" };
    set.apply(INIT, &primary(name));
    clear_lines(&mut set);
    for (direction, _, key) in DIRECTIONS {
        default_chains(&mut set, files, name, direction, key);
    }
    let (before, after, user) = match family {
        Family::V4 => (files.before, files.after, files.user),
        Family::V6 => (files.before6, files.after6, files.user6),
    };
    fragment(&mut set, before, "before rules");
    fragment(&mut set, after, "after rules");
    fragment(&mut set, user, "user rules");
    let hooks = DIRECTIONS
        .map(|(direction, ..)| format!("-A {name}-before-{direction} -j {name}-user-{direction}"));
    let hooks = format!("*filter\n{}\nCOMMIT\n", hooks.join("\n"));
    set.apply(INIT, &hooks);
    clear_lines(&mut set);
    for (_, chain, key) in DIRECTIONS {
        set_policy(&mut set, files, chain, key);
    }
    Some(set)
}

/// Primary and secondary chains with their jumps.
fn primary(name: &str) -> String {
    let mut lines = vec!["*filter".to_owned()];
    for (direction, chain, _) in DIRECTIONS {
        lines.push(format!(":{chain} ACCEPT"));
        for part in [
            "before-logging",
            "before",
            "after",
            "after-logging",
            "reject",
            "track",
        ] {
            lines.push(format!(":{name}-{part}-{direction} -"));
            lines.push(format!("-A {chain} -j {name}-{part}-{direction}"));
        }
        for part in ["user", "user-logging", "skip-to-policy"] {
            lines.push(format!(":{name}-{part}-{direction} -"));
        }
    }
    for part in [
        "logging-deny",
        "logging-allow",
        "user-limit",
        "user-limit-accept",
    ] {
        lines.push(format!(":{name}-{part} -"));
    }
    lines.push("COMMIT\n".to_owned());
    lines.join("\n")
}

/// Rules that ufw derives from a default policy.
fn default_chains(set: &mut RuleSet, files: &UfwFiles<'_>, name: &str, direction: &str, key: &str) {
    let Some(policy) = setting(files.defaults, key) else {
        return;
    };
    let mut rules = vec![format!(
        "{name}-skip-to-policy-{direction} -j {}",
        policy.value
    )];
    match policy.value.as_str() {
        "REJECT" => rules.push(format!("{name}-reject-{direction} -j REJECT")),
        "ACCEPT" => {
            for proto in ["tcp", "udp"] {
                rules.push(format!(
                    "{name}-track-{direction} -p {proto} -m conntrack --ctstate NEW -j ACCEPT"
                ));
            }
        }
        _ => {}
    }
    let text = format!("*filter\n-A {}\nCOMMIT\n", rules.join("\n-A "));
    set.apply(INIT, &text);
    let Some(table) = set.tables.get_mut("filter") else {
        return;
    };
    for part in ["skip-to-policy", "reject", "track"] {
        if let Some(chain) = table.chains.get_mut(&format!("{name}-{part}-{direction}")) {
            chain
                .rules
                .iter_mut()
                .for_each(|rule| rule.origin = policy.origin.clone());
        }
    }
}

fn fragment(set: &mut RuleSet, file: Option<CapturedText<'_>>, what: &str) {
    match file {
        Some(file) => set.apply(file.path, file.text),
        None => incomplete(set, &format!("ufw's {what} were not captured")),
    }
}

fn incomplete(set: &mut RuleSet, message: &str) {
    if let Some(table) = set.tables.get_mut("filter") {
        table.complete = false;
    }
    let origin = Origin {
        path: set.path.clone(),
        line: 0,
    };
    set.problems.push(Problem {
        origin,
        message: message.to_owned(),
    });
}

fn set_policy(set: &mut RuleSet, files: &UfwFiles<'_>, chain: &str, key: &str) {
    let Some(policy) = setting(files.defaults, key) else {
        return incomplete(set, &format!("{key} was not captured"));
    };
    let accept = policy.value == "ACCEPT";
    let text = if accept { "ACCEPT" } else { "DROP" }.to_owned();
    if let Some(chain) = set
        .tables
        .get_mut("filter")
        .and_then(|table| table.chains.get_mut(chain))
    {
        chain.policy = Some(Policy {
            accept,
            text,
            counters: None,
            origin: policy.origin,
        });
    }
}

/// Lines of generated fragments mean nothing to a reader.
fn clear_lines(set: &mut RuleSet) {
    for chain in set
        .tables
        .values_mut()
        .flat_map(|table| table.chains.values_mut())
    {
        let origins = chain.rules.iter_mut().map(|rule| &mut rule.origin);
        origins
            .filter(|origin| &*origin.path == INIT)
            .for_each(|origin| origin.line = 0);
    }
}
