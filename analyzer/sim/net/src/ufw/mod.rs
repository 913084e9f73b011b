//! ufw: its status output, its files, the rule set it loads from them, and its
//! own words for what decided about a packet.

mod assemble;
mod rows;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use assemble::assemble;
pub(super) use rows::from_rows;
pub use status::{UfwRow, UfwStatus, parse_status};

use super::eval::DecidedBy;
use super::iptables::{Origin, Rule, RuleSet};
use super::packet::{Direction, Family};
use super::question::CapturedText;

/// The captured files of ufw; each may be missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct UfwFiles<'a> {
    /// `/etc/default/ufw`.
    pub defaults: Option<CapturedText<'a>>,
    /// `/etc/ufw/ufw.conf`.
    pub conf: Option<CapturedText<'a>>,
    /// `/etc/ufw/before.rules`.
    pub before: Option<CapturedText<'a>>,
    /// `/etc/ufw/after.rules`.
    pub after: Option<CapturedText<'a>>,
    /// `/etc/ufw/user.rules` (`/lib/ufw/user.rules` on old releases).
    pub user: Option<CapturedText<'a>>,
    /// `/etc/ufw/before6.rules`.
    pub before6: Option<CapturedText<'a>>,
    /// `/etc/ufw/after6.rules`.
    pub after6: Option<CapturedText<'a>>,
    /// `/etc/ufw/user6.rules`.
    pub user6: Option<CapturedText<'a>>,
}

/// A value of a `KEY=value` file with the line that sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The value without quotes.
    pub value: String,
    /// Where it is set.
    pub origin: Origin,
}

/// Reads a shell-style setting; the last assignment wins, as when the file is sourced.
pub fn setting(file: Option<CapturedText<'_>>, key: &str) -> Option<Setting> {
    let file = file?;
    let mut found = None;
    for (index, line) in file.text.lines().enumerate() {
        if let Some((name, value)) = line.trim().split_once('=')
            && name == key
        {
            let value = value.split('#').next().unwrap_or("").trim();
            let value = value.trim_matches(|c| c == '"' || c == '\'').to_owned();
            found = Some(Setting {
                value,
                origin: origin(file.path, index),
            });
        }
    }
    found
}

fn origin(path: &str, index: usize) -> Origin {
    Origin {
        path: Arc::from(path),
        line: u32::try_from(index + 1).unwrap_or(u32::MAX),
    }
}

/// What was captured of ufw.
#[derive(Debug, Clone, Default)]
pub struct Ufw {
    /// `ufw status verbose`, where captured.
    pub status: Option<UfwStatus>,
    /// `ENABLED` of ufw.conf, where captured.
    pub enabled: Option<Setting>,
    defaults: [Option<Setting>; 3],
    fragments: Vec<(RuleSet, Vec<Tuple>)>,
}

/// A `### tuple ###` comment of user.rules: a rule as ufw itself remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tuple {
    line: u32,
    text: String,
}

/// A decision in ufw's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UfwWords {
    /// The sentence.
    pub sentence: String,
    /// The file and line of ufw's configuration behind it, where captured.
    pub origin: Option<Origin>,
}

impl Ufw {
    /// Collects status and files.
    pub fn new(status: Option<CapturedText<'_>>, files: &UfwFiles<'_>) -> Ufw {
        let keys = [
            "DEFAULT_FORWARD_POLICY",
            "DEFAULT_INPUT_POLICY",
            "DEFAULT_OUTPUT_POLICY",
        ];
        let fragment = |file: Option<CapturedText<'_>>, family| {
            file.map(|file| {
                let mut set = RuleSet::empty(family, super::iptables::Backend::UfwFiles, file.path);
                set.apply(file.path, file.text);
                (set, tuples(file.text))
            })
        };
        Ufw {
            status: status.map(|file| parse_status(file.path, file.text)),
            enabled: setting(files.conf, "ENABLED"),
            defaults: keys.map(|key| setting(files.defaults, key)),
            fragments: [
                fragment(files.user, Family::V4),
                fragment(files.before, Family::V4),
                fragment(files.after, Family::V4),
                fragment(files.user6, Family::V6),
                fragment(files.before6, Family::V6),
                fragment(files.after6, Family::V6),
            ]
            .into_iter()
            .flatten()
            .collect(),
        }
    }

    /// Whether ufw is active: what the status says, else whether it is enabled.
    pub fn active(&self) -> Option<bool> {
        let by_file = self
            .enabled
            .as_ref()
            .map(|s| s.value.eq_ignore_ascii_case("yes"));
        self.status
            .as_ref()
            .and_then(|status| status.active)
            .or(by_file)
    }

    /// The decision in ufw's own words; `None` when ufw did not decide.
    ///
    /// `set` is the rule set that the decision was made in.
    pub fn explain(
        &self,
        decided: &DecidedBy,
        set: &RuleSet,
        direction: Direction,
    ) -> Option<UfwWords> {
        let filter = set.tables.get("filter")?;
        let prefix = if set.family == Family::V4 {
            "ufw-"
        } else {
            "ufw6-"
        };
        if !filter.chains.keys().any(|name| name.starts_with(prefix)) {
            return None;
        }
        match decided {
            DecidedBy::Policy { table, policy, .. } if table == "filter" => Some(
                self.default_words(direction, if policy == "ACCEPT" { "allow" } else { "deny" }),
            ),
            DecidedBy::Rule {
                table,
                chain,
                origin,
                ..
            } if table == "filter" => {
                let part = chain.strip_prefix(prefix)?;
                let rules = &filter.chains.get(chain)?.rules;
                let rule = rules.iter().find(|rule| rule.origin == *origin)?;
                self.explain_rule(part, chain, rule, set.family, direction)
            }
            _ => None,
        }
    }

    fn explain_rule(
        &self,
        part: &str,
        chain: &str,
        rule: &Rule,
        family: Family,
        direction: Direction,
    ) -> Option<UfwWords> {
        use super::iptables::Target;
        let action = match rule.target {
            Target::Accept => "allow",
            Target::Reject(_) => "reject",
            _ => "deny",
        };
        if ["skip-to-policy-", "reject-", "track-"]
            .iter()
            .any(|p| part.starts_with(p))
        {
            return Some(self.default_words(direction, action));
        }
        if part == "not-local" {
            let sentence =
                "ufw drops packets that are not addressed to this host (chain ufw-not-local)";
            return Some(UfwWords {
                sentence: sentence.to_owned(),
                origin: self.written(chain, rule, family).map(|(o, _)| o),
            });
        }
        if self.fragments.is_empty()
            && self
                .status
                .as_ref()
                .is_some_and(|s| s.rows.iter().any(|row| row.origin == rule.origin))
        {
            let sentence = format!("ufw rule `{}`", rule.text);
            return Some(UfwWords {
                sentence,
                origin: Some(rule.origin.clone()),
            });
        }
        let (origin, tuple) = self.written(chain, rule, family).unzip();
        let sentence = match tuple.flatten() {
            Some(tuple) => format!("ufw rule `{tuple}`"),
            None if part.starts_with("user-") => {
                format!("a rule made with the ufw command ({action})")
            }
            None => format!(
                "a rule of ufw's {} file ({action})",
                part.split('-').next().unwrap_or("own")
            ),
        };
        Some(UfwWords { sentence, origin })
    }

    /// The line of ufw's files that holds an equal rule of the same chain, and its tuple.
    fn written(
        &self,
        chain: &str,
        rule: &Rule,
        family: Family,
    ) -> Option<(Origin, Option<String>)> {
        let same = |other: &&Rule| {
            other.target == rule.target
                && other.conditions.len() == rule.conditions.len()
                && other.conditions.iter().all(|c| rule.conditions.contains(c))
        };
        for (set, tuples) in self
            .fragments
            .iter()
            .filter(|(set, _)| set.family == family)
        {
            let rules = set
                .tables
                .get("filter")
                .and_then(|table| table.chains.get(chain));
            if let Some(found) = rules.and_then(|chain| chain.rules.iter().find(same)) {
                let tuple = tuples
                    .iter()
                    .rev()
                    .find(|tuple| tuple.line < found.origin.line);
                return Some((found.origin.clone(), tuple.map(|tuple| tuple.text.clone())));
            }
        }
        None
    }

    fn default_words(&self, direction: Direction, action: &str) -> UfwWords {
        let (index, name) = match direction {
            Direction::Forward => (0, "routed"),
            Direction::Input => (1, "incoming"),
            Direction::Output => (2, "outgoing"),
        };
        let from_file = self.defaults[index]
            .as_ref()
            .filter(|setting| policy_word(&setting.value) == action);
        let from_status = self
            .status
            .as_ref()
            .and_then(|status| status.defaults_origin.clone());
        UfwWords {
            sentence: format!(
                "no ufw rule matches, so the default applies: `Default: {action} ({name})`"
            ),
            origin: from_file
                .map(|setting| setting.origin.clone())
                .or(from_status),
        }
    }
}

/// ufw's word for a policy of /etc/default/ufw.
fn policy_word(policy: &str) -> &'static str {
    match policy {
        "ACCEPT" => "allow",
        "REJECT" => "reject",
        _ => "deny",
    }
}

fn tuples(text: &str) -> Vec<Tuple> {
    let tuple = |(index, line): (usize, &str)| {
        let rest = line.trim().strip_prefix("### tuple ###")?;
        let text = rest
            .split(" comment=")
            .next()
            .unwrap_or(rest)
            .trim()
            .to_owned();
        Some(Tuple {
            line: u32::try_from(index + 1).ok()?,
            text,
        })
    };
    text.lines().enumerate().filter_map(tuple).collect()
}
