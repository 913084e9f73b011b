//! The file log: every host file that was copied, noted or looked for in vain, for `files.json`, so that a reader can
//! tell "absent" from "not looked at".

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

use crate::host::Stat;

/// One line of `files.json`.
#[derive(Debug, Clone, Serialize)]
struct FileNote {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Octal, as `ls` users know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// `copied`, `truncated`, `noted`, `listed` (a folder whose files were all taken), `absent`, `denied`, `not-a-file`, `unreadable`, `link`.
    outcome: String,
}

/// Shared by all sources of a run.
#[derive(Clone, Default)]
pub struct FileLog {
    notes: Arc<Mutex<BTreeMap<String, FileNote>>>,
}

impl FileLog {
    /// Records what became of a path; a later record of the same path that knows more wins.
    pub fn record(&self, path: &str, outcome: &str, stat: Option<Stat>, link: Option<String>) {
        let note = FileNote {
            path: path.to_owned(),
            size: stat.map(|s| s.size),
            mode: stat.map(|s| format!("{:o}", s.mode)),
            uid: stat.map(|s| s.uid),
            gid: stat.map(|s| s.gid),
            mtime: stat
                .and_then(|s| DateTime::from_timestamp(s.mtime, 0))
                .map(|time| time.to_rfc3339_opts(SecondsFormat::Secs, true)),
            link,
            outcome: outcome.to_owned(),
        };
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if outcome == "noted" && notes.contains_key(path) {
            return;
        }
        notes.insert(note.path.clone(), note);
    }

    /// What was recorded of a path.
    pub fn outcome(&self, path: &str) -> Option<String> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.get(path).map(|note| note.outcome.clone())
    }

    /// `files.json`: valid JSON with one file a line.
    pub fn to_json(&self) -> String {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        json_lines("files", notes.values())
    }
}

/// `{"<name>":[\n{..},\n{..}\n]}\n`: valid JSON whose items are one line each.
pub fn json_lines<T: Serialize>(name: &str, items: impl IntoIterator<Item = T>) -> String {
    let mut text = format!("{{\"{name}\":[");
    let mut separator = "\n";
    for item in items {
        let line = serde_json::to_string(&item).unwrap_or_else(|_| "null".to_owned());
        // Writing to a String cannot fail.
        let _ = write!(text, "{separator}{line}");
        separator = ",\n";
    }
    text.push_str("\n]}\n");
    text
}
