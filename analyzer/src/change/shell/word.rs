//! Words of a command line: text that a shell takes as it is, whatever it holds.

use std::borrow::Cow;

use super::Dialect;

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Text that stands in this program's source.
    Fixed(&'static str),
    /// Any other text: quoted, and never the name of a program.
    Text(String),
    /// Text that this program has read as a part of a rule, dashes included.
    Checked(String),
    /// A file beside the script, by its plain name.
    Beside(String),
    /// A file that the script saved before the step, by its plain name.
    Saved(String),
    /// What a file that the script saved holds: the script's own record of what was there, as one word.
    SavedText(String),
    /// The new text of a file that is written, before it is in its place.
    New,
    /// Text that a person may replace, by a variable of this name when the script is run.
    Chosen(&'static str, String),
}

impl Word {
    /// Any text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A file that is handed over beside the script.
    pub fn beside(name: &str) -> Self {
        Self::Beside(safe_name(name))
    }

    /// A file that the step saves.
    pub fn saved(name: &str) -> Self {
        Self::Saved(safe_name(name))
    }

    /// What that file holds, as one word.
    pub fn saved_text(name: &str) -> Self {
        Self::SavedText(safe_name(name))
    }

    /// Whether a program would take it for an option.
    pub fn looks_like_an_option(&self) -> bool {
        match self {
            Self::Text(text) | Self::Chosen(_, text) => text.starts_with('-'),
            Self::Fixed(_)
            | Self::New
            | Self::Checked(_)
            | Self::Beside(_)
            | Self::Saved(_)
            | Self::SavedText(_) => false,
        }
    }

    /// Whether it holds what no word of a command line can: an end of text that programs would stop at.
    pub fn is_impossible(&self) -> bool {
        matches!(self, Self::Text(text) | Self::Checked(text) | Self::Chosen(_, text) if text.contains('\0'))
    }

    pub(super) fn render(&self, dialect: Dialect) -> String {
        match (self, dialect) {
            (Self::Fixed(text), _) => quoted(text).into_owned(),
            (Self::Text(text) | Self::Checked(text), _) => quoted(text).into_owned(),
            (Self::New, Dialect::Script) => "\"$half\"".to_owned(),
            (Self::New, Dialect::Hands) => "./new-file".to_owned(),
            (Self::Chosen(name, text), Dialect::Script) => {
                format!("\"$(chosen {name} {})\"", quoted(text))
            }
            (Self::Chosen(_, text), Dialect::Hands) => quoted(text).into_owned(),
            (Self::Beside(name), Dialect::Script) => format!("\"$here/{name}\""),
            (Self::Saved(name), Dialect::Script) => format!("\"$saved/{name}\""),
            (Self::SavedText(name), Dialect::Script) => format!("\"$(cat -- \"$saved/{name}\")\""),
            (Self::Beside(name), Dialect::Hands) => format!("\"./{name}\""),
            (Self::Saved(name), Dialect::Hands) => format!("\"./backup/{name}\""),
            (Self::SavedText(name), Dialect::Hands) => format!("\"$(cat ./backup/{name})\""),
        }
    }
}

/// A text as one word of a shell.
pub fn quoted(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=+@,%".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

/// Without line breaks, control characters and marks that turn the direction of writing, which a terminal would obey.
pub fn one_line(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    text.chars()
        .map(|c| if c.is_control() || turns(c) { ' ' } else { c })
        .collect()
}

/// A name that is one plain path segment and one plain word, whatever the bundle says.
pub fn safe_name(text: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = text.chars().map(plain).take(160).collect();
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() {
        "file".to_owned()
    } else {
        name.to_owned()
    }
}
