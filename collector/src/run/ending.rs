//! How a run ends: what it knows of its sources by then, and who may end it early.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use casefile_bundle::{ManifestEnd, Outcome as ManifestOutcome, SourceReport};
use chrono::Utc;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::output::LeftOut;
use crate::progress::{Event, Progress, human};

/// What the end of the run needs to know, shared with the writer.
#[derive(Default)]
pub(super) struct Ending {
    pub(super) reports: Mutex<Vec<SourceReport>>,
    interrupted: Mutex<Option<String>>,
}

impl Ending {
    pub(super) fn interrupt(&self, why: &str) {
        let mut slot = self
            .interrupted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert_with(|| why.to_owned());
    }

    pub(super) fn interrupted(&self) -> Option<String> {
        self.interrupted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The end of the manifest, with the entries that the disk had no room for.
    pub(super) fn end(&self, left_out: &[LeftOut]) -> ManifestEnd {
        self.left_out(left_out);
        ManifestEnd {
            finished: Utc::now(),
            interrupted: self.interrupted(),
            sources: self.reports(),
        }
    }

    /// Entries that the disk had no room for are missing parts of their sources.
    fn left_out(&self, left_out: &[LeftOut]) {
        if left_out.is_empty() {
            return;
        }
        self.interrupt(&format!(
            "the disk of the output is full: {} files left out",
            left_out.len()
        ));
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        for report in reports.iter_mut() {
            let mut missing = 0;
            for one in left_out.iter().filter(|one| one.source == report.id) {
                missing += 1;
                let (path, size) = (&one.path, human(one.bytes));
                report
                    .notes
                    .push(format!("{path}: left out, no room on the disk ({size})"));
            }
            if missing > 0 && report.outcome == ManifestOutcome::Collected {
                report.outcome = ManifestOutcome::Partial;
                report.why = Some(format!(
                    "{missing} files left out: the disk of the output is full"
                ));
            }
        }
    }

    pub(super) fn reports(&self) -> Vec<SourceReport> {
        let mut reports = self
            .reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        reports.sort_by(|a, b| a.id.cmp(&b.id));
        reports
    }
}

/// Ends the run early: at its deadline or when the user says so. Told a second time it goes at once, and the bundle
/// stays unfinished. A lost terminal (SIGHUP) ends nothing: the node may not be reached a second time.
pub(super) async fn watch(
    limit: Duration,
    stop: CancellationToken,
    over: CancellationToken,
    ending: Arc<Ending>,
    progress: Arc<Progress>,
) {
    let (Ok(mut interrupt), Ok(mut terminate), Ok(_hangup)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
    ) else {
        return;
    };
    let why = tokio::select! {
        _ = interrupt.recv() => Some("interrupted (SIGINT)".to_owned()),
        _ = terminate.recv() => Some("interrupted (SIGTERM)".to_owned()),
        () = tokio::time::sleep(limit) => Some(format!("the time limit of the run was reached ({} s)", limit.as_secs())),
        () = over.cancelled() => None,
    };
    if let Some(why) = why {
        ending.interrupt(&why);
        progress.event(&Event::Message(&format!(
            "{why}: finishing the bundle with what is there (Ctrl-C ends at once and leaves a .partial file)"
        )));
        stop.cancel();
    }
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    leave(130);
}

/// Ends the process where it stands. What is on the disk is a readable `.partial` file.
#[expect(
    clippy::exit,
    reason = "asked for a second time, and threads may hang in a dead file system"
)]
fn leave(code: i32) -> ! {
    crate::exec::kill_all();
    std::process::exit(code)
}
