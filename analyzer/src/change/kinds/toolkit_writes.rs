//! What the NVIDIA container toolkit does on the node once its values have changed, so that a replay can
//! go on from there: the operator hands the variables to its container, which defines the runtime in the
//! configuration that they name and has that containerd reload.
//!
//! Written from nvidia-container-toolkit `pkg/config/engine/containerd` and `cmd/nvidia-ctk-installer`:
//! up to 1.17 the root file is edited; from 1.18 a drop-in is written and the root file imports its folder.

use std::collections::BTreeSet;

use casefile_bundle::Entry;
use serde_json::Value;

use super::toml_text::merge_toml;
use super::{containerd_import, containerd_runtime, edit_list, entry};
use crate::change::captured::Captured;
use crate::change::{Applied, Refused};
use crate::containerd::toolkit::DEFAULT_DROP_IN;

const DEFAULT_CONFIG: &str = "/etc/containerd/config.toml";

/// Follows a change of the GPU Operator's `toolkit` section; others have no consequence that is known.
pub(super) fn follow(
    state: &mut Captured,
    namespace: &str,
    all: &Value,
    delta: &Value,
    applied: &mut Applied,
) -> Result<(), Refused> {
    if delta.get("toolkit").is_none() {
        return Ok(());
    }
    let mut toolkit = Toolkit::of(all, None);
    // What runs is another release than the values say where the operator has not followed them yet; a change of the
    // version itself is followed.
    let is_set = delta.pointer("/toolkit/version").is_some();
    if let Some(running) = running(state, namespace).filter(|_| !is_set) {
        if running != toolkit.version {
            applied.assumes.push(format!(
                "the toolkit's pod runs release {running} after the change as well; the values name {}",
                toolkit.version
            ));
        }
        toolkit = Toolkit::of(all, Some(running));
    }
    let restarted = hand_over(state, namespace, &toolkit)?;
    let (restarted, on) = restarted;
    let mut nodes = state.nodes();
    if nodes.iter().any(|node| on.contains(node)) {
        nodes.retain(|node| on.contains(node));
    }
    if nodes.is_empty() {
        applied.assumes.push(
            "what the toolkit would write was not replayed: the bundle holds files of no node"
                .into(),
        );
        return Ok(());
    }
    for node in &nodes {
        write(state, node, &toolkit, applied)?;
    }
    applied.assumes.extend(toolkit.drop_in.as_ref().map(|_| {
        "the toolkit takes the other settings from that file; where another containerd program is first on the node's path, set RUNTIME_CONFIG_SOURCE=file as well".to_owned()
    }));
    let (nodes, file) = (nodes.join(" and "), toolkit.written());
    applied.assumes.push(format!(
        "the toolkit's pod restarts on {nodes}, writes its runtime {} into {file} as release {} does, and the containerd behind that file reloads",
        toolkit.class, toolkit.version
    ));
    if let Some(action) = applied.actions.last_mut() {
        let pods = match restarted.as_slice() {
            [] => "The toolkit's pod on each GPU node is replaced and reloads".to_owned(),
            [one] => format!("Pod {one} is replaced and reloads"),
            several => format!("Pods {} are replaced and reload", several.join(", ")),
        };
        action.interrupts = format!(
            "{pods} containerd: running containers continue, new ones wait for a few seconds."
        );
        action.expect = format!("On {nodes}, {file} defines the runtime {}.", toolkit.class);
    }
    Ok(())
}

/// What the toolkit's pod on one node writes.
fn write(
    state: &mut Captured,
    node: &str,
    toolkit: &Toolkit,
    applied: &mut Applied,
) -> Result<(), Refused> {
    let root = entry(node, &toolkit.config);
    let before = state.now(&root).unwrap_or_default();
    let runtime = containerd_runtime::tables(&before, &toolkit.class, Some(&toolkit.binary), false);
    if let Some(drop_in) = &toolkit.drop_in {
        let folder = drop_in.rsplit_once('/').map_or("", |(folder, _)| folder);
        let imports = containerd_import::line(&before, &format!("{folder}/*.toml"));
        state.set(&root, merge_toml(&root, &before, &imports)?);
        let path = entry(node, drop_in);
        let text = merge_toml(&path, &copied_section(&before), &runtime)?;
        state.set(&path, text);
        applied.changed.push(path);
    } else {
        state.set(&root, merge_toml(&root, &before, &runtime)?);
    }
    applied.changed.push(root);
    Ok(())
}

/// What the values tell the toolkit.
struct Toolkit {
    env: Vec<(String, String)>,
    config: String,
    drop_in: Option<String>,
    class: String,
    binary: String,
    version: String,
}

impl Toolkit {
    /// The file that gets the runtime.
    fn written(&self) -> &str {
        self.drop_in.as_deref().unwrap_or(&self.config)
    }

    fn of(all: &Value, running: Option<String>) -> Self {
        let section = &all["toolkit"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let env: Vec<(String, String)> = section["env"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| Some((text(&one["name"])?, text(&one["value"])?)))
            .collect();
        let set = |names: &[&str]| {
            names.iter().find_map(|name| {
                let found = env
                    .iter()
                    .find(|(known, value)| known == name && !value.is_empty());
                found.map(|(_, value)| value.clone())
            })
        };
        let version = running
            .or_else(|| text(&section["version"]))
            .unwrap_or_default();
        let install = text(&section["installDir"]).unwrap_or_else(|| "/usr/local/nvidia".into());
        let by_default = writes_drop_in(&version).then(|| DEFAULT_DROP_IN.to_owned());
        Self {
            config: set(&["CONTAINERD_CONFIG", "RUNTIME_CONFIG"])
                .unwrap_or_else(|| DEFAULT_CONFIG.into()),
            // Older releases do not know the variable.
            drop_in: set(&["RUNTIME_DROP_IN_CONFIG"])
                .filter(|_| version.is_empty() || writes_drop_in(&version))
                .or(by_default),
            class: set(&["CONTAINERD_RUNTIME_CLASS", "NVIDIA_RUNTIME_NAME"])
                .unwrap_or_else(|| "nvidia".into()),
            binary: format!("{install}/toolkit/nvidia-container-runtime"),
            version,
            env,
        }
    }
}

/// The root's CRI section, which the drop-in repeats: containerd 1.x lets a section of an import replace
/// the whole section (nvidia-container-toolkit pull request 1311). Containerd 2 merges, and gets none.
pub(super) fn copied_section(root: &str) -> String {
    const SECTION: &str = "io.containerd.grpc.v1.cri";
    let document: toml::Table = toml::from_str(root).unwrap_or_default();
    let section = document
        .get("plugins")
        .and_then(|plugins| plugins.get(SECTION));
    let Some(section) = section.cloned() else {
        return String::new();
    };
    let plugins = toml::Table::from_iter([(SECTION.to_owned(), section)]);
    let copy = toml::Table::from_iter([("plugins".to_owned(), plugins.into())]);
    toml::to_string(&copy).unwrap_or_default()
}

fn writes_drop_in(version: &str) -> bool {
    let mut parts = version.trim_start_matches('v').split('.');
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
    matches!((number(), number()), (Some(major), Some(minor)) if (major, minor) >= (1, 18))
}

/// The release of the toolkit that runs, by the tag of its image: `container-toolkit:v1.17.5-ubuntu20.04`.
fn running(state: &mut Captured, namespace: &str) -> Option<String> {
    let list = state.now(&format!("cluster-resources/pods/{namespace}.json"))?;
    let list: Value = serde_json::from_str(&list).ok()?;
    let pods = list["items"].as_array()?.iter();
    let containers = pods.filter_map(|pod| pod["spec"]["containers"].as_array());
    let images = containers
        .flatten()
        .filter_map(|container| container["image"].as_str());
    let tags = images.filter_map(|image| {
        let name = image.rsplit('/').next()?;
        name.strip_prefix("container-toolkit:")
    });
    let releases = tags.filter_map(|tag| tag.split('-').next());
    releases
        .filter(|release| release.trim_start_matches('v').contains('.'))
        .map(str::to_owned)
        .next()
}

/// The operator sets the variables on the toolkit's daemonset, which replaces these pods, on these nodes.
fn hand_over(
    state: &mut Captured,
    namespace: &str,
    toolkit: &Toolkit,
) -> Result<(Vec<String>, BTreeSet<String>), Refused> {
    let (mut pods, mut nodes) = (Vec::new(), BTreeSet::new());
    for kind in ["daemonsets", "pods"] {
        let path = Entry::ListIn(kind, namespace).path();
        if state.now(&path).is_none() {
            continue;
        }
        edit_list(state, &path, |items| {
            for item in items {
                let name = item.pointer("/metadata/name").and_then(Value::as_str);
                if !name.is_some_and(|name| name.contains("container-toolkit")) {
                    continue;
                }
                if kind == "pods" {
                    pods.extend(name.map(|name| format!("{namespace}/{name}")));
                    let on = item.pointer("/spec/nodeName").and_then(Value::as_str);
                    nodes.extend(on.map(str::to_owned));
                }
                let spec = if kind == "pods" {
                    "/spec"
                } else {
                    "/spec/template/spec"
                };
                let containers = item.pointer_mut(&format!("{spec}/containers"));
                for container in containers
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                {
                    set_variables(container, &toolkit.env);
                }
            }
            Ok(())
        })?;
    }
    Ok((pods, nodes))
}

fn set_variables(container: &mut Value, env: &[(String, String)]) {
    let mut all = container["env"].as_array().cloned().unwrap_or_default();
    all.retain(|one| {
        !env.iter()
            .any(|(name, _)| one["name"].as_str() == Some(name))
    });
    all.extend(
        env.iter()
            .map(|(name, value)| serde_json::json!({"name": name, "value": value})),
    );
    container["env"] = Value::Array(all);
}
