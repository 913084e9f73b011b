//! What is wrong with a capture is named, and the rest is read.

use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::support::{
    Files, NODE, counted, diagnose, diagnose_files, node, objects, run, text, yaml_list, zip,
};

#[test]
fn captures_of_two_tools_in_one_archive_are_both_read_and_named() {
    let archive = zip(&[
        text(
            "both/sysdump/cilium-sysdump.log",
            "cilium-cli version: v0.16.0, args\n",
        ),
        text(
            "both/sysdump/k8s-nodes-20261120-101500.yaml",
            yaml_list(&objects("nodes")),
        ),
        text(
            "both/sysdump/k8s-pods-20261120-101500.yaml",
            yaml_list(&objects("pods")),
        ),
        text(
            "both/sosreport/sos_commands/networking/ip_-d_address",
            node("commands/ip-addr.out"),
        ),
        text(
            "both/sosreport/sos_commands/host/hostname",
            "192-18-132-31\n",
        ),
    ]);
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("both.zip");
    fs::write(&path, archive).unwrap();
    let analysis = diagnose(&path);
    let (format, nodes, pods, ..) = counted(&analysis);
    assert_eq!(
        (format.as_str(), nodes, pods),
        ("cilium-sysdump+sos", 1, 15)
    );
    let named: Vec<&str> = analysis["coverage"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["source"].as_str().unwrap().starts_with("capture:"))
        .filter_map(|row| row["title"].as_str())
        .collect();
    assert_eq!(
        named,
        ["sos report of 192-18-132-31", "cilium sysdump v0.16.0"]
    );
}

#[test]
fn files_that_are_not_understood_are_listed_with_their_size() {
    let analysis = diagnose_files(&[
        text("cilium-sysdump.log", "cilium-cli version: v0.16.0, args\n"),
        text("k8s-pods-20261120-101500.yaml", yaml_list(&objects("pods"))),
        text(
            "ciliumidentities-20261120-101500.yaml",
            "apiVersion: v1\nitems: []\n",
        ),
    ]);
    let rows = analysis["coverage"].as_array().unwrap();
    let capture = rows.iter().find(|row| row["source"] == "capture:").unwrap();
    assert_eq!(capture["outcome"], "partial");
    let missing = capture["missing"].as_array().unwrap();
    assert!(
        missing.contains(&Value::from(
            "ciliumidentities-20261120-101500.yaml (25 bytes): not understood"
        )),
        "{missing:?}"
    );
}

#[test]
fn an_archive_of_which_nothing_is_understood_ends_with_3() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("pictures.zip");
    fs::write(&path, zip(&[("p/a.png".to_owned(), vec![0x89; 500])])).unwrap();
    let ended = run(&["diagnose", path.to_str().unwrap()], b"");
    assert_eq!(ended.code, Some(3), "{}", ended.errors);
}

#[test]
fn a_journal_in_another_language_has_its_host_and_its_kernel() {
    let journal = "ao\u{fb}t 25 19:38:03 gpu-1 kernel: Linux version 5.18.0-14-amd64 (team@host) (gcc-10)\n".to_owned()
        + &"ao\u{fb}t 25 19:38:04 gpu-1 kernel: pci 0000:01:00.0: [10de:1c8d] type 00 class 0x030000\n".repeat(8);
    let analysis = diagnose_files(&[text("journal.txt", journal)]);
    let seen = &analysis["seen"];
    assert_eq!(seen["format"], "journal");
    assert_eq!(
        (&seen["nodes"], &seen["gpus"]),
        (&Value::from(1), &Value::from(1))
    );
    assert_eq!(seen["kernel"], "5.18.0-14-amd64");
}

/// A node's capture of one large log and a few small files, as sos lays them out.
fn sos() -> Files {
    let line = |n: u32| {
        format!(
            "Nov 20 10:{:02}:{:02} {NODE} kubelet[1]: line {n} {}\n",
            n / 60 % 60,
            n % 60,
            n.wrapping_mul(2_654_435_761)
        )
    };
    vec![
        text("report/sos_commands/host/hostname", format!("{NODE}\n")),
        text(
            "report/sos_commands/networking/ip_-d_address",
            node("commands/ip-addr.out"),
        ),
        text(
            "report/sos_commands/logs/journalctl_--no-pager",
            (0..30_000).map(line).collect::<String>(),
        ),
        text(
            "report/sos_commands/kernel/dmesg",
            node("commands/dmesg.out"),
        ),
    ]
}

/// What an analysis says of its input, in one text.
fn problems(analysis: &Value) -> String {
    let all = analysis["problems"].as_array().unwrap().iter();
    let said = all.map(|problem| {
        format!(
            "{}: {}\n",
            problem["path"].as_str().unwrap_or_default(),
            problem["text"].as_str().unwrap()
        )
    });
    said.collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A header of ustar and the content.
fn tar_entry(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut header = vec![0_u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.extend_from_slice(bytes);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive: Vec<u8> = files
        .iter()
        .flat_map(|(name, bytes)| tar_entry(name, bytes))
        .collect();
    archive.resize(archive.len() + 1024, 0);
    archive
}

fn diagnose_bytes(name: &str, bytes: &[u8]) -> Value {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join(name);
    fs::write(&path, bytes).unwrap();
    diagnose(&path)
}

#[test]
fn an_encrypted_entry_of_a_zip_is_named_and_the_others_are_read() {
    let secret = "report/sos_commands/kernel/dmesg";
    let mut archive = zip(&sos());
    // The bit of encryption in the headers of this entry.
    let name = secret.as_bytes();
    let at = archive
        .windows(name.len())
        .position(|window| window == name)
        .unwrap();
    archive[at - 24] |= 1;
    let analysis = diagnose_bytes("locked.zip", &archive);
    assert_eq!(analysis["seen"]["format"], "sos");
    assert_eq!(analysis["seen"]["nodes"], 1);
    let said = problems(&analysis);
    assert!(
        said.contains("encrypted") && said.contains("dmesg"),
        "{said}"
    );

    let all: Files = vec![(secret.to_owned(), vec![7; 4000])];
    let mut archive = zip(&all);
    archive[6] |= 1;
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("locked.zip");
    fs::write(&path, archive).unwrap();
    let ended = run(&["diagnose", path.to_str().unwrap()], b"");
    assert_eq!(ended.code, Some(3), "{}", ended.errors);
    assert!(ended.errors.contains("encrypted"), "{}", ended.errors);
}

#[test]
fn a_bomb_in_a_capture_is_named_and_its_neighbours_are_read() {
    // Zeros, packed twice: 96 MiB of half a kilobyte.
    let bomb = gzip(&gzip(&vec![0; 96 << 20]));
    let mut files = sos();
    files.push(("report/var/log/zeros.gz".to_owned(), bomb));
    let analysis = diagnose_bytes("bomb.tar", &tar(&files));
    assert_eq!(analysis["seen"]["format"], "sos");
    // One that is all of the input ends the reading, which is said; what came before it is read.
    let small = |(path, _): &(String, Vec<u8>)| !path.contains("journalctl");
    let mut files: Files = sos().into_iter().filter(small).collect();
    files.push((
        "report/var/log/zeros.gz".to_owned(),
        gzip(&gzip(&vec![0; 160 << 20])),
    ));
    let analysis = diagnose_bytes("bomb.tar.gz", &gzip(&tar(&files)));
    assert_eq!(analysis["seen"]["format"], "sos");
    assert_eq!(analysis["seen"]["nodes"], 1);
    let said = problems(&analysis);
    assert!(said.contains("times"), "{said}");
    // Nor does a nest without an end stop the rest.
    let mut nest = b"a line of a log\n".to_vec();
    for _ in 0..12 {
        nest = tar(&[("inner.tar".to_owned(), nest)]);
    }
    let mut files = sos();
    files.push(("report/var/log/nest.tar".to_owned(), nest));
    let analysis = diagnose_bytes("nest.tar", &tar(&files));
    assert_eq!(analysis["seen"]["format"], "sos");
    let said = problems(&analysis);
    assert!(
        said.contains("too many archives inside one another"),
        "{said}"
    );
}

#[test]
fn half_a_download_is_read_up_to_its_end_and_said_to_be_cut() {
    let files = sos();
    let whole = tar(&files);
    for (name, bytes, part) in [
        ("half.tar", whole.clone(), 2),
        ("half.tar.gz", gzip(&whole), 2),
        ("half.zip", zip(&files), 2),
    ] {
        let analysis = diagnose_bytes(name, &bytes[..bytes.len() / part]);
        let seen = &analysis["seen"];
        assert_eq!(
            (&seen["format"], &seen["nodes"]),
            (&json!("sos"), &json!(1)),
            "{name}"
        );
        let said = problems(&analysis);
        assert!(
            said.contains("cut short") || said.contains("ends too early"),
            "{name}: {said}"
        );
    }
}

#[test]
fn times_of_another_zone_are_the_same_moments() {
    let line = |minute: u32| {
        format!(
            "2026-11-20T12:{minute:02}:00+0200 gpu-1 kernel: NVRM: Xid (PCI:0000:01:00): 79, pid=0, GPU has fallen off the bus.\n"
        )
    };
    let log: String = (1..7).map(line).collect();
    let analysis = diagnose_files(&[text("kern.log", log)]);
    assert_eq!(analysis["incidents"][0]["since"], "2026-11-20T10:01:00Z");
    assert_eq!(analysis["differential"][0]["cause"], "gpu-fallen-off-bus");
}

/// A line as often as it takes to be larger than this.
fn of_size(line: &str, bytes: usize) -> Vec<u8> {
    line.repeat(bytes / line.len() + 1).into_bytes()
}

#[test]
fn what_is_over_a_bound_is_named_whatever_the_layout() {
    let rule = "-A INPUT -s 10.0.0.1/32 -p tcp -m tcp --dport 1 -j ACCEPT\n";
    let pod = "- metadata:\n    name: a\n  status:\n    phase: Running\n";
    let mut pods = b"apiVersion: v1\nkind: PodList\nitems:\n".to_vec();
    pods.extend(of_size(pod, 64 << 20));
    let mut json = b"{\n    \"kind\": \"PodList\",\n    \"items\": [\n".to_vec();
    json.extend(of_size("        {},\n", 64 << 20));
    let rules = "sos_commands/firewall_tables/iptables-save";
    let config = "etc/containerd/config.toml";
    let list = "namespaces/default/core/pods.yaml";
    let node = ("sos_commands/host/hostname", "n1\n");
    let version = ("version", "x\n");
    let nodes = ("nodes.json", "{\"kind\": \"NodeList\", \"items\": []}");
    for (format, (small, content), large, bytes) in [
        ("sos", node, rules, of_size(rule, 16 << 20)),
        ("sos", node, config, of_size("# a comment\n", 1 << 20)),
        ("must-gather", version, list, pods),
        ("cluster-info-dump", nodes, "default/pods.json", json),
    ] {
        let analysis = diagnose_files(&[text(small, content), (large.to_owned(), bytes)]);
        assert_eq!(analysis["seen"]["format"], format);
        let named = format!("{large}: is too large to be read as a whole and was not read");
        let said = problems(&analysis);
        assert!(said.contains(&named), "{format}: {said}");
        let rows = analysis["coverage"].as_array().unwrap();
        let row = rows.iter().find(|row| row["source"] == "capture:").unwrap();
        let missing = row["missing"].to_string();
        let listed = format!("{large}: too large");
        assert!(missing.contains(&listed), "{format}: {missing}");
    }
    let notes = of_size("a line of some text that nobody knows\n", 4 << 20);
    let analysis = diagnose_files(&[("notes.txt".to_owned(), notes)]);
    assert!(problems(&analysis).contains("notes.txt: is larger than the texts"));
}
