//! Lines of logs of which alike ones are added up, so that a flood of them is one fact.

use chrono::{DateTime, Utc};
use serde::{Serialize, Serializer};

use crate::facts::{FactType, Field};
use crate::lines::LogLine;
use crate::model::Place;

/// What a kind of line says.
pub trait Statement: Clone {
    /// The facts' kind.
    const KIND: &'static str;
    /// What makes two lines of one node alike.
    type Key: Ord;
    /// What makes a line that says this at this time alike to others.
    fn key(&self, at: Option<DateTime<Utc>>) -> Self::Key;
    /// Adds what a later line that is alike says besides.
    fn absorb(&mut self, _later: &Self) {}
}

/// A line, and how many of its like were seen.
#[derive(Debug, Clone)]
pub struct Repeated<S> {
    /// Node; empty where the path names none.
    pub node: String,
    /// What it says.
    pub says: S,
    /// Where the first stands.
    pub place: Place,
    /// Text of the first.
    pub text: String,
    /// Time of the first.
    pub at: Option<DateTime<Utc>>,
    /// How many.
    pub count: u64,
}

impl<S: Statement> Repeated<S> {
    /// A line of which `longest` bytes are kept.
    pub fn new(line: &LogLine<'_>, says: S, longest: usize) -> Self {
        Self {
            node: line.node.to_owned(),
            says,
            place: line.place(),
            text: crate::facts::excerpt(&line.text, longest),
            at: line.at,
            count: 1,
        }
    }

    /// What makes it alike to others of its node.
    pub fn key(&self) -> S::Key {
        self.says.key(self.at)
    }

    /// Adds a later line that is alike.
    pub fn absorb(&mut self, later: &Self) {
        self.count = self.count.saturating_add(later.count);
        self.at = crate::lines::earliest(self.at, later.at);
        self.says.absorb(&later.says);
    }
}

impl<S> Serialize for Repeated<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<S: Statement + Send + Sync + 'static> FactType for Repeated<S> {
    const KIND: &'static str = S::KIND;
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
