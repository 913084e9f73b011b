//! Round trips: what a collector writes is what an analyzer reads.

use crate::support::{Scratch, bundle, content};
use casefile_bundle::{Form, Limits, Outcome, list, read_entry, verify};

#[test]
fn entries_small_and_large_come_back_whole_with_header_and_manifest() {
    let long_path = format!("nodes/{}/x.log", "d".repeat(200));
    let lines: Vec<u8> = (0..400_000)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    let binary: Vec<u8> = (0..3_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let entries: [(&str, &[u8]); 5] = [
        ("a/empty", b""),
        ("a/small", b"one\ntwo"),
        ("b/lines", &lines),
        (&long_path, b"deep\n"),
        ("c/binary", &binary),
    ];
    let scratch = Scratch::new();
    let path = scratch.file(&bundle(&entries));
    let (summary, read) = content(&path);
    assert_eq!(summary.problems, []);
    assert!(!summary.cut_short);
    assert_eq!(summary.form, Form::Bundle);
    assert_eq!(summary.header.unwrap().node, "gpu-1");
    let manifest = summary.manifest.unwrap();
    assert_eq!(manifest.sources[0].id, "commands", "sources are sorted");
    assert_eq!(manifest.sources[0].outcome, Outcome::Partial);
    assert_eq!(manifest.entries.len(), 6);
    for (name, bytes) in entries {
        assert!(read[name] == bytes, "{name}");
    }
    let report = verify(&path, &Limits::default()).unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.intact, 6);
    let found = read_entry(&path, &Limits::default(), "b/lines", 12).unwrap();
    assert_eq!(found.unwrap(), b"line 0\nline ");
    let (_, names) = list(&path, &Limits::default()).unwrap();
    let names: Vec<&str> = names.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(
        names,
        [
            "a/empty",
            "a/small",
            "b/lines",
            "c/binary",
            "casefile.json",
            "manifest.json",
            &long_path
        ]
    );
}
