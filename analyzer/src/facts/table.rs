//! The table of one kind of fact, and what reads its rows.

use std::any::Any;
use std::fmt::{self, Debug, Formatter};
use std::ops::{Index, Range};

use serde_json::Value;

use super::{Fact, FactType, FactView, picked, weight};
use crate::model::Place;
use crate::shared::Shared;

/// Whether a fact is wanted, of which the fields are given that were asked for.
pub type Wanted<'a> = dyn FnMut(&Value) -> bool + 'a;

/// What the store needs of a table, whatever its type. Its facts stay where they were made: most are large, and a table is
/// appended to another more than once.
pub(super) trait Table: Any + Send + Sync {
    fn shift(&mut self, lines: u32);
    fn rewrite(&mut self, change: &mut dyn FnMut(&mut Place, &mut Shared));
    fn append(&mut self, other: Box<dyn Table>);
    fn reserve(&mut self, more: usize);
    fn shrink(&mut self);
    fn count(&self) -> usize;
    fn weight(&self) -> usize;
    fn retain(&mut self, keep: &dyn Fn(&Place) -> bool);
    fn sort(&mut self);
    fn kept(&self, keep: &dyn Fn(&Place) -> bool) -> Box<dyn Table>;
    fn each_view(
        &self,
        rows: Range<usize>,
        names: &[&str],
        wanted: &mut Wanted<'_>,
        with: &mut dyn FnMut(FactView),
    );
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: FactType> Table for Vec<Box<Fact<T>>> {
    fn append(&mut self, other: Box<dyn Table>) {
        if let Ok(mut rows) = other.into_any().downcast::<Self>() {
            Vec::append(self, &mut rows);
        }
    }

    fn reserve(&mut self, more: usize) {
        self.reserve_exact(more);
    }

    fn shrink(&mut self) {
        self.shrink_to_fit();
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn weight(&self) -> usize {
        let said = |fact: &Fact<T>| weight::of(&fact.data);
        let texts = |fact: &Fact<T>| fact.place.path.len() + fact.text.len() + said(fact);
        let own = size_of::<Fact<T>>().saturating_mul(self.len());
        self.iter()
            .map(|fact| texts(fact))
            .fold(own, usize::saturating_add)
    }

    fn retain(&mut self, keep: &dyn Fn(&Place) -> bool) {
        Vec::retain(self, |fact| keep(&fact.place));
    }

    fn shift(&mut self, lines: u32) {
        for fact in self {
            fact.place.line = fact.place.line.map(|line| line.saturating_add(lines));
        }
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(&mut Place, &mut Shared)) {
        for fact in self {
            change(&mut fact.place, &mut fact.text);
        }
    }

    fn sort(&mut self) {
        // Sorting takes room for half the table, and most tables are in order.
        if !self.is_sorted_by(|a, b| a.place <= b.place) {
            self.sort_by(|a, b| a.place.cmp(&b.place));
        }
    }

    fn kept(&self, keep: &dyn Fn(&Place) -> bool) -> Box<dyn Table> {
        let kept = self.iter().filter(|fact| keep(&fact.place)).cloned();
        Box::new(kept.collect::<Vec<_>>())
    }

    fn each_view(
        &self,
        rows: Range<usize>,
        names: &[&str],
        wanted: &mut Wanted<'_>,
        with: &mut dyn FnMut(FactView),
    ) {
        for fact in self.get(rows).unwrap_or_default() {
            if !names.is_empty() && !wanted(&picked::picked(&fact.data, names)) {
                continue;
            }
            with(FactView {
                // A piece of text may not name the namespace of what it tells about.
                subject: fact.data.subject().replace("//", "/"),
                fields: serde_json::to_value(&fact.data).unwrap_or(Value::Null),
                place: fact.place.clone(),
                text: fact.text.clone(),
                at: fact.at,
            });
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The facts of one kind, in the order of their places.
pub struct Rows<'a, T>(&'a [Box<Fact<T>>]);

impl<'a, T: FactType> Rows<'a, T> {
    /// The rows of a table of that kind; no table has none.
    pub(super) fn of(table: Option<&'a dyn Table>) -> Self {
        let rows = table.and_then(|table| table.as_any().downcast_ref::<Vec<Box<Fact<T>>>>());
        Self(rows.map_or(&[], Vec::as_slice))
    }

    /// One after the other.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = &'a Fact<T>> + ExactSizeIterator + Clone {
        self.0.iter().map(AsRef::as_ref)
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The first one.
    pub fn first(self) -> Option<&'a Fact<T>> {
        self.0.first().map(AsRef::as_ref)
    }

    /// The first one that was read at a place.
    pub fn at(self, place: &Place) -> Option<&'a Fact<T>> {
        let row = self.0.partition_point(|fact| fact.place < *place);
        let fact = self.0.get(row)?;
        (fact.place == *place).then_some(fact)
    }
}

impl<T: Debug> Debug for Rows<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Copy for Rows<'_, T> {}

impl<T> Clone for Rows<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Index<usize> for Rows<'_, T> {
    type Output = Fact<T>;

    fn index(&self, row: usize) -> &Fact<T> {
        &self.0[row]
    }
}

impl<'a, T> IntoIterator for Rows<'a, T> {
    type Item = &'a Fact<T>;
    type IntoIter =
        std::iter::Map<std::slice::Iter<'a, Box<Fact<T>>>, fn(&'a Box<Fact<T>>) -> &'a Fact<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(AsRef::as_ref)
    }
}
