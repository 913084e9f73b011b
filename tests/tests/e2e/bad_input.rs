//! Input that is broken or hostile: a clear message with file and place, the rest still analysed,
//! nothing written outside the output folder.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::{Ended, diagnose, ended, plant, run, skip};

const HEADER: &str = r#"{"format":"1.0","tool":"casefile-collector 0.1.0","node":"gpu-1","started":"2026-11-20T11:00:00Z","options":{},"clock":{"utc":"2026-11-20T11:00:00Z"}}"#;
const NAMESPACES: &str = "cluster-resources/namespaces.json";

/// A gzip'd tar of these entries, written without any care for their paths.
fn tarball(to: &Path, entries: &[(&str, &[u8])]) {
    let mut gzip = GzEncoder::new(File::create(to).unwrap(), Compression::fast());
    for (path, content) in entries {
        gzip.write_all(&header(path, content.len() as u64)).unwrap();
        gzip.write_all(content).unwrap();
        gzip.write_all(&vec![
            0;
            content.len().next_multiple_of(512) - content.len()
        ])
        .unwrap();
    }
    gzip.write_all(&[0; 1024]).unwrap();
    gzip.finish().unwrap();
}

/// A tar header; the tar crate would refuse the names that are wanted here.
fn header(path: &str, size: u64) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    let name = &mut header.as_old_mut().name;
    name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_size(size);
    header.set_mode(0o644);
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn problems(report: &serde_json::Value) -> String {
    report["problems"].to_string()
}

fn refused(input: &Path, words: &[&str]) {
    let ended = run(bins::ANALYZER, &["diagnose", input.to_str().unwrap()]);
    assert_eq!(ended.code, 3, "{ended:?}");
    let name = input.file_name().unwrap().to_str().unwrap();
    assert!(
        ended.err.contains(name),
        "the file is not named: {}",
        ended.err
    );
    for word in words {
        assert!(
            ended.err.contains(word),
            "{word:?} is not said: {}",
            ended.err
        );
    }
}

#[test]
fn a_missing_file_is_named() {
    refused(Path::new("/nowhere/absent.tar.gz"), &[]);
}

#[test]
fn a_file_that_is_no_archive_at_all_is_not_diagnosed_as_healthy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.tar.gz");
    std::fs::write(&path, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    refused(&path, &[]);
}

#[test]
fn a_newer_major_version_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("future.tar.gz");
    tarball(
        &path,
        &[(
            "casefile-x/casefile.json",
            HEADER.replace("1.0", "2.0").as_bytes(),
        )],
    );
    refused(&path, &["newer"]);
}

#[test]
fn a_cut_bundle_is_read_up_to_the_cut_and_the_cut_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.tar.gz");
    let noise: Vec<u8> = (0..400_000_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    let entries: [(&str, &[u8]); 3] = [
        ("casefile-x/casefile.json", HEADER.as_bytes()),
        (
            "casefile-x/cluster-resources/namespaces.json",
            b"{\"kind\":\"NamespaceList\",\"apiVersion\":\"v1\",\"items\":[\n]}\n",
        ),
        ("casefile-x/nodes/gpu-1/commands/noise.out", &noise),
    ];
    tarball(&whole, &entries);
    let bytes = std::fs::read(&whole).unwrap();
    let cut = folder.path().join("cut.tar.gz");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let report = diagnose(&cut);
    assert!(problems(&report).contains("cut"), "{}", problems(&report));
    let listed = run(bins::ANALYZER, &["ls", cut.to_str().unwrap()]);
    assert!(listed.out.contains(NAMESPACES), "{listed:?}");
    // The collector looks for leaks last, so nobody has looked into what a killed run left.
    assert!(problems(&report).contains("if a killed run left it so"));
    let left = folder.path().join("casefile-x.tar.gz.partial");
    std::fs::rename(&cut, &left).unwrap();
    let told = problems(&diagnose(&left));
    assert!(told.contains("its leak check has not run"), "{told}");
    assert!(!problems(&diagnose(&whole)).contains("is what a killed run"));
}

#[test]
fn a_path_that_climbs_out_is_refused_and_nothing_is_written_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("climb.tar.gz");
    let entries: [(&str, &[u8]); 3] = [
        ("casefile-x/casefile.json", HEADER.as_bytes()),
        ("casefile-x/../../../escaped.txt", b"out"),
        ("casefile-x/nodes/gpu-1/commands/uname.out", b"Linux\n"),
    ];
    tarball(&path, &entries);
    let out = folder.path().join("deep/er/out");
    std::fs::create_dir_all(out.parent().unwrap()).unwrap();
    let ended = run(
        bins::ANALYZER,
        &[
            "report",
            path.to_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
        ],
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    for file in walkdir::WalkDir::new(folder.path())
        .into_iter()
        .map(Result::unwrap)
    {
        assert_ne!(file.file_name(), "escaped.txt");
    }
    assert!(problems(&diagnose(&path)).contains("escaped.txt"));
}

/// `diagnose` below 2 GB of address space; threads' stacks are the most of what is needed.
fn diagnosed_in_little_memory(path: &Path) -> Ended {
    let command = format!(
        "ulimit -v 2000000; exec {} diagnose --format json {}",
        bins::find(bins::ANALYZER).display(),
        path.display()
    );
    ended(
        Command::new("bash")
            .args(["-c", &command])
            .output()
            .unwrap(),
    )
}

#[test]
fn an_entry_of_ten_gib_of_zeros_neither_fills_memory_nor_stops_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zeros.tar.gz");
    let mut file = File::create(&path).unwrap();
    let member = |content: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(content).unwrap();
        gzip.finish().unwrap()
    };
    let mut first = header("casefile-x/casefile.json", HEADER.len() as u64);
    first.extend(HEADER.as_bytes());
    first.resize(first.len().next_multiple_of(512), 0);
    first.extend(header(
        "casefile-x/nodes/gpu-1/commands/zeros.out",
        10 << 30,
    ));
    file.write_all(&member(&first)).unwrap();
    let zeros = member(&vec![0; 16 << 20]);
    for _ in 0..640 {
        file.write_all(&zeros).unwrap();
    }
    let mut last = header("casefile-x/nodes/gpu-1/commands/uname.out", 6);
    last.extend(b"Linux\n");
    last.resize(last.len().next_multiple_of(512) + 1024, 0);
    file.write_all(&member(&last)).unwrap();
    drop(file);
    let ended = diagnosed_in_little_memory(&path);
    assert_eq!(ended.code, 0, "{}", ended.err);
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert!(
        problems(&report).contains("zeros.out"),
        "{}",
        problems(&report)
    );
}

#[test]
fn a_list_of_very_many_pods_is_cut_with_its_line_named_instead_of_filling_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pods.tar.gz");
    let pods = (0..100_000).map(|number| {
        format!(
            "{{\"metadata\":{{\"name\":\"p-{number}\",\"namespace\":\"d\"}},\"spec\":{{\"nodeName\":\"gpu-1\"}},\"status\":{{\"phase\":\"Failed\",\"containerStatuses\":[{{\"name\":\"m\",\"state\":{{\"waiting\":{{\"reason\":\"CrashLoopBackOff\"}}}}}}]}}}}"
        )
    });
    let pods: Vec<String> = pods.collect();
    let list = format!(
        "{{\"kind\":\"PodList\",\"items\":[\n{}\n]}}\n",
        pods.join(",\n")
    );
    let entries: [(&str, &[u8]); 2] = [
        ("casefile-x/casefile.json", HEADER.as_bytes()),
        ("casefile-x/cluster-resources/pods/d.json", list.as_bytes()),
    ];
    tarball(&path, &entries);
    let ended = diagnosed_in_little_memory(&path);
    assert!(ended.code < 2, "{}", ended.err);
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let told = problems(&report);
    assert!(
        told.contains("pods/d.json") && told.contains("objects were left out"),
        "{told}"
    );
}

#[test]
fn of_a_list_in_yaml_for_which_there_is_no_room_the_first_pods_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let pods = (0..4000).map(|number| {
        format!(
            "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p-{number}\n    namespace: d\n  spec:\n    nodeName: gpu-1\n  status:\n    phase: Failed\n    containerStatuses:\n    - name: m\n      state:\n        waiting:\n          reason: CrashLoopBackOff\n"
        )
    });
    let list = format!(
        "apiVersion: v1\nitems:\n{}kind: List\n",
        pods.collect::<String>()
    );
    plant(folder.path(), "namespaces/d/core/pods.yaml", &list);
    let input = folder.path().to_str().unwrap();
    let ended = run(
        bins::ANALYZER,
        &["diagnose", "--memory", "8MiB", "--format", "json", input],
    );
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let pods = report["seen"]["pods"].as_u64().unwrap();
    assert!((500..4000).contains(&pods), "{pods} pods");
    let told = report["problems"].as_array().unwrap().iter();
    let mut told = told.filter(|one| {
        let text = one["text"].as_str().unwrap();
        text.contains("objects were left out")
    });
    let line = told.next().and_then(|one| one["line"].as_u64());
    assert_eq!(line, Some(3 + 14 * pods), "{ended:?}");
}

fn broken_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle");
    plant(&bundle, "casefile.json", HEADER);
    plant(
        &bundle,
        "cluster-resources/pods/default.json",
        "{\"kind\":\"PodList\",\"items\":[\n{\"metadata\":{\"name\":\n]}\n",
    );
    plant(
        &bundle,
        "nodes/gpu-1/rootfs/etc/containerd/config.toml",
        "version = \n[plugins\n",
    );
    plant(
        &bundle,
        "nodes/gpu-1/commands/nvidia-smi-q.xml",
        "<?xml version=\"1.0\"?><nvidia_smi_log><gpu>",
    );
    plant(
        &bundle,
        "nodes/gpu-1/journal/kernel.json",
        b"{\"MESSAGE\":\"\xff\xfe\"}\nnot json\n",
    );
    (folder, bundle)
}

#[test]
fn broken_content_is_told_with_its_file_and_the_rest_is_analysed() {
    let (_folder, bundle) = broken_folder();
    let told = problems(&diagnose(&bundle));
    for name in [
        "pods/default.json",
        "kernel.json",
        "config.toml",
        "nvidia-smi",
    ] {
        assert!(told.contains(name), "{name}: {told}");
    }
}

#[test]
fn an_output_folder_that_cannot_be_made_is_an_error_and_leaves_nothing() {
    let (folder, bundle) = broken_folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let out = file.join("out");
    let ended = run(
        bins::ANALYZER,
        &[
            "report",
            bundle.to_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
        ],
    );
    assert_ne!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("out"), "{ended:?}");
}

#[test]
fn a_full_disk_leaves_no_half_report_under_the_final_name() {
    let test = "a_full_disk_leaves_no_half_report_under_the_final_name";
    let (folder, bundle) = broken_folder();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=8k none {0} || exit 99; {1} report {2} -o {0}/out; code=$?; find {0} -type f -name 'report.*' ! -name '*.partial*'; exit $code",
        disk.display(),
        bins::find(bins::ANALYZER).display(),
        bundle.display()
    );
    let ended = ended(
        Command::new("unshare")
            .args(["--mount", "bash", "-c", &script])
            .output()
            .unwrap(),
    );
    if ended.code == 99 || ended.err.contains("unshare failed") {
        return skip(test, "mounting a small disk needs root");
    }
    assert_ne!(ended.code, 0, "{ended:?}");
    assert_eq!(ended.out.trim(), "", "half a report was left");
}
