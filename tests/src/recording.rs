//! A recording: requests to a real API server and its answers, one JSON object a line, gzip'd.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;

/// Whose credential asked. The recordings know two users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum User {
    /// Sees everything.
    Admin,
    /// Bound to a role that lists pods and little more.
    Viewer,
}

impl User {
    /// The user's name in the cluster.
    pub fn name(self) -> &'static str {
        match self {
            User::Admin => "admin",
            User::Viewer => "viewer",
        }
    }
}

/// Which of the renderings of an answer the client asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Plain objects, or text.
    Plain,
    /// A server-side table.
    Table,
    /// Aggregated discovery.
    Discovery,
    /// Objects reduced to their metadata.
    Metadata,
}

impl Form {
    /// Reads the first form named by an `Accept` header.
    pub fn of(accept: &str) -> Self {
        let first = accept.split(',').next().unwrap_or_default();
        if first.contains("as=Table") {
            Form::Table
        } else if first.contains("apidiscovery") {
            Form::Discovery
        } else if first.contains("as=PartialObjectMetadata") {
            Form::Metadata
        } else {
            Form::Plain
        }
    }
}

/// A decoded request target: the path and its query, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The path, percent-decoded.
    pub path: String,
    /// Query parameters, percent-decoded.
    pub query: BTreeMap<String, String>,
}

impl Target {
    /// Splits and decodes `path?query`.
    pub fn parse(text: &str) -> Self {
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let query = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (decode(name), decode(value)))
            .collect();
        Target {
            path: decode(path),
            query,
        }
    }

    /// The same path without any query.
    pub fn bare(&self) -> Self {
        Target {
            path: self.path.clone(),
            query: BTreeMap::new(),
        }
    }

    /// The value of a query parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Whether a boolean parameter is set.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some("true" | "1" | ""))
    }
}

fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced)
        .decode_utf8_lossy()
        .into_owned()
}

/// One recorded answer.
#[derive(Debug, Clone, Deserialize)]
pub struct Answer {
    #[serde(rename = "as")]
    user: User,
    path: String,
    accept: String,
    /// HTTP status.
    pub status: u16,
    /// The `Content-Type` header.
    pub content_type: String,
    /// The body as sent.
    pub body: String,
}

impl Answer {
    /// An answer made up by the replay, as JSON.
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Answer {
            user: User::Admin,
            path: String::new(),
            accept: String::new(),
            status,
            content_type: "application/json".to_owned(),
            body: body.to_string(),
        }
    }

    /// The same answer with another body.
    pub fn with_body(&self, body: String) -> Self {
        Answer {
            body,
            ..self.clone()
        }
    }
}

/// All answers of one recording, found by who asked what in which form.
#[derive(Debug, Clone)]
pub struct Recording {
    answers: BTreeMap<(User, Target, Form), Answer>,
}

impl Recording {
    /// Reads a `.jsonl.gz` recording.
    ///
    /// # Errors
    /// Names the file, and the line that does not parse.
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
        let lines = BufReader::new(MultiGzDecoder::new(file));
        Self::read(lines).with_context(|| path.display().to_string())
    }

    /// Reads a recording's lines.
    ///
    /// # Errors
    /// Names the line that does not parse.
    pub fn read(lines: impl BufRead) -> anyhow::Result<Self> {
        let mut answers = BTreeMap::new();
        for (number, line) in (1..).zip(lines.lines()) {
            let line = line.with_context(|| format!("line {number}"))?;
            let answer: Answer =
                serde_json::from_str(&line).with_context(|| format!("line {number}"))?;
            let key = (
                answer.user,
                Target::parse(&answer.path),
                Form::of(&answer.accept),
            );
            answers.insert(key, answer);
        }
        Ok(Recording { answers })
    }

    /// The answer recorded for exactly this request.
    pub fn exact(&self, user: User, target: &Target, form: Form) -> Option<&Answer> {
        self.answers.get(&(user, target.clone(), form))
    }

    /// Everything recorded for a path with any query, as the admin saw it, plain form only.
    pub fn under<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a Target, &'a Answer)> {
        self.answers
            .iter()
            .filter(move |((user, target, form), _)| {
                *user == User::Admin && *form == Form::Plain && target.path == path
            })
            .map(|((_, target, _), answer)| (target, answer))
    }

    /// The bare paths that were recorded as plain answers.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.answers
            .keys()
            .filter(|(user, target, form)| {
                *user == User::Admin && *form == Form::Plain && target.query.is_empty()
            })
            .map(|(_, target, _)| target.path.as_str())
    }
}

/// The recording of this name from the shared folder beside the checkout, or `None` where there is none.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/recordings")
        .join(name);
    path.exists().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_decoded_and_its_query_does_not_depend_on_order() {
        let one = Target::parse("/api/v1/pods?fieldSelector=status.phase%3DRunning&limit=5");
        let two = Target::parse("/api/v1/pods?limit=5&fieldSelector=status.phase%3DRunning");
        assert_eq!(one, two);
        assert_eq!(one.get("fieldSelector"), Some("status.phase=Running"));
    }

    #[test]
    fn the_first_form_that_a_client_accepts_counts() {
        assert_eq!(
            Form::of("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
            Form::Table
        );
        assert_eq!(Form::of("*/*"), Form::Plain);
    }
}
