//! A look-up: fields of the packet, possibly masked, in a set.

use std::sync::Arc;

use super::field::{Field, Reading};
use super::set::{Found, Set};
use super::{Tri, View};

/// A field with the bits of it that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masked {
    /// The field.
    pub field: Field,
    /// Bits that are kept; all without a mask.
    pub mask: Option<u128>,
    /// Bits that are turned over then.
    pub flip: u128,
}

impl From<Field> for Masked {
    fn from(field: Field) -> Masked {
        Masked {
            field,
            mask: None,
            flip: 0,
        }
    }
}

impl Masked {
    /// Some bits of a field.
    pub fn bits(field: Field, mask: u128) -> Masked {
        let mask = Some(mask);
        let flip = 0;
        Masked { field, mask, flip }
    }
}

/// A question whether the packet's fields are in a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The fields, in the order of the set's type.
    pub fields: Vec<Masked>,
    /// The set.
    pub set: Arc<Set>,
    /// How the set is named in sentences: `@pods`, `ipset pods`; empty for anonymous ones.
    pub name: String,
}

impl Lookup {
    /// The elements that the packet is or may be; `None` when it has no such field,
    /// in which case a rule does not match, negated or not.
    pub fn find(&self, view: &View<'_>) -> Option<Found> {
        let readings: Vec<Reading<'_>> = self.fields.iter().map(|field| field.read(view)).collect();
        if readings.contains(&Reading::Absent) {
            return None;
        }
        let mut found = self.set.find(&readings);
        if let Some(changed) = self.changed(view, &readings) {
            // What is there already stays there where nothing is taken out.
            let deletes = |filled: &Filled| filled.deleted && filled.name == self.name;
            let stays = found.answer == Tri::Yes && !view.fills.iter().any(deletes);
            found.answer = if stays { Tri::Yes } else { changed };
        }
        Some(found)
    }

    /// Whether a rule on the way has changed the set.
    pub fn filled(&self, view: &View<'_>) -> bool {
        view.fills.iter().any(|filled| filled.name == self.name)
    }

    /// Whether the packet is in the set, where a rule on the way has changed that or may have.
    fn changed(&self, view: &View<'_>, readings: &[Reading<'_>]) -> Option<Tri> {
        let mut changes = view.fills.iter().rev();
        changes.find_map(|filled| {
            if filled.name != self.name {
                return None;
            }
            let same_set = filled
                .set
                .as_ref()
                .is_some_and(|set| Arc::ptr_eq(set, &self.set));
            match (same_set, &filled.values, exact(readings)) {
                (true, Some(one), Some(other)) => {
                    (*one == other).then_some(Tri::of(!filled.deleted))
                }
                _ => Some(Tri::Maybe),
            }
        })
    }

    pub(super) fn answer(&self, view: &View<'_>, negated: bool) -> Tri {
        match self.find(view) {
            None => Tri::No,
            Some(found) if negated => found.answer.invert(),
            Some(found) => found.answer,
        }
    }

    /// What is taken for granted of the fields.
    pub(crate) fn assumption(&self) -> Option<&'static str> {
        self.fields.iter().find_map(|masked| match masked.field {
            Field::InterfaceGroup { .. } => Some("no interface is in a group of its own"),
            Field::InterfaceType { .. } => {
                Some("the interface has an Ethernet header, as its name says")
            }
            _ => None,
        })
    }

    /// Why the answer is doubtful.
    pub fn doubt(&self) -> String {
        if let Some(doubt) = &self.set.doubt {
            return doubt.clone();
        }
        let subjects: Vec<&str> = self.fields.iter().map(|f| f.field.subject()).collect();
        format!("the packet's {} is not known", subjects.join(" or "))
    }
}

/// What a rule puts into a set or takes out of it: `add @seen { ip saddr }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    /// How the set is named in look-ups.
    pub name: String,
    /// The key and the set, where they are read.
    pub key: Option<Lookup>,
    /// Takes the packet out of it.
    pub deletes: bool,
}

impl Fill {
    /// The change for a packet.
    pub(crate) fn of(&self, view: &View<'_>) -> Filled {
        let key = self.key.as_ref();
        let readings = key.map(|key| key.fields.iter().map(|field| field.read(view)).collect());
        Filled {
            name: self.name.clone(),
            set: key.map(|key| Arc::clone(&key.set)),
            values: readings.and_then(|all: Vec<Reading<'_>>| exact(&all)),
            deleted: self.deletes,
        }
    }
}

/// A change of a set by a rule on the way.
#[derive(Debug, Clone)]
pub struct Filled {
    name: String,
    set: Option<Arc<Set>>,
    values: Option<Vec<u128>>,
    deleted: bool,
}

impl Filled {
    /// What tells two changes apart.
    fn key(&self) -> (&str, Option<&[u128]>, bool) {
        (&self.name, self.values.as_deref(), self.deleted)
    }
}

impl PartialEq for Filled {
    fn eq(&self, other: &Filled) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Filled {}

impl PartialOrd for Filled {
    fn partial_cmp(&self, other: &Filled) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Filled {
    fn cmp(&self, other: &Filled) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// The numbers of a key, where each is known.
fn exact(readings: &[Reading<'_>]) -> Option<Vec<u128>> {
    let one = |reading: &Reading<'_>| match reading {
        Reading::Numbers(numbers) => match numbers.as_slice() {
            [number] => Some(*number),
            _ => None,
        },
        _ => None,
    };
    readings.iter().map(one).collect()
}

impl Masked {
    fn read<'a>(&self, view: &View<'a>) -> Reading<'a> {
        let mask = self.mask.unwrap_or(u128::MAX);
        match self.field.read(view) {
            Reading::Numbers(numbers) => {
                let seen = |number: u128| (number & mask) ^ self.flip;
                Reading::Numbers(numbers.into_iter().map(seen).collect())
            }
            reading => reading,
        }
    }
}
