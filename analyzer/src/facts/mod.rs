//! Facts: typed statements about the node and the cluster, each with the place it was read from.
//!
//! Parsers and derivers add facts; rules and sections read them. A fact is never changed. Tables are
//! kept in the order of their places, so nothing downstream depends on the order of reading.

pub mod cluster;
pub mod ending;
pub mod failing;
pub mod firewall;
pub mod gpu;
pub mod hardware;
pub mod helm;
pub mod ipvs;
mod kinds;
pub mod kube;
pub mod machine;
pub mod metrics;
pub mod network;
pub mod node;
mod picked;
mod picture;
pub mod probe;
pub mod runtime;
pub mod runtime_parts;
pub mod said;
pub mod scheduling;
pub mod services;
mod table;
pub mod text;
mod weight;
pub(crate) mod whose;

#[cfg(debug_assertions)]
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::model::Place;
use crate::shared::Shared;

pub use kinds::{KINDS, KindInfo};
use table::Table;
pub use table::{Rows, Wanted};

/// A field of a fact as rules see it.
pub struct Field {
    /// JSON name.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// A kind of fact.
pub trait FactType: Serialize + Clone + Send + Sync + 'static {
    /// Name in rules, e.g. `pod`.
    const KIND: &'static str;
    /// Every field that rules may test.
    const FIELDS: &'static [Field];
    /// `node/<name>`, `pod/<ns>/<name>`, ...; what the fact is about.
    fn subject(&self) -> String;
}

/// A kind of fact: the struct, its name in rules, and its fields as rules may test them, each written once. A field's doc is
/// what `rules docs` says of it. What derivers alone read stands in a block of its own.
macro_rules! fact {
    (
        $(#[$attribute:meta])*
        $kind:literal = $visible:vis struct $name:ident {
            $($(#[doc = $doc:literal])+ pub $field:ident: $type:ty,)+
        }
        $(unseen by rules {
            $($(#[doc = $hidden_doc:literal])+ pub $hidden:ident: $hidden_type:ty,)+
        })?
        subject = |$fact:ident| $subject:expr;
    ) => {
        $(#[$attribute])*
        $visible struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
            $($($(#[doc = $hidden_doc])+ #[serde(skip)] pub $hidden: $hidden_type,)+)?
        }

        impl $crate::facts::FactType for $name {
            const KIND: &'static str = $kind;
            const FIELDS: &'static [$crate::facts::Field] = &[$($crate::facts::Field {
                name: stringify!($field),
                doc: concat!($($doc),+).trim_ascii(),
            }),+];
            fn subject(&self) -> String {
                let $fact = self;
                $subject
            }
        }
    };
}
pub(crate) use fact;

/// One fact and where it was read.
#[derive(Debug, Clone)]
pub struct Fact<T> {
    /// What is stated.
    pub data: T,
    /// Where it stands.
    pub place: Place,
    /// The text that stands there, or an excerpt of it.
    pub text: Shared,
    /// When it happened, if it is an event.
    pub at: Option<DateTime<Utc>>,
}

/// A fact as rules see it: its fields as JSON.
#[derive(Debug, Clone)]
pub struct FactView {
    /// What it is about.
    pub subject: String,
    /// The fields.
    pub fields: Value,
    /// Where it stands.
    pub place: Place,
    /// The text that stands there.
    pub text: Shared,
    /// When it happened.
    pub at: Option<DateTime<Utc>>,
}

/// Bytes that most facts take; one that takes many times that counts as several.
pub const USUAL: usize = 800;

/// A fact of any kind on its way into the store, or several of one kind.
pub struct AnyFact {
    kind: &'static str,
    table: Box<dyn Table>,
}

impl AnyFact {
    /// Wraps a fact.
    pub fn new<T: FactType>(fact: Fact<T>) -> Self {
        Self {
            kind: T::KIND,
            table: Box::new(vec![Box::new(fact)]),
        }
    }

    /// Name of its kind in rules.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Lets a function change the place and the excerpt.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut Place, &mut Shared)) {
        self.table.rewrite(change);
    }

    /// Moves its place down by so many lines; for facts read from a later piece of an entry.
    pub fn shift(&mut self, lines: u32) {
        self.table.shift(lines);
    }

    /// How many facts of the kind it holds.
    pub fn count(&self) -> usize {
        self.table.count()
    }

    /// What it counts where only so many facts are kept, in bytes: a small one as much as most do.
    pub fn cost(&self) -> usize {
        self.weight().max(self.count() * USUAL)
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        self.table.weight()
    }

    /// Leaves out those at places that a function does not keep.
    pub fn retain(&mut self, keep: &dyn Fn(&Place) -> bool) {
        self.table.retain(keep);
    }
}

impl<T: FactType> From<Fact<T>> for AnyFact {
    fn from(fact: Fact<T>) -> Self {
        Self::new(fact)
    }
}

/// All facts of one analysis, a table a kind.
#[derive(Default)]
pub struct Facts {
    tables: BTreeMap<&'static str, Box<dyn Table>>,
    /// Facts that are on their way into their tables.
    held: BTreeMap<&'static str, Vec<Box<dyn Table>>>,
}

impl Facts {
    /// Adds a fact.
    pub fn add(&mut self, fact: AnyFact) {
        match self.tables.get_mut(fact.kind) {
            Some(table) => table.append(fact.table),
            None => {
                self.tables.insert(fact.kind, fact.table);
            }
        }
    }

    /// Holds a fact until all of its kind are there; [`Self::settle`] puts them into their tables.
    pub fn hold(&mut self, fact: AnyFact) {
        self.held.entry(fact.kind).or_default().push(fact.table);
    }

    /// Puts what is held into tables, one after the other and each made for what it will hold: tables that all grow at once
    /// take twice what they hold.
    pub fn settle(&mut self) {
        for (kind, mut held) in std::mem::take(&mut self.held) {
            held.splice(0..0, self.tables.remove(kind));
            let all: usize = held.iter().map(|table| table.count()).sum();
            let mut held = held.into_iter();
            let Some(mut table) = held.next() else {
                continue;
            };
            table.reserve(all - table.count());
            held.for_each(|one| table.append(one));
            self.tables.insert(kind, table);
        }
    }

    /// All facts, those of one kind together.
    pub fn into_kinds(self) -> Vec<AnyFact> {
        let tables = self.tables.into_iter();
        let kinds = tables.map(|(kind, mut table)| {
            table.shrink();
            AnyFact { kind, table }
        });
        kinds.collect()
    }

    /// Lets a function change the place and the excerpt of every fact.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut Place, &mut Shared)) {
        for table in self.tables.values_mut() {
            table.rewrite(change);
        }
    }

    /// Forgets all facts of a kind.
    pub fn forget(&mut self, kind: &str) {
        self.tables.remove(kind);
    }

    /// Takes all facts of a kind out.
    pub fn take(&mut self, kind: &str) -> Option<AnyFact> {
        let (kind, table) = self.tables.remove_entry(kind)?;
        Some(AnyFact { kind, table })
    }

    /// The kinds that there are facts of.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.tables.keys().copied()
    }

    /// A copy of the facts whose places a function keeps.
    pub fn kept(&self, keep: &dyn Fn(&Place) -> bool) -> Facts {
        let tables = self.tables.iter();
        Facts {
            tables: tables
                .map(|(kind, table)| (*kind, table.kept(keep)))
                .collect(),
            held: BTreeMap::new(),
        }
    }

    /// Orders every table by place; called once after reading.
    pub fn sort(&mut self) {
        for table in self.tables.values_mut() {
            table.sort();
        }
    }

    /// The same for one kind, to which facts were added.
    pub fn sort_kind(&mut self, kind: &str) {
        if let Some(table) = self.tables.get_mut(kind) {
            table.sort();
        }
    }

    /// How many facts of a kind there are.
    pub fn count(&self, kind: &str) -> usize {
        self.tables.get(kind).map_or(0, |table| table.count())
    }

    /// The facts of one kind, in the order of their places.
    pub fn table<T: FactType>(&self) -> Rows<'_, T> {
        #[cfg(debug_assertions)]
        ASKED.with_borrow_mut(|asked| asked.insert(T::KIND));
        Rows::of(self.tables.get(T::KIND).map(AsRef::as_ref))
    }

    /// The facts of a kind given by name, as rules see them.
    pub fn views(&self, kind: &str) -> Vec<FactView> {
        let mut views = Vec::new();
        let all = 0..self.count(kind);
        self.each_view((kind, all), &[], &mut |_| true, &mut |view| {
            views.push(view);
        });
        views
    }

    /// Hands over some facts of a kind given by name one after the other, as rules see them: where fields are named,
    /// those that are wanted for what these fields hold.
    pub fn each_view(
        &self,
        (kind, rows): (&str, Range<usize>),
        names: &[&str],
        wanted: &mut Wanted<'_>,
        with: &mut dyn FnMut(FactView),
    ) {
        if let Some(table) = self.tables.get(kind) {
            table.each_view(rows, names, wanted, with);
        }
    }
}

#[cfg(debug_assertions)]
thread_local! {
    static ASKED: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// The kinds of which this thread asked for the table since it was asked this; none where nothing is checked.
pub(crate) fn asked() -> BTreeSet<&'static str> {
    #[cfg(debug_assertions)]
    return ASKED.take();
    #[cfg(not(debug_assertions))]
    BTreeSet::new()
}

/// Cuts a text to at most `max` bytes at a character boundary, so that excerpts stay short.
pub fn excerpt(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
