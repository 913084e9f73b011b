//! One scrape of an exporter of GPU metrics, in Prometheus' text format.

use casefile_bundle::{ANY, Entry};

use super::super::{Document, Parsed, Parser, Read};
use super::{stated, with_lines};
use crate::facts::AnyFact;
use crate::facts::metrics::GpuMetric;

/// Reads the scrapes.
pub(in crate::parsers) static METRICS: Parser = Parser {
    id: "gpu-metrics",
    reads: &[Entry::Command(ANY, "metrics-*.prom")],
    read: Read::Whole(parse),
};

/// Names of what counts trouble. Use, temperature and clocks are no trouble by themselves.
const TROUBLE: [&str; 10] = [
    "XID_ERRORS",
    "ECC_",
    "RETIRED_",
    "ROW_REMAP",
    "REMAPPED_ROWS",
    "ERROR_COUNT",
    "NVLINK_ERROR",
    "REPLAY_COUNTER",
    "_VIOLATION",
    "RECOVERY_ERROR",
];
/// DCGM gives values from here on where it has none: blank, not supported, not found.
const BLANK: f64 = 9.0e15;
/// Modes and other states whose number is no count.
const STATES: [&str; 2] = ["ECC_CURRENT", "ECC_PENDING"];

fn parse(document: &Document<'_>) -> Parsed {
    let rows = document.text.lines().zip(1u32..);
    let facts: Vec<AnyFact> = rows
        .filter_map(|(line, number)| metric(document, line, number))
        .collect();
    with_lines(document, facts)
}

/// `NAME{gpu="0",UUID="GPU-...",...} VALUE`.
fn metric(document: &Document<'_>, line: &str, number: u32) -> Option<AnyFact> {
    let (name, rest) = line.split_once('{')?;
    let counts = TROUBLE.iter().any(|word| name.contains(word));
    if !counts || STATES.iter().any(|word| name.contains(word)) {
        return None;
    }
    let (labels, value) = rest.rsplit_once('}')?;
    let value: f64 = value.split_ascii_whitespace().next()?.parse().ok()?;
    if !(value > 0.0 && value < BLANK) {
        return None;
    }
    let label = |name: &str| label(labels, name).unwrap_or_default();
    let (namespace, pod) = match label("exported_pod") {
        "" => (label("namespace"), label("pod")),
        pod => (label("exported_namespace"), pod),
    };
    let data = GpuMetric {
        node: document.node.to_owned(),
        gpu: label("gpu").to_owned(),
        uuid: label("UUID").to_owned(),
        name: name.to_owned(),
        value,
        pod: if pod.is_empty() {
            String::new()
        } else {
            format!("{namespace}/{pod}")
        },
    };
    Some(stated(document, number, line, data))
}

/// The value of `name="..."` among labels.
fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let marked = format!("{name}=\"");
    let mut from = 0;
    loop {
        let at = from + labels.get(from..)?.find(&marked)?;
        // `gpu` is also the end of another label's name.
        let begins = at == 0 || labels[..at].ends_with([',', ' ']);
        let value = &labels[at + marked.len()..];
        if begins {
            return value.find('"').map(|end| &value[..end]);
        }
        from = at + marked.len();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    /// Lines of a real exporter's answer (8 A800 with MIG, dcgm-exporter of driver 535; a public article about it), with
    /// other names and UUIDs, the error counts above zero from NVIDIA's documents.
    const SCRAPE: &str = r#"# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.
# TYPE DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-1f02",device="nvidia0",modelName="NVIDIA A800-SXM4-80GB",GPU_I_PROFILE="2g.20gb",GPU_I_ID="3",Hostname="n1",DCGM_FI_DRIVER_VERSION="535.129.03",container="main",namespace="ml",pod="train-0"} 79
DCGM_FI_DEV_XID_ERRORS{gpu="1",UUID="GPU-9e5b",device="nvidia1",modelName="NVIDIA A800-SXM4-80GB",Hostname="n1"} 0
DCGM_FI_DEV_GPU_TEMP{gpu="1",UUID="GPU-9e5b",device="nvidia1",modelName="NVIDIA A800-SXM4-80GB",Hostname="n1"} 27
DCGM_FI_DEV_BOARD_LIMIT_VIOLATION{gpu="0", UUID="GPU-1f02",container="",namespace="",pod=""} 9223372036854775794
DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{gpu="3",UUID="GPU-f22d",device="nvidia3",Hostname="n1"} 8
DCGM_FI_DEV_ECC_CURRENT{gpu="3",UUID="GPU-f22d"} 1
"#;

    #[test]
    fn counters_of_trouble_above_nought_are_facts_and_blank_values_are_not() {
        let path = "nodes/n1/commands/metrics-nvidia-dcgm-exporter-x.prom";
        let metrics = facts::<GpuMetric>(&METRICS, path, SCRAPE);
        let said: Vec<_> = metrics
            .iter()
            .map(|one| {
                (
                    one.data.name.as_str(),
                    one.data.gpu.as_str(),
                    one.data.value,
                    one.data.pod.as_str(),
                )
            })
            .collect();
        let expected = [
            ("DCGM_FI_DEV_XID_ERRORS", "0", 79.0, "ml/train-0"),
            ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "3", 8.0, ""),
        ];
        assert_eq!(said, expected);
        assert_eq!(metrics[0].data.uuid, "GPU-1f02");
        assert_eq!(metrics[0].place.line, Some(3));
    }
}
