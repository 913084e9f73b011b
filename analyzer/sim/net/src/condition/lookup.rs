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
        Some(self.set.find(&readings))
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
