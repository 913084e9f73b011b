//! Kubernetes objects that were recognised in a text, given to the parsers of the bundle's lists.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::Place;
use crate::parsers::{Parsed, kind_of, read_as, reading};

/// Reads an object, whose text starts at this place.
pub(crate) fn read(object: &Value, place: Place) -> Option<Parsed> {
    let kind = object.get("kind").and_then(Value::as_str)?;
    if kind == "ClusterConfiguration" {
        // No object of the API: the file that `kubeadm init` was given.
        return Some(Parsed {
            facts: vec![crate::parsers::kubeadm(object, place)?],
            ..Parsed::default()
        });
    }
    // No object is written that nothing reads.
    let read = reading(kind)?;
    Some(read(&serde_json::to_vec(object).ok()?, place))
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(default)]
    kind: String,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

/// Reads an object or a list of objects in JSON that starts at this line of the text.
pub(crate) fn read_json(text: &str, path: &str, line: u32) -> Vec<Parsed> {
    let Ok(list) = serde_json::from_str::<Listed<'_>>(text) else {
        return Vec::new();
    };
    // Items come in order: each is counted from the one before, for lists hold thousands.
    let mut counted = (0, 0);
    let mut at = |raw: &str| {
        let offset = (raw.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let offset = offset.clamp(counted.0, text.len());
        let between = &text.as_bytes()[counted.0..offset];
        counted = (
            offset,
            counted.1 + memchr::memchr_iter(b'\n', between).count(),
        );
        Place {
            path: path.into(),
            line: Some(line.saturating_add(u32::try_from(counted.1).unwrap_or(u32::MAX))),
        }
    };
    let one = |json: &str, kind: &str, place: Place| read_as(kind, json.as_bytes(), place);
    match list.items {
        Some(items) => {
            // The items of a typed list (`PodList`) do not always say their kind themselves.
            let typed = list.kind.strip_suffix("List").unwrap_or("");
            let each = items.into_iter().filter_map(|item| {
                let own = kind_of(item.get().as_bytes()).ok();
                let own = own.filter(|kind| !kind.is_empty());
                one(item.get(), own.as_deref().unwrap_or(typed), at(item.get()))
            });
            each.collect()
        }
        None => one(text, &list.kind, at(text.trim_start()))
            .into_iter()
            .collect(),
    }
}
