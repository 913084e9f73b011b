//! Which machine a text is of, where no object says it: by prompts, by the host in the head of log lines, by what kubectl
//! prints of a node, and by the node that components name in their lines.

use std::collections::BTreeMap;

use crate::dress;
use crate::facts::cluster::{ComposeMark, MachineMark, NamedBy};
use crate::facts::text::OpenShiftMark;
use crate::form::Form;

/// Lines that are looked at.
const LINES: usize = 50_000;
/// Machines that are kept of one text: one with more is of none.
const MOST: usize = 4;
/// Groups of [`NAMED`] that are prompts, and those that a program printed.
const PROMPTS: [&str; 2] = ["boxed", "prompt"];
const SAID: [&str; 6] = ["node", "of", "assigned", "source", "key", "status"];
/// What a machine is called that has not been named.
const NO_NAMES: [&str; 3] = ["localhost", "localhost.localdomain", "(none)"];

/// What people let OpenShift's program do.
const OC: [&str; 8] = [
    "adm", "debug", "describe", "exec", "get", "logs", "project", "rsh",
];

static NAMED: Form = Form::new(concat!(
    r"^\s*(?:\([\w.-]+\)\s*)?(?:\[[A-Za-z_][\w.-]*@(?P<boxed>[A-Za-z][\w.-]*) [^\]]{1,120}\][$#]|[A-Za-z_][\w.-]*@(?P<prompt>[A-Za-z][\w.-]*):[^\s$#]{1,120}[$#])(?:\s|$)",
    r"|^\s*(?:[Dd]raining node |node/)(?P<node>[a-z0-9][\w.-]*)(?:\.\.\.| (?:labeled|cordoned|drained|uncordoned|evicted)\b)",
    r"|^\s*Node:\s+(?P<of>[a-z0-9][\w.-]*)(?:/[\da-f.:]*)?\s*$",
    r"|\bSuccessfully assigned \S{1,200} to (?P<assigned>[a-z0-9][\w.-]*)\s*$",
    r"|(?:^|\s)(?:Normal|Warning)\s.{0,120}\skubelet, (?P<source>[a-z0-9][\w.-]*)\s",
    r#"|(?:^|[\s,;{\[(])node(?:Name)?="(?P<key>[a-z0-9][\w.-]*)""#,
    r"|\bNode (?P<status>[a-z0-9][\w.-]*) status is now",
));

/// The machines of a text, each with the first line that names it, from 1.
pub(crate) fn machines(text: &str) -> Vec<(MachineMark, u32)> {
    let mut found: BTreeMap<(String, NamedBy), u32> = BTreeMap::new();
    for (line, number) in text.lines().take(LINES).zip(1_u32..) {
        let Some((host, by)) = named(line) else {
            continue;
        };
        if !NO_NAMES.contains(&host) {
            found.entry((host.to_owned(), by)).or_insert(number);
        }
        if found.len() == MOST {
            break;
        }
    }
    let marks = found.into_iter();
    marks
        .map(|((host, by), number)| (MachineMark { host, by }, number))
        .collect()
}

/// The line that says that Docker Compose runs what a text is about, from 1.
pub(crate) fn composed(text: &str) -> Option<(ComposeMark, u32)> {
    let says = |text: &str| text.contains("docker compose") || text.contains("docker-compose");
    if !says(text) {
        return None;
    }
    let mut lines = text.lines().take(LINES).zip(1_u32..);
    let (_, number) = lines.find(|(line, _)| says(line))?;
    Some((ComposeMark, number))
}

/// The line that shows that a text is of OpenShift, from 1: a name of its API, or its program behind a prompt.
pub(crate) fn openshift(text: &str) -> Option<(OpenShiftMark, u32)> {
    const API: &str = "openshift.io/";
    // Most texts hold neither, and need not be looked at line by line.
    let may_be_typed = || {
        let mut programs = memchr::memmem::find_iter(text.as_bytes(), b"oc");
        programs.any(|at| text[at + 2..].starts_with(char::is_whitespace))
    };
    if !text.contains(API) && !may_be_typed() {
        return None;
    }
    let mut lines = text.lines().take(LINES).zip(1_u32..);
    let is_typed = |line: &str| {
        let typed = line.trim_start().trim_start_matches(['$', '#', '>', ' ']);
        let mut words = typed.split_whitespace();
        words.next() == Some("oc") && words.next().is_some_and(|verb| OC.contains(&verb))
    };
    let shows = |line: &str| line.contains(API) || is_typed(line);
    let (_, number) = lines.find(|(line, _)| shows(line))?;
    Some((OpenShiftMark, number))
}

/// Whether a line holds what each part of [`NAMED`] does.
fn may_name(line: &str) -> bool {
    let line = line.as_bytes();
    let signs = ["ode", "Successfully assigned ", "kubelet, "];
    memchr::memchr(b'@', line).is_some()
        || signs
            .iter()
            .any(|sign| memchr::memmem::find(line, sign.as_bytes()).is_some())
}

/// The machine that a line names, and how.
fn named(line: &str) -> Option<(&str, NamedBy)> {
    let found = may_name(line).then(|| NAMED.rare_captures(line)).flatten();
    let of = |names: &[&str]| {
        let found = found.as_ref()?;
        let mut names = names.iter();
        names.find_map(|name| Some(found.name(name)?.as_str()))
    };
    if let Some(host) = of(&PROMPTS) {
        let end = found.as_ref().and_then(|found| Some(found.get(0)?.end()))?;
        let command = line.get(end..).unwrap_or_default();
        // What asks the cluster is typed anywhere, and in a container the host is the container.
        let elsewhere = asks_a_cluster(command) || is_container(host);
        return (!elsewhere).then_some((host, NamedBy::Prompt));
    }
    let host = dress::host(line);
    let is_name = host.starts_with(|first: char| first.is_ascii_alphanumeric());
    match is_name {
        true => Some((host, NamedBy::Head)),
        false => of(&SAID).map(|host| (host, NamedBy::Line)),
    }
}

fn asks_a_cluster(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words
        .find(|word| *word != "sudo")
        .is_some_and(|program| ["kubectl", "oc", "helm"].contains(&program))
}

/// Whether a host is called as Docker calls a container: by the first twelve digits of its id.
fn is_container(host: &str) -> bool {
    host.len() == 12 && host.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Vec<(String, u32)> {
        let found = machines(text).into_iter();
        found.map(|(mark, line)| (mark.host, line)).collect()
    }

    #[test]
    fn a_text_is_of_openshift_by_its_api_or_its_program() {
        let line = |text: &str| openshift(text).map(|(_, line)| line);
        assert_eq!(line("a\n$ oc get secret -n nemo"), Some(2));
        assert_eq!(line("openshift.io/scc=restricted"), Some(1));
        assert_eq!(line("get oc get\nkubectl get pods"), None);
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
        is("Node:         gpu-3/192.0.2.7", "gpu-3");
        is(
            "  Normal  Scheduled  9s  default-scheduler  Successfully assigned a/b to gpu-4",
            "gpu-4",
        );
        is(
            "  Warning  Unhealthy  3m39s (x134 over 25m)  kubelet, gpu-5  Readiness probe failed: x",
            "gpu-5",
        );
        is(
            r#"I1104 06:32:23.952296 1 score.go:225] "not fit" pod="a/b" node="gpu-6""#,
            "gpu-6",
        );
        for none in [
            "[ada@cn-03 ~]$ kubectl get pods",
            "root@ab12cd34ef56:/# nvidia-smi",
        ] {
            assert_eq!(hosts(none), [], "{none}");
        }
        assert_eq!(
            hosts("mail ada@example.org for $5\nroot@localhost:~# ls"),
            []
        );
    }
}
