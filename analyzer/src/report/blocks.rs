//! A block: one printable part of a report, the same for every output format.
//!
//! Sections yield blocks; templates print them. Text inside blocks is plain and unescaped; only the
//! template engine escapes, so no section can forget it.

use serde::{Deserialize, Serialize};

use super::context::ContextLine;
use crate::model::{Place, Severity, Verdict};

/// One part of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Block {
    /// A heading below the section's own (level 3 or deeper).
    Heading {
        level: u8,
        anchor: String,
        text: Rich,
    },
    /// A paragraph.
    Paragraph { text: Rich },
    /// A list.
    List { ordered: bool, items: Vec<Rich> },
    /// Things to do, in order.
    Steps { items: Vec<StepItem> },
    /// A table. `titled`: the caption is shown, not only spoken. `row_heads`: the first cell of each row names it.
    Table {
        caption: String,
        columns: Vec<Rich>,
        rows: Vec<Vec<Rich>>,
        titled: bool,
        row_heads: bool,
    },
    /// Lines of the bundle with their places.
    Excerpt {
        ordered: bool,
        items: Vec<ExcerptItem>,
    },
    /// A command that a person would run.
    Command { command: String },
    /// A file of the fix.
    File {
        name: String,
        language: String,
        content: String,
    },
    /// A note that must not be missed.
    Callout {
        tone: Tone,
        title: String,
        text: Rich,
    },
    /// Facts that only people know, to be filled in.
    Blanks { items: Vec<String> },
    /// A drawing, with a text form for formats that cannot draw.
    /// `captioned`: the title is shown, not only spoken.
    Figure {
        title: String,
        captioned: bool,
        svg: super::svg::Svg,
        text: String,
    },
    /// A closer view of a drawing, folded away; formats that cannot draw leave it out.
    CloserView {
        summary: String,
        title: String,
        svg: super::svg::Svg,
    },
    /// A message that is ready to paste.
    Message { title: String, lines: Vec<Rich> },
    /// Blocks that are folded away where the format can fold, and that go to the appendix where it cannot.
    Details { summary: String, blocks: Vec<Block> },
}

/// The weight of a callout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// Worth knowing.
    Note,
    /// Limits what the report can say.
    Warning,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepItem {
    /// What to do and why.
    pub text: Rich,
    /// Commands that change nothing and come before it.
    pub looks: Vec<Look>,
    /// The command, if the step is one.
    pub command: Option<String>,
    /// What a person should see after it.
    pub expect: Option<Rich>,
}

/// A command that changes nothing: a precondition or a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Look {
    /// What it is for, e.g. `Dry run`.
    pub label: String,
    /// The command.
    pub command: String,
}

/// One cited line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExcerptItem {
    /// Target of links to this line, unique in the report.
    pub anchor: String,
    /// `path:line`.
    pub place: String,
    /// What the line means.
    pub says: Rich,
    /// When and how often, empty if there is nothing to add.
    pub note: String,
    /// The text that stands there, empty if the entry as a whole is meant.
    pub text: String,
    /// The lines around it, where they were read.
    pub around: Vec<ContextLine>,
}

/// A part of a line of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Inline {
    /// Plain text.
    Text { text: String },
    /// Emphasised text.
    Strong { text: String },
    /// A name, path, command or value.
    Code { text: String },
    /// A place in the bundle; `anchor` is where its excerpt is printed, empty if nowhere.
    Place { text: String, anchor: String },
    /// A verdict or a severity.
    Badge { text: String, class: String },
    /// A page to read; only made from addresses that hold nothing but address characters.
    Link { href: String },
    /// Something for a person to fill in.
    Blank { text: String },
    /// A link inside the report.
    Jump { text: String, anchor: String },
}

/// A line of text with its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rich(pub Vec<Inline>);

impl Rich {
    /// An empty line of text.
    pub fn new() -> Self {
        Self::default()
    }

    /// A sentence from the model. Parts between backticks become code.
    pub fn prose(text: &str) -> Self {
        Self::new().say(text)
    }

    /// Appends plain text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.push(Inline::Text { text: text.into() })
    }

    /// Appends emphasised text.
    #[must_use]
    pub fn strong(self, text: impl Into<String>) -> Self {
        self.push(Inline::Strong { text: text.into() })
    }

    /// Appends a name, path, command or value.
    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Self {
        self.push(Inline::Code { text: text.into() })
    }

    /// Appends a sentence from the model; parts between backticks become code.
    #[must_use]
    pub fn say(mut self, text: &str) -> Self {
        let parts: Vec<&str> = text.split('`').collect();
        // An even number of parts means a backtick without its partner: leave the text as it is.
        if parts.len().is_multiple_of(2) {
            return self.text(text);
        }
        for (index, part) in parts.into_iter().enumerate() {
            if part.is_empty() {
                continue;
            }
            self = if index.is_multiple_of(2) {
                self.text(part)
            } else {
                self.code(part)
            };
        }
        self
    }

    /// Appends a verdict.
    #[must_use]
    pub fn verdict(self, verdict: Verdict) -> Self {
        self.push(Inline::Badge {
            text: verdict.word().to_owned(),
            class: verdict.word().to_owned(),
        })
    }

    /// Appends a severity.
    #[must_use]
    pub fn severity(self, severity: Severity) -> Self {
        let word = severity.word();
        self.push(Inline::Badge {
            text: word.to_owned(),
            class: format!("severity-{word}"),
        })
    }

    /// Appends a blank for a person.
    #[must_use]
    pub fn blank(self, label: impl Into<String>) -> Self {
        self.push(Inline::Blank { text: label.into() })
    }

    /// Appends a link inside the report.
    #[must_use]
    pub fn jump(self, text: impl Into<String>, anchor: impl Into<String>) -> Self {
        self.push(Inline::Jump {
            text: text.into(),
            anchor: anchor.into(),
        })
    }

    /// Appends a page to read: a link if the address is plainly one, else code.
    #[must_use]
    pub fn reference(self, text: &str) -> Self {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#%=+,".contains(c);
        if text.starts_with("https://") && text.len() < 300 && text.chars().all(plain) {
            self.push(Inline::Link {
                href: text.to_owned(),
            })
        } else {
            self.say(text)
        }
    }

    /// Appends a place in the bundle, linked to its excerpt.
    #[must_use]
    pub fn place(self, place: &Place, anchor: &str) -> Self {
        self.push(Inline::Place {
            text: place.to_string(),
            anchor: anchor.to_owned(),
        })
    }

    /// Appends a place in other words than its own, linked to its excerpt.
    #[must_use]
    pub(crate) fn place_as(self, text: String, anchor: &str) -> Self {
        self.push(Inline::Place {
            text,
            anchor: anchor.to_owned(),
        })
    }

    /// Without blanks at its end.
    #[must_use]
    pub(crate) fn trimmed(mut self) -> Self {
        if let Some(Inline::Text { text }) = self.0.last_mut() {
            text.truncate(text.trim_end().len());
        }
        self
    }

    /// Appends other text.
    #[must_use]
    pub fn join(mut self, other: Rich) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The words alone, for places that cannot mark a part of them.
    pub fn plain(&self) -> String {
        let part = |part: &Inline| match part {
            Inline::Text { text }
            | Inline::Strong { text }
            | Inline::Code { text }
            | Inline::Place { text, .. }
            | Inline::Badge { text, .. }
            | Inline::Jump { text, .. } => text.clone(),
            Inline::Link { href } => href.clone(),
            Inline::Blank { text } => format!("[fill in: {text}]"),
        };
        self.0.iter().map(part).collect()
    }

    /// Whether there is nothing to print.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn push(mut self, part: Inline) -> Self {
        self.0.push(part);
        self
    }
}

impl From<&str> for Rich {
    fn from(text: &str) -> Self {
        Self::new().text(text)
    }
}

impl From<String> for Rich {
    fn from(text: String) -> Self {
        Self::new().text(text)
    }
}

impl Block {
    /// A paragraph of plain text or parts.
    pub fn paragraph(text: impl Into<Rich>) -> Self {
        Block::Paragraph { text: text.into() }
    }

    /// A sub-heading.
    pub fn heading(level: u8, anchor: impl Into<String>, text: impl Into<Rich>) -> Self {
        Block::Heading {
            level,
            anchor: anchor.into(),
            text: text.into(),
        }
    }

    /// A list without order.
    pub fn list(items: Vec<Rich>) -> Self {
        Block::List {
            ordered: false,
            items,
        }
    }

    /// Blocks behind a summary; none where there is nothing to fold.
    pub fn folded(summary: impl Into<String>, blocks: Vec<Block>) -> Option<Self> {
        (!blocks.is_empty()).then(|| Block::Details {
            summary: summary.into(),
            blocks,
        })
    }

    /// A table whose columns are plain words.
    pub fn table(caption: &str, columns: &[&str], rows: Vec<Vec<Rich>>) -> Self {
        let columns = columns.iter().map(|text| Rich::from(*text)).collect();
        Block::Table {
            caption: caption.to_owned(),
            columns,
            rows,
            titled: false,
            row_heads: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_in_a_sentence_of_a_rule_become_code() {
        let rich = Rich::prose("no `nvidia` here");
        assert_eq!(rich, Rich::new().text("no ").code("nvidia").text(" here"));
    }

    #[test]
    fn an_unpaired_backtick_stays_text() {
        assert_eq!(Rich::prose("a ` b"), Rich::new().text("a ` b"));
    }

    #[test]
    fn only_a_plain_https_address_becomes_a_link() {
        assert!(matches!(
            Rich::new().reference("https://a.test/b").0[0],
            Inline::Link { .. }
        ));
        assert!(!matches!(
            Rich::new().reference("javascript:alert(1)").0[0],
            Inline::Link { .. }
        ));
        assert!(!matches!(
            Rich::new().reference("https://a.test/\"x").0[0],
            Inline::Link { .. }
        ));
    }
}
