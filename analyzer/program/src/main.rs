//! `casefile-analyzer`: arguments and the shipped catalogue in, exit code out.

use std::io::{BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use casefile_analyzer::cli::Cli;
use casefile_analyzer::commands::{self, Exit, Terminal};
use casefile_analyzer::shipped;
use clap::Parser;

/// Objects and lines are many small texts, which it hands out and takes back faster than the C library, above all than the one
/// that static programs carry.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    shipped::ship(|| casefile_catalogue::CATALOGUE);
    let cli = Cli::parse();
    let terminal = Terminal {
        colour: AutoStream::choice(&std::io::stdout()) != ColorChoice::Never,
        width: terminal_size::terminal_size_of(std::io::stdout())
            .map(|(width, _)| usize::from(width.0)),
        progress: std::io::stderr().is_terminal(),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut errors = std::io::stderr();
    let result = commands::run(cli, terminal, &mut out, &mut errors).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    let exit = match result {
        Ok(exit) => exit,
        // A reader that closed the pipe has what it wanted.
        Err(error) if is_broken_pipe(&error) => Exit::Done,
        Err(error) => {
            let _ = writeln!(errors, "error: {error}");
            for cause in error.chain().skip(1) {
                let _ = writeln!(errors, "  because: {cause}");
            }
            commands::exit_of(&error)
        }
    };
    ExitCode::from(exit as u8)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
