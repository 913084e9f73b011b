//! Which part of the API a request is for.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::ask::{Ask, Form, Query, form, segments};
use crate::chunks::Reader;
use crate::discovery::line;
use crate::status::Status;
use crate::store::{Kind, Store};
use crate::table::{Tables, selector_text};
use crate::value::{at, int, text};
use crate::{discovery, list, node_log, openapi, pick, pod_log, review, swagger, watch};

/// Answers a request.
pub fn answer(store: &Arc<Store>, ask: &Ask) -> Answer {
    route(store, ask).unwrap_or_else(Answer::from)
}

fn route(store: &Arc<Store>, ask: &Ask) -> Result<Answer, Status> {
    let parts = segments(&ask.path).ok_or_else(Status::no_such_path)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let query = Query::parse(&ask.query);
    let reads = matches!(ask.method.as_str(), "GET" | "HEAD");
    if !reads {
        return refuse_or_review(store, ask, &parts);
    }
    match parts.as_slice() {
        ["version"] => Ok(version(store)),
        ["healthz" | "livez" | "readyz", ..] => Ok(Answer::text("ok")),
        ["openapi", "v2"] => Ok(swagger::document(store, &ask.accept)),
        ["openapi", "v3"] => Ok(openapi::index(store)),
        ["openapi", "v3", "api", version] => openapi::document(store, "", version),
        ["openapi", "v3", "apis", group, version] => openapi::document(store, group, version),
        ["api"] => Ok(discovery::core(store, form(&ask.accept)?)),
        ["apis"] => Ok(discovery::all(store, form(&ask.accept)?)),
        ["apis", group] => discovery::group(store, group).ok_or_else(Status::no_such_path),
        ["api", version] => discovery::version(store, "", version).ok_or_else(Status::no_such_path),
        ["apis", group, version] => {
            discovery::version(store, group, version).ok_or_else(Status::no_such_path)
        }
        ["api", version, rest @ ..] => resources(store, ("", version), rest, &query, ask),
        ["apis", group, version, rest @ ..] => {
            resources(store, (group, version), rest, &query, ask)
        }
        _ => Err(Status::no_such_path()),
    }
}

/// Everything but reading: reviews are answered, the rest changes something.
fn refuse_or_review(store: &Store, ask: &Ask, parts: &[&str]) -> Result<Answer, Status> {
    if let ("POST", ["apis", group, "v1", plural]) = (ask.method.as_str(), parts)
        && let Some(answer) = review::answer(store, group, plural, &ask.body)
    {
        return answer;
    }
    let what = match parts.last() {
        Some(&sub @ ("exec" | "attach" | "portforward")) => format!("{sub} is not possible"),
        _ => format!("{} is not possible", ask.method),
    };
    Err(Status::recording(store, &what))
}

fn version(store: &Store) -> Answer {
    Answer::json(line(&store.version))
}

/// Lists, objects, watches and what is below objects.
fn resources(
    store: &Arc<Store>,
    (group, version): (&str, &str),
    rest: &[&str],
    query: &Query,
    ask: &Ask,
) -> Result<Answer, Status> {
    let (old_watch, rest) = match rest {
        ["watch", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() && !is_part(rest) => {
            (Some(*namespace), rest)
        }
        rest => (None, rest),
    };
    let Some((plural, rest)) = rest.split_first() else {
        return Err(Status::no_such_path());
    };
    let is = |kind: &Kind| kind.group == group && kind.version == version && kind.plural == *plural;
    let index = store
        .kinds
        .iter()
        .position(is)
        .ok_or_else(Status::no_such_path)?;
    let kind = store.kinds.get(index).ok_or_else(Status::no_such_path)?;
    let cluster_wide = namespace.is_some() && !kind.namespaced;
    let without = namespace.is_none() && kind.namespaced && !rest.is_empty();
    if cluster_wide || without {
        return Err(Status::no_such_path());
    }
    let text_of = matches!(rest, [_, "log"] | [_, "proxy", ..]);
    let form = if text_of {
        Form::Plain
    } else {
        form(&ask.accept)?
    };
    match rest {
        _ if (old_watch || query.flag("watch")) && !kind.is_watched() => {
            Err(Status::no_such_method())
        }
        [] if old_watch || query.flag("watch") => {
            watch::watch(store, index, (namespace, None), query, form)
        }
        [] => list::list(store, index, namespace, query, form),
        [name] if old_watch => watch::watch(store, index, (namespace, Some(name)), query, form),
        [name] | [name, "status" | "ephemeralcontainers" | "resize"] => {
            let object = find(store, kind, namespace, name)?;
            list::one(store, kind, object, query, form)
        }
        [name, "scale"] => scale(store, kind, namespace, name, form),
        [pod, "log"] if *plural == "pods" => {
            pod_log::answer(store, namespace.unwrap_or_default(), pod, query)
        }
        [node, "proxy", "logs", path @ ..] if *plural == "nodes" => {
            node_log::answer(store, kind, node, &path.join("/"), query)
        }
        [_, sub @ ("exec" | "attach" | "portforward" | "proxy"), ..] => {
            Err(Status::recording(store, &format!("{sub} is not possible")))
        }
        _ => Err(Status::no_such_path()),
    }
}

/// Parts of a namespace that are not kinds in it.
fn is_part(rest: &[&str]) -> bool {
    matches!(rest, ["status" | "finalize"])
}

fn find<'k>(
    store: &Store,
    kind: &'k Kind,
    namespace: Option<&str>,
    name: &str,
) -> Result<&'k crate::store::Object, Status> {
    if let Some(object) = kind.object(namespace, name) {
        return Ok(object);
    }
    pick::covered(store, kind, namespace)?;
    Err(match &kind.coverage {
        // It may well have been there.
        crate::store::Coverage::Part(why) => Status::not_collected(kind, namespace, why),
        _ => Status::no_such_object(kind, name),
    })
}

/// How many of something there are, in the words of `kubectl scale`.
fn scale(
    store: &Arc<Store>,
    kind: &Kind,
    namespace: Option<&str>,
    name: &str,
    form: Form,
) -> Result<Answer, Status> {
    if !kind.subresources.iter().any(|sub| sub == "scale") {
        return Err(Status::no_such_path());
    }
    let object = find(store, kind, namespace, name)?;
    let raw = Reader::default().read(&store.chunks, object.spot);
    let value: Value = serde_json::from_slice(&raw).unwrap_or_default();
    let selector = match at(&value, "spec.selector") {
        labels if kind.group.is_empty() => selector_text(&json!({"matchLabels": labels})),
        selector => selector_text(selector),
    };
    let metadata: Vec<String> = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ]
    .iter()
    .filter(|field| value["metadata"][**field].is_string())
    .map(|field| format!("\"{field}\":{}", value["metadata"][*field]))
    .collect();
    let body = format!(
        r#"{{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{{{}}},"spec":{{"replicas":{}}},"status":{{"replicas":{},"selector":{}}}}}"#,
        metadata.join(","),
        int(&value, "spec.replicas"),
        int(&value, "status.replicas"),
        Value::String(selector.unwrap_or_default()),
    );
    if let Form::Table(version) = form {
        let tables = Tables::of_scales(kind, store.now);
        let mut out = Vec::new();
        list::write_table_head(object.revision, version, &tables, &mut out);
        let scale: Value = serde_json::from_str(&body).unwrap_or_default();
        let carried = crate::metadata::partial(body.as_bytes(), &scale, true, version);
        tables.write_row(&scale, &carried, &mut out);
        out.extend_from_slice(b"]}\n");
        return Ok(Answer::json(out));
    }
    debug_assert_eq!(text(&value, "metadata.name"), name);
    Ok(Answer::json(body + "\n"))
}
