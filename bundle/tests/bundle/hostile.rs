//! Hostile and broken input: each fault is named with its place, and the rest is read.

use casefile_bundle::{Limits, OpenError, Piece, PieceSink, ReadProblem, list, scan, verify};

use crate::support::{
    Raw, Scratch, bundle, content, file, gunzip, gzip, raw_entry, read, sentences, tar_of,
};

fn limits() -> Limits {
    Limits::default()
}

#[test]
fn paths_that_lead_out_are_skipped_and_named_and_the_rest_is_read() {
    let bad: [&[u8]; 4] = [b"../evil", b"x/../../evil", b"/etc/passwd", b"x/.."];
    let mut entries: Vec<Raw<'_>> = bad
        .iter()
        .map(|name| Raw {
            name,
            kind: b'0',
            declared: None,
            content: b"evil",
        })
        .collect();
    entries.push(file("./x/good", b"fine\n"));
    let scratch = Scratch::new();
    let (summary, read) = content(&scratch.file(&gzip(&tar_of(&entries))));
    assert_eq!(
        read.into_iter().collect::<Vec<_>>(),
        [("good".to_owned(), b"fine\n".to_vec())]
    );
    assert_eq!(
        sentences(&summary),
        [
            "../evil: entry skipped: path with a '..', '.' or empty segment",
            "/etc/passwd: entry skipped: absolute path",
            "x/..: entry skipped: path with a '..', '.' or empty segment",
            "x/../../evil: entry skipped: path with a '..', '.' or empty segment",
        ]
    );
}

#[test]
fn names_with_odd_bytes_are_read_under_a_printable_name() {
    let odd = [
        Raw {
            name: b"t/a\\x2db.mount",
            kind: b'0',
            declared: None,
            content: b"1",
        },
        Raw {
            name: b"t/latin-\xe9.conf",
            kind: b'0',
            declared: None,
            content: b"2",
        },
        Raw {
            name: b"t/esc\x1b[31m",
            kind: b'0',
            declared: None,
            content: b"3",
        },
    ];
    let scratch = Scratch::new();
    let (summary, read) = content(&scratch.file(&tar_of(&odd)));
    let names: Vec<&str> = read.keys().map(String::as_str).collect();
    assert_eq!(names, ["a%5Cx2db.mount", "esc%1B[31m", "latin-%E9.conf"]);
    assert_eq!(summary.problems.len(), 3);
}

#[test]
fn links_devices_and_second_copies_are_skipped_and_named() {
    let entry = |name: &'static [u8], kind| Raw {
        name,
        kind,
        declared: None,
        content: b"",
    };
    let entries = [
        entry(b"t/", b'5'),
        entry(b"t/soft", b'2'),
        entry(b"t/hard", b'1'),
        entry(b"t/null", b'3'),
        entry(b"t/pipe", b'6'),
        file("t/twice", b"first"),
        file("t/twice", b"second"),
        file("t/after", b"ok"),
    ];
    let scratch = Scratch::new();
    let (summary, read) = content(&scratch.file(&tar_of(&entries)));
    assert_eq!(read["twice"], b"first");
    assert_eq!(read["after"], b"ok");
    assert_eq!(
        sentences(&summary),
        [
            "hard: hard link skipped",
            "null: character device skipped",
            "pipe: named pipe skipped",
            "soft: symbolic link skipped",
            "twice: second entry with this name skipped",
        ]
    );
}

#[test]
fn an_entry_over_its_limit_is_delivered_up_to_it_and_the_others_whole() {
    let big = vec![0; 8 << 20];
    let ours = bundle(&[("a", b"one"), ("big", &big), ("z", b"two")]);
    let foreign = gzip(&gunzip(&ours));
    let scratch = Scratch::new();
    let limits = Limits {
        max_entry_bytes: 3_000_000,
        ..limits()
    };
    for bytes in [ours, foreign] {
        let (summary, read) = read(&scratch.file(&bytes), &limits).unwrap();
        assert_eq!(read["big"].len(), 3_000_000);
        assert_eq!(
            (read["a"].as_slice(), read["z"].as_slice()),
            (&b"one"[..], &b"two"[..])
        );
        assert_eq!(
            sentences(&summary),
            ["big: over the limit of 3000000 bytes for one entry; the rest was skipped"]
        );
        assert!(!summary.cut_short && summary.manifest.is_some());
    }
}

#[test]
fn too_many_entries_too_many_bytes_and_too_good_a_ratio_end_the_reading() {
    let zeros = vec![0; 70 << 20];
    let path_bytes = bundle(&[("a", b"one"), ("b", b"two"), ("zeros", &zeros)]);
    let scratch = Scratch::new();
    let path = scratch.file(&path_bytes);
    let stops = [
        (
            Limits {
                max_entries: 2,
                ..limits()
            },
            ReadProblem::TooManyEntries { limit: 2 },
        ),
        (
            Limits {
                max_total_bytes: 4 << 20,
                ..limits()
            },
            ReadProblem::TotalOverLimit { limit: 4 << 20 },
        ),
        (
            Limits {
                max_ratio: 100,
                ..limits()
            },
            ReadProblem::RatioOverLimit { limit: 100 },
        ),
    ];
    for (limits, problem) in stops {
        let (summary, read) = read(&path, &limits).unwrap();
        assert!(
            summary.problems.contains(&problem),
            "{:?}",
            summary.problems
        );
        assert!(summary.cut_short);
        assert_eq!(read["a"], b"one");
    }
}

#[test]
fn a_declared_size_of_exabytes_costs_nothing_and_is_called_cut() {
    let mut lie = file("t/huge", b"little");
    lie.declared = Some(0o77_7777_7777);
    let scratch = Scratch::new();
    let (summary, read) = content(&scratch.file(&gzip(&raw_entry(&lie))));
    assert!(read["huge"].starts_with(b"little"));
    assert!(summary.cut_short);
    assert!(
        sentences(&summary)
            .iter()
            .any(|s| s.contains("huge: cut short after 512 of"))
    );
}

#[test]
fn a_wrong_header_checksum_loses_that_entry_only() {
    let mut bytes = tar_of(&[file("t/a", b"1"), file("t/b", b"2"), file("t/c", b"3")]);
    bytes[1024] ^= 0x55;
    let scratch = Scratch::new();
    let (summary, read) = content(&scratch.file(&bytes));
    assert_eq!(read.keys().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(
        sentences(&summary),
        ["archive: bad entry header at byte 1024 of the content: checksum does not match"]
    );
}

#[test]
fn a_damaged_member_loses_its_own_bytes_only() {
    let text: Vec<u8> = (0..600_000)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    let good = bundle(&[("a", b"one"), ("text", &text), ("z", b"two")]);
    let mut bad = good.clone();
    let middle = good.len() / 2;
    for byte in &mut bad[middle..middle + 20] {
        *byte ^= 0xff;
    }
    let scratch = Scratch::new();
    let (summary, read) = content(&scratch.file(&bad));
    assert_eq!(
        (read["a"].as_slice(), read["z"].as_slice()),
        (&b"one"[..], &b"two"[..])
    );
    let lost = text.len() - read["text"].len();
    assert!(lost > 0 && lost <= 1 << 20);
    assert!(
        sentences(&summary)[0].starts_with(&format!("text: {lost} bytes lost at byte ")),
        "{:?}",
        summary.problems
    );
    let report = verify(&scratch.file(&bad), &limits()).unwrap();
    assert_eq!(
        report
            .changed
            .iter()
            .map(|p| p.as_str())
            .collect::<Vec<_>>(),
        ["text"]
    );
}

#[test]
fn member_sizes_that_lie_are_not_believed() {
    let text: Vec<u8> = (0..600_000)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    let good = bundle(&[("a", b"one"), ("text", &text), ("z", b"two")]);
    let scratch = Scratch::new();
    let honest = content(&scratch.file(&good));
    let starts: Vec<usize> = (0..good.len() - 16)
        .filter(|at| good[*at..].starts_with(&[0x1f, 0x8b, 8, 4]))
        .collect();
    for at in [starts[0], starts[2]] {
        for (field, value) in [
            (16, 40_u32),
            (16, 1_000_000),
            (20, 5),
            (20, 1_000_000),
            (16, u32::MAX),
            (20, u32::MAX),
        ] {
            let mut lying = good.clone();
            lying[at + field..at + field + 4].copy_from_slice(&value.to_le_bytes());
            assert_eq!(
                content(&scratch.file(&lying)),
                honest,
                "field {field} = {value} at {at}"
            );
        }
    }
}

#[test]
fn what_is_no_bundle_is_named_for_what_it_looks_like() {
    let scratch = Scratch::new();
    let says = |bytes: &[u8]| match list(&scratch.file(bytes), &limits()) {
        Err(error) => error
            .to_string()
            .rsplit("bundle.tar.gz: ")
            .next()
            .unwrap_or_default()
            .to_owned(),
        Ok(found) => panic!("read as {found:?}"),
    };
    assert_eq!(says(b""), "empty file");
    assert_eq!(
        says(b"age-encryption.org/v1\n"),
        "not a bundle: it looks like encrypted with age: name its key with --identity KEY, or decrypt it first with age -d -i KEY -o FILE.tar.gz FILE.tar.gz.age"
    );
    assert_eq!(
        says("caf\u{e9} is text\n".as_bytes()),
        "not a bundle: it looks like plain text"
    );
    assert_eq!(says(b"{\"a\":1}"), "not a bundle: it looks like JSON");
    assert_eq!(
        says(&[0; 2048]),
        "not a bundle: it starts with zeros: an empty archive or a damaged file"
    );
    assert_eq!(
        says(&gzip(&gzip(b"hello"))),
        "not a bundle: it looks like plain text"
    );
    assert_eq!(
        says(&gzip(&[b'x'; 9000])),
        "not a bundle: it looks like plain text"
    );
    assert_eq!(says(&gzip(b"")), "not a bundle: nothing inside");
    for cut in [
        &b"PK\x03\x04aaaa"[..],
        b"\xfd7zXZ\0aaaa",
        b"\x28\xb5\x2f\xfdaa",
        b"7z\xbc\xaf\x27\x1caaaa",
    ] {
        let (summary, entries) = list(&scratch.file(cut), &limits()).unwrap();
        assert!(summary.cut_short && entries.is_empty(), "{summary:?}");
    }
    let missing = scratch.dir.path().join("none");
    assert!(matches!(
        list(&missing, &limits()),
        Err(OpenError::NotFound { .. })
    ));
}

#[test]
fn bytes_behind_the_end_are_ignored_and_said() {
    let good = bundle(&[("a", b"one")]);
    let scratch = Scratch::new();
    let honest = content(&scratch.file(&good)).1;
    for tail in [&b"garbage"[..], &good, &[0x1f, 0x8b, 8, 0]] {
        let bytes = [good.as_slice(), tail].concat();
        let (summary, read) = content(&scratch.file(&bytes));
        assert_eq!(read, honest);
        assert_eq!(summary.problems, [ReadProblem::TrailingData]);
        assert!(!summary.cut_short);
    }
}

#[test]
fn a_sink_that_panics_is_reported_and_the_others_go_on() {
    struct Touchy;
    impl PieceSink for Touchy {
        type Out = usize;
        fn piece(&self, piece: &Piece<'_>) -> Option<usize> {
            assert!(piece.entry.path.as_str() != "b", "cannot bear b");
            Some(piece.bytes.len())
        }
    }
    let scratch = Scratch::new();
    let path = scratch.file(&bundle(&[("a", b"1"), ("b", b"22"), ("c", b"333")]));
    let (summary, kept) = scan(&path, &limits(), &Touchy).unwrap();
    let kept: Vec<usize> = kept
        .iter()
        .filter(|k| k.0.as_str().len() == 1)
        .map(|k| k.2)
        .collect();
    assert_eq!(kept, [1, 3]);
    assert!(
        sentences(&summary)[0].contains("b: analysis of part 0 failed"),
        "{:?}",
        summary.problems
    );
    assert!(sentences(&summary)[0].contains("cannot bear b"));
}
