//! What users bring themselves: page templates and themes, and the check of a template.

use std::collections::BTreeSet;

use super::engine::{self, Kind};
use super::{Format, Options, RenderError, Shell, example, render};

/// Names that a page template sees.
pub const VARIABLES: &[(&str, &str)] = &[
    ("lang", "code of the language of the report's own texts"),
    ("title", "the title of the report, a text"),
    ("kicker", "what kind of page it is, a text above the title"),
    ("input", "name of the file or folder that was read, a text"),
    (
        "reference_time",
        "end of collection as a text; empty if it is not known",
    ),
    (
        "status",
        "the rows of the first screen, each with `label` and `text`",
    ),
    ("lead", "blocks of the first screen below the rows"),
    (
        "sections",
        "sections in order, each with `id`, `title` and `blocks`",
    ),
    (
        "gpu",
        "blocks of the GPU view: `status`, `components`, `issues`, `allocation`, `actions`",
    ),
    ("report", "everything as data: the object of report.json"),
    ("tool", "name and version of the analyzer"),
    ("style", "the style sheet of the HTML report with the theme"),
    ("script", "the script of the HTML report"),
    (
        "folds",
        "whether the format folds Markdown (GitHub and GitLab)",
    ),
];

/// Templates that ship beside the default ones: name, format, source.
const SHIPPED: &[(&str, Format, &str)] = &[(
    "gpu-troubleshooting",
    Format::Markdown,
    include_str!("../../../templates/gpu-troubleshooting.md.j2"),
)];

/// Default templates, to start an own one from.
const DEFAULTS: &[(&str, &str)] = &[
    (
        "report.md.j2",
        include_str!("../../../templates/report.md.j2"),
    ),
    (
        "report.html.j2",
        include_str!("../../../templates/report.html.j2"),
    ),
    (
        "report.jira.j2",
        include_str!("../../../templates/report.jira.j2"),
    ),
];

/// A template that ships with the analyzer, by name.
pub fn shipped(name: &str) -> Option<Shell> {
    let (name, format, source) = SHIPPED.iter().find(|(known, ..)| *known == name)?;
    Some(Shell {
        name: (*name).to_owned(),
        format: *format,
        source: (*source).to_owned(),
    })
}

/// Names of all templates that can be shown, those for `--template` first.
pub fn names() -> impl Iterator<Item = &'static str> {
    let shipped = SHIPPED.iter().map(|(name, ..)| *name);
    shipped.chain(DEFAULTS.iter().map(|(name, _)| *name))
}

/// The source of a template by name.
pub fn source(name: &str) -> Option<&'static str> {
    let shipped = SHIPPED.iter().map(|(name, _, source)| (*name, *source));
    let mut all = shipped.chain(DEFAULTS.iter().copied());
    all.find(|(known, _)| *known == name)
        .map(|(_, source)| source)
}

/// A colour theme: a style sheet that sets the variables of the shipped one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme(pub(super) String);

/// Why a theme cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{name}:{line}: {what}")]
pub struct ThemeError {
    name: String,
    line: usize,
    what: &'static str,
}

impl Theme {
    /// Checks a style sheet: a report is one file that loads nothing and is no page but its own.
    ///
    /// # Errors
    /// [`ThemeError`] with the line that would load something or end the style sheet.
    pub fn new(name: &str, css: &str) -> Result<Self, ThemeError> {
        for (line, text) in (1..).zip(css.lines()) {
            let lower = text.to_ascii_lowercase();
            let what = if lower.contains("</") || lower.contains("<!--") {
                "a style sheet holds no markup"
            } else if lower.contains("@import") || lower.contains("@font-face") {
                "a report loads nothing, so nothing can be imported; put the rules into this file"
            } else if lower.contains("url(")
                && !lower.contains("url(data:image/")
                && !lower.contains("url(\"data:image/")
            {
                "a report loads nothing; only pictures written into the sheet (url(data:image/...)) can be used"
            } else {
                continue;
            };
            return Err(ThemeError {
                name: name.to_owned(),
                line,
                what,
            });
        }
        Ok(Theme(css.to_owned()))
    }
}

/// Everything that is wrong with a template, each as `FILE:LINE: what`; empty if it can be used.
pub fn check(shell: &Shell) -> Vec<String> {
    let kind = match shell.format {
        Format::Html => Kind::Html,
        Format::Jira => Kind::Jira,
        _ => Kind::Markdown,
    };
    let mut faults = Vec::new();
    let unknown = engine::environment(kind, None).and_then(|mut env| {
        env.add_template_owned("own template", shell.source.clone())?;
        let template = env.get_template("own template")?;
        let mut names = template.undeclared_variables(false);
        for (global, _) in env.globals() {
            names.remove(global);
        }
        Ok(names)
    });
    let unknown: BTreeSet<String> = match unknown {
        Ok(names) => names.into_iter().collect(),
        Err(error) => {
            let line = error.line().unwrap_or(1);
            let detail = error.detail().unwrap_or("cannot be read").to_owned();
            return vec![format!("{}:{line}: {}: {detail}", shell.name, error.kind())];
        }
    };
    let known: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
    for name in unknown
        .iter()
        .filter(|name| !known.contains(&name.as_str()))
    {
        let lines = lines_with(&shell.source, name);
        for line in lines {
            faults.push(format!(
                "{}:{line}: unknown variable `{name}`; known are {}",
                shell.name,
                known.join(", ")
            ));
        }
    }
    if faults.is_empty() {
        faults.extend(tried(shell));
    }
    faults
}

/// Faults that only show when the template is used: tried on an incident and on a report without a cause.
fn tried(shell: &Shell) -> Option<String> {
    let options = Options {
        shell: Some(shell.clone()),
        ..Options::default()
    };
    let examples = [example::model_incident(), example::nothing_found()];
    examples
        .iter()
        .find_map(|analysis| match render(analysis, shell.format, &options) {
            Ok(_) => None,
            Err(RenderError::Template { line, detail, .. }) => {
                Some(format!("{}:{}: {detail}", shell.name, line.unwrap_or(1)))
            }
            Err(error) => Some(format!("{}: {error}", shell.name)),
        })
}

/// Lines in which a name stands as a word of its own; 1 if none does.
fn lines_with(source: &str, name: &str) -> Vec<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let lines: Vec<usize> = (1..)
        .zip(source.lines())
        .filter(|(_, line)| {
            let inside = line.contains("{{") || line.contains("{%");
            inside && line.split(|c| !is_word(c)).any(|word| word == name)
        })
        .map(|(number, _)| number)
        .collect();
    if lines.is_empty() { vec![1] } else { lines }
}
