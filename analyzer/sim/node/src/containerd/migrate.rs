//! How containerd 2 brings older plugin tables to the names and shapes of its own schema.

use super::config::Dropped;
use super::merge::FileConfig;
use super::problem::ConfigProblem;
use super::value::{Node, Section, Setting, Value, dotted};

/// The CRI plugin of schema 2; in schema 3 only its streaming settings are left.
pub const GRPC_CRI: &str = "io.containerd.grpc.v1.cri";
/// The CRI runtime plugin of schema 3.
pub const CRI_RUNTIME: &str = "io.containerd.cri.v1.runtime";
/// The CRI image plugin of schema 3.
pub const CRI_IMAGES: &str = "io.containerd.cri.v1.images";

/// Settings that stay in [`GRPC_CRI`] in schema 3.
pub const SERVER_KEYS: [&str; 6] = [
    "disable_tcp_service",
    "stream_server_address",
    "stream_server_port",
    "stream_idle_timeout",
    "enable_tls_streaming",
    "x509_key_pair_streaming",
];
const IMAGE_KEYS: [&str; 6] = [
    "registry",
    "image_decryption",
    "max_concurrent_downloads",
    "image_pull_progress_timeout",
    "image_pull_with_sync_fs",
    "stats_collect_period",
];
const IMAGE_CONTAINERD_KEYS: [&str; 3] = [
    "snapshotter",
    "disable_snapshot_annotations",
    "discard_unpacked_layers",
];

/// The schema 2 name of a schema 1 plugin id.
#[must_use]
fn v1_name(id: &str) -> String {
    if id.contains('.') {
        return id.to_owned();
    }
    let kind = match id {
        "cri" => "grpc.v1",
        "cgroups" => "monitor.v1",
        "linux" => "runtime.v1",
        "scheduler" => "gc.v1",
        "bolt" => "metadata.v1",
        "task" => "runtime.v2",
        "opt" | "restart" | "tracing" => "internal.v1",
        "otlp" => "tracing.processor.v1",
        "aufs" | "btrfs" | "devmapper" | "native" | "overlayfs" | "zfs" | "windows"
        | "windows-lcow" => "snapshotter.v1",
        _ if id.ends_with("-service") => "service.v1",
        _ => "grpc.v1",
    };
    format!("io.containerd.{kind}.{id}")
}

/// Schema 1 to 2: plugin ids become URIs, in tables and lists.
///
/// Two tables that get the same name are a problem: Go's map order decides, anew at each start, which one stays.
pub fn rename_v1(file: &mut FileConfig) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    for (id, node) in std::mem::take(&mut file.plugins.entries) {
        let name = v1_name(&id);
        let place = node.place().clone();
        if let Some(other) = file.plugins.entries.insert(name.clone(), node) {
            let other = other.place().clone();
            problems.push(ConfigProblem::AmbiguousTable {
                table: name,
                place,
                other,
            });
        }
    }
    for item in file.disabled.iter_mut().chain(&mut file.required) {
        item.value = v1_name(&item.value);
    }
    problems
}

/// Schema 2 to 3: the CRI table is split into runtime, images and server settings.
pub fn split_cri(
    plugins: &mut Section,
    dropped: &mut Vec<Dropped>,
    problems: &mut Vec<ConfigProblem>,
) {
    let Some(Node::Table(source)) = plugins.entries.get(GRPC_CRI).cloned() else {
        return;
    };
    problems.extend(panics(&source));
    let runtime = take_section(plugins, CRI_RUNTIME, &source);
    let images = take_section(plugins, CRI_IMAGES, &source);
    let runtime = to_runtime(&source, runtime, dropped);
    let images = to_images(&source, images, dropped);
    let mut server = source;
    server
        .entries
        .retain(|key, _| SERVER_KEYS.contains(&key.as_str()));
    plugins
        .entries
        .insert(CRI_RUNTIME.to_owned(), Node::Table(runtime));
    plugins
        .entries
        .insert(CRI_IMAGES.to_owned(), Node::Table(images));
    plugins
        .entries
        .insert(GRPC_CRI.to_owned(), Node::Table(server));
}

fn take_section(plugins: &mut Section, id: &str, source: &Section) -> Section {
    match plugins.entries.remove(id) {
        Some(Node::Table(section)) => section,
        _ => Section::new(source.place.clone()),
    }
}

/// Values that the migration code asserts a type of: a wrong one ends containerd.
fn panics(source: &Section) -> Vec<ConfigProblem> {
    let mut out = Vec::new();
    let mut wrong = |key: String, expected: &'static str, node: &Node| {
        let (found, place) = (node.type_name(), node.place().clone());
        out.push(ConfigProblem::WrongType {
            key,
            expected,
            found,
            place,
        });
    };
    let at = dotted("plugins", GRPC_CRI);
    if let Some(node) = source.get(&["cni", "bin_dir"])
        && node
            .setting()
            .is_none_or(|setting| setting.value.as_str().is_none())
    {
        wrong(format!("{at}.cni.bin_dir"), "a string", node);
    }
    match source.get(&["containerd"]) {
        Some(node @ Node::Leaf(_)) => wrong(format!("{at}.containerd"), "a table", node),
        Some(Node::Table(containerd)) => match containerd.get(&["runtimes"]) {
            Some(node @ Node::Leaf(_)) => {
                wrong(format!("{at}.containerd.runtimes"), "a table", node)
            }
            Some(Node::Table(runtimes)) => {
                for (name, node) in runtimes
                    .entries
                    .iter()
                    .filter(|(_, node)| node.section().is_none())
                {
                    wrong(
                        dotted(&format!("{at}.containerd.runtimes"), name),
                        "a table",
                        node,
                    );
                }
            }
            None => {}
        },
        None => {}
    }
    out
}

const KEPT: &str = "the table of schema version 3 already sets this, and containerd 2 does not merge the older table into it";
const REPLACED: &str = "the migrated value of the schema version 2 table takes its place";

/// Copies what the target does not have yet.
fn copy_missing(
    from: &Section,
    to: &mut Section,
    skip: &[&str],
    name: &str,
    dropped: &mut Vec<Dropped>,
) {
    for (key, node) in from
        .entries
        .iter()
        .filter(|(key, _)| !skip.contains(&key.as_str()))
    {
        match to.entries.get(key) {
            None => {
                to.entries.insert(key.clone(), node.clone());
            }
            Some(kept) => drop_all(&dotted(name, key), node, kept.place(), KEPT, dropped),
        }
    }
}

fn drop_all(
    key: &str,
    node: &Node,
    by: &super::value::FileLine,
    why: &'static str,
    dropped: &mut Vec<Dropped>,
) {
    match node {
        Node::Leaf(setting) => {
            dropped.push(Dropped {
                key: key.to_owned(),
                setting: setting.clone(),
                by: by.clone(),
                why,
            });
        }
        Node::Table(section) => {
            for (inner, setting) in section.settings() {
                let key = format!("{key}.{inner}");
                dropped.push(Dropped {
                    key,
                    setting: setting.clone(),
                    by: by.clone(),
                    why,
                });
            }
        }
    }
}

fn to_runtime(source: &Section, mut to: Section, dropped: &mut Vec<Dropped>) -> Section {
    let name = dotted("plugins", GRPC_CRI);
    let mut moved = vec!["cni", "containerd", "sandbox_image"];
    moved.extend(IMAGE_KEYS);
    moved.extend(SERVER_KEYS);
    copy_missing(source, &mut to, &moved, &name, dropped);
    if let Some(Node::Table(cni)) = source.get(&["cni"]) {
        let mut target = inner(&mut to, "cni", cni);
        if let Some(bin_dir) = cni.setting(&["bin_dir"]) {
            // The Go code looks for a list of strings, which a decoded file never is: it always takes `bin_dir`.
            let list = Setting {
                value: Value::List(vec![bin_dir.value.clone()]),
                ..bin_dir.clone()
            };
            if let Some(Node::Leaf(old)) = target
                .entries
                .insert("bin_dirs".to_owned(), Node::Leaf(list))
            {
                drop_all(
                    &format!("{name}.cni.bin_dirs"),
                    &Node::Leaf(old),
                    &bin_dir.place,
                    REPLACED,
                    dropped,
                );
            }
        }
        copy_missing(
            cni,
            &mut target,
            &["bin_dir"],
            &format!("{name}.cni"),
            dropped,
        );
        to.entries.insert("cni".to_owned(), Node::Table(target));
    }
    if let Some(Node::Table(containerd)) = source.get(&["containerd"]) {
        let mut target = inner(&mut to, "containerd", containerd);
        copy_missing(
            containerd,
            &mut target,
            &IMAGE_CONTAINERD_KEYS,
            &format!("{name}.containerd"),
            dropped,
        );
        rename_sandbox_mode(&mut target);
        to.entries
            .insert("containerd".to_owned(), Node::Table(target));
    }
    to
}

fn inner(to: &mut Section, key: &str, like: &Section) -> Section {
    match to.entries.remove(key) {
        Some(Node::Table(section)) => section,
        _ => Section::new(like.place.clone()),
    }
}

fn rename_sandbox_mode(containerd: &mut Section) {
    let Some(Node::Table(runtimes)) = containerd.entries.get_mut("runtimes") else {
        return;
    };
    for node in runtimes.entries.values_mut() {
        if let Node::Table(runtime) = node
            && !runtime.entries.contains_key("sandboxer")
            && let Some(mode) = runtime.entries.remove("sandbox_mode")
        {
            runtime.entries.insert("sandboxer".to_owned(), mode);
        }
    }
}

fn to_images(source: &Section, mut to: Section, dropped: &mut Vec<Dropped>) -> Section {
    let name = dotted("plugins", CRI_IMAGES);
    let mut set = |to: &mut Section, key: &str, node: &Node| {
        if let Some(old) = to.entries.insert(key.to_owned(), node.clone()) {
            drop_all(
                &format!("{name}.{key}"),
                &old,
                node.place(),
                REPLACED,
                dropped,
            );
        }
    };
    if let Some(image) = source.get(&["sandbox_image"]) {
        let mut pinned = match to.entries.remove("pinned_images") {
            Some(Node::Table(section)) => section,
            _ => Section::new(image.place().clone()),
        };
        set(&mut pinned, "sandbox", image);
        to.entries
            .insert("pinned_images".to_owned(), Node::Table(pinned));
    }
    for key in IMAGE_KEYS {
        if let Some(node) = source.get(&[key]) {
            set(&mut to, key, node);
        }
    }
    // containerd looks at these only where the older table has runtimes.
    if source.get(&["containerd", "runtimes"]).is_some() {
        for key in IMAGE_CONTAINERD_KEYS {
            if let Some(node) = source.get(&["containerd", key]) {
                set(&mut to, key, node);
            }
        }
    }
    to
}
