//! Scripts: steps that are taken one after another, each of which must succeed.

use std::collections::BTreeSet;

use super::command::{Command, Pipe};
use super::reader::Reader;
use super::test::Test;
use super::word::Word;
use super::{Dialect, Program, Unfit};

/// One line of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A command.
    Run(Pipe),
    /// A command, and another where it fails.
    Either(Pipe, Pipe),
    /// Lines for the case that something is so, and for the case that it is not.
    If(Test, Script, Script),
    /// A sentence for people.
    Say(&'static str),
    /// A command that compares: it ends with 1 where there are differences.
    Shows(Pipe),
    /// What a command prints now and what another prints, as differences; the second must succeed.
    Compare(Pipe, Pipe),
    /// What a file would be after a patch, as differences.
    CompareFile {
        /// The file.
        path: Word,
        /// The whole new file, or the patch.
        new: New,
    },
    /// Saves what a command prints, once: a second run after an interrupted one keeps the first.
    Save(Pipe, Word),
    /// Writes a file that is not there yet, or changes one where it stands.
    Write {
        /// The file.
        path: Word,
        /// The whole new file, or the patch.
        new: New,
    },
    /// The same, where the program that will read the file reads the new text first and may refuse it.
    WriteRead {
        /// The file.
        path: Word,
        /// The whole new file, or the patch.
        new: New,
        /// What reads it.
        reader: Reader,
    },
    /// Removes a file that was saved before.
    Remove(Word),
    /// Makes a file again what it was before the step.
    Restore(Word),
}

/// What makes the new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum New {
    /// A file that is copied to a place where none is.
    Whole(Word),
    /// A unified difference; whatever it does not name stays as it is, with mode, owner and security context.
    Patch(Word),
}

impl New {
    pub(super) fn word(&self) -> &Word {
        match self {
            Self::Whole(word) | Self::Patch(word) => word,
        }
    }
}

/// Lines, one after another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    lines: Vec<Line>,
}

impl Script {
    /// With one line more.
    #[must_use]
    pub fn then(mut self, line: Line) -> Self {
        self.lines.push(line);
        self
    }

    /// With one command more.
    #[must_use]
    pub fn run(self, pipe: impl Into<Pipe>) -> Self {
        self.then(Line::Run(pipe.into()))
    }

    /// The same, where each file that it writes is read by this program before it is put in its place.
    #[must_use]
    pub fn read_by(mut self, reader: &Reader) -> Self {
        for line in &mut self.lines {
            if let Line::Write { path, new } = line {
                *line = Line::WriteRead {
                    path: path.clone(),
                    new: new.clone(),
                    reader: reader.clone(),
                };
            }
        }
        self
    }

    /// With the lines of another.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.lines.extend(other.lines);
        self
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Programs that it starts.
    pub fn programs(&self) -> BTreeSet<Program> {
        let mut all = BTreeSet::new();
        self.lines.iter().for_each(|line| line.programs(&mut all));
        all
    }

    /// The first word that cannot be what it is meant to be.
    pub fn unfit(&self) -> Option<Unfit> {
        self.lines.iter().find_map(Line::unfit)
    }

    /// Its text. Each line ends without a line break.
    pub fn render(&self, dialect: Dialect) -> String {
        let lines: Vec<String> = self.lines.iter().map(|line| line.render(dialect)).collect();
        lines.join("\n")
    }
}

impl From<Line> for Script {
    fn from(line: Line) -> Self {
        Self { lines: vec![line] }
    }
}

impl From<Pipe> for Script {
    fn from(pipe: Pipe) -> Self {
        Self::from(Line::Run(pipe))
    }
}

impl From<Command> for Script {
    fn from(command: Command) -> Self {
        Self::from(Line::Run(command.into()))
    }
}

impl Line {
    fn programs(&self, into: &mut BTreeSet<Program>) {
        match self {
            Self::Run(pipe) | Self::Shows(pipe) | Self::Save(pipe, _) => pipe.programs(into),
            Self::Either(first, second) | Self::Compare(first, second) => {
                first.programs(into);
                second.programs(into);
            }
            Self::If(test, yes, no) => {
                test.add_programs(into);
                into.extend(yes.programs());
                into.extend(no.programs());
            }
            Self::WriteRead { reader, .. } => into.extend(reader.needed()),
            Self::Say(_)
            | Self::CompareFile { .. }
            | Self::Write { .. }
            | Self::Remove(_)
            | Self::Restore(_) => {}
        }
    }

    fn unfit(&self) -> Option<Unfit> {
        let word = |word: &Word| {
            word.is_impossible()
                .then(|| Unfit::new(word, "holds an end of text"))
        };
        match self {
            Self::Run(pipe) | Self::Shows(pipe) => pipe.unfit(),
            Self::Either(first, second) | Self::Compare(first, second) => {
                first.unfit().or_else(|| second.unfit())
            }
            Self::If(test, yes, no) => test.unfit().or_else(|| yes.unfit()).or_else(|| no.unfit()),
            Self::Save(pipe, file) => pipe.unfit().or_else(|| word(file)),
            Self::Write { path, new } | Self::CompareFile { path, new } => {
                word(path).or_else(|| word(new.word()))
            }
            Self::WriteRead { path, new, reader } => word(path)
                .or_else(|| word(new.word()))
                .or_else(|| reader.unfit()),
            Self::Remove(path) | Self::Restore(path) => word(path),
            Self::Say(_) => None,
        }
    }

    fn render(&self, dialect: Dialect) -> String {
        let of = |word: &Word| word.render(dialect);
        match self {
            Self::Run(pipe) => pipe.render(dialect),
            Self::Shows(pipe) => format!("{} || [ $? = 1 ]", pipe.render(dialect)),
            Self::Either(first, second) => {
                format!("{} || {}", first.render(dialect), second.render(dialect))
            }
            Self::If(test, yes, no) => {
                let mut text = format!(
                    "if {}; then\n{}",
                    test.render(dialect),
                    indented(yes, dialect)
                );
                if !no.is_empty() {
                    text.extend(["\nelse\n", &indented(no, dialect)]);
                }
                text + "\nfi"
            }
            Self::Say(text) => format!("echo {}", Word::Fixed(text).render(dialect)),
            Self::Compare(now, then) => format!(
                "changed=$({})\n{} | diff -u - <(printf '%s\\n' \"$changed\") || [ $? = 1 ]",
                then.render(dialect),
                now.render(dialect)
            ),
            Self::Save(pipe, file) => save(pipe, file, dialect),
            Self::CompareFile { path, new } => match (dialect, new) {
                (Dialect::Script, New::Whole(new)) => format!("compare {} {}", of(path), of(new)),
                (Dialect::Script, New::Patch(new)) => {
                    format!("compare_patched {} {}", of(path), of(new))
                }
                (Dialect::Hands, New::Whole(new)) => format!("cat {}", of(new)),
                (Dialect::Hands, New::Patch(new)) => {
                    format!("cat {0}; patch --dry-run {1} {0}", of(new), of(path))
                }
            },
            Self::Write { path, new } => write(path, new, dialect),
            Self::WriteRead { path, new, reader } => reader.around(path, new, dialect),
            Self::Remove(path) => format!("rm -f -- {}", of(path)),
            Self::Restore(path) => match dialect {
                Dialect::Script => format!("restore {}", of(path)),
                Dialect::Hands => format!(
                    "if [ -e ./backup{0} ]; then cp -a ./backup{0} {0}; else rm -f {0}; fi",
                    of(path)
                ),
            },
        }
    }
}

/// Puts the new text in its place.
pub(super) fn write(path: &Word, new: &New, dialect: Dialect) -> String {
    let (path, text) = (path.render(dialect), new.word().render(dialect));
    match (dialect, new) {
        (Dialect::Script, New::Whole(_)) => format!("add_file {path} {text}"),
        (Dialect::Script, New::Patch(_)) => format!("patch_file {path} {text}"),
        (Dialect::Hands, New::Whole(_)) => format!("install -D -m 644 {text} {path}"),
        (Dialect::Hands, New::Patch(_)) => format!("patch {path} {text}"),
    }
}

fn save(pipe: &Pipe, file: &Word, dialect: Dialect) -> String {
    let (pipe, file) = (pipe.render(dialect), file.render(dialect));
    match dialect {
        // Under its name only when it is whole.
        Dialect::Script => {
            format!("if [ ! -e {file} ]; then\n  {pipe} > {file}.part\n  mv {file}.part {file}\nfi")
        }
        Dialect::Hands => format!("mkdir -p ./backup && {pipe} > {file}"),
    }
}

fn indented(script: &Script, dialect: Dialect) -> String {
    let text = if script.is_empty() {
        ":".to_owned()
    } else {
        script.render(dialect)
    };
    // Only the first line: a quoted word may go over several.
    format!("  {text}")
}
