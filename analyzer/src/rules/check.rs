//! The static checks of a rule file: whatever could go wrong when it runs is said before, with its place.

use super::compile::{RuleError, Test, field_tests};
use super::file::{Kind, RuleFile, Signal};
use super::position::locate;
use super::{Rule, template};
use crate::change::Change;
use crate::facts::KINDS;
use crate::scan::literals;
use crate::sources;
use crate::tables;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Something wrong with a file: where to look for it, and what it is.
struct Fault {
    path: Vec<String>,
    word: String,
    what: String,
}

fn fault(path: &[&str], word: &str, what: impl Into<String>) -> Fault {
    Fault {
        path: path.iter().map(|key| (*key).to_owned()).collect(),
        word: word.to_owned(),
        what: what.into(),
    }
}

fn known<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Everything that is wrong with a file by itself, in the order of its lines.
pub(super) fn check(name: &str, text: &str, file: &RuleFile) -> Vec<RuleError> {
    let mut faults = Vec::new();
    names(name, file, &mut faults);
    let mut fields: BTreeMap<&str, Option<Vec<String>>> = BTreeMap::new();
    for (id, signal) in &file.signals {
        fields.insert(id, self::signal(id, signal, &mut faults));
    }
    groups(file, &mut faults);
    proof::check(file, &mut faults);
    texts(file, &fields, &mut faults);
    chain(file, &mut faults);
    let mut errors: Vec<RuleError> = faults
        .into_iter()
        .map(|fault| {
            let path: Vec<&str> = fault.path.iter().map(String::as_str).collect();
            RuleError {
                file: name.to_owned(),
                at: Some(locate(text, &path, &fault.word)),
                what: fault.what,
            }
        })
        .collect();
    errors.sort_by_key(|error| error.at.map(|at| (at.line, at.column)));
    errors
}

fn names(name: &str, file: &RuleFile, faults: &mut Vec<Fault>) {
    let base = name.rsplit('/').next().unwrap_or(name);
    let stem = base.trim_end_matches(".yaml").trim_end_matches(".yml");
    if file.id != stem {
        let what = format!("id {:?} must be the file's name, {stem:?}", file.id);
        faults.push(fault(&["id"], &file.id, what));
    }
    if file.family.is_empty() {
        let what =
            "the file lies in no folder that could be its family; write family or put it into one";
        faults.push(fault(&["title"], "", what));
    }
    if !template::names(&file.title).is_empty() {
        let what =
            "title must hold without facts; put the sentence with {signal.field} under headline";
        faults.push(fault(&["title"], "{", what));
    }
    for need in &file.needs {
        if sources::find(need).is_none() {
            let sources = known(sources::SOURCES.iter().map(|source| source.id));
            let what = format!("needs unknown source {need:?}; known: {sources}");
            faults.push(fault(&["needs"], need, what));
        }
    }
    for table in &file.tables {
        if !tables::names().any(|name| name == table) {
            let what = format!("unknown table {table:?}; known: {}", known(tables::names()));
            faults.push(fault(&["tables"], table, what));
        }
    }
}

/// Checks a signal; gives the names that its sentences may use, if what it looks for is understood.
fn signal(id: &str, signal: &Signal, faults: &mut Vec<Fault>) -> Option<Vec<String>> {
    let at = ["signals", id];
    let names = match (&signal.fact, &signal.line, &signal.message) {
        (Some(kind), None, None) => fact(id, kind, signal, faults)?,
        (None, Some(line), None) => self::line(id, line, signal, faults)?,
        // Its expression is the vocabulary's, which the compiler looks up; what it captures is not known here.
        (None, None, Some(_)) => return None,
        _ => {
            faults.push(fault(
                &at,
                "",
                format!("signal {id}: give one of fact, line and message"),
            ));
            return None;
        }
    };
    if let Some(speaker) = &signal.speaker
        && let Err(what) = compiles::read(speaker)
    {
        faults.push(fault(
            &["signals", id, "speaker"],
            speaker,
            format!("signal {id}: speaker: {what}"),
        ));
    }
    for name in template::names(&signal.says) {
        if !names.iter().any(|known| known == name) {
            let what = format!(
                "signal {id}: {{{name}}} is not known here; known: {}",
                names.join(", ")
            );
            faults.push(fault(
                &["signals", id, "says"],
                &format!("{{{name}}}"),
                what,
            ));
        }
    }
    Some(names)
}

fn fact(id: &str, kind: &str, signal: &Signal, faults: &mut Vec<Fault>) -> Option<Vec<String>> {
    let at = ["signals", id, "where"];
    let Some(info) = KINDS.iter().find(|info| info.kind == kind) else {
        let kinds = known(KINDS.iter().map(|info| info.kind));
        let what = format!("signal {id}: unknown fact {kind:?}; known: {kinds}");
        faults.push(fault(&["signals", id, "fact"], kind, what));
        return None;
    };
    for (field, condition) in &signal.conditions {
        // `conditions.Ready` is the entry `Ready` of the map `conditions`.
        let name = field.split('.').next().unwrap_or(field);
        if !info.fields.iter().any(|known| known.name == name) {
            let fields = known(info.fields.iter().map(|field| field.name));
            let what = format!("signal {id}: fact {kind} has no field {field:?}; it has: {fields}");
            faults.push(fault(&at, field, what));
        }
        if let Err(what) = tests(condition) {
            faults.push(fault(
                &at,
                field,
                format!("signal {id}: field {field}: {what}"),
            ));
        }
    }
    if !signal.channels.is_empty() {
        let what = format!("signal {id}: in belongs to line; a fact has no channel");
        faults.push(fault(&["signals", id, "in"], "", what));
    }
    let fields = info.fields.iter().map(|field| field.name.to_owned());
    Some(
        fields
            .chain(["subject", "host_file"].map(str::to_owned))
            .collect(),
    )
}

/// Whether a condition is made of tests that are known, and of expressions that compile.
fn tests(condition: &Value) -> Result<(), String> {
    let tests = field_tests(condition)?;
    let expressions = tests.iter().filter_map(Test::expression);
    expressions
        .map(compiles::read)
        .try_for_each(|read| read.map(|_| ()))
}

fn line(id: &str, line: &str, signal: &Signal, faults: &mut Vec<Fault>) -> Option<Vec<String>> {
    let at = ["signals", id, "line"];
    if !signal.conditions.is_empty() {
        let what =
            format!("signal {id}: where belongs to fact; a line is tested by its expression");
        faults.push(fault(&["signals", id, "where"], "", what));
    }
    let expression = match compiles::read(line) {
        Ok(expression) => expression,
        Err(what) => {
            faults.push(fault(&at, "", format!("signal {id}: {what}")));
            return None;
        }
    };
    if literals::clauses_of(&expression).is_empty() {
        let what = format!(
            "signal {id}: expression {line:?} has no text of {} or more characters that every match \
             contains; it would be tried on every line of every log",
            literals::MIN_LITERAL
        );
        faults.push(fault(&at, "", what));
    }
    Some(
        compiles::names(&expression)
            .into_iter()
            .chain(["subject", "speaker", "line", "host_file", "shm", "node"].map(str::to_owned))
            .collect(),
    )
}

fn groups(file: &RuleFile, faults: &mut Vec<Fault>) {
    let levels = [
        ("confirmed", &file.confirmed),
        ("likely", &file.likely),
        ("possible", &file.possible),
        ("ruled_out", &file.ruled_out),
    ];
    for (level, groups) in levels {
        for group in groups {
            for name in group.all.iter().chain(&group.any).chain(&group.none) {
                known_signal(file, &[level], name, faults);
            }
            if group.all.is_empty() && group.any.is_empty() {
                let what = "a group needs at least one signal under all or any: what is not seen proves nothing";
                faults.push(fault(&[level], "none", what));
            }
        }
    }
    for name in &file.symptoms {
        known_signal(file, &["symptoms"], name, faults);
    }
    for name in file.observations.iter().flat_map(|one| &one.shows) {
        known_signal(file, &["observations"], name, faults);
    }
    for step in file.remedy.steps.iter().chain(&file.remedy.verify) {
        for name in step.when.iter().chain(&step.unless) {
            known_signal(file, &["remedy"], name, faults);
        }
    }
    if file.kind == Kind::Cause && levels[..3].iter().all(|(_, groups)| groups.is_empty()) {
        let what = "no group under confirmed, likely or possible: it could never fire";
        faults.push(fault(&["id"], "", what));
    }
}

fn known_signal(file: &RuleFile, at: &[&str], name: &str, faults: &mut Vec<Fault>) {
    if !file.signals.contains_key(name) {
        let signals = known(file.signals.keys().map(String::as_str));
        let what = format!("unknown signal {name:?}; the file defines: {signals}");
        faults.push(fault(at, name, what));
    }
}

fn texts(file: &RuleFile, fields: &BTreeMap<&str, Option<Vec<String>>>, faults: &mut Vec<Fault>) {
    let remedy = &file.remedy;
    let mut all: Vec<(&str, &str)> = vec![
        ("summary", &file.summary),
        ("explanation", &file.explanation),
        ("remedy", &remedy.title),
    ];
    all.extend(file.headline.as_deref().map(|text| ("headline", text)));
    all.extend(
        file.chain
            .iter()
            .flatten()
            .map(|text| ("chain", text.as_str())),
    );
    for one in &file.observations {
        all.extend([&one.ask, &one.run, &one.so].map(|text| ("observations", text.as_str())));
    }
    for step in remedy.steps.iter().chain(&remedy.verify) {
        let texts = [Some(&step.text), step.run.as_ref(), step.expect.as_ref()];
        all.extend(
            texts
                .into_iter()
                .flatten()
                .map(|text| ("remedy", text.as_str())),
        );
    }
    all.extend(
        remedy
            .files
            .iter()
            .map(|one| ("remedy", one.content.as_str())),
    );
    let lists = remedy.mitigate.iter().chain(&remedy.prevent);
    all.extend(lists.map(|text| ("remedy", text.as_str())));
    let changes: Vec<String> = remedy.changes.iter().flat_map(Change::texts).collect();
    all.extend(changes.iter().map(|text| ("changes", text.as_str())));
    for hinge in &remedy.hinges_on {
        let texts = [
            Some(&hinge.entry),
            Some(&hinge.line),
            hinge.lacks.as_ref(),
            Some(&hinge.says),
        ];
        all.extend(
            texts
                .into_iter()
                .flatten()
                .map(|text| ("hinges_on", text.as_str())),
        );
    }
    for (key, text) in all {
        for name in template::names(text)
            .into_iter()
            .flat_map(|name| name.split('|'))
        {
            let is_known = name.split_once('.').is_some_and(|(signal, field)| {
                fields.get(signal).is_some_and(|names| {
                    names
                        .as_ref()
                        .is_none_or(|names| names.iter().any(|known| known == field))
                })
            });
            if !is_known {
                let what = format!(
                    "{{{name}}} is not known here: write {{signal.field}} with a signal of this file"
                );
                faults.push(fault(&[key], &format!("{{{name}}}"), what));
            }
        }
    }
}

/// The arrows from root to symptom must not lead back.
fn chain(file: &RuleFile, faults: &mut Vec<Fault>) {
    let mut after: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for [from, to] in &file.chain {
        if leads(&after, to, from) {
            let what =
                format!("the chain leads back to {from:?}: an effect cannot be its own cause");
            faults.push(fault(&["chain"], to, what));
        }
        after.entry(from).or_default().insert(to);
    }
}

/// Whether one name leads to another, or is it.
fn leads(after: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let mut open = vec![from];
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name) {
            open.extend(after.get(name).into_iter().flatten());
        }
    }
    false
}

/// What is wrong between rules: causes that `explains` names and that no rule has, and cycles. Each is
/// said of the file that could be changed, given with its text.
pub(super) fn links(rules: &[&Rule], texts: &BTreeMap<String, (String, String)>) -> Vec<RuleError> {
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule.file.id.as_str()).collect();
    let after: BTreeMap<&str, BTreeSet<&str>> = rules
        .iter()
        .map(|rule| {
            let effects = rule.file.explains.iter().map(String::as_str);
            (rule.file.id.as_str(), effects.collect())
        })
        .collect();
    let mut errors = Vec::new();
    for rule in rules {
        let id = rule.file.id.as_str();
        let Some((name, text)) = texts.get(id) else {
            continue;
        };
        for effect in &rule.file.explains {
            let what = if !ids.contains(effect.as_str()) {
                format!("explains unknown cause {effect:?}")
            } else if leads(&after, effect, id) {
                format!("explains {effect:?}, which explains {id:?} in turn: a cycle")
            } else {
                continue;
            };
            errors.push(RuleError {
                file: name.clone(),
                at: Some(locate(text, &["explains"], effect)),
                what,
            });
        }
    }
    errors
}

mod compiles;
mod proof;
#[cfg(test)]
mod tests;
