//! HAMi View: how shared GPUs are offered and asked for. Only where HAMi is installed.

use super::{Section, SectionCtx};
use crate::model::{Analysis, Incident};
use crate::report::blocks::{Block, Rich};
use crate::report::gpu_view::GpuView;

pub(super) static SECTION: Section = Section {
    id: "hami",
    title: "HAMi View",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.state.hami.is_none() {
        return Vec::new();
    }
    let view = GpuView::new(analysis, ctx);
    let mut blocks = view.status;
    blocks.push(Block::paragraph(Rich::new().strong("Components")));
    blocks.extend(view.components);
    blocks.push(Block::paragraph(
        Rich::new().strong("GPU requests by namespace"),
    ));
    blocks.extend(view.allocation);
    let concerned = |incident: &Incident| incident.cause.starts_with("hami");
    if analysis.incidents.iter().any(concerned) {
        return blocks;
    }
    // Where HAMi has no part in what failed, its state is for who wants to look.
    Block::folded("State of HAMi", blocks).into_iter().collect()
}
