//! Appendix: what was read and by what, what could not be read, which entries are cited.

use std::collections::BTreeMap;

use super::{Section, SectionCtx, limited};
use crate::model::Analysis;
use crate::report::blocks::{Block, Rich};
use crate::report::{escape, words};

pub(super) static SECTION: Section = Section {
    id: "appendix",
    title: "Appendix",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(
        Rich::from("To see a cited line: ")
            .code(see(analysis))
            .text("."),
    )];
    blocks.extend(problems(analysis, ctx));
    let mut rest = vec![input(analysis)];
    rest.extend(bundles(analysis));
    rest.extend(cited(analysis, ctx));
    blocks.extend(Block::folded("Input, rules and cited entries", rest));
    blocks
}

fn input(analysis: &Analysis) -> Block {
    let input = &analysis.input;
    let when = |at: Option<chrono::DateTime<chrono::Utc>>| {
        at.map_or_else(|| "not recorded".to_owned(), words::time)
    };
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "not recorded".to_owned());
    let rows = vec![
        vec![
            Rich::from("Input"),
            Rich::new()
                .code(input.name.clone())
                .text(format!(" ({})", input.form)),
        ],
        vec![Rich::from("Node"), Rich::from(or(&input.node))],
        vec![Rich::from("Written by"), Rich::from(or(&input.tool))],
        vec![
            Rich::from("Collection"),
            Rich::from(format!(
                "{} to {}",
                when(input.started),
                when(input.finished)
            )),
        ],
        vec![
            Rich::from("\"Now\" in this report"),
            Rich::from(when(analysis.reference_time)),
        ],
        vec![
            Rich::from("Read"),
            Rich::from(format!(
                "{} entries, {}",
                input.entries,
                words::bytes(input.bytes)
            )),
        ],
        vec![
            Rich::from("Considered"),
            Rich::from(format!(
                "{}, {} in play",
                words::count(analysis.differential.len() as u64, "cause"),
                analysis
                    .differential
                    .iter()
                    .filter(|cause| cause.verdict.is_live())
                    .count()
            )),
        ],
        vec![
            Rich::from("Analysed by"),
            Rich::from(concat!("casefile-analyzer ", env!("CARGO_PKG_VERSION"))),
        ],
        vec![Rich::from("Rules"), rules(analysis)],
    ];
    let columns = vec![Rich::from("What"), Rich::from("Value")];
    Block::Table {
        caption: "Input".to_owned(),
        columns,
        rows,
        titled: false,
        row_heads: true,
    }
}

/// The command that prints a cited line.
fn see(analysis: &Analysis) -> String {
    let input = &analysis.input;
    let name = match input.bundles.is_empty() {
        true => input.name.as_str(),
        false => "<bundle>",
    };
    format!("casefile-analyzer cat {name} <path>:<line>")
}

/// Which bundle holds what, where several were read as one.
fn bundles(analysis: &Analysis) -> Vec<Block> {
    let bundles = &analysis.input.bundles;
    if bundles.is_empty() {
        return Vec::new();
    }
    let rows = bundles.iter().map(|one| {
        let taken = one
            .finished
            .map_or_else(|| "not recorded".to_owned(), words::time);
        let cut = if one.cut_short { ", cut short" } else { "" };
        vec![
            Rich::new().code(one.node.clone()),
            Rich::new().code(one.name.clone()),
            Rich::from(format!("{taken}{cut}")),
        ]
    });
    let table = Block::table(
        "Bundles that were read as one",
        &["Node", "Bundle", "Collected until"],
        rows.collect(),
    );
    let explained = Rich::from("A source that starts with ")
        .code("NODE:")
        .text(" or ")
        .code("nodes/NODE/")
        .text(" lies in the bundle of that node. Of an object that several bundles hold, the newest copy counts.");
    vec![table, Block::paragraph(explained)]
}

fn rules(analysis: &Analysis) -> Rich {
    let used = &analysis.rules;
    let short = used.digest.get(..16).unwrap_or(&used.digest);
    Rich::from(format!("{}, SHA-256 ", words::count(used.count, "rule"))).code(short)
}

fn problems(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.problems.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<Vec<Rich>> = analysis
        .problems
        .iter()
        .map(|problem| {
            vec![
                ctx.place(Rich::new(), &problem.place),
                Rich::prose(&words::sentence(&escape::cut_middle(
                    &problem.text,
                    escape::EXCERPT_CHARS,
                ))),
            ]
        })
        .collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let mut blocks = vec![Block::table(
        "What could not be read",
        &["Where", "What is wrong with it"],
        rows,
    )];
    blocks.extend(more);
    blocks
}

fn cited(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let mut entries: BTreeMap<&str, Vec<(String, &str)>> = BTreeMap::new();
    for (place, anchor) in ctx.cited() {
        let label = place
            .line
            .map_or_else(|| "whole".to_owned(), |line| line.to_string());
        entries
            .entry(&place.path)
            .or_default()
            .push((label, anchor));
    }
    if entries.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<Vec<Rich>> = entries
        .into_iter()
        .map(|(path, lines)| {
            let mut text = Rich::new();
            for (index, (label, anchor)) in lines.into_iter().enumerate() {
                text = text
                    .text(if index == 0 { "" } else { ", " })
                    .jump(label, anchor);
            }
            vec![Rich::new().code(path), text, digest(analysis, path)]
        })
        .collect();
    let more = limited(&mut rows, ctx.limits.rows * 5, "report.json");
    let table = Block::table(
        "Entries cited",
        &["Entry", "Lines", "SHA-256 of the entry"],
        rows,
    );
    std::iter::once(table).chain(more).collect()
}

/// What the manifest says of an entry; the first digits suffice to compare by eye.
fn digest(analysis: &Analysis, path: &str) -> Rich {
    let Some(digest) = analysis.digests.get(path) else {
        return Rich::from("not recorded");
    };
    let short = digest.sha256.get(..16).unwrap_or(&digest.sha256);
    let mut text = Rich::new()
        .code(short)
        .text(format!(", {}", words::bytes(digest.bytes)));
    if let Some(why) = &digest.truncated {
        text = text.text(", cut: ").say(why);
    }
    if digest.redacted > 0 {
        let secrets = words::count(digest.redacted, "secret");
        text = text.text(format!(", {secrets} redacted"));
    }
    text
}
