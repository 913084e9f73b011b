//! Progress for a person who waits: how long it has taken, on standard error, only where somebody watches.

use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::report::size_in_words;

/// Nothing is shown of what is done sooner.
const PATIENCE: Duration = Duration::from_millis(800);
const PAUSE: Duration = Duration::from_millis(500);

/// A line that is renewed until this is dropped, and then taken away.
pub(crate) struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to show that the input is being read.
    pub(crate) fn start(input: &Path) -> Self {
        let size = std::fs::metadata(input)
            .ok()
            .filter(|about| about.is_file());
        let size = size.map(|about| format!(" ({} packed)", size_in_words(about.len())));
        let name = input.display().to_string();
        let shown: String = name.chars().filter(|c| !c.is_control()).collect();
        let what = format!("reading {shown}{}", size.unwrap_or_default());
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            let mut wait = PATIENCE;
            let mut errors = std::io::stderr();
            let mut drawn = false;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = PAUSE;
                drawn = true;
                // Somebody who closed the terminal misses nothing.
                let _ = write!(errors, "\r\u{1b}[K{what}, {} s", start.elapsed().as_secs());
                let _ = errors.flush();
            }
            if drawn {
                let _ = write!(errors, "\r\u{1b}[K");
            }
        });
        Progress {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that draws a line cannot have anything to tell.
            let _ = thread.join();
        }
    }
}
