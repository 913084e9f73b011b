//! Lists of objects that hold what somebody asked for, perhaps of several kinds: each object is read as its kind is.

use casefile_bundle::Entry;
use serde::Deserialize;

use super::{Item, PARSERS, Parsed, Parser, Read};

/// What the name of such a list's entry ends with, before `.json`.
pub(crate) const PRINTED: &str = ".printed";

/// Reads lists that `kubectl get` printed into files of any name.
pub(super) static PARSER: Parser = Parser {
    id: "printed-lists",
    reads: &[Entry::Objects("*/*.printed.json")],
    read: Read::Items(parse),
};

fn parse(item: &Item<'_>) -> Parsed {
    match kind_of(item.json) {
        Ok(kind) => read_as(&kind, item).unwrap_or_default(),
        Err(error) => {
            let text = format!("invalid JSON: {error}; this object is left out");
            Parsed::problem(item.place.clone(), text)
        }
    }
}

/// The kind that an object in JSON says it is; empty where it says none.
pub(crate) fn kind_of(json: &[u8]) -> serde_json::Result<String> {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(default)]
        kind: String,
    }
    Ok(serde_json::from_slice::<Kind>(json)?.kind)
}

/// Reads an object as one of this kind; none where nothing reads such objects.
pub(crate) fn read_as(kind: &str, item: &Item<'_>) -> Option<Parsed> {
    Some(reader(&plural(kind))?(item))
}

/// What reads objects of a kind, called by its plural; none where nothing does.
pub(crate) fn reader(plural: &str) -> Option<fn(&Item<'_>) -> Parsed> {
    let is_of_kind = |entry: &Entry<'_>| match entry {
        Entry::List(kind) | Entry::ListIn(kind, _) => *kind == plural,
        _ => false,
    };
    let mut parsers = PARSERS.iter();
    parsers.find_map(|parser| match parser.read {
        Read::Items(parse) if parser.reads.iter().any(is_of_kind) => Some(parse),
        _ => None,
    })
}

/// What objects of a kind are called together, in lower case: `Pod` is `pods`.
pub(crate) fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        Some(stem) if !kind.ends_with("ay") && !kind.ends_with("ey") => format!("{stem}ies"),
        _ if kind.ends_with("ss") || kind.ends_with('x') => format!("{kind}es"),
        _ if kind.ends_with('s') => kind,
        _ => format!("{kind}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Router;

    #[test]
    fn the_lists_of_a_bundle_are_found_by_kind() {
        for kind in [
            "Pod",
            "Event",
            "Node",
            "RuntimeClass",
            "DaemonSet",
            "Deployment",
        ] {
            assert!(reader(&plural(kind)).is_some(), "{kind}");
        }
        assert!(reader(&plural("Gadget")).is_none());
    }

    #[test]
    fn the_entry_of_a_printed_list_is_read_by_kind() {
        let path = Entry::ListIn("pods", &format!("a-b{PRINTED}")).path();
        let parser = Router::new().unwrap().parser(&path).unwrap();
        assert_eq!(parser.id, PARSER.id);
    }
}
