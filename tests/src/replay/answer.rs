//! The answer to a request: the recorded one where there is one, else one computed from what was
//! recorded (a filtered list, an object of a list, a log with another tail), else 404.

use serde_json::{Value, json};

use super::objects;
use crate::recording::{Answer, Form, Recording, Target, User};

/// Query parameters that change how a list is sent, not what is in it.
const PAGING: &[&str] = &[
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "timeoutSeconds",
    "allowWatchBookmarks",
    "pretty",
];

/// Finds or computes the answer.
pub(super) fn find(recording: &Recording, user: User, target: &Target, form: Form) -> Answer {
    if let Some(answer) = recording.exact(user, target, form) {
        return answer.clone();
    }
    if user == User::Viewer
        && let Some(refusal) = refuse(recording, target)
    {
        return refusal;
    }
    if let Some(answer) = recording.exact(User::Admin, target, form) {
        return answer.clone();
    }
    if target.path.ends_with("/log") {
        return log(recording, target);
    }
    if form == Form::Table {
        let page = Target::parse(&format!("{}?limit=500", target.path));
        if let Some(answer) = recording.exact(User::Admin, &page, Form::Table) {
            return answer.clone();
        }
    }
    let found = list(recording, target).or_else(|| object(recording, target));
    match found {
        Some(value) if form == Form::Metadata => Answer::json(200, &objects::metadata_only(&value)),
        Some(value) => Answer::json(200, &value),
        None => Answer::json(404, &objects::not_found(&target.path)),
    }
}

/// What a viewer may not see: recorded refusals first, then cluster-scoped kinds and Secrets.
fn refuse(recording: &Recording, target: &Target) -> Option<Answer> {
    let bare = target.bare();
    if let Some(recorded) = recording.exact(User::Viewer, &bare, Form::Plain) {
        return (recorded.status == 403).then(|| recorded.clone());
    }
    let place = objects::Place::of(&target.path)?;
    let namespaced = namespaced(recording, &place)?;
    let readable = namespaced && place.resource != "secrets" || place.resource == "namespaces";
    (!readable).then(|| Answer::json(403, &objects::forbidden(&place, User::Viewer.name())))
}

/// Whether discovery says that a resource lives in namespaces.
fn namespaced(recording: &Recording, place: &objects::Place) -> Option<bool> {
    let group = Target::parse(&place.root);
    let body = &recording.exact(User::Admin, &group, Form::Plain)?.body;
    let list: Value = serde_json::from_str(body).ok()?;
    let mut resources = list["resources"].as_array()?.iter();
    let found = resources.find(|resource| resource["name"] == json!(place.resource))?;
    found["namespaced"].as_bool()
}

fn read(answer: &Answer) -> Option<Value> {
    (answer.status == 200).then(|| serde_json::from_str(&answer.body).ok())?
}

fn list(recording: &Recording, target: &Target) -> Option<Value> {
    let place = objects::Place::of(&target.path)?;
    if place.name.is_some() {
        return None;
    }
    let recorded = recording
        .exact(User::Admin, &target.bare(), Form::Plain)
        .and_then(read);
    let mut value = match (recorded, &place.namespace) {
        (Some(value), _) => value,
        (None, Some(namespace)) => {
            let mut all = everywhere(recording, &place)?;
            objects::retain(&mut all, |item| {
                item["metadata"]["namespace"] == json!(namespace)
            });
            all
        }
        (None, None) => return None,
    };
    for (name, selector) in &target.query {
        match name.as_str() {
            "labelSelector" => {
                objects::retain(&mut value, |item| objects::labels_match(item, selector))
            }
            "fieldSelector" => {
                objects::retain(&mut value, |item| objects::fields_match(item, selector))
            }
            paging if PAGING.contains(&paging) => {}
            _ => return None,
        }
    }
    Some(value)
}

fn everywhere(recording: &Recording, place: &objects::Place) -> Option<Value> {
    let all = Target::parse(&format!("{}/{}", place.root, place.resource));
    recording
        .exact(User::Admin, &all, Form::Plain)
        .and_then(read)
}

fn object(recording: &Recording, target: &Target) -> Option<Value> {
    let recorded = recording
        .exact(User::Admin, &target.bare(), Form::Plain)
        .and_then(read);
    if recorded.is_some() {
        return recorded;
    }
    let place = objects::Place::of(&target.path)?;
    let (name, namespace) = (place.name.clone()?, place.namespace.clone());
    let mut all = everywhere(recording, &place)?;
    objects::retain(&mut all, |item| {
        item["metadata"]["name"] == json!(name)
            && item["metadata"]["namespace"].as_str() == namespace.as_deref()
    });
    let mut item = all["items"].as_array()?.first()?.clone();
    let kind = all["kind"].as_str()?.trim_end_matches("List").to_owned();
    item["kind"] = json!(kind);
    item["apiVersion"] = all["apiVersion"].clone();
    Some(item)
}

/// A container's log, cut to what the query asks for.
fn log(recording: &Recording, target: &Target) -> Answer {
    let mut candidates: Vec<_> = recording
        .under(&target.path)
        .filter(|(each, _)| each.flag("previous") == target.flag("previous"))
        .filter(|(each, _)| {
            target
                .get("container")
                .is_none_or(|name| each.get("container") == Some(name))
        })
        .collect();
    candidates.sort_by_key(|(each, _)| (each.get("tailLines").is_some(), !each.flag("timestamps")));
    let Some((recorded, answer)) = candidates.first() else {
        return Answer::json(404, &objects::not_found(&target.path));
    };
    if answer.status != 200 {
        return (*answer).clone();
    }
    let stamped = recorded.flag("timestamps");
    let lines: Vec<&str> = answer.body.split_inclusive('\n').collect();
    let tail = target
        .get("tailLines")
        .and_then(|count| count.parse::<usize>().ok());
    let skip = tail.map_or(0, |tail| lines.len().saturating_sub(tail));
    let mut body: String = lines[skip..]
        .iter()
        .map(|line| {
            if stamped && !target.flag("timestamps") {
                unstamped(line)
            } else {
                line
            }
        })
        .collect();
    if let Some(limit) = target
        .get("limitBytes")
        .and_then(|limit| limit.parse::<usize>().ok())
    {
        body.truncate(body.floor_char_boundary(limit));
    }
    answer.with_body(body)
}

fn unstamped(line: &str) -> &str {
    line.split_once(' ').map_or(line, |(_, rest)| rest)
}
