//! The page of the run: report, objects, files, lines and what a change would do, in a browser. It is a few files without a
//! framework, under a policy that lets nothing else in, and sets everything of the capture as text.

mod desk;
mod search;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use serde_json::{Value, json};

pub use desk::{Desk, LinesAsk, Proposed};

use crate::answer::{Answer, Body};
use crate::ask::{Ask, Query};
use crate::status::Status;
use crate::store::Store;

/// What the page may load: its own files, answers of its own server, and the report in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// What a report may do inside the page: run its own script, whose hash it states itself, and lead the page to a line when a
/// person asks for it. It is of no origin, so it can ask the server for nothing.
const OF_REPORT: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-top-navigation-by-user-activation";
/// Longest proposed change, in bytes; the server's own limit for a body is higher.
const LONGEST_CHANGE: usize = 512 << 10;

/// A context as the page sees it.
pub(crate) struct Context {
    pub(crate) name: String,
    /// What its paths start with; empty where there is one only.
    pub(crate) prefix: String,
    pub(crate) store: Arc<Store>,
    pub(crate) desk: Arc<dyn Desk>,
}

/// Lets a browser in: the token of the address goes into a cookie, so that it is in no address afterwards.
pub(crate) fn enter(cookie: &str, token: &str) -> Answer {
    let mut answer = Answer::text("");
    answer.code = 303;
    answer.headers.push(("Location", "/ui/".to_owned()));
    let cookie = format!("{cookie}={token}; Path=/; Secure; HttpOnly; SameSite=Strict");
    answer.headers.push(("Set-Cookie", cookie));
    answer
}

/// A file of the page, or what it asks for. `gone` is set when nobody waits for the answer any more.
///
/// Errors: it is no part of the page, or why it could not be done.
pub(crate) fn answer(contexts: &[Context], ask: &Ask, gone: &AtomicBool) -> Result<Answer, Status> {
    let query = Query::parse(&ask.query);
    let wanted = ask.path.strip_prefix("/ui").unwrap_or_default();
    match wanted {
        "" | "/" => Ok(file("text/html; charset=utf-8", include_str!("page.html"))),
        "/page.js" => Ok(script(include_str!("page.js"))),
        "/base.js" => Ok(script(include_str!("base.js"))),
        "/objects.js" => Ok(script(include_str!("objects.js"))),
        "/lines.js" => Ok(script(include_str!("lines.js"))),
        "/change.js" => Ok(script(include_str!("change.js"))),
        "/page.css" => Ok(file("text/css; charset=utf-8", include_str!("page.css"))),
        "/contexts.json" => Ok(list(contexts)),
        _ => {
            let rest = wanted.strip_prefix('/').unwrap_or_default();
            let (what, prefix) = match rest.find('/') {
                Some(at) => rest.split_at(at),
                None => (rest, ""),
            };
            let context = contexts.iter().find(|one| one.prefix == prefix);
            let context = context.ok_or_else(Status::no_such_path)?;
            of_context(context, what, &query, ask, gone)
        }
    }
}

/// What the page asks of one context.
fn of_context(
    context: &Context,
    what: &str,
    query: &Query,
    ask: &Ask,
    gone: &AtomicBool,
) -> Result<Answer, Status> {
    let desk = &context.desk;
    let json = |made: Result<Value, String>| {
        made.map(|value| Answer::json(value.to_string()))
            .map_err(Status::bad_request)
    };
    match (ask.method.as_str(), what) {
        ("GET", "search") => {
            let found = search::search(&context.store, query.get("q").unwrap_or(""), gone);
            Ok(Answer::json(found.to_string()))
        }
        ("GET", "report") => {
            let report = desk.report(&context.prefix).map_err(Status::bad_request)?;
            let page = Answer::new("text/html; charset=utf-8", Body::Whole(report));
            Ok(with_policy(page, OF_REPORT))
        }
        ("GET", "files") => json(desk.files()),
        ("GET", "lines") => json(desk.lines(&lines_ask(query)?, gone)),
        ("GET", "causes") => json(desk.causes()),
        ("POST", "change") => json(desk.attempt(&proposed(&ask.body)?)),
        _ => Err(Status::no_such_path()),
    }
}

fn lines_ask(query: &Query) -> Result<LinesAsk, Status> {
    let text = |name: &str| query.get(name).unwrap_or("").to_owned();
    let from = query.number("from")?;
    Ok(LinesAsk {
        path: text("path"),
        from: from.map(|from| u64::try_from(from).unwrap_or(1).max(1)),
        text: text("q"),
        since: text("since"),
        until: text("until"),
        level: text("level"),
        node: text("node"),
        speaker: text("speaker"),
        chart: query.flag("chart"),
    })
}

/// A proposed change, as the form sends it.
fn proposed(body: &Bytes) -> Result<Proposed, Status> {
    if body.len() > LONGEST_CHANGE {
        return Err(Status::bad_request(
            "the change is longer than 512 KiB; `casefile-analyzer fix --what-if FILE` takes it",
        ));
    }
    let form: Value = serde_json::from_slice(body)
        .map_err(|error| Status::bad_request(format!("the form is not JSON: {error}")))?;
    let text = |name: &str| form[name].as_str().unwrap_or("").trim().to_owned();
    Ok(Proposed {
        name: text("name"),
        // Indentation and the last line's end belong to a file.
        text: form["text"].as_str().unwrap_or("").to_owned(),
        cause: text("cause"),
        release: text("release"),
        at: text("at"),
        node: text("node"),
    })
}

fn file(content_type: &'static str, text: &'static str) -> Answer {
    let body = Body::Whole(Bytes::from_static(text.as_bytes()));
    with_policy(Answer::new(content_type, body), POLICY)
}

fn script(text: &'static str) -> Answer {
    file("text/javascript; charset=utf-8", text)
}

fn with_policy(mut answer: Answer, policy: &str) -> Answer {
    answer
        .headers
        .push(("Content-Security-Policy", policy.to_owned()));
    answer
        .headers
        .push(("Referrer-Policy", "no-referrer".to_owned()));
    answer
}

fn list(contexts: &[Context]) -> Answer {
    let all: Vec<_> = contexts
        .iter()
        .map(|one| json!({"name": one.name, "prefix": one.prefix, "title": one.store.title()}))
        .collect();
    Answer::json(json!(all).to_string())
}
