//! Queues to programs (`NFQUEUE`, nft's `queue`): who listens at one decides over its packets, and where nobody listens the
//! kernel does (`nf_queue` in `net/netfilter/nf_queue.c`).

use std::collections::BTreeSet;

use crate::question::CapturedText;

/// A queue, or several of which the kernel takes one by the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// First and last number; `None` where a rule works it out of the packet.
    pub numbers: Option<(u16, u16)>,
    /// Without a listener the packet goes on instead of being dropped.
    pub bypass: bool,
}

impl Queue {
    /// `--queue-num 3 --queue-bypass`, `--queue-balance 0:4`; without a number it is 0.
    pub(crate) fn of_options(arguments: &[&str]) -> Queue {
        let value = |option: &str| {
            let at = arguments.iter().position(|word| *word == option)?;
            arguments.get(at + 1).copied()
        };
        let text = value("--queue-num").or_else(|| value("--queue-balance"));
        Queue {
            numbers: text.map_or(Some((0, 0)), |text| range(text, ':')),
            bypass: arguments.contains(&"--queue-bypass"),
        }
    }

    /// `queue num 3 bypass`, `queue flags bypass,fanout to 1-3`, `queue to numgen inc mod 4`.
    pub(crate) fn of_words(words: &[&str]) -> Queue {
        let bypass = words.contains(&"bypass");
        let named = ["flags", "bypass", "fanout", ",", "num", "to"];
        let rest: Vec<&str> = words
            .iter()
            .copied()
            .filter(|word| !named.contains(word))
            .collect();
        let numbers = match rest.as_slice() {
            [] => Some((0, 0)),
            [one] => range(one, '-'),
            _ => None,
        };
        Queue { numbers, bypass }
    }

    /// How it is named in sentences.
    pub(crate) fn words(self) -> String {
        match self.numbers {
            Some((first, last)) if first == last => format!("queue {first}"),
            Some((first, last)) => format!("queues {first} to {last}"),
            None => "the queue that the rule chooses".to_owned(),
        }
    }
}

fn range(text: &str, between: char) -> Option<(u16, u16)> {
    let (first, last) = text.split_once(between).unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// The queues that programs listen at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listeners(BTreeSet<u16>);

impl Listeners {
    /// Reads `/proc/net/netfilter/nfnetlink_queue`: a line for each queue that a program has bound.
    pub fn parse(captured: CapturedText<'_>) -> Listeners {
        let number = |line: &str| line.split_ascii_whitespace().next()?.parse().ok();
        Listeners(captured.text.lines().filter_map(number).collect())
    }

    /// Whether a program may take a packet of this queue.
    pub(crate) fn may_take(&self, queue: Queue) -> bool {
        match queue.numbers {
            Some((first, last)) => first <= last && self.0.range(first..=last).next().is_some(),
            None => !self.0.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Verdict;
    use crate::packet::{Direction, Packet};
    use crate::question::{Captures, Firewall};

    /// What a rule with this target makes of a packet where these programs listen.
    fn verdict(rule: &str, listeners: Option<&str>) -> Verdict {
        let text = format!(
            "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\n{rule}COMMIT\n"
        );
        let captured = |path, text| CapturedText { path, text };
        let nft = rule.starts_with("table").then(|| captured("nft", rule));
        let captures = Captures {
            iptables: nft.is_none().then(|| captured("iptables-save", &text)),
            nft,
            queues: listeners.map(|text| captured("nfnetlink_queue", text)),
            ..Captures::default()
        };
        let address = |text: &str| text.parse().expect("address");
        let mut packet = Packet::new(
            Direction::Forward,
            address("10.42.0.7"),
            address("192.0.2.53"),
        );
        packet.ct_states = [crate::packet::CtState::New].into();
        Firewall::from_captures(&captures)
            .evaluate(&packet)
            .evaluation
            .verdict
    }

    const LISTENS: &str = "    3   4711     0 2  65531     0     0        9  1\n";

    #[test]
    fn where_nobody_listens_the_kernel_decides() {
        let plain = "-A FORWARD -j NFQUEUE --queue-num 3\n";
        let bypass = "-A FORWARD -j NFQUEUE --queue-num 3 --queue-bypass\n";
        assert_eq!(verdict(plain, Some("")), Verdict::Dropped);
        assert_eq!(verdict(bypass, Some("")), Verdict::Accepted);
        let other = LISTENS.replace("    3 ", "    4 ");
        assert_eq!(verdict(plain, Some(&other)), Verdict::Dropped);
        let balanced = "-A FORWARD -j NFQUEUE --queue-balance 0:2\n";
        assert_eq!(verdict(balanced, Some(LISTENS)), Verdict::Dropped);
    }

    #[test]
    fn a_program_that_listens_or_may_listen_is_named() {
        let why = |rule: &str, listeners| match verdict(rule, listeners) {
            Verdict::Undecided { why } => why,
            other => other.to_string(),
        };
        let plain = "-A FORWARD -j NFQUEUE --queue-num 3\n";
        assert!(why(plain, None).contains("nfnetlink_queue would tell"));
        assert!(why(plain, Some(LISTENS)).contains("listens at queue 3"));
        let balanced = "-A FORWARD -j NFQUEUE --queue-balance 1:4\n";
        assert!(why(balanced, Some(LISTENS)).contains("queues 1 to 4"));
    }

    #[test]
    fn queues_of_nft_are_read_in_all_forms() {
        let of = |statement: &str, listeners| {
            let rule = format!(
                "table inet t {{\n chain f {{\n type filter hook forward priority 0; policy accept;\n {statement}\n }}\n}}\n"
            );
            verdict(&rule, Some(listeners))
        };
        assert_eq!(of("queue", ""), Verdict::Dropped);
        assert_eq!(of("queue flags bypass to 1-2", LISTENS), Verdict::Accepted);
        assert_eq!(of("queue num 4 bypass", LISTENS), Verdict::Accepted);
        assert_eq!(of("queue to numgen inc mod 4", ""), Verdict::Dropped);
        assert!(of("queue to numgen inc mod 4", LISTENS).is_undecided());
        assert!(of("queue flags bypass,fanout to 1-3", LISTENS).is_undecided());
    }
}
