//! Lists of objects as `kubectl get -o json` prints them, piece by piece: each object is told by how far it is indented.

use super::kube_list::{All, Bounded, read_item};
use crate::model::Place;
use crate::parsers::{Item, Parsed};

/// Reads the objects that stand as a whole in a stretch of a list in which each is indented by so many blanks; gives the stretch
/// without them, their lines left blank. The last object of the list is not read, so that what is left is a list.
pub(super) fn parse(
    path: &str,
    (bytes, indent): (&[u8], usize),
    parse: fn(&Item<'_>) -> Parsed,
) -> (Bounded, Vec<u8>) {
    let (mut all, mut rest) = (All::default(), Vec::new());
    let is_at = |line: &[u8], sign: &[u8]| {
        let (blanks, behind) = line.split_at(indent.min(line.len()));
        behind == sign && blanks.iter().all(|byte| *byte == b' ')
    };
    let mut begun: Option<(usize, u32)> = None;
    let mut start = 0;
    for (line, number) in bytes.split_inclusive(|byte| *byte == b'\n').zip(1u32..) {
        let end = start + line.len();
        let shown = line.trim_ascii_end();
        if is_at(shown, b"{") {
            rest.extend_from_slice(begun.map_or(&[], |(at, _)| &bytes[at..start]));
            begun = Some((start, number));
        } else if is_at(shown, b"},")
            && let Some((at, first)) = begun.take()
        {
            let place = Place {
                path: path.into(),
                line: Some(first),
            };
            let item = bytes[at..start + indent + 1].trim_ascii_start();
            all.add(read_item(item, place, parse));
            rest.extend((first..=number).map(|_| b'\n'));
        } else if begun.is_none() {
            rest.extend_from_slice(line);
        }
        start = end;
    }
    rest.extend_from_slice(begun.map_or(&[], |(at, _)| &bytes[at..]));
    (all.bounded(None), rest)
}

#[cfg(test)]
mod tests {
    use super::super::kube_list;
    use super::*;
    use crate::parsers::Document;

    proptest::proptest! {
        #[test]
        fn objects_that_are_cut_out_and_the_rest_are_the_list(
            sizes in proptest::collection::vec(0..4usize, 1..9),
            at in 0..2000usize,
        ) {
            let items = sizes.iter().zip(0..).map(|(size, number)| {
                let inner: Vec<_> = (0..*size).map(|at| serde_json::json!({ "a": at, "b": [{}, { "c": "},\n" }] })).collect();
                serde_json::json!({ "metadata": { "name": format!("n{number}") }, "spec": inner })
            });
            let list = serde_json::json!({ "items": items.collect::<Vec<_>>(), "kind": "List" });
            let text = serde_json::to_string_pretty(&list).unwrap();
            let named = |item: &Item<'_>| {
                let object: serde_json::Value = serde_json::from_slice(item.json).unwrap();
                Parsed::problem(item.place.clone(), object["metadata"]["name"].as_str().unwrap())
            };
            let read = |bounded: Bounded, before: u32| -> Vec<(u32, String)> {
                let problems = bounded.parsed.problems.into_iter();
                problems.map(|one| (one.place.line.unwrap() + before, one.text)).collect()
            };
            let document = |text| Document { path: "x", node: "", text };
            let wanted = read(kube_list::parse(&document(&text), named, usize::MAX), 0);
            proptest::prop_assert_eq!(wanted.len(), sizes.len());
            // Pieces end with a line.
            let at = text[..at.min(text.len())].rfind('\n').map_or(0, |end| end + 1);
            let (first, second) = text.split_at(at);
            let lines = u32::try_from(first.matches('\n').count()).unwrap();
            let (cut, mut rest) = parse("x", (first.as_bytes(), 4), named);
            let mut found = read(cut, 0);
            let (cut, more) = parse("x", (second.as_bytes(), 4), named);
            found.extend(read(cut, lines));
            rest.extend(more);
            let rest = String::from_utf8(rest).unwrap();
            let left = read(kube_list::parse(&document(&rest), named, usize::MAX), 0);
            proptest::prop_assert!(left.len() <= 2);
            found.extend(left);
            found.sort();
            proptest::prop_assert_eq!(found, wanted);
        }
    }
}
