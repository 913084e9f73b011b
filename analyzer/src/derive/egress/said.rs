//! Packets that the kernel logged as blocked, by a rule that is still among the captured ones, beside what those rules
//! would do with them: the kernel's word goes before a simulation of it.

use super::words::in_words;
use crate::facts::said::SaidOtherwise;
use crate::facts::{AnyFact, Fact};
use crate::firewall::eval::Verdict;
use crate::firewall::question::{Answer, Captures};
use crate::parsers::PacketLine;

/// Where the walk lets a packet pass that the kernel blocked, the walk's verdict becomes open, and the contradiction is
/// a fact. Either the rules changed since, or something that was not captured stops it: neither is known from here.
pub(super) fn otherwise(
    captures: &Captures<'_>,
    line: &PacketLine,
    answer: &mut Answer,
) -> Option<AnyFact> {
    let prefix = line.says.0.prefix.trim();
    if answer.evaluation.verdict != Verdict::Accepted || !is_captured(captures, prefix) {
        return None;
    }
    let sentence = format!(
        "the kernel logged \"{prefix}\" for {}, and the captured rules let that packet pass",
        in_words(&line.says.0.packet)
    );
    answer.evaluation.verdict = Verdict::Undecided {
        why: format!("{sentence}; the rules changed since, or what stops it was not captured"),
    };
    Some(
        Fact {
            data: SaidOtherwise {
                node: line.node.clone(),
                program: "kernel".to_owned(),
                sentence,
            },
            place: line.place.clone(),
            text: line.text.as_str().into(),
            at: line.at,
        }
        .into(),
    )
}

/// Whether a captured rule logs with this prefix. Another's word (a program that was stopped, a rule that was removed)
/// says nothing of the rules that are left.
fn is_captured(captures: &Captures<'_>, prefix: &str) -> bool {
    let all = [
        captures.iptables,
        captures.iptables_legacy,
        captures.ip6tables,
        captures.ip6tables_legacy,
        captures.nft,
    ];
    let mut lines = all.iter().flatten().flat_map(|one| one.text.lines());
    !prefix.is_empty() && lines.any(|line| line.contains("prefix") && line.contains(prefix))
}
