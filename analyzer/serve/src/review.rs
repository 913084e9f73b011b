//! `kubectl auth`: who asks, and what they may do, which is to read what was collected.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::discovery::line;
use crate::status::Status;
use crate::store::{Coverage, Store};
use crate::value::{has, some_text, text};

/// The name of whoever has the token.
pub(crate) const USER: &str = "casefile:reader";

/// Answers a review; none if it is of no kind that is answered.
pub(crate) fn answer(
    store: &Store,
    group: &str,
    plural: &str,
    body: &[u8],
) -> Option<Result<Answer, Status>> {
    let review = match (group, plural) {
        ("authentication.k8s.io", "selfsubjectreviews") => who as fn(&Store, &Value) -> _,
        ("authorization.k8s.io", "selfsubjectaccessreviews") => access,
        ("authorization.k8s.io", "selfsubjectrulesreviews") => rules,
        _ => return None,
    };
    let asked: Option<Value> = serde_json::from_slice(body)
        .ok()
        .or_else(|| crate::proto::review(body));
    let Some(asked) = asked else {
        let why = "the object provided is unrecognized: send JSON or protobuf";
        return Some(Err(Status::bad_request(why)));
    };
    Some(review(store, &asked).map(|value| Answer {
        code: 201,
        ..Answer::json(line(&value))
    }))
}

fn who(_: &Store, _: &Value) -> Result<Value, Status> {
    Ok(json!({
        "kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1", "metadata": {},
        "status": {"userInfo": {"username": USER, "groups": ["system:authenticated"]}},
    }))
}

fn access(store: &Store, asked: &Value) -> Result<Value, Status> {
    let resource = &asked["spec"]["resourceAttributes"];
    let (allowed, why) = if has(asked, "spec.nonResourceAttributes") {
        let verb = text(asked, "spec.nonResourceAttributes.verb");
        (verb == "get", "a recording can be read")
    } else if resource.is_null() {
        return Err(Status::bad_request(
            "spec: exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ));
    } else {
        may(store, resource)
    };
    Ok(json!({
        "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {},
        "spec": asked["spec"],
        "status": {"allowed": allowed, "reason": why},
    }))
}

/// Whether a verb is possible on a kind, and why.
fn may(store: &Store, asked: &Value) -> (bool, &'static str) {
    let verb = text(asked, "verb");
    if !matches!(verb, "get" | "list" | "watch") {
        return (false, "this is a recording: it can be read and not changed");
    }
    if matches!(
        text(asked, "subresource"),
        "exec" | "attach" | "portforward"
    ) {
        return (false, "this is a recording: nothing runs in it");
    }
    let (group, plural) = (text(asked, "group"), text(asked, "resource"));
    if plural == "*" {
        return (true, "a recording can be read");
    }
    let of = store.kinds.iter().find(|kind| {
        kind.plural == plural && (kind.group == group || some_text(asked, "group") == Some("*"))
    });
    match of.map(|kind| &kind.coverage) {
        Some(Coverage::Missing(_)) => (false, "this kind was not collected"),
        Some(_) => (true, "a recording can be read"),
        None => (false, "the recording knows no such kind"),
    }
}

fn rules(store: &Store, asked: &Value) -> Result<Value, Status> {
    if text(asked, "spec.namespace").is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let mut rules: Vec<Value> = Vec::new();
    let mut groups: Vec<&str> = store.kinds.iter().map(|kind| kind.group.as_str()).collect();
    groups.dedup();
    for group in groups {
        let collected = store
            .kinds
            .iter()
            .filter(|kind| kind.group == group && !matches!(kind.coverage, Coverage::Missing(_)));
        let plurals: Vec<&str> = collected.map(|kind| kind.plural.as_str()).collect();
        if !plurals.is_empty() {
            rules.push(json!({"verbs": ["get", "list", "watch"], "apiGroups": [group], "resources": plurals}));
        }
    }
    Ok(json!({
        "kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {}, "spec": {},
        "status": {
            "resourceRules": rules,
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["*"]}],
            "incomplete": false,
        },
    }))
}
