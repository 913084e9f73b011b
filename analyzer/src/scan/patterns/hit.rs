//! Lines that matched, alike ones added up.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::model::Place;
use crate::parsers::{DriverLine, HostLine, PacketLine, Repeats};

/// Different groups of one pattern that are kept from one stretch of log; more are counted only.
const GROUPS_PER_PIECE: usize = 40;

/// Lines that matched a pattern and are alike in subject and captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Index of the pattern.
    pub pattern: usize,
    /// What the line is about.
    pub subject: String,
    /// Who said it: a unit or a pod; empty for messages inside objects.
    pub speaker: String,
    /// Named captures.
    pub captures: BTreeMap<String, String>,
    /// Where the first one stands.
    pub place: Place,
    /// Text of the first one.
    pub text: String,
    /// Time of the first one.
    pub at: Option<DateTime<Utc>>,
    /// Time of the last one.
    pub last: Option<DateTime<Utc>>,
    /// How many.
    pub count: u64,
    /// Other entries that hold alike ones.
    pub also: BTreeSet<String>,
}

impl Hit {
    /// What makes two hits alike.
    pub fn key(&self) -> (usize, &str, &str, &BTreeMap<String, String>) {
        (self.pattern, &self.subject, &self.speaker, &self.captures)
    }

    /// Adds a later hit that is alike.
    pub fn absorb(&mut self, later: &Hit) {
        self.count = self.count.saturating_add(later.count);
        self.at = crate::lines::earliest(self.at, later.at);
        self.last = self.last.max(later.last);
        self.also.extend(later.also.iter().cloned());
        if later.place.path != self.place.path {
            self.also.insert(later.place.path.clone());
        }
    }
}

/// What a stretch of lines held.
#[derive(Default)]
pub struct Found {
    /// Pattern hits, in order of appearance.
    pub hits: Vec<Hit>,
    /// Packets, alike ones added up.
    pub packets: Vec<PacketLine>,
    /// Messages of the NVIDIA driver, alike ones added up.
    pub driver: Vec<DriverLine>,
    /// What happened to the node, alike lines added up.
    pub host: Vec<HostLine>,
}

pub(super) fn add_alike<T: Repeats>(line: T, lines: &mut Vec<T>) {
    let key = line.key();
    if let Some(known) = lines.iter_mut().find(|known| known.key() == key) {
        known.absorb(&line);
    } else if lines.len() < GROUPS_PER_PIECE {
        lines.push(line);
    }
}

/// Pattern, subject, speaker and captures: what alike hits share.
type GroupKey = (usize, String, String, BTreeMap<String, String>);

/// Adds alike hits up and bounds how many different ones are kept.
#[derive(Default)]
pub(super) struct Counter {
    groups: BTreeMap<GroupKey, usize>,
    kept: BTreeMap<usize, usize>,
}

impl Counter {
    pub(super) fn add(&mut self, hit: Hit, hits: &mut Vec<Hit>) {
        let key = (
            hit.pattern,
            hit.subject.clone(),
            hit.speaker.clone(),
            hit.captures.clone(),
        );
        if let Some(&at) = self.groups.get(&key) {
            hits[at].absorb(&hit);
            return;
        }
        let kept = self.kept.entry(hit.pattern).or_default();
        if *kept < GROUPS_PER_PIECE {
            *kept += 1;
            self.groups.insert(key, hits.len());
            hits.push(hit);
        }
    }
}
