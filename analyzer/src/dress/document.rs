//! Text that nobody said: help, manuals, comments, lists, schemas, source code, programs.
//!
//! A line of such a text names faults all the time and reports none. Whole entries are known by their path and
//! their shape; inside other texts runs of rows, comments and descriptions are. What is left out keeps its line
//! breaks, so that the places of what is left do not move.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use memchr::memmem;

/// What kind of text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Programs, archives, pictures.
    Binary,
    /// Source code and scripts.
    Source,
    /// Web pages and markup.
    Markup,
    /// Manuals, documentation.
    Manual,
    /// Output of `--help`.
    Help,
    /// Schemas, descriptions, rules of alerts and of diagnosis.
    Schema,
    /// Comments of a configuration.
    Comment,
    /// Lists of packages, files and symbols.
    List,
}

impl Kind {
    /// The kind in words, for many of them.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Binary => "binaries",
            Kind::Source => "source code",
            Kind::Markup => "web pages",
            Kind::Manual => "manuals",
            Kind::Help => "help texts",
            Kind::Schema => "schemas and descriptions",
            Kind::Comment => "comments",
            Kind::List => "lists of packages, files or symbols",
        }
    }
}

/// Lines that were left out, by kind.
pub type Skipped = BTreeMap<Kind, u64>;

/// The lines of a text that somebody may have said; the others are left empty.
pub fn speech<'a>(path: &str, bytes: &'a [u8]) -> (Cow<'a, [u8]>, Skipped) {
    if let Some(kind) = by_path(path).or_else(|| by_content(path, bytes)) {
        let lines = memchr::memchr_iter(b'\n', bytes).count();
        let skipped = Skipped::from([(kind, u64::try_from(lines).unwrap_or(u64::MAX).max(1))]);
        return (Cow::Owned(vec![b'\n'; lines]), skipped);
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut kinds = super::comments::line_kinds(&lines);
    if let Some(written) = super::page::written(path, &lines) {
        for (kind, written) in kinds.iter_mut().zip(written) {
            *kind = kind.or(written.then_some(Kind::Manual));
        }
    }
    if kinds.iter().all(Option::is_none) {
        return (Cow::Borrowed(bytes), Skipped::new());
    }
    let mut skipped = Skipped::new();
    let mut kept = Vec::with_capacity(bytes.len());
    for (line, kind) in lines.iter().zip(kinds) {
        match kind {
            None => kept.extend_from_slice(line),
            Some(kind) => {
                *skipped.entry(kind).or_default() += 1;
                if line.ends_with(b"\n") {
                    kept.push(b'\n');
                }
            }
        }
    }
    (Cow::Owned(kept), skipped)
}

const ENDINGS: &[(Kind, &[&str])] = &[
    (
        Kind::Source,
        &[
            "py", "pyc", "go", "c", "h", "cc", "cpp", "rs", "js", "ts", "rb", "pl", "pm", "java",
            "sh", "bash", "css", "proto", "tmpl", "j2", "lua", "sql", "mk", "cmake", "patch",
            "diff", "ipynb",
        ],
    ),
    (
        Kind::Markup,
        &["html", "htm", "svg", "rst", "tex", "xsl", "xsd", "adoc"],
    ),
    (
        Kind::Binary,
        &[
            "so", "ko", "bin", "png", "jpg", "jpeg", "gif", "pdf", "whl", "o", "a", "exe", "dll",
            "pem", "crt", "cer", "key", "pub", "gpg", "asc", "mo", "pcap", "woff", "woff2", "ttf",
            "ico", "jar", "class",
        ],
    ),
    (Kind::List, &["list", "md5sums", "sha256", "sha256sum"]),
];

/// The kind of an entry that its path tells.
fn by_path(path: &str) -> Option<Kind> {
    let lower = path.to_ascii_lowercase();
    let name = Path::new(path).file_name()?.to_str()?;
    let manuals = [
        "/share/doc/",
        "/share/man/",
        "/man/man",
        "/docs/",
        "/runbooks/",
    ];
    if manuals.iter().any(|folder| lower.contains(folder)) || lower.starts_with("docs/") {
        return Some(Kind::Manual);
    }
    if let Some(stem) = name
        .strip_suffix(".md")
        .or_else(|| name.strip_suffix(".MD"))
    {
        // README.md, CHANGELOG.md: names in capitals are a project's own papers.
        let is_paper = stem.len() >= 4 && !stem.bytes().any(|byte| byte.is_ascii_lowercase());
        return is_paper.then_some(Kind::Manual);
    }
    let ending = lower.rsplit_once('.')?.1;
    ENDINGS
        .iter()
        .find(|(_, all)| all.contains(&ending))
        .map(|(kind, _)| *kind)
}

/// Bytes at the beginning of an entry by which its shape is judged.
const HEAD: usize = 16 << 10;

/// The kind of an entry that its content tells.
fn by_content(path: &str, bytes: &[u8]) -> Option<Kind> {
    let head = &bytes[..bytes.len().min(HEAD)];
    if is_binary(head) {
        return Some(Kind::Binary);
    }
    let start = head.trim_ascii_start();
    if start.starts_with(b"#!") {
        return Some(Kind::Source);
    }
    let opens = |text: &[u8]| {
        start
            .get(..text.len())
            .is_some_and(|one| one.eq_ignore_ascii_case(text))
    };
    if opens(b"<!doctype html") || opens(b"<html") {
        return Some(Kind::Markup);
    }
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    let structured = [".yaml", ".yml", ".json"]
        .iter()
        .any(|end| path.ends_with(end));
    if has("\nkind: CustomResourceDefinition\n")
        || has("openAPIV3Schema")
        || has("\"kind\":\"CustomResourceDefinition\"")
        || has("\"swagger\":\"2.0\"")
        || (has("\"annotations\":{") && has("\"query\":"))
        || (structured && has("- alert: ") && has("expr:"))
        || (has("\nsignals:\n") && has("    says: "))
        || (has("\nmessages:\n") && has("    nature: "))
    {
        return Some(Kind::Schema);
    }
    if is_template(head) {
        return Some(Kind::Source);
    }
    (is_manual(head) || super::history::is_history(head)).then_some(Kind::Manual)
}

/// Whether a text is one that another is made of: lines of it are instructions of Helm, Go or Jinja.
fn is_template(head: &[u8]) -> bool {
    /// A value may hold one that is filled in later.
    const LEAST: usize = 2;
    let begins = |line: &&[u8]| {
        let line = line.trim_ascii();
        (line.starts_with(b"{{") && line.ends_with(b"}}"))
            || (line.starts_with(b"{%") && line.ends_with(b"%}"))
    };
    memmem::find(head, b"{{")
        .or_else(|| memmem::find(head, b"{%"))
        .is_some()
        && head.split(|byte| *byte == b'\n').filter(begins).count() >= LEAST
}

/// Whether a text holds so many control characters that it is none.
fn is_binary(head: &[u8]) -> bool {
    let is_control = |byte: &&u8| matches!(**byte, 0..=6 | 14..=26 | 28..=31 | 127);
    let control = head.iter().filter(is_control).count();
    control * 50 > head.len() && control > 4
}

/// Whether a text has the headings of a manual page, rendered or in its source.
fn is_manual(head: &[u8]) -> bool {
    const HEADINGS: [&[u8]; 10] = [
        b"NAME",
        b"SYNOPSIS",
        b"DESCRIPTION",
        b"OPTIONS",
        b"SEE ALSO",
        b"EXAMPLES",
        b"FILES",
        b"AUTHOR",
        b"ENVIRONMENT",
        b"EXIT STATUS",
    ];
    let mut headings = 0;
    let mut source = 0;
    for line in head.split(|byte| *byte == b'\n') {
        headings += usize::from(HEADINGS.contains(&line.trim_ascii_end()));
        source += usize::from(
            line.starts_with(b".SH ") || line.starts_with(b".TH ") || line.starts_with(b".Sh "),
        );
    }
    headings >= 2 || source >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(path: &str, text: &str) -> String {
        let (bytes, _) = speech(path, text.as_bytes());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn comments_go_and_prompts_frames_and_values_stay_at_their_lines() {
        let text = "# suspend failures, kernel panics\n#1 0x7f in f\n# kubectl get pods\nroot = \"/run\"\n";
        assert_eq!(
            left("etc/x.conf", text),
            "\n#1 0x7f in f\n# kubectl get pods\nroot = \"/run\"\n"
        );
    }

    #[test]
    fn the_description_of_a_field_goes_with_all_its_lines() {
        let text = "cidr:\n  description: |\n    The CIDRs cannot overlap\n\n    with others.\n  type: string\n";
        assert_eq!(left("a.yaml", text), "cidr:\n\n\n\n\n  type: string\n");
    }

    #[test]
    fn one_option_of_a_command_is_no_help_text_and_eight_are() {
        let one = "    --cni-conf-dir=/etc/cni/net.d\nfailed\n";
        assert_eq!(left("a.txt", one), one);
        let options: String = (0..8)
            .map(|n| format!("  --flag-{n}   fails on errors\n      and more\n"))
            .collect();
        assert_eq!(left("a.txt", &options).trim(), "");
    }

    #[test]
    fn lists_of_packages_files_and_symbols_are_no_speech() {
        let list =
            |row: &dyn Fn(usize) -> String| (0..7).map(row).collect::<String>() + "NVRM: Xid\n";
        let rows: [&dyn Fn(usize) -> String; 4] = [
            &|n| format!("ii  nvidia-driver-{n}  535.1  amd64  driver\n"),
            &|n| format!("/usr/lib/nvidia/lib{n}.so\n"),
            &|n| format!("ffffffff8100000{n} T nouveau_drm_probe\t[nouveau]\n"),
            &|n| format!("-rw-r--r-- 1 root root 5 nouveau{n}.ko\n"),
        ];
        for row in rows {
            assert_eq!(left("a.txt", &list(row)).trim(), "NVRM: Xid");
        }
    }

    #[test]
    fn whole_entries_are_known_by_path_and_by_shape() {
        for (path, text) in [
            ("hooks/ip.py", "log('Failed to resolve hostname')\n"),
            ("README.md", "NVRM: Xid 79\n"),
            ("a", "#!/bin/sh\necho NVRM: Xid\n"),
            ("a", "NAME\n  x\nSYNOPSIS\n  y\n"),
            (
                "templates/ds.yaml",
                "{{- if .missing }}\nname: RHCOS_IMAGE_MISSING\n{{- end }}\n",
            ),
            ("events.txt", "<!DOCTYPE html>\n<p>timeout</p>\n"),
            (
                "crds/x.yaml",
                "apiVersion: v1\nkind: CustomResourceDefinition\nmetadata: failed\n",
            ),
        ] {
            assert_eq!(left(path, text).trim(), "", "{path}");
        }
        assert_eq!(left("ticket.md", "NVRM: Xid 79\n"), "NVRM: Xid 79\n");
    }
}
