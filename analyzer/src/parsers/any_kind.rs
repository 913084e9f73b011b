//! Lists of objects that hold what somebody asked for, perhaps of several kinds: each object is read as its kind is.

use casefile_bundle::Entry;
use serde::Deserialize;

use super::{Item, PARSERS, Parsed, Parser, Read};
use crate::model::Place;

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
        Ok(kind) => read_as(&kind, item.json, item.place.clone()).unwrap_or_default(),
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

/// Reads an object as one of this kind, whatever its path says; none where nothing reads such objects.
pub(crate) fn read_as(kind: &str, json: &[u8], place: Place) -> Option<Parsed> {
    Some(reading(kind)?(json, place))
}

/// What reads objects of this kind; none where nothing does.
pub(crate) fn reading(kind: &str) -> Option<impl Fn(&[u8], Place) -> Parsed + use<>> {
    let plural = plural(kind);
    let parse = reader(&plural)?;
    Some(move |json: &[u8], place| {
        let kind = Some(plural.as_str());
        parse(&Item { json, place, kind })
    })
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
    use crate::facts::cluster::ConfigMap;
    use crate::facts::scheduling::{Lease, Namespace};
    use crate::facts::{AnyFact, FactType as _};
    use crate::parsers::Router;
    use crate::scheduling::api;

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
    fn an_object_is_read_as_its_kind_wherever_it_lies() {
        let kinds = [
            ("PersistentVolumeClaim", api::Claim::KIND),
            ("StorageClass", api::StorageClass::KIND),
            ("Namespace", Namespace::KIND),
            ("Lease", Lease::KIND),
            ("ConfigMap", ConfigMap::KIND),
        ];
        for path in [
            "dump.yaml",
            "a/dump.json",
            "cluster-resources/pods/all.json",
        ] {
            for (kind, expected) in kinds {
                let place = Place {
                    path: path.into(),
                    line: Some(1),
                };
                let json = br#"{"metadata":{"name":"a","namespace":"b"}}"#;
                let read = read_as(kind, json, place).unwrap();
                let stated: Vec<_> = read.facts.iter().map(AnyFact::kind).collect();
                assert_eq!(stated, [expected], "{kind} in {path}");
                assert!(read.problems.is_empty(), "{kind} in {path}");
            }
        }
    }

    #[test]
    fn the_entry_of_a_printed_list_is_read_by_kind() {
        let path = Entry::ListIn("pods", &format!("a-b{PRINTED}")).path();
        let parser = Router::new().unwrap().parser(&path).unwrap();
        assert_eq!(parser.id, PARSER.id);
    }
}
