//! What these credentials may do, asked once, so that what is forbidden is skipped with its reason instead of being
//! asked sixty times.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Where the question goes. It creates nothing: the answer is all there is of it.
pub const PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
/// A namespace that nobody has: its rules are those of the whole cluster, without any namespace's own.
const NOWHERE: &str = "casefile-no-such-namespace";

/// The question for one namespace, or for the whole cluster.
pub fn question(namespace: Option<&str>) -> String {
    serde_json::json!({
        "kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1",
        "spec": {"namespace": namespace.unwrap_or(NOWHERE)},
    })
    .to_string()
}

#[derive(Debug, Deserialize)]
struct Review {
    status: Status,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    /// The server cannot tell all (a webhook or the node authorizer decides too).
    #[serde(default)]
    incomplete: bool,
    #[serde(default)]
    resource_rules: Vec<Rule>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    api_groups: Vec<String>,
    #[serde(default)]
    resources: Vec<String>,
    /// A rule for named objects allows no list.
    #[serde(default)]
    resource_names: Vec<String>,
}

/// The rules that are known, for the whole cluster (no name) and for namespaces.
#[derive(Debug, Default)]
pub struct Access {
    rules: BTreeMap<Option<String>, Vec<Rule>>,
}

impl Access {
    /// Takes the server's answer. False where it cannot be relied on: then nothing is held to be forbidden.
    pub fn learn(&mut self, namespace: Option<&str>, answer: &[u8]) -> bool {
        let Ok(Review { status }) = serde_json::from_slice(answer) else {
            return false;
        };
        if status.incomplete {
            return false;
        }
        self.rules
            .insert(namespace.map(str::to_owned), status.resource_rules);
        true
    }

    /// Whether a GET of this path is known to be refused. Unknown paths and unknown rules are not.
    pub fn forbids(&self, path: &str) -> bool {
        let Some(asked) = Asked::of(path) else {
            return false;
        };
        let namespace = asked.namespace.as_deref().map(str::to_owned);
        let Some(rules) = self.rules.get(&namespace) else {
            return false;
        };
        !rules.iter().any(|rule| rule.allows(&asked))
    }
}

/// What a path asks for.
struct Asked {
    verb: &'static str,
    group: String,
    /// `pods`, `pods/log`.
    resource: String,
    namespace: Option<String>,
}

impl Asked {
    fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next()?;
        let mut parts = path.trim_matches('/').split('/');
        let group = match parts.next()? {
            "api" => String::new(),
            "apis" => parts.next()?.to_owned(),
            _ => return None,
        };
        let _version = parts.next()?;
        let rest: Vec<&str> = parts.collect();
        let (namespace, rest) = match rest.as_slice() {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
                (Some((*namespace).to_owned()), rest)
            }
            rest => (None, rest),
        };
        let (verb, resource) = match rest {
            [plural] => ("list", (*plural).to_owned()),
            [plural, _name] => ("get", (*plural).to_owned()),
            [plural, _name, part, ..] => ("get", format!("{plural}/{part}")),
            [] => return None,
        };
        Some(Self {
            verb,
            group,
            resource,
            namespace,
        })
    }
}

impl Rule {
    fn allows(&self, asked: &Asked) -> bool {
        let any =
            |list: &[String], wanted: &str| list.iter().any(|one| one == "*" || one == wanted);
        let part = asked.resource.split_once('/').map(|(_, part)| part);
        let resource = any(&self.resources, &asked.resource)
            || part.is_some_and(|part| self.resources.contains(&format!("*/{part}")));
        any(&self.verbs, asked.verb)
            && any(&self.api_groups, &asked.group)
            && resource
            && (self.resource_names.is_empty() || asked.verb == "get")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(incomplete: bool) -> Vec<u8> {
        serde_json::json!({"status": {"incomplete": incomplete, "resourceRules": [
            {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "*/log"]},
            {"verbs": ["list"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"]},
            {"verbs": ["*"], "apiGroups": ["nvidia.com"], "resources": ["*"]},
        ]}})
        .to_string()
        .into_bytes()
    }

    #[test]
    fn what_no_rule_allows_is_forbidden_and_nothing_else() {
        let mut access = Access::default();
        assert!(access.learn(None, &answer(false)));
        assert!(access.learn(Some("team"), &answer(false)));
        for allowed in [
            "/api/v1/pods?limit=500",
            "/api/v1/namespaces/team/pods/p/log?container=c",
            "/apis/nvidia.com/v1/clusterpolicies",
            "/version",
            "/api/v1",
            "/apis/apps/v1",
            "/api/v1/namespaces/other/nodes",
        ] {
            assert!(!access.forbids(allowed), "{allowed}");
        }
        for forbidden in [
            "/api/v1/nodes?limit=500",
            "/api/v1/secrets",
            "/apis/apps/v1/deployments",
            "/api/v1/namespaces/team/events",
        ] {
            assert!(access.forbids(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn rules_that_are_incomplete_or_broken_forbid_nothing() {
        let mut access = Access::default();
        assert!(!access.learn(None, &answer(true)));
        assert!(!access.learn(None, b"<html>"));
        assert!(!access.forbids("/api/v1/nodes"));
    }
}
