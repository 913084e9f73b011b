//! Everything about every cause, for `diagnose --full`.

use super::{Room, quoted};
use crate::model::{Analysis, Incident, Role, Verdict};
use crate::report::columns::Columns;
use crate::report::sections::coverage;
use crate::report::{first_screen, plan, words};

/// Quoted lines under one heading.
const LINES: Room = Room {
    proofs: 12,
    quotes: true,
    next: usize::MAX,
    unexplained: usize::MAX,
};

pub(super) fn render(analysis: &Analysis, width: usize) -> String {
    let mut out = Columns::new(width);
    out.plain(&words::title(analysis));
    if let Some(now) = analysis.reference_time {
        out.plain(&format!(
            "{}, as of {}",
            analysis.input.name,
            words::time(now)
        ));
    }
    if let Some(asked) = &analysis.about {
        out.blank();
        super::about(analysis, asked, &mut out);
    }
    if analysis.incidents.is_empty() {
        out.blank();
        let text = first_screen::nothing_confirmed(analysis).plain();
        out.row("Cause", &text);
    }
    for (number, found) in (1..).zip(&analysis.incidents) {
        out.blank();
        incident(number, found, analysis, &mut out);
    }
    out.blank();
    super::unexplained(analysis, LINES, &mut out);
    considered(analysis, &mut out);
    let unseen = coverage::unseen(analysis).plain();
    if !unseen.is_empty() {
        out.row("Not seen", &unseen);
    }
    super::harmless(analysis, &mut out);
    out.finish()
}

fn incident(number: usize, incident: &Incident, analysis: &Analysis, out: &mut Columns) {
    out.plain(&format!("{number}. {}", incident.title));
    out.row(
        "Cause",
        &format!(
            "[{}] {}, severity {}. {}",
            incident.cause,
            incident.verdict.word(),
            incident.severity.word(),
            words::summary(incident)
        ),
    );
    if incident.verdict != Verdict::Confirmed {
        out.row("Doubt", &first_screen::doubt(incident, analysis));
    }
    if let Some(since) = incident.since {
        out.row("Since", &words::time(since));
    }
    for (role, label) in [(Role::For, "Proof"), (Role::Against, "Against")] {
        let lines = incident.evidence.iter().filter(|line| line.role == role);
        for (nth, line) in lines.enumerate().take(LINES.proofs) {
            quoted(if nth == 0 { label } else { "" }, line, LINES, out);
        }
    }
    for text in &incident.would_settle {
        out.row("To settle", &words::sentence(text));
    }
    for symptom in &incident.symptoms {
        out.row("Symptom", &words::sentence(&symptom.text));
    }
    for (nth, step) in (1..).zip(plan::of(incident).steps) {
        let label = if nth == 1 { "Fix" } else { "" };
        out.row(label, &format!("{nth}. {}", step.text.plain()));
        for line in step.command.iter().flat_map(|command| command.lines()) {
            out.whole(&format!("   $ {line}"));
        }
    }
}

fn considered(analysis: &Analysis, out: &mut Columns) {
    let shown = |verdict: Verdict, label: &str, out: &mut Columns| {
        let causes = analysis.differential.iter();
        let causes = causes.filter(|cause| cause.verdict == verdict);
        for (nth, cause) in causes.enumerate() {
            let text = format!("{}: {}", cause.cause, words::sentence(&cause.why));
            out.row(if nth == 0 { label } else { "" }, &text);
        }
    };
    shown(Verdict::Past, "Past", out);
    shown(Verdict::RuledOut, "Ruled out", out);
}
