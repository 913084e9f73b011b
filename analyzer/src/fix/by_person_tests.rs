//! Every remedy is a typed change, or says why a person has to do it; `docs/remedies.md` has all of the latter, which a
//! person reads as a whole.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::change::risk::interrupts;
use crate::rules;
use crate::rules::file::{Kind, RuleFile};

#[test]
fn a_remedy_without_a_change_says_in_one_sentence_why_a_person_does_it() {
    let (set, _) = rules::load(None).unwrap();
    let causes = set.rules.iter().map(|rule| &rule.file);
    let mut wrong = Vec::new();
    for file in causes.filter(|file| file.kind == Kind::Cause) {
        match (&file.remedy.by_person, file.remedy.changes.is_empty()) {
            (None, true) => wrong.push(format!("{}: neither a change nor by_person", file.id)),
            (Some(_), false) => wrong.push(format!("{}: by_person beside changes", file.id)),
            (Some(text), true) => {
                let one = text.ends_with('.') && !text.trim_end_matches('.').contains(". ");
                if !one || text.split_whitespace().count() > 25 {
                    wrong.push(format!("{}: not one short sentence: {text}", file.id));
                }
            }
            (None, false) => {}
        }
        if let Some(choice) = &file.remedy.choice {
            let clause = choice.starts_with(char::is_lowercase) && !choice.ends_with('.');
            if file.remedy.changes.is_empty() || !clause || choice.split_whitespace().count() > 25 {
                wrong.push(format!(
                    "{}: no short clause beside changes: {choice}",
                    file.id
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Verbs of the commands that change something, as remedies write them.
const WRITES: [&str; 24] = [
    "kubectl apply",
    "kubectl patch",
    "kubectl delete",
    "kubectl scale",
    "kubectl label",
    "kubectl annotate",
    "kubectl create",
    "kubectl set",
    "kubectl edit",
    "kubectl rollout",
    "kubectl cordon",
    "kubectl drain",
    "systemctl restart",
    "systemctl enable",
    "systemctl start",
    "systemctl stop",
    "apt-get install",
    "dnf install",
    "sysctl -w",
    "helm upgrade",
    "helm install",
    "helm rollback",
    "reboot",
    "crictl rmi",
];

/// Whether a step of the remedy changes something by a command.
fn writes(file: &RuleFile) -> bool {
    let mut commands = file
        .remedy
        .steps
        .iter()
        .filter_map(|step| step.run.as_ref());
    commands.any(|run| {
        let words = run
            .replace(" -n NAMESPACE", "")
            .replace(" -n kube-system", "")
            .replace(" -n gpu-operator", "");
        WRITES.iter().any(|verb| words.contains(verb))
    })
}

/// The causes without a change, and how many have which.
fn table(files: &[&RuleFile]) -> String {
    let (typed, people): (Vec<&RuleFile>, Vec<&RuleFile>) = files
        .iter()
        .copied()
        .partition(|file| !file.remedy.changes.is_empty());
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for change in typed.iter().flat_map(|file| &file.remedy.changes) {
        let value = serde_json::to_value(change).unwrap();
        let kind = value.as_object().unwrap().keys().next().unwrap().clone();
        *kinds.entry(kind).or_default() += 1;
    }
    let kinds = kinds
        .iter()
        .map(|(kind, count)| format!("`{kind}` {count}"));
    let kinds: Vec<String> = kinds.collect();
    let chosen = typed.iter().filter(|file| file.remedy.choice.is_some());
    let mut text = format!(
        "# Remedies\n\nWritten by `CASEFILE_UPDATE=1 cargo test -p casefile-analyzer-lib --lib by_person`, and compared by it.\n\n\
         Of {} causes {} have a typed change, which `fix` tries and hands over as a script or as a step for a person: {}. Of {} of them a person first chooses what the remedy decides for somebody.\n\n\
         The other {} are a person's work. *Commands* says whether a step of the remedy shows a command that changes something.\n\n\
         | cause | remedy | commands | why a person does it |\n|---|---|---|---|\n",
        files.len(),
        typed.len(),
        kinds.join(", "),
        chosen.count(),
        people.len()
    );
    for file in people {
        let why = file.remedy.by_person.as_deref().unwrap_or_default();
        let commands = if writes(file) { "yes" } else { "" };
        let _ = writeln!(
            text,
            "| `{}` | {} | {commands} | {why} |",
            file.id, file.remedy.title
        );
    }
    text
}

#[test]
fn the_table_of_remedies_for_people_is_the_one_that_was_read() {
    let (set, _) = rules::load(None).unwrap();
    let mut files: Vec<&RuleFile> = set.rules.iter().map(|rule| &rule.file).collect();
    files.retain(|file| file.kind == Kind::Cause);
    files.sort_by(|a, b| a.id.cmp(&b.id));
    let now = table(&files);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/remedies.md");
    if std::env::var_os("CASEFILE_UPDATE").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let read = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        read == now,
        "the remedies for people are others than docs/remedies.md has: run it with CASEFILE_UPDATE=1 and read the difference"
    );
}

#[test]
fn what_a_report_asks_to_run_for_an_answer_stops_and_deletes_nothing() {
    let (set, _) = rules::load(None).unwrap();
    let asked = set.rules.iter().flat_map(|rule| &rule.file.observations);
    let harmful: Vec<String> = asked
        .filter_map(|one| Some(format!("{}: {}", one.run, interrupts(&one.run)?)))
        .collect();
    assert!(harmful.is_empty(), "{harmful:#?}");
}
