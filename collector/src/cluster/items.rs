//! A list body, split into its items while it arrives: at most one item is held, whatever the list's size.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Everything of a list but its items; real ones take a few hundred bytes.
const MAX_ENVELOPE: usize = 1 << 20;
/// Only a member's name of this length can be `items`.
const MAX_KEY: usize = 16;

/// Why a list's body cannot be split.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// A byte where JSON allows none of its kind.
    #[error("not a JSON list: unexpected byte at offset {offset}")]
    Syntax {
        /// Bytes from the body's beginning.
        offset: u64,
    },
    /// The body ends inside the list.
    #[error("the list is cut short after {offset} bytes")]
    Cut {
        /// Bytes that came.
        offset: u64,
    },
    /// What surrounds the items is larger than any API server makes it.
    #[error("the list's own fields take over 1 MiB")]
    Envelope,
    /// What surrounds the items is not the JSON of a list.
    #[error("the list's own fields cannot be read")]
    Fields(#[source] serde_json::Error),
}

/// A list without its items.
#[derive(Debug, Default, Deserialize)]
pub struct Envelope {
    /// `PodList` and so on; `Status` where the server answered with an error.
    #[serde(default)]
    pub kind: String,
    /// The list's own metadata.
    #[serde(default)]
    pub metadata: ListMeta,
    /// Declared so that a second `items` is an error; always empty here.
    #[serde(default, rename = "items")]
    _items: Option<IgnoredAny>,
}

/// A list's metadata, as far as paging needs it.
#[derive(Debug, Default, Deserialize)]
pub struct ListMeta {
    /// The token of the next page; empty on the last one.
    #[serde(default, rename = "continue")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Start,
    Envelope,
    /// In `items`, before the first item, where `]` may come too.
    First,
    /// In `items`, after a comma.
    Value,
    /// In `items`, after an item.
    Comma,
    Item,
    Done,
}

/// Splits one list body.
#[derive(Debug)]
pub struct ItemSplitter {
    place: Origin,
    depth: u32,
    in_string: bool,
    escaped: bool,
    key: Vec<u8>,
    value_of_items: bool,
    envelope: Vec<u8>,
    item: Vec<u8>,
    item_over: bool,
    max_item: usize,
    offset: u64,
    oversized: u64,
}

impl ItemSplitter {
    /// A splitter that leaves out (and counts) items of over `max_item` bytes.
    pub fn new(max_item: usize) -> Self {
        Self {
            place: Origin::Start,
            depth: 0,
            in_string: false,
            escaped: false,
            key: Vec::new(),
            value_of_items: false,
            envelope: Vec::new(),
            item: Vec::new(),
            item_over: false,
            max_item,
            offset: 0,
            oversized: 0,
        }
    }

    /// Items left out because they are too big.
    pub fn oversized(&self) -> u64 {
        self.oversized
    }

    /// Takes bytes in any chunking and appends every item that ends in them, raw, to `items`.
    pub fn push(&mut self, bytes: &[u8], items: &mut Vec<Vec<u8>>) -> Result<(), SplitError> {
        for &byte in bytes {
            let fine = match self.place {
                Origin::Item => self.in_item(byte, items),
                Origin::Envelope => self.in_envelope(byte)?,
                Origin::Start => self.at_start(byte),
                Origin::First | Origin::Value | Origin::Comma => self.between_items(byte),
                Origin::Done => byte.is_ascii_whitespace(),
            };
            if !fine {
                return Err(SplitError::Syntax {
                    offset: self.offset,
                });
            }
            self.offset += 1;
        }
        Ok(())
    }

    /// The body has ended.
    pub fn finish(self) -> Result<Envelope, SplitError> {
        if self.place != Origin::Done {
            return Err(SplitError::Cut {
                offset: self.offset,
            });
        }
        serde_json::from_slice(&self.envelope).map_err(SplitError::Fields)
    }

    fn at_start(&mut self, byte: u8) -> bool {
        if byte == b'{' {
            self.place = Origin::Envelope;
            self.depth = 1;
            self.envelope.push(byte);
        }
        byte == b'{' || byte.is_ascii_whitespace()
    }

    /// Whether this byte ends a string that the one before was in; keeps track of strings and escapes.
    fn string_goes_on(&mut self, byte: u8) -> bool {
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            return false;
        }
        true
    }

    fn in_envelope(&mut self, byte: u8) -> Result<bool, SplitError> {
        if self.envelope.len() >= MAX_ENVELOPE {
            return Err(SplitError::Envelope);
        }
        self.envelope.push(byte);
        if self.in_string {
            if self.string_goes_on(byte) && self.depth == 1 && self.key.len() < MAX_KEY {
                self.key.push(byte);
            }
            return Ok(true);
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.key.clear();
            }
            b':' if self.depth == 1 => self.value_of_items = self.key == b"items",
            b',' if self.depth == 1 => self.value_of_items = false,
            b'[' if self.depth == 1 && self.value_of_items => self.place = Origin::First,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        if self.depth == 0 {
            self.place = Origin::Done;
        }
        Ok(true)
    }

    fn between_items(&mut self, byte: u8) -> bool {
        match byte {
            b']' if self.place != Origin::Value => {
                self.envelope.push(byte);
                self.value_of_items = false;
                self.place = Origin::Envelope;
            }
            b',' if self.place == Origin::Comma => self.place = Origin::Value,
            b'{' if self.place != Origin::Comma => {
                self.item.clear();
                self.item.push(byte);
                self.item_over = false;
                self.depth = 1;
                self.place = Origin::Item;
            }
            _ => return byte.is_ascii_whitespace(),
        }
        true
    }

    fn in_item(&mut self, byte: u8, items: &mut Vec<Vec<u8>>) -> bool {
        if self.item.len() < self.max_item {
            self.item.push(byte);
        } else {
            self.item_over = true;
        }
        if self.in_string {
            self.string_goes_on(byte);
            return true;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        if self.depth == 0 {
            // Back at the depth of the list itself.
            self.depth = 1;
            self.place = Origin::Comma;
            let item = std::mem::take(&mut self.item);
            if self.item_over {
                self.oversized += 1;
            } else {
                items.push(item);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(body: &[u8], cuts: &[usize]) -> Result<(Vec<Vec<u8>>, Envelope), SplitError> {
        let mut splitter = ItemSplitter::new(1 << 20);
        let mut items = Vec::new();
        let mut from = 0;
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (body.len() + 1)).collect();
        cuts.sort_unstable();
        for cut in cuts.into_iter().chain([body.len()]) {
            splitter.push(&body[from..cut], &mut items)?;
            from = cut;
        }
        Ok((items, splitter.finish()?))
    }

    #[test]
    fn items_come_out_whole_whatever_they_contain() {
        let body = br#" {"kind":"L","x":{"items":[1]},"items":[ {"a":"}]\"{"} , {"b":[{}]}],"metadata":{"continue":"t"}} "#;
        let (items, envelope) = split(body, &[]).unwrap();
        assert_eq!(
            items,
            [br#"{"a":"}]\"{"}"#.to_vec(), br#"{"b":[{}]}"#.to_vec()]
        );
        assert_eq!(envelope.metadata.next.as_deref(), Some("t"));
        assert_eq!(envelope.kind, "L");
    }

    #[test]
    fn a_list_of_nothing_is_a_list() {
        for body in [r#"{"items":[]}"#, r#"{"items":null}"#, r#"{"metadata":{}}"#] {
            assert!(split(body.as_bytes(), &[]).unwrap().0.is_empty(), "{body}");
        }
    }

    #[test]
    fn what_is_not_a_list_is_an_error_with_its_place() {
        for body in [
            "",
            "[",
            "x",
            r#"{"items":[{}"#,
            r#"{"items":[{},,{}]}"#,
            r#"{"items":[{} {}]}"#,
            r#"{"items":[{},]}"#,
            r#"{"items":[1]}"#,
            r#"{"items":[]}}"#,
            r#"{"items":[],"items":[]}"#,
            "{]",
        ] {
            assert!(split(body.as_bytes(), &[]).is_err(), "{body}");
        }
    }

    #[test]
    fn an_item_over_the_limit_is_left_out_and_counted() {
        let mut splitter = ItemSplitter::new(10);
        let mut items = Vec::new();
        splitter
            .push(br#"{"items":[{"a":"0123456789"},{"b":1}]}"#, &mut items)
            .unwrap();
        assert_eq!(items, [br#"{"b":1}"#.to_vec()]);
        assert_eq!(splitter.oversized(), 1);
        splitter.finish().unwrap();
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(serde_json::Value::from),
            any::<i32>().prop_map(serde_json::Value::from),
            "[\\\\\"{}\\[\\],: a-z\n]{0,12}".prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map("[a-z\"\\\\{]{0,5}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_items(
            values in prop::collection::vec(prop::collection::btree_map("[a-z]{1,4}", json(), 0..4), 0..6),
            cuts in prop::collection::vec(any::<usize>(), 0..20),
            pretty in any::<bool>(),
        ) {
            let list = serde_json::json!({"apiVersion": "v1", "items": values, "kind": "List"});
            let body = if pretty { serde_json::to_vec_pretty(&list) } else { serde_json::to_vec(&list) }.unwrap();
            let (items, envelope) = split(&body, &cuts).unwrap();
            prop_assert_eq!(envelope.kind, "List");
            let read: Vec<serde_json::Value> = items.iter().map(|item| serde_json::from_slice(item).unwrap()).collect();
            prop_assert_eq!(serde_json::json!(read), serde_json::json!(values));
        }

        #[test]
        fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..200), cuts in prop::collection::vec(any::<usize>(), 0..5)) {
            let _ = split(&body, &cuts);
        }

        #[test]
        fn a_broken_list_is_an_error_and_never_a_panic(at in any::<usize>(), byte in any::<u8>()) {
            let mut body = br#"{"kind":"L","items":[{"a":"b"},{"c":[1,{"d":null}]}],"metadata":{"continue":""}}"#.to_vec();
            let at = at % body.len();
            body[at] = byte;
            let whole = split(&body, &[]).map(|(items, _)| items).ok();
            let pieces = split(&body, &[at, at + 1]).map(|(items, _)| items).ok();
            prop_assert_eq!(whole, pieces);
        }
    }
}
