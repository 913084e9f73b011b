//! A child's process group: what is signalled when its time is up, so that no grandchild stays behind.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;
use tokio::time::timeout;

/// Leaders of the groups that run.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<i32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every group that runs: for a process that ends at once, without a word to its tasks.
pub(crate) fn kill_all() {
    for leader in running().iter().filter_map(|leader| Pid::from_raw(*leader)) {
        // Gone already is as good.
        let _ = kill_process_group(leader, Signal::KILL);
    }
}

/// The group of a child that has not been waited for; killed when dropped before that.
pub(crate) struct Group {
    leader: Option<Pid>,
}

impl Group {
    /// The group that a child leads.
    pub(crate) fn of(child: &Child) -> Self {
        let leader = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        running().extend(leader.map(Pid::as_raw_pid));
        Self { leader }
    }

    /// The child has ended and was waited for: its number may belong to another process by now.
    pub(crate) fn done(&mut self) {
        if let Some(leader) = self.leader.take() {
            running().remove(&leader.as_raw_pid());
        }
    }

    /// The child has ended; children of its own that it left behind go too.
    pub(crate) fn finish(&mut self) {
        self.signal(Signal::KILL);
        self.done();
    }

    /// Asks the group to end, forces it, and gives up on it when even that does not help (a process in
    /// uninterruptible sleep). Says how it went.
    pub(crate) async fn end(&mut self, child: &mut Child, grace: Duration) -> &'static str {
        for (signal, how) in [(Signal::TERM, "stopped"), (Signal::KILL, "killed")] {
            self.signal(signal);
            if timeout(grace, child.wait()).await.is_ok() {
                // Grandchildren that ignored the first signal.
                self.signal(Signal::KILL);
                self.done();
                return how;
            }
        }
        self.done();
        "abandoned, because it cannot be killed"
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // Gone already is as good.
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.done();
    }
}
