//! `casefile-replay`: replays a recording over HTTPS until it is killed.

use std::net::SocketAddr;
use std::path::PathBuf;

use casefile_tests::recording::{Recording, User};
use casefile_tests::replay::{Credential, Faults, Server};
use clap::{Parser, ValueEnum};

#[derive(Parser)]
#[command(about = "Replays recorded Kubernetes API answers over HTTPS")]
struct Options {
    /// A recording, .jsonl.gz
    recording: PathBuf,
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:6443")]
    listen: SocketAddr,
    /// Where to write a kubeconfig for this server; written last, so its presence means ready
    #[arg(long)]
    kubeconfig: PathBuf,
    #[arg(long, value_enum, default_value = "admin")]
    user: UserName,
    #[arg(long, value_enum, default_value = "certificate")]
    credential: CredentialName,
    /// PREFIX=500|hang|drip|cut, may be repeated
    #[arg(long)]
    fault: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum UserName {
    Admin,
    Viewer,
}

#[derive(Clone, Copy, ValueEnum)]
enum CredentialName {
    Certificate,
    Token,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let faults = options
        .fault
        .iter()
        .try_fold(Faults::default(), |faults, text| faults.parse_into(text))?;
    let server = Server::start(Recording::load(&options.recording)?, options.listen, faults)?;
    let user = match options.user {
        UserName::Admin => User::Admin,
        UserName::Viewer => User::Viewer,
    };
    let credential = match options.credential {
        CredentialName::Certificate => Credential::Certificate,
        CredentialName::Token => Credential::Token,
    };
    let unfinished = options.kubeconfig.with_extension("partial");
    std::fs::write(&unfinished, server.kubeconfig(user, credential))?;
    std::fs::rename(&unfinished, &options.kubeconfig)?;
    server.wait();
    Ok(())
}
