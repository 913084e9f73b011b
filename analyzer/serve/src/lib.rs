//! Answers the Kubernetes API from captured objects, so that kubectl and its relatives work on a recording of a cluster.
//!
//! A [`Builder`] takes objects as a capture holds them and makes a [`Store`]; [`answer`] answers one request from it, without
//! any I/O; [`Server`] puts that behind TLS, a token and a check of who asks. Nothing here can change anything: whatever is
//! not a question is refused with a sentence.

mod answer;
mod ask;
mod builder;
mod chunks;
mod definitions;
mod discovery;
mod fields;
mod gate;
mod kinds;
mod kubeconfig;
mod list;
mod logs;
mod metadata;
mod node_log;
mod openapi;
mod outgoing;
mod page;
mod pick;
mod pod_log;
mod proto;
mod review;
mod route;
mod select;
mod server;
mod slim;
mod status;
mod store;
mod swagger;
mod table;
mod value;
mod watch;

pub use answer::{Answer, Body};
pub use ask::Ask;
pub use builder::{Builder, Declared, Hint, Unusable};
pub use kubeconfig::kubeconfig;
pub use logs::{LogFile, NoTexts, NodeFile, Run, Texts};
pub use page::{Desk, LinesAsk, Proposed};
pub use route::answer;
pub use server::{Credentials, Running, Server, ServerError};
pub use store::Store;

/// One line of a journal in JSON as text; none if it is no entry.
pub fn journal_line(line: &[u8]) -> Option<String> {
    node_log::journal_line(line)
}
