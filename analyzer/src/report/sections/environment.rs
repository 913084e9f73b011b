//! Environment: versions and machines, each with the place where it was read.

use super::{Section, SectionCtx, limited};
use crate::model::Analysis;
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
    let mut rows: Vec<Vec<Rich>> = analysis
        .environment
        .iter()
        .map(|item| {
            let place = item
                .place
                .as_ref()
                .map_or_else(Rich::new, |place| ctx.place(Rich::new(), place));
            vec![
                Rich::prose(item.label.trim()),
                Rich::new().code(item.value.trim()),
                place,
            ]
        })
        .collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let columns = ["What", "Value", "Where it stands"]
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
    blocks
}
