//! Commands: a program of the list with its arguments, and pipelines of them.

use std::collections::BTreeSet;

use super::word::Word;
use super::{Dialect, Program, Unfit};

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Argument {
    /// An option, from this program's source.
    Option(&'static str),
    /// An option and its value.
    With(&'static str, Word),
    /// A subcommand, or what the program works on.
    Operand(Word),
}

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    program: Program,
    arguments: Vec<Argument>,
}

/// Starts a command.
pub fn run(program: Program) -> Command {
    Command {
        program,
        arguments: Vec::new(),
    }
}

impl Command {
    /// What it starts.
    pub(super) fn program(&self) -> Program {
        self.program
    }

    /// A subcommand or another word of this program's source.
    pub fn word(mut self, word: &'static str) -> Self {
        self.arguments.push(if word.starts_with('-') {
            Argument::Option(word)
        } else {
            Argument::Operand(Word::Fixed(word))
        });
        self
    }

    /// Several of them.
    pub fn words(self, words: &[&'static str]) -> Self {
        words.iter().fold(self, |command, word| command.word(word))
    }

    /// An option with a value.
    pub fn with(mut self, option: &'static str, value: Word) -> Self {
        self.arguments.push(Argument::With(option, value));
        self
    }

    /// What the program works on.
    pub fn on(mut self, operand: Word) -> Self {
        self.arguments.push(Argument::Operand(operand));
        self
    }

    /// The same, as text of any origin.
    pub fn text(self, operand: impl Into<String>) -> Self {
        self.on(Word::text(operand))
    }

    /// Why it cannot be run as it is meant.
    pub(super) fn unfit(&self) -> Option<Unfit> {
        let words = self.arguments.iter().filter_map(|one| match one {
            Argument::Option(_) => None,
            Argument::With(_, word) | Argument::Operand(word) => Some(word),
        });
        for word in words {
            if word.is_impossible() {
                return Some(Unfit::new(word, "holds an end of text"));
            }
        }
        for argument in &self.arguments {
            match argument {
                Argument::With(_, word) if word.looks_like_an_option() => {
                    return Some(Unfit::new(word, "would be taken for an option"));
                }
                Argument::Operand(word)
                    if word.looks_like_an_option() && !self.program.ends_options() =>
                {
                    return Some(Unfit::new(word, "would be taken for an option"));
                }
                _ => {}
            }
        }
        None
    }

    pub(super) fn render(&self, dialect: Dialect) -> String {
        let of = |argument: &Argument| match argument {
            Argument::Option(option) => (*option).to_owned(),
            Argument::With(option, word) => format!("{option} {}", word.render(dialect)),
            Argument::Operand(word) => word.render(dialect),
        };
        let dashed =
            |one: &Argument| matches!(one, Argument::Operand(word) if word.looks_like_an_option());
        let mut words = vec![self.program.name().to_owned()];
        if self.arguments.iter().any(dashed) {
            let named = |one: &&Argument| {
                matches!(
                    one,
                    Argument::Operand(
                        Word::Text(_) | Word::Chosen(..) | Word::Beside(_) | Word::Saved(_)
                    )
                )
            };
            words.extend(self.arguments.iter().filter(|one| !named(one)).map(of));
            words.push("--".into());
            words.extend(self.arguments.iter().filter(named).map(of));
        } else {
            words.extend(self.arguments.iter().map(of));
        }
        words.join(" ")
    }
}

/// Commands of which each reads what the one before it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipe {
    stages: Vec<Command>,
    input: Option<Word>,
    output: Option<Word>,
    quiet: bool,
    heard: bool,
}

impl From<Command> for Pipe {
    fn from(command: Command) -> Self {
        Self {
            stages: vec![command],
            input: None,
            output: None,
            quiet: false,
            heard: false,
        }
    }
}

impl Command {
    /// Hands its output to another command.
    pub fn pipe(self, next: Command) -> Pipe {
        Pipe::from(self).pipe(next)
    }

    /// Reads a file as its input.
    pub fn reads(self, file: Word) -> Pipe {
        let mut pipe = Pipe::from(self);
        pipe.input = Some(file);
        pipe
    }

    /// Throws its output and what it complains of away.
    pub fn quiet(self) -> Pipe {
        Pipe::from(self).quiet()
    }

    /// Writes its output into a file.
    pub fn into_file(self, file: Word) -> Pipe {
        Pipe::from(self).into_file(file)
    }
}

impl Pipe {
    /// Hands the output to another command.
    pub fn pipe(mut self, next: Command) -> Self {
        self.stages.push(next);
        self
    }

    /// Throws the last output and what it complains of away.
    pub fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// Lets what it complains of be heard, although its output is thrown away.
    #[must_use]
    pub(super) fn heard(mut self) -> Self {
        self.heard = true;
        self
    }

    /// Writes the output into a file.
    pub fn into_file(mut self, file: Word) -> Self {
        self.output = Some(file);
        self
    }

    pub(super) fn programs(&self, into: &mut BTreeSet<Program>) {
        into.extend(self.stages.iter().map(|one| one.program));
    }

    pub(super) fn unfit(&self) -> Option<Unfit> {
        let files = self.input.iter().chain(&self.output);
        let file = files.into_iter().find(|word| word.is_impossible());
        file.map(|word| Unfit::new(word, "holds an end of text"))
            .or_else(|| self.stages.iter().find_map(Command::unfit))
    }

    /// The line. Where a redirect goes is a word as any other.
    pub(super) fn render(&self, dialect: Dialect) -> String {
        let mut stages: Vec<String> = self.stages.iter().map(|one| one.render(dialect)).collect();
        if let (Some(input), Some(first)) = (&self.input, stages.first_mut()) {
            first.push_str(" < ");
            first.push_str(&input.render(dialect));
        }
        let mut line = stages.join(" | ");
        if let Some(output) = &self.output {
            line.push_str(" > ");
            line.push_str(&output.render(dialect));
        } else if self.quiet {
            line.push_str(" >/dev/null");
            line.push_str(if self.heard { "" } else { " 2>&1" });
        }
        line
    }
}
