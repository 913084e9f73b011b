//! What other tools pack in: every compression, zip, and archives inside archives.

use std::io::{Read as _, Write as _};

use casefile_bundle::{Form, Limits, ReadProblem};
use flate2::Compression;
use flate2::read::DeflateEncoder;

use crate::support::{Scratch, content, file, gzip, read, sentences, tar_of};

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    ruzstd::encoding::compress(bytes, &mut packed, level);
    packed
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// How an entry of a zip archive is written.
#[derive(Clone, Copy, PartialEq)]
enum Zipped {
    Stored,
    Deflated,
    /// With its sizes behind it, as a stream is packed.
    Streamed,
    Encrypted,
}

fn zip(entries: &[(&str, &[u8], Zipped)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, bytes, how) in entries {
        let mut packed = Vec::new();
        DeflateEncoder::new(*bytes, Compression::fast())
            .read_to_end(&mut packed)
            .unwrap();
        let (flags, method, body): (u16, u16, &[u8]) = match how {
            Zipped::Stored => (0, 0, bytes),
            Zipped::Deflated => (0, 8, &packed),
            Zipped::Streamed => (8, 8, &packed),
            Zipped::Encrypted => (1, 8, &packed),
        };
        let known = *how != Zipped::Streamed;
        let number = |n: usize| u32::try_from(n).unwrap().to_le_bytes();
        let sums = [
            crc32fast::hash(bytes).to_le_bytes(),
            number(body.len()),
            number(bytes.len()),
        ]
        .concat();
        archive.extend(b"PK\x03\x04\x14\x00");
        archive.extend(flags.to_le_bytes());
        archive.extend(method.to_le_bytes());
        archive.extend([0; 4]);
        archive.extend(if known { sums.clone() } else { vec![0; 12] });
        archive.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        archive.extend([0; 2]);
        archive.extend(name.as_bytes());
        archive.extend(body);
        if !known {
            archive.extend(b"PK\x07\x08");
            archive.extend(sums);
        }
    }
    archive.extend(b"PK\x05\x06");
    archive.extend([0; 18]);
    archive
}

fn log(lines: usize) -> Vec<u8> {
    let line = |n| format!("Nov 20 10:00:00 gpu-1 kubelet[{n}]: line {n}\n").into_bytes();
    (0..lines).flat_map(line).collect()
}

#[test]
fn a_tar_reads_the_same_in_every_compression() {
    let tar = tar_of(&[file("top/a.log", &log(20_000)), file("top/b/empty", b"")]);
    let scratch = Scratch::new();
    let expected = content(&scratch.file(&tar)).1;
    assert_eq!(expected["a.log"], log(20_000));
    for packed in [
        gzip(&tar),
        xz(&tar),
        bzip2(&tar),
        zstd(&tar),
        lz4(&tar),
        gzip(&xz(&tar)),
    ] {
        let (summary, entries) = content(&scratch.file(&packed));
        assert_eq!(sentences(&summary), Vec::<String>::new());
        assert_eq!(entries, expected, "{:?}", summary.form);
    }
}

#[test]
fn what_was_looked_at_first_reads_as_it_does_alone() {
    let look = |path: &std::path::Path| {
        casefile_bundle::survey(path, &Limits::default(), 64, 1 << 20).unwrap();
    };
    let read = |path: &std::path::Path| {
        let (summary, entries) = content(path);
        (sentences(&summary), entries)
    };
    let tar = tar_of(&[file("top/a.log", &log(20_000)), file("top/b", b"b\n")]);
    for packed in [xz(&tar), bzip2(&tar), xz(&gzip(&tar))] {
        let cut = &packed[..packed.len() * 2 / 3];
        for bytes in [&packed[..], cut] {
            let scratch = Scratch::new();
            let path = scratch.file(bytes);
            let alone = read(&path);
            look(&path);
            assert_eq!(read(&path), alone);
            let folder = scratch.dir.path().join("folder");
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("a.tar.xz"), bytes).unwrap();
            std::fs::write(folder.join("b.log.xz"), xz(b"one\n")).unwrap();
            let alone = read(&folder);
            look(&folder);
            assert_eq!(read(&folder), alone);
            std::fs::write(folder.join("b.log.xz"), xz(b"another\n")).unwrap();
            assert_eq!(read(&folder).1["b.log.xz"], b"another\n");
        }
    }
}

#[test]
fn a_single_compressed_log_is_an_entry_by_its_own_name() {
    let scratch = Scratch::new();
    for packed in [
        gzip(&log(50)),
        xz(&log(50)),
        bzip2(&log(50)),
        zstd(&log(50)),
        lz4(&log(50)),
    ] {
        let path = scratch.dir.path().join("nvidia-bug-report.log.gz");
        std::fs::write(&path, packed).unwrap();
        let (summary, entries) = content(&path);
        assert_eq!(sentences(&summary), Vec::<String>::new());
        assert_eq!(entries["nvidia-bug-report.log.gz"], log(50));
    }
}

#[test]
fn a_zip_is_read_in_every_way_that_its_entries_can_be_written() {
    let scratch = Scratch::new();
    let (text, other) = (log(9000), log(7));
    let archive = zip(&[
        ("dump/nodes.yaml", &text, Zipped::Deflated),
        ("dump/", b"", Zipped::Stored),
        ("dump/streamed.log", &text, Zipped::Streamed),
        ("dump/secret.log", &text, Zipped::Encrypted),
        ("dump/stored.txt", &other, Zipped::Stored),
    ]);
    let (summary, entries) = content(&scratch.file(&archive));
    assert_eq!(summary.form, Form::Archive);
    assert_eq!(
        summary.problems,
        [ReadProblem::Encrypted {
            path: "dump/secret.log".into()
        }]
    );
    let names: Vec<&str> = entries.keys().map(String::as_str).collect();
    assert_eq!(names, ["nodes.yaml", "stored.txt", "streamed.log"]);
    assert_eq!(
        (&entries["nodes.yaml"], &entries["streamed.log"]),
        (&text, &text)
    );
    assert_eq!(entries["stored.txt"], other);
}

#[test]
fn archives_and_logs_inside_archives_are_opened_where_they_lie() {
    let scratch = Scratch::new();
    let node = zip(&[("node-1/logs/kubelet.log", &log(3), Zipped::Streamed)]);
    let kit = zip(&[
        ("kit/nodes/node-1.zip", &node, Zipped::Stored),
        ("kit/metadata.yaml", b"v: 1\n", Zipped::Stored),
    ]);
    let all = xz(&tar_of(&[
        file("all/kit.zip", &kit),
        file("all/syslog.2.gz", &gzip(&log(5))),
        file("all/last", b"end\n"),
    ]));
    let expected = content(&scratch.file(&all)).1;
    let names: Vec<&str> = expected.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "kit.zip/metadata.yaml",
            "kit.zip/nodes/node-1.zip/logs/kubelet.log",
            "last",
            "syslog.2.gz"
        ]
    );
    assert_eq!(expected["syslog.2.gz"], log(5));
    let folder = scratch.dir.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("kit.zip"), &kit).unwrap();
    std::fs::write(folder.join("syslog.2.gz"), gzip(&log(5))).unwrap();
    std::fs::write(folder.join("last"), b"end\n").unwrap();
    assert_eq!(content(&folder).1, expected);
}

#[test]
fn a_nest_without_an_end_is_named_and_its_neighbours_are_read() {
    let scratch = Scratch::new();
    let mut nest = tar_of(&[file("bottom", b"never\n")]);
    for _ in 0..12 {
        nest = gzip(&tar_of(&[file("inner.tar.gz", &nest)]));
    }
    let all = tar_of(&[file("nest.tgz", &nest), file("beside.log", b"read\n")]);
    let (summary, entries) = content(&scratch.file(&all));
    assert!(sentences(&summary)[0].contains("too many archives inside one another"));
    assert_eq!(entries["beside.log"], b"read\n");
    assert_eq!(entries.len(), 1);
}

#[test]
fn one_budget_holds_for_what_is_inflated_at_all_depths() {
    let scratch = Scratch::new();
    let zeros = vec![0; 4 << 20];
    let bomb = zip(&[
        ("a.xz", &xz(&zeros), Zipped::Deflated),
        ("b.xz", &xz(&zeros), Zipped::Deflated),
    ]);
    let limits = Limits {
        max_total_bytes: 6 << 20,
        ..Limits::default()
    };
    let (summary, _) = read(&scratch.file(&bomb), &limits).unwrap();
    assert!(summary.cut_short);
    assert!(
        summary
            .problems
            .contains(&ReadProblem::TotalOverLimit { limit: 6 << 20 }),
        "{:?}",
        summary.problems
    );
}

#[test]
fn half_a_download_is_read_up_to_its_end_and_said_to_be_cut() {
    let scratch = Scratch::new();
    let tar = tar_of(&[
        file("t/a", &log(4000)),
        file("t/b.gz", &gzip(&log(4000))),
        file("t/c", &log(4000)),
    ]);
    let archive = zip(&[
        ("a", &log(4000), Zipped::Streamed),
        ("b", &log(4000), Zipped::Stored),
    ]);
    for whole in [
        gzip(&tar),
        xz(&tar),
        bzip2(&tar),
        zstd(&tar),
        lz4(&tar),
        tar,
        archive,
    ] {
        for part in [whole.len() / 2, whole.len() * 3 / 4, whole.len() - 40] {
            let path = scratch.file(&whole[..part]);
            if let Ok((summary, entries)) = read(&path, &Limits::default()) {
                let honest = log(4000);
                assert!(summary.cut_short || entries.values().all(|one| honest == *one));
                for read in entries.values() {
                    assert!(honest.starts_with(read), "{} bytes", read.len());
                }
            }
        }
    }
}

#[test]
fn a_stream_that_asks_for_too_much_memory_is_told_from_a_broken_one() {
    // The byte behind size, flags, filter and length says how large the dictionary is: here 2 GiB.
    let mut large = xz(b"text\n");
    let header = &mut large[12..];
    let checked = (usize::from(header[0]) + 1) * 4 - 4;
    header[4] = 38;
    let sum = crc32fast::hash(&header[..checked]);
    header[checked..checked + 4].copy_from_slice(&sum.to_le_bytes());
    // A frame with a window of 1 GiB, and one block as it is.
    let wide = [&b"\x28\xb5\x2f\xfd\x00\xa0\x29\x00\x00"[..], b"text\n"].concat();
    let scratch = Scratch::new();
    for (name, packed) in [("xz", large), ("zstd", wide)] {
        let (summary, found) = content(&scratch.file(&packed));
        let said = sentences(&summary).join("; ");
        assert!(found.is_empty(), "{name}");
        let expected = format!("its {name} data need more memory");
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn text_in_utf_16_is_read_as_utf_8_wherever_it_lies() {
    let scratch = Scratch::new();
    let text = "NAME   STATUS\r\nnode-\u{e9}  Ready\r\n".repeat(50_000);
    let mut wide = vec![0xff, 0xfe];
    wide.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    let all = gzip(&tar_of(&[file("t/nodes.txt", &wide), file("t/z", b"1\n")]));
    let (_, entries) = content(&scratch.file(&all));
    assert!(entries["nodes.txt"] == text.as_bytes(), "not the text");
}
