//! Environment: versions and machines, each with the place where it was read.

use super::{Section, SectionCtx, limited};
use crate::model::{Analysis, EnvironmentItem};
use crate::report::blocks::{Block, Rich};

pub(super) static SECTION: Section = Section {
    id: "environment",
    title: "Environment",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.environment.is_empty() {
        return vec![Block::paragraph(
            "No version of anything could be read from the input.",
        )];
    }
    let groups = grouped(&analysis.environment);
    let mut rows: Vec<Vec<Rich>> = groups.iter().map(|group| row(group, ctx)).collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let columns = ["What", "Value", "Source"]
        .iter()
        .map(|text| Rich::from(*text))
        .collect();
    let mut blocks = vec![Block::Table {
        caption: "Environment".to_owned(),
        columns,
        rows,
        titled: false,
        row_heads: true,
    }];
    blocks.extend(more);
    Block::folded("Versions and hardware", blocks)
        .into_iter()
        .collect()
}

/// Items that a reader takes in together: of one place, or of the same value.
fn grouped(items: &[EnvironmentItem]) -> Vec<Vec<&EnvironmentItem>> {
    let mut groups: Vec<Vec<&EnvironmentItem>> = Vec::new();
    for item in items {
        let alike = |group: &&mut Vec<&EnvironmentItem>| {
            group.last().is_some_and(|last| {
                let one_place = item.place.is_some() && last.place == item.place;
                let kind = |label: &str| label.split(' ').next().unwrap_or_default().to_owned();
                one_place || (last.value == item.value && kind(&last.label) == kind(&item.label))
            })
        };
        match groups.last_mut().filter(alike) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

fn row(group: &[&EnvironmentItem], ctx: &SectionCtx) -> Vec<Rich> {
    let mut labels: Vec<&str> = group.iter().map(|item| item.label.trim()).collect();
    let mut values: Vec<&str> = group.iter().map(|item| item.value.trim()).collect();
    values.dedup();
    // Of one place the first label names the thing, and the values follow in a fixed order.
    if values.len() > 1 {
        labels.truncate(1);
    }
    let mut value = Rich::new();
    for (nth, one) in values.into_iter().enumerate() {
        value = value.text(if nth == 0 { "" } else { ", " }).code(one);
    }
    let place = group.first().and_then(|item| item.place.as_ref());
    vec![
        Rich::prose(&labels.join(", ")),
        value,
        place.map_or_else(Rich::new, |place| ctx.place(Rich::new(), place)),
    ]
}
