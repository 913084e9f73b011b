//! A typed shell: programs of a fixed list, words, redirects, pipes and tests, and the one place that writes them as
//! text for a shell.
//!
//! No text of a bundle becomes program text here: it is a [`Word`], which is quoted as a whole. A word that a program
//! would take for an option goes behind `--`, or makes the script [`Unfit`]. There is no `eval`, no `bash -c` and no
//! expansion of anything but the script's own variables.

mod command;
mod program;
mod reader;
mod script;
mod test;
mod word;

pub use command::{Command, Pipe, run};
pub use program::Program;
pub use reader::Reader;
pub use script::{Line, New, Script};
pub use test::Test;
pub use word::{Word, one_line, quoted, safe_name};

/// Whom a text is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The script, which has functions of its own for what must not be done half.
    Script,
    /// A person who types it where the handed-over files lie.
    Hands,
}

/// Why a script is not written: a word cannot be what it is meant to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word} {why}, so no command is made of it")]
pub struct Unfit {
    word: String,
    why: &'static str,
}

impl Unfit {
    fn new(word: &Word, why: &'static str) -> Self {
        let text = match word {
            Word::Fixed(text) => text,
            Word::New => "the new file",
            Word::Text(text)
            | Word::Checked(text)
            | Word::Chosen(_, text)
            | Word::Beside(text)
            | Word::Saved(text)
            | Word::SavedText(text) => text.as_str(),
        };
        Self {
            word: format!("{:?}", text.chars().take(80).collect::<String>()),
            why,
        }
    }
}

#[cfg(test)]
mod tests;
