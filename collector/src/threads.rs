//! The threads of a run. A cgroup may allow a handful of processes only (`pids.max`), and then threads fail to start
//! half-way; so it is counted first, those that are needed are started at once, and they stay.

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
/// The kernel counts an ended thread for a moment longer.
const SETTLE: Duration = Duration::from_millis(20);

/// The runtime, with as many threads as there is room for; a sentence where that is too little.
pub(crate) fn runtime() -> Result<Runtime, String> {
    let room = room();
    if room < NEEDED {
        return Err(format!(
            "cannot start: there is room for {room} more threads, and {NEEDED} are needed (pids.max of the cgroup, or ulimit -u)"
        ));
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

/// How many threads can be started, up to what is wanted.
fn room() -> usize {
    let (done, wait) = mpsc::channel::<()>();
    let wait = Arc::new(std::sync::Mutex::new(wait));
    let mut started = Vec::new();
    while started.len() < WANTED {
        let wait = Arc::clone(&wait);
        // It ends when the sender is gone.
        let work = move || drop(wait.lock().map(|wait| wait.recv()));
        match thread::Builder::new().stack_size(64 << 10).spawn(work) {
            Ok(thread) => started.push(thread),
            Err(_) => break,
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
    count
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

    #[test]
    fn a_runtime_has_its_threads_from_the_start() {
        let runtime = runtime().unwrap();
        let one = runtime.spawn_blocking(|| 1);
        assert_eq!(runtime.block_on(one).unwrap(), 1);
    }
}
