//! A capture as the cluster that it was taken of: its objects for an API server, its logs where the capture has them.

mod archive;
mod chart;
mod entries;
mod helm;
mod lists;
mod roles;
mod walk;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use casefile_bundle::{EntryInfo, Input, Keys, Limits, OpenError, Piece, Summary};
use casefile_serve::{Builder, Declared, Hint, LogFile, NodeFile, Store};
use chrono::{DateTime, Utc};
use serde_json::Value;

pub(crate) use archive::Archive;
pub use chart::{Chart, Column};
use entries::Open;
use lists::Taken;
use roles::Role;
pub use walk::{Said, walk, walk_chosen};

use crate::join::Unit;
use crate::layouts::{Plan, Survey};

/// Texts that are taken apart are held up to this size; the same bound as the scan has.
const SPLIT_LIMIT: usize = 64 << 20;
/// Notes about objects that were left out.
const MOST_NOTES: usize = 20;

/// Why something is missing that may have stood behind the end of a cut archive.
const CUT_SHORT: &str = "the bundle is cut short";

/// What a capture holds of a cluster.
pub struct Recording {
    /// Its objects.
    pub store: Arc<Store>,
    /// What could not be read, for the person who starts it.
    pub notes: Vec<String>,
}

/// Reads the captures of one cluster. Ages are as of `now`, else of the end of collection.
pub fn read(
    unit: &Unit,
    keys: Option<&Keys>,
    now: Option<DateTime<Utc>>,
) -> Result<Recording, OpenError> {
    let inputs: Vec<PathBuf> = match unit {
        Unit::Alone(input) => vec![input.clone()],
        Unit::Joined(members) => members.iter().map(|one| one.input.clone()).collect(),
    };
    let mut filler = Filler::new(unit.name());
    let mut archive = Archive::new(&inputs, keys);
    let mut summaries = Vec::new();
    for (member, input) in inputs.iter().enumerate() {
        summaries.push(filler.member(Input::new(input, keys), member)?);
    }
    archive.hold(std::mem::take(&mut filler.held));
    Ok(filler.finish(&summaries, now, archive))
}

/// Fills a store from the entries of captures.
struct Filler {
    title: String,
    builder: Builder,
    /// Kinds that captures tell of.
    declared: Vec<Declared>,
    /// Lists that end before their end, and kinds of which only some namespaces were taken.
    cut: Vec<Declared>,
    namespaces: BTreeSet<String>,
    covered: BTreeSet<String>,
    of_namespaces: BTreeSet<(String, String, String)>,
    secrets: Vec<Value>,
    helm: BTreeMap<(String, String), helm::Files>,
    held: BTreeMap<String, String>,
    latest: Option<DateTime<Utc>>,
    formats: BTreeSet<String>,
    notes: Vec<String>,
    left_out: usize,
}

impl Filler {
    fn new(title: String) -> Self {
        Self {
            builder: Builder::new(title.clone()),
            title,
            declared: Vec::new(),
            cut: Vec::new(),
            namespaces: BTreeSet::new(),
            covered: BTreeSet::new(),
            of_namespaces: BTreeSet::new(),
            secrets: Vec::new(),
            helm: BTreeMap::new(),
            held: BTreeMap::new(),
            latest: None,
            formats: BTreeSet::new(),
            notes: Vec::new(),
            left_out: 0,
        }
    }

    fn member(&mut self, input: Input<'_>, member: usize) -> Result<Summary, OpenError> {
        let mut survey = Survey::of(input)?;
        let plan = survey.as_mut().map(Plan::of).unwrap_or_default();
        self.formats
            .extend(plan.captures.iter().map(|one| one.title.to_owned()));
        // Both callbacks need it, never at the same time.
        let filler = RefCell::new(self);
        let mut open: Option<Open> = None;
        let role_of = |path: &str| roles::role(&plan, survey.is_none(), path);
        let mut wanted = |entry: &EntryInfo| {
            let path = entry.path.as_str();
            let role = role_of(path);
            let entry = Archive::name(member, path);
            match role {
                Role::Log(log) => filler.borrow_mut().log(LogFile { entry, ..log }),
                Role::NodeFile(node, path) => {
                    filler
                        .borrow_mut()
                        .builder
                        .node_file(&node, NodeFile { path, entry });
                }
                Role::Nothing => {}
                _ => return true,
            }
            false
        };
        let mut each = |piece: &Piece<'_>| {
            if piece.seq == 0 {
                open = Some(Open::new(role_of(piece.entry.path.as_str())));
            }
            if let Some(open) = &mut open {
                open.take(piece, &mut filler.borrow_mut());
            }
            ControlFlow::Continue(())
        };
        casefile_bundle::read_chosen(input, &Limits::default(), &mut wanted, &mut each)
    }

    fn log(&mut self, log: LogFile) {
        self.covered.insert(log.namespace.clone());
        self.builder.log(log);
    }

    /// An object of a list.
    fn object(&mut self, path: &str, raw: &[u8], hint: Hint<'_>) {
        if hint.resource == Some("secrets-index") {
            self.secrets.extend(serde_json::from_slice::<Value>(raw));
            return;
        }
        if let Err(why) = self.builder.add(raw, hint) {
            self.left_out += 1;
            if self.notes.len() < MOST_NOTES {
                self.notes
                    .push(format!("{path}: an object {why}; it is left out"));
            }
            return;
        }
        let newest = lists::newest(raw);
        self.latest = self.latest.max(newest);
        if hint.resource == Some("namespaces") {
            self.namespaces.extend(lists::name(raw));
        }
    }

    /// A list that was read: what it was of, and whether it was whole.
    fn list(&mut self, path: &str, taken: Taken) {
        if taken.cut {
            self.notes.push(format!(
                "{path} ends before the end of its list; objects may be missing"
            ));
        }
        let Some((api_version, kind)) = taken.of else {
            return;
        };
        let resource = roles::resource(path).unwrap_or_default();
        if let Some(namespace) = roles::namespace(path) {
            self.covered.insert(namespace.to_owned());
            if !taken.cut {
                self.builder.listed(&api_version, &kind, namespace);
            }
            self.of_namespaces
                .insert((resource.to_owned(), api_version.clone(), kind.clone()));
        }
        if taken.cut {
            self.cut.push(Declared {
                resource: resource.to_owned(),
                api_version,
                kind,
                namespaced: roles::namespace(path).is_some(),
                whole: false,
                why: Some("its list ends before its end".to_owned()),
            });
        } else if taken.items == 0 {
            self.declared.push(Declared {
                resource: resource.to_owned(),
                api_version,
                kind,
                namespaced: roles::namespace(path).is_some(),
                whole: true,
                why: None,
            });
        }
    }

    fn finish(
        mut self,
        summaries: &[Summary],
        now: Option<DateTime<Utc>>,
        archive: Archive,
    ) -> Recording {
        for ((namespace, release), files) in std::mem::take(&mut self.helm) {
            for secret in files.secrets(&namespace, &release) {
                self.add_secret(&secret);
            }
        }
        for secret in std::mem::take(&mut self.secrets) {
            self.add_secret(&helm::of_index(&secret));
        }
        if summaries.iter().any(|one| one.cut_short) {
            self.lost_rest();
        } else {
            self.missing_namespaces();
        }
        for declared in std::mem::take(&mut self.declared)
            .into_iter()
            .chain(std::mem::take(&mut self.cut))
        {
            self.builder.declare(declared);
        }
        self.builder.missing(missing(summaries));
        let taken = summaries.iter().filter_map(finished).max().or(self.latest);
        self.builder.title(self.described(summaries, taken));
        if self.left_out > MOST_NOTES {
            self.notes
                .push(format!("{} objects were left out in all", self.left_out));
        }
        let now = now.or(taken).unwrap_or(DateTime::UNIX_EPOCH);
        let store = self.builder.finish(now, Some(Arc::new(archive)));
        Recording {
            store: Arc::new(store),
            notes: self.notes,
        }
    }

    fn add_secret(&mut self, secret: &Value) {
        let hint = Hint {
            api_version: Some("v1"),
            kind: Some("Secret"),
            resource: Some("secrets"),
        };
        // One that has no name names nothing that could be asked for.
        let _ = self.builder.add(secret.to_string().as_bytes(), hint);
    }

    /// Where the cluster has namespaces of which nothing was taken, lists of all namespaces are not whole.
    fn missing_namespaces(&mut self) {
        let told = !self.declared.iter().all(|one| one.whole);
        let absent: Vec<&str> = self
            .namespaces
            .difference(&self.covered)
            .map(String::as_str)
            .collect();
        if told
            || absent.is_empty()
            || self.declared.iter().any(|one| one.why.is_some())
            || self.has_index()
        {
            return;
        }
        let named: Vec<&str> = absent.iter().take(5).copied().collect();
        let more = absent.len().saturating_sub(named.len());
        let more = if more == 0 {
            String::new()
        } else {
            format!(" and {more} more")
        };
        let why = format!(
            "nothing of namespace {}{more} was collected",
            named.join(", ")
        );
        for (resource, api_version, kind) in std::mem::take(&mut self.of_namespaces) {
            self.cut.push(Declared {
                resource,
                api_version,
                kind,
                namespaced: true,
                whole: false,
                why: Some(why.clone()),
            });
        }
    }

    /// Behind the cut of an archive there may have been lists of any namespace.
    fn lost_rest(&mut self) {
        let lost = |one: Declared| Declared {
            whole: false,
            why: Some(CUT_SHORT.to_owned()),
            ..one
        };
        let of_lists = std::mem::take(&mut self.of_namespaces);
        let of_lists = of_lists.into_iter().map(|(resource, api_version, kind)| {
            lost(Declared {
                resource,
                api_version,
                kind,
                namespaced: true,
                whole: false,
                why: None,
            })
        });
        self.cut.extend(of_lists);
        let told = std::mem::take(&mut self.declared);
        let told = told
            .into_iter()
            .map(|one| match one.namespaced && one.whole {
                true => lost(one),
                false => one,
            });
        self.declared = told.collect();
    }

    /// Whether the capture itself says which kinds it holds.
    fn has_index(&self) -> bool {
        self.declared.iter().filter(|one| one.whole).count() > 20 && self.formats.is_empty()
    }

    fn described(&self, summaries: &[Summary], taken: Option<DateTime<Utc>>) -> String {
        let nodes: Vec<&str> = summaries
            .iter()
            .filter_map(|one| Some(one.header.as_ref()?.node.as_str()))
            .collect();
        let of = if nodes.is_empty() {
            let formats: Vec<&str> = self.formats.iter().map(String::as_str).collect();
            let by = if formats.is_empty() {
                String::new()
            } else {
                format!(", {}", formats.join(", "))
            };
            format!("{}{by}", self.title)
        } else {
            format!("node {}", nodes.join(", "))
        };
        match taken {
            Some(taken) => format!("{of}, taken {}", taken.format("%Y-%m-%dT%H:%M:%SZ")),
            None => format!("{of}, taken at an unknown time"),
        }
    }
}

/// Why kinds are missing of which nothing is said.
fn missing(summaries: &[Summary]) -> String {
    let sources = summaries
        .iter()
        .filter_map(|one| one.manifest.as_ref())
        .flat_map(|manifest| &manifest.sources);
    let objects = sources.filter(|source| source.id == "cluster_objects");
    let whys: BTreeSet<&str> = objects.filter_map(|source| source.why.as_deref()).collect();
    let cut = summaries.iter().any(|one| one.cut_short);
    if !whys.is_empty() {
        whys.into_iter().collect::<Vec<_>>().join("; ")
    } else if cut {
        CUT_SHORT.to_owned()
    } else {
        "the capture does not hold this kind".to_owned()
    }
}

fn finished(summary: &Summary) -> Option<DateTime<Utc>> {
    let finished = summary.manifest.as_ref().map(|manifest| manifest.finished);
    finished.or_else(|| summary.header.as_ref().map(|header| header.started))
}
