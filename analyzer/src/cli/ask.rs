//! Arguments of `ask`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::KeyArgs;

/// Arguments of `ask`.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// What is asked.
    #[command(subcommand)]
    pub question: Question,
}

/// A question about the captured state.
#[derive(Debug, Subcommand)]
pub enum Question {
    /// Whether a packet gets from one place to another, which rule decides, and what becomes of the answer.
    Packet(AskPacketArgs),
    /// Whether the runtime comes up with its files, and what a handler is.
    Runtime(AskRuntimeArgs),
    /// Where a pending pod fits, and why not elsewhere.
    Schedule(AskScheduleArgs),
    /// What becomes of the largest packet of pods.
    Mtu(AskMtuArgs),
}

impl Question {
    /// What is read to answer it.
    pub fn input(&self) -> &AskInput {
        match self {
            Self::Packet(args) => &args.input,
            Self::Runtime(args) => &args.input,
            Self::Schedule(args) => &args.input,
            Self::Mtu(args) => &args.input,
        }
    }
}

/// What is read to answer a question.
#[derive(Debug, Args)]
pub struct AskInput {
    /// Bundle, unpacked bundle, folder of evidence, text file, or `-` for pasted text.
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `ask packet`.
#[derive(Debug, Args)]
pub struct AskPacketArgs {
    /// What is read.
    #[command(flatten)]
    pub input: AskInput,
    /// Sender: `pod/NAMESPACE/NAME`, `node/NAME` or an address.
    #[arg(long, value_name = "FROM")]
    pub from: String,
    /// Receiver: the same, or `svc/NAMESPACE/NAME`, each with `:PORT`.
    #[arg(long, value_name = "TO")]
    pub to: String,
    /// Protocol: tcp, udp, sctp or icmp.
    #[arg(long, default_value = "tcp")]
    pub proto: String,
    /// The node whose rules are asked, where it is not the sender's own.
    #[arg(long)]
    pub node: Option<String>,
    /// The packet itself in hexadecimal, from its IP header on, as `tcpdump -x` prints it: rules that read header bytes
    /// are then decided.
    #[arg(long, value_name = "HEX")]
    pub bytes: Option<String>,
}

/// Arguments of `ask runtime`.
#[derive(Debug, Args)]
pub struct AskRuntimeArgs {
    /// Handler, as a RuntimeClass names it.
    #[arg(value_name = "HANDLER")]
    pub handler: String,
    /// What is read.
    #[command(flatten)]
    pub input: AskInput,
    /// One node only.
    #[arg(long)]
    pub node: Option<String>,
}

/// Arguments of `ask schedule`.
#[derive(Debug, Args)]
pub struct AskScheduleArgs {
    /// Pod: `pod/NAMESPACE/NAME`.
    #[arg(value_name = "POD")]
    pub pod: String,
    /// What is read.
    #[command(flatten)]
    pub input: AskInput,
    /// One node only.
    #[arg(long)]
    pub node: Option<String>,
}

/// Arguments of `ask mtu`.
#[derive(Debug, Args)]
pub struct AskMtuArgs {
    /// What is read.
    #[command(flatten)]
    pub input: AskInput,
    /// One node only.
    #[arg(long)]
    pub node: Option<String>,
}
