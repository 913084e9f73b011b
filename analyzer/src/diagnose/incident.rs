//! One cause in play, told: its evidence, symptoms, chain, investigation and remedy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::gpu_map;
use crate::facts::kube::Event;
use crate::grade::{self, Grade};
use crate::model::{
    ChainLink, Evidence, Figure, FixFile, Incident, Observation, Place, Remedy, Role, Step,
    Symptom, Verdict,
};
use crate::rules::engine::{Assessment, Sighting};
use crate::rules::file::{Group, RuleFile, StepFile};
use crate::scan::Scanned;
use crate::scan::patterns::earliest;
use crate::sources;
use crate::tables;
use crate::words;

/// Lines shown for one signal.
const LINES_PER_SIGNAL: usize = 4;

/// Builds the incident of a cause that no other cause explains.
pub(super) fn build(
    one: &Assessment<'_>,
    ranked: &[&Assessment<'_>],
    explained: &[(&str, &str)],
    scanned: &Scanned,
) -> Incident {
    let file = &one.rule.file;
    let symptom = |name: &str| file.symptoms.iter().any(|known| known == name);
    let subjects = subjects(one);
    let remedy = &file.remedy;
    let verdict = one.verdict.unwrap_or(Verdict::NotChecked);
    let mut told = evidence(one, |name| !symptom(name));
    if told.is_empty() {
        // Where symptoms alone decided, they are the evidence.
        let deciding: Vec<&str> = named(one.decided_by).collect();
        told = evidence(one, |name| deciding.contains(&name));
    }
    let steps = |steps: &[StepFile]| {
        let told = steps.iter().filter(|step| is_told(one, step));
        told.map(|step| fill_step(one, step)).collect()
    };
    let fill_all = |texts: &[String]| {
        texts
            .iter()
            .map(|text| one.tell(text))
            .filter(|text| !text.is_empty())
            .collect()
    };
    let mut incident = Incident {
        id: format!(
            "{}@{}",
            file.id,
            subjects.first().map_or("bundle", String::as_str)
        ),
        cause: file.id.clone(),
        title: one.headline(),
        verdict,
        severity: file.severity,
        since: since(one, scanned),
        last: last(one),
        meanwhile: meanwhile(one),
        summary: one.tell(&file.summary),
        explanation: one.tell(&file.explanation),
        look_alikes: file.look_alikes.clone(),
        evidence: told,
        would_refute: would_refute(one),
        would_settle: would_settle(one),
        symptoms: symptoms(one, ranked, explained),
        chain: chain(one),
        observations: observations(one),
        tables: tables::build(&file.tables, &scanned.facts),
        figures: figures(file, &subjects, scanned),
        fix: None,
        remedy: Remedy {
            title: one.tell(&remedy.title),
            steps: steps(&remedy.steps),
            files: remedy
                .files
                .iter()
                .map(|file| FixFile {
                    name: file.name.clone(),
                    language: file.language.clone(),
                    content: one.file(&file.content),
                })
                .collect(),
            verify: steps(&remedy.verify),
            mitigate: fill_all(&remedy.mitigate),
            prevent: fill_all(&remedy.prevent),
        },
        references: file.references.clone(),
        beside: None,
        subjects,
    };
    date_events(&mut incident, scanned);
    incident
}

/// The drawings of a cause: those of the tables that it names, and those of its family.
fn figures(file: &RuleFile, subjects: &[String], scanned: &Scanned) -> Vec<Figure> {
    let mut figures = super::state::figures(&file.tables, &scanned.facts);
    figures.extend(gpu_map::figures(&file.family, subjects, &scanned.facts));
    figures
}

/// Dates each cited event by the first time that it was seen, as log lines are: the first sign of an incident counts.
fn date_events(incident: &mut Incident, scanned: &Scanned) {
    let events = scanned.facts.table::<Event>();
    let symptoms = incident.symptoms.iter_mut();
    let symptoms = symptoms.flat_map(|symptom| &mut symptom.evidence);
    for line in incident.evidence.iter_mut().chain(symptoms) {
        let event = events.at(&line.place);
        if let Some(first) = event.and_then(|event| event.data.first) {
            line.at = Some(first);
        }
    }
}

/// What speaks against a cause, with what was found where it was looked at.
fn would_refute(one: &Assessment<'_>) -> Vec<String> {
    // What no look at the cluster can contradict needs no row.
    let looked = one
        .looked_at
        .iter()
        .filter(|looked| looked.found.is_some() || !looked.what.starts_with("the fault is"));
    let looked = looked.map(|looked| {
        let place = looked.place.as_ref();
        let place = place.map_or_else(String::new, |place| format!(" ({place})"));
        let says = one.rule.file.refutation(looked.refutation);
        match looked.found {
            Some(true) => format!("{says} (found: {}{place})", looked.what),
            Some(false) if looked.between => {
                format!(
                    "{says} (so it is now: {}{place}; the fault comes and goes)",
                    looked.what
                )
            }
            Some(false) => format!("{says} {}{}{place})", words::NOT_THE_CASE, looked.what),
            None => format!("{says} (not checked: {})", looked.what),
        }
    });
    let by_hand = one.rule.file.refuted_by_hand.iter();
    looked
        .chain(by_hand.map(|text| text.trim().to_owned()))
        .collect()
}

/// Why the verdict is what it is, in one sentence, and where the deciding line stands.
pub(super) fn why(one: &Assessment<'_>) -> (String, Option<Place>) {
    if one.verdict == Some(Verdict::NotChecked) {
        return (format!("not collected: {}", one.missing.join(", ")), None);
    }
    let decided = one
        .decided_by
        .into_iter()
        .flat_map(|group| group.all.iter().chain(&group.any));
    let sightings: Vec<&Sighting> = decided
        .filter_map(|signal| Some(one.seen.get(signal.as_str())?.first()?.as_ref()))
        .collect();
    let says: Vec<&str> = sightings
        .iter()
        .take(3)
        .map(|sighting| sighting.says.as_str())
        .collect();
    let ended = match one.verdict {
        Some(Verdict::Past) => sightings.iter().find_map(|sighting| {
            let over = sighting.over.as_ref()?;
            Some(match &over.place {
                Some(place) => format!("; {} ({place})", over.says),
                None => format!("; {}", over.says),
            })
        }),
        _ => one.held_back.as_ref().map(|why| format!("; {why}")),
    };
    (
        format!("{}{}", says.join("; "), ended.unwrap_or_default()),
        sightings.first().map(|sighting| sighting.place.clone()),
    )
}

/// The lines of the signals that `wanted` picks, best first: one line of each signal that decided, then of each
/// that speaks for it besides, and only then a second of any. Three lines of one kind prove less than three kinds.
pub(super) fn evidence(one: &Assessment<'_>, wanted: impl Fn(&str) -> bool) -> Vec<Evidence> {
    let file = &one.rule.file;
    let supporting = || {
        let sure = file.confirmed.iter().chain(&file.likely);
        sure.chain(&file.possible)
    };
    let for_it: BTreeSet<&str> = named(supporting()).collect();
    // What a group must be without points to something else, even where another group holds.
    let without = supporting().flat_map(|group| &group.none);
    let without = without.map(String::as_str);
    let refuting = file
        .refuted_by
        .iter()
        .filter_map(|one| one.signal.as_deref());
    let against: BTreeSet<&str> = named(&file.ruled_out)
        .chain(refuting.filter(|name| !for_it.contains(name)))
        .chain(without.filter(|name| !for_it.contains(name)))
        .collect();
    let mut groups: Vec<&str> = Vec::new();
    for name in named(one.decided_by).chain(named(supporting())) {
        if !groups.contains(&name) && one.seen.contains_key(name) {
            groups.push(name);
        }
    }
    // What no group asks for is context, and comes after all that speaks for the cause.
    let context = one.seen.keys().copied();
    let context: Vec<&str> = context.filter(|name| !groups.contains(name)).collect();
    let ruled_out = one.verdict == Some(Verdict::RuledOut);
    let mut lines = Vec::new();
    for mut names in [groups, context] {
        names.retain(|name| wanted(name));
        for turn in 0..LINES_PER_SIGNAL {
            for name in &names {
                let role = if against.contains(name) && !ruled_out {
                    Role::Against
                } else {
                    Role::For
                };
                let sighting = one.seen.get(name).and_then(|all| all.get(turn));
                lines.extend(sighting.map(|one| line(one, role)));
            }
        }
    }
    // One line may be read by several signals; it is shown once, under the first that decided.
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert((line.place.clone(), line.text.clone())));
    lines
}

/// The signals that groups ask for.
fn named<'a>(groups: impl IntoIterator<Item = &'a Group>) -> impl Iterator<Item = &'a str> {
    let each = groups.into_iter();
    each.flat_map(|group| group.all.iter().chain(&group.any))
        .map(String::as_str)
}

fn line(sighting: &Sighting, role: Role) -> Evidence {
    Evidence {
        place: sighting.place.clone(),
        text: sighting.text.to_string(),
        says: sighting.says.clone(),
        role,
        at: sighting.at,
        count: sighting.count,
    }
}

fn subjects(one: &Assessment<'_>) -> Vec<String> {
    let file = &one.rule.file;
    let groups = || {
        file.confirmed
            .iter()
            .chain(&file.likely)
            .chain(&file.possible)
    };
    let asked: BTreeSet<&str> = named(groups()).collect();
    // What a group must be without concerns something else.
    let without: BTreeSet<&str> = groups()
        .flat_map(|group| &group.none)
        .map(String::as_str)
        .filter(|name| !asked.contains(name))
        .collect();
    let of = |symptoms: bool| {
        one.seen
            .iter()
            .filter(|(name, _)| !without.contains(*name))
            .filter(move |(name, _)| file.symptoms.iter().any(|known| known == *name) == symptoms)
            .flat_map(|(_, sightings)| sightings)
            .filter(|sighting| !sighting.subject.is_empty())
    };
    let roots = in_order(of(false));
    let hit = in_order(of(true));
    // A node is the widest thing a fault can sit on, so it stands before what runs on it.
    let (nodes, others): (Vec<&str>, Vec<&str>) = roots
        .iter()
        .copied()
        .partition(|subject| subject.starts_with("node/"));
    let mut subjects: Vec<String> = nodes.into_iter().chain(others).map(str::to_owned).collect();
    subjects.extend(
        hit.into_iter()
            .filter(|one| !roots.contains(one))
            .map(str::to_owned),
    );
    subjects
}

/// What sightings are about: what this start of the machine shows before what only an earlier one did.
fn in_order<'a>(sightings: impl Iterator<Item = &'a Arc<Sighting>>) -> Vec<&'a str> {
    let mut found: BTreeMap<&str, bool> = BTreeMap::new();
    for one in sightings {
        let is_earlier = found.entry(one.subject.as_str()).or_insert(true);
        *is_earlier &= one.earlier_boot;
    }
    let mut found: Vec<(&str, bool)> = found.into_iter().collect();
    found.sort_by_key(|(_, is_earlier)| *is_earlier);
    found.into_iter().map(|(subject, _)| subject).collect()
}

/// The first time that what decided was seen; where that is a setting without a time, the first symptom.
///
/// A line that speaks of no failure (a setting that a program prints at its start) is background: it dates the
/// incident only where nothing else does.
fn since(one: &Assessment<'_>, scanned: &Scanned) -> Option<chrono::DateTime<chrono::Utc>> {
    let deciding = one
        .decided_by
        .into_iter()
        .flat_map(|group| group.all.iter().chain(&group.any));
    let deciding: Vec<&String> = deciding.collect();
    let symptoms: Vec<&String> = one.rule.file.symptoms.iter().collect();
    let first = |names: &[&String], fails: bool| {
        names
            .iter()
            .filter_map(|name| one.seen.get(name.as_str()))
            .flatten()
            .filter(|sighting| !fails || grade::grade(&grade::plain(&sighting.text)) > Grade::Plain)
            .map(|sighting| began(sighting, scanned))
            .fold(None, earliest)
    };
    first(&deciding, true)
        .or_else(|| first(&deciding, false))
        .or_else(|| first(&symptoms, true))
        .or_else(|| first(&symptoms, false))
}

/// When the lines that decide were said for the last time; none where how things are decides, or where one of them bears
/// a time without a year, which may be later than all others.
fn last(one: &Assessment<'_>) -> Option<chrono::DateTime<chrono::Utc>> {
    let deciding = named(one.decided_by).filter_map(|name| one.seen.get(name));
    let said: Vec<_> = deciding
        .flatten()
        .filter(|sighting| !sighting.state)
        .collect();
    let is_dated = said.iter().all(|sighting| sighting.clock.is_none());
    let times = said.iter().map(|sighting| sighting.last.or(sighting.at));
    times
        .filter(|_| is_dated)
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .max()
}

/// What was found at the collection, where the fault comes and goes.
fn meanwhile(one: &Assessment<'_>) -> Option<String> {
    let found = one.looked_at.iter().find(|looked| looked.between)?;
    Some(found.what.clone())
}

/// When a sighting began: an event is dated by its last time, and says when it was first seen.
fn began(sighting: &Sighting, scanned: &Scanned) -> Option<chrono::DateTime<chrono::Utc>> {
    let events = scanned.facts.table::<Event>();
    let event = events.at(&sighting.place);
    event.and_then(|event| event.data.first).or(sighting.at)
}

/// What to look at to be sure, each as a question with its command: what would confirm it first, then
/// the sources that it needs and that are not there. A question whose answer the bundle holds, as far as it would
/// confirm, is an observation of the report and is asked again only where nothing else is left to ask.
fn would_settle(one: &Assessment<'_>) -> Vec<String> {
    // Of a fault that comes and goes the next time is open, and no question settles that.
    if one.verdict == Some(Verdict::Confirmed) || meanwhile(one).is_some() {
        return Vec::new();
    }
    let file = &one.rule.file;
    let confirming: BTreeSet<&str> = named(&file.confirmed).collect();
    let seen = |name: &&String| one.seen.contains_key(name.as_str());
    let (mut unanswered, mut again) = (Vec::new(), Vec::new());
    for asked in &file.observations {
        let shown: Vec<&String> = asked.shows.iter().collect();
        let confirms = |name: &&String| confirming.contains(name.as_str());
        if !shown.iter().any(|name| confirms(name) && !seen(name)) {
            continue;
        }
        let run = one.command(asked.run.trim()).replace('\n', "; ");
        let answers = asked.answers.as_deref().unwrap_or_default();
        let question = format!("{} ({run}). {}", one.tell(&asked.ask), one.tell(answers));
        let question = question.trim_end_matches(['.', ' ']).to_owned();
        match shown.iter().any(|name| confirms(name) && seen(name)) {
            true => again.push(question),
            false => unanswered.push(question),
        }
    }
    let mut wanted = unanswered;
    for source in &one.missing {
        let known = sources::find(source);
        let title = known.map_or(*source, |source| source.title);
        wanted.push(match known.and_then(|source| source.by_hand) {
            Some(command) => format!(
                "{title}, not collected ({command}). Analyse its output together with this input"
            ),
            None => format!("{title}, not collected"),
        });
    }
    // Better a question of which a part is answered than none.
    if wanted.is_empty() {
        wanted = again;
    }
    wanted.dedup();
    wanted
}

/// The rule's own symptoms, and the causes that this one explains.
fn symptoms(
    one: &Assessment<'_>,
    ranked: &[&Assessment<'_>],
    explained: &[(&str, &str)],
) -> Vec<Symptom> {
    let file = &one.rule.file;
    let mut symptoms: Vec<Symptom> = file
        .symptoms
        .iter()
        .filter_map(|name| {
            let sightings = one.seen.get(name.as_str())?;
            let lines = sightings.iter().take(LINES_PER_SIGNAL);
            Some(Symptom {
                id: name.clone(),
                text: sightings.first()?.says.clone(),
                evidence: lines.map(|sighting| line(sighting, Role::For)).collect(),
            })
        })
        .collect();
    for (effect, _) in explained.iter().filter(|(_, by)| *by == file.id) {
        let Some(effect) = ranked.iter().find(|other| other.rule.file.id == *effect) else {
            continue;
        };
        symptoms.push(Symptom {
            id: effect.rule.file.id.clone(),
            text: effect.headline(),
            evidence: evidence(effect, |_| true)
                .into_iter()
                .take(LINES_PER_SIGNAL)
                .collect(),
        });
    }
    symptoms
}

/// The rule's arrows whose sentences only use what was seen.
fn chain(one: &Assessment<'_>) -> Vec<ChainLink> {
    let links = one.rule.file.chain.iter().filter_map(|[from, to]| {
        Some(ChainLink {
            from: one.whole(from)?,
            to: one.whole(to)?,
        })
    });
    links.collect()
}

fn observations(one: &Assessment<'_>) -> Vec<Observation> {
    let asked = one.rule.file.observations.iter().filter_map(|asked| {
        let lines: Vec<Evidence> = asked
            .shows
            .iter()
            .filter_map(|name| one.seen.get(name.as_str()))
            .flat_map(|sightings| sightings.iter().take(LINES_PER_SIGNAL))
            .map(|sighting| line(sighting, Role::For))
            .collect();
        if lines.is_empty() {
            return None;
        }
        Some(Observation {
            question: one.tell(&asked.ask),
            command: one.command(&asked.run),
            lines,
            conclusion: one.tell(&asked.so),
        })
    });
    asked.collect()
}

/// Whether a step is of this case.
fn is_told(one: &Assessment<'_>, step: &StepFile) -> bool {
    let seen = |name: &String| one.seen.contains_key(name.as_str());
    (step.when.is_empty() || step.when.iter().any(seen)) && !step.unless.iter().any(seen)
}

fn fill_step(one: &Assessment<'_>, step: &StepFile) -> Step {
    Step {
        text: one.tell(&step.text),
        command: step.run.as_deref().map(|run| one.command(run)),
        expect: step.expect.as_deref().map(|expect| one.tell(expect)),
    }
}
