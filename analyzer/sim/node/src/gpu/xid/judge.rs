//! Class and action of a story's cause in the light of the messages beside it, of other GPUs and of `nvidia-smi`.
//! Sequences: NVIDIA's older listing (<https://docs.nvidia.com/deploy/xid-errors/index.html>).

use std::collections::BTreeSet;

use super::catalogue::{Action, Class, Xid, lookup};
use super::detail::{Detail, recovery};
use super::health::Health;
use super::nvlink5;
use super::story::{Event, close};

/// What was judged, and why.
pub(super) struct Judged {
    pub(super) class: Class,
    pub(super) action: Action,
    pub(super) then: Action,
    pub(super) why: Vec<String>,
}

impl Judged {
    /// What to do, in words.
    pub(super) fn advice(&self) -> String {
        let first = self.action.words();
        let more =
            !matches!(self.then, Action::NotNamed | Action::None) && self.then != self.action;
        if more {
            format!("{first}, then {}", self.then.words())
        } else {
            first.to_owned()
        }
    }

    /// Puts another class and action in the place of the code's own.
    fn turn(&mut self, class: Class, action: Action, why: impl Into<String>) {
        self.class = class;
        self.action = action;
        self.why.push(why.into());
    }
}

pub(super) fn judge(
    cause: &Event,
    others: &[&Event],
    peers: &[&Event],
    health: Option<&Health>,
) -> Judged {
    let known = lookup(cause.code).unwrap_or(Xid {
        meaning: "",
        class: Class::Unknown,
        action: Action::NotNamed,
        then: Action::NotNamed,
    });
    let mut judged = Judged {
        class: known.class,
        action: known.action,
        then: known.then,
        why: Vec::new(),
    };
    if lookup(cause.code).is_none() {
        judged
            .why
            .push("no source that is known here names the code".into());
    }
    sub_code(cause, &mut judged);
    sequence(cause, others, &mut judged);
    neighbours(cause, peers, &mut judged);
    beside(cause, others, health, &mut judged);
    asked_for(cause, others, health, &mut judged);
    judged
}

/// What the numbers of an NVLink 5 error say of it; the strongest action where several were logged.
fn sub_code(cause: &Event, judged: &mut Judged) {
    if !(144..=150).contains(&cause.code) {
        return;
    }
    let all = cause.details.iter().filter_map(|detail| match detail {
        Detail::Nvlink5 { fatal, numbers, .. } => Some((*fatal, *numbers)),
        _ => None,
    });
    let decode = |(fatal, numbers): (bool, Option<(u32, u32)>)| {
        let found = numbers.and_then(|(info, status)| nvlink5::decode(cause.code, info, status));
        (
            found.map(|one| one.action),
            found.map(|one| one.then),
            fatal,
        )
    };
    let strongest = all.map(decode).max_by_key(|(action, then, fatal)| {
        // What is not decoded goes before what the catalogue says to ignore.
        (
            action.unwrap_or(if *fatal {
                Action::Procedure
            } else {
                Action::ContactVendor
            }),
            *then,
        )
    });
    match strongest {
        Some((Some(Action::None), then, _)) => {
            judged.then = then.unwrap_or(Action::NotNamed);
            judged.turn(
                Class::Information,
                Action::None,
                "by unit and error status NVIDIA's catalogue says to ignore it",
            );
        }
        Some((Some(Action::AsRecoveryAction), then, _)) => {
            judged.then = then.unwrap_or(Action::NotNamed);
            judged.turn(
                Class::Application,
                Action::AsRecoveryAction,
                "by unit and error status it ends the program that used the link, and Xid 154 says what else is needed",
            );
        }
        Some((Some(action), then, _)) => {
            judged.then = then.unwrap_or(Action::NotNamed);
            judged.action = action;
        }
        Some((None, _, true)) => {}
        _ => judged.turn(
            Class::Unknown,
            Action::Procedure,
            "unit and error status decide what it means, and they are not in the line or not in NVIDIA's catalogue",
        ),
    }
}

/// What messages of the same GPU make of the cause.
fn sequence(cause: &Event, others: &[&Event], judged: &mut Judged) {
    let codes: BTreeSet<u32> = others.iter().map(|event| event.code).collect();
    let has = |code: u32| code == cause.code || codes.contains(&code);
    match cause.code {
        48 | 63 | 64 | 94 | 95 if has(64) => judged.turn(
            Class::Memory,
            Action::ResetGpu,
            "the defect could not be recorded: the GPU cannot repair itself",
        ),
        48 | 63 | 94 | 95 if has(95) => judged.turn(
            Class::Memory,
            Action::ResetGpu,
            "the error was not contained: other programs of the GPU may be hit",
        ),
        48 if has(63) => judged.turn(
            Class::Memory,
            Action::ResetGpu,
            "the error was recorded for remapping, which takes effect at the next reset",
        ),
        63 | 94 if has(63) && has(94) => judged.turn(
            Class::Memory,
            Action::RestartApplication,
            "one application is hit; the remap takes effect at the next reset, which can wait",
        ),
        45 => alone(cause, others, judged),
        _ => {}
    }
    let harder = others.iter().filter_map(|event| {
        let xid = lookup(event.code)?;
        let hard = matches!(xid.class, Class::Bus | Class::Memory | Class::Hardware);
        hard.then_some((event.code, xid))
    });
    if judged.class == Class::Application
        && let Some((code, xid)) = harder.max_by_key(|(code, xid)| (xid.action, *code))
    {
        judged.then = xid.then;
        let why = format!("a program does not cause Xid {code}");
        judged.turn(xid.class, xid.action, why);
    }
}

/// A channel that was removed: the driver may name why, else it stands alone.
fn alone(cause: &Event, others: &[&Event], judged: &mut Judged) {
    let named = cause.details.iter().find_map(|detail| match detail {
        Detail::After(code) => Some(*code),
        _ => None,
    });
    if let Some(code) = named {
        let meaning = lookup(code).map_or_else(String::new, |xid| format!(" ({})", xid.meaning));
        judged.why.push(format!(
            "the driver says that it follows from Xid {code}{meaning}"
        ));
    } else if others.is_empty() {
        judged.why.push(
            "it is the only error; on NVSwitch systems this happens when Fabric Manager stops, and NVIDIA advises restarting it"
                .into(),
        );
    }
}

/// What messages of other GPUs make of the cause.
fn neighbours(cause: &Event, peers: &[&Event], judged: &mut Judged) {
    let near = || peers.iter().filter(|peer| close(cause, peer));
    let lost = near().find(|peer| matches!(peer.code, 79 | 119 | 167) && before(peer, cause));
    if let (74 | 144..=150, Some(peer)) = (cause.code, lost) {
        let why = format!(
            "GPU {} failed first with Xid {}, and its links went down with it",
            peer.bus, peer.code
        );
        judged.turn(Class::Consequence, Action::None, why);
        judged.then = Action::NotNamed;
        return;
    }
    let same: BTreeSet<&str> = near()
        .filter(|peer| peer.code == cause.code)
        .map(|peer| peer.bus.as_str())
        .collect();
    if judged.class == Class::Application && !same.is_empty() {
        let (count, noun) = (
            same.len(),
            if same.len() == 1 {
                "GPU shows"
            } else {
                "GPUs show"
            },
        );
        judged.why.push(format!(
            "{count} other {noun} the same code, so the program they share is at fault"
        ));
    } else if judged.class == Class::Application
        && matches!(cause.code, 13 | 31)
        && cause.processes.len() > 1
    {
        let count = cause.processes.len();
        let why = format!(
            "{count} different processes failed on this one GPU, so the GPU itself is suspect"
        );
        judged.turn(Class::Hardware, Action::Procedure, why);
    }
}

/// What `nvidia-smi` says of the GPU beside it.
fn beside(cause: &Event, others: &[&Event], health: Option<&Health>, judged: &mut Judged) {
    let Some(health) = health else {
        return;
    };
    let words = health.words();
    if matches!(judged.class, Class::Application | Class::Consequence) && health.memory_is_bad() {
        judged.then = Action::NotNamed;
        judged.turn(
            Class::Memory,
            Action::ResetGpu,
            format!("nvidia-smi reports bad memory on this GPU: {words}"),
        );
    } else if !words.is_empty() {
        judged.why.push(format!("nvidia-smi reports {words}"));
    } else if health.ecc_uncorrectable == Some(0)
        && (cause.code == 13 || cause.code == 31)
        && others.is_empty()
    {
        judged
            .why
            .push("nvidia-smi counts no uncorrectable memory error on this GPU".into());
    }
}

/// The recovery action that the driver itself asks for goes before the table's.
fn asked_for(cause: &Event, others: &[&Event], health: Option<&Health>, judged: &mut Judged) {
    let said = std::iter::once(cause)
        .chain(others.iter().copied())
        .flat_map(|event| &event.details)
        .filter_map(|detail| match detail {
            Detail::Recovery(words) => Some(words.as_str()),
            _ => None,
        });
    let now = health.map(|health| health.recovery_action.as_str());
    let now = now.filter(|words| !words.is_empty());
    let mut words: Vec<&str> = said.chain(now).collect();
    words.sort_by_key(|words| recovery(words));
    words.dedup();
    let Some(strongest) = words.last() else {
        return;
    };
    // What nvidia-smi says now goes before what the log says of earlier.
    let taken_back = now.is_some_and(|now| recovery(now) == Some(Action::None));
    if recovery(strongest) == Some(Action::None) {
        if cause.code == 154 {
            let why = "the driver took its request back: it asks for no action any more";
            judged.turn(Class::Information, Action::None, why);
        }
        return;
    }
    if taken_back {
        let why = format!(
            "the driver asked for: {strongest}, and nvidia-smi shows that it no longer does"
        );
        judged.why.push(why);
        if cause.code == 154 {
            judged.class = Class::Information;
            judged.action = Action::None;
        }
        return;
    }
    judged.why.push(format!("the driver asks for: {strongest}"));
    match recovery(strongest) {
        Some(Action::None) | None => {}
        Some(action) => judged.action = action,
    }
}

fn before(a: &Event, b: &Event) -> bool {
    match (a.at, b.at) {
        (Some(a), Some(b)) => a <= b,
        _ => a.order <= b.order,
    }
}
