//! The map from pseudonyms back to what they stand for: beside the bundle, for the site alone, never inside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};

use super::{Anonymizer, Class, PSEUDONYM_DIGITS};

const SCHEMA: &str = "casefile.map/1";

/// Why a map cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// It is there already: another bundle's map would be lost.
    #[error("{path} exists already: a map belongs to one bundle, name another with --map FILE")]
    Exists {
        /// The file.
        path: String,
    },
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It belongs to another bundle.
    #[error(
        "{path} is the map of another run ({bundle}): it knows none of the {count} pseudonyms in {report}; name the map that lies beside the report's own bundle"
    )]
    OtherRun {
        /// The file.
        path: String,
        /// The bundle that it belongs to.
        bundle: String,
        /// Names in the report that have the form of a pseudonym.
        count: usize,
        /// The report.
        report: String,
    },
    /// It is something else.
    #[error("{path} is no map of pseudonyms: {why}")]
    NoMap {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Map {
    schema: String,
    bundle: String,
    pseudonyms: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    class: String,
    real: String,
}

/// A map that is to be written; created before anything is collected and removed again when there is no bundle.
pub struct MapFile {
    path: PathBuf,
    file: File,
    done: bool,
}

impl MapFile {
    /// Creates the file, readable for its owner alone. Refuses one that exists.
    pub fn create(path: &Path) -> Result<Self, MapError> {
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path);
        let name = path.display().to_string();
        match opened {
            Ok(file) => Ok(Self {
                path: path.to_owned(),
                file,
                done: false,
            }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(MapError::Exists { path: name })
            }
            Err(source) => Err(MapError::Io { path: name, source }),
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what was used.
    pub fn write(mut self, anonymizer: &Anonymizer, bundle: &str) -> Result<(), MapError> {
        let pseudonyms = anonymizer
            .pairs()
            .into_iter()
            .map(|(pseudonym, (class, real))| {
                let class = class.word().to_owned();
                (pseudonym, Entry { class, real })
            });
        let map = Map {
            schema: SCHEMA.to_owned(),
            bundle: bundle.to_owned(),
            pseudonyms: pseudonyms.collect(),
        };
        let mut text = serde_json::to_vec_pretty(&map).unwrap_or_default();
        text.push(b'\n');
        let written = self
            .file
            .write_all(&text)
            .and_then(|()| self.file.sync_all());
        written.map_err(|source| MapError::Io {
            path: self.path.display().to_string(),
            source,
        })?;
        self.done = true;
        Ok(())
    }
}

impl Drop for MapFile {
    fn drop(&mut self) {
        if !self.done {
            // Nothing was written that anybody could miss.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Map {
    /// Whether a name of this form is one of this run, alone or within a longer one.
    fn knows(&self, name: &str) -> bool {
        let range = name.to_owned()..;
        let next = self.pseudonyms.range(range).next();
        next.is_some_and(|(known, _)| known.starts_with(name))
    }
}

/// The names in a report that have the form of a pseudonym: `host-1a2b3c4d`.
fn formed_as_pseudonyms(text: &[u8]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for class in Class::ALL {
        let begin = format!("{}-", class.prefix());
        for at in memchr::memmem::find_iter(text, &begin) {
            let digits = &text[at + begin.len()..];
            let length = digits.iter().take_while(|b| b.is_ascii_hexdigit()).count();
            let joined = at > 0 && text[at - 1].is_ascii_alphanumeric();
            if length == PSEUDONYM_DIGITS && !joined {
                let name = &text[at..at + begin.len() + length];
                all.insert(String::from_utf8_lossy(name).into_owned());
            }
        }
    }
    all
}

/// A report with the names of the site put back.
pub fn reveal(map: &Path, report: &Path) -> Result<Vec<u8>, MapError> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|source| MapError::Io {
            path: path.display().to_string(),
            source,
        })
    };
    let no_map = |why: String| MapError::NoMap {
        path: map.display().to_string(),
        why,
    };
    let parsed: Map =
        serde_json::from_slice(&read(map)?).map_err(|error| no_map(error.to_string()))?;
    if parsed.schema != SCHEMA {
        return Err(no_map(format!(
            "its schema is {:?}, not {SCHEMA:?}",
            parsed.schema
        )));
    }
    let text = read(report)?;
    let pseudonyms = formed_as_pseudonyms(&text);
    if !pseudonyms.is_empty() && !pseudonyms.iter().any(|name| parsed.knows(name)) {
        return Err(MapError::OtherRun {
            path: map.display().to_string(),
            bundle: parsed.bundle,
            count: pseudonyms.len(),
            report: report.display().to_string(),
        });
    }
    let names: Vec<&String> = parsed.pseudonyms.keys().collect();
    let search = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(&names)
        .map_err(|error| no_map(error.to_string()))?;
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    for found in search.find_iter(&text) {
        let name = names[found.pattern().as_usize()];
        let Some(entry) = parsed.pseudonyms.get(name) else {
            continue;
        };
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let before = found.start().checked_sub(1).and_then(|at| text.get(at));
        if digit(before) || digit(text.get(found.end())) {
            continue;
        }
        out.extend_from_slice(&text[copied..found.start()]);
        out.extend_from_slice(entry.real.as_bytes());
        copied = found.end();
    }
    out.extend_from_slice(&text[copied..]);
    Ok(out)
}

impl Class {
    /// All classes, for help texts.
    pub const ALL: [Self; 6] = [
        Self::Hosts,
        Self::Ips,
        Self::Macs,
        Self::Users,
        Self::Namespaces,
        Self::Images,
    ];
}
