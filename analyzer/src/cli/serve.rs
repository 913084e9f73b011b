//! The commands that let other tools look at a capture.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::KeyArgs;

/// The moment that ages are told from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsOf {
    /// The time of this run.
    Today,
    /// This moment.
    Moment(chrono::DateTime<chrono::Utc>),
}

fn parse_as_of(text: &str) -> Result<AsOf, String> {
    match text {
        "today" => Ok(AsOf::Today),
        text => super::parse_time(text).map(AsOf::Moment),
    }
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Bundle, unpacked bundle or capture of another tool. Bundles of one cluster are one context, others one each.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Take bundles that do not say which cluster they are of as one cluster's.
    #[arg(long)]
    pub join: bool,
    /// Address to listen on; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Write the kubeconfig here; without it, to a temporary file. It is removed when the server ends.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Tell ages as of `today` or a moment (RFC 3339), not as of the end of collection.
    #[arg(long, value_name = "TIME", value_parser = parse_as_of)]
    pub now: Option<AsOf>,
    /// Also show the capture in the browser: report, objects, files, logs, search and what a change would do. Prints the
    /// address to open.
    #[arg(long)]
    pub ui: bool,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `open`.
#[derive(Debug, Args)]
pub struct OpenArgs {
    /// Bundle, unpacked bundle or capture of another tool. Bundles of one cluster are shown as one.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Take bundles that do not say which cluster they are of as one cluster's.
    #[arg(long)]
    pub join: bool,
    /// Address to listen on; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Tell ages as of `today` or a moment (RFC 3339), not as of the end of collection.
    #[arg(long, value_name = "TIME", value_parser = parse_as_of)]
    pub now: Option<AsOf>,
    /// Print the address and start no browser.
    #[arg(long)]
    pub print: bool,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `shell`.
#[derive(Debug, Args)]
pub struct ShellArgs {
    /// Bundle, unpacked bundle or capture of another tool. Bundles of one cluster are one context, others one each.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Take bundles that do not say which cluster they are of as one cluster's.
    #[arg(long)]
    pub join: bool,
    /// Tell ages as of `today` or a moment (RFC 3339), not as of the end of collection.
    #[arg(long, value_name = "TIME", value_parser = parse_as_of)]
    pub now: Option<AsOf>,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}
