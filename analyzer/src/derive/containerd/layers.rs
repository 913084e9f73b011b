//! A configuration as layers: which file set what, and what a later file took away again.

use std::collections::BTreeMap;

use super::Resolved;
use crate::containerd::handlers::{Cri, Origin};
use crate::containerd::instances::Instance;
use crate::containerd::{EffectiveConfig, FileLine, Handler, Known};
use crate::facts::{AnyFact, Fact};
use crate::model::Place;
use crate::model::state::{Layer, LayerSetting, RuntimeLayers};
use crate::shared::Shared;

/// Name of the lowest layer.
const BUILT_IN: &str = "built into containerd";

/// Settings by the host path of the file that makes them; what is built in has no path.
#[derive(Default)]
struct Sorted {
    by_file: BTreeMap<Option<String>, Vec<LayerSetting>>,
}

impl Sorted {
    fn add(&mut self, name: &str, value: String, line: Option<&FileLine>, in_effect: bool) {
        let setting = LayerSetting {
            name: name.to_owned(),
            value,
            in_effect,
            place: line.map(place),
        };
        let file = line.map(|line| line.host_path.clone());
        self.by_file.entry(file).or_default().push(setting);
    }

    /// A setting and everything that it took the place of.
    fn known<T>(&mut self, name: &str, known: &Known<T>, show: impl Fn(&T) -> String) {
        match &known.origin {
            Origin::BuiltIn => self.add(name, show(&known.value), None, true),
            Origin::File { place, overrode } => {
                for older in overrode {
                    let value = older.value.as_str().map_or_else(
                        || match older.value.as_bool() {
                            Some(set) => set.to_string(),
                            None => older.value.strings().join(", "),
                        },
                        str::to_owned,
                    );
                    self.add(name, value, Some(&older.place), false);
                }
                self.add(name, show(&known.value), Some(place), true);
            }
        }
    }

    fn handler(&mut self, handler: &Handler) {
        let name = format!("handler {}", handler.name);
        let binary = &handler.binary_name.value;
        let mut value = handler.runtime_type.value.clone();
        if !binary.is_empty() {
            value = format!("{value}, {binary}");
        }
        self.add(&name, value, handler.place.as_ref(), true);
    }
}

fn place(line: &FileLine) -> Place {
    Place {
        path: line.bundle_path.as_str().into(),
        line: (line.line > 0).then_some(line.line),
    }
}

/// The layers of an instance as a fact.
pub(super) fn fact(
    resolved: &Resolved,
    instance: &Instance,
    config: &EffectiveConfig,
    cri: &Cri,
) -> AnyFact {
    let mut sorted = Sorted::default();
    sorted.known("default runtime", &cri.default_runtime_name, Clone::clone);
    for handler in cri.handlers.values() {
        sorted.handler(handler);
    }
    sorted.known("snapshotter", &cri.snapshotter, Clone::clone);
    sorted.known("CDI", &cri.enable_cdi, |on| {
        if *on { "on" } else { "off" }.to_owned()
    });
    if let Some(runc) = cri.handlers.get(&cri.default_runtime_name.value) {
        sorted.known("SystemdCgroup", &runc.systemd_cgroup, bool::to_string);
    }
    let built_in = Layer {
        file: BUILT_IN.to_owned(),
        because: if config.built_in {
            format!("{} does not exist", config.root_path)
        } else {
            String::new()
        },
        settings: sorted.by_file.remove(&None).unwrap_or_default(),
    };
    let mut layers = vec![built_in];
    for file in &config.files {
        let because = match &file.imported_at {
            Some(line) => format!("imported by {line}"),
            None if instance.config_explicit => "named by --config".to_owned(),
            None => "the default path".to_owned(),
        };
        layers.push(Layer {
            file: file.host_path.clone(),
            because,
            settings: sorted
                .by_file
                .remove(&Some(file.host_path.clone()))
                .unwrap_or_default(),
        });
    }
    let root = config.files.first().map(|file| file.bundle_path.clone());
    Fact {
        data: RuntimeLayers {
            node: resolved.node.clone(),
            instance: instance.id.clone(),
            used_by_kubelet: resolved.used(&instance.id).to_owned(),
            complete: !config.uncertain(),
            layers,
        },
        place: Place {
            path: root.unwrap_or_default().into(),
            line: None,
        },
        text: Shared::default(),
        at: None,
    }
    .into()
}
