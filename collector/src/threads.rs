//! The threads of a run. A cgroup may allow a handful of processes only (`pids.max`), and then threads fail to start
//! half-way; so it is counted first, those that are needed are started at once, and they stay.

use std::io;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Threads for asynchronous work, where there is room.
const WORKERS: usize = 4;
/// Threads for work that blocks, at the least: the writer has one of them for the whole run, two read files.
const BLOCKING: usize = 3;
/// Threads that read the finished bundle, at the least.
const READING: usize = 1;
/// What is needed at the least.
const NEEDED: usize = 1 + BLOCKING + READING;
/// What is wanted: the rest is for files that are read at the same time.
const WANTED: usize = WORKERS + 28;
/// An idle thread stays for the whole run: another process may have its place otherwise.
const STAY: Duration = Duration::from_secs(24 * 3600);
/// The stack of a thread that is only counted. In a static binary the storage that each thread has of its own is taken from it.
const STACK: usize = 256 << 10;
/// The kernel counts an ended thread for a moment longer.
const SETTLE: Duration = Duration::from_millis(20);

/// The runtime, with as many threads as there is room for; a sentence where that is too little.
pub(crate) fn runtime() -> Result<Runtime, String> {
    let (room, refused) = room();
    if room < NEEDED {
        return Err(too_few(room, refused));
    }
    let scarce = room < WANTED;
    let workers = if scarce { 1 } else { WORKERS };
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(workers)
        .enable_all()
        .thread_keep_alive(STAY);
    if scarce {
        // Half of what is left is for the commands that are run.
        let blocking = ((room - workers - READING) / 2).max(BLOCKING);
        builder.max_blocking_threads(blocking);
    }
    let runtime = builder
        .build()
        .map_err(|error| format!("cannot start its threads: {error}"))?;
    start_blocking(&runtime);
    Ok(runtime)
}

/// Why the program cannot start. Limits are named where the system says that there are too many (`EAGAIN`), and nowhere
/// else: another error has another reason.
fn too_few(room: usize, refused: Option<io::Error>) -> String {
    let have = format!("cannot start: {room} more threads can be started, and {NEEDED} are needed");
    match refused {
        Some(error) if error.kind() != io::ErrorKind::WouldBlock => format!("{have}: {error}"),
        _ => format!("{have} (pids.max of the cgroup, or ulimit -u)"),
    }
}

/// How many threads can be started, up to what is wanted, and what the next one was refused with.
fn room() -> (usize, Option<io::Error>) {
    let (done, wait) = mpsc::channel::<()>();
    let wait = Arc::new(std::sync::Mutex::new(wait));
    let (mut started, mut refused) = (Vec::new(), None);
    while started.len() < WANTED {
        let wait = Arc::clone(&wait);
        // It ends when the sender is gone.
        let work = move || drop(wait.lock().map(|wait| wait.recv()));
        match thread::Builder::new().stack_size(STACK).spawn(work) {
            Ok(thread) => started.push(thread),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    drop(done);
    let count = started.len();
    for thread in started {
        // Nothing in it can panic.
        let _ = thread.join();
    }
    if count < WANTED {
        thread::sleep(SETTLE);
    }
    (count, refused)
}

/// Has the blocking threads that are needed started, all at once.
fn start_blocking(runtime: &Runtime) {
    let together = Arc::new(Barrier::new(BLOCKING));
    let tasks: Vec<_> = (0..BLOCKING)
        .map(|_| {
            let together = Arc::clone(&together);
            runtime.spawn_blocking(move || together.wait().is_leader())
        })
        .collect();
    for task in tasks {
        // They wait for one another and end.
        let _ = runtime.block_on(task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each thread has of its own, by the program header of this test, which links what the collector links.
    #[test]
    fn a_thread_has_little_storage_of_its_own() {
        const TLS: u32 = 7;
        let file = std::fs::read("/proc/self/exe").unwrap();
        let number = |at: usize, length: usize| {
            let bytes = file[at..at + length].iter().rev();
            bytes.fold(0usize, |number, byte| number << 8 | usize::from(*byte))
        };
        // The fields of an ELF file of 64 bits, little-endian: e_phoff, e_phentsize, e_phnum; p_type, p_memsz.
        let headers = (0..number(0x38, 2)).map(|one| number(0x20, 8) + one * number(0x36, 2));
        let own: Vec<usize> = headers
            .filter(|at| number(*at, 4) == TLS as usize)
            .map(|at| number(at + 0x28, 8))
            .collect();
        assert!(own.iter().all(|bytes| *bytes < STACK / 16), "{own:?}");
        assert_eq!(own.len(), 1);
    }

    #[test]
    fn limits_are_blamed_only_where_the_system_says_that_there_are_too_many() {
        let again = io::Error::from(io::ErrorKind::WouldBlock);
        assert!(too_few(3, Some(again)).contains("3 more threads"));
        let other = too_few(0, Some(io::Error::from(io::ErrorKind::InvalidInput)));
        assert!(
            !other.contains("pids.max") && other.contains("invalid"),
            "{other}"
        );
    }

    #[test]
    fn a_runtime_has_its_threads_from_the_start() {
        let runtime = runtime().unwrap();
        let one = runtime.spawn_blocking(|| 1);
        assert_eq!(runtime.block_on(one).unwrap(), 1);
    }
}
