//! Fitting a report to the size that a tracker takes: the least important goes first, and the report says so.

use super::blocks::{Block, Rich, Tone};
use super::{Page, RenderError, SECTIONS, SectionView, words};

/// What is given up.
#[derive(Clone, Copy)]
enum Step {
    /// A whole section.
    Drop(&'static str),
    /// Of a section what is folded, long drawings, and tables that explain.
    Condense(&'static str),
    /// Of a section what is not the first cause's own cause or steps.
    First(&'static str),
}

use Step::{Condense, Drop, First};

impl Step {
    fn section(&self) -> &'static str {
        let (Drop(id) | Condense(id) | First(id)) = self;
        id
    }
}

/// What is given up, in this order; a section without a step here goes before all of them. The cause and the fix stay
/// whatever happens.
const LEAST_FIRST: &[Step] = &[
    Drop("appendix"),
    Drop("appendix-file"),
    Drop("environment"),
    Drop("hami"),
    Drop("state"),
    Drop("timeline"),
    Drop("communication"),
    Drop("if-you-see-this-again"),
    Drop("differential"),
    Drop("coverage"),
    Drop("prevention"),
    Drop("mitigation"),
    Drop("next-steps"),
    Condense("resolution"),
    Condense("root-cause"),
    Drop("investigation"),
    Drop("executive-summary"),
    Drop("unexplained"),
    Drop("verification"),
    Drop("problem-statement"),
    First("root-cause"),
    First("resolution"),
];

/// All steps, those of sections that have none of their own first.
fn steps() -> impl Iterator<Item = Step> {
    let named = |id| LEAST_FIRST.iter().any(|step| step.section() == id);
    let ids = SECTIONS.iter().map(|section| section.id);
    let unnamed = ids.filter(move |id| !named(*id)).map(Drop);
    unnamed.chain(LEAST_FIRST.iter().copied())
}

/// A drawing whose text form is longer, in bytes, is given up with the tables.
const SHORT_DRAWING: usize = 800;

/// Renders pages until one fits into `limit` bytes, then brings back what still fits beside it. `size` counts what the
/// place where it goes counts.
///
/// # Errors
/// What `render` says, or [`RenderError::Size`] if even the first screen is longer.
pub(super) fn fit(
    mut page: Page<'_>,
    limit: Option<usize>,
    size: fn(&str) -> usize,
    render: impl Fn(&Page<'_>) -> Result<String, RenderError>,
) -> Result<String, RenderError> {
    let mut text = render(&page)?;
    let Some(limit) = limit else {
        return Ok(text);
    };
    let lead = page.lead.len();
    let (mut gone, mut condensed): (Vec<SectionView>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut steps = steps();
    while size(&text) > limit {
        let Some(step) = steps.next() else {
            return Err(RenderError::Size {
                limit,
                least: size(&text),
            });
        };
        let id = step.section();
        let Some(at) = page.sections.iter().position(|section| section.id == id) else {
            continue;
        };
        match step {
            Drop(_) => gone.push(page.sections.remove(at)),
            Condense(_) => {
                condense(&mut page.sections[at].blocks);
                condensed.push(page.sections[at].title);
            }
            First(_) => first_only(&mut page.sections[at].blocks),
        }
        say(&mut page, lead, &gone, &condensed, limit);
        text = render(&page)?;
    }
    // A long section that had to go may have made room for short ones that went before it.
    for nth in (0..gone.len()).rev() {
        let section = gone.remove(nth);
        let at = place(&page, section.id);
        page.sections.insert(at, section);
        say(&mut page, lead, &gone, &condensed, limit);
        let more = render(&page)?;
        if size(&more) <= limit {
            text = more;
        } else {
            gone.insert(nth, page.sections.remove(at));
        }
    }
    Ok(text)
}

/// Where a section belongs among those that are shown.
fn place(page: &Page<'_>, id: &str) -> usize {
    let rank = |id: &str| SECTIONS.iter().position(|section| section.id == id);
    let before = |section: &&SectionView| rank(section.id) < rank(id);
    page.sections.iter().take_while(before).count()
}

/// Keeps what comes before the heading of the second cause, and of the first one neither what was ruled out nor what
/// follows its steps.
fn first_only(blocks: &mut Vec<Block>) {
    const AFTER: [&str; 3] = ["excluded-", "replay", "roll-back"];
    let later = |block: &Block| match block {
        Block::Heading { level, anchor, .. } => {
            (*level == 3 && anchor.ends_with("-2"))
                || AFTER.iter().any(|start| anchor.starts_with(start))
        }
        _ => false,
    };
    if let Some(at) = blocks.iter().position(later) {
        blocks.truncate(at);
        blocks.push(Block::paragraph("The rest of it: report.html."));
    }
}

fn condense(blocks: &mut Vec<Block>) {
    blocks.retain(|block| match block {
        Block::Details { .. } | Block::CloserView { .. } | Block::Table { titled: true, .. } => {
            false
        }
        Block::Figure { text, .. } => text.len() <= SHORT_DRAWING,
        _ => true,
    });
    // A heading over nothing is worse than none.
    let level = |block: &Block| match block {
        Block::Heading { level, .. } => Some(*level),
        _ => None,
    };
    for at in (0..blocks.len()).rev() {
        let Some(own) = level(&blocks[at]) else {
            continue;
        };
        let next = blocks.get(at + 1).map(level);
        if next.is_none_or(|next| next.is_some_and(|next| next <= own)) {
            blocks.remove(at);
        }
    }
}

/// Says on the first screen what was left out.
fn say(page: &mut Page<'_>, lead: usize, gone: &[SectionView], condensed: &[&str], limit: usize) {
    page.lead.truncate(lead);
    let mut left_out = Vec::new();
    if !gone.is_empty() {
        // As the report has them, not as they went.
        let titles = SECTIONS
            .iter()
            .filter(|one| gone.iter().any(|gone| gone.id == one.id));
        let titles: Vec<String> = titles.map(|one| one.title.to_owned()).collect();
        left_out.push(format!(
            "these sections were left out: {}",
            words::join(&titles)
        ));
    }
    let shown = condensed
        .iter()
        .filter(|title| gone.iter().all(|gone| gone.title != **title));
    let shown: Vec<String> = shown.map(|title| (*title).to_owned()).collect();
    if !shown.is_empty() {
        left_out.push(format!(
            "of {} what is folded, long drawings and tables were left out",
            words::join(&shown)
        ));
    }
    if left_out.is_empty() {
        return;
    }
    page.lead.push(Block::Callout {
        tone: Tone::Warning,
        title: "Shortened".to_owned(),
        text: Rich::from(format!(
            "To stay below {}, {}. report.html has them.",
            words::bytes(limit as u64),
            left_out.join("; ")
        )),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_of_a_section() {
        for step in LEAST_FIRST {
            let id = step.section();
            let known = SECTIONS.iter().any(|section| section.id == id);
            assert!(known || id == "appendix-file", "{id} is no section");
        }
    }
}
