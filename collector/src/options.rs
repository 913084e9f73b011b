//! The resolved options of one run: what the command line asked for, checked, with every default filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::anonymize::Class;
use crate::source::Source;

/// Everything a source may ask about this run. Made once by `cli`, read by all.
#[derive(Debug, Clone)]
pub struct Options {
    /// The node's name as it appears in paths of the bundle: its host name, made safe for a path segment.
    pub node: String,
    /// Where host files are read: `/`, or the mount point of another node's disk.
    pub root: PathBuf,
    /// How far back journals go.
    pub since: Duration,
    /// How far back container logs go, where `--since` was given; otherwise their newest lines are taken, however old.
    pub logs_since: Option<Duration>,
    /// Only these sources, where not empty.
    pub only: BTreeSet<String>,
    /// Not these sources.
    pub skip: BTreeSet<String>,
    /// Only these namespaces, where not empty.
    pub namespaces: BTreeSet<String>,
    /// The kubeconfig the user named; it alone is tried then.
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; its current one where nothing is said.
    pub context: Option<String>,
    /// The whole run ends after this.
    pub timeout: Duration,
    /// Where set, every source's time limit.
    pub source_timeout: Option<Duration>,
    /// The most bytes of content (before compression) that the bundle takes.
    pub max_size: u64,
    /// What leaves the site, and how.
    pub handover: Handover,
    /// Where set, the most bytes of content that each source may add.
    pub source_max_size: Option<u64>,
    /// Whether the node's own reach is probed, which sends packets.
    pub probe: bool,
    /// Only sources of the API server.
    pub cluster_only: bool,
    /// Other nodes whose journals are read through the API; `all` for every node.
    pub node_logs: BTreeSet<String>,
    /// Whether reports of nvidia-bug-report.sh are taken.
    pub include_bug_reports: bool,
    /// Test hook: searched for commands before the fixed list.
    pub command_dir: Option<PathBuf>,
}

/// What is anonymised, checked, signed and encrypted before the bundle is handed over.
#[derive(Debug, Clone, Default)]
pub struct Handover {
    /// Names and addresses that pseudonyms replace.
    pub anonymize: BTreeSet<Class>,
    /// Where the map of pseudonyms goes; beside the bundle where nothing is said.
    pub map: Option<PathBuf>,
    /// Expressions of unexplained texts that stay in clear.
    pub keep: Vec<String>,
    /// Entries that may hold what the leak check finds in them.
    pub allow_leak: BTreeSet<String>,
    /// What the leak check finds blocks the bundle.
    pub strict_leaks: bool,
    /// Files of other scanners' rules for the leak check.
    pub leak_rules: Vec<PathBuf>,
    /// Private key of the signature.
    pub sign_key: Option<PathBuf>,
    /// Recipients (`age1...`) or files of them.
    pub encrypt_to: Vec<String>,
}

impl Options {
    /// Whether this run describes the machine it runs on, so that commands may be asked about it.
    pub fn live(&self) -> bool {
        self.root == std::path::Path::new("/")
    }

    /// Whether there is an API server to ask: this machine's, or for a mounted disk the one that `--kubeconfig` names.
    pub fn asks_cluster(&self) -> bool {
        self.live() || self.kubeconfig.is_some()
    }

    /// The most bytes of content that a source may add where `sources` of them run. With a small bundle, no source takes
    /// more than half of it from the others.
    pub fn most_of(&self, source: &Source, sources: usize) -> u64 {
        let own = self.source_max_size.unwrap_or(source.max_bytes);
        own.min(if sources > 1 {
            self.max_size / 2
        } else {
            self.max_size
        })
    }

    /// The options as `casefile.json` records them.
    pub fn recorded(&self) -> BTreeMap<String, String> {
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(",");
        let mut map = BTreeMap::from([
            ("root".to_owned(), self.root.display().to_string()),
            ("since".to_owned(), format!("{}s", self.since.as_secs())),
            ("timeout".to_owned(), format!("{}s", self.timeout.as_secs())),
            ("max-size".to_owned(), self.max_size.to_string()),
        ]);
        for (key, set) in [
            ("only", &self.only),
            ("skip", &self.skip),
            ("namespace", &self.namespaces),
            ("node-logs", &self.node_logs),
        ] {
            if !set.is_empty() {
                map.insert(key.to_owned(), list(set));
            }
        }
        if let Some(limit) = self.source_timeout {
            map.insert("source-timeout".to_owned(), format!("{}s", limit.as_secs()));
        }
        let handover = &self.handover;
        if !handover.anonymize.is_empty() {
            let words: Vec<_> = handover
                .anonymize
                .iter()
                .map(|class| class.word())
                .collect();
            map.insert("anonymize".to_owned(), words.join(","));
        }
        if !handover.keep.is_empty() {
            map.insert("keep".to_owned(), handover.keep.join(" "));
        }
        if !handover.allow_leak.is_empty() {
            map.insert("allow-leak".to_owned(), list(&handover.allow_leak));
        }
        if !handover.leak_rules.is_empty() {
            let files = handover.leak_rules.iter();
            let names: Vec<_> = files.map(|file| file.display().to_string()).collect();
            map.insert("leak-rules".to_owned(), names.join(","));
        }
        if let Some(limit) = self.source_max_size {
            map.insert("source-max-size".to_owned(), limit.to_string());
        }
        if self.probe {
            map.insert("probe".to_owned(), "true".to_owned());
        }
        if self.include_bug_reports {
            map.insert("include-bug-reports".to_owned(), "true".to_owned());
        }
        if let Some(file) = &self.kubeconfig {
            map.insert("kubeconfig".to_owned(), file.display().to_string());
        }
        if let Some(context) = &self.context {
            map.insert("context".to_owned(), context.clone());
        }
        map
    }
}
