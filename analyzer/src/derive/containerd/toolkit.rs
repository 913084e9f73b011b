//! Which containerd the NVIDIA container toolkit was told to configure: by its container, else by the chart.

use casefile_bundle::Entry;
use serde_json::Value;

use super::{Resolved, of_evidence, word};
use crate::containerd::instances::Evidence;
use crate::containerd::toolkit::{EnvVar, ToolkitInput, toolkit_target};

use crate::derive::Known;
use crate::facts::kube::{HelmRelease, Pod, Workload};
use crate::facts::runtime::ToolkitTarget;
use crate::facts::{AnyFact, Fact};
use crate::model::Place;

/// A toolkit that was told something, and by whom.
struct Told {
    by: String,
    input: ToolkitInput,
}

/// The targets of every toolkit that may run on this node.
pub(super) fn targets(known: &Known<'_>, resolved: &Resolved) -> Vec<AnyFact> {
    let mut told: Vec<Told> = workloads(known);
    if told.is_empty() {
        told = pods(known, &resolved.node);
    }
    // The operator sets the variables on the container, so a container that has any decides; one
    // without any was told nothing, and then the chart's values say what it was meant to do.
    let decided = told.iter().any(|told| !told.input.container_env.is_empty());
    if !decided {
        let mut releases = releases(known);
        if releases.is_empty() {
            releases.extend(pasted_values(known));
        }
        if !releases.is_empty() {
            let version = told.iter().find_map(|told| told.input.version.clone());
            told = releases;
            for one in &mut told {
                one.input.version = one.input.version.take().or_else(|| version.clone());
            }
        }
    }
    told.into_iter()
        .map(|told| target(known, resolved, &told))
        .collect()
}

fn target(known: &Known<'_>, resolved: &Resolved, told: &Told) -> AnyFact {
    let found = toolkit_target(
        &told.input,
        &resolved.instances,
        &resolved.kubelet,
        &resolved.configs,
    );
    let used = resolved
        .instances
        .iter()
        .find(|one| resolved.used(&one.id) == "yes");
    let path = |target: &Option<crate::containerd::toolkit::Target>| {
        target
            .as_ref()
            .map(|target| target.path.clone())
            .unwrap_or_default()
    };
    let config = path(&found.config);
    let source = found
        .config
        .as_ref()
        .and_then(|target| target.source.clone());
    let source = source.or_else(|| told.input.source.clone());
    let set = found.config.as_ref().is_some_and(|target| target.set);
    let wrote = resolved.cris.iter().any(|(id, cri)| {
        let reads = resolved
            .configs
            .get(id)
            .is_some_and(|one| one.files.iter().any(|file| file.host_path == config));
        reads && !cri.nvidia_handlers().is_empty()
    });
    let release = operator_releases(known).next();
    let data = ToolkitTarget {
        release: release.map(|one| one.name.clone()).unwrap_or_default(),
        release_version: release.map(|one| one.version.clone()).unwrap_or_default(),
        release_namespace: release.map(|one| one.namespace.clone()).unwrap_or_default(),
        node: resolved.node.clone(),
        told: told.by.clone(),
        socket: path(&found.socket),
        origin: origin(set, told),
        instance: found.instance.clone().unwrap_or_default(),
        kubelet_instance: used.map(|one| one.id.clone()).unwrap_or_default(),
        kubelet_config: used.map(|one| one.config_path.clone()).unwrap_or_default(),
        kubelet_socket: used.map(|one| one.address.clone()).unwrap_or_default(),
        matches_kubelet: word(found.config_matches).to_owned(),
        socket_matches_kubelet: word(found.socket_matches).to_owned(),
        wrote_handler: wrote,
        config,
    };
    let (place, text) = source.map_or_else(
        || (Place::default(), String::new()),
        |line| of_evidence(known, &line),
    );
    Fact {
        data,
        place,
        text: text.into(),
        at: None,
    }
    .into()
}

fn origin(set: bool, told: &Told) -> String {
    if set {
        format!("CONTAINERD_CONFIG of {}", told.by)
    } else {
        format!(
            "the default, because CONTAINERD_CONFIG is not set by {}",
            told.by
        )
    }
}

fn workloads(known: &Known<'_>) -> Vec<Told> {
    let toolkits = known
        .facts
        .table::<Workload>()
        .iter()
        .filter(|one| one.data.component == "toolkit");
    toolkits
        .map(|one| {
            let data = &one.data;
            Told {
                by: format!("{}/{}/{}", data.kind, data.namespace, data.name),
                input: input(&data.env, &data.mounts, data.images.iter(), &one.place),
            }
        })
        .collect()
}

fn pods(known: &Known<'_>, node: &str) -> Vec<Told> {
    let toolkits = known.facts.table::<Pod>().iter().filter(|pod| {
        pod.data.component == "toolkit" && (pod.data.node == node || pod.data.node.is_empty())
    });
    toolkits
        .map(|pod| Told {
            by: format!("pod/{}/{}", pod.data.namespace, pod.data.name),
            input: input(
                &pod.data.env,
                &pod.data.mounts,
                pod.data.images.iter(),
                &pod.place,
            ),
        })
        .collect()
}

fn input<'a>(
    env: &crate::scheduling::api::Labels,
    mounts: &crate::scheduling::api::Labels,
    mut images: impl Iterator<Item = &'a String>,
    place: &Place,
) -> ToolkitInput {
    let source = Evidence {
        path: place.path.to_string(),
        line: place.line.unwrap_or(0),
        text: String::new(),
    };
    let names = ["CONTAINERD_", "RUNTIME"];
    ToolkitInput {
        container_env: env
            .iter()
            .filter(|(name, _)| names.iter().any(|prefix| name.starts_with(prefix)))
            .map(|(name, value)| EnvVar {
                name: name.clone(),
                value: value.clone(),
                source: Some(source.clone()),
            })
            .collect(),
        mounts: mounts
            .iter()
            .map(|(inside, host)| (inside.clone(), host.clone()))
            .collect(),
        version: images.find_map(|image| image_version(image)),
        source: Some(source),
        ..ToolkitInput::default()
    }
}

fn image_version(image: &str) -> Option<String> {
    let (name, tag) = image.rsplit_once(':')?;
    (name.contains("toolkit") && !tag.contains('/')).then(|| tag.to_owned())
}

fn operator_releases<'a>(known: &'a Known<'_>) -> impl Iterator<Item = &'a HelmRelease> {
    let releases = known
        .facts
        .table::<HelmRelease>()
        .iter()
        .map(|release| &release.data);
    releases.filter(|release| release.chart.contains("gpu-operator"))
}

/// What the values of GPU Operator releases tell the toolkit.
fn releases(known: &Known<'_>) -> Vec<Told> {
    let told = operator_releases(known).filter_map(|release| {
        let (namespace, name) = (&release.namespace, &release.name);
        let path = ["values-all.yaml", "values-user.yaml"]
            .iter()
            .map(|file| Entry::Helm(namespace, name, file).path())
            .find(|path| known.documents.contains_key(path))?;
        let text = known.documents.get(&path)?;
        let input = of_values(&path, text)?;
        let by = format!("the values of helm release {namespace}/{name}");
        Some(Told { by, input })
    });
    told.collect()
}

/// What values of the GPU Operator's chart tell that were pasted into a text.
fn pasted_values(known: &Known<'_>) -> Option<Told> {
    let path = crate::scan::pasted::OPERATOR_VALUES.path();
    let input = of_values(&path, known.documents.get(&path)?)?;
    let by = "the values of the GPU Operator's chart".to_owned();
    Some(Told { by, input })
}

fn of_values(path: &str, text: &str) -> Option<ToolkitInput> {
    let values: Value = crate::helm::yaml::read(text)?;
    let toolkit = values.get("toolkit")?;
    if toolkit.get("enabled").and_then(Value::as_bool) == Some(false) {
        return None;
    }
    let lines = toolkit_lines(text);
    let line = |wanted: &str| {
        let found = lines
            .iter()
            .find(|(_, line)| line.contains(wanted))
            .or(lines.first());
        Evidence {
            path: path.to_owned(),
            line: found.map_or(0, |(number, _)| *number),
            text: found
                .map(|(_, line)| line.trim().to_owned())
                .unwrap_or_default(),
        }
    };
    let variables = toolkit.get("env").and_then(Value::as_array);
    let chart_env = variables.into_iter().flatten().filter_map(|variable| {
        let name = variable.get("name")?.as_str()?.to_owned();
        let value = variable.get("value")?.as_str()?.to_owned();
        let source = Some(line(&name));
        Some(EnvVar {
            name,
            value,
            source,
        })
    });
    Some(ToolkitInput {
        chart_env: chart_env.collect(),
        version: toolkit
            .get("version")
            .and_then(Value::as_str)
            .map(str::to_owned),
        source: Some(line("env:")),
        ..ToolkitInput::default()
    })
}

/// The lines of the top-level `toolkit` section, numbered from 1.
fn toolkit_lines(text: &str) -> Vec<(u32, &str)> {
    let mut numbered = (1u32..)
        .zip(text.lines())
        .skip_while(|(_, line)| !line.starts_with("toolkit:"));
    let head = numbered.next();
    let section =
        numbered.take_while(|(_, line)| line.is_empty() || line.starts_with([' ', '-', '#']));
    head.into_iter().chain(section).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_env_in_the_chart_is_cited_with_its_line() {
        let text = "driver:\n  env: []\ntoolkit:\n  enabled: true\n  env: []\n  version: v1.17.5\nvalidator:\n  env: []\n";
        let input = of_values("helm/a/b/values-all.yaml", text).unwrap();
        assert!(input.chart_env.is_empty());
        assert_eq!(input.source.unwrap().line, 5);
        assert_eq!(input.version.as_deref(), Some("v1.17.5"));
    }
}
