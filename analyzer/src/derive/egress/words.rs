//! Answers of the firewall in words: the packet, the verdict, what decides and whose it is.

use crate::derive::line_at;
use crate::facts::{AnyFact, Fact};
use crate::firewall::eval::{DecidedBy, Verdict};
use crate::firewall::iptables::Origin;
use crate::firewall::packet::{Direction, Interface, Packet};
use crate::firewall::question::Answer;
use crate::model::Place;
use crate::model::state::{PacketPath, PathStep};
use crate::scan::Documents;
use crate::shared::Shared;

/// Steps of a packet's way that are kept; of a longer way the middle is left out.
const MOST_STEPS: usize = 16;

pub(in crate::derive) fn name(interface: Option<&Interface>) -> String {
    interface.map(ToString::to_string).unwrap_or_default()
}

pub(in crate::derive) fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Input => "input",
        Direction::Output => "output",
    }
}

pub(in crate::derive) fn in_words(packet: &Packet) -> String {
    let interface =
        |one: Option<&Interface>| one.map_or_else(|| "?".to_owned(), ToString::to_string);
    let proto = packet
        .proto
        .map(|proto| proto.to_string())
        .unwrap_or_default();
    let port = packet
        .dport
        .map_or_else(String::new, |port| format!(" port {port}"));
    format!(
        "{} -> {}, {proto}{port}, in on {}, out on {}",
        packet.src,
        packet.dst,
        interface(packet.in_iface.as_ref()),
        interface(packet.out_iface.as_ref())
    )
}

pub(in crate::derive) fn verdict(answer: &Answer) -> String {
    match answer.evaluation.verdict {
        Verdict::Accepted => "accepted",
        Verdict::Dropped => "dropped",
        Verdict::Rejected => "rejected",
        Verdict::Undecided { .. } if answer.evaluation.decided_by.is_none() => "not-evaluated",
        Verdict::Undecided { .. } => "undecided",
    }
    .to_owned()
}

/// What decides, in ufw's words where it is ufw's decision; of an open verdict why it is open, with the rule in doubt.
pub(in crate::derive) fn words(answer: &Answer) -> String {
    if let Verdict::Undecided { why } = &answer.evaluation.verdict
        && !why.is_empty()
    {
        let notes = answer.evaluation.notes.iter().map(String::as_str);
        let all: Vec<&str> = std::iter::once(why.as_str()).chain(notes).collect();
        return all.join("; ");
    }
    let decided = answer.evaluation.decided_by.as_ref().map(|decided| {
        let others = &answer.evaluation.or_decided_by;
        match (answer.evaluation.verdict.is_blocked(), others.as_slice()) {
            (true, [other]) => format!("{decided}, or {other} if it matches before"),
            (true, [other, rest @ ..]) => format!(
                "{decided}, or another of {} that may match before, such as {other}",
                rest.len() + 1
            ),
            _ => decided.to_string(),
        }
    });
    match (&answer.ufw, decided) {
        (Some(ufw), Some(decided)) => format!("{} ({decided})", ufw.sentence.trim_end_matches('.')),
        (_, Some(decided)) => decided,
        (_, None) if answer.evaluation.verdict == Verdict::Accepted => {
            "no captured rule concerns it".into()
        }
        (_, None) => "no firewall rules were captured".into(),
    }
}

pub(in crate::derive) fn decided_at(answer: &Answer) -> Option<&Origin> {
    answer
        .evaluation
        .decided_by
        .as_ref()
        .and_then(DecidedBy::origin)
}

/// Whose rule decided: ufw's by its own words or the log prefix, else by the names of table and chain; `several` where rules
/// of different owners may have stopped the packet, and it is not known which of them came first.
pub(in crate::derive) fn owner(answer: &Answer, logged_by_ufw: bool) -> String {
    let evaluation = &answer.evaluation;
    let Some(decided) = &evaluation.decided_by else {
        let owner = if answer.ufw.is_some() || logged_by_ufw {
            "ufw"
        } else {
            "iptables"
        };
        return owner.to_owned();
    };
    let first = owner_of(decided, answer.ufw.is_some());
    let mut others = evaluation.or_decided_by.iter();
    if evaluation.verdict.is_blocked() && others.any(|other| owner_of(other, false) != first) {
        return "several".to_owned();
    }
    first.to_owned()
}

fn owner_of(decided: &DecidedBy, explained_by_ufw: bool) -> &'static str {
    let (table, chain) = match decided {
        DecidedBy::Rule { table, chain, .. } | DecidedBy::Policy { table, chain, .. } => {
            (table.as_str(), chain.as_str())
        }
        DecidedBy::NoRules { .. } => ("", ""),
    };
    if explained_by_ufw || chain.starts_with("ufw") {
        "ufw"
    } else if zone_of(decided).is_some() || table.ends_with(" firewalld") {
        "firewalld"
    } else if chain.contains("DOCKER") {
        "docker"
    } else if table == "ipvs" {
        "ipvs"
    } else if table.contains(' ') {
        // Only nft's own tables are named with their family.
        "nft"
    } else {
        "iptables"
    }
}

/// Table, chain and text of a deciding rule or policy that is one of nft's own; empty for any other.
pub(super) fn nft_rule(answer: &Answer, documents: &Documents) -> [String; 3] {
    let own = answer.evaluation.decided_by.as_ref().and_then(|decided| {
        if owner_of(decided, answer.ufw.is_some()) != "nft" {
            return None;
        }
        let (table, chain) = match decided {
            DecidedBy::Rule { table, chain, .. } => (table, chain),
            DecidedBy::Policy {
                table,
                chain,
                policy,
                ..
            } => {
                let text = format!("policy {}", policy.to_lowercase());
                return Some([table.clone(), chain.clone(), text]);
            }
            DecidedBy::NoRules { .. } => return None,
        };
        let origin = decided.origin()?;
        let text = line_at(documents, &origin.path, origin.line)?;
        Some([table.clone(), chain.clone(), text.trim().to_owned()])
    });
    own.unwrap_or_default()
}

/// The zone of firewalld that a deciding rule belongs to, by the name of its chain.
pub(in crate::derive) fn zone(answer: &Answer) -> Option<String> {
    zone_of(answer.evaluation.decided_by.as_ref()?)
}

fn zone_of(decided: &DecidedBy) -> Option<String> {
    let DecidedBy::Rule { table, chain, .. } = decided else {
        return None;
    };
    let own_table = table.ends_with(" firewalld");
    let rest = [
        "filter_FWD_",
        "filter_FWDI_",
        "filter_FWDO_",
        "filter_IN_",
        "FWD_",
        "FWDI_",
        "IN_",
    ]
    .iter()
    .find_map(|start| chain.strip_prefix(start))?;
    let part = ["_allow", "_deny", "_log", "_pre", "_post"]
        .iter()
        .find_map(|end| rest.strip_suffix(end));
    let named = own_table || part.is_some();
    (named && !rest.starts_with("policy_")).then(|| part.unwrap_or(rest).to_owned())
}

/// The way of a packet, for the drawing.
pub(super) fn path(node: &str, question: &str, packet: &Packet, answer: &Answer) -> AnyFact {
    let walk = &answer.evaluation.walk;
    let left_out = walk.len().saturating_sub(MOST_STEPS);
    let head = MOST_STEPS / 2;
    let kept = walk
        .iter()
        .enumerate()
        .filter(|(index, _)| *index < head || *index >= head + left_out);
    let steps = kept.map(|(_, step)| PathStep {
        chain: format!("{} {}", step.table, step.chain),
        rule: step.text.clone(),
        does: step.why.clone(),
        place: (step.origin.line > 0).then(|| Place {
            path: step.origin.path.as_ref().into(),
            line: Some(step.origin.line),
        }),
    });
    let data = PacketPath {
        node: node.to_owned(),
        question: question.to_owned(),
        packet: in_words(packet),
        verdict: verdict(answer),
        steps: steps.collect(),
        left_out: u64::try_from(left_out).unwrap_or(u64::MAX),
        decided_by: words(answer),
    };
    let place = decided_at(answer).map_or_else(Place::default, |origin| Place {
        path: origin.path.as_ref().into(),
        line: (origin.line > 0).then_some(origin.line),
    });
    Fact {
        data,
        place,
        text: Shared::default(),
        at: None,
    }
    .into()
}
