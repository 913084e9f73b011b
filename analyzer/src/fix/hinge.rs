//! What a cause needs to be so in the captured files: where only logs told it, a replay looks here.

use globset::Glob;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::captured::Captured;
use super::change::Refused;

/// A line of the captured state without which the cause cannot act. Every text may hold `{signal.field}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hinge {
    /// Entries, as a glob; lists of Kubernetes objects hold one object a line.
    pub entry: String,
    /// Expression that the line matches.
    pub line: String,
    /// Expression that it does not match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// What that means, as a sentence without a full stop.
    pub says: String,
}

impl Hinge {
    /// Whether the expressions can be used.
    pub fn check(&self) -> Result<(), Refused> {
        self.compiled().map(drop)
    }

    /// Where it holds in the state as it was collected, or as it stands after the changes.
    pub(super) fn holds(&self, state: &mut Captured, changed: bool) -> Option<String> {
        let (glob, line, lacks) = self.compiled().ok()?;
        let paths: Vec<String> = state
            .paths()
            .filter(|path| glob.is_match(path))
            .map(str::to_owned)
            .collect();
        let is_so = |text: &str| {
            line.is_match(text) && !lacks.as_ref().is_some_and(|lacks| lacks.is_match(text))
        };
        paths.into_iter().find_map(|path| {
            let text = if changed {
                state.now(&path)
            } else {
                state.before(&path)
            }?;
            let at = text.lines().position(|line| is_so(line))?;
            Some(format!("{path}:{}", at + 1))
        })
    }

    fn compiled(&self) -> Result<(globset::GlobMatcher, Regex, Option<Regex>), Refused> {
        let wrong = |what: &str, error: String| Refused::new(format!("{what:?}: {error}"));
        let glob = Glob::new(&self.entry).map_err(|error| wrong(&self.entry, error.to_string()))?;
        let expression =
            |text: &str| Regex::new(text).map_err(|error| wrong(text, error.to_string()));
        let lacks = self.lacks.as_deref().map(expression).transpose()?;
        Ok((glob.compile_matcher(), expression(&self.line)?, lacks))
    }
}
