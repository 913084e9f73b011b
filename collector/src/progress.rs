//! Progress: what runs and what is done, on standard error, in the form its reader can use.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use crate::cli::ProgressMode;

/// Something that happened to a source.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// It began.
    Started(&'a str),
    /// It ended.
    Finished {
        /// The source.
        id: &'a str,
        /// Its outcome's word.
        outcome: &'static str,
        /// Why, where the outcome has a reason.
        why: Option<&'a str>,
        /// Bytes of content it added.
        bytes: u64,
        /// How long it took.
        took: Duration,
    },
    /// A sentence about the whole run.
    Message(&'a str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Live,
    Plain,
    Json,
    Quiet,
}

struct State {
    sink: Box<dyn Write + Send>,
    running: BTreeSet<String>,
    done: usize,
}

/// Shows events as they come. Trouble with its output is ignored: progress is not the job.
pub struct Progress {
    form: Form,
    total: usize,
    state: Mutex<State>,
}

impl Progress {
    /// Progress of `total` sources on standard error.
    pub fn new(mode: ProgressMode, total: usize) -> Self {
        let form = match mode {
            ProgressMode::Auto if std::io::stderr().is_terminal() => Form::Live,
            ProgressMode::Auto | ProgressMode::Plain => Form::Plain,
            ProgressMode::Json => Form::Json,
            ProgressMode::None => Form::Quiet,
        };
        Self::with_sink(form, total, Box::new(std::io::stderr()))
    }

    fn with_sink(form: Form, total: usize, sink: Box<dyn Write + Send>) -> Self {
        Self {
            form,
            total,
            state: Mutex::new(State {
                sink,
                running: BTreeSet::new(),
                done: 0,
            }),
        }
    }

    /// Shows an event.
    pub fn event(&self, event: &Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started(id) => {
                state.running.insert((*id).to_owned());
            }
            Event::Finished { id, .. } => {
                state.running.remove(*id);
                state.done += 1;
            }
            Event::Message(_) => {}
        }
        let text = match self.form {
            Form::Quiet => return,
            Form::Json => as_json(event),
            Form::Plain => as_line(event),
            Form::Live => {
                let line = if matches!(event, Event::Started(_)) {
                    String::new()
                } else {
                    as_line(event)
                };
                let running = state.running.iter().cloned().collect::<Vec<_>>().join(", ");
                let status: String = format!("[{}/{}] {running}", state.done, self.total)
                    .chars()
                    .take(78)
                    .collect();
                let status = if state.running.is_empty() {
                    String::new()
                } else {
                    status
                };
                format!("\r\x1b[K{line}{status}")
            }
        };
        let _ = state.sink.write_all(text.as_bytes());
        let _ = state.sink.flush();
    }
}

fn as_line(event: &Event<'_>) -> String {
    match event {
        Event::Started(id) => format!("{id}: started\n"),
        Event::Finished {
            id,
            outcome,
            why,
            bytes,
            took,
        } => {
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            format!(
                "{id}: {outcome}{why}, {}, {:.1} s\n",
                human(*bytes),
                took.as_secs_f64()
            )
        }
        Event::Message(text) => format!("{text}\n"),
    }
}

fn as_json(event: &Event<'_>) -> String {
    let value = match event {
        Event::Started(id) => json!({"event": "started", "source": id}),
        Event::Finished {
            id,
            outcome,
            why,
            bytes,
            took,
        } => json!({
            "event": "finished", "source": id, "outcome": outcome, "why": why, "bytes": bytes,
            "seconds": took.as_millis() as f64 / 1000.0,
        }),
        Event::Message(text) => json!({"event": "message", "text": text}),
    };
    format!("{value}\n")
}

/// Bytes for people.
pub fn human(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn json_events_are_one_object_a_line() {
        let sink = Shared::default();
        let progress = Progress::with_sink(Form::Json, 1, Box::new(sink.clone()));
        progress.event(&Event::Started("journal"));
        progress.event(&Event::Finished {
            id: "journal",
            outcome: "failed",
            why: Some("no \"journal\""),
            bytes: 0,
            took: Duration::from_millis(1500),
        });
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        assert_eq!(lines[1]["why"], "no \"journal\"");
        assert_eq!(lines[1]["seconds"], 1.5);
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(human(512), "512 B");
        assert_eq!(human(1536), "1.5 KiB");
        assert_eq!(human(512 << 20), "512.0 MiB");
    }
}
