//! `casefile-cri`: asks a container runtime for a pod sandbox and prints how it ended, or runs a container in one.

use std::io::Write as _;
use std::path::PathBuf;

use casefile_tests::cri::{Pod, ask_for_sandbox, run_container, waited_for};
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
    /// An image to run in the sandbox
    #[arg(long)]
    image: Option<String>,
    /// What to run in it
    #[arg(last = true)]
    command: Vec<String>,
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
    if let Some(image) = &options.image {
        let command: Vec<&str> = options.command.iter().map(String::as_str).collect();
        let id = waited_for(run_container(&options.socket, &pod, image, &command))?;
        writeln!(std::io::stdout(), "{id}")?;
        return Ok(());
    }
    let outcome = ask_for_sandbox(&options.socket, &pod, &options.handler)?;
    let code = outcome.code;
    writeln!(std::io::stdout(), "code {code} {}", outcome.message)?;
    Ok(())
}
