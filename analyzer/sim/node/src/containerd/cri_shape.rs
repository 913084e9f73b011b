//! Type errors and unread keys of the top level and the CRI plugins.

use super::config::EffectiveConfig;
use super::lost::settings_lost;
use super::migrate::{CRI_IMAGES, CRI_RUNTIME, GRPC_CRI, SERVER_KEYS};
use super::problem::ConfigProblem;
use super::release::Release;
use super::shapes::Shape::{self, Any, Bool, Each, Fields, Int, Str, StrList, Table};
use super::shapes::{CRI_1_6, CRI_1_7, IMAGES_PLUGIN, RUNTIME_PLUGIN, SERVER_PLUGIN, TOP};
use super::value::{Node, Section, Value, dotted};

/// A plugin id that is read, and the shape it is read with.
type Read = (&'static str, Shape);
/// A plugin id that is not read, and why.
type Unread = (&'static str, &'static str);

/// Type errors of one file's top level: containerd decodes it before it merges.
pub(super) fn check_top(file: &Section, release: Release) -> Vec<ConfigProblem> {
    let mut out = Findings::default();
    for (key, node) in &file.entries {
        if key == "plugins" {
            let shape = if release.is_v1() {
                Each(&Table)
            } else {
                Each(&Any)
            };
            out.check(node, shape, "plugins");
        } else if let Some((_, shape)) = TOP.iter().find(|(name, _)| name == key) {
            out.check(node, *shape, key);
        }
    }
    out.types
}

/// Type errors of the CRI tables in effect, and tables and keys that this release does not read.
pub(super) fn check_plugins(config: &EffectiveConfig) -> Vec<ConfigProblem> {
    let mut out = Findings {
        v1: config.containerd.release.is_v1(),
        ..Findings::default()
    };
    let off = |id: &str| config.disabled_plugins.iter().any(|item| item.value == id);
    let (read, unread): (Vec<Read>, Vec<Unread>) = match config.containerd.release {
        release if release.is_v1() => {
            let shape = if release == Release::V1_6 {
                CRI_1_6
            } else {
                CRI_1_7
            };
            let newer = "only containerd 2 reads this table";
            if config.schema < 2 {
                let why = "with schema version 1 the CRI plugin reads [plugins.cri] only";
                (
                    vec![("cri", shape)],
                    vec![(GRPC_CRI, why), (CRI_RUNTIME, newer), (CRI_IMAGES, newer)],
                )
            } else {
                (
                    vec![(GRPC_CRI, shape)],
                    vec![(CRI_RUNTIME, newer), (CRI_IMAGES, newer)],
                )
            }
        }
        _ => (
            vec![
                (CRI_RUNTIME, RUNTIME_PLUGIN),
                (CRI_IMAGES, IMAGES_PLUGIN),
                (GRPC_CRI, SERVER_PLUGIN),
            ],
            vec![(
                "cri",
                "only schema version 1 uses this name, and the file states a higher one",
            )],
        ),
    };
    for (id, shape) in read {
        if let Some(node) = config.plugins.entries.get(id).filter(|_| !off(id)) {
            out.check(node, shape, &dotted("plugins", id));
        }
    }
    for (id, why) in unread {
        if let Some(node) = config.plugins.entries.get(id) {
            let (table, place) = (dotted("plugins", id), node.place().clone());
            out.unknown.push(ConfigProblem::IgnoredTable {
                table,
                why: why.to_owned(),
                place,
                lost: Vec::new(),
            });
        }
    }
    name_losses(&mut out.unknown, config);
    out.types.append(&mut out.unknown);
    out.types
}

/// Says of tables under other schemas' names what is not in effect for that.
fn name_losses(unread: &mut [ConfigProblem], config: &EffectiveConfig) {
    let tables =
        |problem: &&mut ConfigProblem| matches!(problem, ConfigProblem::IgnoredTable { .. });
    let mut all = None;
    for problem in unread.iter_mut().filter(tables) {
        if let ConfigProblem::IgnoredTable { lost, .. } = problem {
            *lost = all.get_or_insert_with(|| settings_lost(config)).clone();
        }
    }
}

fn holds_anything(node: &Node) -> bool {
    match node {
        Node::Leaf(setting) => !setting.value.is_zero(),
        Node::Table(section) => section
            .settings()
            .iter()
            .any(|(_, one)| !one.value.is_zero()),
    }
}

#[derive(Default)]
struct Findings {
    v1: bool,
    types: Vec<ConfigProblem>,
    unknown: Vec<ConfigProblem>,
}

impl Findings {
    fn check(&mut self, node: &Node, shape: Shape, key: &str) {
        let expected = match (shape, node) {
            (Any, _) | (Table, Node::Table(_)) => return,
            (Fields(groups), Node::Table(section)) => {
                for (name, inner) in &section.entries {
                    match groups
                        .iter()
                        .flat_map(|keys| keys.iter())
                        .find(|(known, _)| known == name)
                    {
                        Some((_, shape)) => self.check(inner, *shape, &dotted(key, name)),
                        None => self.unknown_key(inner, key, name),
                    }
                }
                return;
            }
            (Each(shape), Node::Table(section)) => {
                for (name, inner) in &section.entries {
                    self.check(inner, *shape, &dotted(key, name));
                }
                return;
            }
            (Table | Fields(_) | Each(_), Node::Leaf(_)) => "a table",
            (Str, _) => "a string",
            (Int, _) => "an integer",
            (Bool, _) => "a boolean",
            (StrList, _) => "an array of strings",
        };
        let fits = match (shape, node.setting().map(|setting| &setting.value)) {
            (Str, Some(Value::Str(_)))
            | (Int, Some(Value::Int(_)))
            | (Bool, Some(Value::Bool(_))) => true,
            (StrList, Some(Value::List(items))) => items.iter().all(|item| item.as_str().is_some()),
            _ => false,
        };
        if !fits {
            let (found, place) = (node.type_name(), node.place().clone());
            self.types.push(ConfigProblem::WrongType {
                key: key.to_owned(),
                expected,
                found,
                place,
            });
        }
    }

    fn unknown_key(&mut self, node: &Node, key: &str, name: &str) {
        let (table, place) = (dotted(key, name), node.place().clone());
        // The same name is the small gRPC plugin of containerd 2, which has the settings of the streaming server only.
        let of_older_schema =
            key == dotted("plugins", GRPC_CRI) && !SERVER_KEYS.contains(&name) && !self.v1;
        self.unknown.push(if of_older_schema {
            ConfigProblem::IgnoredTable {
                table,
                why: "with schema version 3 and above the CRI plugin reads io.containerd.cri.v1.runtime and \
                      io.containerd.cri.v1.images instead of this table"
                    .to_owned(),
                place,
                lost: Vec::new(),
            }
        } else {
            ConfigProblem::UnknownKey {
                key: table,
                place,
                set: holds_anything(node),
            }
        });
    }
}
