//! The files of an inbox.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{InboxError, output};
use crate::analysed::{Analysed, Origin};
use crate::columns;
use crate::entry::Entry;
use crate::schema::TABLES;
use crate::store::{Store, StoreError};

/// What a folder holds.
pub(super) fn children(folder: &Path) -> Result<Vec<PathBuf>, InboxError> {
    let found = fs::read_dir(folder).map_err(output(folder))?;
    Ok(found.flatten().map(|child| child.path()).collect())
}

/// The rows and the entry beside the reports that the worker wrote.
pub(super) fn write(work: &Path, analysed: &Analysed, origin: &Origin, id: &str) -> io::Result<()> {
    let rows = analysed.rows(origin);
    let folder = work.join("tables");
    fs::create_dir_all(&folder)?;
    for table in TABLES {
        if !rows.of(table).is_empty() {
            let content = columns::write(table, &rows).map_err(io::Error::other)?;
            fs::write(folder.join(format!("{}.parquet", table.name)), content)?;
        }
    }
    let entry = serde_json::to_vec_pretty(&Entry::of(analysed, origin, id))?;
    let mut file = fs::File::create(work.join("entry.json"))?;
    file.write_all(&entry)?;
    file.sync_all()
}

/// Writes a file as a whole, in the place of an older one.
///
/// # Errors
/// What the system says; the older file is then still there.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The files of all reports, by table, for SQL: paths below the folder of an inbox.
///
/// # Errors
/// [`StoreError`].
pub fn files(store: &Store) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for object in store.list("reports")? {
        let parts: Vec<&str> = object.path.split('/').collect();
        if let ["reports", _, "tables", file] = parts.as_slice()
            && let Some(table) = file.strip_suffix(".parquet")
        {
            files
                .entry(table.to_owned())
                .or_default()
                .push(object.path.clone());
        }
    }
    Ok(files)
}
