//! Pasted logs: whose they are, by the names they hold, and what they end with.

use super::Sources;
use crate::facts::Fact;
use crate::facts::failing::{Failing, LogEnd};
use crate::ledger::grade::Grade;

/// The last grave line of a log stands at most this many lines before its end; a program that goes on for longer did
/// not end with it.
const FROM_END: u32 = 60;
/// A name shorter than this is found in any text.
const SHORTEST: usize = 4;

/// Gives failing pods the last words of pasted logs that name them; a log that names none is an entry of its own.
pub(super) fn attach(sources: &Sources<'_>, found: &mut Vec<Fact<Failing>>) {
    let logs = sources.facts.table::<LogEnd>().iter();
    let pasted: Vec<&Fact<LogEnd>> = logs
        .filter(|log| {
            let data = &log.data;
            let loose = !data.pod_log && crate::lines::node_of(&log.place.path).is_empty();
            // A display server marks its lines so; it is no program of a container.
            let desktop = log.text.contains("(EE)");
            loose && !desktop && data.grade == Grade::Fatal && data.from_end <= FROM_END
        })
        .collect();
    for log in pasted {
        let taken = found.iter().any(|one| one.place == log.place);
        if taken || is_of_unit(found, log) {
            continue;
        }
        match owner(found, log) {
            Some(at) if found[at].data.words.is_empty() => {
                let entry = &mut found[at];
                log.text.as_str().clone_into(&mut entry.data.words);
                entry.data.ended = true;
                entry.data.lines.push(log.data.line.clone());
                (entry.place, entry.text) = (log.place.clone(), log.text.clone());
                entry.at = log.at.or(entry.at);
            }
            Some(_) => {}
            None => found.push(alone(log)),
        }
    }
}

/// Whether a unit that stands in the same text is failing: then its own last words are known.
fn is_of_unit(found: &[Fact<Failing>], log: &Fact<LogEnd>) -> bool {
    let mut units = found.iter().filter(|one| one.data.what == "unit");
    units.any(|one| one.place.path == log.place.path)
}

/// The failing pod that a log is of: the one whose name, workload or container stands in the file's name or in the line;
/// of a single one that ended and has no log, it.
fn owner(found: &[Fact<Failing>], log: &Fact<LogEnd>) -> Option<usize> {
    let same = |text: &str| text.to_ascii_lowercase().replace(['_', '.'], "-");
    let (file, line) = (same(&log.place.path), same(&log.text));
    let pods = || {
        found
            .iter()
            .enumerate()
            .filter(|(_, one)| one.data.what == "pod")
    };
    let named = pods().find(|(_, one)| {
        let names =
            [&one.data.name, &one.data.container, &workload(&one.data)].map(|name| same(name));
        names.iter().any(|name| {
            name.len() >= SHORTEST && (file.contains(name.as_str()) || line.contains(name.as_str()))
        })
    });
    let beside = || {
        let mut ended =
            pods().filter(|(_, one)| one.data.ended && one.place.path == log.place.path);
        ended.next().filter(|_| ended.next().is_none())
    };
    let only = || {
        let mut ended = pods().filter(|(_, one)| one.data.ended);
        ended.next().filter(|_| ended.next().is_none())
    };
    named.or_else(beside).or_else(only).map(|(at, _)| at)
}

/// What a pod is a part of, by its owner or by its name without the parts that are made up.
fn workload(failing: &Failing) -> String {
    if let Some((kind, name)) = failing.owner.split_once('/') {
        let cut = name.rsplit_once('-').map_or(name, |(head, _)| head);
        return if kind == "replicaset" { cut } else { name }.to_owned();
    }
    let made_up = |part: &&str| part.len() >= 5 && part.bytes().any(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = failing.name.split('-').collect();
    let kept = parts.iter().take_while(|part| !made_up(part)).copied();
    kept.collect::<Vec<_>>().join("-")
}

fn alone(log: &Fact<LogEnd>) -> Fact<Failing> {
    Fact {
        data: Failing {
            what: "log".into(),
            subject: format!("log/{}", log.place.path),
            name: log.place.path.to_string(),
            ended: true,
            words: log.text.to_string(),
            since: log.at,
            lines: vec![log.data.line.clone()],
            ..Failing::default()
        },
        place: log.place.clone(),
        text: log.text.clone(),
        at: log.at,
    }
}
