//! Properties that hold for every content, every cut and every mutation.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use casefile_bundle::{BundlePath, Limits, list, scan, verify};
use proptest::prelude::*;

use crate::support::{
    Entries, Keep, Kept, Scratch, bundle, content, file, gunzip, gzip, read, tar_of,
};

/// Content of the sizes that matter, some of it made of lines.
fn some_content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..2000),
        (0_usize..2_200_000, 1_usize..5000, any::<u8>()).prop_map(|(len, line, fill)| {
            (0..len)
                .map(|n| {
                    if n % line == line - 1 {
                        b'\n'
                    } else {
                        fill ^ (n / 7) as u8
                    }
                })
                .collect()
        }),
    ]
}

fn some_entries() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let path = "[a-z]{1,8}(/[a-zA-Z0-9 _.é-]{1,60}x){0,3}";
    prop::collection::btree_map(path, some_content(), 0..6).prop_map(|m| m.into_iter().collect())
}

fn as_slices(entries: &[(String, Vec<u8>)]) -> Vec<(&str, &[u8])> {
    entries
        .iter()
        .map(|(p, c)| (p.as_str(), c.as_slice()))
        .collect()
}

/// A bundle with a text of several members, made once.
fn sample() -> (Vec<u8>, Entries) {
    static MADE: OnceLock<(Vec<u8>, Entries)> = OnceLock::new();
    MADE.get_or_init(make_sample).clone()
}

fn make_sample() -> (Vec<u8>, Entries) {
    let text: Vec<u8> = (0..300_000)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    let noise: Vec<u8> = (0..1500_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let entries: [(&str, &[u8]); 4] = [
        ("a/one", b"1\n"),
        ("noise", &noise),
        ("text", &text),
        ("z/two", b"2\n"),
    ];
    let map = entries
        .iter()
        .map(|(p, c)| ((*p).to_owned(), c.to_vec()))
        .collect();
    (bundle(&entries), map)
}

/// Every delivered entry is a prefix of the true one, and only the last may be shorter than it.
fn assert_prefix(read: &Entries, truth: &Entries, at: usize) {
    let short: Vec<&String> = read
        .iter()
        .filter(|(p, c)| c.len() < truth[*p].len())
        .map(|(p, _)| p)
        .collect();
    assert!(
        read.iter().all(|(p, c)| truth[p].starts_with(c)),
        "cut at {at}: something invented"
    );
    assert!(short.len() <= 1, "cut at {at}: {short:?} are short");
}

#[test]
fn a_cut_at_any_byte_leaves_the_entries_before_it_intact_and_is_said() {
    let small = bundle(&[
        ("a/one", b"1\n"),
        ("b/two", &b"two\n".repeat(200)),
        ("z/three", b"3\n"),
    ]);
    let scratch = Scratch::new();
    let (_, truth) = content(&scratch.file(&small));
    let single = gzip(&gunzip(&small));
    let plain = gunzip(&small);
    for bytes in [small, single, plain] {
        let mut best = 0;
        for at in 1..bytes.len() {
            let Ok((summary, mut entries)) = read(&scratch.file(&bytes[..at]), &Limits::default())
            else {
                assert!(at < 512, "a cut at {at} is still recognised");
                continue;
            };
            entries.remove("casefile.json");
            entries.remove("manifest.json");
            entries.remove("manifest.json.sum");
            assert_prefix(&entries, &truth, at);
            assert!(
                entries.len() >= best,
                "a later cut at {at} gives no fewer entries"
            );
            best = entries.len();
            // A plain tar's second end block may be missing without loss.
            assert!(
                summary.cut_short || summary.manifest.is_some(),
                "cut at {at} unsaid"
            );
            assert!(summary.cut_short || at + 512 >= bytes.len() || !summary.problems.is_empty());
        }
        assert_eq!(best, truth.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_entries_come_back_as_they_were_written(entries in some_entries()) {
        let scratch = Scratch::new();
        let path = scratch.file(&bundle(&as_slices(&entries)));
        let (summary, read) = content(&path);
        prop_assert_eq!(summary.problems, vec![]);
        let expected: BTreeMap<_, _> = entries.into_iter().collect();
        prop_assert!(read == expected);
        prop_assert!(verify(&path, &Limits::default()).unwrap().is_clean());
    }

    #[test]
    fn the_same_entries_make_the_same_bytes(entries in some_entries()) {
        prop_assert!(bundle(&as_slices(&entries)) == bundle(&as_slices(&entries)));
    }

    #[test]
    fn the_order_of_entries_does_not_change_what_is_read(entries in some_entries(), turn in 0_usize..6) {
        let scratch = Scratch::new();
        let (_, straight) = content(&scratch.file(&bundle(&as_slices(&entries))));
        let mut turned = entries;
        let middle = turn.min(turned.len());
        turned.rotate_left(middle);
        turned.reverse();
        let (_, other) = content(&scratch.file(&bundle(&as_slices(&turned))));
        prop_assert!(straight == other);
    }

    #[test]
    fn a_cut_of_a_large_bundle_leaves_a_prefix(cut in 0.0_f64..1.0) {
        let (bytes, truth) = sample();
        let at = ((bytes.len() as f64) * cut) as usize;
        let scratch = Scratch::new();
        if let Ok((_, mut entries)) = read(&scratch.file(&bytes[..at]), &Limits::default()) {
            entries.remove("casefile.json");
            entries.remove("manifest.json");
            entries.remove("manifest.json.sum");
            assert_prefix(&entries, &truth, at);
        }
    }

    #[test]
    fn mutated_bundles_never_panic_or_hang(
        flips in prop::collection::vec((0.0_f64..1.0, any::<u8>()), 1..12), form in 0..3,
    ) {
        let (ours, _) = sample();
        let mut bytes = match form { 0 => ours, 1 => gzip(&gunzip(&ours)), _ => gunzip(&ours) };
        for (place, value) in flips {
            let at = ((bytes.len() as f64) * place) as usize;
            bytes[at] ^= value;
        }
        let scratch = Scratch::new();
        let path = scratch.file(&bytes);
        let _ = read(&path, &Limits::default());
        let _ = list(&path, &Limits::default());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..4000), form in 0..4) {
        let magic: &[u8] = match form { 0 => b"", 1 => &[0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 12, 0, b'C', b'F', 8, 0], 2 => &[0x1f, 0x8b, 8, 0], _ => b"PK" };
        let scratch = Scratch::new();
        let path = scratch.file(&[magic, &bytes].concat());
        let _ = read(&path, &Limits::default());
    }

    #[test]
    fn any_names_make_a_valid_path(parts in prop::collection::vec(any::<String>(), 0..5)) {
        let path = BundlePath::from_parts(&parts);
        prop_assert_eq!(BundlePath::new(path.as_str()), Ok(path.clone()));
    }
}

/// An archive as people and tools pack it: folders in folders or side by side, archives and a header of ours among the files.
fn packed() -> impl Strategy<Value = Vec<(String, &'static str)>> {
    let folder = prop::sample::select(vec!["a", "b", "nodes", "casefile-1"]);
    let name = prop::sample::select(vec!["one.log", "two.log", "casefile.json", "kit.tar.gz"]);
    let around = prop::collection::vec(folder.clone(), 0..3);
    let path = (prop::collection::vec(folder, 0..3), name);
    (around, prop::collection::vec(path, 1..5)).prop_map(|(around, paths)| {
        let named = paths.into_iter().map(|(folders, name)| {
            let path = [&around[..], &folders, &[name]].concat().join("/");
            (path, name)
        });
        named.collect()
    })
}

fn archive(named: &[(String, &str)]) -> Vec<u8> {
    let kit = tar_of(&[file("kit/in/x.log", b"x\n"), file("kit/in/y.log", b"y\n")]);
    let kit = gzip(&kit);
    let entries = named.iter().map(|(path, name)| match *name {
        "kit.tar.gz" => file(path, &kit),
        "casefile.json" => file(path, br#"{"format":{"major":1,"minor":0}}"#),
        _ => file(path, b"line\n"),
    });
    gzip(&tar_of(&entries.collect::<Vec<_>>()))
}

proptest! {
    #[test]
    fn who_looks_at_an_archive_first_finds_the_names_that_a_reader_is_given(named in packed()) {
        let bytes = archive(&named);
        let limits = Limits::default();
        let listed = |path: &std::path::Path| -> Vec<String> {
            let (_, entries) = casefile_bundle::list(path, &limits).unwrap();
            entries.iter().map(|entry| entry.path.to_string()).collect()
        };
        let (looked_at, read) = (Scratch::new(), Scratch::new());
        let (looked_at, read) = (looked_at.file(&bytes), read.file(&bytes));
        let found = casefile_bundle::survey(&looked_at, &limits, 64, 1 << 20).unwrap();
        let found: Vec<String> = found.iter().map(|one| one.entry.path.to_string()).collect();
        let names = listed(&read);
        prop_assert_eq!(&listed(&looked_at), &names);
        // A bundle of ours is looked at up to its header only.
        if !found.iter().any(|name| name == "casefile.json") {
            prop_assert_eq!(found, names);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn lines_that_blocks_of_a_stream_cut_come_back_whole(
        lines in prop::collection::vec((1_usize..200, 1_usize..3000), 1..60),
        most in prop_oneof![Just(u64::MAX), 200_000_u64..300_000],
    ) {
        let line = |(length, times): &(usize, usize)| {
            let line = format!("{}\n", "x".repeat(length * times % 16_000));
            line.repeat(1 + times % 9).into_bytes()
        };
        let text: Vec<u8> = lines.iter().flat_map(line).collect();
        let limits = Limits { max_entry_bytes: most, ..Limits::default() };
        let stream = tar_of(&[file("a", &text), file("b", b"1\n2"), file("c", &text)]);
        let scratch = Scratch::new();
        let (_, pieces) = scan(&scratch.file(&gzip(&stream)), &limits, &Keep).unwrap();
        let read = |name: &str| -> Vec<u8> {
            let own = pieces.iter().filter(|(path, ..)| path.as_str() == name);
            own.flat_map(|(.., piece)| piece.bytes.clone()).collect()
        };
        let taken = text.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        for name in ["a", "c"] {
            prop_assert_eq!(&read(name), &text[..taken]);
        }
        let whole = |piece: &Kept| piece.starts_line && (piece.ends_line || piece.last);
        prop_assert!(pieces.iter().all(|(.., piece)| whole(piece)));
        // A line that is cut is no piece of its own, and a block ends in no more than one.
        let blocks = stream.len() / (256 << 10) + 1;
        prop_assert!(pieces.len() <= blocks + 5, "{} of {blocks}", pieces.len());
    }
}
