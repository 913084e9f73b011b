//! Support: bundles made in a test, and a sink that keeps everything.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use casefile_bundle::{
    BundlePath, Clock, EntryMeta, EntrySpool, FormatVersion, Header, Limits, ManifestEnd,
    OpenError, Outcome, Piece, PieceSink, SourceReport, Summary, Writer, scan,
};
use chrono::{DateTime, Utc};

pub(crate) type Entries = BTreeMap<String, Vec<u8>>;

pub(crate) fn time(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_763_633_700 + seconds, 0).unwrap()
}

pub(crate) fn header() -> Header {
    Header {
        format: FormatVersion::CURRENT,
        tool: "casefile-collector 0.1.0".to_owned(),
        node: "gpu-1".to_owned(),
        started: time(0),
        options: BTreeMap::new(),
        clock: Clock {
            utc: time(0),
            monotonic_ns: Some(42),
            timezone: None,
            synchronised: Some(true),
        },
    }
}

pub(crate) fn end() -> ManifestEnd {
    let report = |id: &str| SourceReport {
        id: id.to_owned(),
        title: id.to_owned(),
        outcome: Outcome::Partial,
        why: Some("timeout".to_owned()),
        started: time(1),
        finished: time(2),
        notes: vec!["b".to_owned(), "a".to_owned()],
    };
    ManifestEnd {
        finished: time(9),
        interrupted: None,
        sources: vec![report("journal"), report("commands")],
    }
}

pub(crate) fn meta(path: &str) -> EntryMeta {
    EntryMeta {
        path: BundlePath::new(path).unwrap(),
        source: "journal".to_owned(),
        truncated: None,
        redactions: BTreeMap::new(),
        origin: None,
    }
}

/// A bundle of these entries, written through spools.
pub(crate) fn bundle(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "casefile-gpu-1", &header()).unwrap();
    for (path, content) in entries {
        let mut spool = EntrySpool::new(&std::env::temp_dir());
        spool.write_all(content).unwrap();
        writer.append(meta(path), spool.finish().unwrap()).unwrap();
    }
    writer.finish(end()).unwrap()
}

pub(crate) struct Scratch {
    pub(crate) dir: tempfile::TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { dir }
    }

    pub(crate) fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join("bundle.tar.gz");
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// One entry of a foreign tar, as raw as its maker wants it.
pub(crate) struct Raw<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) kind: u8,
    pub(crate) declared: Option<u64>,
    pub(crate) content: &'a [u8],
}

pub(crate) fn file<'a>(name: &'a str, content: &'a [u8]) -> Raw<'a> {
    Raw {
        name: name.as_bytes(),
        kind: b'0',
        declared: None,
        content,
    }
}

/// One entry with a right checksum, padded.
pub(crate) fn raw_entry(entry: &Raw<'_>) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.set_size(entry.declared.unwrap_or(entry.content.len() as u64));
    header.set_mode(0o644);
    header.set_entry_type(tar::EntryType::new(entry.kind));
    header.as_mut_bytes()[..entry.name.len()].copy_from_slice(entry.name);
    header.set_cksum();
    let mut out = header.as_bytes().to_vec();
    out.extend_from_slice(entry.content);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

/// A plain tar with its end mark.
pub(crate) fn tar_of(entries: &[Raw<'_>]) -> Vec<u8> {
    let mut out: Vec<u8> = entries.iter().flat_map(raw_entry).collect();
    out.resize(out.len() + 1024, 0);
    out
}

/// A single gzip member, as any tool makes it.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes)
        .read_to_end(&mut out)
        .unwrap();
    out
}

/// The problems as a user reads them.
pub(crate) fn sentences(summary: &Summary) -> Vec<String> {
    summary.problems.iter().map(ToString::to_string).collect()
}

/// What a [`Keep`] sink keeps of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) bytes: Vec<u8>,
    pub(crate) last: bool,
    pub(crate) starts_line: bool,
    pub(crate) ends_line: bool,
}

pub(crate) struct Keep;

impl PieceSink for Keep {
    type Out = Kept;

    fn piece(&self, piece: &Piece<'_>) -> Option<Kept> {
        Some(Kept {
            bytes: piece.bytes.to_vec(),
            last: piece.last,
            starts_line: piece.starts_line,
            ends_line: piece.ends_line,
        })
    }
}

/// All content, entry by entry, with the pieces' promises checked.
pub(crate) fn read(path: &Path, limits: &Limits) -> Result<(Summary, Entries), OpenError> {
    let (summary, results) = scan(path, limits, &Keep)?;
    let mut entries = Entries::new();
    let mut expected: BTreeMap<String, (u32, bool)> = BTreeMap::new();
    for (path, seq, kept) in results {
        let state = expected.entry(path.to_string()).or_default();
        assert_eq!(state.0, seq, "pieces of {path} are numbered without gaps");
        assert!(!state.1, "{path}: nothing follows the last piece");
        *state = (seq + 1, kept.last);
        assert!(kept.ends_line || !kept.last);
        entries
            .entry(path.to_string())
            .or_default()
            .extend(kept.bytes);
    }
    assert!(
        expected.values().all(|s| s.1),
        "every entry has a last piece"
    );
    Ok((summary, entries))
}

/// Content without the two files that the writer adds.
pub(crate) fn content(path: &Path) -> (Summary, Entries) {
    let (summary, mut entries) = read(path, &Limits::default()).unwrap();
    entries.remove("casefile.json");
    entries.remove("manifest.json");
    entries.remove("manifest.json.sum");
    (summary, entries)
}
