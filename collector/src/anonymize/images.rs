//! Image references: a site's own registries and repositories under pseudonyms; public ones, tags and digests stay.

use std::sync::LazyLock;

use regex::Regex;

use super::{Anonymizer, Class, pseudonym};
use crate::redact::Key;

/// Registries that every cluster pulls from.
const PUBLIC: [&str; 16] = [
    "nvcr.io",
    "docker.io",
    "registry-1.docker.io",
    "index.docker.io",
    "quay.io",
    "ghcr.io",
    "gcr.io",
    "registry.k8s.io",
    "k8s.gcr.io",
    "mcr.microsoft.com",
    "public.ecr.aws",
    "registry.gitlab.com",
    "registry.access.redhat.com",
    "registry.redhat.io",
    "rocks.canonical.com",
    "localhost",
];

static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?<host>(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?|[a-z0-9-]+:\d{2,5})/(?<path>[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)(?<tag>:[A-Za-z0-9_][A-Za-z0-9_.-]*|@sha256:)").ok()
});

/// The pseudonym of a registry.
pub(super) fn registry(key: &Key, host: &str) -> String {
    format!("{}.invalid", pseudonym(key, Class::Images, host))
}

/// Whether a registry is one that every cluster pulls from.
pub(super) fn is_public(host: &str) -> bool {
    PUBLIC.contains(&host.split(':').next().unwrap_or(host))
}

/// Replaces references to images of the site.
pub(super) fn replace(anonymizer: &Anonymizer, text: &str) -> String {
    let Some(reference) = REFERENCE.as_ref() else {
        return String::new();
    };
    reference
        .replace_all(text, |found: &regex::Captures<'_>| {
            let (host, path) = (&found["host"], &found["path"]);
            // The letter of `\n` in front of it is no part of the host.
            let start = found.get(0).map_or(0, |whole| whole.start());
            let escape = text[..start].ends_with('\\') && host.starts_with(['n', 't', 'r']);
            let (letter, host) = host.split_at(usize::from(escape));
            let name = host.split(':').next().unwrap_or(host);
            let done = name.ends_with(".invalid");
            if PUBLIC.contains(&name) || (done && path.starts_with("image-")) {
                return found[0].to_owned();
            }
            let registry = if done {
                host.to_owned()
            } else {
                registry(&anonymizer.key, host)
            };
            let repository = pseudonym(&anonymizer.key, Class::Images, path);
            anonymizer.used(Class::Images, host, &registry);
            anonymizer.used(Class::Images, path, &repository);
            format!("{letter}{registry}/{repository}{}", &found["tag"])
        })
        .into_owned()
}
