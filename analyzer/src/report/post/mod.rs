//! The first screen in the forms that tickets and chats take, and the page as a document of Jira.

use serde_json::Value;

use super::blocks::{Inline, Rich};
use super::columns::shown;
use super::{Format, Options, Page, RenderError, fit};

mod adf;
mod slack;
mod teams;
mod ticket;

#[cfg(test)]
pub(super) use adf::said;

/// The page in a format that needs no template.
///
/// # Errors
/// [`RenderError::Size`] where even the first screen is longer than the place where it goes takes.
pub(super) fn print(
    page: Page<'_>,
    format: Format,
    options: &Options,
) -> Result<String, RenderError> {
    Ok(match format {
        Format::Slack => slack::blocks(&page),
        Format::Teams => teams::card(&page),
        Format::Adf => {
            let limit = options.max_size.or(format.takes());
            return fit::fit(page, limit, adf::said, |page| Ok(adf::document(page)));
        }
        _ => ticket::text(&page),
    })
}

/// A text without its links to other parts of the page.
fn flat(text: &Rich) -> String {
    shown(&text.plain())
}

/// A text cut at a blank to at most so many characters.
fn at_most(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most.saturating_sub(2)) else {
        return text.to_owned();
    };
    let end = text[..end].rfind(' ').unwrap_or(end);
    format!("{} …", &text[..end])
}

/// The value as text, one line feed at its end.
fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{}\n", super::json::quiet(&text))
}

/// Names, paths and values of a text, marked by `mark`; the rest as `plain` has it.
fn marked(text: &Rich, plain: impl Fn(&str) -> String, mark: impl Fn(&str) -> String) -> String {
    let part = |part: &Inline| match part {
        Inline::Code { text } | Inline::Place { text, .. } => mark(&shown(text)),
        Inline::Text { text }
        | Inline::Strong { text }
        | Inline::Badge { text, .. }
        | Inline::Jump { text, .. } => plain(text),
        Inline::Link { href } => plain(href),
        Inline::Blank { text } => plain(&format!("[fill in: {text}]")),
    };
    text.0.iter().map(part).collect()
}

/// The title and what was read, for the head of a message.
fn source(page: &Page<'_>) -> String {
    match page.reference_time.as_str() {
        "" => format!("{}, {}", page.input, page.tool),
        time => format!("{}, as of {time}, {}", page.input, page.tool),
    }
}
