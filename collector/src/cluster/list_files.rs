//! A list's files in the bundle: one for each namespace (or one for the whole cluster), one item a line, sorted by name.

use std::collections::BTreeSet;

use casefile_bundle::{BundlePath, Entry};

use super::listing::{Flow, Items};
use super::slim::{self, Head, Object, Way};
use crate::out::{EntryWriter, Out, OutError, Room};
use crate::redact::Content;

/// Items held back for sorting. API servers send lists sorted, so a list that is longer is sorted piece by piece.
const HOLD: usize = 1 << 20;
/// Ends a file.
const FOOT: &[u8] = b"\n]}\n";
/// Room left free below the byte limit, so that lists written at the same time can all end well.
const SPARE: usize = 64 << 10;

/// How an object becomes a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The object less these parts.
    Object(&'static [Way]),
    /// A Secret: its name, its type, the names and sizes of its keys.
    SecretIndex,
}

/// Where a list's files go and what stands at their head.
#[derive(Debug, Clone)]
pub struct Target {
    /// The name of the list: the kind's plural, below `custom-resources/` with its group.
    pub list: String,
    /// Whether there is a file for each namespace.
    pub by_namespace: bool,
    /// The list's kind: `PodList`.
    pub kind: String,
    /// The list's `apiVersion`.
    pub api_version: String,
    /// The request that it comes from.
    pub origin: String,
    /// What becomes of the objects.
    pub shape: Shape,
}

struct File {
    namespace: String,
    writer: EntryWriter,
    held: Vec<(String, Vec<u8>)>,
    held_bytes: usize,
    any: bool,
    open_line: usize,
}

/// Writes the files of one list.
pub struct ListFiles {
    out: Out,
    target: Target,
    file: Option<File>,
    done: BTreeSet<String>,
    passing: BTreeSet<String>,
    reopened: u32,
    unreadable: u64,
    full: bool,
}

impl ListFiles {
    /// Files for a target; none is opened before there is an item for it.
    pub fn new(out: Out, target: Target) -> Self {
        Self {
            out,
            target,
            file: None,
            done: BTreeSet::new(),
            passing: BTreeSet::new(),
            reopened: 0,
            unreadable: 0,
            full: false,
        }
    }

    /// The list is over. `cut` says why it is not all there. Returns what is wrong with the files, in words.
    pub async fn finish(mut self, cut: Option<&str>) -> Result<Vec<String>, OutError> {
        if !self.target.by_namespace && self.file.is_none() && cut.is_none() {
            // An empty list is a fact, and a missing file is not one.
            self.open("");
        }
        self.close(cut).await?;
        let mut notes = Vec::new();
        if self.unreadable > 0 {
            notes.push(format!(
                "{} objects left out: not valid JSON",
                self.unreadable
            ));
        }
        if self.full {
            notes.push("byte limit reached: the rest of the list is missing".to_owned());
        }
        Ok(notes)
    }

    fn open(&mut self, namespace: &str) {
        let list = self.target.list.as_str();
        let path: BundlePath = if self.target.by_namespace {
            // A server that does not sort by namespace comes back to one whose file is closed.
            let again = self.done.contains(namespace);
            self.reopened += u32::from(again);
            let more = if again {
                format!(".more-{}", self.reopened)
            } else {
                String::new()
            };
            Entry::ListIn(list, &format!("{namespace}{more}")).into()
        } else {
            Entry::List(list).into()
        };
        let origin = Some(self.target.origin.clone());
        let mut writer = self.out.entry(path, Content::JsonLines, origin);
        let head = format!(
            "{{\"kind\":{},\"apiVersion\":{},\"items\":[",
            serde_json::Value::from(self.target.kind.as_str()),
            serde_json::Value::from(self.target.api_version.as_str()),
        );
        // A write error shows again, and is handled, at the next write.
        let _ = writer.write(head.as_bytes());
        self.file = Some(File {
            namespace: namespace.to_owned(),
            writer,
            held: Vec::new(),
            held_bytes: 0,
            any: false,
            open_line: 0,
        });
    }

    async fn close(&mut self, cut: Option<&str>) -> Result<(), OutError> {
        let Some(mut file) = self.file.take() else {
            return Ok(());
        };
        self.full |= file.flush(&self.out)? == Room::Full;
        file.writer.write(FOOT)?;
        if let Some(cut) = cut {
            file.writer.truncated(cut);
        } else if self.full {
            file.writer
                .truncated("byte limit reached: later names are missing");
        }
        self.done.insert(file.namespace.clone());
        file.writer.finish().await
    }

    fn line(&self, raw: &[u8], object: &Object<'_>) -> Result<Vec<u8>, serde_json::Error> {
        match self.target.shape {
            Shape::SecretIndex => {
                for (name, value) in super::secrets::values(raw) {
                    self.out.remember(&name, &value);
                }
                super::secrets::index_line(raw)
            }
            Shape::Object(_) if object.head.is_helm() => object.slim(slim::HELM_CONFIGMAP),
            Shape::Object(ways) => object.slim(ways),
        }
    }
}

impl File {
    /// Writes what is held back, as far as there is room for whole lines.
    fn flush(&mut self, out: &Out) -> Result<Room, OutError> {
        self.held.sort();
        self.held_bytes = 0;
        for (_, line) in self.held.drain(..) {
            // The line before waits for its end, and is not counted yet.
            let needed = self.open_line + line.len() + SPARE;
            if out.room() < needed as u64 {
                return Ok(Room::Full);
            }
            let end: &[u8] = if self.any { b",\n" } else { b"\n" };
            self.writer.write(end)?;
            self.writer.write(&line)?;
            self.any = true;
            self.open_line = line.len();
        }
        Ok(Room::More)
    }
}

impl Items for ListFiles {
    async fn item(&mut self, raw: &[u8]) -> Result<Flow, OutError> {
        let read = Object::read(raw).and_then(|object| Ok((self.line(raw, &object)?, object.head)));
        let Ok((line, Head { metadata })) = read else {
            self.unreadable += 1;
            return Ok(Flow::More);
        };
        let namespace = if self.target.by_namespace {
            metadata.namespace.as_str()
        } else {
            ""
        };
        if self.passing.contains(namespace) {
            return Ok(Flow::More);
        }
        if self
            .file
            .as_ref()
            .is_none_or(|file| file.namespace != namespace)
        {
            self.close(None).await?;
            self.open(namespace);
        }
        if let Some(file) = &mut self.file {
            file.held_bytes += line.len();
            file.held.push((metadata.name, line));
            if file.held_bytes > HOLD {
                self.full |= file.flush(&self.out)? == Room::Full;
            }
        }
        Ok(if self.full { Flow::Enough } else { Flow::More })
    }

    fn restart(&mut self) {
        if let Some(file) = self.file.take() {
            file.writer.discard();
        }
        // Their files are on their way already.
        self.passing = self.done.clone();
    }
}
