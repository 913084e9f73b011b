//! The one pass over a bundle: routes every entry to its parser and every line to the patterns.

mod again;
mod arriving;
mod assembly;
mod bounds;
mod budget;
mod clean;
mod dated;
mod faults;
mod gather;
mod hits;
mod indented;
pub mod joined;
pub mod kube_list;
pub mod leftovers;
pub mod literals;
mod manual;
mod merge;
mod out;
pub mod pasted;
pub mod patterns;
mod placed;
mod ranked;
mod sayings;
mod settle;
mod settled;
mod sink;
mod slips;
mod spill;
mod starts;
mod typing;
mod unwrap;

pub(crate) use bounds::not_read;

use casefile_bundle::{Input, Limits, OpenError, Summary};

use crate::dress::document::Skipped;
use crate::facts::Facts;
use crate::layouts::{Plan, Survey};
pub use crate::lines::{self, Documents, node_of};
use crate::model::{Place, Problem};
use crate::parsers::Parsed;
pub use crate::parsers::Router;
pub use budget::Budget;
use gather::Gather;
use pasted::Origins;
use patterns::{Hit, Patterns};
use settled::Settling;
use sink::Sink;
use spill::Spill;
pub(crate) use starts::is_of_earlier_boot;

/// Everything that one pass over the input gave.
pub struct Scanned {
    /// Entries were changed since they were collected, so that what programs said then is about another state.
    pub replayed: bool,
    /// What the reader says of the input.
    pub summary: Summary,
    /// Facts that parsers stated.
    pub facts: Facts,
    /// Lines that matched patterns, in the order of their places.
    pub hits: Vec<Hit>,
    /// Texts for derivers.
    pub documents: Documents,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Paths of all entries.
    pub paths: Vec<String>,
    /// Where the pieces of loose texts stand that were given the path of a bundle's entry.
    pub origins: Origins,
    /// Lines of texts that nobody said, and that were not searched.
    pub skipped: Skipped,
    /// In a joined analysis: which node's bundle holds each entry of the cluster.
    pub homes: joined::Homes,
    /// What captures of other tools the input holds.
    pub plan: Plan,
    /// In a joined analysis: sources of which older bundles tell what the newest does not.
    pub leftovers: leftovers::Leftovers,
}

/// Reads a bundle, tar or folder once.
pub fn scan<'a>(
    input: impl Into<Input<'a>>,
    patterns: &Patterns,
    router: &Router,
    budget: Budget,
) -> Result<Scanned, OpenError> {
    scan_with(input, (patterns, router, budget), &Documents::new())
}

/// The same, as if the entries named in `instead` held those texts.
pub fn scan_with<'a>(
    input: impl Into<Input<'a>>,
    (patterns, router, budget): (&Patterns, &Router, Budget),
    instead: &Documents,
) -> Result<Scanned, OpenError> {
    let input = input.into();
    let mut survey = Survey::of(input)?;
    let plan = survey.as_mut().map(Plan::of).unwrap_or_default();
    let (spill, settling) = (Spill::new(budget), Settling::new(budget));
    let sink = Sink {
        patterns,
        router,
        uids: false,
        plan: Some(&plan),
        spill: &spill,
        settling: &settling,
        // Where entries are replaced, what they hold does not count.
        passes_over: &|path| instead.contains_key(path),
    };
    let (summary, mut outputs) = casefile_bundle::scan(input, &Limits::default(), &sink)?;
    patterns.rest();
    outputs.extend(sink.cut());
    outputs.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let mut gather = Gather::new(patterns, router, (&spill, &settling));
    gather.replaced = instead.keys().cloned().collect();
    let mut outputs = outputs.into_iter().peekable();
    while let Some((path, _, first)) = outputs.next() {
        let mut pieces = vec![first.into()];
        while let Some((_, _, out)) = outputs.next_if(|(next, _, _)| *next == path) {
            pieces.push(out.into());
        }
        gather.foreign(&plan, &path, pieces);
    }
    gather.texts(instead);
    gather.paths.sort();
    let mut scanned = gather.finish(summary);
    scanned.plan = plan;
    Ok(scanned)
}

/// A loose text as its lines are counted: without terminal codes, in UTF-8.
pub(crate) fn plain_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&clean::clean(bytes, true)).into_owned()
}

/// Runs a parser so that a bug in it costs this entry only.
fn guarded<T: From<Parsed>>(id: &str, path: &str, parse: impl FnOnce() -> T) -> T {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(parse));
    caught.unwrap_or_else(|_| {
        let place = Place {
            path: path.into(),
            line: None,
        };
        Parsed::problem(
            place,
            format!("parser {id} failed on this entry; this is a bug in casefile"),
        )
        .into()
    })
}
