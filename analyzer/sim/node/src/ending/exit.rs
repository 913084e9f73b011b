//! What an exit code means.

/// An exit code in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The signal's number, where the code is one.
    pub signal: Option<i64>,
    /// In words.
    pub words: String,
}

/// Signals by number on Linux, and what usually sends them.
const SIGNALS: [(i64, &str, &str); 14] = [
    (1, "SIGHUP", "hang-up"),
    (2, "SIGINT", "interrupt"),
    (3, "SIGQUIT", "quit"),
    (4, "SIGILL", "illegal instruction"),
    (5, "SIGTRAP", "trap"),
    (6, "SIGABRT", "the program aborted itself"),
    (
        7,
        "SIGBUS",
        "bus error: memory that is mapped and not there",
    ),
    (8, "SIGFPE", "arithmetic error"),
    (9, "SIGKILL", "killed without being asked"),
    (11, "SIGSEGV", "invalid memory access"),
    (13, "SIGPIPE", "write to a closed pipe"),
    (15, "SIGTERM", "asked to end"),
    (25, "SIGXFSZ", "file size limit"),
    (31, "SIGSYS", "forbidden system call"),
];

/// Signals that the kernel sends a program for what it did itself.
#[must_use]
pub fn is_fault(signal: i64) -> bool {
    matches!(signal, 3..=8 | 11 | 25 | 31)
}

/// Tells a code's meaning; codes above 128 are signals by the shells' convention, which runtimes follow.
#[must_use]
pub fn meaning(code: i64) -> Meaning {
    let plain = |words: &str| Meaning {
        signal: None,
        words: words.to_owned(),
    };
    match code {
        0 => plain("ended without an error"),
        1..=125 => plain("it ended with an error"),
        126 => plain("the command was found and could not be executed"),
        127 => plain("the command was not found"),
        128 => plain("could not be started"),
        255 => plain("ended with -1, or its runtime lost it"),
        129..=192 => signal(code - 128),
        _ => plain("it ended with an error"),
    }
}

fn signal(number: i64) -> Meaning {
    let known = SIGNALS.iter().find(|(known, _, _)| *known == number);
    let words = known.map_or_else(
        || format!("ended by signal {number}"),
        |(_, name, what)| format!("ended by {name} ({what})"),
    );
    Meaning {
        signal: Some(number),
        words,
    }
}
