//! Writing reports: whole or not at all under the final name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{Options, RenderError};
use crate::model::Analysis;

/// A format of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Markdown, with what is folded in a second file.
    Markdown,
    /// One HTML file.
    Html,
    /// Wiki markup of Jira and Confluence.
    Jira,
    /// JSON.
    Json,
    /// The first screen as plain text.
    Ticket,
    /// Markdown with folds, for a comment on GitHub or GitLab.
    GitHub,
    /// The first screen as Slack blocks.
    Slack,
    /// The first screen as a card of Teams.
    Teams,
    /// An Atlassian Document, for Jira's newer interfaces.
    Adf,
}

impl Format {
    /// Every format, in the order they are written.
    pub const ALL: [Format; 9] = [
        Format::Markdown,
        Format::Html,
        Format::Jira,
        Format::Json,
        Format::Ticket,
        Format::GitHub,
        Format::Slack,
        Format::Teams,
        Format::Adf,
    ];

    /// Most bytes that the place where it goes takes: GitHub and GitLab refuse longer comments, Jira longer fields. Of
    /// an Atlassian Document the text counts, not the JSON around it.
    pub(super) fn takes(self) -> Option<usize> {
        match self {
            Format::Markdown | Format::GitHub => Some(65_536),
            Format::Jira | Format::Adf => Some(32_767),
            Format::Html | Format::Json | Format::Ticket | Format::Slack | Format::Teams => None,
        }
    }

    /// File extension.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Markdown => "md",
            Format::Html => "html",
            Format::Jira => "jira",
            Format::Json => "json",
            Format::Ticket => "txt",
            Format::GitHub => "github.md",
            Format::Slack => "slack.json",
            Format::Teams => "teams.json",
            Format::Adf => "adf.json",
        }
    }
}

/// Why reports could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output folder cannot be made or is none.
    #[error("output folder {} cannot be used; name one that can be written to with -o", path.display())]
    OutputDir {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A report could not be written; nothing was left under its name.
    #[error("report {} could not be written", path.display())]
    File {
        /// The report.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A base name that is not a plain file name.
    #[error("`{name}` is not a plain file name for a report")]
    Name {
        /// The name.
        name: String,
    },
    /// A report could not be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// Makes the output folder if it is missing and proves that a file can be written there.
///
/// Call it before the analysis: nobody wants to wait for an answer that cannot be kept.
///
/// # Errors
/// [`WriteError::OutputDir`] if the folder cannot be made, is not a folder or cannot be written to.
pub fn check_output_dir(dir: &Path) -> Result<(), WriteError> {
    let probe = || -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let pending = Pending::create(dir, ".casefile-probe")?;
        drop(pending);
        Ok(())
    };
    probe().map_err(|source| WriteError::OutputDir {
        path: dir.to_owned(),
        source,
    })
}

/// Renders the formats and writes them as `<basename>.<extension>` into `dir`, replacing older reports.
///
/// All are rendered and written under temporary names first, then renamed: on an error no half report stands
/// under a final name.
///
/// # Errors
/// [`WriteError`], naming the folder or file.
pub fn write_reports(
    analysis: &Analysis,
    dir: &Path,
    formats: &[Format],
    basename: &str,
    options: &Options,
) -> Result<Vec<PathBuf>, WriteError> {
    let plain =
        !basename.is_empty() && !basename.starts_with('.') && !basename.contains(['/', '\\', '\0']);
    if !plain {
        return Err(WriteError::Name {
            name: basename.to_owned(),
        });
    }
    let mut formats = formats.to_vec();
    formats.sort_unstable();
    formats.dedup();
    let mut rendered = Vec::new();
    for format in formats {
        let text = super::render(analysis, format, options)?;
        rendered.push((dir.join(format!("{basename}.{}", format.extension())), text));
        let own = options
            .shell
            .as_ref()
            .is_some_and(|shell| shell.format == format);
        if format == Format::Markdown
            && !own
            && let Some(text) = super::render_appendix(analysis, options.lang)?
        {
            rendered.push((dir.join(format!("{basename}-appendix.md")), text));
        }
    }
    write_rendered(dir, rendered)
}

/// Writes what is rendered already into `dir`: all under temporary names first, then renamed.
///
/// # Errors
/// [`WriteError`], naming the folder or file.
pub fn write_rendered(
    dir: &Path,
    rendered: Vec<(PathBuf, String)>,
) -> Result<Vec<PathBuf>, WriteError> {
    check_output_dir(dir)?;
    let mut pending = Vec::new();
    for (path, text) in &rendered {
        let wrote = write_pending(dir, path, text);
        pending.push(wrote.map_err(|source| WriteError::File {
            path: path.clone(),
            source,
        })?);
    }
    for (file, (path, _)) in pending.into_iter().zip(&rendered) {
        file.keep_as(path).map_err(|source| WriteError::File {
            path: path.clone(),
            source,
        })?;
    }
    Ok(rendered.into_iter().map(|(path, _)| path).collect())
}

fn write_pending(dir: &Path, path: &Path, text: &str) -> io::Result<Pending> {
    if path.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "a folder has this name",
        ));
    }
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut pending = Pending::create(dir, &format!(".{name}"))?;
    pending.file.write_all(text.as_bytes())?;
    pending.file.sync_all()?;
    Ok(pending)
}

/// A file under a temporary name, removed unless it is kept.
struct Pending {
    path: PathBuf,
    file: File,
    kept: bool,
}

impl Pending {
    /// Creates the file anew. It never opens what is already there, so a planted link cannot redirect it.
    fn create(dir: &Path, stem: &str) -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for attempt in 0..16 {
            let path = dir.join(format!("{stem}.partial-{}-{attempt}", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    return Ok(Pending {
                        path,
                        file,
                        kept: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn keep_as(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing can be done about a failure here; the name says that the file is partial.
            let _ = fs::remove_file(&self.path);
        }
    }
}
