//! Root Cause Analysis: each cause with its problem, error, details, impact, evidence for and against, and chain.

use super::{Section, SectionCtx};
use crate::model::{Analysis, Evidence, Incident, Role, Table, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::{escape, svg, words};

pub(super) static SECTION: Section = Section {
    id: "root-cause",
    title: "Root Cause Analysis",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.incidents.is_empty() {
        return vec![
            Block::paragraph(super::first_screen::nothing_confirmed(analysis)),
            Block::paragraph(
                "A cause is only named here when evidence in the bundle speaks for it; none did. \
                 An unnamed cause, or one that shows only in sources that were not collected, remains possible.",
            ),
        ];
    }
    let mut blocks = Vec::new();
    for (index, incident) in analysis.incidents.iter().enumerate() {
        blocks.extend(cause(index, incident, ctx));
    }
    blocks
}

fn cause(index: usize, incident: &Incident, ctx: &SectionCtx) -> Vec<Block> {
    let number = index + 1;
    let heading = Rich::from(format!("{} Issue: ", words::rank(index))).say(incident.title.trim());
    let mut blocks = vec![Block::heading(3, format!("cause-{number}"), heading)];
    blocks.push(Block::list(facts(incident)));
    for table in &incident.tables {
        blocks.push(details(table, ctx));
    }
    for (nth, figure) in incident.figures.iter().enumerate() {
        blocks.push(super::state::draw(
            figure,
            &format!("figure-{number}-{}", nth + 1),
        ));
    }
    blocks.extend(evidence(number, incident, ctx));
    blocks.extend(chain(number, incident));
    blocks.extend(symptoms(number, incident, ctx));
    if !incident.references.is_empty() {
        let items = incident
            .references
            .iter()
            .map(|text| Rich::new().reference(text.trim()))
            .collect();
        blocks.push(Block::heading(
            4,
            format!("reading-{number}"),
            "Further reading",
        ));
        blocks.push(Block::list(items));
    }
    blocks
}

fn facts(incident: &Incident) -> Vec<Rich> {
    let mut facts = vec![
        Rich::new()
            .strong("Cause:")
            .text(" ")
            .code(incident.cause.clone())
            .text(" ")
            .verdict(incident.verdict)
            .text(format!(" · {}", words::standing(incident))),
        Rich::new()
            .strong("Problem:")
            .text(" ")
            .say(&problem(incident)),
    ];
    let error = incident
        .symptoms
        .iter()
        .flat_map(|symptom| &symptom.evidence)
        .find(|line| !line.text.is_empty());
    if let Some(line) = error {
        let text = escape::cut_middle(line.text.trim(), 240).into_owned();
        facts.push(Rich::new().strong("Error:").text(" ").code(text));
    }
    if !incident.explanation.trim().is_empty() {
        facts.push(
            Rich::new()
                .strong("Details:")
                .text(" ")
                .say(&words::sentence(&incident.explanation)),
        );
    }
    let mut impact = Rich::new()
        .strong("Impact:")
        .text(" ")
        .severity(incident.severity);
    for subject in incident.subjects.iter().take(6) {
        impact = impact.text(" · ").code(subject.clone());
    }
    if incident.subjects.len() > 6 {
        impact = impact.text(format!(" · {} more", incident.subjects.len() - 6));
    }
    facts.push(impact);
    facts
}

/// What people notice first; the heading above names the cause already, so it stands in only where nothing is.
fn problem(incident: &Incident) -> String {
    match incident.symptoms.first() {
        Some(symptom) => words::opening(&symptom.text),
        None => words::sentence(&incident.title),
    }
}

fn details(table: &Table, ctx: &SectionCtx) -> Block {
    let cell = |cell: &crate::model::Cell| {
        let text = Rich::prose(&escape::cut_middle(cell.text.trim(), escape::EXCERPT_CHARS));
        match &cell.place {
            Some(place) => ctx.place(text.text(" · "), place),
            None => text,
        }
    };
    // A row of another length than the heading would break the table for its reader.
    let width = table.columns.len();
    let row = |row: &Vec<crate::model::Cell>| {
        let mut cells: Vec<Rich> = row.iter().map(cell).collect();
        cells.resize(width, Rich::new());
        cells
    };
    let rows = table.rows.iter().take(ctx.limits.rows).map(row).collect();
    let columns = table
        .columns
        .iter()
        .map(|text| Rich::prose(text.trim()))
        .collect();
    Block::Table {
        caption: table.title.clone(),
        columns,
        rows,
        titled: true,
        row_heads: true,
    }
}

fn evidence(number: usize, incident: &Incident, ctx: &SectionCtx) -> Vec<Block> {
    let prefix = format!("e{number}");
    let mut blocks = vec![Block::heading(4, format!("for-{number}"), "Evidence for")];
    let lines = ctx.excerpt(&prefix, true, &incident.evidence, |line| {
        line.role == Role::For
    });
    if lines.is_empty() {
        blocks.push(Block::paragraph("No single line speaks for it."));
    }
    blocks.extend(lines);
    blocks.push(Block::heading(
        4,
        format!("against-{number}"),
        "Evidence against",
    ));
    let lines = ctx.excerpt(&prefix, true, &incident.evidence, |line| {
        line.role == Role::Against
    });
    if lines.is_empty() {
        blocks.push(Block::paragraph("None was seen."));
    }
    blocks.extend(lines);
    if !incident.would_refute.is_empty() {
        blocks.push(Block::paragraph(
            "What would have spoken against it, had it been there:",
        ));
        blocks.push(Block::list(
            incident
                .would_refute
                .iter()
                .map(|text| Rich::prose(text.trim()))
                .collect(),
        ));
    }
    if !incident.look_alikes.trim().is_empty() {
        let text = Rich::new()
            .strong("Look-alikes:")
            .text(" ")
            .say(&words::sentence(&incident.look_alikes));
        blocks.push(Block::paragraph(text));
    }
    if !incident.would_settle.is_empty() {
        let lead = match incident.verdict {
            Verdict::Confirmed => "What would add to it:",
            _ => "What is missing to be sure:",
        };
        blocks.push(Block::paragraph(lead));
        blocks.push(Block::list(
            incident
                .would_settle
                .iter()
                .map(|text| Rich::prose(text.trim()))
                .collect(),
        ));
    }
    blocks
}

fn chain(number: usize, incident: &Incident) -> Vec<Block> {
    if incident.chain.is_empty() {
        return Vec::new();
    }
    let title = format!("How {} led to what people notice", incident.cause);
    vec![
        Block::heading(4, format!("chain-{number}"), "How one led to the other"),
        Block::Figure {
            title,
            captioned: false,
            svg: svg::graph::draw(&format!("graph-{number}"), incident),
            text: svg::graph::text(incident),
        },
    ]
}

fn symptoms(number: usize, incident: &Incident, ctx: &SectionCtx) -> Vec<Block> {
    if incident.symptoms.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::heading(
        4,
        format!("symptoms-{number}"),
        "What people notice",
    )];
    for (nth, symptom) in incident.symptoms.iter().enumerate() {
        let text = Rich::new()
            .say(&words::opening(&symptom.text))
            .text(" (")
            .code(symptom.id.clone())
            .text(")");
        blocks.push(Block::paragraph(text));
        let prefix = format!("s{number}-{}", nth + 1);
        // A line that is quoted further up is only pointed to.
        let quoted = |line: &Evidence| !ctx.anchor(&line.place).starts_with(&prefix);
        let elsewhere: Vec<&Evidence> = symptom
            .evidence
            .iter()
            .filter(|line| quoted(line))
            .collect();
        if !elsewhere.is_empty() {
            blocks.push(Block::list(
                elsewhere
                    .into_iter()
                    .map(|line| pointer(line, ctx))
                    .collect(),
            ));
        }
        blocks.extend(ctx.excerpt(&prefix, false, &symptom.evidence, |line| !quoted(line)));
    }
    blocks
}

/// A line that is quoted elsewhere: where it stands, when and how often.
fn pointer(line: &Evidence, ctx: &SectionCtx) -> Rich {
    let text = ctx.place(Rich::new(), &line.place);
    let seen = words::seen(line);
    if seen.is_empty() {
        text
    } else {
        text.text(format!(" ({seen})"))
    }
}
