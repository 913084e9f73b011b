//! What NVML said of the driver and its GPUs, where the collector asked it in the place of nvidia-smi.

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;

use super::{Channel, Document, Parsed, Parser, Read, Said};
use crate::facts::gpu::{Driver, Gpu};
use crate::facts::{AnyFact, Fact, FactType, excerpt};
use crate::gpu::smi::Card;

/// Reads the versions and one GPU a line, up to where the library stopped answering.
pub(super) static PARSER: Parser = Parser {
    id: "nvml",
    reads: &[Entry::Command(ANY, "nvml.json")],
    read: Read::Whole(parse),
};

/// A line is quoted up to here, in bytes.
const QUOTED: usize = 400;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Head {
    driver: Option<String>,
    cuda: Option<String>,
    attached: Option<u64>,
    error: Option<String>,
}

fn parse(document: &Document<'_>) -> Parsed {
    let mut parsed = Parsed::default();
    for (line, number) in document.text.lines().zip(1u32..) {
        let json = line.trim().trim_end_matches(',');
        if json.is_empty() || json == "]}" {
            continue;
        }
        // The first line is an object that stays open behind its list.
        let closed = json.strip_suffix('[').map(|head| format!("{head}[]}}"));
        let read = match closed {
            Some(head) => head_of(document, &head, line, number, &mut parsed),
            None if json.contains("\"error\"") => {
                head_of(document, json, line, number, &mut parsed)
            }
            None => card_of(document, json, line, number, &mut parsed),
        };
        if let Err(error) = read {
            let text = format!("NVML's answer not read: {error}");
            parsed
                .problems
                .extend(Parsed::problem(document.line(number), text).problems);
        }
    }
    parsed
}

fn head_of(
    document: &Document<'_>,
    json: &str,
    line: &str,
    number: u32,
    parsed: &mut Parsed,
) -> serde_json::Result<()> {
    let head: Head = serde_json::from_str(json)?;
    if let Some(error) = head.error {
        parsed.said.push(Said {
            subject: format!("node/{}", document.node).into(),
            place: document.line(number),
            text: error.into(),
            at: None,
            count: 1,
            channel: Channel::Command,
        });
        return Ok(());
    }
    let driver = Driver {
        node: document.node.to_owned(),
        version: head.driver.unwrap_or_default(),
        cuda: head.cuda.unwrap_or_default(),
        gpus: head.attached,
        ..Driver::default()
    };
    parsed.facts.push(stated(document, line, number, driver));
    Ok(())
}

fn card_of(
    document: &Document<'_>,
    json: &str,
    line: &str,
    number: u32,
    parsed: &mut Parsed,
) -> serde_json::Result<()> {
    let card: Card = serde_json::from_str(json)?;
    let gpu = Gpu {
        node: document.node.to_owned(),
        card,
    };
    parsed.facts.push(stated(document, line, number, gpu));
    Ok(())
}

fn stated<T: FactType>(document: &Document<'_>, line: &str, number: u32, data: T) -> AnyFact {
    Fact {
        data,
        place: document.line(number),
        text: excerpt(line.trim(), QUOTED).into(),
        at: None,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_stops_half_way_gives_what_came_before() {
        let text = "{\"attached\":2,\"cuda\":\"12.2\",\"driver\":\"535.161.08\",\"gpus\":[\n{\"bus_id\":\"00000000:17:00.0\",\"index\":0,\"temperature\":31}";
        let document = Document {
            path: "nodes/n/commands/nvml.json",
            node: "n",
            text,
        };
        let parsed = parse(&document);
        assert_eq!((parsed.facts.len(), parsed.problems.len()), (2, 0));
        let cut = format!("{text}\n,{{\"bus_id\":\"000");
        let parsed = parse(&Document {
            text: &cut,
            ..document
        });
        assert_eq!((parsed.facts.len(), parsed.problems.len()), (2, 1));
    }
}
