//! The privacy report: what classes of secrets were found where, what was anonymised, and what was kept on purpose.
//! Counts and names of entries only, never a value.

use std::collections::BTreeMap;

use casefile_bundle::{BundlePath, EntryMeta};
use serde::Serialize;

use crate::anonymize::{Anonymizer, Class};

/// Its path in the bundle.
pub const PATH: &str = "privacy.json";
/// Entries that are named for one class.
const MAX_ENTRIES: usize = 50;

/// What stays readable on purpose, and why.
pub const KEPT: &[(&str, &str)] = &[
    (
        "certificates and public keys",
        "public by nature; their end dates and names explain TLS errors",
    ),
    (
        "names, types, key names and sizes of Secrets",
        "a missing key or Secret is a root cause; values are never copied",
    ),
    (
        "digests, UIDs, GPU and MIG UUIDs, serial numbers, commit ids",
        "where their place says what they are, and wherever the same one stands then: they join logs, objects and \
         devices. Others are replaced as unexplained; --keep leaves them",
    ),
    (
        "paths of key and token files",
        "a wrong path is a root cause; the files themselves are not read",
    ),
    (
        "references such as $(NAME) or secretKeyRef",
        "they say where a secret comes from, not what it is",
    ),
    (
        "loopback, link-local, multicast and cluster DNS addresses, netmasks",
        "they mean the same on every site",
    ),
    (
        "host names, addresses, user names, namespaces, images",
        "a diagnosis joins on them; --anonymize replaces them",
    ),
];

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    secrets: BTreeMap<&'a str, Found<'a>>,
    anonymised: BTreeMap<&'static str, u64>,
    not_anonymised: Vec<&'static str>,
    kept_common_names: Vec<&'a str>,
    incomplete: Vec<&'a str>,
    kept: Vec<Kept>,
}

#[derive(Serialize, Default)]
struct Found<'a> {
    replaced: u64,
    entries: u64,
    in_entries: Vec<&'a str>,
}

#[derive(Serialize)]
struct Kept {
    what: &'static str,
    why: &'static str,
}

fn kept() -> Vec<Kept> {
    KEPT.iter().map(|(what, why)| Kept { what, why }).collect()
}

/// What the manifest says of the report itself.
pub fn meta() -> EntryMeta {
    EntryMeta {
        path: BundlePath::from_parts([PATH]),
        source: "collector".to_owned(),
        truncated: None,
        redactions: BTreeMap::new(),
        origin: None,
    }
}

/// Adds up what happened to the entries of a run.
#[derive(Default)]
pub struct Tally {
    entries: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Tally {
    /// An entry that goes into the bundle.
    pub fn add(&mut self, meta: &EntryMeta) {
        if !meta.redactions.is_empty() {
            self.entries
                .insert(meta.path.to_string(), meta.redactions.clone());
        }
    }

    /// The report as JSON. `incomplete` says what could not be learnt before names were replaced.
    pub fn report(&self, site: Option<&Anonymizer>, incomplete: &[String]) -> Vec<u8> {
        let mut secrets: BTreeMap<&str, Found<'_>> = BTreeMap::new();
        for (path, classes) in &self.entries {
            for (class, count) in classes {
                let found = secrets.entry(class).or_default();
                found.replaced += count;
                found.entries += 1;
                if found.in_entries.len() < MAX_ENTRIES {
                    found.in_entries.push(path);
                }
            }
        }
        let wanted = |class: &Class| site.is_some_and(|site| site.classes().contains(class));
        let counts = site.map(Anonymizer::counts).unwrap_or_default();
        let all = Class::ALL.iter();
        let report = Report {
            schema: "casefile.privacy/1",
            secrets,
            anonymised: all
                .clone()
                .filter(|class| wanted(class))
                .map(|class| (class.word(), counts.get(class).copied().unwrap_or(0)))
                .collect(),
            not_anonymised: all
                .filter(|class| !wanted(class))
                .map(|class| class.word())
                .collect(),
            kept_common_names: site
                .map(|site| site.common().iter().map(String::as_str).collect())
                .unwrap_or_default(),
            incomplete: incomplete.iter().map(String::as_str).collect(),
            kept: kept(),
        };
        let mut json = serde_json::to_vec_pretty(&report).unwrap_or_default();
        json.push(b'\n');
        json
    }
}

/// `plan --privacy`: what a run would replace and keep, for someone who must approve it first.
pub fn plan(anonymised: &[&str], out: &mut dyn std::io::Write) -> std::io::Result<()> {
    writeln!(out, "Privacy of a bundle (nothing has been collected)")?;
    writeln!(
        out,
        "\nReplaced by placeholders such as <redacted:password:1a2b3c4d>, equal secrets by equal ones:"
    )?;
    for (class, names) in crate::redact::classes() {
        writeln!(out, "  {class}: {names}")?;
    }
    writeln!(
        out,
        "\nNever read: values of Secrets for an entry, private key files, tokens in /run and /var"
    )?;
    let list = if anonymised.is_empty() {
        "nothing; see --anonymize".to_owned()
    } else {
        anonymised.join(", ")
    };
    writeln!(out, "\nReplaced by pseudonyms: {list}")?;
    writeln!(out, "\nKept on purpose:")?;
    for (what, why) in KEPT {
        writeln!(out, "  {what}: {why}")?;
    }
    writeln!(
        out,
        "\nThe finished file is searched once more, by other means. What is found is replaced, or its entry is withheld; \
         a private key, or anything with --strict-leaks, blocks the bundle (exit 3)."
    )
}
