//! Events of the core and of the events.k8s.io API.

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;

use super::pods::{Meta, fact, time};
use super::{Channel, Item, Parsed, Parser, Read, Said};
use crate::facts::excerpt;
use crate::facts::kube::Event;

/// The API server takes no longer messages (bytes); a foreign bundle may hold some.
const LONGEST_MESSAGE: usize = 1024;

/// Reads `kubectl get events -o json`, one namespace an entry.
pub(super) static PARSER: Parser = Parser {
    id: "events",
    reads: &[Entry::ListIn("events", ANY), Entry::List("events")],
    read: Read::Items(parse),
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Regarding {
    kind: String,
    namespace: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Series {
    count: u64,
    last_observed_time: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reporter {
    component: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Object {
    metadata: Meta,
    #[serde(rename = "type")]
    kind: String,
    reason: String,
    message: String,
    note: String,
    involved_object: Regarding,
    regarding: Regarding,
    count: Option<u64>,
    first_timestamp: Option<String>,
    last_timestamp: Option<String>,
    event_time: Option<String>,
    series: Option<Series>,
    source: Reporter,
    reporting_component: String,
    /// Not of the API: what a printed table tells of its time.
    ago: Option<i64>,
}

fn parse(item: &Item<'_>) -> Parsed {
    let object: Object = match item.object("event") {
        Ok(object) => object,
        Err(problem) => return problem,
    };
    let event = event(object);
    let said = Said {
        channel: Channel::Event,
        subject: event.object.clone(),
        text: event.message.clone(),
        place: item.place.clone(),
        at: event.last,
        count: event.count,
    };
    let text = format!("\"reason\":\"{}\"", event.reason);
    let mut stated = fact(event, item, text);
    stated.at = stated.data.last;
    Parsed {
        facts: vec![stated.into()],
        said: vec![said],
        ..Parsed::default()
    }
}

fn event(object: Object) -> Event {
    let about = if object.involved_object.name.is_empty() {
        &object.regarding
    } else {
        &object.involved_object
    };
    let kind = about.kind.to_lowercase();
    let name = &about.name;
    let series = object.series.unwrap_or_default();
    let single = time(object.event_time.as_deref());
    let created = time(object.metadata.creation_timestamp.as_deref());
    let first = time(object.first_timestamp.as_deref())
        .or(single)
        .or(created);
    let last = time(series.last_observed_time.as_deref())
        .or_else(|| time(object.last_timestamp.as_deref()))
        .or(first);
    Event {
        object: match about.namespace.is_empty() {
            true => format!("{kind}/{name}").into(),
            false => format!("{kind}/{}/{name}", about.namespace).into(),
        },
        namespace: object.metadata.namespace.into(),
        kind: object.kind.into(),
        reason: object.reason.into(),
        message: excerpt(
            if object.message.is_empty() {
                &object.note
            } else {
                &object.message
            },
            LONGEST_MESSAGE,
        )
        .into(),
        count: object.count.unwrap_or(series.count).max(1),
        first,
        last,
        ago: object.ago,
        reporter: match object.source.component.is_empty() {
            true => object.reporting_component.into(),
            false => object.source.component.into(),
        },
    }
}
