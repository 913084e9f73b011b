//! Where bundles come from and results go: a folder, S3, Google Cloud Storage, Azure or a WebDAV server.
//!
//! Credentials come from the environment that the clouds' own tools use (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`,
//! `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`, instance roles, ...) and never stand in messages.

use std::fmt;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt as _};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use url::Url;

use crate::fingerprint::hex;

/// Bytes fetched at a time; a lost connection costs no more than this.
const RANGE: u64 = 8 << 20;
/// Times that a range or a write is tried again, beyond what the client does by itself.
const RETRIES: u32 = 3;

/// Why a place cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The address cannot be understood.
    #[error("{place}: {why}")]
    Address {
        /// The address without credentials.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The other side or the disk says no.
    #[error("{object} in {place}: {why}")]
    Refused {
        /// What was asked for.
        object: String,
        /// The address without credentials.
        place: String,
        /// What was answered.
        why: String,
        /// Whether it is not there.
        missing: bool,
    },
    /// The object is larger than allowed.
    #[error("{object} is larger than {limit} bytes; raise --max-size to read it")]
    TooLarge {
        /// What was asked for.
        object: String,
        /// The limit.
        limit: u64,
    },
    /// The local copy cannot be written.
    #[error("{}: {source}", path.display())]
    Local {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
}

impl StoreError {
    /// Whether the object is not there, rather than out of reach.
    pub fn is_missing(&self) -> bool {
        matches!(self, StoreError::Refused { missing: true, .. })
    }
}

/// An object as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// Path below the place.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// What changes when the content does: the entity tag, else the time of change.
    pub mark: String,
    /// When it was last changed, in microseconds since 1970.
    pub modified: i64,
}

/// A place that holds objects.
#[derive(Clone)]
pub struct Store {
    inner: Arc<dyn ObjectStore>,
    prefix: Key,
    /// The folder, where it is one of this machine.
    folder: Option<PathBuf>,
    url: Url,
    shown: String,
    runtime: Arc<Runtime>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Whether an address names object storage rather than a path of this machine.
pub fn is_remote(place: &str) -> bool {
    place.contains("://") && !place.starts_with("file://")
}

/// An address without user, password and query, which may hold a signature.
pub fn without_credentials(place: &str) -> String {
    let Ok(mut url) = Url::parse(place) else {
        return place.to_owned();
    };
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string().trim_end_matches('/').to_owned()
}

impl Store {
    /// Opens a folder or an address such as `s3://bucket/prefix`. With `create` a folder is made.
    ///
    /// # Errors
    /// [`StoreError::Address`]; whether the other side answers shows with the first request.
    pub fn open(place: &str, create: bool) -> Result<Self, StoreError> {
        let shown = without_credentials(place);
        let wrong = |why: String| StoreError::Address {
            place: shown.clone(),
            why,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        let runtime = Arc::new(runtime);
        if is_remote(place) {
            let url = Url::parse(place).map_err(|error| wrong(error.to_string()))?;
            // Variables that are no option of the client are passed over by it.
            let options = std::env::vars().map(|(name, value)| (name.to_ascii_lowercase(), value));
            let (inner, prefix) = object_store::parse_url_opts(&url, options)
                .map_err(|error| wrong(hide_queries(&error.to_string())))?;
            return Ok(Self {
                inner: Arc::from(inner),
                prefix,
                folder: None,
                url,
                shown,
                runtime,
            });
        }
        let path = place.strip_prefix("file://").unwrap_or(place);
        if create {
            std::fs::create_dir_all(path).map_err(|error| wrong(error.to_string()))?;
        }
        let folder = std::fs::canonicalize(path).map_err(|error| wrong(error.to_string()))?;
        let inner = object_store::local::LocalFileSystem::new_with_prefix(&folder)
            .map_err(|error| wrong(error.to_string()))?;
        let url = Url::from_directory_path(&folder).map_err(|()| wrong("no folder".to_owned()))?;
        Ok(Self {
            inner: Arc::new(inner),
            prefix: Key::default(),
            folder: Some(folder),
            url,
            shown,
            runtime,
        })
    }

    /// The address, without credentials.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The folder, where the place is one of this machine.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The client, for engines that read by themselves, with the address that it answers for.
    pub fn client(&self) -> (Arc<dyn ObjectStore>, &Url) {
        (Arc::clone(&self.inner), &self.url)
    }

    /// The path of an object as the client takes it.
    pub fn key(&self, path: &str) -> Key {
        let mut parts: Vec<_> = self.prefix.parts().collect();
        let own = Key::from(path);
        let own: Vec<String> = own.parts().map(|part| part.as_ref().to_owned()).collect();
        parts.extend(own.iter().map(|part| part.as_str().to_owned().into()));
        Key::from_iter(parts)
    }

    fn refused(&self, object: &str, error: &object_store::Error) -> StoreError {
        StoreError::Refused {
            object: object.to_owned(),
            place: self.shown.clone(),
            missing: matches!(error, object_store::Error::NotFound { .. }),
            why: hide_queries(&error.to_string()),
        }
    }

    /// All objects below a path, sorted.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub fn list(&self, below: &str) -> Result<Vec<Object>, StoreError> {
        let prefix = self.key(below);
        let found: Result<Vec<_>, _> = self
            .runtime
            .block_on(self.inner.list(Some(&prefix)).try_collect());
        let found = found.map_err(|error| self.refused(below, &error))?;
        let skip = self.prefix.parts().count();
        let mut objects: Vec<Object> = found
            .into_iter()
            .map(|meta| {
                let parts: Vec<String> = meta
                    .location
                    .parts()
                    .skip(skip)
                    .map(|part| part.as_ref().to_owned())
                    .collect();
                Object {
                    path: parts.join("/"),
                    bytes: meta.size,
                    modified: meta.last_modified.timestamp_micros(),
                    mark: meta
                        .e_tag
                        .unwrap_or_else(|| meta.last_modified.timestamp_micros().to_string()),
                }
            })
            .collect();
        objects.sort();
        Ok(objects)
    }

    /// A small object as a whole.
    ///
    /// # Errors
    /// [`StoreError::Refused`], also where it is not there.
    pub fn get(&self, path: &str) -> Result<Bytes, StoreError> {
        let key = self.key(path);
        let got = self
            .runtime
            .block_on(async { self.inner.get(&key).await?.bytes().await });
        got.map_err(|error| self.refused(path, &error))
    }

    /// Writes an object: it is there as a whole or not at all.
    ///
    /// # Errors
    /// [`StoreError::Refused`], after several attempts.
    pub fn put(&self, path: &str, content: Vec<u8>) -> Result<(), StoreError> {
        let key = self.key(path);
        let content = Bytes::from(content);
        self.again(path, || {
            let put = self.inner.put(&key, content.clone().into());
            match self.runtime.block_on(put) {
                // In a folder: a second run of the same shard swept the unfinished file away; see `sweep_unfinished`.
                Err(object_store::Error::NotFound { path, source }) if self.folder.is_some() => {
                    Err(object_store::Error::Generic {
                        store: "folder",
                        source: format!("{path}: {source}").into(),
                    })
                }
                put => put.map(drop),
            }
        })
    }

    /// Takes an object away; one that is not there is none the less gone.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub fn delete(&self, path: &str) -> Result<(), StoreError> {
        let key = self.key(path);
        match self.runtime.block_on(self.inner.delete(&key)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.refused(path, &error)),
        }
    }

    /// Takes away what a killed process left of an object that it was writing, where the place is a folder: there the
    /// client writes `NAME#NUMBER` and renames it. Storage of other kinds shows nothing unfinished. `ours` is asked
    /// about the path that the object would have had.
    ///
    /// # Errors
    /// [`StoreError::Local`].
    pub fn sweep_unfinished(
        &self,
        below: &str,
        ours: impl Fn(&str) -> bool,
    ) -> Result<(), StoreError> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        for entry in walkdir::WalkDir::new(folder.join(below)).sort_by_file_name() {
            // One that is gone by now has been renamed by the process that writes it.
            let Ok(entry) = entry else { continue };
            let path = entry.path().strip_prefix(folder).ok();
            let unfinished = path.and_then(Path::to_str).and_then(finished_name);
            if !entry.file_type().is_file() || !unfinished.is_some_and(&ours) {
                continue;
            }
            match std::fs::remove_file(entry.path()) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::Local {
                        path: entry.into_path(),
                        source,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Copies an object into a file, range by range, and gives the SHA-256 of what it holds.
    ///
    /// # Errors
    /// [`StoreError::Refused`] where a range cannot be had, [`StoreError::TooLarge`] beyond `limit` bytes,
    /// [`StoreError::Local`] where the file cannot be written.
    pub fn fetch(&self, object: &Object, to: &Path, limit: u64) -> Result<String, StoreError> {
        if object.bytes > limit {
            return Err(StoreError::TooLarge {
                object: object.path.clone(),
                limit,
            });
        }
        let local = |source| StoreError::Local {
            path: to.to_owned(),
            source,
        };
        let mut file = std::fs::File::create(to).map_err(local)?;
        let mut hash = Sha256::new();
        let mut at = 0;
        while at < object.bytes {
            let range = at..object.bytes.min(at + RANGE);
            let part = self.range(&object.path, range.clone())?;
            hash.update(&part);
            file.write_all(&part).map_err(local)?;
            at = range.end;
        }
        Ok(hex(&hash.finalize()))
    }

    fn range(&self, path: &str, range: Range<u64>) -> Result<Bytes, StoreError> {
        let key = self.key(path);
        self.again(path, || {
            let part = self.inner.get_range(&key, range.clone());
            self.runtime.block_on(part)
        })
    }

    fn again<T>(
        &self,
        path: &str,
        mut once: impl FnMut() -> Result<T, object_store::Error>,
    ) -> Result<T, StoreError> {
        let mut tries = 0;
        loop {
            match once() {
                Ok(done) => return Ok(done),
                Err(error) if tries < RETRIES && may_pass(&error) => {
                    std::thread::sleep(Duration::from_millis(200 << tries));
                    tries += 1;
                }
                Err(error) => return Err(self.refused(path, &error)),
            }
        }
    }
}

/// The name that an unfinished file of [`object_store::local::LocalFileSystem`] was to get; none for a finished one.
fn finished_name(path: &str) -> Option<&str> {
    let (name, number) = path.rsplit_once('#')?;
    let counted = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    counted.then_some(name)
}

/// Whether another attempt may end otherwise: not where something is not there or not allowed.
fn may_pass(error: &object_store::Error) -> bool {
    !matches!(
        error,
        object_store::Error::NotFound { .. }
            | object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. }
            | object_store::Error::NotSupported { .. }
            | object_store::Error::InvalidPath { .. }
    )
}

/// Takes the queries of addresses out of a message: signed addresses carry their signature there.
fn hide_queries(text: &str) -> String {
    let mut out = String::new();
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            out.push(' ');
        }
        match (word.contains("://"), word.find('?')) {
            (true, Some(at)) => {
                out.push_str(&word[..at]);
                out.push_str("?...");
            }
            _ => out.push_str(word),
        }
    }
    out
}

/// SHA-256 of a file's bytes, and how many there are.
///
/// # Errors
/// What the system says.
pub fn digest(path: &Path) -> std::io::Result<(String, u64)> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let got = std::io::Read::read(&mut file, &mut buffer)?;
        if got == 0 {
            return Ok((hex(&hash.finalize()), bytes));
        }
        hash.update(&buffer[..got]);
        bytes += got as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_an_address_are_not_shown() {
        let user = ["ad", "min"].concat();
        let shown = without_credentials(&format!("https://{user}:{user}@host/x?X-Amz-Signature=1"));
        assert_eq!(shown, "https://host/x");
        let said = hide_queries("GET https://host/x?X-Amz-Signature=abc failed");
        assert_eq!(said, "GET https://host/x?... failed");
    }

    #[test]
    fn an_object_is_written_listed_read_and_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_str().unwrap(), false).unwrap();
        store.put("a/b.json", b"1".to_vec()).unwrap();
        let found = store.list("a").unwrap();
        assert_eq!(found[0].path, "a/b.json");
        assert_eq!(&store.get("a/b.json").unwrap()[..], b"1");
        let copy = folder.path().join("copy");
        let digest_of_copy = store.fetch(&found[0], &copy, 10).unwrap();
        assert_eq!(digest(&copy).unwrap().0, digest_of_copy);
        assert!(matches!(
            store.fetch(&found[0], &copy, 0),
            Err(StoreError::TooLarge { .. })
        ));
        store.delete("a/b.json").unwrap();
        store.delete("a/b.json").unwrap();
        assert!(store.get("a/b.json").unwrap_err().is_missing());
    }
}
