//! Outputs that were recorded on real machines: those beside the checkout, and those of public repositories in the folder
//! that `CASEFILE_RECORDED` names, in a subfolder for each tool. `cargo test -p casefile-analyzer-lib --lib recorded -- --nocapture` prints what was read.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::super::{Document, Parser, Read};
use super::{
    CONFIDENTIAL, CONTAINERS, DEVICES, DISKS, DOMAIN, ETCD, EVENTS, FIRST_BOOT, METRICS, MODULES,
    NVLINK, OTHER_GPUS, PATHS, PEERS, SENSORS, STATS, SWITCHES, UNITS, VIRTUAL,
};

/// A tool: the subfolder of its outputs, what reads them, and the entry that they are in a bundle.
struct Tool {
    name: &'static str,
    parser: &'static Parser,
    entry: &'static str,
    /// Outputs beside the checkout.
    beside: &'static [&'static str],
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "nvidia-smi-nvlink",
        parser: &NVLINK,
        entry: "nodes/n1/commands/nvidia-smi-nvlink.out",
        beside: &["gpu-host/gpud/nvidia-smi.nvlink.status.a100"],
    },
    Tool {
        name: "systemctl-show",
        parser: &UNITS,
        entry: "nodes/n1/commands/systemctl-show.out",
        beside: &["systemctl/insights/systemctl_show.systemctl_show_all_examples.txt"],
    },
    Tool {
        name: "lspci-verbose",
        parser: &DEVICES,
        entry: "nodes/n1/commands/lspci-verbose.out",
        beside: &["gpu-host/gpud/lspci-vvv"],
    },
    tool("dmidecode", &MODULES, "nodes/n1/commands/dmidecode.out"),
    tool(
        "first-boot",
        &FIRST_BOOT,
        "nodes/n1/rootfs/run/cloud-init/status.json",
    ),
    tool(
        "nvidia-smi-topo",
        &PATHS,
        "nodes/n1/commands/nvidia-smi-topo.out",
    ),
    tool(
        "nvidia-smi-topo-p2p",
        &PEERS,
        "nodes/n1/commands/nvidia-smi-topo-p2p.out",
    ),
    tool("imex-status", &DOMAIN, "nodes/n1/commands/imex-status.out"),
    tool(
        "docker-inspect",
        &CONTAINERS,
        "nodes/n1/commands/docker-inspect.out",
    ),
    tool("etcd", &ETCD, "nodes/n1/commands/etcd-status.out"),
    tool("rocm-smi", &OTHER_GPUS, "nodes/n1/commands/rocm-smi.out"),
    tool(
        "amd-smi-metric",
        &OTHER_GPUS,
        "nodes/n1/commands/amd-smi-metric.out",
    ),
    tool(
        "amd-smi-static",
        &OTHER_GPUS,
        "nodes/n1/commands/amd-smi-static.out",
    ),
    tool(
        "xpu-smi-discovery",
        &OTHER_GPUS,
        "nodes/n1/commands/xpu-smi-discovery.out",
    ),
    tool("smartctl", &DISKS, "nodes/n1/host/disks.json"),
    tool(
        "kubelet-stats",
        &STATS,
        "nodes/n1/commands/kubelet-stats.json",
    ),
    tool(
        "dcgm-exporter",
        &METRICS,
        "nodes/n1/commands/metrics-dcgm.prom",
    ),
    tool(
        "ipmitool-sel",
        &EVENTS,
        "nodes/n1/commands/ipmitool-sel.out",
    ),
    tool(
        "ipmitool-sdr",
        &SENSORS,
        "nodes/n1/commands/ipmitool-sdr.out",
    ),
    tool(
        "conf-compute",
        &CONFIDENTIAL,
        "nodes/n1/commands/nvidia-smi-conf-compute-q.out",
    ),
    tool(
        "vgpu-query",
        &VIRTUAL,
        "nodes/n1/commands/nvidia-smi-vgpu.out",
    ),
    tool(
        "nvswitch",
        &SWITCHES,
        "nodes/n1/rootfs/proc/driver/nvidia-nvswitch/devices/0000:05:00.0/information",
    ),
];

const fn tool(name: &'static str, parser: &'static Parser, entry: &'static str) -> Tool {
    Tool {
        name,
        parser,
        entry,
        beside: &[],
    }
}

/// How many facts a recorded output holds, and what of it was not read.
fn read(tool: &Tool, text: &str) -> (usize, Vec<String>) {
    let mut text = text.to_owned();
    if tool.name == "smartctl" {
        // As the collector writes it: one disk a line.
        let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
        text = format!(
            "{{\"disks\":[\n{}\n]}}\n",
            serde_json::json!({"disk": "sda", "smart": answer})
        );
    }
    let Read::Whole(parse) = tool.parser.read else {
        panic!("{} reads no whole text", tool.parser.id);
    };
    let parsed = parse(&Document {
        path: tool.entry,
        node: "n1",
        text: &text,
    });
    let problems = parsed.problems.into_iter().map(|one| one.text);
    (parsed.facts.len(), problems.collect())
}

/// Tools whose output stands in reports of nvidia-bug-report.sh, and the line that it begins with.
const IN_REPORTS: [(&str, &str); 2] = [
    ("lspci-verbose", "lspci -nnDvvvxxxx"),
    ("dmidecode", "dmidecode"),
];

/// The outputs of a tool in the reports beside the checkout, each with the name of its report.
fn in_reports(tool: &Tool) -> Vec<(String, String)> {
    let Some((_, head)) = IN_REPORTS.iter().find(|(name, _)| *name == tool.name) else {
        return Vec::new();
    };
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/captures");
    let mut found = Vec::new();
    for capture in std::fs::read_dir(captures).into_iter().flatten().flatten() {
        let report = capture.path().join("capture/nvidia-bug-report.log.gz");
        let Ok(file) = std::fs::File::open(&report) else {
            continue;
        };
        let mut bytes = Vec::new();
        flate2::read::MultiGzDecoder::new(file)
            .read_to_end(&mut bytes)
            .unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let sections = text.split("\n____________________________________________\n");
        let its = sections.filter_map(|section| {
            let (first, rest) = section.trim_start().split_once('\n')?;
            (first.ends_with(head) && rest.lines().count() > 20).then_some(rest)
        });
        let name = capture.file_name().to_string_lossy().into_owned();
        found.extend(its.map(|rest| (name.clone(), rest.trim_start().to_owned())));
    }
    found.sort();
    found
}

fn files(tool: &Tool) -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let mut found: Vec<PathBuf> = tool.beside.iter().map(|file| beside.join(file)).collect();
    found.retain(|file| file.exists());
    if let Some(folder) = std::env::var_os("CASEFILE_RECORDED") {
        let listed = std::fs::read_dir(Path::new(&folder).join(tool.name));
        found.extend(
            listed
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path()),
        );
    }
    found.sort();
    found
}

/// A GPU, a disk, a unit or a link is in every one of these; counters of trouble and board events need not be.
fn may_be_empty(tool: &Tool) -> bool {
    ["dcgm-exporter", "ipmitool-sel"].contains(&tool.name)
}

#[test]
fn recorded_outputs_of_real_machines_are_read() {
    for tool in TOOLS {
        let mut outputs = in_reports(tool);
        outputs.extend(files(tool).into_iter().map(|file| {
            let bytes = std::fs::read(&file).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            (file.display().to_string(), text)
        }));
        if outputs.is_empty() {
            println!("skipped: {}: no recorded output is here", tool.name);
            continue;
        }
        let mut facts = 0;
        for (name, text) in &outputs {
            let (found, problems) = read(tool, text);
            assert!(problems.is_empty(), "{name}: {problems:?}");
            assert!(found > 0 || may_be_empty(tool), "{name}: nothing was read");
            facts += found;
        }
        println!("{}: {} outputs, {facts} facts", tool.name, outputs.len());
    }
}
