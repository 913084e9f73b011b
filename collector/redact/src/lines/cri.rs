//! Lines of a container's log that the runtime cut: parts (`P`) are joined before anything is looked for, so that no
//! secret hides at a cut.

use super::super::MAX_LINE;
use super::super::stream::cut_point;

/// The parts of each stream that wait for their end.
#[derive(Default)]
pub(super) struct Parts {
    streams: [Option<Held>; 2],
}

#[derive(Default)]
struct Held {
    /// The lines as they came; none where some of them were handed on already.
    raw: Option<Vec<u8>>,
    /// Time and stream of the first part.
    prefix: Vec<u8>,
    body: Vec<u8>,
}

/// Parts of a line that belong together.
pub(super) struct Joined {
    /// The lines as they came; none where they are not these alone.
    pub(super) raw: Option<Vec<u8>>,
    /// One line in their place.
    pub(super) line: Vec<u8>,
}

/// What became of a line.
pub(super) enum Part {
    /// It is no part of another.
    Other,
    /// It waits for the next.
    Held,
    /// It is the last, or enough is held.
    Joined(Joined),
}

/// `2026-11-20T10:15:00.1Z stdout P text`: the stream, whether it is a part, and where the text begins.
fn parse(line: &[u8]) -> Option<(usize, bool, usize)> {
    if line.len() < 24 || line.get(10) != Some(&b'T') || !line[0].is_ascii_digit() {
        return None;
    }
    let time = memchr::memchr(b' ', &line[..line.len().min(40)])?;
    let rest = &line[time + 1..];
    let stream = match rest.get(..7)? {
        b"stdout " => 0,
        b"stderr " => 1,
        _ => return None,
    };
    let tag = *rest.get(7)?;
    let text = time + 1 + 7 + 2;
    let fits = matches!(tag, b'P' | b'F') && rest.get(8) == Some(&b' ');
    fits.then_some((stream, tag == b'P', text))
}

/// Where the text of a line of a container's log begins.
pub(super) fn text_begins(line: &[u8]) -> Option<usize> {
    parse(line).map(|(_, _, text)| text)
}

impl Parts {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.streams.iter().all(Option::is_none)
    }

    /// Takes a line with its line end.
    pub(super) fn push(&mut self, line: &[u8]) -> Part {
        let Some((stream, part, text)) = parse(line) else {
            return Part::Other;
        };
        let slot = &mut self.streams[stream];
        if slot.is_none() && !part {
            return Part::Other;
        }
        let held = slot.get_or_insert_with(|| Held {
            raw: Some(Vec::new()),
            prefix: line[..text - 2].to_vec(),
            body: Vec::new(),
        });
        if let Some(raw) = &mut held.raw {
            raw.extend_from_slice(line);
        }
        let body = &line[text..];
        if !part {
            held.body.extend_from_slice(body);
            return slot
                .take()
                .map_or(Part::Other, |held| Part::Joined(held.join()));
        }
        held.body
            .extend_from_slice(body.strip_suffix(b"\n").unwrap_or(body));
        if held.body.len() <= MAX_LINE {
            return Part::Held;
        }
        let rest = held.body.split_off(cut_point(&held.body));
        let prefix = held.prefix.clone();
        let mut full = std::mem::take(held);
        full.raw = None;
        full.body.push(b'\n');
        *held = Held {
            raw: None,
            prefix,
            body: rest,
        };
        Part::Joined(full.join())
    }

    /// What waited for an end that did not come.
    pub(super) fn finish(&mut self) -> Vec<Joined> {
        let held = self.streams.iter_mut().filter_map(Option::take);
        held.map(|mut held| {
            held.body.push(b'\n');
            held.join()
        })
        .collect()
    }
}

impl Held {
    fn join(self) -> Joined {
        let mut line = self.prefix;
        line.extend_from_slice(b"F ");
        line.extend_from_slice(&self.body);
        Joined {
            raw: self.raw,
            line,
        }
    }
}
