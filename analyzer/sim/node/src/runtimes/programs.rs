//! Whether a program that a handler names can be started on the host: there, executable, its interpreter there, and
//! its glibc no newer than the host's.

use std::cmp::Ordering;

use crate::containerd::Answer;

/// What is known about a program of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Path on the host; a bare name where it was in no folder of the path.
    pub path: String,
    /// Whether it is there.
    pub exists: bool,
    /// Whether anyone may execute it.
    pub executable: Option<bool>,
    /// The loader or interpreter it names.
    pub interpreter: Option<String>,
    /// Whether that is there.
    pub interpreter_exists: Option<bool>,
    /// The newest glibc version among the symbols it needs.
    pub needs_glibc: Option<String>,
}

/// What became of asking whether a program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Startable {
    /// Whether it does, as far as its file decides.
    pub starts: Answer,
    /// `absent`, `not-executable`, `interpreter-missing`, `glibc-too-old`; empty where nothing is wrong.
    pub fault: &'static str,
    /// Why, as a sentence.
    pub because: String,
}

/// Compares versions such as `2.34` by their numbers; `None` where one is none.
#[must_use]
pub fn compare(left: &str, right: &str) -> Option<Ordering> {
    let numbers = |text: &str| -> Option<Vec<u32>> {
        text.split('.').map(|part| part.parse().ok()).collect()
    };
    Some(numbers(left)?.cmp(&numbers(right)?))
}

/// Whether a program starts on a host with this glibc.
#[must_use]
pub fn check(program: &Program, glibc: Option<&str>) -> Startable {
    let no = |fault, because| Startable {
        starts: Answer::No,
        fault,
        because,
    };
    let path = &program.path;
    if !program.exists {
        return no("absent", format!("{path} does not exist on the node"));
    }
    if program.executable == Some(false) {
        return no("not-executable", format!("{path} is not executable"));
    }
    if program.interpreter_exists == Some(false) {
        let interpreter = program.interpreter.as_deref().unwrap_or_default();
        let because = format!("{path} needs {interpreter}, which does not exist on the node");
        return no("interpreter-missing", because);
    }
    let Some(needs) = &program.needs_glibc else {
        return Startable {
            starts: program.executable.map_or(Answer::Unknown, |_| Answer::Yes),
            fault: "",
            because: format!("{path} is there and executable"),
        };
    };
    match glibc.and_then(|has| Some((compare(needs, has)?, has))) {
        Some((Ordering::Greater, has)) => no(
            "glibc-too-old",
            format!("{path} needs glibc {needs}, the node has {has}"),
        ),
        Some((_, has)) => Startable {
            starts: Answer::Yes,
            fault: "",
            because: format!("{path} needs glibc {needs}, the node has {has}"),
        },
        None => Startable {
            starts: Answer::Unknown,
            fault: "",
            because: format!("{path} needs glibc {needs}; the node's was not captured"),
        },
    }
}

/// Whether two spellings name one program: the same path, or a bare name that is the path's last part.
#[must_use]
pub fn is_named(path: &str, asked: &str) -> bool {
    path == asked || (!asked.contains('/') && path.rsplit('/').next() == Some(asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_judged_by_what_would_fail_first() {
        let good = Program {
            path: "/usr/local/nvidia/toolkit/nvidia-container-cli.real".to_owned(),
            exists: true,
            executable: Some(true),
            interpreter: Some("/lib64/ld-linux-x86-64.so.2".to_owned()),
            interpreter_exists: Some(true),
            needs_glibc: Some("2.34".to_owned()),
        };
        let fault = |change: &dyn Fn(&mut Program), glibc| {
            let mut program = good.clone();
            change(&mut program);
            let found = check(&program, glibc);
            (found.starts, found.fault)
        };
        let old = Some("2.26");
        assert_eq!(fault(&|p| p.exists = false, old), (Answer::No, "absent"));
        assert_eq!(
            fault(&|p| p.executable = Some(false), old),
            (Answer::No, "not-executable")
        );
        assert_eq!(
            fault(&|p| p.interpreter_exists = Some(false), old),
            (Answer::No, "interpreter-missing")
        );
        assert_eq!(fault(&|_| {}, old), (Answer::No, "glibc-too-old"));
        assert_eq!(fault(&|_| {}, Some("2.34")), (Answer::Yes, ""));
        assert_eq!(
            fault(&|_| {}, Some("2.39")),
            (Answer::Yes, ""),
            "2.39 is newer than 2.34"
        );
        assert_eq!(
            fault(&|_| {}, None),
            (Answer::Unknown, ""),
            "not captured is not fine"
        );
        assert_eq!(
            compare("2.9", "2.34"),
            Some(Ordering::Less),
            "by number, not by letter"
        );
    }

    #[test]
    fn a_bare_name_is_found_by_its_last_part_only() {
        assert!(is_named("/usr/bin/runc", "runc"));
        assert!(!is_named("/usr/bin/crun", "runc"));
        assert!(!is_named("/opt/runc", "/usr/bin/runc"));
    }
}
