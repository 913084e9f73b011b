//! `ask runtime`: whether the runtime comes up with its files, and what each handler is.

use crate::cli::AskRuntimeArgs;
use crate::derive::containerd::ask::runtime;
use crate::scan::Scanned;

pub(super) fn answer(scanned: &Scanned, args: &AskRuntimeArgs) -> Result<Vec<String>, String> {
    crate::derive::ask(scanned, |known| {
        runtime(known, &args.handler, args.node.as_deref())
    })
}
