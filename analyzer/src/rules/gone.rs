//! What a line tells of an object that does not exist any more.

use std::collections::BTreeSet;

use super::weigh::Over;
use crate::facts::Facts;
use crate::facts::scheduling::Namespace;
use crate::scan::patterns::Hit;

/// Keys after which components that log in klog's form, and quoted events, name an object as `namespace/name`.
const OBJECT: [&str; 2] = ["object=\"", "pod=\""];
/// Namespaces that every cluster has: a list without them is a part of the list.
const ALWAYS: [&str; 2] = ["default", "kube-system"];

/// The namespaces of a cluster, where all of them were collected.
pub(super) struct Existing<'a>(BTreeSet<&'a str>);

impl<'a> Existing<'a> {
    pub(super) fn of(facts: &'a Facts) -> Self {
        let listed = facts.table::<Namespace>().iter();
        let names: BTreeSet<&str> = listed
            .map(|one| one.data.0.metadata.name.as_str())
            .collect();
        let whole = ALWAYS.iter().all(|name| names.contains(name));
        Self(if whole { names } else { BTreeSet::new() })
    }

    /// What ended a trouble of an object: its namespace was deleted since. None where the line names no object, or where
    /// the namespace is there or not known.
    pub(super) fn over(&self, hit: &Hit) -> Option<Over> {
        let namespace = named(&hit.text).or_else(|| of_subject(&hit.subject))?;
        let gone = !self.0.is_empty() && !self.0.contains(namespace);
        gone.then(|| Over {
            says: format!("it is about namespace {namespace}, which does not exist any more"),
            place: None,
        })
    }
}

/// The namespace of the object that a line names.
fn named(text: &str) -> Option<&str> {
    OBJECT.iter().find_map(|key| {
        let (_, after) = text.split_once(key)?;
        let (namespace, rest) = after.split_once('/')?;
        let is_name = |text: &str| {
            !text.is_empty()
                && text.len() <= 63
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let name = rest.split('"').next().unwrap_or("");
        (is_name(namespace) && !name.is_empty() && !name.contains('/')).then_some(namespace)
    })
}

/// The namespace of a subject of three parts: `pod/<namespace>/<name>`.
fn of_subject(subject: &str) -> Option<&str> {
    let mut parts = subject.split('/');
    let (_, namespace, name) = (parts.next()?, parts.next()?, parts.next()?);
    (!namespace.is_empty() && !name.is_empty() && parts.next().is_none()).then_some(namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_namespace_of_its_object() {
        let line = r#"event.go:291] "Event occurred" object="batch-7/condition-test" kind="ReplicationController""#;
        assert_eq!(named(line), Some("batch-7"));
        assert_eq!(named(r#""Failed" pod="ns-1/web-0" err="x""#), Some("ns-1"));
        assert_eq!(named(r#"object="/node-1" kind="Node""#), None);
        assert_eq!(named(r#"object="a/b/c""#), None);
        assert_eq!(of_subject("pod/web/web-0"), Some("web"));
        assert_eq!(of_subject("node/gpu-1"), None);
        assert_eq!(of_subject("pod//web-0"), None);
    }
}
