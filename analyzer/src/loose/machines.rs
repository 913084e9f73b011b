//! Which machine a text is of, where no command and no object says it: by prompts, by the host in the head of log lines,
//! and by what kubectl prints when it labels or drains a node.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::dress;
use crate::facts::cluster::{ComposeMark, MachineMark};

/// Lines that are looked at.
const LINES: usize = 50_000;
/// Machines that are kept of one text: one with more is of none.
const MOST: usize = 4;
/// What a machine is called that has not been named.
const NO_NAMES: [&str; 3] = ["localhost", "localhost.localdomain", "(none)"];

static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^\s*(?:\([\w.-]+\)\s*)?(?:\[[A-Za-z_][\w.-]*@(?P<boxed>[A-Za-z][\w.-]*) [^\]]{1,120}\][$#]|[A-Za-z_][\w.-]*@(?P<prompt>[A-Za-z][\w.-]*):[^\s$#]{1,120}[$#])(?:\s|$)",
        r"|^\s*(?:[Dd]raining node |node/)(?P<node>[a-z0-9][\w.-]*)(?:\.\.\.| (?:labeled|cordoned|drained|uncordoned|evicted)\b)",
    ))
    .ok()
});

/// The machines of a text, each with the first line that names it, from 1.
pub(crate) fn machines(text: &str) -> Vec<(MachineMark, u32)> {
    let mut found: BTreeMap<(String, bool), u32> = BTreeMap::new();
    for (line, number) in text.lines().take(LINES).zip(1_u32..) {
        let Some((host, typed)) = named(line) else {
            continue;
        };
        if !NO_NAMES.contains(&host) && found.len() < MOST {
            found.entry((host.to_owned(), typed)).or_insert(number);
        }
    }
    let marks = found.into_iter();
    marks
        .map(|((host, typed), number)| (MachineMark { host, typed }, number))
        .collect()
}

/// The line that says that Docker Compose runs what a text is about, from 1.
pub(crate) fn composed(text: &str) -> Option<(ComposeMark, u32)> {
    let mut lines = text.lines().take(LINES).zip(1_u32..);
    let says = |line: &str| line.contains("docker compose") || line.contains("docker-compose");
    let (_, number) = lines.find(|(line, _)| says(line))?;
    Some((ComposeMark, number))
}

/// The machine that a line names, and whether a prompt does.
fn named(line: &str) -> Option<(&str, bool)> {
    let groups = [("boxed", true), ("prompt", true), ("node", false)];
    let typed = NAMED.as_ref().and_then(|form| form.captures(line));
    if let Some(found) = typed {
        return groups
            .iter()
            .find_map(|(name, typed)| Some((found.name(name)?.as_str(), *typed)));
    }
    let host = dress::undress(line).host;
    let is_name = host.starts_with(|first: char| first.is_ascii_alphanumeric());
    is_name.then_some((host, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Vec<(String, u32)> {
        let found = machines(text).into_iter();
        found.map(|(mark, line)| (mark.host, line)).collect()
    }

    #[test]
    fn prompts_log_lines_and_kubectl_name_a_machine() {
        let is = |text: &str, host: &str| assert_eq!(hosts(text), [(host.to_owned(), 1)], "{text}");
        is("ada@gpu-1:~$ nvidia-smi", "gpu-1");
        is("[ada@cn-03 registry]$", "cn-03");
        is(
            "May 27 16:44:51 dev-08 kubelet[7]: E0527 no space left",
            "dev-08",
        );
        is("node/gpu-2.example labeled", "gpu-2.example");
        is("Draining node gpu-2.example...", "gpu-2.example");
        assert_eq!(
            hosts("mail ada@example.org for $5\nroot@localhost:~# ls"),
            []
        );
    }
}
