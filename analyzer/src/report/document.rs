//! A page of blocks about something other than one analysis, printed through the same templates as a report.

use minijinja::value::{Serde, Value};
use serde::Serialize;

use super::blocks::{Block, Rich};
use super::first_screen::StatusRow;
use super::{Format, RenderError, SectionView, engine, template_error};

/// A page: what the shipped templates see of it is what they see of a report.
#[derive(Serialize)]
pub(crate) struct Document {
    lang: &'static str,
    kicker: &'static str,
    title: String,
    input: String,
    reference_time: String,
    status: Vec<StatusRow>,
    lead: Vec<Block>,
    sections: Vec<SectionView>,
    tool: &'static str,
}

impl Document {
    /// A page without sections; `input` names what was read, `time` says as of when.
    pub(crate) fn new(kicker: &'static str, title: String, input: String, time: String) -> Self {
        Document {
            lang: "en",
            kicker,
            title,
            input,
            reference_time: time,
            status: Vec::new(),
            lead: Vec::new(),
            sections: Vec::new(),
            tool: super::TOOL,
        }
    }

    /// Appends a row of the first screen.
    pub(crate) fn row(&mut self, label: &'static str, text: Rich) {
        self.status.push(StatusRow {
            key: label,
            label,
            text,
        });
    }

    /// Appends a block below these rows.
    pub(crate) fn lead(&mut self, block: Block) {
        self.lead.push(block);
    }

    /// Appends a section; one without blocks is left out, heading and all.
    pub(crate) fn section(&mut self, id: &'static str, title: &'static str, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.sections.push(SectionView { id, title, blocks });
        }
    }

    /// The page in a format that shows blocks.
    ///
    /// # Errors
    /// [`RenderError::Template`] if a shipped template is wrong.
    pub(crate) fn render(&self, format: Format) -> Result<String, RenderError> {
        let (kind, name) = match format {
            Format::Html => (engine::Kind::Html, "report.html.j2"),
            Format::Jira => (engine::Kind::Jira, "report.jira.j2"),
            _ => (engine::Kind::Markdown, "report.md.j2"),
        };
        let env = engine::environment(kind, None);
        env.and_then(|env| env.get_template(name)?.render(Value::from(Serde(self))))
            .map(super::seal::seal)
            .map_err(|error| template_error(name, None, error))
    }
}
