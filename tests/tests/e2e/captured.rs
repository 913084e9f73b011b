//! Reports of real captures, each written once for all tests that read it: a run takes seconds, and there are dozens.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use casefile_tests::bins;
use serde_json::Value;

use crate::support::run;

/// A report in the forms that tests read.
pub(crate) struct Written {
    pub(crate) json: Value,
    pub(crate) ticket: String,
    pub(crate) page: String,
}

/// What a capture is handed over as: its only file, or its folder.
pub(crate) fn input(capture: &Path) -> PathBuf {
    let inside = std::fs::read_dir(capture).unwrap();
    let inside: Vec<PathBuf> = inside.map(|entry| entry.unwrap().path()).collect();
    match inside.as_slice() {
        [only] => only.clone(),
        _ => capture.to_owned(),
    }
}

/// The report of the capture in a folder of `../shared/captures`.
pub(crate) fn report(folder: &Path) -> Arc<Written> {
    type All = BTreeMap<PathBuf, Arc<OnceLock<Arc<Written>>>>;
    static ALL: Mutex<All> = Mutex::new(BTreeMap::new());
    let one = ALL
        .lock()
        .map(|mut all| Arc::clone(all.entry(folder.to_owned()).or_default()));
    Arc::clone(one.unwrap().get_or_init(|| Arc::new(write(folder))))
}

fn write(folder: &Path) -> Written {
    let out = tempfile::tempdir().unwrap();
    let input = input(&folder.join("capture"));
    let arguments = [
        "report",
        input.to_str().unwrap(),
        "-o",
        out.path().to_str().unwrap(),
        "--format",
        "json,ticket,html",
    ];
    let ended = run(bins::ANALYZER, &arguments);
    assert_eq!(ended.code, 0, "{}: {ended:?}", folder.display());
    let read = |name: &str| std::fs::read_to_string(out.path().join(name)).unwrap();
    Written {
        json: serde_json::from_str(&read("report.json")).unwrap(),
        ticket: read("report.txt"),
        page: read("report.html"),
    }
}
