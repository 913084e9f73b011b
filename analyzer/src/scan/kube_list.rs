//! Kubernetes lists as JSON: one item a line as our collector writes them, or in any other layout.

use std::borrow::Cow;

use casefile_bundle::Entry;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Router;
use crate::facts::{Facts, USUAL};
use crate::layouts::yaml_items_as_json;
use crate::model::{Place, Problem};
use crate::parsers::{Document, Item, Parsed, Read, Said, changes};

/// Reads a stretch of a list that has one item a line.
///
/// None if no line of it is an item, which says that the list is laid out in another way and must be
/// read as a whole.
pub(super) fn parse_lines(
    path: &str,
    bytes: &[u8],
    parse: fn(&Item<'_>) -> Parsed,
) -> Option<Bounded> {
    let mut all = All::default();
    let mut items = 0u64;
    let mut faults = Vec::new();
    let mut frame = false;
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1u32..) {
        let json = line.trim_ascii();
        let json = json.strip_suffix(b",").unwrap_or(json);
        if json.is_empty() {
            continue;
        }
        if is_frame(json) {
            frame = true;
            continue;
        }
        let place = Place {
            path: path.into(),
            line: Some(number),
        };
        if number == 1 && is_list(json) {
            return None;
        }
        if looks_like_item(json) {
            items += 1;
            all.add(read_item(json, place, parse));
        } else {
            faults.push(place);
        }
    }
    if items == 0 && !(frame && faults.is_empty()) {
        return None;
    }
    for place in faults {
        all.add(Parsed::problem(
            place,
            "invalid JSON: not an object with metadata; this item is left out",
        ));
    }
    Some(all.bounded(None))
}

/// Whether a stretch holds the first line of a list, and whether its last one.
pub(super) fn ends(bytes: &[u8]) -> (bool, bool) {
    let bytes = bytes.trim_ascii();
    let first = memchr::memchr(b'\n', bytes).map_or(bytes, |end| &bytes[..end]);
    (first.trim_ascii().ends_with(b"["), bytes.ends_with(b"]}"))
}

/// The first or last line of a list: `{..."items":[` or `]}`.
fn is_frame(json: &[u8]) -> bool {
    (json.starts_with(b"{") && json.ends_with(b"["))
        || json == b"]}"
        || json.ends_with(b"\"items\":[]}")
}

/// Whether a line is a whole list, as `jq -c` prints one.
fn is_list(json: &[u8]) -> bool {
    if memchr::memmem::find(json, b"\"items\":").is_none() {
        return false;
    }
    match serde_json::from_slice::<List>(json) {
        Ok(list) => list.items.is_some(),
        // A line of many megabytes comes in pieces; its beginning tells.
        Err(error) => error.is_eof() && begins_list(json),
    }
}

/// Whether an object that may be cut has items of its own, and not only inside a field.
fn begins_list(json: &[u8]) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for (at, byte) in json.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => {
                if !quoted && depth == 1 && json[at..].starts_with(b"\"items\":") {
                    return true;
                }
                quoted = !quoted;
            }
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Told without parsing; the parser of the item says what is wrong with it.
fn looks_like_item(json: &[u8]) -> bool {
    json.starts_with(b"{") && memchr::memmem::find(json, b"\"metadata\":").is_some()
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
}

/// Reads a list in any layout, also a single object or a bare array, up to so many facts.
pub(super) fn parse(
    document: &Document<'_>,
    parse: fn(&Item<'_>) -> Parsed,
    room: usize,
) -> Bounded {
    let text = document.text.trim();
    let items: Vec<&RawValue> = if text == "null" {
        Vec::new()
    } else {
        match read(text) {
            Ok(items) => items,
            Err(error) => {
                let line = u32::try_from(error.line()).unwrap_or(1);
                let text = format!("invalid JSON: {error}; nothing of this entry was read");
                return Parsed::problem(document.line(line), text).into();
            }
        }
    };
    let base = document.text.as_ptr() as usize;
    let bytes = document.text.as_bytes();
    let mut all = All::default();
    let (mut line, mut counted) = (1u32, 0usize);
    for item in items {
        // Items follow one another, so only the stretch since the last one is counted.
        let offset = (item.get().as_ptr() as usize)
            .saturating_sub(base)
            .clamp(counted, bytes.len());
        let newlines = memchr::memchr_iter(b'\n', &bytes[counted..offset]).count();
        line = line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        counted = offset;
        if all.cost() >= room {
            return all.bounded(Some(line));
        }
        let place = document.line(line);
        all.add(read_item(item.get().as_bytes(), place, parse));
    }
    all.bounded(None)
}

/// What a parser makes of an object, and who changed the object last.
pub(super) fn read_item(json: &[u8], place: Place, parse: fn(&Item<'_>) -> Parsed) -> Parsed {
    let (json, managers) = lean(json);
    let change = managers.and_then(|managers| changes::last(&place, &json, managers));
    let mut parsed = parse(&Item::listed(&json, place));
    parsed.facts.extend(change);
    parsed
}

/// An object without the notes of who manages which of its fields, and these notes: often half of it, and several
/// parsers would have to pass over them.
fn lean(json: &[u8]) -> (Cow<'_, [u8]>, Option<&[u8]>) {
    const NAME: &[u8] = b"\"managedFields\":[";
    // Quotes inside a text are escaped, so this is a name.
    let Some(at) = memchr::memmem::find(json, NAME) else {
        return (Cow::Borrowed(json), None);
    };
    let begin = at + NAME.len();
    match length_of_list(&json[begin..]) {
        Some(length) => {
            let (managers, rest) = json[begin..].split_at(length);
            (Cow::Owned([&json[..begin], rest].concat()), Some(managers))
        }
        None => (Cow::Borrowed(json), None),
    }
}

/// Where a list ends whose content a text begins with: the place of its closing bracket.
fn length_of_list(text: &[u8]) -> Option<usize> {
    let mut depth = 0u32;
    let mut at = 0;
    loop {
        at += memchr::memchr3(b'"', b'[', b']', text.get(at..)?)?;
        match text[at] {
            b'[' => depth += 1,
            b']' if depth == 0 => return Some(at),
            b']' => depth -= 1,
            _ => at = end_of_text(text, at + 1)?,
        }
        at += 1;
    }
}

/// Where the closing quote of a text stands.
fn end_of_text(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// Reads objects in YAML as the list that we hold them in as JSON, up to so many facts.
pub(super) fn parse_yaml(router: &Router, path: &str, text: &str, room: usize) -> Bounded {
    let mut all = All::default();
    for (line, object) in yaml_objects(router, path, text) {
        if all.cost() >= room {
            return all.bounded(Some(line));
        }
        all.add(object());
    }
    all.bounded(None)
}

/// Reads them in stretches of some objects, each with the line at which it begins: where there is no room for all, the
/// first are kept.
pub(super) fn yaml_stretches(router: &Router, path: &str, text: &str) -> Vec<(u32, Bounded)> {
    /// Objects of one stretch.
    const STRETCH: usize = 32;
    let mut stretches = Vec::new();
    let mut objects = yaml_objects(router, path, text).peekable();
    while let Some((begins, _)) = objects.peek() {
        let begins = *begins;
        let mut all = All::default();
        let stretch = objects.by_ref().take(STRETCH);
        stretch.for_each(|(_, object)| all.add(object()));
        stretches.push((begins, all.bounded(None)));
    }
    stretches
}

/// The objects of a list in YAML that we hold as JSON by this path: the line of each, and what reads it. None where nothing
/// reads such a list.
fn yaml_objects<'t>(
    router: &Router,
    path: &'t str,
    text: &'t str,
) -> impl Iterator<Item = (u32, impl FnOnce() -> Parsed + use<'t>)> + use<'t> {
    let kind = path.split('/').nth(1).unwrap_or("");
    let list = Entry::List(kind.trim_end_matches(".json")).path();
    let mut paths = [path, &list].into_iter();
    let parse = paths.find_map(|path| match router.parser(path)?.read {
        Read::Items(parse) => Some(parse),
        _ => None,
    });
    let objects = parse.into_iter().flat_map(move |parse| {
        yaml_items_as_json(text).map(move |(line, json)| (line, json, parse))
    });
    objects.map(move |(line, json, parse)| {
        let read = move || {
            let place = Place {
                path: path.into(),
                line: Some(line),
            };
            match json {
                Ok(json) => parse(&Item::listed(&json, place)),
                Err(error) => Parsed::problem(place, format!("an object was not read: {error}")),
            }
        };
        (line, read)
    })
}

fn read(text: &str) -> Result<Vec<&RawValue>, serde_json::Error> {
    if text.starts_with('[') {
        return serde_json::from_str(text);
    }
    let list = match serde_json::from_str::<List<'_>>(text) {
        Ok(list) => list,
        // One behind the other, as `kubectl get` prints them into one file.
        Err(error) => return several(text).ok_or(error),
    };
    let named = |metadata: &RawValue| metadata.get().contains("\"name\"");
    match (list.items, list.metadata) {
        (Some(items), _) => Ok(items),
        // A list without items, as the API server writes an empty one, has no name.
        (None, Some(metadata)) if named(metadata) => {
            serde_json::from_str::<&RawValue>(text).map(|object| vec![object])
        }
        (None, _) => Ok(Vec::new()),
    }
}

/// The objects of lists that stand behind one another; none where anything else stands there.
fn several(text: &str) -> Option<Vec<&RawValue>> {
    let lists = serde_json::Deserializer::from_str(text).into_iter::<List<'_>>();
    let items: Option<Vec<_>> = lists.map(|list| list.ok()?.items).collect();
    Some(items?.into_iter().flatten().collect())
}

/// What objects gave, facts of one kind together: of a large list there are very many.
#[derive(Default)]
pub(super) struct All {
    /// What they count, in bytes.
    cost: usize,
    facts: Facts,
    said: Vec<Said>,
    problems: Vec<Problem>,
}

impl All {
    pub(super) fn add(&mut self, more: Parsed) {
        for fact in more.facts {
            self.cost += fact.cost();
            self.facts.add(fact);
        }
        self.said.extend(more.said);
        self.problems.extend(more.problems);
    }

    /// How many facts these are, where a large one counts as several.
    fn cost(&self) -> usize {
        self.cost.div_ceil(USUAL)
    }

    pub(super) fn bounded(self, left_out: Option<u32>) -> Bounded {
        let cost = self.cost();
        let parsed = Parsed {
            facts: self.facts.into_kinds(),
            said: self.said,
            problems: self.problems,
        };
        Bounded {
            parsed,
            cost,
            left_out,
        }
    }
}

/// What a list gave for which there was not always room.
pub(super) struct Bounded {
    pub(super) parsed: Parsed,
    /// How many facts these are, where a large one counts as several.
    pub(super) cost: usize,
    /// The line from which on objects were left out.
    pub(super) left_out: Option<u32>,
}

impl From<Parsed> for Bounded {
    fn from(parsed: Parsed) -> Self {
        Self {
            parsed,
            cost: 0,
            left_out: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_list_on_one_long_line_is_no_item() {
        let list = r#"{"kind":"PodList","metadata":{"a":"\"{"},"items":[{"metadata":{"na"#;
        assert!(is_list(list.as_bytes()));
        let item = r#"{"metadata":{"name":"a"},"spec":{"volumes":[{"items":[{"ke"#;
        assert!(!is_list(item.as_bytes()));
    }

    #[test]
    fn lists_that_stand_behind_one_another_are_read_as_one() {
        let text =
            "{\"items\":[{\"metadata\":{}}]}\n{\"items\":[{\"metadata\":{}},{\"metadata\":{}}]}\n";
        assert_eq!(read(text).unwrap().len(), 3);
        assert!(read(&format!("{text}log")).is_err());
    }

    #[test]
    fn an_object_loses_the_notes_on_its_fields_and_nothing_else() {
        let object = serde_json::json!({ "metadata": {
            "annotations": { "a": "\"managedFields\":[1]" },
            "managedFields": [{ "fieldsV1": { "k:{\"a\":\"]\\\"[\"}": [[], "]"] } }, "["],
            "name": "n",
        } });
        let text = object.to_string();
        let lean: serde_json::Value = serde_json::from_slice(&lean(text.as_bytes()).0).unwrap();
        let mut expected = object;
        expected["metadata"]["managedFields"] = serde_json::json!([]);
        assert_eq!(lean, expected);
        let cut = text.as_bytes().split_at(text.find("fieldsV1").unwrap()).0;
        assert_eq!(*super::lean(cut).0, *cut);
    }
}
