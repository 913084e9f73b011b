//! Arguments of `inbox`, `sql` and `fleet`.

use std::path::PathBuf;

use casefile_fleet::shard::Shard;
use clap::{Args, Subcommand, ValueEnum};

use super::{KeyArgs, RuleArgs};

/// What a bundle may cost, and who does the work.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// Bundles analysed at once, each by a process of its own; the number of cores if not given.
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Seconds that one bundle may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub time_limit: u64,
    /// MiB of memory that the analysis of one bundle may take.
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub worker_memory: u64,
    /// Largest bundle, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub max_size: u64,
    /// Rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `inbox`.
#[derive(Debug, Args)]
pub struct InboxArgs {
    /// Folder or address (`s3://BUCKET/PREFIX`, `gs://`, `az://`) that bundles arrive in.
    #[arg(value_name = "DIR|URL")]
    pub input: String,
    /// Folder of reports and of index.html; made if it does not exist.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Seconds that a file must not have grown for to count as arrived.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub settle: u64,
    /// Go on and look again and again.
    #[arg(long)]
    pub follow: bool,
    /// Seconds between looks.
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    pub every: u64,
    /// Command that is run for each finished report, with the ticket as JSON on its standard input.
    #[arg(long, value_name = "COMMAND")]
    pub hook: Option<String>,
    /// Address that gets the ticket of each finished report as a POST.
    #[arg(long, value_name = "URL")]
    pub webhook: Option<String>,
    /// Work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// Arguments of `sql`.
#[derive(Debug, Args)]
pub struct SqlArgs {
    /// Question, e.g. `SELECT cause, count(*) FROM incidents GROUP BY 1`; `schema` prints the tables.
    #[arg(value_name = "SELECT")]
    pub question: String,
    /// Output of `fleet run`, folder of an inbox, or bundles, which are then analysed first.
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// Output.
    #[arg(long, default_value = "table")]
    pub format: SqlFormat,
    /// Work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// A format of `sql`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SqlFormat {
    /// For a person.
    Table,
    /// Comma-separated, with a header.
    Csv,
    /// One object a line.
    Json,
}

/// Arguments of `fleet`.
#[derive(Debug, Args)]
pub struct FleetArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// What to do with a fleet.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Analyse one shard of all bundles into Parquet files.
    Run(RunArgs),
    /// Size shards for the bundles of a place.
    Plan(PlanArgs),
    /// Say what is there of an output, and what is missing.
    Status(StatusArgs),
    /// Find settings that go with a cause, and messages that no rule knows.
    Odd(OddArgs),
    /// Analyse what standard input names, for `inbox` and `run`.
    #[command(hide = true)]
    Worker(WorkerArgs),
}

/// Arguments of `fleet run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Folder or address of bundles.
    #[arg(value_name = "DIR|URL")]
    pub input: String,
    /// Folder or address that the tables are written to.
    #[arg(short, long, value_name = "DIR|URL")]
    pub output: String,
    /// This process's part, from 0: `0/4` to `3/4`.
    #[arg(long, value_name = "I/N", default_value = "0/1")]
    pub shard: Shard,
    /// Files a table; the same for all shards of an output.
    #[arg(long, value_name = "N", default_value_t = casefile_fleet::plan::BUCKETS)]
    pub buckets: u32,
    /// Try bundles again that could not be analysed before.
    #[arg(long)]
    pub retry_failed: bool,
    /// Work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// Arguments of `fleet plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Folder or address of bundles.
    #[arg(value_name = "DIR|URL")]
    pub input: String,
    /// Minutes in which all shards shall be done.
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    pub within: u32,
    /// Bundles that one core analyses in a second, as `fleet run` reports it.
    #[arg(long, value_name = "N", default_value_t = 2.0)]
    pub rate: f64,
    /// Cores of one shard.
    #[arg(short, long, value_name = "N", default_value_t = 2)]
    pub jobs: u32,
}

/// Arguments of `fleet status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Output of `fleet run`.
    #[arg(value_name = "DIR|URL")]
    pub output: String,
    /// Folder or address of the bundles, to say what is missing.
    #[arg(long, value_name = "DIR|URL")]
    pub input: Option<String>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `fleet odd`.
#[derive(Debug, Args)]
pub struct OddArgs {
    /// Output of `fleet run`, folder of an inbox, or bundles, which are then analysed first.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// Chance of any false finding in the whole fleet.
    #[arg(long, value_name = "P", default_value_t = 0.001)]
    pub chance: f64,
    /// Least lift over what chance gives.
    #[arg(long, value_name = "N", default_value_t = 1.5)]
    pub lift: f64,
    /// Messages without a rule that are listed.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub messages: usize,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
    /// Work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// Arguments of the worker.
#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// Rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}
