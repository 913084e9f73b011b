//! `report.json`: the contract `casefile.report/1`, for programs.
//!
//! The fields of the contract never change their meaning within version 1; further fields may be added.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{RenderError, escape};
use crate::model::fix::Fix;
use crate::model::state::State;
use crate::model::{
    About, Analysis, Benign, ChainLink, Considered, Coverage, Digest, EnvironmentItem, Evidence,
    Figure, Impact, Incident, Input, Moment, Observation, Problem, Remedy, Role, RulesUsed, Seen,
    Severity, Table, Unexplained, Verdict,
};

/// The published schema of the contract.
pub(crate) const SCHEMA_FILE: &str = include_str!("../../schemas/casefile.report-1.json");
/// The version of the contract.
const SCHEMA: &str = "casefile.report/1";

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    reference_time: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'a About>,
    incidents: Vec<IncidentJson<'a>>,
    differential: Vec<ConsideredJson<'a>>,
    unexplained: &'a [Unexplained],
    benign: Vec<BenignJson<'a>>,
    timeline: Vec<MomentJson<'a>>,
    coverage: &'a [Coverage],
    problems: Vec<ProblemJson<'a>>,
    title: String,
    impact: &'a Impact,
    environment: &'a [EnvironmentItem],
    input: &'a Input,
    tool: &'static str,
    state: &'a State,
    seen: &'a Seen,
    digests: &'a BTreeMap<String, Digest>,
    rules: &'a RulesUsed,
}

#[derive(Serialize)]
struct CauseJson<'a> {
    id: &'a str,
    title: &'a str,
}

#[derive(Serialize)]
struct IncidentJson<'a> {
    id: &'a str,
    cause: CauseJson<'a>,
    verdict: Verdict,
    severity: Severity,
    subjects: &'a [String],
    evidence: Vec<EvidenceJson<'a>>,
    symptoms: Vec<&'a str>,
    remedies: Vec<&'a str>,
    since: Option<DateTime<Utc>>,
    summary: &'a str,
    explanation: &'a str,
    look_alikes: &'a str,
    would_refute: &'a [String],
    would_settle: &'a [String],
    chain: &'a [ChainLink],
    symptom_details: Vec<SymptomJson<'a>>,
    observations: Vec<ObservationJson<'a>>,
    tables: &'a [Table],
    figures: &'a [Figure],
    remedy: &'a Remedy,
    fix: Option<&'a Fix>,
    references: &'a [String],
}

#[derive(Serialize)]
struct EvidenceJson<'a> {
    path: &'a str,
    line: Option<u32>,
    text: &'a str,
    role: Role,
    says: &'a str,
    at: Option<DateTime<Utc>>,
    count: u64,
}

#[derive(Serialize)]
struct SymptomJson<'a> {
    id: &'a str,
    text: &'a str,
    evidence: Vec<EvidenceJson<'a>>,
}

#[derive(Serialize)]
struct ObservationJson<'a> {
    question: &'a str,
    command: &'a str,
    lines: Vec<EvidenceJson<'a>>,
    conclusion: &'a str,
}

#[derive(Serialize)]
struct ConsideredJson<'a> {
    cause: &'a str,
    verdict: Verdict,
    why: &'a str,
    title: &'a str,
    path: Option<&'a str>,
    line: Option<u32>,
    explained_by: Option<&'a str>,
}

#[derive(Serialize)]
struct BenignJson<'a> {
    id: &'a str,
    text: &'a str,
    evidence: Vec<EvidenceJson<'a>>,
}

#[derive(Serialize)]
struct MomentJson<'a> {
    at: DateTime<Utc>,
    subject: &'a str,
    text: &'a str,
    path: &'a str,
    line: Option<u32>,
    count: u64,
    incident: Option<&'a str>,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    path: &'a str,
    line: Option<u32>,
    text: &'a str,
}

/// The whole analysis as JSON, indented, ending with a line feed. Complete: nothing is cut or left out.
pub(crate) fn render(analysis: &Analysis) -> Result<String, RenderError> {
    pretty(&report(analysis))
}

/// The same as a value, for templates.
pub(crate) fn value(analysis: &Analysis) -> Result<serde_json::Value, RenderError> {
    serde_json::to_value(report(analysis)).map_err(|source| RenderError::Json { source })
}

fn report(analysis: &Analysis) -> Report<'_> {
    Report {
        schema: SCHEMA,
        reference_time: analysis.reference_time,
        about: analysis.about.as_ref(),
        incidents: analysis.incidents.iter().map(incident).collect(),
        differential: analysis.differential.iter().map(considered).collect(),
        unexplained: &analysis.unexplained,
        benign: analysis.benign.iter().map(benign).collect(),
        timeline: analysis.timeline.iter().map(moment).collect(),
        coverage: &analysis.coverage,
        problems: analysis.problems.iter().map(problem).collect(),
        title: super::words::title(analysis),
        impact: &analysis.impact,
        environment: &analysis.environment,
        input: &analysis.input,
        tool: concat!("casefile-analyzer ", env!("CARGO_PKG_VERSION")),
        state: &analysis.state,
        seen: &analysis.seen,
        digests: &analysis.digests,
        rules: &analysis.rules,
    }
}

/// Any value as indented JSON that cannot drive a terminal, ending with a line feed.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String, RenderError> {
    let mut text =
        serde_json::to_string_pretty(value).map_err(|source| RenderError::Json { source })?;
    text.push('\n');
    Ok(quiet(&text))
}

/// Writes hidden characters as `\uXXXX`, so that printing the file cannot drive a terminal. In JSON they
/// only occur inside strings, where both forms mean the same.
pub(super) fn quiet(json: &str) -> String {
    let is_quiet = |byte: &u8| matches!(byte, b'\n' | b' '..=b'~');
    if json.as_bytes().iter().all(is_quiet) {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len());
    let mut units = [0u16; 2];
    for c in json.chars() {
        if c != '\n' && escape::is_hidden(c) {
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

fn incident(incident: &Incident) -> IncidentJson<'_> {
    IncidentJson {
        id: &incident.id,
        cause: CauseJson {
            id: &incident.cause,
            title: &incident.title,
        },
        verdict: incident.verdict,
        severity: incident.severity,
        subjects: &incident.subjects,
        evidence: incident.evidence.iter().map(evidence).collect(),
        symptoms: incident
            .symptoms
            .iter()
            .map(|symptom| symptom.text.as_str())
            .collect(),
        remedies: Some(incident.remedy.title.as_str())
            .into_iter()
            .filter(|title| !title.is_empty())
            .collect(),
        since: incident.since,
        summary: &incident.summary,
        explanation: &incident.explanation,
        look_alikes: &incident.look_alikes,
        would_refute: &incident.would_refute,
        would_settle: &incident.would_settle,
        chain: &incident.chain,
        symptom_details: incident
            .symptoms
            .iter()
            .map(|symptom| SymptomJson {
                id: &symptom.id,
                text: &symptom.text,
                evidence: symptom.evidence.iter().map(evidence).collect(),
            })
            .collect(),
        observations: incident.observations.iter().map(observation).collect(),
        tables: &incident.tables,
        figures: &incident.figures,
        remedy: &incident.remedy,
        fix: incident.fix.as_ref(),
        references: &incident.references,
    }
}

fn observation(observation: &Observation) -> ObservationJson<'_> {
    ObservationJson {
        question: &observation.question,
        command: &observation.command,
        lines: observation.lines.iter().map(evidence).collect(),
        conclusion: &observation.conclusion,
    }
}

fn evidence(line: &Evidence) -> EvidenceJson<'_> {
    EvidenceJson {
        path: &line.place.path,
        line: line.place.line,
        text: &line.text,
        role: line.role,
        says: &line.says,
        at: line.at,
        count: line.count,
    }
}

fn considered(cause: &Considered) -> ConsideredJson<'_> {
    ConsideredJson {
        cause: &cause.cause,
        verdict: cause.verdict,
        why: &cause.why,
        title: &cause.title,
        path: cause.place.as_ref().map(|place| place.path.as_str()),
        line: cause.place.as_ref().and_then(|place| place.line),
        explained_by: cause.explained_by.as_deref(),
    }
}

fn benign(noise: &Benign) -> BenignJson<'_> {
    BenignJson {
        id: &noise.id,
        text: &noise.text,
        evidence: noise.evidence.iter().map(evidence).collect(),
    }
}

fn moment(moment: &Moment) -> MomentJson<'_> {
    MomentJson {
        at: moment.at,
        subject: &moment.subject,
        text: &moment.text,
        path: &moment.place.path,
        line: moment.place.line,
        count: moment.count,
        incident: moment.incident.as_deref(),
    }
}

fn problem(problem: &Problem) -> ProblemJson<'_> {
    ProblemJson {
        path: &problem.place.path,
        line: problem.place.line,
        text: &problem.text,
    }
}
