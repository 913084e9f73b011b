//! Real kubectl against a server over the recorded objects, beside what it printed against the real one.
//!
//! Left aside: ages (kubectl tells them by its own clock), and commands whose answer is another by design: a recording
//! knows no schemas of Kubernetes' own kinds, nobody else's rights, and runs nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use casefile_serve::{Server, kubeconfig};
use serde::Deserialize;

use crate::common::folder;

/// Commands that a recording answers otherwise, and why.
const BY_DESIGN: &[(&str, &str)] = &[
    (
        "explain-",
        "schemas of Kubernetes' own kinds are in no bundle; those of the recording's definitions are tested apart",
    ),
    ("auth-", "the rights are those of a reader of the recording"),
    (
        "api-resources",
        "a recording has only kinds that can be read, and only reading verbs",
    ),
    (
        "api-versions",
        "groups that hold nothing but reviews of other users are left out",
    ),
    (
        "version",
        "the recording's own version is given, without the server's build settings",
    ),
    ("cluster-info", "the address is the recording's"),
    ("delete-dry", "a recording refuses writes"),
    ("drain-dry", "the pods that kubectl names come in no order"),
    ("exec", "nothing runs in a recording"),
    ("logs", "the real server reached no kubelet"),
    (
        "get-as-forbidden",
        "nobody's rights but the reader's are known",
    ),
    (
        "get-one-forbidden",
        "nobody's rights but the reader's are known",
    ),
    ("get-raw", "names of the server's own checks"),
    ("get-cs", "components come in another order each time"),
    (
        "componentstatuses",
        "components come in another order each time",
    ),
];

#[derive(Deserialize)]
struct Meta {
    commands: BTreeMap<String, Ran>,
}

#[derive(Deserialize)]
struct Ran {
    command: String,
    exit: i32,
}

/// kubectl of a release, if this machine has it.
fn kubectl(release: &str) -> Option<PathBuf> {
    let mut found = vec![PathBuf::from(format!(
        "/usr/lib/google-cloud-sdk/bin/kubectl.{release}"
    ))];
    let path = std::env::var_os("PATH").unwrap_or_default();
    found.extend(
        std::env::split_paths(&path)
            .flat_map(|dir| [dir.join(format!("kubectl.{release}")), dir.join("kubectl")]),
    );
    found.into_iter().find(|program| {
        let asked = Command::new(program)
            .args(["version", "--client", "-o", "json"])
            .output();
        let minor = format!("\"minor\": \"{}", release.trim_start_matches("1."));
        asked.is_ok_and(|answer| String::from_utf8_lossy(&answer.stdout).contains(&minor))
    })
}

fn run(program: &Path, home: &Path, command: &str) -> (i32, String, String) {
    let rest = command.strip_prefix("kubectl").unwrap();
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("exec '{}' {rest}", program.display()))
        .env_clear()
        .env("HOME", home)
        .env("TZ", "UTC")
        .env("PATH", "/usr/bin:/bin")
        .env("KUBECONFIG", home.join("config"))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Whether a word is an age: `5d`, `3h12m`, `<invalid>`.
fn is_age(word: &str) -> bool {
    let word = word.trim_matches(|c: char| matches!(c, '(' | ')' | ',' | ';'));
    let mut digits = 0;
    for c in word.chars() {
        match c {
            '0'..='9' => digits += 1,
            'y' | 'd' | 'h' | 'm' | 's' if digits > 0 => digits = 0,
            _ => return matches!(word, "<invalid>" | "<unknown>"),
        }
    }
    !word.is_empty() && digits == 0
}

/// kubectl describes data of these in the order of a Go map, which is another at each run.
const UNORDERED: [&str; 3] = [
    "configmaps.describe",
    "limitranges.describe",
    "secrets.describe",
];

fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn same(ours: &str, theirs: &str) -> Result<(), String> {
    let (mut left, mut right) = (ours.lines(), theirs.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ok(()),
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => {
                let words = |line: &str| {
                    line.split_whitespace()
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                };
                let (a_words, b_words) = (words(a), words(b));
                let equal = a_words.len() == b_words.len()
                    && a_words
                        .iter()
                        .zip(&b_words)
                        .all(|(a, b)| a == b || is_age(a) && is_age(b));
                if !equal {
                    return Err(format!("   ours   {a}\n   theirs {b}"));
                }
            }
            (a, b) => return Err(format!("   ours   {a:?}\n   theirs {b:?}")),
        }
    }
}

fn is_seen(name: &str) -> bool {
    let kind = name.rsplit_once('.').map_or(name, |(kind, _)| kind);
    kind.bytes().fold(7_u32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u32::from(byte))
    }) % 2
        == 0
}

/// Runs the recorded commands of a release with a kubectl; says which answers differ.
fn compare(
    program: &Path,
    recorded: &Path,
    wanted: impl Fn(&str) -> bool,
) -> (usize, usize, Vec<String>, usize) {
    let tables = recorded.parent().unwrap();
    let store = crate::common::store(tables, "2026-11-22T17:29:00Z".parse().unwrap());
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let config = kubeconfig(server.credentials(), &["recorded".to_owned()]);
    std::fs::write(home.path().join("config"), config).unwrap();
    let _running = server.start(vec![("recorded".to_owned(), store)]).unwrap();
    let meta: Meta =
        serde_json::from_str(&std::fs::read_to_string(recorded.join("meta.json")).unwrap())
            .unwrap();
    let skipped = |name: &str| BY_DESIGN.iter().any(|(start, _)| name.starts_with(start));
    let todo: Vec<(&String, &Ran)> = meta
        .commands
        .iter()
        .filter(|(name, _)| !skipped(name) && wanted(name))
        .collect();
    let next = Mutex::new(todo.iter());
    let results = Mutex::new((0, 0, Vec::new(), 0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let Some((name, ran)) = next.lock().unwrap().next() else {
                        return;
                    };
                    let theirs = std::fs::read_to_string(recorded.join(format!("{name}.txt")))
                        .unwrap_or_default();
                    let (code, ours, errors) = run(program, home.path(), &ran.command);
                    let compared = match UNORDERED.contains(&name.as_str()) {
                        true => same(&sorted(&ours), &sorted(&theirs)),
                        false => same(&ours, &theirs),
                    };
                    let outcome = compared.and_then(|()| match code == ran.exit {
                        true => Ok(()),
                        false => Err(format!("   ended with {code}, not {}: {errors}", ran.exit)),
                    });
                    let mut results = results.lock().unwrap();
                    match outcome {
                        Ok(()) => results.0 += 1,
                        Err(why)
                            if is_seen(name)
                                || std::env::var_os("CASEFILE_SHOW_UNSEEN").is_some() =>
                        {
                            results.1 += 1;
                            results
                                .2
                                .push(format!("{name}: {}\n{why}\n   {errors}", ran.command));
                        }
                        Err(_) => results.3 += 1,
                    }
                }
            });
        }
    });
    results.into_inner().unwrap()
}

fn check(release: &str, folder_name: &str, wanted: impl Fn(&str) -> bool) {
    let Some(tables) = folder() else {
        return;
    };
    let Some(program) = kubectl(release) else {
        crate::common::skip(&format!("no kubectl {release} on this machine"));
        return;
    };
    let (same, differ, texts, unseen) = compare(&program, &tables.join(folder_name), wanted);
    println!(
        "kubectl {release}: {same} commands print the same, {differ} of the seen half and {unseen} of the other do not"
    );
    for text in &texts {
        println!(" {text}");
    }
    assert_eq!(differ, 0);
}

/// What servers print, not kubectl: the same with each release.
fn by_server(name: &str) -> bool {
    name.ends_with(".get") || name.ends_with(".get-wide")
}

#[test]
fn kubectl_1_32_prints_what_it_printed_against_the_real_server() {
    check("1.32", "kubectl-1.32", |_| true);
}

#[test]
fn kubectl_1_33_prints_what_it_printed_against_the_real_server() {
    check("1.33", "kubectl-1.33", |_| true);
}

#[test]
fn the_oldest_kubectl_gets_the_same_tables() {
    check("1.27", "kubectl-1.32", by_server);
}
