//! `kubectl logs`: a container's log as it was captured, cut to what was asked for.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Duration, Utc};
use serde_json::Value;

use crate::answer::{Answer, Body, TEXT, Taker};
use crate::ask::Query;
use crate::chunks::Reader;
use crate::logs::{LogFile, Run, Texts};
use crate::status::Status;
use crate::store::{Kind, Store};
use crate::value::{list, text};

/// A line that is longer is given in parts, so that no log needs more memory than this.
const LONGEST_LINE: usize = 1 << 20;
/// Most bytes that are kept to find the last lines.
const MOST_KEPT: usize = 32 << 20;
/// A piece of the answer.
const PIECE: usize = 64 << 10;

/// Which lines are wanted, and how.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cut {
    pub(crate) since: Option<DateTime<Utc>>,
    pub(crate) tail: Option<usize>,
    pub(crate) stamps: bool,
    pub(crate) bytes: Option<usize>,
}

impl Cut {
    /// Reads the options of `kubectl logs`.
    ///
    /// Errors: in the words of the server.
    fn parse(query: &Query, pod: &str, now: DateTime<Utc>) -> Result<Self, Status> {
        let positive = |name: &str| match query.number(name)? {
            Some(number) => usize::try_from(number).map(Some).map_err(|_| {
                let text = format!("Invalid value: {number}: must be greater than or equal to 0");
                Status::invalid_log_option(pod, name, &text)
            }),
            None => Ok(None),
        };
        let ago = query
            .number("sinceSeconds")?
            .and_then(Duration::try_seconds);
        let at = query.time("sinceTime")?;
        Ok(Self {
            since: at.or_else(|| ago.and_then(|ago| now.checked_sub_signed(ago))),
            tail: positive("tailLines")?,
            stamps: query.flag("timestamps"),
            bytes: positive("limitBytes")?,
        })
    }
}

/// The log that a request is about.
pub(crate) fn answer(
    store: &Arc<Store>,
    namespace: &str,
    pod: &str,
    query: &Query,
) -> Result<Answer, Status> {
    let pods = store
        .kind("", "v1", "pods")
        .ok_or_else(Status::no_such_path)?;
    let files: Vec<&LogFile> = store
        .logs
        .iter()
        .filter(|log| log.namespace == namespace && log.pod == pod)
        .collect();
    let object = read_pod(store, pods, namespace, pod);
    if object.is_none() && files.is_empty() {
        crate::pick::covered(store, pods, Some(namespace))?;
        return Err(Status::no_such_object(pods, pod));
    }
    let object = object.unwrap_or_default();
    let container = container(&object, &files, pod, query.filled("container"))?;
    let run = if query.flag("previous") {
        Run::Previous
    } else {
        Run::Current
    };
    let cut = Cut::parse(query, pod, store.now)?;
    let Some(file) = files
        .iter()
        .find(|log| log.container == container && log.run == run)
    else {
        return Err(no_log(&object, namespace, pod, &container, run));
    };
    Ok(stream(Arc::clone(&store.texts), file.entry.clone(), cut))
}

fn read_pod(store: &Store, pods: &Kind, namespace: &str, pod: &str) -> Option<Value> {
    let object = pods.object(Some(namespace), pod)?;
    let raw = Reader::default().read(&store.chunks, object.spot);
    serde_json::from_slice(&raw).ok()
}

fn names<'v>(pod: &'v Value, field: &str) -> Vec<&'v str> {
    list(pod, field)
        .iter()
        .map(|one| text(one, "name"))
        .collect()
}

/// The container whose log is wanted, as the server chooses it.
fn container(
    object: &Value,
    files: &[&LogFile],
    pod: &str,
    asked: Option<&str>,
) -> Result<String, Status> {
    let main = names(object, "spec.containers");
    let init = names(object, "spec.initContainers");
    let temporary = names(object, "spec.ephemeralContainers");
    if let Some(asked) = asked {
        let mut known = main.iter().chain(&init).chain(&temporary);
        if known.any(|one| *one == asked) || files.iter().any(|log| log.container == asked) {
            return Ok(asked.to_owned());
        }
        return Err(Status::bad_request(format!(
            "container {asked} is not valid for pod {pod}"
        )));
    }
    match (main.as_slice(), files) {
        ([only], _) => Ok((*only).to_owned()),
        ([], [only]) => Ok(only.container.clone()),
        ([], []) => Err(Status::bad_request(format!("pod {pod} has no container"))),
        _ => {
            let mut text = format!(
                "a container name must be specified for pod {pod}, choose one of: [{}]",
                main.join(" ")
            );
            for (others, what) in [(&init, "init"), (&temporary, "ephemeral")] {
                if !others.is_empty() {
                    text = format!(
                        "{text} or one of the {what} containers: [{}]",
                        others.join(" ")
                    );
                }
            }
            Err(Status::bad_request(text))
        }
    }
}

fn no_log(object: &Value, namespace: &str, pod: &str, container: &str, run: Run) -> Status {
    let statuses = [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ];
    let status = statuses
        .iter()
        .flat_map(|field| list(&object["status"], field))
        .find(|status| text(status, "name") == container);
    let restarted = status.is_some_and(|status| crate::value::has(status, "lastState.terminated"));
    let waiting = status.map_or("", |status| text(status, "state.waiting.reason"));
    match run {
        Run::Previous if !restarted => Status::bad_request(format!(
            "previous terminated container {container:?} in pod {pod:?} not found"
        )),
        Run::Current if !waiting.is_empty() && !restarted => Status::bad_request(format!(
            "container {container:?} in pod {pod:?} is waiting to start: {waiting}"
        )),
        _ => {
            let which = if run == Run::Previous {
                "previous log"
            } else {
                "log"
            };
            Status::wrong_host(format!(
                "the {which} of container {container} of pod {namespace}/{pod} was not collected"
            ))
        }
    }
}

/// An entry of the capture as text, cut.
pub(crate) fn stream(texts: Arc<dyn Texts>, entry: String, cut: Cut) -> Answer {
    let tell = move |taker: Taker<'_>| {
        let mut cutter = Cutter::new(&cut, taker);
        let read = texts.read(&entry, &mut |piece| cutter.take(piece));
        cutter.finish(read.err());
    };
    Answer::new(TEXT, Body::Text(Box::new(tell)))
}

/// Cuts a log while it is read.
struct Cutter<'c, 't> {
    cut: &'c Cut,
    taker: Taker<'t>,
    line: Vec<u8>,
    last: VecDeque<Vec<u8>>,
    kept: usize,
    open: Vec<u8>,
    left: usize,
    /// Whether lines are recent enough; those without a time are as old as the one before.
    recent: bool,
    over: bool,
}

impl<'c, 't> Cutter<'c, 't> {
    fn new(cut: &'c Cut, taker: Taker<'t>) -> Self {
        Self {
            cut,
            taker,
            line: Vec::new(),
            last: VecDeque::new(),
            kept: 0,
            open: Vec::new(),
            left: cut.bytes.unwrap_or(usize::MAX),
            recent: cut.since.is_none(),
            over: false,
        }
    }

    fn take(&mut self, mut piece: &[u8]) -> ControlFlow<()> {
        while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&piece[..=end]);
            piece = &piece[end + 1..];
            self.whole_line();
        }
        self.line.extend_from_slice(piece);
        if self.line.len() > LONGEST_LINE {
            self.whole_line();
        }
        if self.over {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn whole_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let (stamp, said) = stamped(&line);
        if let (Some(since), Some(stamp)) = (self.cut.since, stamp) {
            self.recent = stamp >= since;
        }
        if !self.recent {
            return;
        }
        let shown = if self.cut.stamps { &line[..] } else { said };
        match self.cut.tail {
            None => self.give(shown),
            Some(most) => {
                self.kept += shown.len();
                self.last.push_back(shown.to_vec());
                while self.last.len() > most || self.kept > MOST_KEPT {
                    let Some(first) = self.last.pop_front() else {
                        break;
                    };
                    self.kept -= first.len();
                }
            }
        }
    }

    fn give(&mut self, text: &[u8]) {
        let text = &text[..text.len().min(self.left)];
        self.left -= text.len();
        self.open.extend_from_slice(text);
        self.over |= self.left == 0;
        if self.open.len() >= PIECE {
            self.send();
        }
    }

    fn send(&mut self) {
        if !self.open.is_empty() {
            let piece = Bytes::from(std::mem::take(&mut self.open));
            self.over |= (self.taker)(piece).is_break();
        }
    }

    fn finish(mut self, failed: Option<String>) {
        if !self.line.is_empty() {
            self.whole_line();
        }
        for line in std::mem::take(&mut self.last) {
            self.give(&line);
        }
        if let Some(why) = failed {
            self.give(format!("the recording could not be read any further: {why}\n").as_bytes());
        }
        self.send();
    }
}

/// The time that a captured line begins with, and what the container wrote.
pub(crate) fn stamped(line: &[u8]) -> (Option<DateTime<Utc>>, &[u8]) {
    let end = line.iter().take(40).position(|byte| *byte == b' ');
    let time = end.and_then(|end| {
        let text = std::str::from_utf8(&line[..end]).ok()?;
        let time = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
        Some((time, &line[end + 1..]))
    });
    match time {
        Some((time, said)) => (Some(time), said),
        None => (None, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "2026-01-01T00:00:00Z one\n2026-01-01T00:00:01.5Z two\n  at two\n2026-01-01T00:00:02Z three";

    fn cut(cut: &Cut) -> String {
        let mut out = Vec::new();
        let mut taker = |piece: Bytes| {
            out.extend_from_slice(&piece);
            ControlFlow::Continue(())
        };
        let mut cutter = Cutter::new(cut, &mut taker);
        for piece in LOG.as_bytes().chunks(7) {
            if cutter.take(piece).is_break() {
                break;
            }
        }
        cutter.finish(None);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_log_is_given_as_the_container_wrote_it() {
        assert_eq!(cut(&Cut::default()), "one\ntwo\n  at two\nthree");
    }

    #[test]
    fn options_cut_it() {
        let tail = Cut {
            tail: Some(2),
            ..Cut::default()
        };
        assert_eq!(cut(&tail), "  at two\nthree");
        let since = DateTime::parse_from_rfc3339("2026-01-01T00:00:01Z")
            .unwrap()
            .to_utc();
        let since = Cut {
            since: Some(since),
            ..Cut::default()
        };
        assert_eq!(cut(&since), "two\n  at two\nthree");
        let stamps = Cut {
            stamps: true,
            tail: Some(1),
            ..Cut::default()
        };
        assert_eq!(cut(&stamps), "2026-01-01T00:00:02Z three");
        let bytes = Cut {
            bytes: Some(5),
            ..Cut::default()
        };
        assert_eq!(cut(&bytes), "one\nt");
        let none = Cut {
            tail: Some(0),
            ..Cut::default()
        };
        assert_eq!(cut(&none), "");
    }
}
