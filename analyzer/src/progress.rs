//! Progress for a person who waits: how far the reading is and how long it will take, on standard error, only
//! where somebody watches.

use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::words;

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
            .filter(|about| about.is_file())
            .map(|about| about.len());
        let name = input.display().to_string();
        let shown: String = name.chars().filter(|c| !c.is_control()).collect();
        let file = std::fs::canonicalize(input).unwrap_or_else(|_| input.to_owned());
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
                let far = how_far(position(&file), size, start.elapsed());
                let _ = write!(errors, "\r\u{1b}[Kreading {shown}{far}");
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

/// How far a reading is, in words.
fn how_far(position: Option<u64>, size: Option<u64>, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let Some(size) = size.filter(|size| *size > 0) else {
        return format!(", {seconds} s");
    };
    let packed = words::bytes(size);
    let Some(read) = position.map(|read| read.min(size)) else {
        // What was read is judged now, or the system does not say how far the reading is.
        return format!(" ({packed} packed), {seconds} s");
    };
    let percent = read.saturating_mul(100) / size;
    // The first few hundredths say nothing about the rest.
    let left = (percent >= 5).then(|| seconds_left(elapsed, read, size));
    let left = left.map_or_else(String::new, |left| format!(", about {left} s left"));
    format!(": {percent} % of {packed}, {seconds} s{left}")
}

fn seconds_left(elapsed: Duration, read: u64, size: u64) -> u128 {
    let rest = u128::from(size.saturating_sub(read));
    (elapsed.as_millis() * rest / u128::from(read.max(1))).div_ceil(1000)
}

/// Where this process is in a file that it has open, as Linux says it; none elsewhere, and once it is closed.
fn position(file: &Path) -> Option<u64> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?.flatten();
    let mut own = open.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == file));
    let about = Path::new("/proc/self/fdinfo").join(own.next()?.file_name());
    let text = std::fs::read_to_string(about).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("pos:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn a_person_sees_how_far_it_is_and_how_long_it_will_take() {
        let after = |read| how_far(read, Some(200 << 20), Duration::from_secs(6));
        assert_eq!(
            after(Some(50 << 20)),
            ": 25 % of 200.0 MiB, 6 s, about 18 s left"
        );
        assert_eq!(after(Some(1 << 20)), ": 0 % of 200.0 MiB, 6 s");
        assert_eq!(after(None), " (200.0 MiB packed), 6 s");
        assert_eq!(how_far(None, None, Duration::from_secs(6)), ", 6 s");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_says_where_an_open_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("input");
        std::fs::write(&path, [0; 100]).unwrap();
        assert_eq!(position(&path), None);
        let mut file = std::fs::File::open(&path).unwrap();
        file.read_exact(&mut [0; 40]).unwrap();
        assert_eq!(position(&path), Some(40));
    }
}
