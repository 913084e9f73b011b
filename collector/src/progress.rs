//! Progress: what runs and what is done, on standard error, in the form its reader can use.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use casefile_bundle::sources;
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
    /// A second has gone by.
    Tick {
        /// Bytes of content taken so far, all sources together.
        bytes: u64,
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
    total: usize,
    bytes: u64,
}

/// Shows events as they come. Trouble with its output is ignored: progress is not the job.
pub struct Progress {
    form: Form,
    begun: Instant,
    limit: Duration,
    state: Mutex<State>,
}

impl Progress {
    /// Progress on standard error of a run that may take up to `limit`.
    pub fn new(mode: ProgressMode, limit: Duration) -> Self {
        let form = match mode {
            ProgressMode::Auto if std::io::stderr().is_terminal() => Form::Live,
            ProgressMode::Auto | ProgressMode::Plain => Form::Plain,
            ProgressMode::Json => Form::Json,
            ProgressMode::None => Form::Quiet,
        };
        Self::with_sink(form, limit, Box::new(std::io::stderr()))
    }

    fn with_sink(form: Form, limit: Duration, sink: Box<dyn Write + Send>) -> Self {
        Self {
            form,
            begun: Instant::now(),
            limit,
            state: Mutex::new(State {
                sink,
                running: BTreeSet::new(),
                done: 0,
                total: 0,
                bytes: 0,
            }),
        }
    }

    /// Says how many sources there will be.
    pub fn expect(&self, total: usize) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .total = total;
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
            Event::Tick { bytes } => state.bytes = *bytes,
            Event::Message(_) => {}
        }
        let left = self.limit.saturating_sub(self.begun.elapsed());
        let text = match self.form {
            Form::Quiet => return,
            Form::Json => as_json(event, left),
            Form::Plain => as_line(event),
            Form::Live => {
                // How each source ended is in the closing words, and in the manifest.
                let line = match event {
                    Event::Message(_) => as_line(event),
                    _ => String::new(),
                };
                let begun = self.begun.elapsed();
                format!("\r\x1b[K{line}{}", status(&state, begun, left, columns()))
            }
        };
        let _ = state.sink.write_all(text.as_bytes());
        let _ = state.sink.flush();
    }
}

/// A run that lasts so long says how long it may still last.
const LONG: Duration = Duration::from_secs(5);
/// Columns of a terminal that does not say how wide it is.
const COLUMNS: u16 = 80;

/// Columns of the terminal behind standard error.
fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    let columns = size.map(|size| size.ws_col).filter(|columns| *columns > 0);
    usize::from(columns.unwrap_or(COLUMNS))
}

/// `[3/10] 12.0 MiB, up to 4:10 more: firewall, journal` in one line of a terminal: what wraps cannot be wiped away.
fn status(state: &State, begun: Duration, left: Duration, columns: usize) -> String {
    if state.running.is_empty() {
        return String::new();
    }
    let name = |id: &String| {
        let about = sources::find(id);
        about.map_or_else(|| id.clone(), |about| about.name.to_owned())
    };
    let running = state
        .running
        .iter()
        .map(name)
        .collect::<Vec<_>>()
        .join(", ");
    let (minutes, seconds) = (left.as_secs() / 60, left.as_secs() % 60);
    let time = if begun < LONG {
        String::new()
    } else {
        format!(", up to {minutes}:{seconds:02} more")
    };
    let status = format!(
        "[{}/{}] {}{time}: {running}",
        state.done,
        state.total,
        human(state.bytes)
    );
    // The last column stays free: some terminals wrap when it is written to.
    status.chars().take(columns.saturating_sub(1)).collect()
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
        Event::Tick { .. } => String::new(),
        Event::Message(text) => format!("{text}\n"),
    }
}

fn as_json(event: &Event<'_>, left: Duration) -> String {
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
        Event::Tick { bytes } => json!({
            "event": "progress", "bytes": bytes, "seconds_left_at_most": left.as_secs(),
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
        let progress =
            Progress::with_sink(Form::Json, Duration::from_secs(60), Box::new(sink.clone()));
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
    fn a_terminal_shows_size_and_time_left_in_one_line_of_its_width() {
        let state = State {
            sink: Box::new(Shared::default()),
            running: [
                "journal",
                "cluster_objects",
                "cluster_pod_logs",
                "kubelet_config",
            ]
            .map(str::to_owned)
            .into(),
            done: 3,
            total: 12,
            bytes: 3 << 20,
        };
        let (short, long, left) = (Duration::from_secs(1), LONG, Duration::from_secs(3599));
        let wide = status(&state, long, left, 200);
        assert!(
            wide.starts_with("[3/12] 3.0 MiB, up to 59:59 more: objects, "),
            "{wide}"
        );
        assert!(!status(&state, short, left, 200).contains("more"));
        for columns in [20, 40, 60, 80] {
            assert!(status(&state, long, left, columns).len() < columns);
        }
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(human(512), "512 B");
        assert_eq!(human(1536), "1.5 KiB");
        assert_eq!(human(512 << 20), "512.0 MiB");
    }
}
