//! NVML in the place of a missing nvidia-smi: a library of the same interface that answers what a real driver said
//! through nvidia-smi (no GPU is needed, and none was there). The analyzer has to see the same cards both ways.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;
use serde_json::{Value, json};

use crate::static_binary::packed;
use crate::support::{Ended, diagnose, ended, entry, manifest, plant, skip, source, told};

const CAPTURE: &str = "../shared/data/nvidia-smi/gpud/nvidia-smi-query.535.161.08.out.0.valid";
const LIBRARY: &str = "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1";

fn cards(analysis: &Value) -> Vec<Value> {
    let nodes = analysis["state"]["nodes"].as_array().unwrap();
    let all = nodes
        .iter()
        .filter_map(|node| node["cards"].as_array())
        .flatten();
    let told = all.map(|card| {
        json!({"bus_id": card["bus_id"], "name": card["name"], "temperature": card["temperature"], "trouble": card["trouble"]})
    });
    told.collect()
}

/// What the recorded nvidia-smi said, as the analyzer reads it.
fn recorded(folder: &Path) -> Option<Vec<Value>> {
    let capture = std::fs::read(bins::checkout().join(CAPTURE)).ok()?;
    plant(folder, "capture/nodes/x/commands/nvidia-smi-q.out", capture);
    Some(cards(&diagnose(&folder.join("capture"))))
}

/// The codes of `nvmlClocksThrottleReason...`.
fn slowdowns(card: &Value) -> u64 {
    let told = card["trouble"].to_string();
    let known = [
        ("hw-slowdown", 0x8),
        ("hw-thermal", 0x40),
        ("hw-power-brake", 0x80),
        ("sw-thermal", 0x20),
        ("sw-power-cap", 0x4),
    ];
    known
        .iter()
        .filter(|(word, _)| told.contains(word))
        .map(|(_, code)| code)
        .sum()
}

/// Compiles the library into a folder; `None` with a line that says why where there is no compiler.
fn library(test: &str, folder: &Path, cards: &[Value], start: u32) -> Option<PathBuf> {
    let mut header = format!(
        "#define DRIVER \"535.161.08\"\n#define CUDA 12020\n#define START {start}\n\
        struct card {{ const char *bus_id, *name; int temperature; unsigned long long slowdowns; }};\n\
        static const struct card cards[] = {{\n"
    );
    for card in cards {
        let temperature = card["temperature"].as_i64().unwrap_or(-1);
        writeln!(
            header,
            "  {{{}, {}, {temperature}, {}}},",
            card["bus_id"],
            card["name"],
            slowdowns(card)
        )
        .unwrap();
    }
    header.push_str("};\n");
    plant(folder, "cards.h", header);
    let to = folder.join("libnvidia-ml.so.1");
    let mut compile = Command::new("cc");
    compile
        .args(["-shared", "-fPIC", "-Wall", "-Werror", "-I"])
        .arg(folder)
        .arg("-o")
        .arg(&to);
    compile.arg(bins::checkout().join("tests/data/nvml_stub.c"));
    match compile.output() {
        Err(error) => {
            skip(test, &format!("cc: {error}"));
            None
        }
        Ok(output) => {
            let compiled = ended(output);
            assert_eq!(compiled.code, 0, "{compiled:?}");
            Some(to)
        }
    }
}

/// Collects where a driver container shows its root with the library, and no nvidia-smi anywhere.
fn collect(
    test: &str,
    folder: &Path,
    library: &Path,
    collector: &Path,
    more: &[&str],
) -> Option<(Ended, PathBuf)> {
    if !nix::unistd::Uid::effective().is_root() {
        skip(test, "mounts need root");
        return None;
    }
    let bundle = folder.join("bundle.tar.gz");
    let script = format!(
        "hostname gpu-x && mount -t tmpfs lab /run && mkdir -p \"$(dirname /run/nvidia/driver/{LIBRARY})\" &&
         cp \"$1\" /run/nvidia/driver/{LIBRARY} && shift && exec \"$@\""
    );
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--uts", "sh", "-c", &script, "sh"])
        .arg(library)
        .arg(collector);
    command
        .args([
            "collect",
            "--only",
            "nvidia_smi",
            "--progress",
            "none",
            "-o",
        ])
        .arg(&bundle)
        .args(more);
    Some((ended(command.output().unwrap()), bundle))
}

fn told_by(test: &str, collector: &Path, more: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let Some(recorded) = recorded(folder.path()) else {
        return skip(test, "../shared/data is absent");
    };
    assert_eq!(recorded.len(), 8);
    let Some(fit) = library(test, folder.path(), &recorded, 0) else {
        return;
    };
    let Some((ended, bundle)) = collect(test, folder.path(), &fit, collector, more) else {
        return;
    };
    assert_eq!(ended.code, 4, "nvidia-smi itself is missing: {ended:?}");
    let (_, said) = told(source(&manifest(&bundle), "nvidia_smi"));
    if said.contains("this build does not carry") {
        return skip(test, "collector/package had no cargo-zigbuild");
    }
    let text = entry(&bundle, "nodes/gpu-x/commands/nvml.json");
    let whole: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(
        (&whole["driver"], &whole["cuda"]),
        (&json!("535.161.08"), &json!("12.2"))
    );
    assert_eq!(cards(&diagnose(&bundle)), recorded, "{text}");
    assert!(said.contains("nvidia-smi is not installed"), "{said}");

    // A library that does not fit the loaded kernel module.
    let folder = tempfile::tempdir().unwrap();
    let Some(unfit) = library(test, folder.path(), &recorded, 18) else {
        return;
    };
    let Some((_, bundle)) = collect(test, folder.path(), &unfit, collector, more) else {
        return;
    };
    let text = entry(&bundle, "nodes/gpu-x/commands/nvml.json");
    assert!(
        text.contains("Failed to initialize NVML: Driver/library version mismatch"),
        "{text}"
    );
    let analysis = diagnose(&bundle);
    assert!(
        analysis["incidents"].to_string().contains("nvml.json"),
        "{analysis}"
    );
}

#[test]
fn nvml_says_the_same_of_the_cards_as_the_nvidia_smi_that_is_missing() {
    let test = "nvml_says_the_same_of_the_cards_as_the_nvidia_smi_that_is_missing";
    let programs = tempfile::tempdir().unwrap();
    std::fs::copy(
        bins::find("casefile-nvml"),
        programs.path().join("casefile-nvml"),
    )
    .unwrap();
    let more = ["--command-dir", programs.path().to_str().unwrap()];
    told_by(test, &bins::find(bins::COLLECTOR), &more);
}

#[test]
fn the_static_binary_asks_nvml_from_memory() {
    let test = "the_static_binary_asks_nvml_from_memory";
    let Some(binary) = packed(test) else { return };
    told_by(test, &binary, &[]);
}
