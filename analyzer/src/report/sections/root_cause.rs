//! Root Cause Analysis: each cause with its evidence, what was ruled out, what is missing, and the chain.

use super::{Section, SectionCtx};
use crate::model::{Analysis, Cell, Considered, Evidence, Figure, Incident, Role, Table, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::{escape, first_screen, svg, words};

pub(super) static SECTION: Section = Section {
    id: "root-cause",
    title: "Root Cause Analysis",
    build,
};

/// Characters of a cell that is not repeated in the row below.
const AS_ABOVE: usize = 60;
/// Causes of the same family that are named as ruled out.
const RULED_OUT: usize = 5;

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let numbered = (1..).zip(&analysis.incidents);
    numbered
        .flat_map(|(number, incident)| cause(number, incident, analysis, ctx))
        .collect()
}

fn cause(number: usize, incident: &Incident, analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let heading = Rich::from(format!("{} Issue: ", words::rank(number - 1)));
    let heading = heading.say(incident.title.trim());
    let mut blocks = vec![Block::heading(3, format!("cause-{number}"), heading)];
    let mut verdict = Rich::new()
        .code(incident.cause.clone())
        .text(" ")
        .verdict(incident.verdict)
        .text(". ");
    verdict = match incident.verdict {
        Verdict::Confirmed => verdict.text("Only this cause fits the evidence."),
        // The first screen says what would settle the first cause.
        _ if number == 1 => verdict.text("Other causes are not ruled out."),
        _ => verdict.say(&first_screen::doubt(incident, analysis)),
    };
    blocks.push(Block::paragraph(verdict));
    let mut details: Vec<Block> = chain(number, incident).into_iter().collect();
    details.extend(drawn(number, incident, true));
    details.extend(evidence(number, incident, ctx));
    details.extend(excluded(number, incident, analysis, ctx));
    details.extend(shown(incident, ctx).next());
    // Behind the best guess, the question that settles a guess says enough.
    if number > 1 && incident.verdict == Verdict::Possible {
        details.extend(background(number, incident, ctx));
        let text = format!(
            "{} {}",
            words::summary(incident),
            incident.explanation.trim()
        );
        details.insert(0, Block::paragraph(Rich::prose(text.trim())));
        let summary = format!("Evidence of {}", incident.cause);
        blocks.extend(Block::folded(summary, details));
        return blocks;
    }
    blocks.extend(details);
    blocks.extend(Block::folded(
        format!("Background of {}", incident.cause),
        background(number, incident, ctx),
    ));
    blocks
}

/// Tables with the difference that makes the cause, the telling one first.
fn shown<'a>(incident: &'a Incident, ctx: &'a SectionCtx) -> impl Iterator<Item = Block> + 'a {
    incident.tables.iter().map(|table| details(table, ctx))
}

/// Further tables, drawings, symptoms and reading: for who wants to check.
fn background(number: usize, incident: &Incident, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks: Vec<Block> = shown(incident, ctx).skip(1).collect();
    blocks.extend(drawn(number, incident, false));
    blocks.extend(symptoms(number, incident, ctx));
    if !incident.references.is_empty() {
        let items = incident.references.iter();
        let items = items.map(|text| Rich::new().reference(text.trim()));
        blocks.push(Block::paragraph(Rich::new().strong("Further reading")));
        blocks.push(Block::list(items.collect()));
    }
    blocks
}

/// The drawings that carry the cause, or the others.
fn drawn(number: usize, incident: &Incident, carry: bool) -> Vec<Block> {
    let figures = (1..).zip(&incident.figures);
    let wanted = figures.filter(|(_, figure)| carries(figure, number) == carry);
    wanted
        .map(|(nth, figure)| super::state::draw(figure, &format!("figure-{number}-{nth}")))
        .collect()
}

/// Whether a drawing is the cause itself: what runs on which GPU, where a pod does not fit, and of the first cause
/// which rule stops a packet. Which file set what is for who wants to check.
fn carries(figure: &Figure, number: usize) -> bool {
    match figure {
        Figure::GpuMap(_) | Figure::Packing(_) => true,
        Figure::PacketPath(_) => number == 1,
        Figure::RuntimeLayers(_) => false,
    }
}

fn details(table: &Table, ctx: &SectionCtx) -> Block {
    // A source is named once, not again in each row below.
    let cell = |cell: &Cell, above: Option<&Cell>| {
        let same = above.is_some_and(|above| above.text == cell.text);
        let text = match same && cell.text.chars().count() > AS_ABOVE {
            true => Rich::from("as above"),
            false => Rich::prose(&escape::cut_middle(cell.text.trim(), escape::EXCERPT_CHARS)),
        };
        let known = above.and_then(|above| above.place.as_ref());
        match cell.place.as_ref().filter(|place| Some(*place) != known) {
            Some(place) => ctx.place(text.text(" · "), place),
            None => text,
        }
    };
    // A row of another length than the heading would break the table for its reader.
    let width = table.columns.len();
    let row = |(nth, row): (usize, &Vec<Cell>)| {
        let above = nth.checked_sub(1).and_then(|nth| table.rows.get(nth));
        let mut cells: Vec<Rich> = (0..)
            .zip(row)
            .map(|(column, one)| cell(one, above.and_then(|row| row.get(column))))
            .collect();
        cells.resize(width, Rich::new());
        cells
    };
    Block::Table {
        caption: table.title.clone(),
        columns: table
            .columns
            .iter()
            .map(|text| Rich::prose(text.trim()))
            .collect(),
        rows: table
            .rows
            .iter()
            .take(ctx.limits.rows)
            .enumerate()
            .map(row)
            .collect(),
        titled: true,
        row_heads: true,
    }
}

fn evidence(number: usize, incident: &Incident, ctx: &SectionCtx) -> Vec<Block> {
    let prefix = format!("e{number}");
    let heading =
        |id: &str, text: &str| Block::heading(4, format!("{id}-{number}"), text.to_owned());
    let mut blocks = vec![heading("for", "Evidence")];
    let lines = ctx.excerpt(&prefix, &incident.evidence, |line| line.role == Role::For);
    if lines.is_empty() {
        blocks.push(Block::paragraph("No single line supports it."));
    }
    blocks.extend(lines);
    let against = |line: &Evidence| line.role == Role::Against;
    let lines = ctx.excerpt(&prefix, &incident.evidence, against);
    if !lines.is_empty() {
        blocks.push(heading("against", "Evidence against"));
        blocks.extend(lines);
    }
    blocks
}

/// What was ruled out, what would contradict the cause, and what tells its look-alikes apart.
fn excluded(
    number: usize,
    incident: &Incident,
    analysis: &Analysis,
    ctx: &SectionCtx,
) -> Vec<Block> {
    let mut items = Vec::new();
    let mut considered = analysis.differential.iter();
    let own = considered.find(|other| other.cause == incident.cause);
    let family = own.map(|own| own.family.as_str());
    let ruled_out = analysis.differential.iter().filter(|other| {
        other.verdict == Verdict::RuledOut && Some(other.family.as_str()) == family
    });
    // Every cause of a family shares what was ruled out in it.
    if number == 1 {
        let mut groups: Vec<Vec<&Considered>> = Vec::new();
        for other in ruled_out.take(RULED_OUT) {
            let same = |group: &&mut Vec<&Considered>| group[0].why == other.why;
            match groups.iter_mut().find(same) {
                Some(group) => group.push(other),
                None => groups.push(vec![other]),
            }
        }
        items.extend(groups.iter().map(|group| ruled(group, ctx)));
    }
    let against = incident
        .evidence
        .iter()
        .any(|line| line.role == Role::Against);
    if !against {
        let texts = incident.would_refute.iter();
        // What was looked for and not found needs no look again.
        let open = texts.filter(|text| !text.contains(words::NOT_THE_CASE));
        items.extend(open.map(|text| {
            Rich::new()
                .strong("Would contradict it:")
                .text(" ")
                .say(&words::sentence(text))
        }));
    }
    if !incident.look_alikes.trim().is_empty() {
        items.push(
            Rich::new()
                .strong("Look-alikes:")
                .text(" ")
                .say(&words::sentence(&incident.look_alikes)),
        );
    }
    if items.is_empty() {
        return items.into_iter().map(Block::paragraph).collect();
    }
    vec![
        Block::heading(4, format!("excluded-{number}"), "Ruled out, and how"),
        Block::list(items),
    ]
}

/// Causes that one line rules out.
fn ruled(group: &[&Considered], ctx: &SectionCtx) -> Rich {
    let other = group[0];
    let mut text = Rich::new().strong("Ruled out:").text(" ");
    for (nth, one) in group.iter().enumerate() {
        text = text
            .text(if nth == 0 { "" } else { ", " })
            .code(one.cause.clone());
    }
    let text = text
        .text(": ")
        .say(&words::first_clause(&words::clause(&other.why), 200));
    match &other.place {
        Some(place) => ctx.place(text.text(" ("), place).text(")."),
        None => text.text("."),
    }
}

fn chain(number: usize, incident: &Incident) -> Option<Block> {
    (!incident.chain.is_empty()).then(|| Block::Figure {
        title: format!("How {} led to the symptoms", incident.cause),
        captioned: false,
        svg: svg::graph::draw(&format!("graph-{number}"), incident),
        text: svg::graph::text(incident),
    })
}

fn symptoms(number: usize, incident: &Incident, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (nth, symptom) in (1..).zip(&incident.symptoms) {
        let text = Rich::new()
            .strong("Symptom:")
            .text(" ")
            .say(&words::sentence(&symptom.text));
        blocks.push(Block::paragraph(text));
        blocks.extend(ctx.excerpt(&format!("s{number}-{nth}"), &symptom.evidence, |_| true));
    }
    blocks
}
