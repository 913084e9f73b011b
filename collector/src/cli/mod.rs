//! The command line: what may be asked, and its check into [`Options`]. What the user typed is checked here once;
//! nothing behind it meets a contradiction.

mod checks;
mod values;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::anonymize::Class;
use crate::leak::Rules;
use crate::options::{Handover, Options};
use crate::redact::Keep;

pub(crate) use checks::check_root;
use checks::{check_names, check_sources, fail, names, node_name};
use values::{duration, size};

/// How far back journals go where nothing is said.
const SINCE: Duration = Duration::from_secs(24 * 3600);

/// Snapshots a Kubernetes GPU node into one bundle, read-only.
///
/// Exit codes: 0 everything collected; 2 wrong usage; 3 the output cannot be written, would leak a
/// secret, or a bundle, key or map is not what it should be;
/// 4 collected, but something is missing; 70 a bug in this program.
#[derive(Debug, Parser)]
#[command(
    name = "casefile-collector",
    version,
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    /// What to do; collecting where nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The options of `collect`.
    #[command(flatten)]
    pub collect: CollectArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Collect into a bundle (the default)
    Collect(CollectArgs),
    /// Collect, and say what is wrong: title, cause and fix, by the analyzer where it lies beside this program
    Diagnose(CollectArgs),
    /// Print every file, command and API request that `collect` would use, and do none of it
    Plan {
        /// The options `collect` would get.
        #[command(flatten)]
        collect: CollectArgs,
        /// For people or for programs
        #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
        format: PlanFormat,
        /// Print what a bundle would not say and what it would, instead
        #[arg(long)]
        privacy: bool,
    },
    /// Check that a bundle is whole and unchanged
    Verify {
        /// The bundle, its unpacked folder, or - for standard input
        bundle: PathBuf,
        /// Demand a signature by this key (PEM, as `openssl pkey -pubout` writes it)
        #[arg(long, value_name = "FILE")]
        public_key: Option<PathBuf>,
        /// Key that opens an encrypted bundle, as `age-keygen` writes it
        #[arg(short, long, value_name = "FILE")]
        identity: Vec<PathBuf>,
    },
    /// Send a bundle that is there, as `collect --upload` does; an upload that broke off goes on
    Upload {
        /// The bundle, or a folder: every bundle in it that was not sent yet
        bundle: PathBuf,
        /// A signed URL, or one that ends with / for a server that takes PUT or tus; CASEFILE_UPLOAD where it is left out
        url: Option<String>,
        /// Enter this root first, for the node's own certificates of authorities and resolvers
        #[arg(long, value_name = "DIR")]
        chroot: Option<PathBuf>,
    },
    /// Put the names of the site back into a report that was made from an anonymised bundle
    Reveal {
        /// The map that was written beside the bundle
        #[arg(long, value_name = "FILE")]
        map: PathBuf,
        /// The report, or any other text
        report: PathBuf,
        /// Where the result goes; standard output where nothing is said
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Print the manual page
    #[command(hide = true)]
    Man,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl Cli {
    /// The options of `collect`, for the commands that have them.
    pub fn options(&self) -> Option<&CollectArgs> {
        match &self.command {
            None => Some(&self.collect),
            Some(
                Command::Collect(options)
                | Command::Diagnose(options)
                | Command::Plan {
                    collect: options, ..
                },
            ) => Some(options),
            Some(
                Command::Verify { .. }
                | Command::Reveal { .. }
                | Command::Upload { .. }
                | Command::Man
                | Command::Completions { .. },
            ) => None,
        }
    }

    /// As clap's own, for arguments that need not come from the process.
    pub(crate) fn try_parse_from_args(
        args: impl IntoIterator<Item = std::ffi::OsString>,
    ) -> Result<Self, clap::Error> {
        Self::try_parse_from(args)
    }
}

/// How `plan` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// Text.
    Text,
    /// JSON.
    Json,
}

/// How progress is shown on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgressMode {
    /// Live on a terminal, plain lines elsewhere.
    Auto,
    /// One line per event.
    Plain,
    /// One JSON object per event.
    Json,
    /// Nothing.
    None,
}

/// The options of `collect`, as typed.
#[derive(Debug, Args)]
pub struct CollectArgs {
    /// Where the bundle goes: a file, a folder, or - for standard output
    #[arg(short, long, value_name = "PATH|DIR|-")]
    pub output: Option<PathBuf>,
    /// How far back journals and logs go [default: 24h for journals, the newest lines of container logs]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub since: Option<Duration>,
    /// Only these sources
    #[arg(long, value_name = "SOURCE", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Not these sources
    #[arg(long, value_name = "SOURCE", value_delimiter = ',')]
    pub skip: Vec<String>,
    /// Only this namespace; may be given several times
    #[arg(long, value_name = "NAMESPACE", value_delimiter = ',')]
    pub namespace: Vec<String>,
    /// Use this kubeconfig and no other
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Use this context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Collect from the mounted disk of another node
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,
    /// Time limit of the whole run
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub timeout: Duration,
    /// Time limit of each source
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub source_timeout: Option<Duration>,
    /// The most content (before compression) that each source may add
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub source_max_size: Option<u64>,
    /// The most content (before compression) that the bundle takes
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = size)]
    pub max_size: u64,
    /// Also resolve names and connect to servers that this node's configuration names, to see what the node reaches
    #[arg(long)]
    pub probe: bool,
    /// Replace names and addresses of the site by pseudonyms; the map stays beside the bundle
    #[arg(long, value_name = "CLASS", value_enum, value_delimiter = ',')]
    pub anonymize: Vec<Class>,
    /// Where the map of pseudonyms goes (default: the bundle's name with .map.json)
    #[arg(long, value_name = "FILE", requires = "anonymize")]
    pub map: Option<PathBuf>,
    /// Leave unexplained random texts in clear that this regular expression matches; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub keep: Vec<String>,
    /// Keep what the leak check finds in this line of an entry, or in a whole entry; may be given several times
    #[arg(long, value_name = "PATH[:LINE]")]
    pub allow_leak: Vec<String>,
    /// Write no bundle where the leak check finds a secret, instead of replacing it
    #[arg(long)]
    pub strict_leaks: bool,
    /// Let the leak check also search by the rules of this file: gitleaks' TOML or noseyparker's YAML; may be given several times
    #[arg(long, value_name = "FILE")]
    pub leak_rules: Vec<PathBuf>,
    /// Sign the bundle with this Ed25519 key (PEM, PKCS 8)
    #[arg(long, value_name = "FILE")]
    pub sign_key: Option<PathBuf>,
    /// Encrypt to this recipient, or to those of a file; may be given several times
    #[arg(long, value_name = "age1...|FILE")]
    pub encrypt_to: Vec<String>,
    /// Send the finished bundle to this address: a signed URL, or one that ends with / for a server that takes PUT or
    /// tus; a server that wants a token gets that of CASEFILE_UPLOAD_TOKEN
    #[arg(long, value_name = "URL")]
    pub upload: Option<String>,
    /// Wait up to this long first, each node for its own time, so that a fleet does not collect and upload all at once
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub spread: Option<Duration>,
    /// Only what the API server has, and nothing of this machine
    #[arg(long, conflicts_with = "root")]
    pub cluster_only: bool,
    /// Journals of these other nodes too, read through the API (needs nodes/proxy and NodeLogQuery); "all" for every node
    #[arg(long, value_name = "NODE", value_delimiter = ',')]
    pub node_logs: Vec<String>,
    /// Enter this folder first: a node's root, mounted into a privileged pod. Unlike --root, its commands run too
    #[arg(long, value_name = "DIR", conflicts_with = "root")]
    pub chroot: Option<PathBuf>,
    /// Also take the newest reports that nvidia-bug-report.sh left on this machine; otherwise only their names are in the bundle
    #[arg(long)]
    pub include_bug_reports: bool,
    /// End with 0 even where something is missing: for jobs that would be run again
    #[arg(long)]
    pub accept_partial: bool,
    /// Take options from this TOML file: since = "2h", skip = ["journal"]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How to show progress
    #[arg(long, value_enum, default_value_t = ProgressMode::Auto)]
    pub progress: ProgressMode,
    /// For tests: searched for commands first
    #[arg(long, hide = true, value_name = "DIR")]
    pub command_dir: Option<PathBuf>,
}

/// What is wrong with the options, as a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

impl UsageError {
    pub(crate) fn new(what: String) -> Self {
        Self(what)
    }
}

impl CollectArgs {
    /// Checks the options and fills in the rest.
    pub fn resolve(&self) -> Result<Options, UsageError> {
        let only = names("--only", &self.only)?;
        let skip = names("--skip", &self.skip)?;
        if let Some(both) = only.intersection(&skip).next() {
            return fail(format!("{both} is both in --only and in --skip"));
        }
        self.check_limits()?;
        self.check_output()?;
        if let Err(error) = Keep::new(&self.keep) {
            return fail(format!("--keep: {error}"));
        }
        if let Err(error) = Rules::read(&self.leak_rules) {
            return fail(format!("--leak-rules {error}"));
        }
        check_root("--root", &self.root)?;
        check_names("--namespace", &self.namespace)?;
        check_names("--node-logs", &self.node_logs)?;
        if let Some(file) = &self.kubeconfig
            && let Err(error) = std::fs::File::open(file)
        {
            return fail(format!("--kubeconfig {}: {error}", file.display()));
        }
        let options = Options {
            node: node_name(&self.root),
            root: self.root.clone(),
            since: self.since.unwrap_or(SINCE),
            logs_since: self.since,
            only,
            skip,
            namespaces: self.namespace.iter().cloned().collect(),
            kubeconfig: self.kubeconfig.clone(),
            context: self.context.clone(),
            timeout: self.timeout,
            source_timeout: self.source_timeout,
            source_max_size: self.source_max_size,
            max_size: self.max_size,
            probe: self.probe,
            handover: Handover {
                anonymize: self.anonymize.iter().copied().collect(),
                map: self.map.clone(),
                keep: self.keep.clone(),
                allow_leak: self.allow_leak.iter().cloned().collect(),
                strict_leaks: self.strict_leaks,
                leak_rules: self.leak_rules.clone(),
                sign_key: self.sign_key.clone(),
                encrypt_to: self.encrypt_to.clone(),
            },
            cluster_only: self.cluster_only,
            node_logs: self.node_logs.iter().cloned().collect(),
            include_bug_reports: self.include_bug_reports,
            command_dir: self.command_dir.clone(),
        };
        check_sources(&options)?;
        Ok(options)
    }

    /// Refuses limits that leave nothing to collect.
    fn check_limits(&self) -> Result<(), UsageError> {
        if self.since.is_some_and(|since| since.is_zero()) {
            return fail("--since 0 leaves no journal and no log to collect");
        }
        if self.timeout.is_zero() || self.source_timeout.is_some_and(|limit| limit.is_zero()) {
            return fail("a time limit of 0 leaves no time to collect anything");
        }
        if let Some(limit) = self.source_timeout.filter(|limit| *limit > self.timeout) {
            let (inner, outer) = (limit.as_secs(), self.timeout.as_secs());
            return fail(format!(
                "--source-timeout ({inner} s) is longer than --timeout ({outer} s)"
            ));
        }
        if self.max_size < 64 << 10 {
            return fail(format!(
                "--max-size {} is too small for any bundle (at least 64KiB)",
                self.max_size
            ));
        }
        if let Some(limit) = self
            .source_max_size
            .filter(|limit| *limit > self.max_size || *limit == 0)
        {
            return fail(format!(
                "--source-max-size ({limit}) must be above 0 and not above --max-size ({})",
                self.max_size
            ));
        }
        Ok(())
    }

    /// Refuses outputs that cannot be written as they are asked for.
    fn check_output(&self) -> Result<(), UsageError> {
        let piped = self.output.as_deref() == Some(Path::new("-"));
        if piped && self.upload.is_some() {
            return fail(
                "--upload sends the file that -o names, and -o - makes none; leave one of them out",
            );
        }
        if piped && std::io::stdout().is_terminal() {
            return fail(
                "-o - would write a compressed archive to this terminal: add > FILE, or name a file with -o FILE",
            );
        }
        if piped && !self.anonymize.is_empty() && self.map.is_none() {
            return fail(
                "--anonymize with -o - needs --map FILE: there is no file to put the map beside",
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(args: &[&str]) -> Result<Options, String> {
        let all = std::iter::once("casefile-collector").chain(args.iter().copied());
        let cli = Cli::try_parse_from(all).map_err(|error| error.to_string())?;
        cli.collect.resolve().map_err(|error| error.to_string())
    }

    #[test]
    fn an_unknown_source_is_refused_with_the_list_of_known_ones() {
        let error = resolve(&["--only", "ufw"]).unwrap_err();
        assert!(
            error.contains("--only ufw") && error.contains("firewall, "),
            "{error}"
        );
    }

    #[test]
    fn limits_that_contradict_each_other_are_refused() {
        for args in [
            &["--timeout", "10s", "--source-timeout", "20s"][..],
            &["--timeout", "0s"],
            &["--max-size", "10"],
            &["--only", "journal", "--skip", "journal"],
            &["--root", "/nonexistent"],
            &["--since", "yesterday"],
            &["--since", "0"],
            &["--cluster-only", "--only", "journal"],
            &["--namespace", ""],
            &["--namespace", "Team A"],
        ] {
            assert!(resolve(args).is_err(), "{args:?}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
