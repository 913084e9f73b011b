//! What to do about a cause.

use serde::Serialize;

/// One step of a fix, a verification or a mitigation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What to do and why, as a sentence.
    pub text: String,
    /// Shell command to run, if the step is one.
    pub command: Option<String>,
    /// What a person should see after it.
    pub expect: Option<String>,
}

/// A file that the fix asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FixFile {
    /// Suggested file name.
    pub name: String,
    /// `yaml`, `toml`, `sh` or `text`.
    pub language: String,
    /// Content.
    pub content: String,
}

/// What to do about a cause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// One line that names the fix.
    pub title: String,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Files that the steps use.
    pub files: Vec<FixFile>,
    /// Checks that show the fix worked.
    pub verify: Vec<Step>,
    /// What to do until the fix can be applied.
    pub mitigate: Vec<String>,
    /// What keeps it from coming back.
    pub prevent: Vec<String>,
}
