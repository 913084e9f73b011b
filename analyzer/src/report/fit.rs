//! Fitting a report to the size that a tracker takes: the least important goes first, and the report says so.

use super::blocks::{Block, Rich, Tone};
use super::{Page, RenderError, words};

/// Sections in the order in which they are given up. What is not named here stays whatever happens.
const LEAST_FIRST: &[&str] = &[
    "appendix",
    "environment",
    "timeline",
    "communication",
    "if-you-see-this-again",
    "state",
    "hami",
    "mitigation",
    "prevention",
    "next-steps",
    "investigation",
    "executive-summary",
    "coverage",
    "differential",
    "verification",
    "root-cause",
    "resolution",
];

/// Renders pages until one fits into `limit` bytes.
///
/// # Errors
/// What `render` says, or [`RenderError::Size`] if even the first screen is longer.
pub(super) fn fit(
    mut page: Page<'_>,
    limit: Option<usize>,
    render: impl Fn(&Page<'_>) -> Result<String, RenderError>,
) -> Result<String, RenderError> {
    let mut text = render(&page)?;
    let Some(limit) = limit else {
        return Ok(text);
    };
    if text.len() <= limit {
        return Ok(text);
    }
    let lead = page.lead.len();
    let mut gone: Vec<String> = Vec::new();
    for id in LEAST_FIRST {
        let Some(at) = page.sections.iter().position(|section| section.id == *id) else {
            continue;
        };
        gone.push(page.sections.remove(at).title.to_owned());
        page.lead.truncate(lead);
        page.lead.push(note(&gone, limit));
        text = render(&page)?;
        if text.len() <= limit {
            return Ok(text);
        }
    }
    Err(RenderError::Size {
        limit,
        least: text.len(),
    })
}

fn note(gone: &[String], limit: usize) -> Block {
    let titles = words::join(gone);
    Block::Callout {
        tone: Tone::Warning,
        title: "Shortened".to_owned(),
        text: Rich::from(format!(
            "To stay below {}, these sections were left out: {titles}. They stand in report.html and, as data, in report.json.",
            words::bytes(limit as u64)
        )),
    }
}
