//! The closing words: where the bundle is, what was taken, what is missing and how to get it, and what to do next. Ten
//! lines at the most; the manifest has every note.

use std::collections::BTreeMap;
use std::io::{self, Write};

use casefile_bundle::{Outcome, SourceReport, VerifyReport, sources};

use crate::progress::human;
use crate::run::Report;

/// Lines at the most; a longer summary is not read.
const MAX_LINES: usize = 10;
/// Reasons for which a line is spent where there is room.
const MAX_REASONS: usize = 3;
/// Of a reason so much is shown.
const MAX_REASON: usize = 160;
/// Entries that are named.
const MAX_NAMED: usize = 3;

/// Prints the closing summary.
pub fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for (what, text) in lines(report) {
        writeln!(out, "{what:<9} {text}")?;
    }
    Ok(())
}

type Line = (&'static str, String);

fn lines(report: &Report) -> Vec<Line> {
    let finished = &report.finished;
    let mut lines = Vec::new();
    if let Some(why) = &report.interrupted {
        lines.push(("Cut short", why.clone()));
    }
    if finished.path != "-" {
        let size = human(finished.bytes);
        lines.push(("Bundle", format!("{} ({size})", finished.path)));
    }
    lines.push(("sha256", finished.sha256.clone()));
    lines.push(taken(report));
    let before = lines.len();
    lines.extend(leak_check(report));
    if let Some(map) = &finished.map {
        lines.push((
            "Map",
            format!("{map}: keep it, do not send it; it leads from pseudonyms back to names"),
        ));
    }
    lines.extend(next(report));
    // What is missing takes the room that the rest leaves: of it, two lines count what is not named.
    let room = MAX_LINES.saturating_sub(lines.len() + 2);
    let missing = missing(report, room.min(MAX_REASONS));
    lines.splice(before..before, missing);
    lines
}

/// What a source is called in a line.
fn name(source: &SourceReport) -> &str {
    sources::find(&source.id).map_or(source.title.as_str(), |about| about.name)
}

fn taken(report: &Report) -> Line {
    let whole: Vec<&str> = report
        .sources
        .iter()
        .filter(|source| source.outcome == Outcome::Collected)
        .map(name)
        .collect();
    let asked = report.sources.len() - report.unwanted.len();
    let count = whole.len();
    let names = if count == 0 {
        String::new()
    } else {
        format!(": {}", whole.join(", "))
    };
    ("Collected", format!("{count} of {asked} sources{names}"))
}

/// What is missing, one line a reason: the API server that nobody can log in to is missing once, not four times.
fn missing(report: &Report, most: usize) -> Vec<Line> {
    let mut reasons: BTreeMap<(u8, &str), Vec<&SourceReport>> = BTreeMap::new();
    let mut absent = Vec::new();
    for source in &report.sources {
        let why = source.why.as_deref().unwrap_or("no reason given");
        let rank = match source.outcome {
            Outcome::Collected => continue,
            _ if report.unwanted.contains(&source.id.as_str()) => continue,
            Outcome::Failed => 0,
            Outcome::Partial => 1,
            Outcome::Skipped if remedy(why).is_some() => 2,
            Outcome::Skipped => {
                absent.push(name(source));
                continue;
            }
        };
        reasons.entry((rank, why)).or_default().push(source);
    }
    let more = reasons.len().saturating_sub(most);
    let mut lines: Vec<Line> = reasons
        .iter()
        .take(most)
        .map(|((_, why), sources)| ("Missing", reason(why, sources)))
        .collect();
    if more > 0 {
        let sources: usize = reasons.values().skip(most).map(Vec::len).sum();
        let more = if most == 0 { "" } else { "more " };
        let parts = if sources == 1 {
            "source is"
        } else {
            "sources are"
        };
        lines.push((
            "Missing",
            format!("{sources} {more}{parts} incomplete; manifest.json in the bundle says why"),
        ));
    }
    if !absent.is_empty() {
        lines.push(("Not here", absent.join(", ")));
    }
    lines
}

fn reason(why: &str, sources: &[&SourceReport]) -> String {
    let names: Vec<&str> = sources.iter().map(|source| name(source)).collect();
    let why = why.lines().next().unwrap_or_default();
    // The notes are in the manifest, which is not at hand here.
    let why = why.replace(", see the notes)", ")");
    let mut short: String = why.chars().take(MAX_REASON).collect();
    if short.len() < why.len() {
        short.push('…');
    }
    let remedy = remedy(&why)
        .map(|remedy| format!(" -> {remedy}"))
        .unwrap_or_default();
    format!("{}: {short}{remedy}", names.join(", "))
}

/// How to get what is missing for this reason.
fn remedy(why: &str) -> Option<&'static str> {
    const REMEDIES: [(&str, &str); 13] = [
        ("no credentials for an API server", "--kubeconfig FILE"),
        ("--kubeconfig FILE names", "--kubeconfig FILE"),
        (
            "does not accept these credentials",
            "--kubeconfig FILE with valid credentials",
        ),
        ("run as root", "sudo"),
        ("more rights", "sudo"),
        ("ermission denied", "sudo"),
        ("peration not permitted", "sudo"),
        ("its time limit", "--source-timeout 5m --timeout 15m"),
        ("time limit reached", "--source-timeout 5m --timeout 15m"),
        ("time limit of the run", "--timeout 15m"),
        ("--max-size", "--max-size 2GiB"),
        ("byte limit", "--source-max-size 500MiB"),
        ("no room on the disk", "-o /another/disk/"),
    ];
    let fits = |(part, remedy): &(&str, &'static str)| why.contains(part).then_some(*remedy);
    REMEDIES.iter().find_map(fits)
}

/// What the leak check changed, and where.
fn leak_check(report: &Report) -> Option<Line> {
    let mended = &report.finished.mended;
    let named = |paths: Vec<&str>| {
        let more = paths.len().saturating_sub(MAX_NAMED);
        let named = paths[..paths.len().min(MAX_NAMED)].join(", ");
        match more {
            0 => named,
            _ => format!("{named} and {more} more"),
        }
    };
    let mut parts = Vec::new();
    let replaced: Vec<&str> = mended.replaced.keys().map(String::as_str).collect();
    if !replaced.is_empty() {
        let count: u64 = mended.replaced.values().sum();
        let values = if count == 1 { "value" } else { "values" };
        parts.push(format!(
            "{count} more secret {values} replaced in {}",
            named(replaced)
        ));
    }
    let withheld: Vec<&str> = mended.withheld.keys().map(String::as_str).collect();
    if !withheld.is_empty() {
        parts.push(format!("withheld because of secrets: {}", named(withheld)));
    }
    (!parts.is_empty()).then(|| ("Secrets", parts.join("; ")))
}

fn next(report: &Report) -> Vec<Line> {
    let mut lines = Vec::new();
    if report.without_root {
        lines.push((
            "Rights",
            "not root: run it with sudo for firewall, journal, kubelet and containerd files"
                .to_owned(),
        ));
    }
    if report.finished.path == "-" {
        return lines;
    }
    let path = &report.finished.path;
    let file = path.rsplit('/').next().unwrap_or(path);
    let key = if report.finished.encrypted {
        " --identity KEY"
    } else {
        ""
    };
    let read = format!("copy it away, then `casefile-analyzer diagnose{key} {file}`");
    lines.push((
        "Next",
        format!("{read}; `casefile-collector verify{key} {file}` checks the copy"),
    ));
    lines
}

/// Whether everything that was wanted is there.
pub fn complete(report: &Report) -> bool {
    let collected = report
        .sources
        .iter()
        .filter(|source| source.outcome == Outcome::Collected)
        .count();
    report.interrupted.is_none() && collected + report.unwanted.len() == report.sources.len()
}

/// Prints what `verify` found.
/// `signature` says in words how it is signed; none where its signature does not hold.
pub fn print_verify(
    name: &str,
    report: &VerifyReport,
    signature: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (what, paths) in [
        ("changed", &report.changed),
        ("missing", &report.missing),
        ("not in the manifest", &report.extra),
    ] {
        for path in paths {
            writeln!(out, "{what}: {path}")?;
        }
    }
    for problem in &report.summary.problems {
        writeln!(out, "{problem}")?;
    }
    if report.summary.manifest.is_none() {
        writeln!(out, "there is no manifest: the bundle was cut short")?;
    }
    let verdict = if report.is_clean() && signature.is_some() {
        "whole and unchanged"
    } else {
        "NOT whole"
    };
    writeln!(
        out,
        "{name}: {verdict}, {} entries as the manifest says, {}",
        report.intact,
        signature.unwrap_or("the signature does not hold")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Finished, Mended};

    fn source(at: usize, outcome: Outcome) -> SourceReport {
        SourceReport {
            id: format!("s{at}"),
            title: format!("source {at}, with more words"),
            outcome,
            why: Some(format!("reason {at}: Permission denied")),
            started: chrono::DateTime::UNIX_EPOCH,
            finished: chrono::DateTime::UNIX_EPOCH,
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_run_in_which_everything_goes_wrong_is_summed_up_in_ten_lines() {
        let outcomes = [Outcome::Failed, Outcome::Partial, Outcome::Skipped];
        let mut sources: Vec<SourceReport> = (0..12)
            .map(|at| source(at, outcomes[at % outcomes.len()]))
            .collect();
        let mut absent = source(12, Outcome::Skipped);
        absent.why = Some("there is no such thing here".to_owned());
        sources.push(absent);
        let mended = Mended {
            replaced: [("a.json".to_owned(), 2)].into(),
            withheld: [("b.json".to_owned(), "a secret")].into(),
        };
        let report = Report {
            finished: Finished {
                path: "/tmp/x.tar.gz".to_owned(),
                bytes: 7,
                sha256: "0".repeat(64),
                encrypted: false,
                mended,
                map: Some("/tmp/x.map.json".to_owned()),
            },
            sources,
            interrupted: Some("SIGINT".to_owned()),
            unwanted: Vec::new(),
            without_root: true,
        };
        let lines = lines(&report);
        assert!(lines.len() <= MAX_LINES, "{lines:?}");
        for word in ["Bundle", "Missing", "Secrets", "Map", "Rights", "Next"] {
            assert!(
                lines.iter().any(|(what, _)| *what == word),
                "no {word}: {lines:?}"
            );
        }
    }
    #[test]
    fn a_run_that_was_ended_early_is_not_complete_even_where_each_source_was() {
        let report = |interrupted: Option<&str>| Report {
            finished: Finished {
                path: "-".to_owned(),
                bytes: 7,
                sha256: String::new(),
                encrypted: false,
                mended: Mended::default(),
                map: None,
            },
            sources: vec![source(0, Outcome::Collected)],
            interrupted: interrupted.map(str::to_owned),
            unwanted: Vec::new(),
            without_root: false,
        };
        assert!(complete(&report(None)));
        assert!(!complete(&report(Some("interrupted (SIGINT)"))));
    }
}
