//! What can be asked of a node or of a cluster without changing it.

use std::collections::BTreeSet;

use super::command::Pipe;
use super::word::{Word, quoted};
use super::{Dialect, Program, Unfit};

/// A question that ends with yes or no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// All of these are so.
    All(Vec<Test>),
    /// Nothing is at this path, not even a link.
    Missing(Word),
    /// Something is at one of these paths.
    AnyThere(Vec<Word>),
    /// The file is to the byte the one with this SHA-256.
    Sha256(Word, String),
    /// The differences of a patch can be made in a file.
    Fits {
        /// The file.
        path: Word,
        /// The patch.
        patch: Word,
    },
    /// The command succeeds.
    Succeeds(Pipe),
    /// The command fails.
    Fails(Pipe),
    /// The command prints this and nothing else.
    Prints(Pipe, Word),
    /// The command succeeds and does not print what the step saved.
    Differs(Pipe, Word),
    /// The step saved this file.
    IsSaved(Word),
}

impl Test {
    /// Programs that it starts.
    pub fn programs(&self) -> BTreeSet<Program> {
        let mut all = BTreeSet::new();
        self.add_programs(&mut all);
        all
    }

    pub(super) fn add_programs(&self, into: &mut BTreeSet<Program>) {
        match self {
            Self::Succeeds(pipe)
            | Self::Fails(pipe)
            | Self::Prints(pipe, _)
            | Self::Differs(pipe, _) => {
                pipe.programs(into);
            }
            Self::All(tests) => tests.iter().for_each(|test| test.add_programs(into)),
            Self::Sha256(..) => into.extend([Program::Sha256sum, Program::Cut]),
            Self::Fits { .. } | Self::Missing(_) | Self::AnyThere(_) | Self::IsSaved(_) => {}
        }
    }

    /// The first word of it that cannot be what it is meant to be.
    pub fn unfit(&self) -> Option<Unfit> {
        let word = |word: &Word| {
            word.is_impossible()
                .then(|| Unfit::new(word, "holds an end of text"))
        };
        match self {
            Self::All(tests) => tests.iter().find_map(Self::unfit),
            Self::Succeeds(pipe) | Self::Fails(pipe) => pipe.unfit(),
            Self::Prints(pipe, text) | Self::Differs(pipe, text) => {
                pipe.unfit().or_else(|| word(text))
            }
            Self::AnyThere(paths) => paths.iter().find_map(word),
            Self::Missing(path) | Self::Sha256(path, _) | Self::IsSaved(path) => word(path),
            Self::Fits { path, patch } => word(path).or_else(|| word(patch)),
        }
    }

    /// The same question, where what its commands complain of tells a refusal from a no.
    #[must_use]
    pub fn heard(self) -> Self {
        match self {
            Self::All(tests) => Self::All(tests.into_iter().map(Self::heard).collect()),
            Self::Succeeds(pipe) => Self::Succeeds(pipe.heard()),
            Self::Fails(pipe) => Self::Fails(pipe.heard()),
            other => other,
        }
    }

    /// Its text.
    pub fn render(&self, dialect: Dialect) -> String {
        match self {
            Self::All(tests) => {
                let tests: Vec<String> = tests.iter().map(|test| test.render(dialect)).collect();
                tests.join(" && ")
            }
            Self::Missing(path) => {
                let path = path.render(dialect);
                format!("[ ! -e {path} ] && [ ! -L {path} ]")
            }
            Self::AnyThere(paths) => {
                let tests = paths
                    .iter()
                    .map(|path| format!("[ -e {} ]", path.render(dialect)));
                format!("{{ {}; }}", tests.collect::<Vec<_>>().join(" || "))
            }
            // The file is read, never named to a program: its name may look like an option.
            Self::Sha256(path, hash) => format!(
                "[ \"$(sha256sum < {} | cut -c 1-64)\" = {} ]",
                path.render(dialect),
                quoted(hash)
            ),
            Self::Fits { path, patch } => {
                let (path, patch) = (path.render(dialect), patch.render(dialect));
                match dialect {
                    Dialect::Script => format!("fits {path} {patch}"),
                    Dialect::Hands => format!("patch --dry-run {path} {patch}"),
                }
            }
            Self::Succeeds(pipe) => pipe.render(dialect),
            Self::Fails(pipe) => format!("! {}", pipe.render(dialect)),
            Self::Prints(pipe, text) => {
                format!(
                    "[ \"$({})\" = {} ]",
                    pipe.render(dialect),
                    text.render(dialect)
                )
            }
            Self::Differs(pipe, saved) => format!(
                "[ \"$({})\" != \"$(cat {})\" ]",
                pipe.render(dialect),
                saved.render(dialect)
            ),
            Self::IsSaved(file) => format!("[ -e {} ]", file.render(dialect)),
        }
    }
}
