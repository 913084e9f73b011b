//! The real content that captures are composed of, and the program.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The node of the sample.
pub(crate) const NODE: &str = "192-18-132-31";

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/toolkit-wrong-containerd/bundle")
}

/// A file of the sample.
pub(crate) fn real(path: &str) -> String {
    let path = sample().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A command's output or a file of the sample's node.
pub(crate) fn node(path: &str) -> String {
    real(&format!("nodes/{NODE}/{path}"))
}

/// The objects of a kind, of all namespaces.
pub(crate) fn objects(plural: &str) -> Vec<Value> {
    let folder = sample().join("cluster-resources").join(plural);
    let single = folder.with_extension("json");
    let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => vec![single],
    };
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    let lists = files.iter().map(|file| {
        let list: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        list["items"].as_array().cloned().unwrap_or_default()
    });
    lists.flatten().collect()
}

/// Objects as `kubectl get -o yaml` prints them.
pub(crate) fn yaml_list(objects: &[Value]) -> String {
    let mut text = "apiVersion: v1\nitems:\n".to_owned();
    for object in objects {
        let mut item = String::new();
        yaml(object, 0, &mut item);
        for (at, line) in item.lines().enumerate() {
            text += if at == 0 { "- " } else { "  " };
            text += line;
            text.push('\n');
        }
    }
    text + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
}

/// One object as `kubectl get -o yaml` prints it.
pub(crate) fn yaml_object(object: &Value) -> String {
    let mut text = String::new();
    yaml(object, 0, &mut text);
    text
}

fn yaml(value: &Value, indent: usize, out: &mut String) {
    let blanks = " ".repeat(indent);
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let name = serde_json::to_string(key).unwrap();
                let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
                let name: &str = if plain { key } else { &name };
                match value {
                    Value::Object(inner) if !inner.is_empty() => {
                        out.extend([blanks.as_str(), name, ":\n"]);
                        yaml(value, indent + 2, out);
                    }
                    Value::Array(items) if !items.is_empty() => {
                        out.extend([blanks.as_str(), name, ":\n"]);
                        yaml(value, indent, out);
                    }
                    _ => out.extend([
                        blanks.as_str(),
                        name,
                        ": ",
                        value.to_string().as_str(),
                        "\n",
                    ]),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                let mut text = String::new();
                yaml(item, indent + 2, &mut text);
                out.extend([blanks.as_str(), "- ", text.trim_start()]);
            }
        }
        other => out.extend([blanks.as_str(), other.to_string().as_str(), "\n"]),
    }
}

/// A capture: its files below a folder.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// One file of a capture.
pub(crate) fn text(path: &str, content: impl Into<String>) -> (String, Vec<u8>) {
    (path.to_owned(), content.into().into_bytes())
}

/// Writes a capture below a folder.
pub(crate) fn write(root: &Path, files: &[(String, Vec<u8>)]) {
    for (path, content) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// A zip archive of stored entries.
pub(crate) fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, bytes) in files {
        let number = |n: usize| u32::try_from(n).unwrap().to_le_bytes();
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        archive.extend(b"PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00");
        archive.extend(crc.sum().to_le_bytes());
        archive.extend([number(bytes.len()), number(bytes.len())].concat());
        archive.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        archive.extend([0; 2]);
        archive.extend(name.as_bytes());
        archive.extend(bytes);
    }
    archive.extend(b"PK\x05\x06");
    archive.extend([0; 18]);
    archive
}

/// How the program ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) errors: String,
}

/// Runs the analyzer; `input` goes through standard input.
pub(crate) fn run(arguments: &[&str], input: &[u8]) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_casefile-analyzer"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = input.to_vec();
    let feeder = std::thread::spawn(move || pipe.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    // A program that refuses its input need not read it.
    let _ = feeder.join().unwrap();
    Ended {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The diagnosis of an input as JSON.
pub(crate) fn diagnose(path: &Path) -> Value {
    let ended = run(
        &["diagnose", "--format", "json", path.to_str().unwrap()],
        b"",
    );
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.errors);
    serde_json::from_str(&ended.out).unwrap()
}

/// The diagnosis of a capture in a folder.
pub(crate) fn diagnose_files(files: &[(String, Vec<u8>)]) -> Value {
    let scratch = tempfile::tempdir().unwrap();
    write(&scratch.path().join("capture"), files);
    diagnose(&scratch.path().join("capture"))
}

/// Format, nodes, pods, events, version of Kubernetes.
pub(crate) fn counted(analysis: &Value) -> (String, u64, u64, u64, String) {
    let seen = &analysis["seen"];
    let number = |name: &str| seen[name].as_u64().unwrap();
    (
        seen["format"].as_str().unwrap().to_owned(),
        number("nodes"),
        number("pods"),
        number("events"),
        seen["kubernetes_version"].as_str().unwrap_or("").to_owned(),
    )
}

/// What the sample's cluster holds.
pub(crate) const PODS: u64 = 15;
pub(crate) const EVENTS: u64 = 4;
pub(crate) const VERSION: &str = "v1.33.2";

/// Checks that a capture of the sample's cluster shows all of it.
pub(crate) fn of_cluster(files: &[(String, Vec<u8>)], format: &str, events: u64) {
    assert_eq!(
        counted(&diagnose_files(files)),
        (format.to_owned(), 1, PODS, events, VERSION.to_owned())
    );
}

/// The analysis of a node's capture: its format, and that the node's firewall rules were read.
pub(crate) fn of_node(files: &[(String, Vec<u8>)], format: &str) -> Value {
    let analysis = diagnose_files(files);
    assert_eq!(analysis["seen"]["format"], format);
    assert_eq!(analysis["seen"]["nodes"], 1, "{}", analysis["seen"]);
    analysis
}

/// What coverage says of a source.
pub(crate) fn outcome(analysis: &Value, source: &str) -> String {
    let rows = analysis["coverage"].as_array().unwrap();
    let row = rows.iter().find(|row| row["source"] == source).unwrap();
    row["outcome"].as_str().unwrap().to_owned()
}

/// The files of captures that coverage calls not understood, sorted.
pub(crate) fn not_understood(analysis: &Value) -> Vec<String> {
    let rows = analysis["coverage"].as_array().unwrap();
    let of_captures = rows
        .iter()
        .filter(|row| row["source"].as_str().unwrap().starts_with("capture:"));
    let missing = of_captures.flat_map(|row| row["missing"].as_array().unwrap());
    let mut files: Vec<String> = missing
        .map(|line| line.as_str().unwrap())
        .filter(|line| line.ends_with(": not understood"))
        .map(|line| line.split(" (").next().unwrap().to_owned())
        .collect();
    files.sort();
    files
}
