//! What is folded in HTML has no place in a ticket: it goes to an appendix file of its own.

use super::blocks::{Block, Rich};
use super::document::Document;
use super::lang::Language;
use super::{Page, SectionView};

/// A report without what is folded, and what was folded, by section.
pub(super) fn unfold(page: &mut Page<'_>) -> Vec<SectionView> {
    let mut folded = Vec::new();
    for section in &mut page.sections {
        let (details, shown): (Vec<Block>, Vec<Block>) = std::mem::take(&mut section.blocks)
            .into_iter()
            .partition(|block| matches!(block, Block::Details { .. }));
        section.blocks = shown;
        if !details.is_empty() {
            folded.push(SectionView {
                id: section.id,
                title: section.title,
                blocks: details,
            });
        }
    }
    page.sections.retain(|section| !section.blocks.is_empty());
    folded
}

/// Says at the end of the page where the rest is.
pub(super) fn point_to(page: &mut Page<'_>, folded: &[SectionView]) {
    let mut summaries: Vec<&str> = Vec::new();
    for block in folded.iter().flat_map(|section| &section.blocks) {
        // Each cause folds parts of the same name.
        if let Block::Details { summary, .. } = block
            && !summaries.contains(&summary.as_str())
        {
            summaries.push(summary);
        }
    }
    if summaries.is_empty() {
        return;
    }
    let text = Rich::from("In the appendix file and in report.html: ")
        .say(&summaries.join("; "))
        .text(".");
    page.sections.push(SectionView {
        id: "appendix-file",
        title: "Further Details",
        blocks: vec![Block::paragraph(text)],
    });
}

/// The appendix as a page of its own; none where nothing is folded.
pub(super) fn appendix(
    page: &Page<'_>,
    folded: Vec<SectionView>,
    lang: Option<&'static Language>,
) -> Option<Document> {
    if folded.is_empty() {
        return None;
    }
    let (kicker, appendix) = ("Appendix of an incident report", "Appendix");
    let [kicker, appendix] = match lang {
        Some(lang) => [kicker, appendix].map(|text| lang.fixed(text)),
        None => [kicker, appendix],
    };
    let title = format!("{appendix}: {}", page.title);
    let mut document = Document::new(
        kicker,
        title,
        page.input.to_owned(),
        page.reference_time.clone(),
    );
    for section in folded {
        document.section(section.id, section.title, section.blocks);
    }
    Some(document)
}
