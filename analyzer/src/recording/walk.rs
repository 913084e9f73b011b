//! Every line of a capture's texts, with what is known of it.

use std::ops::ControlFlow;

use casefile_bundle::{Input, Keys, Limits, OpenError, entry};
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::dress::Level;
use crate::join::Unit;
use crate::layouts::{Plan, Survey, Target};
use crate::lines::{Channel, Origin, node_of};
use crate::parsers::{Read, Router};

/// A line that is longer is looked at in parts.
const LONGEST: usize = 1 << 20;

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The entry that holds it.
    pub path: String,
    /// Its number there, from 1.
    pub line: u64,
    /// When it was said; of a line without a time, when the one before it was.
    pub at: Option<DateTime<Utc>>,
    /// The node that it is of; empty where it is of none.
    pub node: String,
    /// `pod/NAMESPACE/POD`, a unit, or nothing.
    pub speaker: String,
    /// How loudly it was said.
    pub level: Option<Level>,
    /// What was said.
    pub text: String,
}

/// Where the lines of an entry come from.
struct Entry {
    path: String,
    ours: String,
    channel: Channel,
    is_events: bool,
    number: u64,
    last: Option<DateTime<Utc>>,
    rest: Vec<u8>,
}

/// Takes a line; breaking ends the walk.
type Each<'e> = &'e mut dyn FnMut(Said) -> ControlFlow<()>;

/// Goes through all texts, in the order of the capture. Lines that `raw` does not want are not decoded; JSON, which may hold
/// a text in escapes, always is.
pub fn walk(
    unit: &Unit,
    keys: Option<&Keys>,
    raw: &dyn Fn(&[u8]) -> bool,
    each: Each<'_>,
) -> Result<(), OpenError> {
    walk_chosen(unit, keys, &|_| true, raw, each)
}

/// The same of the entries whose paths are `wanted`; others are passed over unread.
pub fn walk_chosen(
    unit: &Unit,
    keys: Option<&Keys>,
    wanted: &dyn Fn(&str) -> bool,
    raw: &dyn Fn(&[u8]) -> bool,
    each: Each<'_>,
) -> Result<(), OpenError> {
    let inputs: Vec<_> = match unit {
        Unit::Alone(input) => vec![input],
        Unit::Joined(members) => members.iter().map(|one| &one.input).collect(),
    };
    // The globs are our own and compile.
    let Ok(router) = Router::new() else {
        return Ok(());
    };
    for input in inputs {
        let input = Input::new(input, keys);
        let mut survey = Survey::of(input)?;
        let plan = survey.as_mut().map(Plan::of).unwrap_or_default();
        let mut entry: Option<Entry> = None;
        let mut chosen = |entry: &casefile_bundle::EntryInfo| wanted(entry.path.as_str());
        casefile_bundle::read_chosen(input, &Limits::default(), &mut chosen, &mut |piece| {
            if piece.seq == 0 {
                entry = Some(Entry::new(piece.entry.path.as_str(), &plan, &router));
            }
            match &mut entry {
                Some(entry) => entry.take(piece.bytes, piece.last, raw, each),
                None => ControlFlow::Continue(()),
            }
        })?;
    }
    Ok(())
}

impl Entry {
    fn new(path: &str, plan: &Plan, router: &Router) -> Self {
        let ours = match plan.target(path) {
            Some((_, Target::As(ours) | Target::Yaml(ours))) => ours.clone(),
            _ => path.to_owned(),
        };
        let channel = match router.parser(&ours).map(|parser| parser.read) {
            Some(Read::Lines(channel)) => channel,
            _ => Channel::File,
        };
        Self {
            is_events: ours.starts_with(entry::EVENTS),
            path: path.to_owned(),
            ours,
            channel,
            number: 0,
            last: None,
            rest: Vec::new(),
        }
    }

    fn take(
        &mut self,
        bytes: &[u8],
        last: bool,
        raw: &dyn Fn(&[u8]) -> bool,
        each: Each<'_>,
    ) -> ControlFlow<()> {
        let mut text = std::mem::take(&mut self.rest);
        text.extend_from_slice(bytes);
        let end = match text.iter().rposition(|byte| *byte == b'\n') {
            _ if last || text.len() > LONGEST => text.len(),
            Some(at) => at + 1,
            None => 0,
        };
        self.rest = text.split_off(end);
        let whole = text.strip_suffix(b"\n").unwrap_or(&text);
        if end == 0 {
            return ControlFlow::Continue(());
        }
        for line in whole.split(|byte| *byte == b'\n') {
            self.number += 1;
            if let Some(said) = self.line(line, raw) {
                each(said)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn line(&mut self, bytes: &[u8], raw: &dyn Fn(&[u8]) -> bool) -> Option<Said> {
        let is_json = bytes.first() == Some(&b'{');
        if !is_json && !raw(bytes) {
            // Its time still counts for lines that follow without one.
            self.last = crate::dress::clock::leading_time(&String::from_utf8_lossy(
                &bytes[..bytes.len().min(48)],
            ))
            .0
            .or(self.last);
            return None;
        }
        if is_json && self.is_events {
            return self.event(bytes);
        }
        let origin = Origin::of(&self.ours, self.channel);
        let mut line = origin.decode(bytes, 0);
        line.weigh(false);
        self.last = line.at.or(self.last);
        let loud = || priority(bytes).filter(|_| is_json);
        Some(Said {
            path: self.path.clone(),
            line: self.number,
            at: self.last,
            node: node_of(&self.ours).to_owned(),
            speaker: line.speaker.clone().into_owned(),
            level: loud().or(line.level()),
            text: line.shown().trim_end().to_owned(),
        })
    }

    /// An event of the cluster, as `kubectl get events` tells it.
    fn event(&self, bytes: &[u8]) -> Option<Said> {
        let bytes = bytes.trim_ascii();
        let event: Value =
            serde_json::from_slice(bytes.strip_suffix(b",").unwrap_or(bytes)).ok()?;
        let text = |path: &str| {
            let found = path.split('.').fold(&event, |value, name| &value[name]);
            found.as_str().unwrap_or("").to_owned()
        };
        let times = [
            "lastTimestamp",
            "series.lastObservedTime",
            "eventTime",
            "firstTimestamp",
        ];
        let at = times
            .iter()
            .find_map(|name| DateTime::parse_from_rfc3339(&text(name)).ok());
        let (kind, namespace, name) = (
            text("involvedObject.kind"),
            text("involvedObject.namespace"),
            text("involvedObject.name"),
        );
        let count = event["count"].as_u64().filter(|count| *count > 1);
        let count = count.map_or_else(String::new, |count| format!(" ({count} times)"));
        let of = if namespace.is_empty() {
            String::new()
        } else {
            format!("{namespace}/")
        };
        Some(Said {
            path: self.path.clone(),
            line: self.number,
            at: at.map(|at| at.to_utc()),
            node: String::new(),
            speaker: format!("{}/{of}{name}", kind.to_lowercase()),
            level: Some(if text("type") == "Warning" {
                Level::Warning
            } else {
                Level::Info
            }),
            text: format!("{}: {}{count}", text("reason"), text("message").trim()),
        })
    }
}

/// The priority that the journal gives an entry.
fn priority(bytes: &[u8]) -> Option<Level> {
    let mark = b"\"PRIORITY\":\"";
    let at = memchr::memmem::find(bytes, mark)?;
    match bytes.get(at + mark.len())? {
        b'0'..=b'3' => Some(Level::Error),
        b'4' => Some(Level::Warning),
        b'5' | b'6' => Some(Level::Info),
        b'7' => Some(Level::Debug),
        _ => None,
    }
}
