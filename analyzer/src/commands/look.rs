//! `grep`, `timeline` and `logs`: the texts of a capture, searched, merged, and one by one.

use std::collections::{BTreeSet, VecDeque};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, bail};
use casefile_bundle::Keys;
use casefile_serve::{Ask, answer};
use regex::bytes::{Regex, RegexBuilder};
use serde_json::json;

use super::Exit;
use super::analysis::units;
use super::input::readable;
use crate::cli::{FilterArgs, GrepArgs, LogsArgs, LoudAs, TimelineArgs};
use crate::dress::Level;
use crate::join::Unit;
use crate::recording::{self, Said, walk};

/// A longer line is shown around the hit only.
const SHOWN: usize = 400;

pub(super) fn grep(
    args: &GrepArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let pattern = expression(&args.pattern, args.fixed, args.ignore_case)?;
    let keys = Keys::load(&args.keys.identity)?;
    for unit in units(&args.inputs, false, keys.as_ref(), errors)? {
        let readable = readable(&unit)?;
        let mut printer = Printer::new(args, &pattern, out);
        // With lines around a hit all have to be seen.
        let wanted = |raw: &[u8]| args.context > 0 || pattern.is_match(raw);
        walk(&readable.unit, keys.as_ref(), &wanted, &mut |said| {
            printer.take(said)
        })?;
        printer.failed.map_or(Ok(()), Err)?;
    }
    Ok(Exit::Done)
}

/// A regular expression, or plain text as one.
pub(super) fn expression(text: &str, fixed: bool, ignore_case: bool) -> anyhow::Result<Regex> {
    let text = if fixed {
        regex::escape(text)
    } else {
        text.to_owned()
    };
    let built = RegexBuilder::new(&text)
        .case_insensitive(ignore_case)
        .build();
    built.with_context(|| format!("`{text}` is no regular expression; -F takes it as plain text"))
}

/// Prints hits with the lines around them.
struct Printer<'a> {
    args: &'a GrepArgs,
    pattern: &'a Regex,
    out: &'a mut dyn Write,
    before: VecDeque<Said>,
    after: usize,
    failed: Option<std::io::Error>,
}

impl<'a> Printer<'a> {
    fn new(args: &'a GrepArgs, pattern: &'a Regex, out: &'a mut dyn Write) -> Self {
        Self {
            args,
            pattern,
            out,
            before: VecDeque::new(),
            after: 0,
            failed: None,
        }
    }

    fn take(&mut self, said: Said) -> ControlFlow<()> {
        if self
            .before
            .back()
            .is_some_and(|last| last.path != said.path)
        {
            self.before.clear();
            self.after = 0;
        }
        let found = self
            .pattern
            .find(said.text.as_bytes())
            .map(|hit| hit.start());
        let printed = match found.filter(|_| passes(&self.args.filter, &said)) {
            Some(at) => {
                let around: Vec<Said> = self.before.drain(..).collect();
                self.after = self.args.context;
                let mut all = around
                    .iter()
                    .map(|one| self.line(one, None))
                    .collect::<Vec<_>>();
                all.push(self.line(&said, Some(at)));
                all.concat()
            }
            None if self.after > 0 => {
                self.after -= 1;
                self.line(&said, None)
            }
            None => {
                self.before.push_back(said);
                while self.before.len() > self.args.context {
                    self.before.pop_front();
                }
                return ControlFlow::Continue(());
            }
        };
        match self.out.write_all(printed.as_bytes()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// A line as it is printed; `hit` is where the pattern was found.
    fn line(&self, said: &Said, hit: Option<usize>) -> String {
        if self.args.json {
            return as_json(said, Some(hit.is_some()));
        }
        let sign = if hit.is_some() { ':' } else { '-' };
        let text = cut(&said.text, hit.unwrap_or(0));
        let at = said.at.map_or_else(String::new, |at| {
            format!("{} ", at.format("%Y-%m-%dT%H:%M:%S%.3fZ"))
        });
        format!("{}{sign}{}{sign} {at}{text}\n", said.path, said.line)
    }
}

/// The stretch of a long text around a hit.
fn cut(text: &str, at: usize) -> String {
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    let from = text.floor_char_boundary(at.saturating_sub(SHOWN / 2));
    let to = text.floor_char_boundary((from + SHOWN).min(text.len()));
    let (before, after) = (
        if from > 0 { "…" } else { "" },
        if to < text.len() { "…" } else { "" },
    );
    format!("{before}{}{after}", &text[from..to])
}

fn as_json(said: &Said, hit: Option<bool>) -> String {
    let mut line = json!({
        "path": said.path, "line": said.line, "at": said.at.map(|at| at.to_rfc3339()), "node": said.node,
        "speaker": said.speaker, "level": said.level.map(level_name), "text": said.text,
    });
    if let Some(hit) = hit {
        line["hit"] = json!(hit);
    }
    format!("{line}\n")
}

/// How a level is written.
pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

/// Whether a line is one of those that were asked for.
pub(super) fn passes(filter: &FilterArgs, said: &Said) -> bool {
    let in_time = filter
        .since
        .is_none_or(|since| said.at.is_some_and(|at| at >= since))
        && filter
            .until
            .is_none_or(|until| said.at.is_some_and(|at| at <= until));
    let least = filter.level.map(|level| match level {
        LoudAs::Debug => Level::Debug,
        LoudAs::Info => Level::Info,
        LoudAs::Warning => Level::Warning,
        LoudAs::Error => Level::Error,
    });
    let loud = least.is_none_or(|least| said.level.is_some_and(|level| level as u8 >= least as u8));
    let of_node = filter.node.as_ref().is_none_or(|node| said.node == *node);
    let of_unit = filter.unit.as_ref().is_none_or(|unit| {
        let bare = unit.trim_end_matches(".service");
        let speaker = said.speaker.trim_end_matches(".service");
        speaker == bare || said.path.contains(&format!("/journal/{bare}."))
    });
    let of_pod = filter.pod.as_ref().is_none_or(|pod| {
        said.speaker == format!("pod/{pod}") || said.speaker.ends_with(&format!("/{pod}"))
    });
    in_time && loud && of_node && of_unit && of_pod
}

pub(super) fn timeline(
    args: &TimelineArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let pattern = args
        .grep
        .as_deref()
        .map(|text| expression(text, false, false))
        .transpose()?;
    let keys = Keys::load(&args.keys.identity)?;
    let loud = FilterArgs {
        level: args.filter.level.or(Some(LoudAs::Warning)),
        node: args.filter.node.clone(),
        unit: args.filter.unit.clone(),
        pod: args.filter.pod.clone(),
        ..args.filter
    };
    // Sorted as they come, the oldest dropped: a capture has more lines than fit into memory.
    let mut newest: BTreeSet<(chrono::DateTime<chrono::Utc>, String, u64, String, String)> =
        BTreeSet::new();
    for unit in units(&args.inputs, true, keys.as_ref(), errors)? {
        let readable = readable(&unit)?;
        walk(&readable.unit, keys.as_ref(), &|_| true, &mut |said| {
            let matches = pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(said.text.as_bytes()));
            if let Some(at) = said.at.filter(|_| matches && passes(&loud, &said)) {
                let printed = if args.json {
                    as_json(&said, None)
                } else {
                    String::new()
                };
                let who = who(&said);
                let text = if args.json {
                    printed
                } else {
                    cut(&said.text, 0)
                };
                newest.insert((at, said.path, said.line, who, text));
                if newest.len() > args.limit {
                    newest.pop_first();
                }
            }
            ControlFlow::Continue(())
        })?;
    }
    for (at, path, line, who, text) in &newest {
        if args.json {
            out.write_all(text.as_bytes())?;
        } else {
            writeln!(
                out,
                "{} {who}: {text}  ({path}:{line})",
                at.format("%Y-%m-%dT%H:%M:%S%.3fZ")
            )?;
        }
    }
    Ok(Exit::Done)
}

fn who(said: &Said) -> String {
    match (said.node.as_str(), said.speaker.as_str()) {
        ("", speaker) => speaker.to_owned(),
        (node, "") => node.to_owned(),
        (node, speaker) => format!("{node} {speaker}"),
    }
}

pub(super) fn logs(args: &LogsArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let keys = Keys::load(&args.keys.identity)?;
    let readable = readable(&Unit::Alone(PathBuf::from(&args.input)))?;
    let store = recording::read(&readable.unit, keys.as_ref(), None)?.store;
    let parts: Vec<&str> = args.subject.split('/').collect();
    let [first, second, rest @ ..] = parts.as_slice() else {
        bail!(
            "`{}` names no log: write NAMESPACE/POD, NAMESPACE/POD/CONTAINER or NODE/UNIT",
            args.subject
        );
    };
    let mut query = format!("timestamps={}&previous={}", args.timestamps, args.previous);
    if let Some(tail) = args.tail {
        query = format!("{query}&tailLines={tail}");
    }
    if let Some(since) = args.since {
        query = format!("{query}&sinceTime={}", since.format("%Y-%m-%dT%H:%M:%SZ"));
    }
    let of_node = Ask {
        method: "GET".to_owned(),
        path: format!("/api/v1/nodes/{first}/proxy/logs/"),
        query: format!("{query}&query={second}"),
        ..Ask::default()
    };
    if let [container] = rest {
        query = format!("{query}&container={container}");
    }
    let of_pod = Ask {
        method: "GET".to_owned(),
        path: format!("/api/v1/namespaces/{first}/pods/{second}/log"),
        query,
        ..Ask::default()
    };
    let mut answered = answer(&store, &of_pod);
    if answered.code != 200 && rest.is_empty() {
        let other = answer(&store, &of_node);
        // What is no node is meant as a pod, and its answer says what is wrong.
        if other.code == 200 || store.has_node(first) {
            answered = other;
        }
    }
    let code = answered.code;
    if code != 200 {
        let status: serde_json::Value =
            serde_json::from_slice(&answered.collect()).unwrap_or_default();
        bail!(
            "{}",
            status["message"].as_str().unwrap_or("there is no such log")
        );
    }
    let mut failed = None;
    answered.each(&mut |piece| match out.write_all(piece) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    });
    failed.map_or(Ok(Exit::Done), |error| Err(error.into()))
}
