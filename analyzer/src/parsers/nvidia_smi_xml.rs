//! `nvidia-smi -q -x`: the driver and every GPU with its health.

use roxmltree::{Document as Xml, Node, ParsingOptions};

use super::{Document, Parsed, Parser, Read};
use crate::facts::Fact;
use crate::facts::gpu::{Driver, Gpu};

/// Reads the XML form; labels that a driver generation does not have stay unread.
pub(super) static PARSER: Parser = Parser {
    id: "nvidia-smi-xml",
    reads: &["nodes/*/commands/nvidia-smi-q.xml"],
    read: Read::Whole(parse),
};

fn parse(document: &Document<'_>) -> Parsed {
    // The report starts with a DOCTYPE; entities cannot be declared in it without being expanded,
    // which roxmltree bounds.
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let xml = match Xml::parse_with_options(document.text, options) {
        Ok(xml) => xml,
        Err(error) => {
            let line = error.pos().row;
            return Parsed::problem(
                document.line(line),
                format!("nvidia-smi's XML not read: {error}"),
            );
        }
    };
    let root = xml.root_element();
    let mut parsed = Parsed::default();
    let gpus: Vec<Node<'_, '_>> = root
        .children()
        .filter(|child| child.has_tag_name("gpu"))
        .collect();
    let attached = text(root, "attached_gpus").and_then(|count| count.parse().ok());
    let driver = Driver {
        node: document.node.to_owned(),
        version: text(root, "driver_version").unwrap_or_default().to_owned(),
        cuda: text(root, "cuda_version").unwrap_or_default().to_owned(),
        module: String::new(),
        gpus: attached.or(u64::try_from(gpus.len()).ok()),
    };
    let version = driver.version.clone();
    parsed
        .facts
        .push(fact(document, root, "driver_version", &version, driver));
    for node in gpus {
        let gpu = gpu(document.node, node);
        let uuid = gpu.uuid.clone();
        parsed.facts.push(fact(document, node, "uuid", &uuid, gpu));
    }
    parsed
}

fn gpu(node_name: &str, node: Node<'_, '_>) -> Gpu {
    let remap = child(node, "remapped_rows");
    let pending =
        remap.and_then(|rows| text(rows, "remapped_row_pending").or_else(|| text(rows, "pending")));
    let action =
        text(node, "gpu_recovery_action").filter(|action| !matches!(*action, "None" | "N/A"));
    Gpu {
        node: node_name.to_owned(),
        bus_id: node.attribute("id").unwrap_or_default().to_owned(),
        name: text(node, "product_name").unwrap_or_default().to_owned(),
        uuid: text(node, "uuid").unwrap_or_default().to_owned(),
        mig: child(node, "mig_mode")
            .and_then(|mode| text(mode, "current_mig"))
            .unwrap_or_default()
            .to_owned(),
        temperature: child(node, "temperature")
            .and_then(|part| text(part, "gpu_temp"))
            .and_then(|value| value.trim_end_matches(" C").parse().ok()),
        ecc_uncorrectable: ecc_uncorrectable(node),
        remap_pending: pending == Some("Yes"),
        recovery_action: action.unwrap_or_default().to_owned(),
    }
}

/// Adds up the volatile uncorrectable counters that this driver generation reports; none if it reports none.
fn ecc_uncorrectable(gpu: Node<'_, '_>) -> Option<u64> {
    let volatile = child(child(gpu, "ecc_errors")?, "volatile")?;
    let counters: Vec<u64> = volatile
        .children()
        .filter(|counter| {
            let name = counter.tag_name().name();
            name.contains("uncorrectable")
        })
        .filter_map(|counter| counter.text()?.trim().parse().ok())
        .collect();
    (!counters.is_empty()).then(|| {
        counters
            .iter()
            .fold(0, |sum: u64, one| sum.saturating_add(*one))
    })
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| child.has_tag_name(name))
}

fn text<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(node, name)?.text().map(str::trim)
}

fn fact<T: crate::facts::FactType>(
    document: &Document<'_>,
    node: Node<'_, '_>,
    tag: &str,
    value: &str,
    data: T,
) -> crate::facts::AnyFact {
    let at = child(node, tag).unwrap_or(node);
    Fact {
        data,
        place: document.at_offset(at.range().start),
        text: if value.is_empty() {
            String::new()
        } else {
            value.to_owned()
        },
        at: None,
    }
    .into()
}
