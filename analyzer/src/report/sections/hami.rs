//! HAMi View: how shared GPUs are offered and asked for. Only where HAMi is installed.

use super::{Section, SectionCtx};
use crate::model::Analysis;
use crate::report::blocks::Block;
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
    blocks.push(Block::heading(3, "hami-components", "Components"));
    blocks.extend(view.components);
    blocks.push(Block::heading(3, "hami-allocation", "Who asks for GPUs"));
    blocks.extend(view.allocation);
    blocks
}
