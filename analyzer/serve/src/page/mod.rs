//! The page of the run: kinds, tables, objects, logs and files of nodes in a browser. It is three files without a framework,
//! under a policy that lets nothing else in, and sets everything of the capture as text.

mod search;

use bytes::Bytes;
use serde_json::json;

use crate::answer::{Answer, Body};
use crate::ask::Query;
use crate::gate::COOKIE_NAME;
use crate::status::Status;
use crate::store::Store;

/// What the page may load: its own files, and answers of its own server.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// What a report may load: nothing but what it carries.
const OF_REPORT: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";

/// A context as the page sees it.
pub(crate) struct Context<'s> {
    pub(crate) name: &'s str,
    /// What its paths start with; empty where there is one only.
    pub(crate) prefix: String,
    pub(crate) store: &'s Store,
    pub(crate) report: Option<&'s Bytes>,
}

/// Lets a browser in: the token of the address goes into a cookie, so that it is in no address afterwards.
pub(crate) fn enter(token: &str) -> Answer {
    let mut answer = Answer::text("");
    answer.code = 303;
    answer.headers.push(("Location", "/ui/".to_owned()));
    let cookie = format!("{COOKIE_NAME}={token}; Path=/; Secure; HttpOnly; SameSite=Strict");
    answer.headers.push(("Set-Cookie", cookie));
    answer
}

/// A file of the page, or what it asks for.
///
/// Errors: it is no part of the page.
pub(crate) fn answer(
    contexts: &[Context<'_>],
    path: &str,
    query: &Query,
) -> Result<Answer, Status> {
    let file = |content_type: &'static str, text: &'static str| {
        let body = Body::Whole(Bytes::from_static(text.as_bytes()));
        Ok(with_policy(Answer::new(content_type, body), POLICY))
    };
    match path {
        "/ui/" | "/ui" => file("text/html; charset=utf-8", include_str!("page.html")),
        "/ui/page.js" => file("text/javascript; charset=utf-8", include_str!("page.js")),
        "/ui/page.css" => file("text/css; charset=utf-8", include_str!("page.css")),
        "/ui/contexts.json" => Ok(list(contexts)),
        other => {
            let of = |what: &str| {
                let rest = other.strip_prefix("/ui/")?.strip_prefix(what)?;
                contexts.iter().find(|one| one.prefix == rest)
            };
            if let Some(context) = of("search") {
                let text = query.get("q").unwrap_or("");
                return Ok(Answer::json(
                    search::search(context.store, text).to_string(),
                ));
            }
            let report = of("report").and_then(|context| context.report);
            let report = report.ok_or_else(Status::no_such_path)?;
            let page = Answer::new("text/html; charset=utf-8", Body::Whole(report.clone()));
            Ok(with_policy(page, OF_REPORT))
        }
    }
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

fn list(contexts: &[Context<'_>]) -> Answer {
    let all: Vec<_> = contexts
        .iter()
        .map(|one| {
            json!({"name": one.name, "prefix": one.prefix, "title": one.store.title(), "report": one.report.is_some()})
        })
        .collect();
    Answer::json(json!(all).to_string())
}
