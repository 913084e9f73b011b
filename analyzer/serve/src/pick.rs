//! Which objects a list or watch is of: namespace, selectors, pages.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ask::Query;
use crate::chunks::Reader;
use crate::fields::Fields;
use crate::select::Labels;
use crate::status::Status;
use crate::store::{Coverage, Kind, Object, Store};

/// Conditions on objects.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    labels: Labels,
    fields: Fields,
}

impl Filter {
    /// Reads the selectors of a query.
    pub(crate) fn parse(query: &Query, kind: &Kind) -> Result<Self, Status> {
        Ok(Self {
            labels: Labels::parse(query.get("labelSelector").unwrap_or(""))?,
            fields: Fields::parse(query.get("fieldSelector").unwrap_or(""), kind)?,
        })
    }

    /// Takes one object only.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            labels: Labels::default(),
            fields: Fields::named(name),
        }
    }

    fn takes_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    fn takes(&self, object: &Value) -> bool {
        self.labels.match_labels(object) && self.fields.match_fields(object)
    }
}

/// A page of objects.
#[derive(Debug)]
pub(crate) struct Picked {
    pub(crate) objects: Vec<Object>,
    /// Where the next page goes on, and how many objects are left, if that is known.
    pub(crate) more: Option<(String, Option<usize>)>,
}

/// Options of a list.
#[derive(Debug)]
pub(crate) struct Page {
    limit: Option<usize>,
    after: Option<String>,
}

#[derive(Deserialize)]
struct Token {
    v: String,
    start: String,
}

impl Page {
    /// All of it.
    pub(crate) const ALL: Self = Self {
        limit: None,
        after: None,
    };

    /// Reads the options of a list.
    ///
    /// Errors: in the words of the server.
    pub(crate) fn parse(query: &Query, store: &Store) -> Result<Self, Status> {
        let limit = query.number("limit")?.filter(|limit| *limit > 0);
        query.number("timeoutSeconds")?;
        let after = query.filled("continue").map(last_of).transpose()?;
        if query.flag("sendInitialEvents") {
            let text = "Forbidden: sendInitialEvents is forbidden for list";
            return Err(Status::invalid_option(
                "sendInitialEvents",
                "FieldValueForbidden",
                text,
            ));
        }
        version_of(query, store, after.is_some())?;
        Ok(Self {
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            after,
        })
    }
}

/// Checks `resourceVersion` and how it is to be matched.
fn version_of(query: &Query, store: &Store, continued: bool) -> Result<(), Status> {
    let version = query.filled("resourceVersion");
    let refuse = |reason: &str, text: &str| {
        Err(Status::invalid_option("resourceVersionMatch", reason, text))
    };
    let matching = query.filled("resourceVersionMatch");
    match matching {
        None | Some("Exact" | "NotOlderThan") => {}
        Some(other) => {
            let text = format!(
                "Unsupported value: {other:?}: supported values: \"Exact\", \"NotOlderThan\", \"\""
            );
            return refuse("FieldValueNotSupported", &text);
        }
    }
    if matching.is_some() && continued {
        return refuse(
            "FieldValueForbidden",
            "Forbidden: resourceVersionMatch is forbidden when continue is provided",
        );
    }
    let Some(version) = version else {
        if matching.is_some() {
            return refuse(
                "FieldValueForbidden",
                "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
            );
        }
        return Ok(());
    };
    let asked: u64 = version.parse().map_err(|_| {
        let text = format!(
            "Invalid value: {version:?}: strconv.ParseUint: parsing {version:?}: invalid syntax"
        );
        Status::bad_request(format!("resourceVersion: {text}"))
    })?;
    match matching {
        Some("Exact") if asked == 0 => refuse(
            "FieldValueForbidden",
            "Forbidden: resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"",
        ),
        Some("Exact") if asked < store.revision => Err(Status::expired(asked, store.revision)),
        _ if asked > store.revision => Err(Status::from_the_future(asked, store.revision)),
        _ => Ok(()),
    }
}

/// The key behind which a page goes on.
fn last_of(token: &str) -> Result<String, Status> {
    let refuse = |why: &str| {
        Status::bad_request(format!(
            "invalid continue token: continue key is not valid: {why}"
        ))
    };
    let bytes = URL_SAFE_NO_PAD
        .decode(token)
        .map_err(|_| refuse("illegal base64 data"))?;
    let token: Token = serde_json::from_slice(&bytes).map_err(|_| {
        let first = bytes.first().map_or(' ', |byte| char::from(*byte));
        refuse(&format!(
            "invalid character {first:?} looking for beginning of value"
        ))
    })?;
    if token.v != "meta.k8s.io/v1" || token.start.is_empty() {
        return Err(refuse("it is not one of this server"));
    }
    Ok(token
        .start
        .trim_end_matches('\0')
        .trim_start_matches('/')
        .to_owned())
}

/// The token of a page that ends with this object.
fn token(revision: u64, key: &str) -> String {
    let text = json!(format!("{key}\0"));
    URL_SAFE_NO_PAD.encode(format!(
        r#"{{"v":"meta.k8s.io/v1","rv":{revision},"start":{text}}}"#
    ))
}

/// Whether a list can be answered, and what is to be said beside it.
///
/// Errors: the kind or namespace was not collected.
pub(crate) fn covered(
    store: &Store,
    kind: &Kind,
    namespace: Option<&str>,
) -> Result<Option<String>, Status> {
    match &kind.coverage {
        Coverage::Whole => Ok(store.deprecation(kind).map(str::to_owned)),
        Coverage::Missing(why) => Err(Status::not_collected(kind, namespace, why)),
        Coverage::Part(why) => {
            if let Some(name) = namespace {
                if kind.listed.contains(name) {
                    return Ok(store.deprecation(kind).map(str::to_owned));
                }
                if kind.within(namespace).is_empty() {
                    return Err(Status::not_collected(kind, namespace, why));
                }
            }
            Ok(Some(format!(
                "{} may be missing from this recording: {why}",
                kind.resource()
            )))
        }
    }
}

/// Picks the objects of a page.
pub(crate) fn pick(
    store: &Store,
    kind: &Kind,
    namespace: Option<&str>,
    filter: &Filter,
    page: &Page,
) -> Picked {
    let all = kind.within(namespace);
    let start = match (&page.after, namespace) {
        (Some(after), Some(namespace)) => {
            let key = format!("{namespace}/{after}");
            all.partition_point(|one| *one.key <= *key)
        }
        (Some(after), None) => all.partition_point(|one| *one.key <= **after),
        (None, _) => 0,
    };
    let rest = all.get(start..).unwrap_or_default();
    let limit = page.limit.unwrap_or(usize::MAX);
    let mut reader = Reader::default();
    let mut objects: Vec<Object> = Vec::new();
    let mut seen = 0_usize;
    let mut more = false;
    for object in rest {
        let taken = filter.takes_all() || {
            let raw = reader.read(&store.chunks, object.spot);
            serde_json::from_slice(&raw).is_ok_and(|value| filter.takes(&value))
        };
        if taken && objects.len() == limit {
            more = true;
            break;
        }
        seen += 1;
        if taken {
            objects.push(object.clone());
        }
    }
    let last = objects.last().filter(|_| more);
    let more = last.map(|last| {
        let key = match namespace {
            Some(_) => last.name().to_owned(),
            // Servers read events past their cache, which names keys without the leading slash.
            None if kind.plural == "events" && !kind.is_custom() => last.key.to_string(),
            None => format!("/{}", last.key),
        };
        let left = filter.takes_all().then(|| rest.len() - seen);
        (token(store.revision, &key), left)
    });
    Picked { objects, more }
}
