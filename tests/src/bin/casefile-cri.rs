//! `casefile-cri`: asks a container runtime for a pod sandbox and prints how it ended.

use std::io::Write as _;
use std::path::PathBuf;

use casefile_tests::cri::{Pod, ask_for_sandbox};
use clap::Parser;

#[derive(Parser)]
#[command(about = "Asks a container runtime for a pod sandbox, as a kubelet does")]
struct Options {
    /// The runtime's socket
    socket: PathBuf,
    /// NAMESPACE/NAME
    pod: String,
    uid: String,
    /// The runtime handler to ask for; empty for the default
    #[arg(long, default_value = "")]
    handler: String,
    #[arg(long, default_value_t = 0)]
    attempt: u32,
    /// Share the node's network
    #[arg(long)]
    host_network: bool,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let (namespace, name) = options
        .pod
        .split_once('/')
        .unwrap_or(("default", &options.pod));
    let pod = Pod {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        uid: options.uid.clone(),
        attempt: options.attempt,
        host_network: options.host_network,
    };
    let outcome = ask_for_sandbox(&options.socket, &pod, &options.handler)?;
    let code = outcome.code;
    writeln!(std::io::stdout(), "code {code} {}", outcome.message)?;
    Ok(())
}
