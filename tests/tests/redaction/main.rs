//! What the redaction finds and what it leaves alone, measured on planted secrets and look-alikes.
//!
//! `CASEFILE_REDACTION_TABLE=1 cargo test -p casefile-tests --test redaction -- --nocapture` prints the tables.

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
    for list in [&figures.wrong, &figures.broken, &figures.unstable] {
        for line in list.iter().take(5) {
            println!("{line}");
        }
    }
    let secrets = Figures::total(&figures.kinds);
    let kept = Figures::total(&figures.kept);
    assert!(secrets.all >= 2000 && figures.kinds.len() >= 60 && kept.all >= 2000);
    assert_eq!(secrets.good, secrets.all, "planted secrets are seen");
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
