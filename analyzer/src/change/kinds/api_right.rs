//! A right that a service account lacks, given by a role of its own.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kube_object::KubeObject;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// What the API server says when it refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApiRight {
    /// `User "system:serviceaccount:NS:NAME" cannot VERB resource "R" in API group "G" in the namespace "NS"`.
    pub sentence: String,
}

/// The right, as the refusal names it.
struct Right {
    account: (String, String),
    verb: String,
    resource: String,
    group: String,
    /// None for the whole cluster.
    namespace: Option<String>,
}

impl Kind for ApiRight {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let right = right(&self.sentence).ok_or_else(|| {
            Refused::new("the refusal does not name service account, verb, resource and namespace")
        })?;
        let mut all = Applied::default();
        for manifest in right.objects() {
            let made = KubeObject {
                manifest: manifest.to_string(),
                patch: false,
                remove: false,
            };
            let one = made.apply(state)?;
            all.files.extend(one.files);
            all.actions.extend(one.actions);
        }
        all.title = format!("Allow {}", right.words());
        // Who may do what is asked on the cluster, of which no snapshot shows an answer.
        all.changed.clear();
        all.runtime = vec![
            "the program gets an answer with its next start; only the cluster shows which right it asks for next".into(),
        ];
        all.costs.push(right.words());
        Ok(all)
    }
}

impl Right {
    fn words(&self) -> String {
        let (namespace, name) = &self.account;
        let place = self.namespace.as_ref().map_or_else(
            || "of the whole cluster".to_owned(),
            |own| format!("in namespace {own}"),
        );
        format!(
            "service account {namespace}/{name} may {} {} {place}",
            self.verb, self.resource
        )
    }

    /// A role with the right, and its binding to the account.
    fn objects(&self) -> [Value; 2] {
        let (role, binding) = match self.namespace {
            Some(_) => ("Role", "RoleBinding"),
            None => ("ClusterRole", "ClusterRoleBinding"),
        };
        let (namespace, account) = &self.account;
        let resource = self.resource.replace('/', "-");
        let mut metadata = json!({"name": format!("{account}-{}-{resource}", self.verb)});
        if self.namespace.is_none() {
            metadata["name"] = format!("{namespace}-{account}-{}-{resource}", self.verb).into();
        }
        if let Some(own) = &self.namespace {
            metadata["namespace"] = own.as_str().into();
        }
        const API: &str = "rbac.authorization.k8s.io";
        let version = format!("{API}/v1");
        [
            json!({"apiVersion": version, "kind": role, "metadata": metadata,
                "rules": [{"apiGroups": [self.group], "resources": [self.resource], "verbs": [self.verb]}]}),
            json!({"apiVersion": version, "kind": binding, "metadata": metadata,
                "roleRef": {"apiGroup": API, "kind": role, "name": metadata["name"]},
                "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": account}]}),
        ]
    }
}

fn right(sentence: &str) -> Option<Right> {
    let plain = sentence.replace("\\\"", "\"");
    let refusal = Regex::new(
        r#"User "system:serviceaccount:([^":]+):([^":]+)" cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)"| at the cluster scope)"#,
    );
    let found = refusal.ok()?.captures(&plain)?;
    let text = |at: usize| found.get(at).map(|one| one.as_str().to_owned());
    Some(Right {
        account: (text(1)?, text(2)?),
        verb: text(3)?,
        resource: text(4)?,
        group: text(5)?,
        namespace: text(6),
    })
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    let bad = trial.bad;
    let scopes = [
        format!("in the namespace \"{bad}\""),
        "at the cluster scope".to_owned(),
    ];
    let said = scopes.map(|scope| format!("User \"system:serviceaccount:{bad}:{bad}\" cannot list resource \"{bad}\" in API group \"{bad}\" {scope}"));
    said.into_iter()
        .map(|sentence| json!({"api-right": {"sentence": sentence}}))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_is_the_one_that_the_refusal_names_and_no_more() {
        let said = r#"panic: pods is forbidden: User \"system:serviceaccount:shop:web\" cannot list resource \"pods\" in API group \"\" in the namespace \"shop\""#;
        let [role, binding] = right(said).unwrap().objects();
        assert_eq!(
            role["rules"],
            json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}])
        );
        assert_eq!(role["kind"], "Role");
        assert_eq!(
            binding["subjects"],
            json!([{"kind": "ServiceAccount", "namespace": "shop", "name": "web"}])
        );
        let cluster = said.replace(r#"in the namespace \"shop\""#, "at the cluster scope");
        assert_eq!(
            right(&cluster).unwrap().objects()[1]["kind"],
            "ClusterRoleBinding"
        );
        assert!(right("User \"system:serviceaccount:shop:web\" cannot list resource").is_none());
    }
}
