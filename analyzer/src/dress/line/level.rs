//! How loudly a line says what it says, and whether it is a mere note.

use crate::form::Form;

/// How loudly a line says what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For who looks for a fault in the program.
    Debug,
    /// What goes its way.
    Info,
    /// What somebody should look at.
    Warning,
    /// What did not work.
    Error,
}

/// The level that a word or a letter names.
pub(super) fn level(word: &str) -> Option<Level> {
    let word = word.trim_end_matches(" |").to_ascii_lowercase();
    Some(match word.as_str() {
        "d" | "debug" | "trace" => Level::Debug,
        "i" | "n" | "info" | "notice" => Level::Info,
        "w" | "warn" | "warning" => Level::Warning,
        "e" | "c" | "f" | "alert" | "err" | "error" | "fatal" | "critical" | "crit" | "panic"
        | "emerg" | "severe" | "dpanic" => Level::Error,
        _ => return None,
    })
}

/// What a program writes of itself when it starts: its flags, its arguments, the commands that it runs.
static START_UP: Form = Form::new(
    r#"\bFLAG: --|_runner\.go:\d+\] (?:Run|Completed|Args|Start): |"msg":"(?:Running: ?|starting an etcd server|server starting)"|level=info msg="?Start(?:ing|ed)? cri plugin with config"#,
);
/// Words by which a note tells of a fault all the same: the kubelet calls a failed probe information.
static TROUBLE: Form = Form::new(
    r"(?i-u)\b(?:fail(?:s|ed|ing|ure)?|errors?|err=|unhealthy|refused|denied|forbidden|cannot|can't|could not|unable|timed? ?out|not (?:found|ready|fit|match|enough|supported|available|exist)|no such|insufficient|exceed\w*|kill(?:ed|ing)|evict\w*|back-?off|invalid|panic|oom\w*|warning|mismatch|lost|corrupt\w*|degraded|retrying|skip\w*|dropped|died|crash\w*|missing)\b",
);

/// Whether a line is a mere note: its speaker calls it information, and no word of it speaks of trouble, or it is
/// what a program writes of itself when it starts.
pub fn is_note(message: &str, level: Option<Level>) -> bool {
    let has = |form: &Form| form.is_match(message);
    has(&START_UP) || (level.is_some_and(|level| level <= Level::Info) && !has(&TROUBLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_tells_of_trouble_is_more_than_a_note() {
        let info = Some(Level::Info);
        assert!(is_note(
            "I0512 1 flags.go:64] FLAG: --fail-swap-on=\"true\"",
            info
        ));
        assert!(is_note("lock is held and has not yet expired", info));
        assert!(!is_note("I0512 1 prober.go:107] \"Probe failed\"", info));
        assert!(!is_note("lock is held and has not yet expired", None));
    }
}
