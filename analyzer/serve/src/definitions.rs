//! Kinds from what is known of them: Kubernetes' own, and those of definitions that were collected.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::kinds;
use crate::store::{Coverage, Kind};
use crate::table::custom;
use crate::value::{at, flag, list, some_text, text};

/// Definitions of custom resources, by group and kind.
#[derive(Debug, Default)]
pub(crate) struct Definitions(BTreeMap<(String, String), Value>);

impl Definitions {
    /// Takes one in; what does not parse defines nothing.
    pub(crate) fn add(&mut self, raw: &[u8]) {
        let Ok(value) = serde_json::from_slice::<Value>(raw) else {
            return;
        };
        let group = text(&value, "spec.group").to_owned();
        let kind = text(&value, "spec.names.kind").to_owned();
        if !group.is_empty() && !kind.is_empty() {
            self.0.insert((group, kind), value);
        }
    }

    fn get(&self, group: &str, kind: &str) -> Option<&Value> {
        self.0.get(&(group.to_owned(), kind.to_owned()))
    }

    /// Versions that are served and of which nothing was collected.
    pub(crate) fn unused(&self, known: &[Kind]) -> Vec<Kind> {
        let mut unused = Vec::new();
        for ((group, kind), definition) in &self.0 {
            let same = |one: &&Kind| one.group == *group && one.kind == *kind;
            let collected = known.iter().any(|one| same(&one));
            for version in list(definition, "spec.versions") {
                let name = text(version, "name");
                if collected || !flag(version, "served") {
                    continue;
                }
                let mut made = of_definition(definition, version, group, kind);
                made.coverage = Coverage::Missing(
                    "its definition was collected, and none of its objects".to_owned(),
                );
                name.clone_into(&mut made.version);
                unused.push(made);
            }
        }
        unused
    }
}

/// A kind: by its definition, as Kubernetes' own, or by what its objects say.
pub(crate) fn kind(
    definitions: &Definitions,
    group: &str,
    version: &str,
    kind: &str,
    plural: Option<String>,
) -> Kind {
    if let Some(definition) = definitions.get(group, kind) {
        let mut versions = list(definition, "spec.versions").iter();
        let found = versions.find(|one| text(one, "name") == version);
        let mut made = of_definition(definition, found.unwrap_or(&Value::Null), group, kind);
        version.clone_into(&mut made.version);
        return made;
    }
    let words = |text: &str| {
        text.split(',')
            .filter(|one| !one.is_empty())
            .map(str::to_owned)
            .collect()
    };
    if let Some(own) = kinds::of_kind(group, kind) {
        return Kind {
            singular: own.singular.to_owned(),
            short: words(own.short),
            categories: words(own.categories),
            subresources: words(own.subresources),
            plural: own.plural.to_owned(),
            namespaced: own.namespaced,
            deprecated: deprecated(group, version, own.plural),
            ..blank(group, version, kind)
        };
    }
    let lower = kind.to_lowercase();
    Kind {
        plural: plural.unwrap_or_else(|| format!("{lower}s")),
        singular: lower,
        columns: Some(custom::columns(&Value::Null)),
        ..blank(group, version, kind)
    }
}

fn blank(group: &str, version: &str, kind: &str) -> Kind {
    Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: String::new(),
        singular: String::new(),
        kind: kind.to_owned(),
        namespaced: true,
        short: Vec::new(),
        categories: Vec::new(),
        subresources: Vec::new(),
        columns: None,
        selectable: Vec::new(),
        schema: None,
        deprecated: None,
        coverage: Coverage::Whole,
        listed: BTreeSet::new(),
        objects: Vec::new(),
    }
}

fn of_definition(definition: &Value, version: &Value, group: &str, kind: &str) -> Kind {
    // What the server accepted counts; a fresh definition has only what was asked for.
    let names = match at(definition, "status.acceptedNames") {
        accepted if some_text(accepted, "plural").is_some_and(|name| !name.is_empty()) => accepted,
        _ => at(definition, "spec.names"),
    };
    let words = |field: &str| {
        let words = list(names, field).iter().filter_map(Value::as_str);
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let subresources = ["status", "scale"]
        .into_iter()
        .filter(|name| !at(version, "subresources")[name].is_null());
    let plural = text(names, "plural").to_owned();
    let warning = some_text(version, "deprecationWarning").map(str::to_owned);
    let deprecated = flag(version, "deprecated").then(|| {
        let name = text(version, "name");
        warning.unwrap_or_else(|| format!("{group}/{name} {kind} is deprecated"))
    });
    Kind {
        singular: text(names, "singular").to_owned(),
        namespaced: text(definition, "spec.scope") == "Namespaced",
        short: words("shortNames"),
        categories: words("categories"),
        subresources: subresources.map(str::to_owned).collect(),
        columns: Some(custom::columns(version)),
        selectable: list(version, "selectableFields")
            .iter()
            .map(|one| text(one, "jsonPath").trim_start_matches('.').to_owned())
            .collect(),
        schema: Some(at(version, "schema.openAPIV3Schema").clone()).filter(Value::is_object),
        deprecated,
        plural,
        ..blank(group, text(version, "name"), kind)
    }
}

/// What current servers say of versions that are on their way out.
fn deprecated(group: &str, version: &str, plural: &str) -> Option<String> {
    let text = match (group, version, plural) {
        ("", "v1", "componentstatuses") => "v1 ComponentStatus is deprecated in v1.19+",
        ("", "v1", "endpoints") => {
            "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Versions in the order of preference: `v2` before `v1` before `v1beta1` before `v1alpha1`, then by name.
pub(crate) fn version_rank(version: &str) -> (u8, std::cmp::Reverse<(u32, u32)>, String) {
    let parsed = version.strip_prefix('v').and_then(|rest| {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let major: u32 = rest[..digits].parse().ok()?;
        let (class, minor) = match &rest[digits..] {
            "" => (0, 0),
            tail if tail.starts_with("beta") => (1, tail[4..].parse().ok()?),
            tail if tail.starts_with("alpha") => (2, tail[5..].parse().ok()?),
            _ => return None,
        };
        Some((class, std::cmp::Reverse((major, minor)), String::new()))
    });
    parsed.unwrap_or_else(|| (3, std::cmp::Reverse((0, 0)), version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::version_rank;

    #[test]
    fn versions_are_preferred_as_kubernetes_prefers_them() {
        let mut versions = vec!["v1beta1", "v1", "odd", "v2alpha1", "v11", "v2", "v1beta2"];
        versions.sort_by_cached_key(|version| version_rank(version));
        assert_eq!(
            versions,
            ["v11", "v2", "v1", "v1beta2", "v1beta1", "v2alpha1", "odd"]
        );
    }
}
