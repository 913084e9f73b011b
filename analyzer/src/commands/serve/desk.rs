//! What the page shows beyond the API, read from the capture each time it is asked for.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use casefile_bundle::{Input, Keys, Limits};
use casefile_serve::{Desk, LinesAsk, Proposed};
use serde_json::{Value, json};

use super::linked::linked;
use super::proposed;
use crate::cli::{FilterArgs, KeyArgs, LoudAs};
use crate::commands::Terminal;
use crate::commands::context;
use crate::commands::input::{Readable, analyze_unit};
use crate::commands::look::{expression, level_name, passes};
use crate::diagnose::Analyzer;
use crate::fix;
use crate::join::{Member, Unit};
use crate::recording::{Chart, Said, walk_chosen};
use crate::report;
use crate::words::count;

/// Lines of one answer.
const MOST_LINES: usize = 1000;
/// Bytes of a line that are shown.
const LONGEST_LINE: usize = 4000;

/// The desk of one context.
pub(super) struct Capture {
    readable: Readable,
    keys: Option<Keys>,
    key_files: KeyArgs,
    analyzer: Analyzer,
    judged: OnceLock<Result<Judged, String>>,
    /// One change at a time: each reads and judges the capture anew.
    trying: Mutex<()>,
}

/// What the diagnosis gave.
struct Judged {
    html: String,
    causes: Value,
}

/// Lines as they are found.
#[derive(Default)]
struct Found {
    in_order: Vec<Said>,
    by_time: BTreeMap<(bool, i64, String, u64), Said>,
    more: bool,
    chart: Option<Chart>,
}

impl Capture {
    pub(super) fn new(
        readable: Readable,
        keys: Option<Keys>,
        key_files: KeyArgs,
        analyzer: Analyzer,
    ) -> Self {
        Self {
            readable,
            keys,
            key_files,
            analyzer,
            judged: OnceLock::new(),
            trying: Mutex::new(()),
        }
    }

    fn judged(&self) -> Result<&Judged, String> {
        let judged = self.judged.get_or_init(|| self.judge());
        judged.as_ref().map_err(Clone::clone)
    }

    fn judge(&self) -> Result<Judged, String> {
        let unit = &self.readable.unit;
        let analyze = &fix::shown::analyze;
        let analysis = analyze_unit(analyze, &self.analyzer, &self.readable, Terminal::default())
            .map_err(|error| format!("there is no report: {error:#}"))?;
        let options = report::Options {
            context: context::around(unit, self.keys.as_ref(), &analysis),
            ..report::Options::default()
        };
        let html = report::render(&analysis, report::Format::Html, &options)
            .map_err(|error| format!("there is no report: {error:#}"))?;
        let causes: Vec<Value> = analysis
            .incidents
            .iter()
            .map(|one| json!({"cause": one.cause, "title": one.title, "verdict": one.verdict}))
            .collect();
        Ok(Judged {
            html,
            causes: json!(causes),
        })
    }

    /// The captures with what stands before their paths: nothing, or the node where several are joined.
    fn parts(&self) -> Vec<(String, PathBuf)> {
        match &self.readable.unit {
            Unit::Alone(input) => vec![(String::new(), input.clone())],
            Unit::Joined(members) => members
                .iter()
                .map(|one| (format!("{}:", one.node), one.input.clone()))
                .collect(),
        }
    }

    /// The captures that a path leads into, and its path there; all of them where it is empty.
    fn chosen(&self, path: &str) -> Vec<(String, PathBuf, String)> {
        let all = self.parts().into_iter();
        if path.is_empty() {
            return all
                .map(|(before, input)| (before, input, String::new()))
                .collect();
        }
        let of_node = match &self.readable.unit {
            Unit::Alone(_) => String::new(),
            Unit::Joined(members) => holder(members, path),
        };
        let full = format!("{of_node}{path}");
        all.filter_map(|(before, input)| {
            let inner = full.strip_prefix(&before)?.to_owned();
            Some((before, input, inner))
        })
        .take(1)
        .collect()
    }
}

/// The node of the bundle that holds a path, where the path does not say it itself.
fn holder(members: &[Member], path: &str) -> String {
    let named = |one: &&Member| path.starts_with(&format!("{}:", one.node));
    if members.iter().any(|one| named(&one)) {
        return String::new();
    }
    let holds = members.iter().find(|one| one.paths.contains(path));
    holds.map_or_else(String::new, |one| format!("{}:", one.node))
}

impl Desk for Capture {
    fn report(&self, prefix: &str) -> Result<Bytes, String> {
        Ok(Bytes::from(linked(&self.judged()?.html, prefix)))
    }

    fn files(&self) -> Result<Value, String> {
        let mut files = Vec::new();
        for (before, input) in self.parts() {
            let input = Input::new(&input, self.keys.as_ref());
            let listed = casefile_bundle::list(input, &Limits::default());
            let (_, entries) = listed.map_err(|error| error.to_string())?;
            for entry in entries {
                files.push(json!({"path": format!("{before}{}", entry.path), "size": entry.size}));
            }
        }
        Ok(json!(files))
    }

    fn lines(&self, ask: &LinesAsk, gone: &AtomicBool) -> Result<Value, String> {
        let filter = filter(ask)?;
        let pattern = match ask.text.as_str() {
            "" => None,
            text => Some(expression(text, true, true).map_err(|error| format!("{error:#}"))?),
        };
        let raw = |line: &[u8]| pattern.as_ref().is_none_or(|one| one.is_match(line));
        let mut found = Found {
            chart: ask.chart.then(Chart::default),
            ..Found::default()
        };
        for (before, input, path) in self.chosen(&ask.path) {
            let wanted = |entry: &str| path.is_empty() || entry == path;
            let mut each = |mut said: Said| {
                if gone.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
                let late = ask.from.is_none_or(|from| said.line >= from);
                // What is shown has to hold the text: JSON lines are decoded whatever they hold.
                if late && raw(said.text.as_bytes()) && passes(&filter, &said) {
                    said.path = format!("{before}{}", said.path);
                    return found.take(said, ask.path.is_empty());
                }
                ControlFlow::Continue(())
            };
            let walked = walk_chosen(
                &Unit::Alone(input),
                self.keys.as_ref(),
                &wanted,
                &raw,
                &mut each,
            );
            walked.map_err(|error| error.to_string())?;
        }
        Ok(found.json())
    }

    fn causes(&self) -> Result<Value, String> {
        Ok(self.judged()?.causes.clone())
    }

    fn attempt(&self, change: &Proposed) -> Result<Value, String> {
        let _alone = self.trying.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = proposed::attempt(&self.analyzer, &self.readable.unit, &self.key_files, change);
        tried.map_err(|error| format!("{error:#}"))
    }
}

impl Found {
    /// Takes a line; of all files the earliest are kept, of one file the first.
    fn take(&mut self, mut said: Said, all_files: bool) -> ControlFlow<()> {
        // What is held is bounded: lines of a hostile capture are as long as they like.
        said.text = shortened(said.text);
        if let (Some(chart), Some(at)) = (&mut self.chart, said.at) {
            chart.count(at, said.level);
        }
        if all_files {
            let time = said.at.map_or(0, |at| at.timestamp_micros());
            let key = (said.at.is_none(), time, said.path.clone(), said.line);
            self.by_time.insert(key, said);
            if self.by_time.len() > MOST_LINES {
                self.by_time.pop_last();
                self.more = true;
            }
        } else if self.in_order.len() < MOST_LINES {
            self.in_order.push(said);
        } else {
            self.more = true;
            if self.chart.is_none() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn json(self) -> Value {
        let lines: Vec<Value> = self
            .in_order
            .into_iter()
            .chain(self.by_time.into_values())
            .map(|said| {
                let who = match (said.node.as_str(), said.speaker.as_str()) {
                    (node, "") => node.to_owned(),
                    ("", speaker) => speaker.to_owned(),
                    (node, speaker) => format!("{node} {speaker}"),
                };
                json!({
                    "path": said.path, "line": said.line, "at": said.at.map(|at| at.to_rfc3339()), "who": who,
                    "level": said.level.map(level_name), "text": said.text,
                })
            })
            .collect();
        let chart = self
            .chart
            .map(|chart| json!({"seconds": chart.seconds(), "columns": chart.columns()}));
        json!({"lines": lines, "more": self.more, "chart": chart})
    }
}

/// A long line, cut, with how much is left out.
fn shortened(mut text: String) -> String {
    if text.len() > LONGEST_LINE {
        let kept = text.floor_char_boundary(LONGEST_LINE);
        let left = count((text.len() - kept) as u64, "byte");
        text.truncate(kept);
        text = format!("{text} … and {left} more");
    }
    text
}

/// What the page asks for, in the words of the commands.
fn filter(ask: &LinesAsk) -> Result<FilterArgs, String> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let time = |text: &str| match text {
        "" => Ok(None),
        text => crate::cli::parse_time(text).map(Some),
    };
    let level = match ask.level.as_str() {
        "" => None,
        "debug" => Some(LoudAs::Debug),
        "info" => Some(LoudAs::Info),
        "warning" => Some(LoudAs::Warning),
        "error" => Some(LoudAs::Error),
        other => return Err(format!("{other} is no level")),
    };
    let of_pod = ask.speaker.contains('/');
    Ok(FilterArgs {
        since: time(&ask.since)?,
        until: time(&ask.until)?,
        node: some(&ask.node),
        unit: some(&ask.speaker).filter(|_| !of_pod),
        pod: some(&ask.speaker).filter(|_| of_pod),
        level,
    })
}
