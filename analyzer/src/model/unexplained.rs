//! What fails and no cause explains.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Place;

/// Something unhealthy that no confirmed or likely cause explains, with its own best evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unexplained {
    /// `pod/<ns>/<name>`, `node/<name>`, `unit/<name>`, `deployment/<ns>/<name>`, `log/<path>`, ...
    pub subject: String,
    /// Namespace; empty for what has none.
    #[serde(skip)]
    pub namespace: String,
    /// Owner of a pod as `replicaset/<name>`.
    #[serde(skip)]
    pub owner: String,
    /// Whether nothing but its state is known.
    #[serde(skip)]
    pub speechless: bool,
    /// Whether a log, or what was asked of the machine, shows that it lasted to the end of the input.
    #[serde(skip)]
    pub lasts: bool,
    /// Since when, if the input says.
    pub since: Option<DateTime<Utc>>,
    /// State and exit code in words.
    pub reason: String,
    /// Restarts of a pod, or of a unit as far as its log goes back.
    pub restarts: u64,
    /// The last grave line of its log, its status message, its last warning events.
    pub last_words: String,
    /// Where the last words stand.
    pub place: Place,
    /// The lines that show it, as they stand.
    pub lines: Vec<String>,
    /// Others of the same owner with the same reason, and others of its kind with the same last words.
    pub also: Vec<String>,
    /// What the captured firewall does with the packets that its last words name, as sentences.
    pub flows: Vec<String>,
    /// Causes of the catalogue that produce this, the most frequent first.
    pub candidates: Vec<Candidate>,
    /// A time that stands beside its words, where they have none.
    #[serde(skip)]
    pub beside: Option<super::Beside>,
}

/// A cause that produces a symptom which no confirmed cause explains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Cause id.
    pub cause: String,
    /// Title from the rule.
    pub title: String,
    /// How many of the incidents that the rules were measured on had this cause.
    pub times: u32,
    /// The command that settles it.
    pub settle: String,
}

/// The answer about one thing that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct About {
    /// `pod/<ns>/<name>` or `node/<name>`.
    pub subject: String,
    /// Whether the input holds anything of it.
    pub found: bool,
    /// Its state in words; empty where it was not captured.
    pub state: String,
    /// Where its state stands.
    pub place: Option<Place>,
    /// Cause ids of the incidents that concern it, best first.
    pub causes: Vec<String>,
    /// Cause ids of the incidents on its node.
    pub on_its_node: Vec<String>,
    /// Its last words, where no cause explains it.
    pub last_words: Option<String>,
}
