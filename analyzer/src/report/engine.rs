//! The template engine: minijinja with escaping that cannot be forgotten, strict names and a work limit.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior};

use super::blocks::{Inline, Rich};
use super::escape;

/// Instructions one rendering may take; a report with thousands of items needs about a million.
const FUEL: u64 = 50_000_000;

/// A document that templates print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
}

/// An environment whose every `{{ }}` is escaped for `kind`, with the shipped templates loaded.
pub(crate) fn environment<'a>(kind: Kind) -> Result<Environment<'a>, Error> {
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
    });
    env.set_formatter(move |out: &mut Output, _: &mut State, value: &Value| {
        print_escaped(kind, out, value)
    });
    env.add_filter("inline", |text: Serde<Rich>| {
        safe(md_inline(&text.0, false))
    });
    env.add_filter("cell", |text: Serde<Rich>| safe(md_inline(&text.0, true)));
    env.add_filter("message", |lines: Serde<Vec<Rich>>| {
        lines.iter().map(plain).collect::<Vec<_>>().join("\n")
    });
    env.add_filter("code", |text: String| safe(escape::md_code(&text, false)));
    env.add_filter("fence", |text: String, language: String, indent: usize| {
        safe(escape::md_fence(&text, &language, indent))
    });
    env.add_filter("css_string", |text: String| safe(escape::css_string(&text)));
    env.add_filter("marks", |level: usize| safe("#".repeat(level.min(6))));
    env.add_template(
        "blocks.md.j2",
        include_str!("../../../templates/blocks.md.j2"),
    )?;
    env.add_template(
        "report.md.j2",
        include_str!("../../../templates/report.md.j2"),
    )?;
    env.add_template(
        "blocks.html.j2",
        include_str!("../../../templates/blocks.html.j2"),
    )?;
    env.add_template(
        "report.html.j2",
        include_str!("../../../templates/report.html.j2"),
    )?;
    env.add_global(
        "style",
        safe(include_str!("../../../templates/style.css").to_owned()),
    );
    Ok(env)
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
        let env = environment(Kind::Html).unwrap();
        let source =
            "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
        assert!(env.render_str(source, ()).is_err());
    }

    #[test]
    fn a_misspelt_name_in_a_template_is_an_error() {
        let env = environment(Kind::Markdown).unwrap();
        assert!(env.render_str("{{ nmae }}", ()).is_err());
    }
}
