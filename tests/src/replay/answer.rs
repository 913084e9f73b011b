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
    // What a kubelet or a pod answers, whatever it is asked.
    if target.path.contains("/proxy/") {
        let answer = recording.exact(User::Admin, &target.bare(), form).cloned();
        return answer.unwrap_or_else(|| Answer::json(404, &objects::not_found(&target.path)));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let pods = r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","namespace":"x","labels":{"app":"one"}}},{"metadata":{"name":"b","namespace":"y"}}]}"#;
        let core = r#"{"resources":[{"name":"pods","namespaced":true},{"name":"nodes","namespaced":false}]}"#;
        let log = "2026-01-01T00:00:00Z one\n2026-01-01T00:00:01Z two\n";
        let lines = [
            ("/api/v1", core),
            ("/api/v1/pods", pods),
            (
                "/api/v1/nodes",
                r#"{"kind":"NodeList","apiVersion":"v1","items":[]}"#,
            ),
            (
                "/api/v1/namespaces/x/pods/a/log?container=c&timestamps=true",
                log,
            ),
        ];
        let text: String = lines
            .iter()
            .map(|(path, body)| {
                let kind = "application/json";
                let line = json!({"as": "admin", "path": path, "accept": "*/*", "status": 200, "content_type": kind, "body": body});
                format!("{line}\n")
            })
            .collect();
        Recording::read(text.as_bytes()).unwrap()
    }

    fn ask(user: User, target: &str) -> (u16, String) {
        let answer = find(&recording(), user, &Target::parse(target), Form::Plain);
        (answer.status, answer.body)
    }

    #[test]
    fn a_page_size_does_not_change_what_is_in_a_list() {
        assert_eq!(ask(User::Admin, "/api/v1/pods?limit=500").0, 200);
        assert!(
            ask(User::Admin, "/api/v1/pods?limit=500")
                .1
                .contains("\"b\"")
        );
    }

    #[test]
    fn selectors_and_namespaces_are_computed_from_the_whole_list() {
        let (_, labelled) = ask(User::Admin, "/api/v1/pods?labelSelector=app%3Done");
        assert!(labelled.contains("\"a\"") && !labelled.contains("\"b\""));
        let (_, named) = ask(User::Admin, "/api/v1/namespaces/y/pods");
        assert!(named.contains("\"b\"") && !named.contains("\"a\""));
        let (_, one) = ask(User::Admin, "/api/v1/namespaces/y/pods/b");
        assert!(one.contains("\"kind\":\"Pod\""), "{one}");
    }

    #[test]
    fn a_log_is_cut_and_unstamped_as_asked() {
        let log = "/api/v1/namespaces/x/pods/a/log?container=c";
        assert_eq!(ask(User::Admin, &format!("{log}&tailLines=1")).1, "two\n");
        assert_eq!(
            ask(User::Admin, &format!("{log}&timestamps=true&limitBytes=4")).1,
            "2026"
        );
    }

    #[test]
    fn a_viewer_lists_pods_and_no_nodes() {
        assert_eq!(ask(User::Viewer, "/api/v1/pods").0, 200);
        let (status, body) = ask(User::Viewer, "/api/v1/nodes");
        assert_eq!(status, 403);
        assert!(
            body.contains("cannot list resource \\\"nodes\\\""),
            "{body}"
        );
    }

    #[test]
    fn what_was_not_recorded_is_not_found() {
        assert_eq!(ask(User::Admin, "/apis/absent.example/v1/things").0, 404);
    }
}
