//! Entries of a capture as they are read, each by its role.

use casefile_bundle::Piece;
use casefile_serve::{LogFile, NodeFile};
use serde_json::Value;

use super::lists::{self, Lists};
use super::roles::{self, Role};
use super::{Filler, SPLIT_LIMIT};

/// An entry that is being read.
pub(super) struct Open {
    role: Role,
    lists: Lists,
    text: Vec<u8>,
}

impl Open {
    pub(super) fn new(role: Role) -> Self {
        Self {
            role,
            lists: Lists::default(),
            text: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, piece: &Piece<'_>, filler: &mut Filler) {
        let entry = piece.entry.path.as_str();
        if let Role::Objects { path, yaml: false } = &self.role {
            let hint = roles::resource(path);
            self.lists.take(piece.bytes, hint, &mut |raw, hint| {
                filler.object(entry, raw, hint)
            });
            if piece.last {
                let taken = std::mem::take(&mut self.lists)
                    .end(hint, &mut |raw, hint| filler.object(entry, raw, hint));
                filler.list(path, taken);
            }
            return;
        }
        if self.text.len() < SPLIT_LIMIT {
            self.text.extend_from_slice(piece.bytes);
        }
        if piece.last {
            let text = std::mem::take(&mut self.text);
            filler.whole(&self.role, entry, &String::from_utf8_lossy(&text));
        }
    }
}

impl Filler {
    /// An entry that is read as a whole.
    fn whole(&mut self, role: &Role, entry: &str, text: &str) {
        match role {
            Role::Version => {
                let value: Value = serde_json::from_str(text).unwrap_or_default();
                let version = if value["info"].is_object() {
                    value["info"].clone()
                } else {
                    value
                };
                if version.is_object() {
                    self.builder.version(version);
                }
            }
            Role::Index => self.declared.extend(lists::declared(text)),
            Role::Helm(namespace, release, file) => {
                let files = self
                    .helm
                    .entry((namespace.clone(), release.clone()))
                    .or_default();
                files.add(file, text);
            }
            Role::Objects { path, .. } => {
                let taken = lists::yaml(text, roles::resource(path), &mut |raw, hint| {
                    self.object(entry, raw, hint);
                });
                self.list(path, taken);
            }
            Role::Split(capture, split) => {
                for part in split(capture, entry, text) {
                    self.part(entry, &part.path, part.text);
                }
            }
            Role::Loose => {
                let all = lists::loose(text, &mut |raw, hint| self.object(entry, raw, hint));
                all.into_iter().for_each(|taken| self.list(entry, taken));
            }
            Role::Log(_) | Role::NodeFile(..) | Role::Nothing => {}
        }
    }

    /// A stretch of a text that is an entry of ours. Its text is held, since nothing of the capture is at a place of its own.
    fn part(&mut self, entry: &str, path: &str, text: String) {
        let name = format!("{entry}#{path}");
        match roles::of_ours(path) {
            Role::Log(log) => {
                self.log(LogFile {
                    entry: name.clone(),
                    ..log
                });
                self.held.insert(name, text);
            }
            Role::NodeFile(node, path) => {
                self.builder.node_file(
                    &node,
                    NodeFile {
                        path,
                        entry: name.clone(),
                    },
                );
                self.held.insert(name, text);
            }
            Role::Objects { path, .. } => {
                let hint = roles::resource(&path);
                let mut lists = Lists::default();
                lists.take(text.as_bytes(), hint, &mut |raw, hint| {
                    self.object(entry, raw, hint)
                });
                let taken = lists.end(hint, &mut |raw, hint| self.object(entry, raw, hint));
                self.list(&path, taken);
            }
            role => self.whole(&role, entry, &text),
        }
    }
}
