//! What a line of JSON may hold, by place.

use std::ops::Range;

use super::super::alike::Alike;
use super::super::calm::Kept;
use super::super::known::Known;
use super::super::unexplained::{self, Found, Looked};
use super::super::{encoded, escapes};
use super::digits::ids_may_tell;
use super::members::{self, BARE, LONGEST, PLAIN, WRITTEN};
use super::names::holds_nothing;
use super::search::SEARCH;
use super::{Hints, Hit, NAME_BIT, STRUCTURE_BIT};

/// So many members of a line are noted down one by one.
const MOST_OPEN: usize = 4096;

/// What one line of JSON may hold.
#[derive(Default)]
pub(crate) struct Places {
    hits: Vec<Hit>,
    next: usize,
    /// Where something encoded begins at or behind the last place asked for.
    encoded: Option<usize>,
    /// An escape of a hidden text stands somewhere.
    escaped: bool,
    /// Members whose words may have been drawn, as far as is known.
    open: Vec<Open>,
    /// What a search of the whole line for words that nothing explains found, until it is asked for.
    first: Option<Drawn>,
}

/// A member to be looked at.
struct Open {
    place: Range<usize>,
    /// The number that it is kept by.
    number: Option<u64>,
    /// What it is kept by where nothing else was found in it.
    kept: Option<Kept>,
}

/// The first word that nothing explains, if there is one, as far as the ids are known that were when it was searched for.
pub(crate) struct Drawn {
    found: Option<Found>,
    known: (u64, u64),
}

impl Drawn {
    /// Whether it stands in front of a place.
    pub(crate) fn is_before(&self, place: usize) -> bool {
        self.found
            .as_ref()
            .is_some_and(|found| found.start() < place)
    }

    /// It, where no id was noted or lost since.
    pub(crate) fn still(&self, known: &Known) -> Option<Found> {
        self.found.clone().filter(|_| self.known == known.state())
    }
}

impl Places {
    /// Searches a line once; not where its members stood in other lines before.
    pub(crate) fn of(line: &Alike<'_>) -> Self {
        let mut all = Self::default();
        let (mut from, mut ids) = (0, line.all_ids());
        while from < line.text.len() {
            let to = members::end(line.text, from);
            // Most members have none.
            let count = ids.iter().take_while(|id| id.start < to).count();
            let (here, behind) = ids.split_at(count);
            all.member(line, from..to, here);
            (from, ids) = (to, behind);
        }
        all
    }

    fn member(&mut self, line: &Alike<'_>, place: Range<usize>, ids: &[Range<usize>]) {
        let kept = Kept::member(line, &place, ids).filter(|_| place.len() <= LONGEST);
        if kept.is_some_and(Kept::is_calm) {
            return;
        }
        let number = members::number(&line.judged()[place.clone()]);
        let known = number.map_or(0, members::known);
        let before = self.hits.len();
        if known & BARE == 0 {
            SEARCH.within(line.text, &place, |start, end, bit| {
                self.hits.push((start, end, bit));
                false
            });
        }
        let bare = self.hits.len() == before;
        let plain = known > 0 || self.first_seen(line, &place, number, bare && ids.is_empty());
        let again = bare && known & (PLAIN | BARE) == PLAIN;
        if let Some(number) = number.filter(|_| again && !ids_may_tell(line, &place)) {
            members::add(number, BARE);
        }
        let kept = kept.filter(|_| bare && plain);
        // That its words are written is known, but not that those of others are.
        let asked = kept.is_some_and(Kept::is_new);
        if known & WRITTEN == 0 || asked {
            self.leave_open(Open {
                place,
                number,
                kept,
            });
        } else if let Some(kept) = kept {
            kept.member_passed(line, &place, &Looked::NOTHING);
        }
    }

    /// Notes down a member to be looked at; where a line has very many, the last ones as if they were one.
    fn leave_open(&mut self, open: Open) {
        let full = self.open.len() >= MOST_OPEN;
        match self.open.last_mut().filter(|_| full) {
            Some(last) => {
                last.place.end = open.place.end;
                (last.number, last.kept) = (None, None);
            }
            None => self.open.push(open),
        }
    }

    fn first_seen(
        &mut self,
        line: &Alike<'_>,
        place: &Range<usize>,
        number: Option<u64>,
        bare: bool,
    ) -> bool {
        let text = &line.text[place.clone()];
        let encoded = encoded::first(text);
        let escaped = escapes::first(text).is_some();
        self.encoded = self.encoded.or(encoded.map(|at| place.start + at));
        self.escaped |= escaped;
        let plain = encoded.is_none() && !escaped;
        if let Some(number) = number.filter(|_| plain) {
            members::note(number, if bare { PLAIN | BARE } else { PLAIN });
        }
        plain
    }

    /// Whether nothing in the line may be secret: nothing was found, or only names of objects and words that are values
    /// themselves (`"serviceAccountToken":{"path":"token"}`).
    pub(crate) fn none(&mut self, line: &Alike<'_>, known: &Known) -> bool {
        let json = line.text;
        let nothing = self.encoded.is_none()
            && self.hits.iter().all(|(start, end, bit)| {
                *bit == 1 << STRUCTURE_BIT
                    || (*bit == 1 << NAME_BIT && holds_nothing(json, *start, *end))
            });
        if !nothing {
            return false;
        }
        let first = self.find(line, 0, known);
        let none = first.found.is_none() && !self.escaped;
        self.first = Some(first);
        none
    }

    /// The first word that nothing explains, at or behind a place directly behind a quote. The search of the whole line found
    /// it already, unless an id was noted or lost since.
    pub(crate) fn next_drawn(&mut self, line: &Alike<'_>, from: usize, known: &Known) -> Drawn {
        let first = self.first.take();
        let first = first.filter(|first| first.known == known.state() && !first.is_before(from));
        first.unwrap_or_else(|| self.find(line, from, known))
    }

    fn find(&self, line: &Alike<'_>, from: usize, known: &Known) -> Drawn {
        let (_, lost) = known.state();
        let found = self.drawn(line, from, known);
        let (noted, _) = known.state();
        let known = (noted, lost);
        Drawn { found, known }
    }

    /// What was found, and where.
    pub(crate) fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// Everything that may stand in the line.
    pub(crate) fn all(&self) -> Hints {
        Hints(self.hits.iter().fold(0, |all, (.., bit)| all | bit))
    }

    /// Whether an escape of a hidden text may stand somewhere.
    pub(crate) fn escaped(&self) -> bool {
        self.escaped
    }

    /// The first thing that nothing explains, at or behind a place where a string begins.
    fn drawn(&self, line: &Alike<'_>, from: usize, known: &Known) -> Option<Found> {
        let first = self.open.partition_point(|open| open.place.end <= from);
        self.open[first..]
            .iter()
            .find_map(|open| match open.place.start < from {
                true => {
                    let rest = from..open.place.end;
                    unexplained::first_in(line, &rest, known, &mut { Looked::WITHOUT_DIGITS })
                }
                false => open.first_drawn(line, known),
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

impl Open {
    /// The first word that was drawn in a member. That it has none is kept.
    fn first_drawn(&self, line: &Alike<'_>, known: &Known) -> Option<Found> {
        let mut looked = match self.kept {
            Some(kept) if kept.is_new() => Looked::NOTHING,
            _ => Looked::WITHOUT_DIGITS,
        };
        let drawn = unexplained::first_in(line, &self.place, known, &mut looked);
        if drawn.is_some() || !looked.around.is_empty() || looked.ids {
            return drawn;
        }
        if let Some(number) = self.number {
            members::add(number, WRITTEN);
        }
        if let Some(kept) = self.kept {
            kept.member_passed(line, &self.place, &looked);
        }
        None
    }
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
            let alike = Alike::of(bytes);
            let places = Places::of(&alike);
            assert_eq!(places.hits, hits, "{line}");
            assert_eq!(places.encoded, encoded::first(bytes), "{line}");
            assert_eq!(places.escaped, escapes::first(bytes).is_some(), "{line}");
            let behind_quote = |from: usize| from + line[from..].find('"').unwrap_or(0) + 1;
            let half = (line.len() / 2..).find(|at| line.is_char_boundary(*at));
            for from in [0, behind_quote(0), behind_quote(half.unwrap_or(0))] {
                let (part, mut looked) = (from..bytes.len(), Looked::NOTHING);
                let first = unexplained::first_in(&alike, &part, &known, &mut looked);
                assert_eq!(places.drawn(&alike, from, &known), first, "{line}");
            }
        }
    }

    #[test]
    fn of_a_line_of_very_many_members_the_last_ones_are_one() {
        let drawn = "q7ZkP2mXv9".repeat(2);
        let line = format!("[{}\"{drawn}\"]", "\"\",".repeat(3 * MOST_OPEN));
        let alike = Alike::of(line.as_bytes());
        let places = Places::of(&alike);
        assert!(places.open.len() <= MOST_OPEN);
        let at = places.drawn(&alike, 0, &Known::new());
        assert_eq!(at.map(|at| at.start()), line.find(&drawn));
    }

    #[test]
    fn nothing_that_is_searched_for_goes_on_from_one_member_to_the_next() {
        for pair in ["{\"", "[\"", ",\""] {
            assert!(SEARCH.holds(pair).is_none(), "{pair}");
        }
    }
}
