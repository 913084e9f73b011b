//! What a rule needs so that its verdicts can be trusted: proofs that belong together, a way to be wrong, and
//! expressions that can match where they look.

use super::{Fault, fault, known_signal};
use crate::parsers::Channel;
use crate::rules::file::{Group, Kind, RuleFile, Signal};
use crate::scan::literals;

pub(super) fn check(file: &RuleFile, faults: &mut Vec<Fault>) {
    file.confirmed
        .iter()
        .for_each(|group| belongs(group, faults));
    refutable(file, faults);
    for (id, signal) in &file.signals {
        reachable(id, signal, faults);
    }
}

/// Signals of unrelated things are no proof.
fn belongs(group: &Group, faults: &mut Vec<Fault>) {
    let parts = group.all.len() + usize::from(!group.any.is_empty());
    if parts > 1 && group.same.is_none() {
        let first = group.all.iter().chain(&group.any).next();
        let word = first.map_or("", String::as_str);
        let what = "a confirmed group of several signals says under same what they share: node, file or subject; \
                    or cluster, where each may be of another part of it";
        faults.push(fault(&["confirmed"], word, what));
    }
}

fn refutable(file: &RuleFile, faults: &mut Vec<Fault>) {
    let none = file.refuted_by.is_empty() && file.ruled_out.is_empty();
    if file.kind == Kind::Cause && none && file.cannot_be_refuted.is_none() {
        let what = "nothing speaks against it: name a signal or a state under refuted_by, or say under \
                    cannot_be_refuted why no capture can hold one";
        faults.push(fault(&["id"], &file.id, what));
    }
    for one in &file.refuted_by {
        match (&one.signal, one.state) {
            (Some(signal), None) => known_signal(file, &["refuted_by"], signal, faults),
            (None, Some(_)) => {}
            _ => faults.push(fault(&["refuted_by"], "", "give one of signal and state")),
        }
        if let Some(signal) = &one.unless {
            known_signal(file, &["refuted_by"], signal, faults);
        }
    }
}

/// In logs, nothing is tried because of a text that stands in lines of every healthy node.
fn reachable(id: &str, signal: &Signal, faults: &mut Vec<Fault>) {
    let logs = [Channel::Kernel, Channel::Journal, Channel::PodLog];
    let only_logs =
        !signal.channels.is_empty() && signal.channels.iter().all(|one| logs.contains(one));
    let Some(line) = signal.line.as_ref().filter(|_| only_logs) else {
        return;
    };
    let texts = literals::required(line).unwrap_or_default();
    for text in texts.iter().filter(|text| literals::is_everyday_text(text)) {
        let what = format!(
            "signal {id}: no channel reaches the alternative with {text:?}, which stands in lines of every healthy node; \
             give it a longer or a rarer text"
        );
        faults.push(fault(&["signals", id, "line"], "", what));
    }
}
