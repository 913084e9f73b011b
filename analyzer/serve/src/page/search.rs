//! Search over the text of all objects.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::chunks::Reader;
use crate::store::Store;

/// Most objects that are found.
const MOST: usize = 200;
/// Text around a hit, in bytes.
const AROUND: usize = 60;

/// Objects whose text holds this, capital and small letters alike. Ends early when nobody waits any more.
pub(super) fn search(store: &Store, text: &str, gone: &AtomicBool) -> Value {
    let wanted = text.to_lowercase();
    let mut found = Vec::new();
    if wanted.is_empty() {
        return json!(found);
    }
    let mut reader = Reader::default();
    for kind in &store.kinds {
        for object in &kind.objects {
            if gone.load(Ordering::Relaxed) {
                return json!(found);
            }
            let raw = reader.read(&store.chunks, object.spot);
            let text = String::from_utf8_lossy(&raw);
            let lower = text.to_lowercase();
            let Some(at) = lower.find(&wanted) else {
                continue;
            };
            let from = lower.floor_char_boundary(at.saturating_sub(AROUND));
            let to = lower.ceil_char_boundary((at + wanted.len() + AROUND).min(lower.len()));
            let namespace = &object.key[..usize::from(object.namespace)];
            found.push(json!({
                "group": kind.group, "plural": kind.plural, "kind": kind.kind, "key": object.key,
                "namespace": namespace, "name": object.name(), "text": lower.get(from..to),
            }));
            if found.len() == MOST {
                return json!(found);
            }
        }
    }
    json!(found)
}
