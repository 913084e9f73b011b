//! Recorded answers of a real API server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use casefile_serve::{Builder, Declared, Hint, Store};
use chrono::{DateTime, Utc};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(crate) struct Recorded {
    pub(crate) time: String,
    pub(crate) path: String,
    pub(crate) accept: String,
    #[serde(default)]
    pub(crate) method: Option<String>,
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) body: Option<String>,
    #[serde(default)]
    pub(crate) request_headers: Option<Value>,
}

pub(crate) fn folder() -> Option<PathBuf> {
    let above = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings");
    let folder = std::env::var_os("CASEFILE_RECORDINGS")
        .map_or(above, PathBuf::from)
        .join("tables");
    if folder.is_dir() {
        return Some(folder);
    }
    skip(&format!("no recordings in {}", folder.display()));
    None
}

pub(crate) fn read(path: &Path) -> Vec<Recorded> {
    let file = std::fs::File::open(path).unwrap();
    let text = std::io::read_to_string(MultiGzDecoder::new(file)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn kind_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = [folder.to_owned(), folder.join("all-versions")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("kinds-")
        })
        .collect();
    files.sort();
    files
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(rename = "apiVersion")]
    api_version: String,
    kind: String,
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
    metadata: Value,
}

/// Whether an answer is a whole list as JSON, from which the store is filled.
pub(crate) fn is_source(one: &Recorded) -> bool {
    let path = &one.path;
    one.accept == "application/json"
        && one.status == 200
        && !path.contains('?')
        && !path.contains("/namespaces/")
        && one.request_headers.is_none()
        && one
            .body
            .as_ref()
            .is_some_and(|body| body.contains("\"items\":["))
}

pub(crate) fn fill(builder: &mut Builder, path: &str, body: &str) {
    let list: List<'_> = serde_json::from_str(body).unwrap();
    let kind = list.kind.trim_end_matches("List").to_owned();
    let hint = Hint {
        api_version: Some(&list.api_version),
        kind: Some(&kind),
        resource: None,
    };
    if let Some(revision) = list.metadata["resourceVersion"].as_str() {
        builder.revision(revision.parse().unwrap());
    }
    builder.declare(Declared {
        resource: path.rsplit('/').next().unwrap().to_owned(),
        api_version: list.api_version.clone(),
        kind: kind.clone(),
        namespaced: !list
            .items
            .iter()
            .any(|item| !item.get().contains("\"namespace\":")),
        whole: true,
        why: None,
    });
    for item in list.items {
        builder.add(item.get().as_bytes(), hint).unwrap();
    }
}

/// Everything that the recordings list, in one store.
pub(crate) fn store(folder: &Path, now: DateTime<Utc>) -> Arc<Store> {
    let mut builder = Builder::new("the recorded cluster");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("kinds-") {
            for one in read(&file).iter().filter(|one| is_source(one)) {
                fill(&mut builder, &one.path, one.body.as_ref().unwrap());
            }
        }
    }
    builder.version(serde_json::json!({"major": "1", "minor": "36", "gitVersion": "v1.36.2", "platform": "linux/amd64"}));
    Arc::new(builder.finish(now, None))
}

/// Says on standard error why a test does nothing here, past the harness, which hides what a passing test prints.
pub(crate) fn skip(why: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}
