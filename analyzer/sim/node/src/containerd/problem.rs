//! What is wrong with a containerd configuration, and what the daemon does about it.

use serde::Serialize;

use super::value::FileLine;

/// What a problem does to the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// containerd ends at once with an error.
    RefusesToStart,
    /// containerd runs, but its CRI plugin fails to load: the kubelet finds no runtime service.
    CriRefuses,
    /// The CRI plugin is switched off on purpose.
    CriDisabled,
    /// One handler cannot be used; the rest works.
    HandlerUnusable,
    /// A setting that looks effective is not.
    Ignored,
    /// Something is not read, and what is in effect is the same without it.
    Harmless,
    /// The capture does not hold what would decide this.
    Uncertain,
}

impl Effect {
    /// How facts name it; rules test this word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::RefusesToStart => "refuses-to-start",
            Self::CriRefuses => "cri-refuses",
            Self::CriDisabled => "cri-disabled",
            Self::HandlerUnusable => "handler-unusable",
            Self::Ignored => "ignored",
            Self::Harmless => "harmless",
            Self::Uncertain => "uncertain",
        }
    }
}

/// The end of a sentence on a table that is not read.
fn losing(lost: &[String]) -> String {
    if lost.is_empty() {
        ", which changes nothing".to_owned()
    } else {
        format!("; not in effect: {}", lost.join(", "))
    }
}

/// One thing wrong with a configuration. `Display` is a fragment without the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ConfigProblem {
    /// A file that would be read is not in the bundle.
    #[error("{path} was not captured")]
    NotCaptured {
        /// The host path.
        path: String,
        /// The import that names it; none for the root file.
        imported_at: Option<FileLine>,
    },
    /// A file that is named without a wildcard does not exist.
    #[error("{path} does not exist")]
    Missing {
        /// The host path.
        path: String,
        /// The import that names it; none for the root file.
        imported_at: Option<FileLine>,
    },
    /// A symbolic link leads back to itself, so that opening it fails.
    #[error("{path} is a symbolic link that leads back to itself")]
    LinkLoop {
        /// The host path.
        path: String,
        /// The import that names it; none for the root file.
        imported_at: Option<FileLine>,
    },
    /// A file is not TOML.
    #[error("not valid TOML at column {column}: {message}")]
    NotToml {
        /// Where.
        place: FileLine,
        /// Column from 1.
        column: u32,
        /// What the parser says.
        message: String,
    },
    /// A value has a type that containerd cannot decode.
    #[error("{key} is {found}, containerd expects {expected}")]
    WrongType {
        /// The dotted key.
        key: String,
        /// What containerd wants.
        expected: &'static str,
        /// What is there.
        found: &'static str,
        /// Where.
        place: FileLine,
    },
    /// The schema version is above what this release knows.
    #[error("schema version {version} is not supported, the highest is {max}")]
    UnsupportedVersion {
        /// As written.
        version: i64,
        /// What this release accepts.
        max: i64,
        /// Where.
        place: FileLine,
        /// Whether the release is only assumed, so that another one may accept the version.
        assumed: bool,
    },
    /// A plugin id of the wrong form for the schema version.
    #[error("{id:?} in {list} is not a plugin URI such as io.containerd.grpc.v1.cri")]
    BadPluginId {
        /// `disabled_plugins`, `required_plugins` or `plugins`.
        list: &'static str,
        /// As written.
        id: String,
        /// Where.
        place: FileLine,
    },
    /// An import pattern that Go cannot parse.
    #[error("import pattern {pattern:?} has a syntax error")]
    BadPattern {
        /// As written.
        pattern: String,
        /// Where.
        place: FileLine,
    },
    /// The directory of an import pattern was not captured in full.
    #[error("the files that {pattern} matches were not captured in full")]
    PatternNotCaptured {
        /// The pattern, absolute.
        pattern: String,
        /// Where.
        place: FileLine,
    },
    /// A relative pattern that this release resolves against the daemon's working directory.
    #[error(
        "relative pattern {pattern:?} is resolved from the working directory of the daemon, not from the file that names it"
    )]
    RelativePattern {
        /// As written.
        pattern: String,
        /// Where.
        place: FileLine,
    },
    /// An imported file states a higher schema version than the root file.
    #[error("drop-in has schema version {drop_in}, the root file has {root}")]
    DropInVersionHigher {
        /// Of the drop-in.
        drop_in: i64,
        /// Of the root file.
        root: i64,
        /// The drop-in's version line.
        place: FileLine,
        /// Whether this release is known to refuse it; otherwise tables of the root file stay unmigrated.
        refused: bool,
    },
    /// An imported file replaces a whole plugin section, as containerd 1.x merges.
    #[error(
        "the section {section} replaces the one of {replaced} as a whole, which loses {lost} of its settings"
    )]
    SectionReplaced {
        /// The plugin id.
        section: String,
        /// The section that wins.
        place: FileLine,
        /// The section that is lost.
        replaced: FileLine,
        /// How many settings are lost that the winner does not repeat.
        lost: usize,
    },
    /// A table or key of the CRI plugin under the name of another schema version.
    #[error("{table} is not read: {why}{}", losing(lost))]
    IgnoredTable {
        /// The dotted table.
        table: String,
        /// Why.
        why: String,
        /// Where.
        place: FileLine,
        /// What would be in effect if such tables were read, and is not.
        lost: Vec<String>,
    },
    /// A key that this release does not know in this place.
    #[error("{key} is not read: this release of containerd knows no such key here")]
    UnknownKey {
        /// The dotted key.
        key: String,
        /// Where.
        place: FileLine,
        /// Whether it holds anything but empty values, which change nothing.
        set: bool,
    },
    /// Two tables of one file get the same name in migration.
    #[error(
        "the file has {table} under two names, and containerd keeps one of the two (the other is at {other}) at random"
    )]
    AmbiguousTable {
        /// The name both get.
        table: String,
        /// One table.
        place: FileLine,
        /// The other.
        other: FileLine,
    },
    /// The CRI plugin is in `disabled_plugins`.
    #[error("the CRI plugin is disabled by {id:?} in disabled_plugins")]
    CriDisabled {
        /// The list item.
        id: String,
        /// Where.
        place: FileLine,
    },
    /// `default_runtime_name` is empty.
    #[error("default_runtime_name is empty")]
    DefaultRuntimeEmpty {
        /// Where.
        place: Option<FileLine>,
    },
    /// `default_runtime_name` names a handler that is not defined.
    #[error("default runtime {name:?} is not among the runtimes")]
    DefaultRuntimeMissing {
        /// The name.
        name: String,
        /// Where the name was set; none for the built-in name.
        place: Option<FileLine>,
        /// The table of runtimes that lacks it.
        runtimes: Option<FileLine>,
    },
    /// A handler without `runtime_type`.
    #[error("runtime handler {handler:?} has no runtime_type")]
    NoRuntimeType {
        /// The handler.
        handler: String,
        /// Its table.
        place: FileLine,
    },
    /// Settings that the CRI plugin rejects.
    #[error("{message}")]
    CriRejects {
        /// The sentence of the check.
        message: String,
        /// Where.
        place: Option<FileLine>,
    },
    /// The daemon is told to end without CRI, and CRI does not load.
    #[error("required_plugins asks for {id:?}, which does not load")]
    RequiredCri {
        /// The plugin's id.
        id: String,
        /// The item of `required_plugins`.
        place: FileLine,
    },
    /// CRI loads only with something that the node has or has not, and the configuration does not tell.
    #[error("{message}")]
    NodeNeeded {
        /// What it needs.
        message: String,
        /// Where it is asked for.
        place: FileLine,
    },
    /// More files or bytes than a sane configuration has.
    #[error("{path} was left out: {why}")]
    OverLimit {
        /// The host path.
        path: String,
        /// Which limit.
        why: String,
    },
}

impl ConfigProblem {
    /// What the daemon does about it.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self {
            Self::NotCaptured { .. }
            | Self::PatternNotCaptured { .. }
            | Self::RelativePattern { .. }
            | Self::AmbiguousTable { .. }
            | Self::UnsupportedVersion { assumed: true, .. }
            | Self::NodeNeeded { .. }
            | Self::OverLimit { .. } => Effect::Uncertain,
            Self::Missing { .. }
            | Self::LinkLoop { .. }
            | Self::NotToml { .. }
            | Self::WrongType { .. }
            | Self::UnsupportedVersion { .. }
            | Self::BadPluginId { .. }
            | Self::BadPattern { .. }
            | Self::RequiredCri { .. }
            | Self::DropInVersionHigher { refused: true, .. } => Effect::RefusesToStart,
            Self::IgnoredTable { lost, .. } if lost.is_empty() => Effect::Harmless,
            Self::UnknownKey { set: false, .. } => Effect::Harmless,
            Self::DropInVersionHigher { .. }
            | Self::SectionReplaced { .. }
            | Self::UnknownKey { .. }
            | Self::IgnoredTable { .. } => Effect::Ignored,
            Self::CriDisabled { .. } => Effect::CriDisabled,
            Self::DefaultRuntimeEmpty { .. }
            | Self::DefaultRuntimeMissing { .. }
            | Self::CriRejects { .. } => Effect::CriRefuses,
            Self::NoRuntimeType { .. } => Effect::HandlerUnusable,
        }
    }

    /// The line it is about, where there is one.
    #[must_use]
    pub fn place(&self) -> Option<&FileLine> {
        match self {
            Self::NotCaptured {
                imported_at: place, ..
            }
            | Self::Missing {
                imported_at: place, ..
            }
            | Self::LinkLoop {
                imported_at: place, ..
            }
            | Self::DefaultRuntimeEmpty { place }
            | Self::CriRejects { place, .. } => place.as_ref(),
            Self::DefaultRuntimeMissing {
                place, runtimes, ..
            } => place.as_ref().or(runtimes.as_ref()),
            Self::NotToml { place, .. }
            | Self::WrongType { place, .. }
            | Self::UnsupportedVersion { place, .. }
            | Self::BadPluginId { place, .. }
            | Self::BadPattern { place, .. }
            | Self::PatternNotCaptured { place, .. }
            | Self::RelativePattern { place, .. }
            | Self::DropInVersionHigher { place, .. }
            | Self::SectionReplaced { place, .. }
            | Self::IgnoredTable { place, .. }
            | Self::UnknownKey { place, .. }
            | Self::AmbiguousTable { place, .. }
            | Self::CriDisabled { place, .. }
            | Self::NodeNeeded { place, .. }
            | Self::RequiredCri { place, .. }
            | Self::NoRuntimeType { place, .. } => Some(place),
            Self::OverLimit { .. } => None,
        }
    }
}
