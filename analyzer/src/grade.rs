//! How grave a line of a log is, told by how programs mark such lines and never by what went wrong.

use std::borrow::Cow;
use std::sync::LazyLock;

use casefile_shapes::index::Index;

use crate::form::Form;

/// How grave a line is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Nothing marks it.
    #[default]
    Plain,
    /// It uses a word of failure.
    Hint,
    /// Its writer marked it as an error.
    Error,
    /// A program's end: fatal level, panic, uncaught exception, a shell's or the runtime's refusal.
    Fatal,
}

/// Colours and other terminal codes, and pictures.
static CODES: Form =
    Form::new(r"\x1b\[[0-9;]*[A-Za-z]|[\x{2600}-\x{27bf}\x{1f300}-\x{1faff}]\x{fe0f}?");
/// The head that syslog writes: `May 12 05:19:09 host program[123]: `.
static SYSLOG: Form =
    Form::new(r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \S+ ([^\s:\[]+)(?:\[\d+\])?: ");
/// The time stamp that a container runtime or a logger writes first.
static STAMP: Form = Form::new(
    r"^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\s*(?:UTC\s*)?(?:\[\d+\]\s*)?(?:(?:stdout|stderr) [FP] )?",
);
const FATAL_LEVEL: &str = concat!(
    r"^F\d{4} \d\d:|\blevel=(?:fatal|panic|dpanic|critical|crit|emerg|alert)\b",
    r#"|"(?:level|severity|lvl|levelname|log\.level)"\s*:\s*"(?i:fatal|panic|dpanic|critical|crit|emergency|alert)"|"level"\s*:\s*60\b"#,
    r"|^.{0,100}\b(?:FATAL|CRITICAL|PANIC|EMERG|EMERGENCY)\b",
    r"|^(?:panic|fatal|fatal error|critical(?:/\w+)?:|\[?emerg\]?)(?:: | )|\[emerg\]|^thread '.*' .{0,20}panicked at",
);
/// How programs of Kubernetes, and minikube, say that they end.
const EXITING: &str = r#"\b[Ee]xit(?:ing|ed)? with (?:an? )?error\b|\brun\.go:\d+\] "command failed" err=|\bExiting due to [A-Z][A-Z0-9_]+: "#;
/// An uncaught exception, as interpreters print its last line.
const UNCAUGHT: &str = concat!(
    r"^(?:Error|Caused by|Uncaught|Unhandled|UnhandledPromiseRejection\S*|Fatal|PHP Fatal error|Exception in thread [^:]*)(?::| )\s?\S",
    r"|^(?:\[?[a-z_][\w.]*[.:])?(?:[A-Z]\w*)?(?:Error|Exception|Failure|Fault|Exit)(?:: .+|\s\[\w+\]: .+)$",
);
/// A shell, a loader or a container runtime that cannot run what it was given.
const REFUSED: &str = concat!(
    r"^\S{1,80}: (?:line )?\d+: .+$|^exec\b.{0,200}: [a-z][\w ]+$|^standard_init_linux\.go|error while loading shared libraries",
    r"|(?i-u:segmentation fault|core dumped)|OCI runtime \w+ failed|executable file not found",
);
const ERROR_LEVEL: &str = concat!(
    r"^E\d{4} \d\d:|\blevel=(?:error|err)\b",
    r#"|"(?:level|severity|lvl|levelname|log\.level)"\s*:\s*"(?i:error|err|severe)"|"level"\s*:\s*50\b"#,
    r"|^.{0,100}\b(?:ERROR|ERR|SEVERE)\b|^.{0,60}\[(?:error|crit|alert)\]|^(?i:error)\b",
);
const HINT: &str = r"(?i-u)\b(?:error|failed|failure|cannot|can't|could not|couldn't|unable to|refused|denied|invalid|missing|not found|no such|timed out|timeout|expired|exiting|aborted|terminated)\b";

/// What only the end of a program says.
const FATAL: [&str; 4] = [FATAL_LEVEL, UNCAUGHT, REFUSED, EXITING];

static ENDS: Form = Form::new(EXITING);
/// Marks from the gravest down.
static MARKS: [(Grade, Form); 3] = [
    (Grade::Fatal, Form::made(|| any(&FATAL))),
    (Grade::Error, Form::new(ERROR_LEVEL)),
    (Grade::Hint, Form::new(HINT)),
];
/// All of them at once, wherever in a line they stand: most lines of most logs have none. An automaton that counts how far from
/// the beginning it is takes twice the time.
static MARKED: Form = Form::made(|| {
    let all = any(&[&FATAL[..], &[ERROR_LEVEL, HINT]].concat());
    let bounds = ["{0,20}", "{0,60}", "{0,100}", "{0,200}"];
    let all = bounds
        .iter()
        .fold(all, |all, bound| all.replace(bound, "*"));
    all.replace("{1,80}", "+")
});

/// Texts of which each marked message holds one, whatever their case, unless [`may_be_marked`] looks for it itself.
const TEXTS: [&str; 36] = [
    "fatal",
    "panic",
    "crit",
    "emerg",
    "alert",
    "err",
    "severe",
    "\"level\"",
    "caused by",
    "uncaught",
    "unhandled",
    "exception",
    "fail",
    "fault",
    "exit",
    "exec",
    "standard_init_linux",
    "shared libraries",
    "core dumped",
    "oci runtime",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable to",
    "refused",
    "denied",
    "invalid",
    "missing",
    "not found",
    "no such",
    "timed out",
    "timeout",
    "expired",
    "aborted",
    "terminated",
];

static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(TEXTS.iter().map(|text| (*text, 0))));

/// Whether a raw line may hold a marked message, which most do not: that is told without finding the message in it.
pub fn may_be_marked(raw: &[u8]) -> bool {
    // A record of JSON is written with escapes, and codes and pictures may stand within a word.
    if raw.first() == Some(&b'{') || !raw.is_ascii() || memchr::memchr(b'\x1b', raw).is_some() {
        return true;
    }
    let mut holds = false;
    INDEX.search(raw, &mut |_| holds = true);
    let is_digit = |at: usize| raw.get(at).is_some_and(u8::is_ascii_digit);
    // `E1120`, and what a shell says: `run.sh: line 7: ...`.
    holds
        || memchr::memchr2_iter(b'E', b'F', raw).any(|at| is_digit(at + 1))
        || memchr::memmem::find_iter(raw, b": ")
            .any(|at| is_digit(at + 2) || raw[at + 2..].starts_with(b"line "))
}

fn any(sources: &[&str]) -> String {
    format!("(?:{})", sources.join(")|(?:"))
}

/// A line without terminal codes.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains('\x1b') {
        return Cow::Borrowed(text);
    }
    match CODES.on(text) {
        Some(codes) => codes.replace_all(text, ""),
        None => Cow::Borrowed(text),
    }
}

/// What a line says without the heads of syslog and loggers, and the program that syslog names.
pub fn message(text: &str) -> (&str, &str) {
    let begins = |is_first: fn(&u8) -> bool| text.as_bytes().first().is_some_and(is_first);
    let head = begins(u8::is_ascii_uppercase).then(|| SYSLOG.captures(text));
    let head = head.flatten();
    if let Some(head) = head {
        let end = head.get(0).map_or(0, |whole| whole.end());
        return (head.get(1).map_or("", |name| name.as_str()), &text[end..]);
    }
    let stamp = begins(|byte| byte.is_ascii_digit() || *byte == b'[' || !byte.is_ascii())
        .then(|| STAMP.find(text));
    let stamp = stamp.flatten();
    ("", stamp.map_or(text, |stamp| &text[stamp.end()..]))
}

/// Whether a line says that its program ends with it.
pub fn is_end(text: &str) -> bool {
    ENDS.is_match(text)
}

/// How grave a line is.
pub fn grade(text: &str) -> Grade {
    above(text, Grade::Plain).unwrap_or_default()
}

/// How grave a line is that is graver than that.
pub fn above(text: &str, known: Grade) -> Option<Grade> {
    /// What a message starts with decides; the rest of a very long line is data.
    const READ: usize = 600;
    let clean = plain(text);
    let (_, message) = message(&clean);
    let mut end = message.len().min(READ);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let message = &message[..end];
    // Frames of a stack and continued lines belong to the line above them.
    if message.starts_with([' ', '\t']) || message.trim().is_empty() {
        return None;
    }
    if known == Grade::Plain && !MARKED.is_match(message) {
        return None;
    }
    let mut graver = MARKS.iter().take_while(|(grade, _)| *grade > known);
    let found = graver.find(|(_, mark)| mark.is_match(message));
    found.map(|(grade, _)| *grade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_program_is_fatal_in_the_way_of_each_language() {
        for line in [
            "panic: runtime error: invalid memory address or nil pointer dereference",
            "F1120 10:00:00.000000       1 main.go:42] no kubeconfig",
            r#"{"level":"fatal","ts":"2026-11-20T10:00:00Z","msg":"no license"}"#,
            "2026-11-20T10:00:00Z KeyError: 'DATABASE_URL'",
            "psycopg2.OperationalError: connection to server failed",
            "Error: error returned from database: violates foreign key",
            "TypeError [ERR_INVALID_ARG_TYPE]: The path argument must be of type string",
            "Caused by: java.net.ConnectException: Connection refused",
            "/entrypoint.sh: line 12: gunicorn: command not found",
            "exec /app/server: exec format error",
            "nginx: [emerg] host not found in upstream \"api\"",
            "May 12 05:19:09 host-1 cluster-bootstrap[4418]: Error: timed out waiting for the condition",
            "\x1b[31mFATAL\x1b[0m shutting down",
            "thread 'main' panicked at src/main.rs:4:5:",
            "Jan 03 01:49:48 host-1 kubelet[30]: kubelet: Exit with error: failed to run Kubelet",
            "W0430 21:48:52.463943    3976 out.go:270] X Exiting due to GUEST_STATUS: state: unknown",
            r#"E1120 10:00:00.000000       9 run.go:74] "command failed" err="failed to load config""#,
        ] {
            assert_eq!(grade(line), Grade::Fatal, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_line_with_a_mark_is_marked(
            line in "(F1120 10:|E1120 10:|\\[2026\\] |[a-z ]{0,90}|exec |thread 'a' )(level=fatal|FATAL|ERR |\\[error\\]|panicked at|failed|\"level\": ?60|: no such|Error: x|run\\.go:1\\] |[a-z]{1,9}: 12: x)?[a-z: ]{0,9}",
        ) {
            let is_marked = MARKS.iter().any(|(_, mark)| mark.is_match(&line));
            proptest::prop_assert!(!is_marked || MARKED.is_match(&line), "{}", line);
        }

        #[test]
        fn a_raw_line_that_is_not_marked_holds_no_mark(
            head in "(2026-11-20T10:00:00Z |\\[2026-11-20 10:00:00,123\\] |Jan 03 01:49:48 host kubelet\\[30\\]: |  |<3>)?",
            line in "(F1120 10:|E1120 10:|exec |thread 'a' |x: 7: |run.sh: line 7: |PHP |[a-z ]{0,20}|\\{)?(level=(fatal|alert|crit|err|dpanic)|[\\[\"](FATAL|EMERG|ERR|SEVERE|error|crit|alert|emerg)[\\]\" ]|panicked at|\"level\": ?(60|50)|\"severity\":\"(fatal|emergency|severe)\"|(cannot|can't|could not|couldn't|unable to|refused|denied|invalid|missing|not found|no such|timed out|timeout|expired|exiting|aborted|terminated|failure) |Caused by: x|Uncaught x|UnhandledPromiseRejectionX: x|Fatal error: x|a\\.(Os)?(Error|Exception|Fault|Exit): x|[Ee]xited with an error|segmentation fault|core dumped|OCI runtime a failed|standard_init_linux.go|error while loading shared libraries)?[a-z: ]{0,9}",
        ) {
            let raw = format!("{head}{line}");
            let origin = crate::lines::Origin::of("nodes/n/x.log", crate::lines::Channel::Text);
            let text = origin.decode(raw.as_bytes(), 0).text.into_owned();
            let is_marked = [&raw, &line, &text].into_iter().any(|text| grade(text) > Grade::Plain);
            proptest::prop_assert!(!is_marked || may_be_marked(raw.as_bytes()), "{}", raw);
        }
    }

    #[test]
    fn what_a_healthy_program_writes_is_not_an_end() {
        for line in [
            "    at Object.<anonymous> (/app/index.js:3:7)",
            "I1120 10:00:00.000000       1 controller.go:1] error budget 100%",
            "Listening on :8080",
            "goroutine 1 [running]:",
            "time=\"2026-11-20T10:00:00Z\" level=error msg=\"retrying\"",
            "2026-11-20 13:22:14.987 UTC [10804] ERROR:  duplicate key",
        ] {
            assert!(grade(line) < Grade::Fatal, "{line}");
        }
    }
}
