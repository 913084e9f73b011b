//! What a line of JSON may hold, by place.

use std::ops::Range;

use super::super::known::Known;
use super::super::unexplained::{self, Looked};
use super::super::{encoded, escapes};
use super::members::{self, BARE, PLAIN, WRITTEN};
use super::names::holds_nothing;
use super::search::SEARCH;
use super::{Hints, NAME_BIT, STRUCTURE_BIT};

/// So many members of a line are noted down one by one.
const MOST_OPEN: usize = 4096;

/// What one line of JSON may hold.
#[derive(Default)]
pub(crate) struct Places {
    hits: Vec<(usize, usize, u128)>,
    next: usize,
    /// Where something encoded begins at or behind the last place asked for.
    encoded: Option<usize>,
    /// An escape of a hidden text stands somewhere.
    escaped: bool,
    /// Members whose words may have been drawn, as far as is known, with their numbers.
    open: Vec<(Range<usize>, Option<u64>)>,
    /// What a search of the whole line for words that nothing explains found, until it is asked for.
    first: Option<FirstDrawn>,
}

/// The first word of a line that nothing explains, as far as the ids are known that were when it was searched for.
struct FirstDrawn {
    at: Option<usize>,
    known: (u64, u64),
}

impl Places {
    /// Searches a line once; not where its members stood in other lines before.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut all = Self::default();
        let mut from = 0;
        while from < bytes.len() {
            let to = members::end(bytes, from);
            all.member(bytes, from..to);
            from = to;
        }
        all
    }

    fn member(&mut self, bytes: &[u8], place: Range<usize>) {
        let text = &bytes[place.clone()];
        let number = members::number(text);
        let known = number.map_or(0, members::known);
        if known & BARE == 0 {
            let before = self.hits.len();
            SEARCH.within(bytes, &place, |start, end, bit| {
                self.hits.push((start, end, bit));
                false
            });
            if known == 0 {
                let bare = self.hits.len() == before;
                self.first_seen(text, place.start, number, bare);
            }
        }
        if known & WRITTEN == 0 {
            self.leave_open(place, number);
        }
    }

    /// Notes down a member to be looked at; where a line has very many, the last ones as if they were one.
    fn leave_open(&mut self, place: Range<usize>, number: Option<u64>) {
        let full = self.open.len() >= MOST_OPEN;
        match self.open.last_mut().filter(|_| full) {
            Some((last, kept)) => (last.end, *kept) = (place.end, None),
            None => self.open.push((place, number)),
        }
    }

    fn first_seen(&mut self, text: &[u8], start: usize, number: Option<u64>, bare: bool) {
        let encoded = encoded::first(text);
        let escaped = escapes::first(text).is_some();
        self.encoded = self.encoded.or(encoded.map(|at| start + at));
        self.escaped |= escaped;
        if let Some(number) = number.filter(|_| encoded.is_none() && !escaped) {
            members::note(number, if bare { PLAIN | BARE } else { PLAIN });
        }
    }

    /// Whether nothing in the line may be secret: nothing was found, or only names of objects and words that are values
    /// themselves (`"serviceAccountToken":{"path":"token"}`).
    pub(crate) fn none(&mut self, json: &[u8], known: &Known) -> bool {
        let nothing = self.encoded.is_none()
            && self.hits.iter().all(|(start, end, bit)| {
                *bit == 1 << STRUCTURE_BIT
                    || (*bit == 1 << NAME_BIT && holds_nothing(json, *start, *end))
            });
        if !nothing {
            return false;
        }
        let (_, lost) = known.state();
        let at = self.drawn(json, 0, known);
        let (noted, _) = known.state();
        let known = (noted, lost);
        self.first = Some(FirstDrawn { at, known });
        at.is_none() && !self.escaped
    }

    /// The same as [`Self::drawn`], at or behind a place directly behind a quote. The search of the whole line found it
    /// already, unless an id was noted or lost since.
    pub(crate) fn next_drawn(&mut self, json: &[u8], from: usize, known: &Known) -> Option<usize> {
        match self.first.take() {
            Some(first) if first.known == known.state() && first.at.is_none_or(|at| at >= from) => {
                first.at
            }
            _ => self.drawn(json, from, known),
        }
    }

    /// Everything that may stand in the line.
    pub(crate) fn all(&self) -> Hints {
        Hints(self.hits.iter().fold(0, |all, (.., bit)| all | bit))
    }

    /// Whether an escape of a hidden text may stand somewhere.
    pub(crate) fn escaped(&self) -> bool {
        self.escaped
    }

    /// Where the first thing stands that nothing explains, at or behind a place where a string begins.
    pub(crate) fn drawn(&self, json: &[u8], from: usize, known: &Known) -> Option<usize> {
        let first = self.open.partition_point(|(place, _)| place.end <= from);
        self.open[first..].iter().find_map(|(place, number)| {
            let part = place.start.max(from)..place.end;
            let whole = part.start == place.start;
            first_drawn(json, &part, number.filter(|_| whole), known)
        })
    }

    /// What stands between two places; asked for from front to back.
    pub(crate) fn between(&mut self, from: usize, to: usize) -> Hints {
        let mut all = 0;
        while let Some((start, end, bit)) = self.hits.get(self.next).copied() {
            if start >= to {
                break;
            }
            self.next += 1;
            if start >= from && end <= to {
                all |= bit;
            }
        }
        Hints(all)
    }

    /// Whether something encoded may begin there; asked for from front to back.
    pub(crate) fn encoded(&mut self, bytes: &[u8], from: usize, to: usize) -> bool {
        if self.encoded.is_some_and(|at| at < from) {
            self.encoded = encoded::first(&bytes[from..]).map(|at| at + from);
        }
        self.encoded.is_some_and(|at| at < to)
    }
}

/// Where the first word stands that was drawn, in a member or its end. That a whole one has none is kept by its number.
fn first_drawn(
    json: &[u8],
    part: &Range<usize>,
    number: Option<u64>,
    known: &Known,
) -> Option<usize> {
    let mut looked = Looked::default();
    let drawn = unexplained::first_in(json, part, known, &mut looked);
    if let Some(number) = number.filter(|_| drawn.is_none() && !looked.around) {
        members::add(number, WRITTEN);
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    const MEMBERS: [&str; 18] = [
        r#""restartPolicy":"Always""#,
        r#""uid":"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9""#,
        r#""env":[{"name":"DB_PASSWORD","valueFrom":{"key":"password"}}]"#,
        r#""x":[{"name":"API_TOKEN","value":"x"}]"#,
        r#""serviceAccountToken":{"path":"token"}"#,
        r#""args":["-u","--password","x"]"#,
        r#""bytes":[112,97,115,115,119,111,114,100]"#,
        r#""b":"eyJhbGciOiJub25lIn0uZXlKMWMyVnlJam9p""#,
        r#""url":"https%3A%2F%2Fjoe%3Aq7ZkP2mX%40h""#,
        r#""said":"we set q7ZkP2mXv9q7ZkP2mXv9 on Monday""#,
        r#""image":"nvcr.io/x@sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9""#,
        r#""a b":"c,\"d\\\",\"password\":\"x""#,
        r#""kind":"Secret","data":{"k":"di4u"}"#,
        r#""n":12345678901234567890,"m":null"#,
        r#""text":"\\npassword: x\\n- value: y""#,
        r#""deep":{"q7ZkP2mXv9q7ZkP2mXv9":{"":[]}}"#,
        r#""kty":"EC","d":"x""#,
        r#""umlaut":"Kennwort für ÄÖ","":"""#,
    ];

    #[test]
    fn members_that_stood_in_other_lines_are_what_they_are_alone() {
        let known = Known::new();
        let mut draws = Draws::new();
        for _ in 0..400 {
            let mut next = || draws.of(&MEMBERS);
            let line = format!("{{{},{},{{{},{}}}}}\n", next(), next(), next(), next());
            let bytes = line.as_bytes();
            let mut hits = Vec::new();
            SEARCH.run(bytes, |start, end, bit| {
                hits.push((start, end, bit));
                false
            });
            let places = Places::of(bytes);
            assert_eq!(places.hits, hits, "{line}");
            assert_eq!(places.encoded, encoded::first(bytes), "{line}");
            assert_eq!(places.escaped, escapes::first(bytes).is_some(), "{line}");
            let behind_quote = |from: usize| from + line[from..].find('"').unwrap_or(0) + 1;
            let half = (line.len() / 2..).find(|at| line.is_char_boundary(*at));
            for from in [0, behind_quote(0), behind_quote(half.unwrap_or(0))] {
                let first = unexplained::first_from(bytes, from, &known);
                assert_eq!(places.drawn(bytes, from, &known), first, "{line}");
            }
        }
    }

    #[test]
    fn of_a_line_of_very_many_members_the_last_ones_are_one() {
        let drawn = "q7ZkP2mXv9".repeat(2);
        let line = format!("[{}\"{drawn}\"]", "\"\",".repeat(3 * MOST_OPEN));
        let places = Places::of(line.as_bytes());
        assert!(places.open.len() <= MOST_OPEN);
        let at = places.drawn(line.as_bytes(), 0, &Known::new());
        assert_eq!(at, line.find(&drawn));
    }

    #[test]
    fn nothing_that_is_searched_for_goes_on_from_one_member_to_the_next() {
        for pair in ["{\"", "[\"", ",\""] {
            assert!(SEARCH.holds(pair).is_none(), "{pair}");
        }
    }
}
