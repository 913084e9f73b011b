//! Round trips: what a collector writes is what an analyzer reads.

use crate::support::{Keep, Scratch, bundle, content, end, header, meta};
use std::io::Write;

use casefile_bundle::{
    BundlePath, EntrySpool, Form, Keys, Limits, Outcome, WriteError, Writer, list, read_entry,
    scan, verify,
};

#[test]
fn entries_small_and_large_come_back_whole_with_header_and_manifest() {
    let long_path = format!("nodes/{}/x.log", "d".repeat(200));
    let lines: Vec<u8> = (0..400_000)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    let binary: Vec<u8> = (0..3_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let entries: [(&str, &[u8]); 5] = [
        ("a/empty", b""),
        ("a/small", b"one\ntwo"),
        ("b/lines", &lines),
        (&long_path, b"deep\n"),
        ("c/binary", &binary),
    ];
    let scratch = Scratch::new();
    let path = scratch.file(&bundle(&entries));
    let (summary, read) = content(&path);
    assert_eq!(summary.problems, []);
    assert!(!summary.cut_short);
    assert_eq!(summary.form, Form::Bundle);
    assert_eq!(summary.header.unwrap().node, "gpu-1");
    let manifest = summary.manifest.unwrap();
    assert_eq!(manifest.sources[0].id, "commands", "sources are sorted");
    assert_eq!(manifest.sources[0].outcome, Outcome::Partial);
    assert_eq!(manifest.entries.len(), 6);
    for (name, bytes) in entries {
        assert!(read[name] == bytes, "{name}");
    }
    let report = verify(&path, &Limits::default()).unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.intact, 6);
    let found = read_entry(&path, &Limits::default(), "b/lines", 12).unwrap();
    assert_eq!(found.unwrap(), b"line 0\nline ");
    let (_, names) = list(&path, &Limits::default()).unwrap();
    let names: Vec<&str> = names.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(
        names,
        [
            "a/empty",
            "a/small",
            "b/lines",
            "c/binary",
            "casefile.json",
            "manifest.json",
            "manifest.json.sum",
            &long_path
        ]
    );
}

/// Bytes that do not compress.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut step = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..len / 8).flat_map(|_| step().to_le_bytes()).collect()
}

#[test]
fn an_entry_beyond_the_memory_bound_goes_through_the_spill_folder_and_leaves_nothing_there() {
    let scratch = Scratch::new();
    let spill = scratch.dir.path().join("spill");
    std::fs::create_dir(&spill).unwrap();
    let content_bytes = noise(12 << 20);
    let mut spool = EntrySpool::new(&spill);
    for part in content_bytes.chunks(70_001) {
        spool.write_all(part).unwrap();
    }
    assert_eq!(spool.bytes(), 12 << 20);
    let mut writer = Writer::new(Vec::new(), "t", &header()).unwrap();
    writer
        .append(meta("noise"), spool.finish().unwrap())
        .unwrap();
    writer
        .append_bytes(meta("noise-at-once"), &content_bytes)
        .unwrap();
    let path = scratch.file(&writer.finish(end()).unwrap());
    assert_eq!(std::fs::read_dir(&spill).unwrap().count(), 0);
    let (summary, read) = content(&path);
    assert_eq!(summary.problems, []);
    assert!(read["noise"] == content_bytes && read["noise-at-once"] == content_bytes);
}

#[test]
fn a_locked_spool_keeps_nothing_readable_in_the_spill_folder() {
    let begins = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x0c\0CF";
    let content_bytes = noise(12 << 20);
    for keys in [Some(Keys::of_this_run()), None] {
        let scratch = Scratch::new();
        let locked = keys.is_some();
        let mut spool = EntrySpool::locked(scratch.dir.path(), keys);
        spool.write_all(&content_bytes).unwrap();
        let readable = spilled(scratch.dir.path())
            .iter()
            .any(|bytes| bytes.windows(begins.len()).any(|part| part == begins));
        assert_eq!(readable, !locked);
        let mut writer = Writer::new(Vec::new(), "t", &header()).unwrap();
        writer
            .append(meta("noise"), spool.finish().unwrap())
            .unwrap();
        let path = scratch.file(&writer.finish(end()).unwrap());
        assert!(content(&path).1["noise"] == content_bytes);
    }
}

/// The bytes of this process's files in a folder that have no name.
fn spilled(folder: &std::path::Path) -> Vec<Vec<u8>> {
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let files = open.map(|file| file.path()).filter(|link| {
        let to = std::fs::read_link(link);
        to.is_ok_and(|to| to.starts_with(folder) && to != folder)
    });
    let files: Vec<Vec<u8>> = files.flat_map(std::fs::read).collect();
    assert!(!files.is_empty(), "nothing was spilled");
    files
}

#[test]
fn a_spill_folder_that_is_gone_is_an_error_and_not_a_loss() {
    let mut spool = EntrySpool::new(std::path::Path::new("/nonexistent/spill"));
    assert!(spool.write_all(&noise(8 << 20)).is_err());
}

#[test]
fn a_bundle_that_was_only_begun_names_its_node() {
    struct Kept(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let bytes = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut writer = Writer::new(Kept(bytes.clone()), "t", &header()).unwrap();
    writer
        .append_bytes(meta("a"), b"waits for its member")
        .unwrap();
    drop(writer);
    let scratch = Scratch::new();
    let (summary, _) = content(&scratch.file(&bytes.lock().unwrap()));
    assert_eq!(summary.header.unwrap().node, "gpu-1");
    assert!(summary.cut_short);
}

#[test]
fn a_path_is_written_once() {
    let mut writer = Writer::new(Vec::new(), "t", &header()).unwrap();
    writer.append_bytes(meta("a"), b"first").unwrap();
    for path in ["a", "casefile.json", "manifest.json", "manifest.json.sum"] {
        let refused = writer.append_bytes(meta(path), b"second");
        assert!(matches!(refused, Err(WriteError::Duplicate(_))), "{path}");
    }
    let scratch = Scratch::new();
    assert_eq!(
        content(&scratch.file(&writer.finish(end()).unwrap())).1["a"],
        b"first"
    );
}

#[test]
fn manifest_offsets_lead_to_the_tar_header() {
    let text = "a line\n".repeat(400_000);
    let bytes = bundle(&[("a", b"1"), ("text", text.as_bytes()), ("z", b"2")]);
    let scratch = Scratch::new();
    let (summary, _) = content(&scratch.file(&bytes));
    for record in summary.manifest.unwrap().entries {
        let member = &bytes[usize::try_from(record.member_offset).unwrap()..];
        let inflated = crate::support::gunzip(member);
        let header = &inflated[usize::try_from(record.offset_in_member).unwrap()..];
        assert!(header.starts_with(format!("casefile-gpu-1/{}\0", record.path).as_bytes()));
    }
}

#[test]
fn pieces_hold_whole_lines_and_a_longer_line_is_split_and_flagged() {
    let text: Vec<u8> = (0..400_000)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    let mut long = b"short\n".to_vec();
    long.resize(3 << 20, b'x');
    let ours = bundle(&[("long", &long), ("text", &text)]);
    let foreign = crate::support::gzip(&crate::support::gunzip(&ours));
    let scratch = Scratch::new();
    for bytes in [ours, foreign] {
        let (_, pieces) = scan(&scratch.file(&bytes), &Limits::default(), &Keep).unwrap();
        let of = |name: &str| {
            pieces
                .iter()
                .filter(|p| p.0.as_str() == name)
                .map(|p| &p.2)
                .collect::<Vec<_>>()
        };
        assert!(of("text").len() > 2);
        assert!(
            of("text")
                .iter()
                .all(|p| p.starts_line && p.ends_line && p.bytes.ends_with(b"\n"))
        );
        let long = of("long");
        assert!(long.iter().all(|p| p.bytes.len() <= 1 << 20));
        assert!(long[0].starts_line && !long[long.len() - 1].starts_line);
        assert!(long.iter().any(|p| !p.ends_line));
    }
}

#[test]
fn any_text_becomes_a_path_that_keeps_different_things_apart() {
    let path = |parts: &[&str]| BundlePath::from_parts(parts).to_string();
    assert_eq!(
        path(&["nodes", "gpu-1", "rootfs", "/etc/ufw/user.rules"]),
        "nodes/gpu-1/rootfs/etc/ufw/user.rules"
    );
    assert_eq!(
        path(&["a", "../../etc/passwd"]),
        "a/%2E%2E/%2E%2E/etc/passwd"
    );
    assert_eq!(
        path(&["dev-sda\\x2d1", "100%", "a\u{0}b"]),
        "dev-sda%5Cx2d1/100%25/a%00b"
    );
    assert_eq!(path(&["", "/"]), "_");
    let long = |last: &str| path(&[&format!("{}{last}", "p".repeat(400))]);
    assert!(long("1").len() <= 240 && long("1") != long("2"));
}
