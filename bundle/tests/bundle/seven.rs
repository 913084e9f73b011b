//! 7z archives: as a file, inside another archive, over the budget, and cut.

use std::io::Cursor;

use casefile_bundle::{Limits, ReadProblem};
use sevenz_rust2::{ArchiveEntry, ArchiveWriter, SourceReader};

use crate::support::{Scratch, content, file, gzip, read, sentences, tar_of};

/// An archive of these entries, one block an entry or all in one.
fn seven(entries: &[(&str, &[u8])], solid: bool) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
    if solid {
        let names = entries.iter().map(|(name, _)| ArchiveEntry::new_file(name));
        let bytes = entries.iter().map(|(_, bytes)| SourceReader::new(*bytes));
        writer
            .push_archive_entries(names.collect(), bytes.collect())
            .unwrap();
    } else {
        for (name, bytes) in entries {
            let entry = ArchiveEntry::new_file(name);
            writer.push_archive_entry(entry, Some(*bytes)).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn log(lines: usize) -> Vec<u8> {
    let line = |n| format!("Nov 20 10:00:00 gpu-1 kubelet[{n}]: line {n}\n").into_bytes();
    (0..lines).flat_map(line).collect()
}

#[test]
fn a_7z_archive_is_read_by_itself_and_inside_another_one() {
    let scratch = Scratch::new();
    let inner = gzip(&log(5));
    let (first, second) = (log(9000), log(7));
    let entries: [(&str, &[u8]); 3] = [
        ("dump/kubelet.log", &first),
        ("dump/nodes.yaml", &second),
        ("dump/syslog.1.gz", &inner),
    ];
    for solid in [false, true] {
        let archive = seven(&entries, solid);
        let (summary, found) = content(&scratch.file(&archive));
        assert_eq!(sentences(&summary), Vec::<String>::new());
        assert_eq!(found["kubelet.log"], first);
        assert_eq!(found["nodes.yaml"], second);
        assert_eq!(found["syslog.1.gz"], log(5));
        let around = tar_of(&[file("t/dump.7z", &archive), file("t/beside", b"1\n")]);
        let (_, nested) = content(&scratch.file(&around));
        assert_eq!(nested["dump.7z/kubelet.log"], first);
        assert_eq!(nested["beside"], b"1\n");
    }
}

#[test]
fn a_solid_block_over_the_budget_stops_the_reading_and_is_named() {
    let scratch = Scratch::new();
    let zeros = vec![0; 4 << 20];
    let entries: [(&str, &[u8]); 3] = [("a", b"first\n"), ("b", &zeros), ("c", &zeros)];
    let limits = Limits {
        max_total_bytes: 2 << 20,
        ..Limits::default()
    };
    let (summary, found) = read(&scratch.file(&seven(&entries, true)), &limits).unwrap();
    assert!(summary.cut_short);
    assert!(
        summary
            .problems
            .contains(&ReadProblem::TotalOverLimit { limit: 2 << 20 }),
        "{:?}",
        summary.problems
    );
    assert_eq!(found["a"], b"first\n");
}

#[test]
fn half_a_7z_archive_says_that_its_list_is_missing() {
    let scratch = Scratch::new();
    let whole = seven(&[("a", &log(4000)), ("b", &log(4000))], false);
    let (summary, found) = content(&scratch.file(&whole[..whole.len() / 2]));
    assert!(found.is_empty() && summary.cut_short);
    assert!(
        sentences(&summary)[0].contains("7z"),
        "{:?}",
        sentences(&summary)
    );
}
