//! `ask`: what the captured state would do with a packet, a runtime handler, a pod or the largest packet.

mod mtu;
mod packet;
mod runtime;
mod schedule;

use std::io::Write;
use std::path::Path;

use super::input::readable;
use super::{Exit, analyzer};
use crate::cli::{AskArgs, Question};
use crate::join::Unit;
use crate::scan::Scanned;
use casefile_bundle::Keys;

/// Reads the input and prints the answer; a question that cannot be answered says why and ends as wrong use.
pub(super) fn run(
    args: &AskArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let scanned = read(&args.question, errors)?;
    let answer = match &args.question {
        Question::Packet(asked) => packet::answer(&scanned, asked),
        Question::Runtime(asked) => runtime::answer(&scanned, asked),
        Question::Schedule(asked) => schedule::answer(&scanned, asked),
        Question::Mtu(asked) => mtu::answer(&scanned, asked),
    };
    match answer {
        Ok(lines) => {
            for line in lines {
                writeln!(out, "{line}")?;
            }
            Ok(Exit::Done)
        }
        Err(why) => {
            writeln!(errors, "error: {why}")?;
            Ok(Exit::Usage)
        }
    }
}

fn read(question: &Question, errors: &mut dyn Write) -> anyhow::Result<Scanned> {
    let input = question.input();
    let keys = Keys::load(&input.keys.identity)?;
    let (analyzer, _) = analyzer((&crate::cli::RuleArgs { rules: None }, None), keys, errors)?;
    let readable = readable(&Unit::Alone(input.input.clone()))?;
    let path: &Path = readable.unit.input();
    Ok(analyzer.read(path)?)
}
