//! Output of `nvidia-smi`: the driver in every form, and the GPUs with their health where `-q` was asked.

use casefile_bundle::{ANY, Entry};

use super::{Channel, Document, Parsed, Parser, Read};
use crate::facts::gpu::{Driver, Gpu};
use crate::facts::{AnyFact, Fact, FactType};
use crate::gpu::smi::{self, Report};

/// Reads `-q -x`, `-q`, what `-q` says of memory alone, and the table. The table's GPUs are left to the deriver, which takes them where `-q` is missing.
pub(super) static PARSER: Parser = Parser {
    id: "nvidia-smi",
    reads: &[
        Entry::Command(ANY, "nvidia-smi-q.xml"),
        Entry::Printed(ANY, "nvidia-smi-q"),
        Entry::Printed(ANY, "nvidia-smi-memory"),
        Entry::Printed(ANY, "nvidia-smi"),
    ],
    read: Read::Whole(parse),
};

fn parse(document: &Document<'_>) -> Parsed {
    let form = smi::form(document.text);
    let short = form.is_none_or(smi::is_short);
    let mut parsed = if short {
        super::host_files::say_lines(document, Channel::Command)
    } else {
        Parsed::default()
    };
    if form.is_none() {
        if document.path.ends_with(".xml") && !document.text.trim().is_empty() {
            let text = "nvidia-smi's XML not read: it holds no nvidia_smi_log";
            parsed
                .problems
                .extend(Parsed::problem(document.line(1), text).problems);
        }
        return parsed;
    }
    match smi::read(document.text) {
        Ok(report) => {
            parsed.facts.extend(driver(document, &report));
            if !short {
                parsed.facts.extend(gpus(document, report));
            }
        }
        Err((line, why)) => {
            let text = format!("nvidia-smi's output not read: {why}");
            parsed
                .problems
                .extend(Parsed::problem(document.line(line), text).problems);
        }
    }
    parsed
}

fn driver(document: &Document<'_>, report: &Report) -> Option<AnyFact> {
    let version = report.driver.clone().unwrap_or_default();
    if version.is_empty() && report.cards.is_empty() {
        return None;
    }
    let text = version.clone();
    let driver = Driver {
        node: document.node.to_owned(),
        version,
        cuda: report.cuda.clone().unwrap_or_default(),
        // From driver 610 on nvidia-smi says which version the loaded module has.
        module: report.module.clone().unwrap_or_default(),
        flavour: String::new(),
        gpus: report
            .attached
            .or_else(|| u64::try_from(report.cards.len()).ok()),
    };
    Some(stated(document, report.line, text, driver))
}

fn gpus(document: &Document<'_>, report: Report) -> Vec<AnyFact> {
    let cards = report.cards.into_iter().map(|(line, card)| {
        let text = card.bus_id.clone();
        let gpu = Gpu {
            node: document.node.to_owned(),
            card,
        };
        stated(document, line, text, gpu)
    });
    cards.collect()
}

fn stated<T: FactType>(document: &Document<'_>, line: u32, text: String, data: T) -> AnyFact {
    Fact {
        data,
        place: document.line(line),
        text: text.into(),
        at: None,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;

    /// `nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER`, as it is asked where the XML cannot be written.
    #[test]
    fn what_memory_alone_says_names_the_gpu_and_its_rows() {
        let text = "\n==============NVSMI LOG==============\n\nTimestamp                                 : Mon Nov  2 10:00:00 2026\n\
            Driver Version                            : 535.161.08\nCUDA Version                              : 12.2\n\n\
            Attached GPUs                             : 1\nGPU 00000000:3B:00.0\n    ECC Mode\n        Current                           : Enabled\n        Pending                           : Enabled\n\
            \x20   ECC Errors\n        Volatile\n            DRAM Uncorrectable            : 3\n        Aggregate\n            DRAM Uncorrectable            : 3\n\
            \x20   Remapped Rows\n        Correctable Error                 : 0\n        Uncorrectable Error               : 2\n        Pending                           : Yes\n        Remapping Failure Occurred        : No\n";
        let parsed = parse(&Document {
            path: "nodes/n1/commands/nvidia-smi-memory.out",
            node: "n1",
            text,
        });
        let mut facts = Facts::default();
        parsed.facts.into_iter().for_each(|fact| facts.add(fact));
        let gpus = facts.table::<Gpu>();
        assert_eq!(gpus.len(), 1, "{:?}", parsed.problems);
        let card = &gpus[0].data.card;
        assert_eq!(
            (card.remap_pending, card.remapped_uncorrectable),
            (Some(true), Some(2)),
            "{card:?}"
        );
    }
}
