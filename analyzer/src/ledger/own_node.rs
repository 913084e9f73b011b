//! What a kubelet says at the end of its log of its own node: that the API server does not let it register, that its network
//! is not ready, or that its status does not arrive. Where no API server was asked, nothing else tells that the node fails.

use std::collections::BTreeSet;

use super::Sources;
use crate::facts::failing::{Failing, Moment, NodeTrouble};
use crate::facts::kube::Node;
use crate::facts::{AnyFact, Fact, excerpt};
use crate::form::Form;
use crate::lines::{LogLine, Origin};
use crate::model::Place;
use crate::parsers::Channel;
use crate::parsers::marks::NODE_TROUBLES;

/// A kubelet tries again every few seconds; what it has not said for so long, in seconds, has passed.
const TRIES: i64 = 40;
/// What it said for a shorter time, or more rarely, belongs to its start.
const LASTS: i64 = 60;
/// So often.
const TIMES: u32 = 3;
/// Where lines have no clock: so many lines from the end.
const FROM_END: u32 = 50;
/// A text of so few lines was chosen by a person: that it is said once is enough.
const PASTED: u32 = 200;
/// Bytes from the end of a log that are read.
const BYTES: usize = 512 << 10;
/// Words that are kept, in bytes.
const LONGEST: usize = 600;

/// A trouble that a kubelet has with its node: the first one of the list explains those behind it.
struct Trouble {
    needle: &'static str,
    state: &'static str,
    /// What the kubelet says when it is over.
    ends: &'static [&'static str],
}

const READY: [&str; 2] = ["ecording event message for node\" node=", "became ready"];
const TROUBLES: [Trouble; 3] = [
    Trouble {
        needle: NODE_TROUBLES[0],
        state: "not registered",
        ends: &["uccessfully registered node"],
    },
    Trouble {
        needle: NODE_TROUBLES[1],
        state: "NotReady",
        ends: &READY,
    },
    Trouble {
        needle: NODE_TROUBLES[2],
        state: "its status does not arrive",
        ends: &[],
    },
];

static NODE: Form = Form::new(r#"(?:\bnode=\\?"?|register node \\?")(?P<node>[A-Za-z0-9][\w.-]*)"#);

/// A trouble as it was last said.
#[derive(Debug)]
pub(super) struct Said {
    offset: u32,
    first: Moment,
    moment: Moment,
    times: u32,
    trouble: NodeTrouble,
    words: String,
    at: Option<i64>,
}

/// What the pieces of a log say of each trouble, put together: where a log is cut into pieces, the last may be short.
#[derive(Debug, Default)]
pub(super) struct Ends {
    said: [Option<Box<Said>>; TROUBLES.len()],
    over: [bool; TROUBLES.len()],
    end: Moment,
    is_text: bool,
}

/// Reads the end of a piece, which may hold a trouble or holds none.
pub(super) fn of_piece(origin: &Origin<'_>, bytes: &[u8], (lines, may_hold): (u32, bool)) -> Ends {
    let mut ends = Ends {
        is_text: origin.channel == Channel::Text,
        ..Ends::default()
    };
    if !matches!(origin.channel, Channel::Journal | Channel::Text) {
        return ends;
    }
    let mut begin = bytes.len().saturating_sub(BYTES);
    if begin > 0 {
        begin += memchr::memchr(b'\n', &bytes[begin..]).map_or(0, |at| at + 1);
    }
    let tail = &bytes[begin..];
    let holds = |text: &str| memchr::memmem::find(tail, text.as_bytes()).is_some();
    if may_hold && TROUBLES.iter().any(|trouble| holds(trouble.needle)) {
        let held = u32::try_from(memchr::memchr_iter(b'\n', tail).count()).unwrap_or(u32::MAX);
        ends.read(origin, tail, lines.saturating_sub(held));
    }
    for raw in tail.rsplit(|byte| *byte == b'\n').take(20) {
        let last = moment(&origin.decode(raw, 0));
        if is_known(&last) {
            ends.end = last;
            break;
        }
    }
    ends
}

fn is_known(moment: &Moment) -> bool {
    moment.at.or(moment.clock).or(moment.klog).is_some()
}

impl Ends {
    fn read(&mut self, origin: &Origin<'_>, tail: &[u8], begins: u32) {
        for (raw, offset) in tail.split(|byte| *byte == b'\n').zip(begins..) {
            let says = |text: &&str| memchr::memmem::find(raw, text.as_bytes()).is_some();
            for (rank, trouble) in TROUBLES.iter().enumerate() {
                if trouble.ends.iter().any(says) {
                    (self.said[rank], self.over[rank]) = (None, true);
                } else if says(&trouble.needle) {
                    let line = origin.decode(raw, offset);
                    let before = self.said[rank].take();
                    let before = before.map(|said| *said);
                    let said = said(&line, raw, offset, trouble.state, before);
                    self.said[rank] = Some(Box::new(said));
                }
            }
        }
    }

    /// Adds the next piece; `before` lines of the log stand before it.
    pub(super) fn add(&mut self, later: Ends, before: u32) {
        self.is_text = later.is_text;
        if is_known(&later.end) {
            self.end = later.end;
        }
        let pieces = later.said.into_iter().zip(later.over);
        for (known, (next, over)) in self.said.iter_mut().zip(pieces) {
            if over {
                *known = None;
            }
            let Some(mut next) = next else { continue };
            next.offset = next.offset.saturating_add(before);
            if let Some(known) = known.take() {
                next.first = known.first;
                next.trouble.first = known.trouble.first;
                next.trouble.since = known.trouble.since;
                next.times = next.times.saturating_add(known.times);
            }
            *known = Some(next);
        }
    }

    /// The gravest trouble that lasts to the end of a log of so many lines.
    pub(super) fn lasting(self, lines: u32) -> Option<Said> {
        let is_pasted = self.is_text && lines <= PASTED;
        let end = self.end;
        let lasts = |said: &Said| {
            let went_on = said.moment.since(&said.first);
            let often = said.times >= TIMES && went_on.is_none_or(|seconds| seconds >= LASTS);
            (is_pasted || often)
                && match end.since(&said.moment) {
                    Some(seconds) => seconds <= TRIES,
                    None => lines.saturating_sub(said.offset) <= FROM_END,
                }
        };
        let mut said = self.said.into_iter().flatten();
        said.find(|said| lasts(said)).map(|said| *said)
    }
}

fn moment(line: &LogLine<'_>) -> Moment {
    Moment {
        at: line.at.map(|at| at.timestamp()),
        clock: line.clock.map(i64::from),
        klog: line.klog.map(i64::from),
    }
}

fn said(line: &LogLine<'_>, raw: &[u8], offset: u32, state: &str, before: Option<Said>) -> Said {
    let moment = moment(line);
    let line_text = excerpt(String::from_utf8_lossy(raw).trim(), LONGEST);
    let (first, times, began, since) = match before {
        Some(before) => {
            let trouble = before.trouble;
            (before.first, before.times, trouble.first, trouble.since)
        }
        None => (moment, 0, line_text.clone(), line.at),
    };
    let text = line.text.replace("\\\"", "\"");
    // Behind the head of klog.
    let words = text
        .split_once("] ")
        .map_or(text.as_str(), |(_, rest)| rest);
    let named = NODE.captures(&text);
    let named = named.and_then(|found| found.name("node").map(|node| node.as_str().to_owned()));
    let by_path = Some(crate::lines::node_of(line.path)).filter(|node| !node.is_empty());
    let node = named
        .or_else(|| by_path.map(str::to_owned))
        .unwrap_or_else(|| line.host.to_string());
    Said {
        offset,
        first,
        moment,
        times: times + 1,
        trouble: NodeTrouble {
            node,
            state: state.to_owned(),
            line: line_text,
            first: began,
            since,
        },
        words: excerpt(words.trim(), LONGEST),
        at: line.at.map(|at| at.timestamp()),
    }
}

/// The fact of an entry.
pub(super) fn fact(said: Said, path: &str) -> AnyFact {
    Fact {
        text: said.words.into(),
        at: said
            .at
            .and_then(|at| chrono::DateTime::from_timestamp(at, 0)),
        data: said.trouble,
        place: Place {
            path: path.into(),
            line: Some(said.offset.saturating_add(1)),
        },
    }
    .into()
}

/// Nodes of which only their kubelet's log tells, each once. Where the API server was asked, its answer decides.
pub(super) fn nodes(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let listed = sources.facts.table::<Node>();
    let mut known: BTreeSet<&str> = listed.iter().map(|node| node.data.name.as_str()).collect();
    let mut found: Vec<Fact<Failing>> = Vec::new();
    for told in sources.facts.table::<NodeTrouble>() {
        let data = &told.data;
        if data.node.is_empty() && !listed.is_empty() || !known.insert(&data.node) {
            continue;
        }
        let subject = match data.node.as_str() {
            "" | crate::lines::UNNAMED_NODE => "node".to_owned(),
            node => format!("node/{node}"),
        };
        found.push(Fact {
            data: Failing {
                what: "node".into(),
                subject,
                name: data.node.clone(),
                node: data.node.clone(),
                state: data.state.clone(),
                seen: false,
                words: told.text.to_string(),
                since: data.since.or(told.at),
                lines: vec![data.first.clone(), data.line.clone()],
                ..Failing::default()
            },
            place: told.place.clone(),
            text: told.text.clone(),
            at: told.at,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(text: &str) -> Option<(String, String)> {
        let origin = Origin::of("kubelet.log", Channel::Text);
        let mut joined = Ends::default();
        let mut before = 0;
        for piece in text.split_inclusive("--\n") {
            let lines = u32::try_from(piece.matches('\n').count()).unwrap();
            joined.add(of_piece(&origin, piece.as_bytes(), (lines, true)), before);
            before += lines;
        }
        let said = joined.lasting(before)?;
        Some((said.trouble.node, said.trouble.state))
    }

    #[test]
    fn what_keeps_a_node_away_comes_before_what_follows_from_it() {
        let network = "E1120 10:00:01.000000     9 kubelet.go:2916] \"Container runtime network not ready\" networkReady=\"NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized\"\n";
        let refused = "E1120 10:00:02.000000     9 kubelet_node_status.go:107] \"Unable to register node with API server\" err=\"nodes is forbidden\" node=\"n-7\"\n";
        let found = states(&format!("{network}{refused}"));
        assert_eq!(found, Some(("n-7".to_owned(), "not registered".to_owned())));
        let joins = "I1120 10:00:03.000000     9 kubelet_node_status.go:81] \"Successfully registered node\" node=\"n-7\"\n";
        let found = states(&format!("{refused}{joins}{network}"));
        assert_eq!(found.map(|(_, state)| state), Some("NotReady".to_owned()));
        assert_eq!(states(&format!("{refused}{joins}")), None);
    }

    #[test]
    fn a_long_log_that_goes_on_without_it_tells_of_a_node_that_came_up() {
        let refused = "E1120 10:00:02.000000     9 kubelet_node_status.go:107] \"Unable to register node with API server\" err=\"x\" node=\"n-7\"\n";
        let later = "I1120 10:09:02.000000     9 kubelet.go:1] fine\n".repeat(300);
        assert_eq!(states(&format!("{refused}{later}")), None);
        assert_eq!(
            states(&format!("{later}{refused}")),
            None,
            "said once, it may come up with the next try"
        );
        let again = (0..30)
            .map(|second| refused.replace("10:00:02", &format!("10:09:{second:02}")))
            .collect::<String>();
        let often = format!("{refused}{later}{again}");
        assert!(states(&often).is_some());
        let cut = format!("{often}--\n{}", refused.replace("10:00:02", "10:09:31"));
        assert!(states(&cut).is_some(), "the last piece may be short");
    }
}
