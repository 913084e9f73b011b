//! The report: an analysis as Markdown, HTML, JSON and terminal text.
//!
//! Sections yield blocks, templates print blocks; Markdown and HTML print the same ones.

use std::borrow::Cow;

use minijinja::value::{Serde, Value};
use serde::Serialize;

use crate::model::Analysis;

pub mod blocks;
mod engine;
pub(crate) mod escape;
#[cfg(test)]
mod fixture;
mod json;
pub mod sections;
pub mod svg;
#[cfg(test)]
mod tests;
mod text;
mod words;
mod write;

use blocks::{Block, Rich, Tone};
use engine::Kind;
use sections::first_screen::{self, StatusRow};
use sections::{Limits, SECTIONS, SectionCtx};

pub use write::{Format, UnknownFormat, WriteError, check_output_dir, write_reports};

/// Why a report could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A template is wrong, names something that is not there, or works without end.
    #[error("template {name}{}: {detail}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Template {
        /// Name of the template.
        name: String,
        /// Line in it, from 1.
        line: Option<usize>,
        /// What is wrong.
        detail: String,
        /// The engine's own error.
        #[source]
        source: Box<minijinja::Error>,
    },
    /// The analysis could not be written as JSON.
    #[error("report as JSON")]
    Json {
        /// What the serializer said.
        #[source]
        source: serde_json::Error,
    },
}

/// A template of the user's own in place of `report.md.j2` or `report.html.j2`.
///
/// It sees `title`, `status`, `lead`, `sections`, `input`, `tool` and may use the macros of `blocks.md.j2` or
/// `blocks.html.j2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// File name, for messages.
    pub name: String,
    /// The format it makes.
    pub format: Format,
    /// The template.
    pub source: String,
}

/// What templates see.
#[derive(Serialize)]
struct Page<'a> {
    title: String,
    input: &'a str,
    reference_time: String,
    status: Vec<StatusRow>,
    lead: Vec<Block>,
    sections: Vec<SectionView>,
    tool: &'static str,
}

/// A section with its blocks.
#[derive(Serialize)]
struct SectionView {
    id: &'static str,
    title: &'static str,
    blocks: Vec<Block>,
}

/// The report as Markdown.
///
/// # Errors
/// [`RenderError::Template`] if a shipped template is wrong.
pub fn render_markdown(analysis: &Analysis) -> Result<String, RenderError> {
    render(analysis, Format::Markdown, None)
}

/// The report as one self-contained HTML file.
///
/// # Errors
/// [`RenderError::Template`] if a shipped template is wrong.
pub fn render_html(analysis: &Analysis) -> Result<String, RenderError> {
    render(analysis, Format::Html, None)
}

/// The report as JSON, schema `casefile.report/1`.
///
/// # Errors
/// [`RenderError::Json`] if the analysis cannot be serialized.
pub fn render_json(analysis: &Analysis) -> Result<String, RenderError> {
    json::render(analysis)
}

/// The diagnosis for a person at a terminal, under a screen.
pub fn render_text(analysis: &Analysis) -> String {
    text::render(analysis)
}

/// The report in a format, in the user's own template if `shell` makes that format.
///
/// # Errors
/// [`RenderError`], with the template's name and line.
pub fn render(
    analysis: &Analysis,
    format: Format,
    shell: Option<&Shell>,
) -> Result<String, RenderError> {
    let (kind, shipped) = match format {
        Format::Json => return json::render(analysis),
        Format::Markdown => (Kind::Markdown, "report.md.j2"),
        Format::Html => (Kind::Html, "report.html.j2"),
    };
    let mut env = engine::environment(kind).map_err(|error| template_error(shipped, error))?;
    let mut name = shipped;
    if let Some(shell) = shell.filter(|shell| shell.format == format) {
        name = "own template";
        env.add_template_owned(name, shell.source.clone())
            .map_err(|error| template_error(&shell.name, error))?;
    }
    let shown = shell.map_or(shipped, |shell| shell.name.as_str());
    let shown_part = shorten(analysis);
    let left_out = analysis.incidents.len() - shown_part.incidents.len();
    let page = Value::from(Serde(page(&shown_part, left_out)));
    env.get_template(name)
        .and_then(|template| template.render(page))
        .map_err(|error| template_error(shown, error))
}

/// The analysis with no more causes in play than a reader can use; the rest stays in the differential and in JSON.
fn shorten(analysis: &Analysis) -> Cow<'_, Analysis> {
    let limit = Limits::default().incidents;
    if analysis.incidents.len() <= limit {
        return Cow::Borrowed(analysis);
    }
    let mut short = analysis.clone();
    short.incidents.truncate(limit);
    Cow::Owned(short)
}

fn page(analysis: &Analysis, left_out: usize) -> Page<'_> {
    let ctx = SectionCtx::new(analysis);
    let mut lead = first_screen::blocks(analysis);
    if left_out > 0 {
        lead.push(Block::Callout {
            tone: Tone::Warning,
            title: "Not everything is shown".to_owned(),
            text: Rich::from(format!(
                "{left_out} further causes in play are only in report.json."
            )),
        });
    }
    Page {
        title: words::title(analysis),
        input: &analysis.input.name,
        reference_time: analysis.reference_time.map(words::time).unwrap_or_default(),
        status: first_screen::status(analysis, &ctx),
        lead,
        sections: SECTIONS
            .iter()
            .map(|section| SectionView {
                id: section.id,
                title: section.title,
                blocks: (section.build)(analysis, &ctx),
            })
            .collect(),
        tool: concat!("casefile-analyzer ", env!("CARGO_PKG_VERSION")),
    }
}

fn template_error(name: &str, error: minijinja::Error) -> RenderError {
    RenderError::Template {
        name: error
            .name()
            .filter(|inner| inner.ends_with(".j2"))
            .unwrap_or(name)
            .to_owned(),
        line: error.line(),
        detail: match error.detail() {
            Some(detail) => format!("{}: {detail}", error.kind()),
            None => error.kind().to_string(),
        },
        source: Box::new(error),
    }
}
