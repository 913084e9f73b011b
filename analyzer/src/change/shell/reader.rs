//! Programs that read a new file before it is put in its place, so that one which they refuse is never there.

use super::command::Command;
use super::script::{New, write};
use super::word::Word;
use super::{Dialect, Program, Unfit};

/// A program of the node that reads a file, and says by its end whether it takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    command: Command,
    must: bool,
    folder: bool,
}

impl Reader {
    /// Reads [`Word::New`]. Where the program is not there, the step is not taken.
    pub fn of_file(command: Command) -> Self {
        Self {
            command,
            must: true,
            folder: false,
        }
    }

    /// Reads every file of the folder, the new one included, whatever it is called.
    pub fn of_folder(command: Command) -> Self {
        Self {
            command,
            must: true,
            folder: true,
        }
    }

    /// The same, where another program may be the one that reads the file: one that is not there is passed over.
    #[must_use]
    pub fn where_there(self) -> Self {
        Self {
            must: false,
            ..self
        }
    }

    /// The program, where the step cannot do without.
    pub(super) fn needed(&self) -> Option<Program> {
        self.must.then(|| self.command.program())
    }

    pub(super) fn unfit(&self) -> Option<Unfit> {
        self.command.unfit()
    }

    /// Writes a file with the look in between.
    pub(super) fn around(&self, path: &Word, new: &New, dialect: Dialect) -> String {
        let (file, text) = (path.render(dialect), new.word().render(dialect));
        let read = self.command.render(dialect);
        let put = write(path, new, dialect);
        match (dialect, new) {
            (Dialect::Script, New::Whole(_)) => {
                format!("new_text {file} {text}\nreads {file} {read}\nplaced {file}")
            }
            (Dialect::Script, New::Patch(_)) => {
                format!("patched_text {file} {text}\nreads {file} {read}\nplaced {file}")
            }
            (Dialect::Hands, _) if self.folder => format!("{put}; {read}"),
            (Dialect::Hands, New::Whole(_)) => {
                format!("cp {text} ./new-file; {read} >/dev/null && {put}")
            }
            (Dialect::Hands, New::Patch(_)) => {
                format!("cp {file} ./new-file; patch ./new-file {text}; {read} >/dev/null && {put}")
            }
        }
    }
}
