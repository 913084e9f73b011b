//! Titles that name their subject, where the rule's own sentence does not.

use crate::model::Analysis;
use crate::words;

/// A pod that its line does not name, as subjects have it.
const UNNAMED_POD: &str = "pod/(not named)";

/// Names the subject of each incident in its title.
pub(super) fn name(analysis: &mut Analysis) {
    let failing: Vec<&String> = analysis
        .impact
        .workloads
        .iter()
        .map(|workload| &workload.subject)
        .collect();
    for incident in &mut analysis.incidents {
        // A pod that only speaks of the cause is not the one that has it.
        let mut subjects = incident.subjects.clone();
        if subjects
            .first()
            .is_some_and(|first| first.starts_with("pod/"))
        {
            subjects.sort_by_key(|subject| !failing.contains(&subject));
        }
        if subjects
            .first()
            .is_some_and(|first| failing.contains(&first))
        {
            subjects.retain(|subject| failing.contains(&subject));
        }
        // That a line names no pod is no name where pods are listed that fail.
        if !failing.is_empty() && subjects.iter().all(|subject| words::is_unnamed(subject)) {
            subjects.clear();
        }
        incident.title = title(std::mem::take(&mut incident.title), &subjects);
        let says = incident.evidence.iter_mut().map(|line| &mut line.says);
        for text in says.chain([&mut incident.title, &mut incident.summary]) {
            *text = text.replace(UNNAMED_POD, "a pod that is not named");
        }
    }
}

/// A title with the first subject in front, unless the sentence names one of the subjects.
fn title(headline: String, subjects: &[String]) -> String {
    let named = subjects
        .iter()
        .any(|subject| mentions(&headline, last(subject)));
    let Some(first) = subjects.first().filter(|_| !named) else {
        return headline;
    };
    let kind = first.split('/').next().unwrap_or_default();
    let same = |subject: &&String| subject.split('/').next() == Some(kind);
    let more = subjects.iter().filter(same).count() - 1;
    let name = words::subject(first);
    let who = match more {
        0 => name,
        more => format!("{name} and {}", words::count_more(more as u64, kind)),
    };
    format!("{who}: {}", inner(&headline))
}

fn last(subject: &str) -> &str {
    subject.rsplit('/').next().unwrap_or(subject)
}

/// Whether a sentence holds a name as a word of its own.
fn mentions(sentence: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '.';
    !name.is_empty()
        && sentence.match_indices(name).any(|(at, _)| {
            let before = sentence[..at].chars().next_back();
            let after = sentence[at + name.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(|c| is_part(c) && c != '.')
        })
}

/// A sentence behind a colon: a word of the language that begins it is no name, so it loses its capital.
fn inner(sentence: &str) -> String {
    const WORDS: [&str; 28] = [
        "A",
        "After",
        "All",
        "An",
        "Another",
        "Certificate",
        "Checksum",
        "Container",
        "Handler",
        "Images",
        "Kernel",
        "Leaked",
        "Leftover",
        "Module",
        "Namespace",
        "No",
        "Node",
        "Nothing",
        "One",
        "Packet",
        "Process",
        "Registry",
        "Routes",
        "Runtime",
        "The",
        "This",
        "Two",
        "Volume",
    ];
    match sentence.split_once(' ') {
        Some((first, rest)) if WORDS.contains(&first) => {
            format!("{} {rest}", first.to_lowercase())
        }
        _ => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headline: &str, subjects: &[&str]) -> String {
        let subjects: Vec<String> = subjects.iter().map(|one| (*one).to_owned()).collect();
        title(headline.to_owned(), &subjects)
    }

    #[test]
    fn a_title_names_its_subject_once() {
        assert_eq!(
            of("A GPU fell off the bus", &["node/gpu-1"]),
            "gpu-1: a GPU fell off the bus"
        );
        assert_eq!(
            of("GPU pods cannot start on gpu-1", &["node/gpu-1", "pod/a/b"]),
            "GPU pods cannot start on gpu-1"
        );
        assert_eq!(
            of(
                "CoreDNS sends queries to itself",
                &["pod/kube-system/c", "pod/kube-system/d"]
            ),
            "kube-system/c and 1 more pod: CoreDNS sends queries to itself"
        );
        assert_eq!(of("No device", &[]), "No device");
    }

    #[test]
    fn a_name_inside_another_word_is_no_mention() {
        assert_eq!(
            of("The node-exporter is gone", &["node/node"]),
            "node: the node-exporter is gone"
        );
    }
}
