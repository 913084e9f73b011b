//! How containerd joins the files of one configuration; it differs between 1.x and 2.x.

use std::collections::btree_map::Entry;

use super::config::{Dropped, EffectiveConfig, ListItem};
use super::problem::ConfigProblem;
use super::value::{FileLine, Node, Section, Setting, dotted};

/// One file, taken apart the way containerd's `Config` struct does.
#[derive(Clone, Debug)]
pub struct FileConfig {
    /// The schema version; 0 where the file states none.
    pub schema: i64,
    /// Where it states it.
    pub schema_place: Option<FileLine>,
    /// `disabled_plugins`.
    pub disabled: Vec<ListItem>,
    /// `required_plugins`.
    pub required: Vec<ListItem>,
    /// `imports`, as written.
    pub imports: Vec<ListItem>,
    /// All other top-level keys.
    pub top: Section,
    /// `plugins`.
    pub plugins: Section,
}

impl FileConfig {
    /// Takes a parsed file apart.
    #[must_use]
    pub fn from_section(mut file: Section) -> Self {
        let version = file.setting(&["version"]);
        let schema = version
            .and_then(|setting| setting.value.as_int())
            .unwrap_or(0);
        let schema_place = version.map(|setting| setting.place.clone());
        let plugins = match file.entries.remove("plugins") {
            Some(Node::Table(section)) => section,
            _ => Section::new(file.place.clone()),
        };
        Self {
            schema,
            schema_place,
            disabled: items(file.entries.remove("disabled_plugins")),
            required: items(file.entries.remove("required_plugins")),
            imports: items(file.entries.remove("imports")),
            top: file,
            plugins,
        }
    }
}

fn items(node: Option<Node>) -> Vec<ListItem> {
    let Some(Node::Leaf(setting)) = node else {
        return Vec::new();
    };
    let lines = setting
        .item_lines
        .iter()
        .copied()
        .chain(std::iter::repeat(setting.place.line));
    let values = setting.value.strings().into_iter().zip(lines);
    values
        .map(|(value, line)| ListItem {
            value,
            place: FileLine {
                line,
                ..setting.place.clone()
            },
        })
        .collect()
}

/// Tables of the top level whose entries replace each other as a whole.
const BY_KEY: [&str; 3] = ["proxy_plugins", "stream_processors", "timeouts"];

/// 1.x: lists are appended, plugin sections replace each other as a whole.
pub fn merge_v1(to: &mut EffectiveConfig, from: FileConfig) {
    if from.schema != 0 {
        to.schema = from.schema;
    }
    to.disabled_plugins.extend(from.disabled);
    to.required_plugins.extend(from.required);
    to.imports.extend(from.imports);
    merge_top(&mut to.top, from.top);
    for (name, node) in from.plugins.entries {
        let older = to.plugins.entries.remove(&name);
        let node = match (older, node) {
            (Some(Node::Table(older)), Node::Table(mut newer)) => {
                let lost = replace_section(&name, older.clone(), &mut newer, &mut to.dropped);
                if lost > 0 {
                    let (place, replaced) = (newer.place.clone(), older.place);
                    to.problems.push(ConfigProblem::SectionReplaced {
                        section: name.clone(),
                        place,
                        replaced,
                        lost,
                    });
                }
                Node::Table(newer)
            }
            (_, node) => node,
        };
        to.plugins.entries.insert(name, node);
    }
}

/// Keeps the history of settings that both sections have, and lists those that only the older one had.
fn replace_section(
    name: &str,
    older: Section,
    newer: &mut Section,
    dropped: &mut Vec<Dropped>,
) -> usize {
    let mut lost = 0;
    let by = newer.place.clone();
    let mut pending = vec![(vec![], older)];
    while let Some((path, section)) = pending.pop() {
        for (key, node) in section.entries {
            let mut path: Vec<String> = path.clone();
            path.push(key);
            match node {
                Node::Table(inner) => pending.push((path, inner)),
                Node::Leaf(setting) => match leaf_mut(newer, &path) {
                    Some(winner) => winner.supersede(setting),
                    None => {
                        lost += 1;
                        let key = path
                            .iter()
                            .fold(dotted("plugins", name), |name, key| dotted(&name, key));
                        let why = "containerd 1.x replaces the whole plugin section by that of the later file";
                        dropped.push(Dropped {
                            key,
                            setting,
                            by: by.clone(),
                            why,
                        });
                    }
                },
            }
        }
    }
    dropped.sort_by(|a, b| (&a.key, &a.setting.place).cmp(&(&b.key, &b.setting.place)));
    lost
}

fn leaf_mut<'a>(section: &'a mut Section, path: &[String]) -> Option<&'a mut Setting> {
    let (last, front) = path.split_last()?;
    let mut at = section;
    for key in front {
        match at.entries.get_mut(key)? {
            Node::Table(inner) => at = inner,
            Node::Leaf(_) => return None,
        }
    }
    match at.entries.get_mut(last)? {
        Node::Leaf(setting) => Some(setting),
        Node::Table(_) => None,
    }
}

/// 2.x: lists take new items only, plugin tables are merged key by key at every depth.
pub fn merge_v2(to: &mut EffectiveConfig, from: FileConfig) {
    if from.schema != 0 {
        to.schema = from.schema;
    }
    add_new(&mut to.disabled_plugins, from.disabled);
    add_new(&mut to.required_plugins, from.required);
    add_new(&mut to.imports, from.imports);
    merge_top(&mut to.top, from.top);
    merge_deep(&mut to.plugins, from.plugins);
}

fn add_new(to: &mut Vec<ListItem>, from: Vec<ListItem>) {
    for item in from {
        if !to.iter().any(|known| known.value == item.value) {
            to.push(item);
        }
    }
}

/// Struct fields: a later value wins unless it is Go's zero value.
fn merge_top(to: &mut Section, from: Section) {
    for (key, node) in from.entries {
        match node {
            Node::Leaf(setting) => put(to, key, setting, true),
            Node::Table(section) => {
                let by_key = BY_KEY.contains(&key.as_str());
                let place = section.place.clone();
                let slot = to
                    .entries
                    .entry(key)
                    .or_insert_with(|| Node::Table(Section::new(place)));
                let Node::Table(known) = slot else { continue };
                for (key, node) in section.entries {
                    match node {
                        Node::Leaf(setting) => put(known, key, setting, !by_key),
                        Node::Table(inner) => {
                            known.entries.insert(key, Node::Table(inner));
                        }
                    }
                }
            }
        }
    }
}

/// Maps: a later value wins even when it is empty; tables are joined; a value and a table replace each other.
fn merge_deep(to: &mut Section, from: Section) {
    for (key, node) in from.entries {
        match node {
            Node::Leaf(setting) => put(to, key, setting, false),
            Node::Table(newer) => match to.entries.entry(key) {
                Entry::Occupied(mut slot) => match slot.get_mut() {
                    Node::Table(known) => merge_deep(known, newer),
                    Node::Leaf(_) => {
                        slot.insert(Node::Table(newer));
                    }
                },
                Entry::Vacant(slot) => {
                    slot.insert(Node::Table(newer));
                }
            },
        }
    }
}

fn put(to: &mut Section, key: String, mut setting: Setting, keep_if_zero: bool) {
    match to.entries.entry(key) {
        Entry::Occupied(mut slot) => {
            if keep_if_zero && setting.value.is_zero() {
                return;
            }
            if let Node::Leaf(older) = slot.get() {
                setting.supersede(older.clone());
            }
            slot.insert(Node::Leaf(setting));
        }
        Entry::Vacant(slot) => {
            slot.insert(Node::Leaf(setting));
        }
    }
}
