//! What the redaction finds and what it leaves alone, measured on planted secrets and look-alikes.
//!
//! `CASEFILE_REDACTION_TABLE=1 cargo test -p casefile-tests --test redaction -- --nocapture` prints the tables.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]

mod anonymised;
mod drawn;
mod encodings;
mod escaped_lines;
mod issued;
mod own_half;
mod samples;

use casefile_collector::redact::{Content, Key, Redactor, clean_name};
use casefile_tests::planted::{self, Document, Figures};

/// The collector's own road for one file.
fn redact(key: &Key, document: &Document) -> (String, Vec<u8>) {
    let content = match document.content {
        planted::Content::Text => Content::Text,
        planted::Content::JsonLines => Content::JsonLines,
    };
    let mut redactor = Redactor::new(content, key.clone());
    let mut out = Vec::new();
    for chunk in document.bytes.chunks(97) {
        redactor.push(chunk, &mut out);
    }
    redactor.finish(&mut out);
    (clean_name(&document.name, key), out)
}

#[test]
fn planted_secrets_are_replaced_and_look_alikes_stay() {
    let key = Key::random().unwrap();
    let figures = planted::measure(1, &|document| redact(&key, document));
    if std::env::var_os("CASEFILE_REDACTION_TABLE").is_some() {
        println!("{figures}");
    }
    let most = if std::env::var_os("CASEFILE_REDACTION_TABLE").is_some() {
        usize::MAX
    } else {
        5
    };
    for list in [&figures.wrong, &figures.broken, &figures.unstable] {
        for line in list.iter().take(most) {
            println!("{line}");
        }
    }
    let secrets = Figures::total(&figures.kinds);
    let kept = Figures::total(&figures.kept);
    assert!(secrets.all >= 2000 && figures.kinds.len() >= 60 && kept.all >= 2000);
    let missed: Vec<&str> = figures
        .places
        .iter()
        .filter(|(_, row)| row.good < row.all)
        .map(|(place, _)| *place)
        .collect();
    assert_eq!(missed, planted::UNFOUND, "places where secrets are seen");
    assert!(
        (kept.all - kept.good) * 200 < kept.all,
        "too many look-alikes are touched"
    );
    assert!(figures.broken.is_empty(), "documents no longer parse");
    assert!(
        figures.unstable.is_empty(),
        "documents change when redacted again"
    );
}

/// No part of a planted secret in any byte of what comes out, in any chunking, and what comes out parses.
mod chunks {
    use super::*;
    use casefile_tests::planted::{parses, reveals, secrets};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_chunking_lets_a_planted_secret_through(seed in 2_u64..6, which in any::<prop::sample::Index>(), chunk in 1_usize..300) {
            let cases = secrets(seed);
            let case = &cases[which.index(cases.len())];
            let content = match case.document.content {
                planted::Content::Text => Content::Text,
                planted::Content::JsonLines => Content::JsonLines,
            };
            let mut redactor = Redactor::new(content, Key::random().unwrap());
            let mut out = Vec::new();
            for piece in case.document.bytes.chunks(chunk) {
                redactor.push(piece, &mut out);
            }
            redactor.finish(&mut out);
            if case.place != "file name" && !planted::UNFOUND.contains(&case.place) {
                for needle in &case.needles {
                    prop_assert!(!reveals(&out, needle), "{}: {}", case.kind, case.place);
                }
            }
            if parses(case.document.format, &case.document.bytes).is_ok() {
                prop_assert!(parses(case.document.format, &out).is_ok(), "{}: {}", case.kind, case.place);
            }
        }
    }
}
