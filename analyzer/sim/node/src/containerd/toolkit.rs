//! What the NVIDIA container toolkit was told to configure, and whether that is the kubelet's containerd.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Answer;
use super::config::{DEFAULT_CONFIG, EffectiveConfig};
use super::handlers::cri_view;
use super::instances::{DEFAULT_SOCKET, Instance};
use super::kubelet::KubeletUse;
use super::paths::{self, SegmentPattern};
use super::toolkit_env::Words;
pub use super::toolkit_env::{DEFAULT_DROP_IN, EnvVar, Target, ToolkitInput};
use super::value::FileLine;

/// What the toolkit configures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolkitTarget {
    /// The root config file; none where only a path inside the container is known.
    pub config: Option<Target>,
    /// The drop-in it writes; none for releases that edit the root file.
    pub drop_in: Option<Target>,
    /// The socket it signals or asks.
    pub socket: Option<Target>,
    /// The handler it defines.
    pub runtime_class: String,
    /// Whether it makes its handler the default; none where the release's default applies.
    pub set_as_default: Option<bool>,
    /// The instance whose configuration it changes.
    pub instance: Option<String>,
    /// Whether config or drop-in belong to the kubelet's instance.
    pub config_matches: Answer,
    /// Whether the socket is the kubelet's.
    pub socket_matches: Answer,
    /// Both: the toolkit configures the containerd that the kubelet uses.
    pub matches_kubelet: Answer,
    /// Whether the kubelet's containerd imports the drop-in; `Unknown` where there is none.
    pub drop_in_imported: Answer,
    /// The steps of reasoning, as sentences.
    pub why: Vec<String>,
}

/// A handler for NVIDIA in a containerd that is not the kubelet's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrayHandler {
    /// The instance.
    pub instance: String,
    /// The handler.
    pub handler: String,
    /// Where it is defined.
    pub place: Option<FileLine>,
}

/// Works out the toolkit's target and compares it with the kubelet's instance.
///
/// `configs` holds the effective configuration of each instance by its id.
#[must_use]
pub fn toolkit_target(
    input: &ToolkitInput,
    instances: &[Instance],
    kubelet: &KubeletUse,
    configs: &BTreeMap<String, EffectiveConfig>,
) -> ToolkitTarget {
    let words = Words::new(input);
    let config = words.target(
        &["CONTAINERD_CONFIG", "RUNTIME_CONFIG"],
        "config",
        Some(DEFAULT_CONFIG),
    );
    let socket = words.target(
        &["CONTAINERD_SOCKET", "RUNTIME_SOCKET"],
        "socket",
        Some(DEFAULT_SOCKET),
    );
    let drop_in = words.drop_in(input.version.as_deref());
    let class = ["CONTAINERD_RUNTIME_CLASS", "NVIDIA_RUNTIME_NAME"];
    let default = ["NVIDIA_RUNTIME_SET_AS_DEFAULT", "CONTAINERD_SET_AS_DEFAULT"];
    let mut target = ToolkitTarget {
        runtime_class: words
            .env(&class)
            .map_or_else(|| "nvidia".to_owned(), |var| var.value.clone()),
        set_as_default: words.env(&default).and_then(|var| truth(&var.value)),
        instance: None,
        config_matches: Answer::Unknown,
        socket_matches: Answer::Unknown,
        matches_kubelet: Answer::Unknown,
        drop_in_imported: Answer::Unknown,
        why: [&config, &socket]
            .into_iter()
            .flatten()
            .map(sentence)
            .collect(),
        config,
        drop_in,
        socket,
    };
    target.why.extend(target.drop_in.as_ref().map(sentence));
    target.instance = target
        .config
        .as_ref()
        .and_then(|config| owner(&config.path, instances, configs))
        .map(str::to_owned);
    compare(&mut target, instances, kubelet, configs);
    target
}

fn sentence(target: &Target) -> String {
    let Target {
        path,
        set,
        variable,
        ..
    } = target;
    if *set {
        format!("{variable} is {path}")
    } else {
        format!("{variable} is not set, so the default {path} applies")
    }
}

fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "t" | "true" => Some(true),
        "0" | "f" | "false" => Some(false),
        _ => None,
    }
}

/// The instance that reads a file: as its root, as an import, or as the template of its root.
fn owner<'a>(
    path: &str,
    instances: &'a [Instance],
    configs: &BTreeMap<String, EffectiveConfig>,
) -> Option<&'a str> {
    let reads = |instance: &&Instance| {
        let root = paths::same_run(&paths::clean(&instance.config_path));
        root == paths::same_run(path)
            || is_template_of(path, &root)
            || configs
                .get(&instance.id)
                .is_some_and(|config| imports(config, path) == Answer::Yes)
    };
    instances
        .iter()
        .filter(reads)
        .max_by_key(|instance| instance.running())
        .map(|instance| instance.id.as_str())
}

/// K3s and RKE2 write `config.toml` anew from `config.toml.tmpl` or `config-v3.toml.tmpl` beside it.
fn is_template_of(path: &str, root: &str) -> bool {
    path.ends_with(".tmpl") && paths::dir(path) == paths::dir(root) && !root.ends_with(".tmpl")
}

/// Whether a configuration reads a file, or would once it exists.
#[must_use]
pub fn imports(config: &EffectiveConfig, path: &str) -> Answer {
    if config
        .files
        .iter()
        .any(|file| paths::clean(&file.host_path) == path)
    {
        return Answer::Yes;
    }
    let covers = |pattern: &str, at: &str| {
        let pattern = if pattern.starts_with('/') {
            paths::clean(pattern)
        } else {
            paths::join(&paths::dir(at), pattern)
        };
        let (segments, parts): (Vec<&str>, Vec<&str>) =
            (pattern.split('/').collect(), path.split('/').collect());
        let fits = |(segment, part): (&&str, &&str)| {
            SegmentPattern::new(segment).is_some_and(|segment| segment.matches(part))
        };
        segments.len() == parts.len() && segments.iter().zip(&parts).all(fits)
    };
    if config
        .imports
        .iter()
        .any(|item| covers(&item.value, &item.place.host_path))
    {
        return Answer::Yes;
    }
    if config.uncertain() {
        Answer::Unknown
    } else {
        Answer::No
    }
}

fn compare(
    target: &mut ToolkitTarget,
    instances: &[Instance],
    kubelet: &KubeletUse,
    configs: &BTreeMap<String, EffectiveConfig>,
) {
    let Some(used) = kubelet
        .instance()
        .and_then(|id| instances.iter().find(|instance| instance.id == id))
    else {
        target
            .why
            .push("which containerd the kubelet uses is not known".to_owned());
        return;
    };
    if let Some(config) = &target.config {
        let known = configs.get(&used.id);
        target.config_matches = if target.instance.as_deref() == Some(used.id.as_str()) {
            Answer::Yes
        } else if known.is_some_and(EffectiveConfig::uncertain) && target.instance.is_none() {
            Answer::Unknown
        } else {
            Answer::No
        };
        let whose = target
            .instance
            .as_deref()
            .map_or("no known containerd".to_owned(), |id| {
                format!("the containerd {id}")
            });
        target.why.push(format!(
            "{} is read by {whose}; the kubelet uses {} with {}",
            config.path, used.id, used.config_path
        ));
    }
    if let Some(socket) = &target.socket {
        let same = paths::socket(&socket.path) == used.address;
        target.socket_matches = if same { Answer::Yes } else { Answer::No };
        let relation = if same { "is" } else { "is not" };
        target.why.push(format!(
            "{} {relation} the kubelet's socket {}",
            socket.path, used.address
        ));
    }
    if let (Some(drop_in), Some(config)) = (&target.drop_in, configs.get(&used.id)) {
        target.drop_in_imported = imports(config, &drop_in.path);
        // The toolkit adds the import to the root file itself: a drop-in that is imported is what counts.
        if target.drop_in_imported == Answer::Yes {
            target.config_matches = Answer::Yes;
            target.why.push(format!(
                "{} is imported by the kubelet's containerd",
                drop_in.path
            ));
        }
    }
    target.matches_kubelet = match (target.config_matches, target.socket_matches) {
        (Answer::No, _) | (_, Answer::No) => Answer::No,
        (Answer::Yes, Answer::Yes) => Answer::Yes,
        _ => Answer::Unknown,
    };
}

/// NVIDIA handlers in containerds that are not the kubelet's: what a toolkit wrote in the wrong place.
#[must_use]
pub fn stray_handlers(
    instances: &[Instance],
    kubelet: &KubeletUse,
    configs: &BTreeMap<String, EffectiveConfig>,
) -> Vec<StrayHandler> {
    let Some(used) = kubelet.instance() else {
        return Vec::new();
    };
    let others = instances.iter().filter(|instance| instance.id != used);
    let mut out = Vec::new();
    for (instance, config) in
        others.filter_map(|instance| Some((instance, configs.get(&instance.id)?)))
    {
        for handler in cri_view(config).nvidia_handlers() {
            let (instance, place) = (instance.id.clone(), handler.place.clone());
            out.push(StrayHandler {
                instance,
                handler: handler.name.clone(),
                place,
            });
        }
    }
    out
}
