//! Loading a configuration as `LoadConfig` does: root file, imports, merge, migration, checks.

use std::collections::{BTreeSet, VecDeque};

use super::config::{EffectiveConfig, ListItem, LoadedFile, RootFile};
use super::cri_rules;
use super::cri_shape;
use super::handlers::cri_view;
use super::merge::{self, FileConfig};
use super::migrate;
use super::parse;
use super::paths;
use super::problem::ConfigProblem;
use super::release::{Containerd, Release};
use super::tree::{CapturedPath, CapturedTree};
use super::value::{FileLine, Section};

/// Files one configuration may import; real ones have a handful.
const MAX_FILES: usize = 256;
/// Bytes of one file; real ones have a few thousand.
const MAX_BYTES: usize = 4 << 20;

/// Computes the configuration in effect.
///
/// `version` is any text that states the daemon's version (`containerd://1.7.12`, the output of
/// `containerd --version`); without it the rules are chosen by the root file's schema version, which
/// [`Containerd::assumptions`] then says. Never fails: what is wrong is in [`EffectiveConfig::problems`],
/// and the rest is resolved as far as it goes.
#[must_use]
pub fn resolve(
    tree: &dyn CapturedTree,
    root: RootFile<'_>,
    version: Option<&str>,
) -> EffectiveConfig {
    let schema = match tree.read(root.path) {
        CapturedPath::Content { text, bundle_path } if text.len() <= MAX_BYTES => {
            parse::parse(&text, root.path, &bundle_path)
                .ok()
                .and_then(|file| {
                    file.setting(&["version"])
                        .and_then(|setting| setting.value.as_int())
                })
        }
        _ => None,
    };
    let containerd = Containerd::from_text(version, schema);
    let mut loader = Loader::new(tree, containerd, root.path);
    loader.load_all(root);
    loader.validate();
    loader.finish()
}

struct Loader<'a> {
    tree: &'a dyn CapturedTree,
    out: EffectiveConfig,
    pending: VecDeque<(String, Option<FileLine>)>,
    loaded: BTreeSet<String>,
    root_schema: Option<i64>,
}

impl<'a> Loader<'a> {
    fn new(tree: &'a dyn CapturedTree, containerd: Containerd, root: &str) -> Self {
        let place = FileLine {
            host_path: root.to_owned(),
            bundle_path: String::new(),
            line: 1,
        };
        let schema = match containerd.release {
            Release::V1_6 | Release::V1_7 => 1,
            Release::V2_0 => 3,
            Release::V2_3 => 4,
        };
        let out = EffectiveConfig {
            containerd,
            root_path: root.to_owned(),
            built_in: false,
            files: Vec::new(),
            schema,
            disabled_plugins: Vec::new(),
            required_plugins: Vec::new(),
            imports: Vec::new(),
            top: Section::new(place.clone()),
            plugins: Section::new(place),
            dropped: Vec::new(),
            problems: Vec::new(),
        };
        Self {
            tree,
            out,
            pending: VecDeque::new(),
            loaded: BTreeSet::new(),
            root_schema: None,
        }
    }

    /// Breadth first, as `LoadConfig` does: imports of a file are read after all files named before them.
    fn load_all(&mut self, root: RootFile<'_>) {
        self.pending.push_back((root.path.to_owned(), None));
        while let Some((path, imported_at)) = self.pending.pop_front() {
            if self.loaded.contains(&path) {
                continue;
            }
            if self.loaded.len() >= MAX_FILES {
                let why = format!("more than {MAX_FILES} files");
                self.out
                    .problems
                    .push(ConfigProblem::OverLimit { path, why });
                return;
            }
            self.loaded.insert(path.clone());
            let absent = self.tree.read(&path) == CapturedPath::Absent && !self.tree.loops(&path);
            if imported_at.is_none() && !root.explicit && absent {
                self.out.built_in = true;
                continue;
            }
            self.load(path, imported_at);
        }
    }

    fn load(&mut self, path: String, imported_at: Option<FileLine>) {
        let (bundle_path, text) = match self.tree.read(&path) {
            CapturedPath::Content { bundle_path, text } => (bundle_path, text),
            CapturedPath::Absent => {
                let problem = if self.tree.loops(&path) {
                    ConfigProblem::LinkLoop { path, imported_at }
                } else {
                    ConfigProblem::Missing { path, imported_at }
                };
                return self.out.problems.push(problem);
            }
            CapturedPath::NotCaptured => {
                return self
                    .out
                    .problems
                    .push(ConfigProblem::NotCaptured { path, imported_at });
            }
        };
        if text.len() > MAX_BYTES {
            let why = format!("larger than {MAX_BYTES} bytes");
            return self
                .out
                .problems
                .push(ConfigProblem::OverLimit { path, why });
        }
        // The parser of containerd 2 takes a byte order mark for a part of the first key.
        if text.starts_with('\u{feff}') && !self.out.containerd.release.is_v1() {
            return self.out.problems.push(ConfigProblem::NotToml {
                place: FileLine {
                    host_path: path,
                    bundle_path,
                    line: 1,
                },
                column: 1,
                message: "the file begins with a byte order mark".to_owned(),
            });
        }
        let section = match parse::parse(&text, &path, &bundle_path) {
            Ok(section) => section,
            Err(bad) => {
                let parse::Malformed {
                    place,
                    column,
                    message,
                } = bad;
                return self.out.problems.push(ConfigProblem::NotToml {
                    place,
                    column,
                    message,
                });
            }
        };
        self.out
            .problems
            .extend(cri_shape::check_top(&section, self.out.containerd.release));
        let file = FileConfig::from_section(section);
        self.out.files.push(LoadedFile {
            host_path: path.clone(),
            bundle_path,
            schema: file.schema,
            imported_at,
        });
        let imports = file.imports.clone();
        self.take(file);
        self.queue_imports(&path, imports);
    }

    /// Migrates a file as far as its release does that before merging, and merges it.
    fn take(&mut self, mut file: FileConfig) {
        let root = *self.root_schema.get_or_insert(file.schema);
        self.check_drop_in(&file, root);
        match self.out.containerd.release {
            Release::V1_6 | Release::V1_7 => merge::merge_v1(&mut self.out, file),
            Release::V2_0 => {
                if matches!(file.schema, 0 | 1) {
                    // Stepping a version 1 file up to a root version above 3 runs past the list of migrations: a panic.
                    if self.out.schema > 3 {
                        let place = file
                            .schema_place
                            .clone()
                            .unwrap_or_else(|| file.top.place.clone());
                        let version = self.out.schema;
                        self.out.problems.push(ConfigProblem::UnsupportedVersion {
                            version,
                            max: 3,
                            place,
                            assumed: self.out.containerd.version.is_none(),
                        });
                    }
                    self.out.problems.extend(migrate::rename_v1(&mut file));
                    file.schema = self.out.schema;
                }
                merge::merge_v2(&mut self.out, file);
            }
            Release::V2_3 => {
                if matches!(file.schema, 0 | 1) {
                    self.out.problems.extend(migrate::rename_v1(&mut file));
                }
                if (0..3).contains(&file.schema) {
                    migrate::split_cri(
                        &mut file.plugins,
                        &mut self.out.dropped,
                        &mut self.out.problems,
                    );
                }
                file.schema = file.schema.max(4);
                merge::merge_v2(&mut self.out, file);
            }
        }
    }

    fn check_drop_in(&mut self, file: &FileConfig, root: i64) {
        let Some(place) = file.schema_place.clone().filter(|_| file.schema > root) else {
            return;
        };
        let problem = |refused| ConfigProblem::DropInVersionHigher {
            drop_in: file.schema,
            root,
            place: place.clone(),
            refused,
        };
        match (self.out.containerd.release, self.out.containerd.version) {
            // With 1.x the higher number wins for all files, so a version 1 root file is read as version 2.
            (Release::V1_6 | Release::V1_7, _) if root <= 1 => {
                self.out.problems.push(problem(false))
            }
            (Release::V2_0, _) if root == 2 => self.out.problems.push(problem(false)),
            // Refused from the first 2.3 on; the check was taken back after 2.3.2.
            (Release::V2_3, Some((2, 3, 0..=2))) => self.out.problems.push(problem(true)),
            _ => {}
        }
    }

    fn queue_imports(&mut self, parent: &str, imports: Vec<ListItem>) {
        for import in imports {
            let relative = !import.value.starts_with('/');
            let pattern = import.value.contains('*');
            if relative && pattern && self.out.containerd.expands_from_working_directory() {
                let pattern = import.value;
                self.out.problems.push(ConfigProblem::RelativePattern {
                    pattern,
                    place: import.place,
                });
                continue;
            }
            let path = if relative {
                paths::join(&paths::dir(parent), &import.value)
            } else {
                paths::clean(&import.value)
            };
            if !pattern {
                self.pending.push_back((path, Some(import.place)));
                continue;
            }
            if !paths::pattern_ok(&path) {
                self.out.problems.push(ConfigProblem::BadPattern {
                    pattern: import.value,
                    place: import.place,
                });
                continue;
            }
            let found = self.tree.glob(&path);
            if !found.complete {
                let place = import.place.clone();
                self.out.problems.push(ConfigProblem::PatternNotCaptured {
                    pattern: path,
                    place,
                });
            }
            for path in found.paths.into_iter().take(MAX_FILES + 1) {
                self.pending.push_back((path, Some(import.place.clone())));
            }
        }
    }

    fn validate(&mut self) {
        let release = self.out.containerd.release;
        if release.is_v1() && self.out.schema < 2 {
            return;
        }
        if let Some(max) = release
            .max_schema()
            .filter(|max| self.out.schema > *max || self.out.schema < 0)
        {
            let stated = self
                .out
                .top
                .setting(&["version"])
                .map(|setting| setting.place.clone());
            let place = stated.unwrap_or_else(|| self.out.top.place.clone());
            self.out.problems.push(ConfigProblem::UnsupportedVersion {
                version: self.out.schema,
                max,
                place,
                // No release knows more than 4, so without a release that alone is certain.
                assumed: self.out.containerd.version.is_none()
                    && (0..=4).contains(&self.out.schema),
            });
        }
        let ok = |id: &str| match release {
            Release::V1_6 => id.split('.').count() >= 4,
            Release::V1_7 => id.starts_with("io.containerd.") && id.split('.').count() >= 4,
            Release::V2_0 | Release::V2_3 => id.contains('.'),
        };
        let mut bad = Vec::new();
        let lists = [
            ("disabled_plugins", &self.out.disabled_plugins),
            ("required_plugins", &self.out.required_plugins),
        ];
        for (list, items) in lists {
            for item in items.iter().filter(|item| !ok(&item.value)) {
                let (id, place) = (item.value.clone(), item.place.clone());
                bad.push(ConfigProblem::BadPluginId { list, id, place });
            }
        }
        if release.is_v1() {
            for (id, node) in self.out.plugins.entries.iter().filter(|(id, _)| !ok(id)) {
                let place = node.place().clone();
                bad.push(ConfigProblem::BadPluginId {
                    list: "plugins",
                    id: id.clone(),
                    place,
                });
            }
        }
        self.out.problems.extend(bad);
    }

    fn finish(mut self) -> EffectiveConfig {
        let out = &mut self.out;
        if out.containerd.release == Release::V2_0 && (0..3).contains(&out.schema) {
            migrate::split_cri(&mut out.plugins, &mut out.dropped, &mut out.problems);
            out.schema = 3;
        }
        let found = cri_shape::check_plugins(out);
        out.problems.extend(found);
        let found = missing_specs(self.tree, out);
        out.problems.extend(found);
        let found = cri_rules::required(out);
        out.problems.extend(found);
        self.out
    }
}

/// The CRI plugin reads every `base_runtime_spec` when it loads, and fails on one that it cannot open.
fn missing_specs(tree: &dyn CapturedTree, config: &EffectiveConfig) -> Vec<ConfigProblem> {
    let mut out = Vec::new();
    for (name, handler) in cri_view(config).handlers {
        let path = &handler.base_runtime_spec.value;
        if path.is_empty() || tree.read(path) != CapturedPath::Absent {
            continue;
        }
        let message =
            format!("base_runtime_spec {path} of runtime handler {name:?} does not exist");
        out.push(ConfigProblem::CriRejects {
            message,
            place: handler.base_runtime_spec.place().cloned(),
        });
    }
    out
}
