//! Names and sentences that reach the bundle beside entries' content: paths, origins, notes, reasons.

use super::marker::Marker;
use super::{Key, clean_text, pairs, patterns, scan};

/// A path with its secrets replaced, in letters that every file system takes.
pub fn clean_name(path: &str, key: &Key) -> String {
    key.anonymous(without_secrets(path, key))
}

fn without_secrets(path: &str, key: &Key) -> String {
    let hints = scan::hints(path.as_bytes());
    if hints.none() {
        return path.to_owned();
    }
    let mut marker = Marker::new(key.clone());
    let cleaned: Vec<String> = path
        .split('/')
        .map(|segment| {
            let segment = patterns::replace(segment.into(), hints, &mut marker);
            if segment.contains('=') {
                pairs::clean_line(&segment, None, &mut marker).text
            } else {
                segment.into_owned()
            }
        })
        .collect();
    if marker.counts().is_empty() {
        return path.to_owned();
    }
    let mut name = cleaned.join("/");
    while let Some(at) = name.find("<redacted:") {
        let end = name[at..].find('>').map_or(name.len(), |end| at + end);
        let mark = name[at + 1..end].replace(':', "-");
        name.replace_range(at..(end + 1).min(name.len()), &mark);
    }
    name
}

/// A sentence for people (a note, a reason, a command line) with its secrets replaced.
pub fn clean_sentence(text: &str, key: &Key) -> String {
    key.anonymous(clean_text(text, 0, &mut Marker::new(key.clone())))
}
