//! Changes that want two things of one setting.

use std::collections::BTreeMap;

use serde_json::Value;

use super::proposal::Origin;
use crate::change::{Change, Refused};

/// Refuses changes of which one takes back what another sets.
pub(super) fn check(changes: &[(Change, Origin)]) -> Result<(), Refused> {
    let mut known: BTreeMap<String, (String, &Origin)> = BTreeMap::new();
    for (change, origin) in changes {
        for (setting, value) in settings(change) {
            match known.get(&setting) {
                Some((other, first)) if *other != value => {
                    return Err(Refused::new(format!(
                        "{origin}: contradicts {first}: {setting} is to be {value} here and {other} there"
                    )));
                }
                _ => drop(known.insert(setting, (value, origin))),
            }
        }
    }
    Ok(())
}

/// What a change sets, as a name and a value; kinds whose changes add up have none.
fn settings(change: &Change) -> Vec<(String, String)> {
    match change {
        Change::Sysctl(one) => vec![(format!("{} on {}", one.name, one.node), one.value.clone())],
        Change::HelmValues(one) => {
            leaves(&one.values, &format!("{}/{}: ", one.namespace, one.release))
        }
        Change::KubeletConfig(one) => leaves(&one.set, "the kubelet's "),
        Change::DockerDaemon(one) => leaves(&one.set, "daemon.json's "),
        Change::PodSpec(one) => leaves(&one.spec, &format!("pod {}: ", one.pod)),
        Change::HostFile(one) => {
            let what = match (&one.content, one.remove) {
                (Some(content), _) => content.clone(),
                (None, true) => "removed".into(),
                (None, false) => return Vec::new(),
            };
            vec![(
                format!("{} on {}", one.path, one.node),
                crate::facts::excerpt(&what, 60),
            )]
        }
        Change::Label(crate::change::kinds::label::Label(one)) => vec![(
            format!("label {} of {} {}", one.key, one.kind, one.name),
            word(one.value.as_deref()),
        )],
        Change::Annotation(crate::change::kinds::annotation::Annotation(one)) => vec![(
            format!("annotation {} of {} {}", one.key, one.kind, one.name),
            word(one.value.as_deref()),
        )],
        Change::Taint(one) => vec![(
            format!("taint {}:{} of {}", one.key, one.effect, one.node),
            if one.remove {
                "removed".into()
            } else {
                format!("={}", one.value)
            },
        )],
        Change::KubeletFlag(one) => vec![(format!("--{}", one.flag), word(one.value.as_deref()))],
        Change::UfwRoute(one) => one
            .rules
            .iter()
            .filter_map(|rule| {
                let rule = rule
                    .trim()
                    .trim_start_matches("ufw ")
                    .trim_start_matches("route ");
                let (action, rest) = rule.split_once(' ')?;
                Some((
                    format!("routed traffic {rest} on {}", one.node),
                    action.to_owned(),
                ))
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn word(value: Option<&str>) -> String {
    value.map_or_else(|| "removed".to_owned(), str::to_owned)
}

/// The scalars of a YAML text by their dotted keys.
fn leaves(text: &str, prefix: &str) -> Vec<(String, String)> {
    fn walk(key: &str, value: &Value, into: &mut Vec<(String, String)>) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    walk(&format!("{key}.{name}"), value, into);
                }
            }
            // Lists of named things are set name by name.
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let name = item.get("name").and_then(Value::as_str);
                    walk(
                        &format!(
                            "{key}.{}",
                            name.map_or_else(|| index.to_string(), str::to_owned)
                        ),
                        item,
                        into,
                    );
                }
            }
            other => into.push((key.to_owned(), other.to_string())),
        }
    }
    let mut all = Vec::new();
    if let Ok(Value::Object(map)) = serde_saphyr::from_str::<Value>(text) {
        for (name, value) in &map {
            walk(&format!("{prefix}{name}"), value, &mut all);
        }
    }
    all
}
