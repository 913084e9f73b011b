//! Communication: messages that are ready to paste, with the facts filled in and the human blanks marked.

use super::{Section, SectionCtx, coverage};
use crate::model::{Analysis, Incident, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::{first_screen, words};

pub(super) static SECTION: Section = Section {
    id: "communication",
    title: "Communication",
    build,
};

fn build(analysis: &Analysis, _: &SectionCtx) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(
        Rich::from("Ready to paste once the places marked ")
            .blank("what")
            .text(" are filled in."),
    )];
    blocks.extend(message(
        "initial-response",
        "Initial Response",
        initial(analysis),
    ));
    blocks.extend(message(
        "regular-updates",
        "Regular Updates",
        update(analysis),
    ));
    let mut later = message(
        "technical-summary",
        "Technical Summary",
        technical(analysis),
    );
    later.push(Block::paragraph(
        "Send the next two only after the checks under Verification have passed.",
    ));
    later.extend(message(
        "resolution-confirmation",
        "Resolution Confirmation",
        confirmation(analysis),
    ));
    later.extend(message(
        "follow-up",
        "Follow-up Communication",
        follow_up(analysis),
    ));
    blocks.extend(Block::folded(
        "Technical summary, resolution confirmation and follow-up",
        later,
    ));
    blocks
}

fn message(anchor: &str, title: &str, lines: Vec<Rich>) -> Vec<Block> {
    vec![
        Block::heading(3, anchor, title),
        Block::Message {
            title: title.to_owned(),
            lines,
        },
    ]
}

fn line(text: impl Into<Rich>) -> Rich {
    text.into()
}

/// What is wrong, as one line that does not claim more than is known.
fn issue(analysis: &Analysis) -> Rich {
    if analysis.incidents.is_empty() {
        return Rich::new().blank("what was reported");
    }
    Rich::from(words::clause(&words::title(analysis)).replace('`', ""))
}

fn scope(analysis: &Analysis) -> String {
    let mut parts = Vec::new();
    let workloads = first_screen::hit(analysis);
    if !workloads.is_empty() {
        let names: Vec<String> = workloads
            .iter()
            .take(3)
            .map(|workload| words::subject(&workload.subject))
            .collect();
        let failing = first_screen::failing(&workloads, analysis.reference_time);
        parts.push(format!("{failing}: {}", names.join(", ")));
    }
    parts.extend(first_screen::gpus(analysis));
    if parts.is_empty()
        && let Some(first) = analysis.incidents.first()
    {
        parts.extend(first.subjects.iter().take(3).map(|one| words::subject(one)));
    }
    if parts.is_empty() {
        "not known".to_owned()
    } else {
        parts.join("; ")
    }
}

fn known(analysis: &Analysis) -> String {
    match analysis.incidents.first() {
        None if coverage::is_whole(analysis) => {
            "no cause confirmed; every source was read".to_owned()
        }
        None => "no cause confirmed; what was collected is not complete".to_owned(),
        Some(first) if first.verdict == Verdict::Confirmed => {
            format!("root cause confirmed ({})", first.cause)
        }
        Some(first) => format!("{} cause: {}", first.verdict.word(), first.cause),
    }
}

fn initial(analysis: &Analysis) -> Vec<Rich> {
    let mut lines = vec![
        Rich::from("We are looking into: ").join(issue(analysis)),
        line(format!("Affected: {}", scope(analysis))),
    ];
    if let Some(since) = first_screen::began(analysis) {
        lines.push(line(format!("Since: {}", words::time(since))));
    }
    lines.push(line(format!("Known so far: {}", known(analysis))));
    lines.push(
        Rich::from("Ticket: ")
            .blank("ticket")
            .text(" · Channel: ")
            .blank("channel")
            .text(" · Lead: ")
            .blank("name"),
    );
    lines.push(Rich::from("Next update: ").blank("time"));
    lines
}

fn update(analysis: &Analysis) -> Vec<Rich> {
    let next = match analysis.incidents.first() {
        Some(first) if !first.remedy.title.trim().is_empty() => {
            words::clause(&first.remedy.title).replace('`', "")
        }
        _ if coverage::is_whole(analysis) => "compare with what was reported".to_owned(),
        _ => "collect what is missing and analyse again".to_owned(),
    };
    vec![
        Rich::from("UPDATE ").blank("time"),
        Rich::from("Status: ").blank("Investigating / Fixing / Testing / Resolved"),
        line(format!("Progress: {}", known(analysis))),
        line(format!("Next: {next}")),
        Rich::from("Expected fix: ").blank("time"),
    ]
}

fn confirmation(analysis: &Analysis) -> Vec<Rich> {
    resolved(
        Rich::new().blank("time"),
        issue(analysis),
        solution(analysis),
        Rich::new()
            .blank("name")
            .text(" with: ")
            .blank("checks that passed"),
    )
}

/// The message that an incident is over.
pub(crate) fn resolved(at: Rich, issue: Rich, solution: Rich, verified_by: Rich) -> Vec<Rich> {
    vec![
        Rich::from("RESOLVED ").join(at),
        Rich::from("Issue: ").join(issue),
        Rich::from("Solution: ").join(solution),
        Rich::from("Verified by: ").join(verified_by),
        Rich::from("Please retry what failed. Tell us in ")
            .blank("channel")
            .text(" if anything is still wrong."),
    ]
}

fn solution(analysis: &Analysis) -> Rich {
    let titles: Vec<String> = analysis
        .incidents
        .iter()
        .map(|incident| words::clause(&incident.remedy.title).replace('`', ""))
        .filter(|title| !title.is_empty())
        .collect();
    if titles.is_empty() {
        Rich::new().blank("what was done")
    } else {
        Rich::from(titles.join("; "))
    }
}

fn technical(analysis: &Analysis) -> Vec<Rich> {
    if analysis.incidents.is_empty() {
        return vec![
            line("Root cause: not confirmed."),
            line(format!(
                "Read: {} ({} entries)",
                analysis.input.name, analysis.input.entries
            )),
            Rich::from("Found since: ").blank("what was learned after this report"),
        ];
    }
    let mut lines = Vec::new();
    for (index, incident) in analysis.incidents.iter().enumerate() {
        if index > 0 {
            lines.push(Rich::new());
        }
        lines.extend(technical_of(incident));
    }
    lines
}

fn technical_of(incident: &Incident) -> Vec<Rich> {
    let mut lines = vec![
        line(format!(
            "Root cause ({}): {}",
            incident.verdict.word(),
            incident.cause
        )),
        line(words::sentences(&words::summary(incident), 300).replace('`', "")),
        line("Evidence:"),
    ];
    for evidence in incident
        .evidence
        .iter()
        .filter(|line| line.role == crate::model::Role::For)
        .take(3)
    {
        let says = words::first_clause(&words::clause(&evidence.says), 150);
        lines.push(line(format!(
            "- {} ({})",
            says.replace('`', ""),
            evidence.place
        )));
    }
    if !incident.remedy.title.trim().is_empty() {
        lines.push(line(format!(
            "Fix: {}",
            words::clause(&incident.remedy.title).replace('`', "")
        )));
    }
    for step in incident.remedy.verify.iter().take(2) {
        lines.push(line(format!(
            "Verify: {}",
            words::clause(&step.text).replace('`', "")
        )));
    }
    lines
}

fn follow_up(analysis: &Analysis) -> Vec<Rich> {
    let mut lines = vec![
        Rich::from("Subject: RESOLVED: ").join(issue(analysis)),
        Rich::new(),
        Rich::from("Hi ").blank("team").text(","),
        Rich::new(),
    ];
    match analysis.incidents.first() {
        None => lines.push(Rich::from("What it was: ").blank("cause, once found")),
        Some(_) => {
            for incident in &analysis.incidents {
                let sure = match incident.verdict {
                    Verdict::Confirmed => String::new(),
                    verdict => format!(" ({}, not confirmed)", verdict.word()),
                };
                let text = words::clause(&incident.title).replace('`', "");
                lines.push(line(format!("What it was: {text}{sure}.")));
            }
        }
    }
    lines.push(Rich::from("What was done: ").join(solution(analysis)));
    lines.push(line(format!("What was affected: {}", scope(analysis))));
    let prevent = analysis
        .incidents
        .iter()
        .flat_map(|incident| &incident.remedy.prevent)
        .next();
    match prevent {
        Some(text) => lines.push(
            Rich::from(format!(
                "So that it does not come back: {}. Agreed: ",
                words::clause(text).replace('`', "")
            ))
            .blank("yes / no, by whom"),
        ),
        None => lines.push(Rich::from("So that it does not come back: ").blank("what was agreed")),
    }
    lines.push(Rich::from("What you need to do: ").blank("nothing / retry failed jobs"));
    lines.push(Rich::new());
    lines.push(Rich::new().blank("name, team"));
    lines
}
