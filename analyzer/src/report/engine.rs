//! The template engine: minijinja with escaping that cannot be forgotten, strict names and a work limit.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior};

use super::blocks::{Inline, Rich};
use super::{escape, escape_jira};

/// Instructions one rendering may take; a report with thousands of items needs about a million.
const FUEL: u64 = 50_000_000;

/// A document that templates print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// Wiki markup of Jira and Confluence.
    Jira,
}

/// An environment whose every `{{ }}` is escaped for `kind`, with the shipped templates loaded.
pub(crate) fn environment<'a>(kind: Kind, theme: Option<&str>) -> Result<Environment<'a>, Error> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_fuel(Some(FUEL));
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    env.set_syntax(syntax);
    env.set_auto_escape_callback(move |_| match kind {
        Kind::Markdown => AutoEscape::Custom("markdown".into()),
        Kind::Html => AutoEscape::Html,
        Kind::Jira => AutoEscape::Custom("jira".into()),
    });
    env.set_formatter(move |out: &mut Output, _: &mut State, value: &Value| {
        print_escaped(kind, out, value)
    });
    add_filters(&mut env, kind);
    for (name, source) in SHIPPED {
        env.add_template(name, source)?;
    }
    // Only comments on GitHub and GitLab fold in Markdown.
    env.add_global("folds", false);
    let style = include_str!("../../../templates/style.css");
    env.add_global(
        "script",
        safe(include_str!("../../../templates/report.js").to_owned()),
    );
    env.add_global(
        "style",
        safe(format!("{style}{}", theme.unwrap_or_default())),
    );
    Ok(env)
}

/// Most bytes that a page may have: a template that makes more is wrong, and no browser or tracker takes it.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// A page of a template of the environment.
///
/// # Errors
/// What the engine says; [`minijinja::ErrorKind::WriteFailure`] if the page grows beyond [`MOST_BYTES`].
pub(crate) fn rendered(env: &Environment<'_>, name: &str, page: Value) -> Result<String, Error> {
    let mut out = Bounded(Vec::new());
    env.get_template(name)?
        .render_captured_to(page, &mut out)
        .map(drop)?;
    String::from_utf8(out.0).map_err(|error| {
        Error::new(
            minijinja::ErrorKind::BadSerialization,
            "the page is not UTF-8",
        )
        .with_source(error)
    })
}

/// A page under construction that does not fill the memory.
struct Bounded(Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_BYTES {
            return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The shipped templates.
const SHIPPED: [(&str, &str); 6] = [
    (
        "blocks.md.j2",
        include_str!("../../../templates/blocks.md.j2"),
    ),
    (
        "report.md.j2",
        include_str!("../../../templates/report.md.j2"),
    ),
    (
        "blocks.html.j2",
        include_str!("../../../templates/blocks.html.j2"),
    ),
    (
        "report.html.j2",
        include_str!("../../../templates/report.html.j2"),
    ),
    (
        "blocks.jira.j2",
        include_str!("../../../templates/blocks.jira.j2"),
    ),
    (
        "report.jira.j2",
        include_str!("../../../templates/report.jira.j2"),
    ),
];

fn add_filters(env: &mut Environment<'_>, kind: Kind) {
    env.add_filter("inline", move |text: Serde<Rich>| {
        safe(match kind {
            Kind::Jira => jira_inline(&text.0),
            _ => md_inline(&text.0, false),
        })
    });
    env.add_filter("cell", move |text: Serde<Rich>| {
        safe(match kind {
            Kind::Jira => jira_inline(&text.0),
            _ => md_inline(&text.0, true),
        })
    });
    env.add_filter("message", |lines: Serde<Vec<Rich>>| {
        lines.iter().map(plain).collect::<Vec<_>>().join("\n")
    });
    env.add_filter("words", |text: Serde<Rich>| text.0.plain());
    env.add_filter("code", move |text: String| {
        safe(match kind {
            Kind::Jira => escape_jira::code(&text),
            _ => escape::md_code(&text, false),
        })
    });
    env.add_filter(
        "fence",
        move |text: String, language: String, indent: usize| {
            safe(match kind {
                Kind::Jira => escape_jira::block(&text),
                _ => escape::md_fence(&text, &language, indent),
            })
        },
    );
    env.add_filter("css_string", |text: String| safe(escape::css_string(&text)));
    env.add_filter("marks", |level: usize| safe("#".repeat(level.min(6))));
}

fn safe(text: String) -> Value {
    Value::from_safe_string(text)
}

fn print_escaped(kind: Kind, out: &mut Output, value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        return Err(Error::from(minijinja::ErrorKind::UndefinedError));
    }
    if value.is_none() {
        return Ok(());
    }
    let text = match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };
    let text = match kind {
        _ if value.is_safe() => text,
        Kind::Markdown => escape::md_text(&text),
        Kind::Html => escape::html(&text),
        Kind::Jira => escape_jira::text(&text),
    };
    out.write_str(&text).map_err(Error::from)
}

/// A line of text as Markdown. The result never holds a line feed.
fn md_inline(text: &Rich, in_table: bool) -> String {
    let mut out = String::new();
    for part in &text.0 {
        match part {
            Inline::Text { text } => {
                let text = escape::md_text(text);
                if out.ends_with('`') && text.starts_with('`') {
                    out.push(' ');
                }
                out.push_str(&text);
            }
            Inline::Strong { text } => {
                out.push_str("**");
                out.push_str(escape::md_text(text).trim());
                out.push_str("**");
            }
            Inline::Badge { text, .. } => {
                out.push_str("**");
                out.push_str(&escape::md_text(text));
                out.push_str("**");
            }
            Inline::Code { text } | Inline::Place { text, .. } => {
                escape::push_code(&mut out, &escape::md_code(text, in_table));
            }
            Inline::Link { href } => {
                out.push('<');
                out.push_str(href);
                out.push('>');
            }
            Inline::Blank { text } => {
                escape::push_code(&mut out, &escape::md_code(&blank(text), in_table));
            }
            Inline::Jump { text, .. } => {
                out.push('*');
                out.push_str(escape::md_text(text).trim());
                out.push('*');
            }
        }
    }
    out
}

/// A line of text as wiki markup. The result never holds a line feed.
fn jira_inline(text: &Rich) -> String {
    let mut out = String::new();
    for part in &text.0 {
        match part {
            Inline::Text { text } => out.push_str(&escape_jira::text(text)),
            Inline::Strong { text } | Inline::Badge { text, .. } => {
                let inner = escape_jira::text(text);
                if inner.trim().is_empty() {
                    continue;
                }
                out.push('*');
                out.push_str(inner.trim());
                out.push('*');
            }
            Inline::Code { text } | Inline::Place { text, .. } => {
                out.push_str(&escape_jira::code(text));
            }
            Inline::Link { href } => {
                out.push('[');
                out.push_str(href);
                out.push(']');
            }
            Inline::Blank { text } => out.push_str(&escape_jira::code(&blank(text))),
            Inline::Jump { text, .. } => out.push_str(escape_jira::text(text).trim()),
        }
    }
    out
}

/// A line of text without any markup, for messages that are pasted elsewhere.
fn plain(text: &Rich) -> String {
    let mut out = String::new();
    for part in &text.0 {
        match part {
            Inline::Blank { text } => out.push_str(&blank(text)),
            Inline::Link { href } => out.push_str(href),
            Inline::Text { text }
            | Inline::Strong { text }
            | Inline::Code { text }
            | Inline::Place { text, .. }
            | Inline::Badge { text, .. }
            | Inline::Jump { text, .. } => out.push_str(&escape::one_line(text)),
        }
    }
    out
}

fn blank(label: &str) -> String {
    format!("[fill in: {label}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_code_spans_do_not_run_into_each_other() {
        let text = Rich::new().code("a").code("b").text("@c").code("d");
        assert_eq!(md_inline(&text, false), "`a` `b` `@c` `d`");
    }

    #[test]
    fn a_template_without_end_runs_out_of_fuel_instead_of_time() {
        let env = environment(Kind::Html, None).unwrap();
        let source =
            "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
        assert!(env.render_str(source, ()).is_err());
    }

    #[test]
    fn a_misspelt_name_in_a_template_is_an_error() {
        let env = environment(Kind::Markdown, None).unwrap();
        assert!(env.render_str("{{ nmae }}", ()).is_err());
    }
}
