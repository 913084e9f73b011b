//! A changed byte anywhere in a bundle is noticed, and the complaint names the entry or the part.

use std::path::Path;

use casefile_bundle::{Input, Keys, Limits, Signed, Writer, read_signature, verify};

use crate::support::{Scratch, end, header, meta};

/// A small bundle with a member that repeats itself: there many changes of the packed bytes inflate to the same.
fn small(signed: bool) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "t", &header()).unwrap();
    writer.append_bytes(meta("a/zeros"), &[0; 700]).unwrap();
    writer
        .append_bytes(meta("b/lines"), &b"one two\n".repeat(40))
        .unwrap();
    let sign = |statement: String| Signed {
        schema: Signed::SCHEMA.to_owned(),
        algorithm: "ed25519".to_owned(),
        public_key: "00".repeat(32),
        statement,
        signature: "00".repeat(64),
    };
    writer
        .finish_signed(end(), signed.then_some(&sign as _))
        .unwrap()
}

/// What is said against a file; empty where it is taken for whole.
fn complaints(path: &Path, keys: Option<&Keys>) -> Vec<String> {
    let input = Input::new(path, keys);
    let report = match verify(input, &Limits::default()) {
        Ok(report) => report,
        Err(error) => return vec![error.to_string()],
    };
    let mut said: Vec<String> = report.wrapping.clone();
    for (what, paths) in [
        ("changed", &report.changed),
        ("missing", &report.missing),
        ("extra", &report.extra),
    ] {
        said.extend(paths.iter().map(|path| format!("{what}: {path}")));
    }
    said.extend(report.summary.problems.iter().map(ToString::to_string));
    if let Ok(Some((_, problems))) = read_signature(input, &Limits::default()) {
        said.extend(problems);
    }
    assert!(
        report.is_clean() || !said.is_empty(),
        "refused without a word"
    );
    said
}

fn refuses_every_flip(bytes: &[u8], keys: Option<&Keys>, step: usize) {
    let scratch = Scratch::new();
    let path = scratch.file(bytes);
    assert_eq!(complaints(&path, keys), Vec::<String>::new());
    let names = [
        "a/zeros",
        "b/lines",
        "casefile.json",
        "manifest.json",
        "the archive's bytes",
        "archive",
        "bundle.tar.gz",
    ];
    let mut changed = bytes.to_vec();
    for at in (0..bytes.len()).step_by(step) {
        // One bit, which walks; of the first header each.
        let masks: Vec<u8> = match at {
            0..24 => (0..8).map(|bit| 1 << bit).collect(),
            _ => vec![1 << (at % 8)],
        };
        for mask in masks {
            changed[at] ^= mask;
            std::fs::write(&path, &changed).unwrap();
            let said = complaints(&path, keys);
            assert!(!said.is_empty(), "byte {at} ^ {mask:#x} goes unnoticed");
            let named = said
                .iter()
                .any(|line| names.iter().any(|name| line.contains(name)));
            assert!(named, "byte {at}: {said:?}");
            changed[at] ^= mask;
        }
    }
}

#[test]
fn every_changed_byte_of_a_plain_bundle_is_refused_by_name() {
    refuses_every_flip(&small(false), None, 1);
}

#[test]
fn every_changed_byte_of_a_signed_bundle_is_refused_by_name() {
    refuses_every_flip(&small(true), None, 1);
}

#[test]
fn every_changed_byte_of_an_encrypted_bundle_is_refused_by_name() {
    let keys = Keys::of_this_run();
    let mut writer = keys.lock(&[], Vec::new()).unwrap();
    std::io::Write::write_all(&mut writer, &small(false)).unwrap();
    refuses_every_flip(&writer.finish().unwrap(), Some(&keys), 5);
}

#[test]
fn bytes_behind_the_seal_and_a_bundle_packed_again_are_refused() {
    let bytes = small(false);
    let scratch = Scratch::new();
    for more in [&b"\0"[..], &[0; 512], b"x", &[0x1f, 0x8b, 8, 0]] {
        let path = scratch.file(&[&bytes, more].concat());
        assert!(!complaints(&path, None).is_empty(), "{more:?}");
    }
    let again = crate::support::gzip(&crate::support::gunzip(&bytes));
    let said = complaints(&scratch.file(&again), None);
    assert!(
        said.iter().any(|line| line.contains("archive's bytes")),
        "{said:?}"
    );
}

#[test]
fn a_change_that_no_inflater_sees_is_named_by_member_and_entry() {
    let mut bytes = small(false);
    // The operating system in the second member's gzip header.
    let first = u32::from_le_bytes(bytes[16..20].try_into().unwrap()) as usize;
    bytes[first + 9] = 3;
    let scratch = Scratch::new();
    let said = complaints(&scratch.file(&bytes), None);
    assert_eq!(
        said,
        [format!(
            "the archive's bytes: not the ones that were sealed; changed is the gzip member at byte {first}, which begins with a/zeros"
        )]
    );
}

#[test]
fn another_key_opens_nothing_and_is_told_so() {
    let mut writer = Keys::of_this_run().lock(&[], Vec::new()).unwrap();
    std::io::Write::write_all(&mut writer, &small(false)).unwrap();
    let scratch = Scratch::new();
    let path = scratch.file(&writer.finish().unwrap());
    let other = complaints(&path, Some(&Keys::of_this_run()));
    assert!(other[0].contains("encrypted for other keys"), "{other:?}");
    let none = complaints(&path, None);
    assert!(none[0].contains("--identity"), "{none:?}");
}
