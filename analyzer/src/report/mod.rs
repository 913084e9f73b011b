//! The report: an analysis as Markdown, HTML, JSON and terminal text.
//!
//! Sections yield blocks, templates print blocks; Markdown and HTML print the same ones.

pub(crate) use crate::words;
use std::borrow::Cow;

use minijinja::value::{Serde, Value};
use serde::Serialize;

use crate::model::{Analysis, Incident, Verdict};

mod below;
pub mod blocks;
mod calm;
mod columns;
pub mod context;
pub(crate) mod document;
mod engine;
pub(crate) mod escape;
mod escape_jira;
pub mod example;
mod fill_in;
mod first_screen;
mod fit;
mod fold;
mod gpu_view;
mod json;
mod junit;
pub mod lang;
pub mod own;
mod paint;
mod plan;
mod post;
mod sarif;
mod seal;
pub mod sections;
pub mod svg;
#[cfg(test)]
mod tests;
mod text;
mod write;

use blocks::{Block, Rich, Tone};
use engine::Kind;
use first_screen::StatusRow;
use gpu_view::GpuView;
use sections::{Limits, SECTIONS, SectionCtx};

pub use own::Theme;
pub use text::TextOptions;
pub use write::{Format, WriteError, check_output_dir, write_rendered, write_reports};

/// What made the report.
const TOOL: &str = concat!("casefile-analyzer ", env!("CARGO_PKG_VERSION"));

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
    /// Even the shortest form is longer than the limit.
    #[error(
        "the report cannot be kept below {limit} bytes: its shortest form has {least}; \
         give a larger --max-size or attach report.html instead"
    )]
    Size {
        /// The limit in bytes.
        limit: usize,
        /// Bytes of the shortest form.
        least: usize,
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

/// How a report is printed, where the default does not suffice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// A page template of the user's own.
    pub shell: Option<Shell>,
    /// A theme for HTML.
    pub theme: Option<Theme>,
    /// Most bytes of a report for a tracker: Markdown or wiki markup.
    pub max_size: Option<usize>,
    /// Lines around cited ones, for HTML.
    pub context: context::Context,
    /// The language of the report's own texts; none for English. JSON stays English.
    pub lang: Option<&'static lang::Language>,
}

/// What templates see; [`own::VARIABLES`] documents it.
#[derive(Serialize)]
struct Page<'a> {
    lang: &'static str,
    kicker: &'static str,
    title: String,
    input: &'a str,
    reference_time: String,
    status: Vec<StatusRow>,
    lead: Vec<Block>,
    sections: Vec<SectionView>,
    gpu: GpuView,
    report: serde_json::Value,
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
    render(analysis, Format::Markdown, &Options::default())
}

/// The report as one self-contained HTML file.
///
/// # Errors
/// [`RenderError::Template`] if a shipped template is wrong.
pub fn render_html(analysis: &Analysis) -> Result<String, RenderError> {
    render(analysis, Format::Html, &Options::default())
}

/// The report as JSON, schema `casefile.report/1`.
///
/// # Errors
/// [`RenderError::Json`] if the analysis cannot be serialized.
pub fn render_json(analysis: &Analysis) -> Result<String, RenderError> {
    json::render(analysis)
}

/// The diagnosis for a person at a terminal: one screen, or all of it.
pub fn render_text(analysis: &Analysis, options: TextOptions) -> String {
    text::render(analysis, options)
}

/// The same with colours, for a terminal that shows them.
pub fn render_colour(analysis: &Analysis, options: TextOptions) -> String {
    paint::paint(&text::render(analysis, options))
}

/// The diagnosis in one line.
pub fn render_line(analysis: &Analysis) -> String {
    text::one_line(analysis)
}

/// The diagnosis as SARIF 2.1.0.
///
/// # Errors
/// [`RenderError::Json`] if the analysis cannot be serialized.
pub fn render_sarif(analysis: &Analysis) -> Result<String, RenderError> {
    sarif::render(analysis)
}

/// Diagnoses as one JUnit document, a test suite an input.
pub fn render_junit(analyses: &[Analysis]) -> String {
    junit::render(analyses)
}

/// The JSON schema of report.json.
pub fn schema() -> &'static str {
    json::SCHEMA_FILE
}

/// The report in a format, in the user's own template if the options hold one of that format.
///
/// # Errors
/// [`RenderError`], with the template's name and line.
pub fn render(
    analysis: &Analysis,
    format: Format,
    options: &Options,
) -> Result<String, RenderError> {
    let (kind, shipped) = match format {
        Format::Json => return json::render(analysis),
        Format::Ticket | Format::Slack | Format::Teams | Format::Adf => {
            return posted(analysis, format, options);
        }
        Format::Markdown | Format::GitHub => (Kind::Markdown, "report.md.j2"),
        Format::Html => (Kind::Html, "report.html.j2"),
        Format::Jira => (Kind::Jira, "report.jira.j2"),
    };
    let theme = options.theme.as_ref().map(|theme| theme.0.as_str());
    let mut env =
        engine::environment(kind, theme).map_err(|error| template_error(shipped, None, error))?;
    env.add_global("folds", format == Format::GitHub);
    let shell = options.shell.as_ref();
    let shell = shell.filter(|shell| shell.format == format);
    let mut name = shipped;
    if let Some(shell) = shell {
        name = "own template";
        env.add_template_owned(name, shell.source.clone())
            .map_err(|error| template_error(&shell.name, Some(shell), error))?;
    }
    let shown = shell.map_or(shipped, |shell| shell.name.as_str());
    let short = shorten(analysis);
    let left_out = analysis.incidents.len() - short.incidents.len();
    let mut page = page(&short, left_out);
    if shell.is_some() {
        page.report = json::value(analysis)?;
    } else if matches!(format, Format::Markdown | Format::Jira) {
        let folded = fold::unfold(&mut page);
        fold::point_to(&mut page, &folded);
    }
    if format == Format::Html {
        options.context.attach(&mut page);
    }
    below::shorten(&mut page);
    if let Some(lang) = options.lang {
        lang.page(&mut page);
    }
    let limit = options.max_size.or(format.takes());
    let limit = limit.filter(|_| format != Format::Html);
    fit::fit(page, limit, str::len, |page| {
        engine::rendered(&env, name, Value::from(Serde(page)))
            .map(seal::seal)
            .map_err(|error| template_error(shown, shell, error))
    })
}

/// The formats that need no template.
fn posted(analysis: &Analysis, format: Format, options: &Options) -> Result<String, RenderError> {
    let short = shorten(analysis);
    let mut page = match format {
        Format::Adf => page(&short, 0),
        _ => head(&short, &SectionCtx::new(&short), 0),
    };
    fold::unfold(&mut page);
    if let Some(lang) = options.lang {
        lang.page(&mut page);
    }
    post::print(page, format, options)
}

/// What the Markdown report leaves out because it is folded in HTML; none where nothing is.
///
/// # Errors
/// [`RenderError::Template`] if a shipped template is wrong.
pub fn render_appendix(
    analysis: &Analysis,
    lang: Option<&'static lang::Language>,
) -> Result<Option<String>, RenderError> {
    let short = shorten(analysis);
    let mut page = page(&short, 0);
    if let Some(lang) = lang {
        lang.page(&mut page);
    }
    let folded = fold::unfold(&mut page);
    let document = fold::appendix(&page, folded, lang);
    document
        .map(|document| document.render(Format::Markdown))
        .transpose()
}

/// The analysis with no more causes in play than a reader can use; the rest stays in the differential and in JSON.
fn shorten(analysis: &Analysis) -> Cow<'_, Analysis> {
    let limits = Limits::default();
    let analysis = first_screen::by_relevance(analysis);
    let is_sure = |one: &Incident| one.verdict <= Verdict::Likely;
    let sure = analysis.incidents.iter().filter(|one| is_sure(one)).count();
    let possible = analysis.incidents.len() - sure;
    if sure + possible <= limits.incidents && possible <= limits.possible {
        return analysis;
    }
    let mut short = analysis.into_owned();
    let mut kept = 0;
    short.incidents.retain(|one| {
        kept += usize::from(!is_sure(one));
        is_sure(one) || kept <= limits.possible
    });
    short.incidents.truncate(limits.incidents);
    Cow::Owned(short)
}

fn page(analysis: &Analysis, left_out: usize) -> Page<'_> {
    let ctx = SectionCtx::new(analysis);
    let mut page = head(analysis, &ctx, left_out);
    page.sections = SECTIONS
        .iter()
        .map(|section| SectionView {
            id: section.id,
            title: section.title,
            blocks: (section.build)(analysis, &ctx),
        })
        .filter(|section| !section.blocks.is_empty())
        .collect();
    calm::fold(&mut page.sections, analysis);
    page.gpu = GpuView::new(analysis, &ctx);
    page
}

/// The page without its sections: what chats and tickets show.
fn head<'a>(analysis: &'a Analysis, ctx: &SectionCtx, left_out: usize) -> Page<'a> {
    let mut lead = first_screen::blocks(analysis);
    // Where nothing fails nobody asks for further causes.
    if left_out > 0 && !words::is_calm(analysis) {
        lead.push(Block::Callout {
            tone: Tone::Warning,
            title: "Not everything is shown".to_owned(),
            text: Rich::from(format!(
                "Besides these, {} {} listed in the Differential only.",
                words::count_more(left_out as u64, "possible cause"),
                words::are(left_out as u64)
            )),
        });
    }
    Page {
        lang: "en",
        kicker: "Incident report",
        title: words::title(analysis),
        input: &analysis.input.name,
        reference_time: analysis.reference_time.map(words::time).unwrap_or_default(),
        status: first_screen::status(analysis, ctx),
        lead,
        sections: Vec::new(),
        gpu: GpuView::default(),
        report: serde_json::Value::Null,
        tool: TOOL,
    }
}

fn template_error(name: &str, shell: Option<&Shell>, error: minijinja::Error) -> RenderError {
    let inner = error.name().filter(|inner| inner.ends_with(".j2"));
    let mut detail = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    // A line of the user's own file says more than the engine's words.
    let own = shell.filter(|_| inner.is_none());
    if let (Some(shell), Some(line)) = (own, error.line())
        && let Some(text) = shell.source.lines().nth(line.saturating_sub(1))
    {
        detail = format!("{detail}, in `{}`", text.trim());
    }
    detail = match error.kind() {
        minijinja::ErrorKind::OutOfFuel => {
            format!("{detail}; it works without end: look for loops inside loops")
        }
        minijinja::ErrorKind::WriteFailure => format!(
            "the page grows beyond {}; look for a loop that prints too much; the first is in this line",
            words::bytes(engine::MOST_BYTES as u64)
        ),
        _ if own.is_some() => format!(
            "{detail}; `casefile-analyzer template check {name}` names everything that is wrong"
        ),
        _ => detail,
    };
    RenderError::Template {
        name: inner.unwrap_or(name).to_owned(),
        // Where text between loops is printed the engine knows no line.
        line: error.line().or_else(|| first_loop(own?)),
        detail,
        source: Box::new(error),
    }
}

fn first_loop(shell: &Shell) -> Option<usize> {
    let at = shell.source.lines().position(|line| {
        let words = line.split(|c: char| !c.is_alphanumeric());
        line.contains("{%") && words.into_iter().any(|word| word == "for")
    });
    at.map(|index| index + 1)
}
