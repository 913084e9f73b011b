//! A small API that keeps captured objects and lets the real kubectl change them, as far as `apply.sh` does:
//! GET, POST, PUT, PATCH and DELETE, each also as a dry run. Plain HTTP, for one test.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::store_kinds::{KINDS, discovery};
use crate::store_wire::object;

/// Objects by their path in the API.
type Objects = BTreeMap<String, Value>;

/// A refusal or an answer: status line and body.
type Answer = (&'static str, Value);

/// Serves the objects of an unpacked bundle until the process ends.
pub fn serve(bundle: &Path) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let objects = Arc::new(Mutex::new(captured(bundle)?));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let objects = Arc::clone(&objects);
            std::thread::spawn(move || answer(stream, &objects));
        }
    });
    Ok(address)
}

/// The captured objects, and for each pod the workload that made it, where that was not captured itself.
fn captured(bundle: &Path) -> std::io::Result<Objects> {
    let mut all = Objects::new();
    let mut made = Vec::new();
    let files = walkdir::WalkDir::new(bundle.join("cluster-resources"));
    for file in files.into_iter().filter_map(Result::ok) {
        if file.path().extension().is_none_or(|end| end != "json") {
            continue;
        }
        let list: Value = serde_json::from_slice(&std::fs::read(file.path())?)?;
        let text = |name: &str| list[name].as_str().unwrap_or_default().to_owned();
        let (kind, version) = (text("kind").replace("List", ""), text("apiVersion"));
        for item in list["items"].as_array().into_iter().flatten() {
            let mut item = item.clone();
            item["kind"] = kind.clone().into();
            item["apiVersion"] = version.clone().into();
            made.extend(owner(&item));
            all.extend(path(&item).map(|path| (path, item)));
        }
    }
    for owner in made {
        if let Some(path) = path(&owner) {
            all.entry(path).or_insert(owner);
        }
    }
    Ok(all)
}

fn owner(pod: &Value) -> Option<Value> {
    if pod["kind"] != "Pod" {
        return None;
    }
    let own = pod["metadata"]["ownerReferences"].get(0)?;
    let (kind, name) = (own["kind"].as_str()?, own["name"].as_str()?);
    let version = match kind {
        "StatefulSet" | "DaemonSet" => "apps/v1",
        "Job" => "batch/v1",
        _ => return None,
    };
    let uid = own["uid"].as_str().unwrap_or("uid-of-the-owner");
    let mut labels = json!({"app": name});
    if kind == "Job" {
        // As the Job controller's defaults do.
        labels = json!({"batch.kubernetes.io/controller-uid": uid, "controller-uid": uid, "job-name": name});
    }
    let mut spec = pod["spec"].clone();
    spec.as_object_mut()?.remove("nodeName");
    Some(json!({
        "apiVersion": version, "kind": kind,
        "metadata": {"name": name, "namespace": pod["metadata"]["namespace"], "generation": 1, "uid": uid},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }))
}

/// The path of an object; none for kinds that are not served.
fn path(item: &Value) -> Option<String> {
    let (version, kind) = (item["apiVersion"].as_str()?, item["kind"].as_str()?);
    let (plural, ..) = KINDS.iter().find(|(_, one, ..)| *one == kind)?;
    let root = if version.contains('/') { "apis" } else { "api" };
    let name = item["metadata"]["name"].as_str()?;
    Some(match item["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/{root}/{version}/namespaces/{namespace}/{plural}/{name}"),
        None => format!("/{root}/{version}/{plural}/{name}"),
    })
}

fn answer(stream: TcpStream, objects: &Mutex<Objects>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut applies) = (0, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
        applies |= value.trim() == "application/apply-patch+yaml";
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = object(&body);
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    // A deletion names its dry run in the body.
    let dry = query.contains("dryRun=All") || body["dryRun"].is_array();
    let (status, answer) = match discovery(path) {
        Some(found) => ("200 OK", found),
        None if method == "GET" => look(objects, path, query),
        // What is applied and not there yet is made.
        None if applies && look(objects, path, "").0.starts_with("404") => {
            decide(objects, "POST", path, dry, body)
        }
        // One manager owns all of an object here: what it applies no longer is gone.
        None if applies => decide(objects, "PUT", path, dry, body),
        None => decide(objects, &method, path, dry, body),
    };
    let text = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    reader.get_mut().write_all((head + &text).as_bytes()).ok()
}

fn decide(objects: &Mutex<Objects>, method: &str, path: &str, dry: bool, body: Value) -> Answer {
    let Ok(mut objects) = objects.lock() else {
        return refused(
            "500 Internal Server Error",
            "InternalError",
            500,
            "a request failed before",
        );
    };
    let mut next = objects.clone();
    let answer = match method {
        "POST" => create(&mut next, path, body),
        "PUT" => change(&mut next, path, &|_| body.clone()),
        "PATCH" => change(&mut next, path, &|old| {
            let mut new = old.clone();
            merge(&mut new, &body);
            new
        }),
        "DELETE" => match next.remove(path) {
            Some(_) => (
                "200 OK",
                json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}),
            ),
            None => missing(path),
        },
        _ => refused("405 Method Not Allowed", "MethodNotAllowed", 405, method),
    };
    if !dry && answer.0.starts_with('2') {
        *objects = next;
    }
    answer
}

fn look(objects: &Mutex<Objects>, path: &str, query: &str) -> Answer {
    match objects.lock() {
        Ok(objects) => get(&objects, path, &selector(query)),
        Err(_) => refused(
            "500 Internal Server Error",
            "InternalError",
            500,
            "a request failed before",
        ),
    }
}

/// Labels and their values, of those that a list asks for.
fn selector(query: &str) -> Vec<(String, String)> {
    let asked = query
        .split('&')
        .find_map(|one| one.strip_prefix("labelSelector="));
    let plain = percent_encoding::percent_decode_str(asked.unwrap_or_default()).decode_utf8_lossy();
    let pairs = plain.split(',').filter_map(|one| one.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn get(objects: &Objects, path: &str, labels: &[(String, String)]) -> Answer {
    if let Some(item) = objects.get(path) {
        return ("200 OK", item.clone());
    }
    let collection = KINDS
        .iter()
        .find(|(plural, ..)| path.ends_with(&format!("/{plural}")));
    let Some((_, kind, version, _)) = collection else {
        return missing(path);
    };
    let below = format!("{path}/");
    // Without a namespace in the path it is those of all.
    let (root, plural) = path.rsplit_once('/').unwrap_or_default();
    let of_any = |own: &str| {
        !path.contains("/namespaces/")
            && own.starts_with(root)
            && own.rsplit('/').nth(1) == Some(plural)
    };
    let items = objects
        .iter()
        .filter(|(own, _)| own.starts_with(&below) || of_any(own));
    let has = |item: &&Value| {
        let own = &item["metadata"]["labels"];
        labels.iter().all(|(name, value)| own[name] == *value)
    };
    let items: Vec<&Value> = items.map(|(_, item)| item).filter(has).collect();
    (
        "200 OK",
        json!({"kind": format!("{kind}List"), "apiVersion": version, "metadata": {}, "items": items}),
    )
}

fn create(objects: &mut Objects, asked: &str, mut item: Value) -> Answer {
    // The namespace may stand in the path alone.
    let mut parts = asked.split('/').skip_while(|part| *part != "namespaces");
    if let (Some(_), Some(namespace)) = (parts.next(), parts.next())
        && item["kind"] != "Namespace"
    {
        item["metadata"]["namespace"] = namespace.into();
    }
    let Some(path) = path(&item) else {
        return refused(
            "422 Unprocessable Entity",
            "Invalid",
            422,
            "the object has no name or no kind that is served",
        );
    };
    if objects.contains_key(&path) {
        return refused(
            "409 Conflict",
            "AlreadyExists",
            409,
            &format!("{path} already exists"),
        );
    }
    if item["kind"] == "Job" {
        let set = [
            "/spec/selector",
            "/metadata/uid",
            "/spec/template/metadata/labels/controller-uid",
        ];
        if let Some(own) = set.iter().find(|own| item.pointer(own).is_some()) {
            return refused(
                "422 Unprocessable Entity",
                "Invalid",
                422,
                &format!("{own}: is not to be set for a new Job"),
            );
        }
    }
    // An object that is made anew is another one.
    static MADE: AtomicU64 = AtomicU64::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    item["metadata"]["uid"] = format!("made-{number}").into();
    objects.insert(path, item.clone());
    ("201 Created", item)
}

fn change(objects: &mut Objects, path: &str, edit: &dyn Fn(&Value) -> Value) -> Answer {
    let Some(old) = objects.get(path).cloned() else {
        return missing(path);
    };
    let mut new = edit(&old);
    if old["kind"] == "RuntimeClass" && old["handler"] != new["handler"] {
        return refused(
            "422 Unprocessable Entity",
            "Invalid",
            422,
            "handler: field is immutable",
        );
    }
    let template = |item: &Value| item.pointer("/spec/template").cloned();
    if template(&old) != template(&new) {
        if old["kind"] == "Job" {
            return refused(
                "422 Unprocessable Entity",
                "Invalid",
                422,
                "spec.template: field is immutable",
            );
        }
        let before = old["metadata"]["generation"].as_i64().unwrap_or(1);
        new["metadata"]["generation"] = (before + 1).into();
        for (revision, item) in [(before, &old), (before + 1, &new)] {
            remember(objects, item, revision);
        }
    }
    new["metadata"]["uid"] = old["metadata"]["uid"].clone();
    objects.insert(path.to_owned(), new.clone());
    ("200 OK", new)
}

/// What the controllers keep of each template, for `kubectl rollout undo`.
fn remember(objects: &mut Objects, item: &Value, revision: i64) {
    let Some(name) = item["metadata"]["name"].as_str() else {
        return;
    };
    let mut template = item["spec"]["template"].clone();
    template["$patch"] = "replace".into();
    let revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": revision,
        "metadata": {
            "name": format!("{name}-{revision}"), "namespace": item["metadata"]["namespace"],
            "labels": item["spec"]["template"]["metadata"]["labels"],
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": item["kind"], "name": name,
                "uid": item["metadata"]["uid"], "controller": true}],
        },
        "data": {"spec": {"template": template}},
    });
    objects.extend(path(&revision).map(|path| (path, revision)));
}

fn missing(path: &str) -> Answer {
    refused(
        "404 Not Found",
        "NotFound",
        404,
        &format!("{path} not found"),
    )
}

fn refused(status: &'static str, reason: &str, code: u16, message: &str) -> Answer {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message});
    (status, body)
}

/// As the API server does with a strategic merge patch, for the lists that `apply.sh` patches.
fn merge(into: &mut Value, delta: &Value) {
    match (into, delta) {
        (into, Value::Object(delta)) if delta.get("$patch").is_some_and(|how| how == "replace") => {
            let kept = delta.iter().filter(|(key, _)| !key.starts_with('$'));
            *into = Value::Object(
                kept.map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
            );
        }
        (Value::Object(into), Value::Object(delta)) => {
            for (key, value) in delta {
                if value.is_null() {
                    into.remove(key);
                } else if !key.starts_with('$') {
                    merge(into.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (Value::Array(into), Value::Array(delta))
            if delta.iter().all(|one| one.get("name").is_some()) =>
        {
            for one in delta {
                match into.iter_mut().find(|old| old["name"] == one["name"]) {
                    Some(old) => merge(old, one),
                    None => into.push(one.clone()),
                }
            }
        }
        (into, delta) => *into = delta.clone(),
    }
}
