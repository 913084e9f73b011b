//! What happened to each node and what came first; its certificates and its clock.

use casefile_bundle::Entry;
use chrono::{DateTime, TimeDelta, Utc};

use super::{Deriver, Known};
use crate::ending::boots;
use crate::ending::memory::Full;
use crate::ending::moments::{self, Kind, Moment, Validity};
use crate::facts::ending::{Certificate, ClockState, NodeMoment};
use crate::facts::kube::Event;
use crate::facts::{AnyFact, Fact};
use crate::model::Place;
use crate::parsers::{CertificateRecord, HostLine, HostSays};

/// Joins host lines, events about nodes, certificates and what time services say.
pub(super) static DERIVER: Deriver = Deriver {
    id: "moments",
    derive,
};

/// A moment and the line that tells it.
struct Told {
    moment: Moment,
    detail: String,
    place: Place,
    text: String,
}

/// Moments kept of one node.
const MOST: usize = 400;

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = certificates(known);
    for node in known.nodes() {
        facts.extend(clock(known, &node));
        let told = told(known, &node);
        let moments: Vec<Moment> = told.iter().map(|one| one.moment.clone()).collect();
        let first = moments::first(&moments);
        for (at, one) in told.into_iter().enumerate() {
            let data = NodeMoment {
                node: node.clone(),
                what: one.moment.kind.word().to_owned(),
                detail: one.detail,
                at: Some(one.moment.at),
                first: first == Some(at),
            };
            let fact = Fact {
                data,
                place: one.place,
                text: one.text.into(),
                at: Some(one.moment.at),
            };
            facts.push(fact.into());
        }
    }
    facts
}

fn told(known: &Known<'_>, node: &str) -> Vec<Told> {
    let lines = known.facts.table::<HostLine>().iter();
    let lines = lines
        .filter(|line| line.data.node == node)
        .filter_map(of_line);
    let about = format!("node/{node}");
    let events = known.facts.table::<Event>().iter();
    let events = events
        .filter(|event| event.data.object == about)
        .filter_map(of_event);
    let records = known.facts.table::<CertificateRecord>().iter();
    let ended = records
        .filter(|one| one.data.node == node && whose(&one.data.path) != "other")
        .filter_map(|one| {
            let at = one.data.not_after?;
            (at <= known.now?).then(|| Told {
                moment: Moment {
                    kind: Kind::CertificateEnd,
                    at,
                },
                detail: format!("the certificate in {} ended", one.data.path),
                place: one.place.clone(),
                text: one.text.to_string(),
            })
        });
    let mut all: Vec<Told> = lines.chain(events).chain(ended).collect();
    let listed = listed_boots(known, node, &all);
    all.extend(listed);
    all.sort_by(|a, b| {
        (a.moment.at, a.moment.kind, &a.place).cmp(&(b.moment.at, b.moment.kind, &b.place))
    });
    // The journal and a copy of it tell the same boot twice.
    all.dedup_by(|a, b| a.moment == b.moment);
    let surplus = all.len().saturating_sub(MOST);
    all.drain(..surplus);
    all
}

/// A boot's first entry and the kernel's first line are this close, where both were captured.
const SAME_BOOT: TimeDelta = TimeDelta::minutes(2);

/// Boots told of the list, the newest.
const MOST_BOOTS: usize = 10;

/// Boots of the journal's list whose kernel lines were not captured.
fn listed_boots(known: &Known<'_>, node: &str, told: &[Told]) -> Vec<Told> {
    let path = Entry::Printed(node, "journal-boots").path();
    let Some(text) = known.documents.get(&path) else {
        return Vec::new();
    };
    let mut listed = boots::parse(text);
    let surplus = listed.len().saturating_sub(MOST_BOOTS);
    listed.drain(..surplus);
    listed.retain(|boot| {
        let same = |one: &&Told| {
            one.moment.kind == Kind::Boot && (one.moment.at - boot.began).abs() <= SAME_BOOT
        };
        !told.iter().any(|one| same(&one))
    });
    let line = |number: u32| {
        let before = usize::try_from(number).unwrap_or(1).saturating_sub(1);
        text.lines()
            .nth(before)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let moments = listed.into_iter().map(|boot| Told {
        moment: Moment {
            kind: Kind::Boot,
            at: boot.began,
        },
        detail: "the journal of a boot begins".to_owned(),
        place: Place {
            path: path.as_str().into(),
            line: Some(boot.line),
        },
        text: line(boot.line),
    });
    moments.collect()
}

fn of_line(line: &Fact<HostLine>) -> Option<Told> {
    let kind = match &line.data.says {
        HostSays::Boot => Kind::Boot,
        HostSays::Pleg => Kind::Pleg,
        HostSays::RuntimeDown => Kind::RuntimeDown,
        HostSays::MemoryKill { full, .. } if *full == Full::Node => Kind::MemoryKill,
        HostSays::MemoryKill { .. } | HostSays::Clock(_) | HostSays::Figure(_) => return None,
    };
    Some(Told {
        moment: Moment {
            kind,
            at: line.data.at?,
        },
        detail: line.data.text.clone(),
        place: line.place.clone(),
        text: line.text.to_string(),
    })
}

fn of_event(event: &Fact<Event>) -> Option<Told> {
    let kind = match event.data.reason.as_str() {
        "Rebooted" => Kind::Boot,
        "NodeNotReady" => Kind::NotReady,
        "Starting" if event.data.message.contains("kubelet") => Kind::KubeletStart,
        "SystemOOM" => Kind::MemoryKill,
        "EvictionThresholdMet"
        | "FreeDiskSpaceFailed"
        | "NodeHasDiskPressure"
        | "NodeHasInsufficientMemory"
        | "NodeHasInsufficientPID" => Kind::Pressure,
        _ => return None,
    };
    Some(Told {
        moment: Moment {
            kind,
            at: event.data.first?,
        },
        detail: event.data.message.to_string(),
        place: event.place.clone(),
        text: event.text.to_string(),
    })
}

/// Whose a certificate is, by where kubelets and control planes keep theirs. Files that rotation left behind are
/// used by nobody.
fn whose(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or_default();
    if matches!(name, "kubelet-client-current.pem" | "client-kubelet.crt") {
        return "kubelet-client";
    }
    let dated = |kind: &str| {
        let rest = name.strip_prefix(kind);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if dated("kubelet-client-") || dated("kubelet-server-") {
        return "other";
    }
    let kubelet = [
        "/kubelet/pki/",
        "/kubelet.conf",
        "client-kubelet",
        "serving-kubelet",
        "/kubelet.kubeconfig",
    ];
    let control = [
        "/etc/kubernetes/",
        "/server/tls/",
        "/k0s/pki/",
        "/k8s-dqlite/",
        "/k8sd/",
        "/microk8s/",
        "etcd",
    ];
    if kubelet.iter().any(|part| path.contains(part)) {
        "kubelet"
    } else if control.iter().any(|part| path.contains(part)) {
        "control-plane"
    } else {
        "other"
    }
}

fn certificates(known: &Known<'_>) -> Vec<AnyFact> {
    let Some(now) = known.now else {
        return Vec::new();
    };
    let records = known.facts.table::<CertificateRecord>().iter();
    let judged = records.filter_map(|record| {
        let (from, until) = (record.data.not_before?, record.data.not_after?);
        Some((record, moments::validity(from, until, now), until))
    });
    judged
        .map(|(record, state, until)| certificate(record, state, until, now))
        .collect()
}

fn certificate(
    record: &Fact<CertificateRecord>,
    state: Validity,
    until: DateTime<Utc>,
    now: DateTime<Utc>,
) -> AnyFact {
    let data = &record.data;
    Fact {
        data: Certificate {
            node: data.node.clone(),
            path: data.path.clone(),
            member: data.member.clone(),
            subject: data.subject.clone(),
            issuer: data.issuer.clone(),
            is_ca: data.is_ca,
            whose: whose(&data.path).to_owned(),
            state: state.word().to_owned(),
            days_left: (until - now).num_days(),
            not_before: data.not_before,
            not_after: data.not_after,
        },
        place: record.place.clone(),
        text: record.text.clone(),
        at: None,
    }
    .into()
}

fn clock(known: &Known<'_>, node: &str) -> Option<AnyFact> {
    let path = |name: &str| Entry::Printed(node, name).path();
    let (chrony, timedate) = (path("chronyc-tracking"), path("timedatectl"));
    let text = |path: &str| known.documents.get(path).map(String::as_str);
    let offset = text(&chrony).and_then(moments::chrony_offset);
    // chrony guides the clock itself where it runs; timedatectl says what the kernel was told.
    let follows = text(&chrony).and_then(moments::chrony_follows);
    let synchronised = follows.or_else(|| text(&timedate).and_then(moments::synchronised));
    if offset.is_none() && synchronised.is_none() {
        return None;
    }
    let data = ClockState {
        node: node.to_owned(),
        synchronised,
        // Printed with nine digits; a millisecond is finer than anything that compares clocks of hosts.
        offset_ms: offset.map(milliseconds),
    };
    let (path, key) = if offset.is_some() {
        (chrony, "System time")
    } else if follows.is_some() {
        (chrony, "Leap status")
    } else {
        (timedate, "ynchronized")
    };
    let line = known.documents.get(&path).and_then(|text| {
        let (number, line) = (1u32..)
            .zip(text.lines())
            .find(|(_, line)| line.contains(key))?;
        Some((number, line.trim().to_owned()))
    });
    let (line, text) = line.map_or((None, String::new()), |(line, text)| (Some(line), text));
    let fact = Fact {
        data,
        place: Place {
            path: path.into(),
            line,
        },
        text: text.into(),
        at: None,
    };
    Some(fact.into())
}

/// Whole milliseconds, within what an `i32` holds: an offset of weeks is as wrong as one of years.
fn milliseconds(seconds: f64) -> i64 {
    let bounded = (seconds * 1000.0).clamp(f64::from(i32::MIN), f64::from(i32::MAX));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is within the bounds of an i32"
    )]
    let whole = bounded.round() as i64;
    whole
}
