//! The fixes of a diagnosis as its report shows them: tried on what was read, without reading it once more.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::change::{Action, Place, quoted};
use super::proofs::{self, Fix};
use super::replay::{Proof, Replay, Shown};
use crate::diagnose::{AnalyzeError, Analyzer, Proposal, Standing};
use crate::join::Unit;
use crate::model::Analysis;
use crate::model::fix::{self as model, CauseName, Delta, FixAction, FixOutcome, HandedFile};

/// Reads one input, diagnoses it and tries the changes that the rules name for what is confirmed or likely.
///
/// A fix that cannot be tried costs its proof only, never the report.
pub fn analyze(analyzer: &Analyzer, unit: &Unit) -> Result<Analysis, AnalyzeError> {
    let mut examined = analyzer.examine_unit(unit)?;
    let typed = |proposal: &&Proposal| !proposal.changes.is_empty();
    if !examined.proposals.iter().any(|one| typed(&one)) {
        return Ok(examined.analysis);
    }
    let mut fixes = Vec::new();
    let replay = Replay::new(analyzer, &examined.reading);
    for proposal in examined.proposals.iter().filter(typed) {
        let tried = match &replay {
            Ok(replay) => catch_unwind(AssertUnwindSafe(|| of_proposal(replay, proposal)))
                .unwrap_or_else(|_| untried("trying it failed, which is a bug in casefile")),
            Err(error) => untried(&error.to_string()),
        };
        fixes.push((proposal.cause.clone(), tried));
    }
    for incident in &mut examined.analysis.incidents {
        let own = fixes.iter().find(|(cause, _)| *cause == incident.cause);
        incident.fix = own.map(|(_, fix)| fix.clone());
    }
    Ok(examined.analysis)
}

fn of_proposal(replay: &Replay<'_>, proposal: &Proposal) -> model::Fix {
    match proofs::of_rule(replay, proposal) {
        Ok(mut fix) => of(&mut fix),
        Err(error) => untried(&error.to_string()),
    }
}

fn untried(why: &str) -> model::Fix {
    model::Fix {
        outcome: FixOutcome::CannotBeShown,
        why: why.to_owned(),
        gone: Vec::new(),
        remains: Vec::new(),
        appears: Vec::new(),
        opens: Vec::new(),
        leaves_closed: Vec::new(),
        assumes: Vec::new(),
        actions: Vec::new(),
        files: Vec::new(),
        deltas: Vec::new(),
    }
}

fn of(fix: &mut Fix) -> model::Fix {
    let shown = fix.shown();
    let deltas = fix.differences().into_iter();
    let deltas = deltas.map(|(entry, diff)| Delta { entry, diff }).collect();
    let Some(proof) = fix.best() else {
        return untried(shown.why());
    };
    let wider: &[String] = fix.proof.as_ref().map_or(&[], |wide| wide.opens.as_slice());
    let closed = wider.iter().filter(|one| !proof.opens.contains(one));
    let applied = || proof.applied.iter();
    model::Fix {
        outcome: match shown {
            Shown::Gone(_) => FixOutcome::Gone,
            Shown::StillThere(_) => FixOutcome::StillThere,
            Shown::CannotBeShown(_) => FixOutcome::CannotBeShown,
        },
        why: shown.why().to_owned(),
        gone: names(&proof.gone),
        remains: names(&proof.remains),
        appears: names(&proof.appears),
        opens: proof.opens.clone(),
        leaves_closed: closed.cloned().collect(),
        assumes: applied().flat_map(|one| one.assumes.clone()).collect(),
        actions: applied().flat_map(|one| &one.actions).map(action).collect(),
        files: files(proof),
        deltas,
    }
}

fn names(all: &[Standing]) -> Vec<CauseName> {
    let name = |one: &Standing| CauseName {
        cause: one.cause.clone(),
        title: one.title.clone(),
        verdict: one.verdict,
    };
    all.iter().map(name).collect()
}

fn files(proof: &Proof) -> Vec<HandedFile> {
    let all = proof.applied.iter().flat_map(|one| &one.files);
    all.map(|file| HandedFile {
        name: super::write::safe_name(&file.name),
        what: file.what.clone(),
        content: file.content.clone(),
    })
    .collect()
}

fn action(action: &Action) -> FixAction {
    FixAction {
        text: action.text.clone(),
        node: match &action.place {
            Place::Node(node) => Some(node.clone()),
            Place::Cluster | Place::Hands => None,
        },
        by_hand: action.place == Place::Hands,
        check: action.guard.as_ref().map(|(check, _)| check.clone()),
        checks: action.guard.as_ref().map(|(_, what)| what.clone()),
        dry_run: action.dry_run.as_deref().map(by_hand),
        command: action.command.as_deref().map(|one| saved(action, one)),
        expect: action.expect.clone(),
        roll_back: by_hand(&action.roll_back),
        interrupts: action.interrupts.clone(),
    }
}

/// A command of the script as a person types it: files lie where the person stands.
fn by_hand(command: &str) -> String {
    let typed = command
        .replace("\"$here/", "\"./")
        .replace("$backup", "./backup");
    let typed = typed.trim();
    if typed.contains("> \"./backup") {
        format!("mkdir -p ./backup\n{typed}")
    } else {
        typed.to_owned()
    }
}

/// The same with the files saved before, as the script does.
fn saved(action: &Action, command: &str) -> String {
    let command = by_hand(command);
    if action.backup.is_empty() {
        return command;
    }
    let files: Vec<String> = action.backup.iter().map(|file| quoted(file)).collect();
    format!(
        "mkdir -p ./backup && cp -a --parents {} ./backup/   # of these, what exists\n{command}",
        files.join(" ")
    )
}
