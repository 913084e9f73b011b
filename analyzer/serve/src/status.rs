//! What the server says when it does not give what was asked for.

use serde_json::{Map, Value, json};

use crate::store::{Kind, Store};

/// A `Status` with its code.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The HTTP code.
    pub code: u16,
    message: String,
    reason: &'static str,
    details: Option<Value>,
}

impl Status {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            reason,
            details: None,
        }
    }

    fn about(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// As JSON, fields in the order of a real server.
    pub(crate) fn json(&self) -> String {
        let quoted = |text: &str| {
            let mut out = Vec::new();
            crate::value::write_go_string(text, &mut out);
            String::from_utf8(out).unwrap_or_default()
        };
        let mut text = format!(
            r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":{}"#,
            quoted(&self.message)
        );
        if !self.reason.is_empty() {
            text.push_str(&format_args!(r#","reason":"{}""#, self.reason).to_string());
        }
        if let Some(details) = &self.details {
            text.push_str(r#","details":"#);
            text.push_str(&ordered(details));
        }
        text.push_str(&format_args!(r#","code":{}}}"#, self.code).to_string());
        text
    }

    /// The path is of nothing that is served.
    pub(crate) fn no_such_path() -> Self {
        Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
        .about(json!({}))
    }

    /// The kind has no such verb.
    pub(crate) fn no_such_method() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).about(json!({}))
    }

    /// There is no object of this name.
    pub(crate) fn no_such_object(kind: &Kind, name: &str) -> Self {
        let shown = match kind.plural.as_str() {
            "componentstatuses" => "componentstatus".to_owned(),
            _ => kind.resource(),
        };
        let message = format!("{shown} \"{name}\" not found");
        let plural = shown.split('.').next().unwrap_or_default();
        Self::new(404, "NotFound", message).about(details(&kind.group, plural, Some(name)))
    }

    /// The recording does not hold this. `Forbidden` is what clients know as "there may be some, you cannot see them";
    /// they take 404 for "there are none", which would be a lie.
    pub(crate) fn not_collected(kind: &Kind, namespace: Option<&str>, why: &str) -> Self {
        let place = namespace.map_or_else(String::new, |name| format!(" of namespace {name}"));
        let message = format!("{}{place} were not collected: {why}", kind.resource());
        Self::new(403, "Forbidden", message).about(details(&kind.group, &kind.plural, None))
    }

    /// Something was to be changed or run.
    pub(crate) fn recording(store: &Store, what: &str) -> Self {
        let message = format!(
            "{what}: this is a recording ({}), it can be read and not changed",
            store.title
        );
        Self::new(405, "MethodNotAllowed", message).about(json!({}))
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// A list option that contradicts itself or has a value that there is not.
    pub(crate) fn invalid_option(field: &str, reason: &str, text: &str) -> Self {
        let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {field}: {text}");
        let cause = json!([{"reason": reason, "message": text, "field": field}]);
        Self::new(422, "Invalid", message)
            .about(json!({"group": "meta.k8s.io", "kind": "ListOptions", "causes": cause}))
    }

    pub(crate) fn invalid_log_option(pod: &str, field: &str, text: &str) -> Self {
        let message = format!("PodLogOptions \"{pod}\" is invalid: {field}: {text}");
        let cause = json!([{"reason": "FieldValueInvalid", "message": text, "field": field}]);
        Self::new(422, "Invalid", message)
            .about(json!({"name": pod, "kind": "PodLogOptions", "causes": cause}))
    }

    /// No representation that the client takes.
    pub(crate) fn not_acceptable() -> Self {
        Self::new(
            406,
            "NotAcceptable",
            "only the following media types are accepted: application/json",
        )
    }

    /// A list or watch from before the recording.
    pub(crate) fn expired(asked: u64, held: u64) -> Self {
        let message = format!("too old resource version: {asked} ({held})");
        Self::new(410, "Expired", message)
    }

    /// A version that is newer than the recording.
    pub(crate) fn from_the_future(asked: u64, held: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {held}");
        let cause =
            json!([{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]);
        Self::new(504, "Timeout", message).about(json!({"causes": cause, "retryAfterSeconds": 1}))
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// The request has no token, or another.
    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// The request comes from another page or goes to another name.
    pub(crate) fn wrong_host(message: impl Into<String>) -> Self {
        Self::new(403, "Forbidden", message)
    }
}

fn details(group: &str, plural: &str, name: Option<&str>) -> Value {
    let mut details = Map::new();
    if let Some(name) = name {
        details.insert("name".to_owned(), json!(name));
    }
    if !group.is_empty() {
        details.insert("group".to_owned(), json!(group));
    }
    details.insert("kind".to_owned(), json!(plural));
    Value::Object(details)
}

/// Details with their fields in the order of a real server.
fn ordered(details: &Value) -> String {
    const ORDER: [&str; 8] = [
        "name",
        "group",
        "kind",
        "reason",
        "message",
        "field",
        "causes",
        "retryAfterSeconds",
    ];
    match details {
        Value::Object(fields) => {
            let parts = ORDER.iter().filter_map(|name| {
                let value = fields.get(*name)?;
                Some(format!("\"{name}\":{}", ordered(value)))
            });
            format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(ordered).collect();
            format!("[{}]", items.join(","))
        }
        plain => {
            let mut out = Vec::new();
            crate::value::write_go_value(plain, &mut out);
            String::from_utf8(out).unwrap_or_default()
        }
    }
}
