//! The fixes of a diagnosis as its report shows them: tried on what was read, without reading it once more.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::proofs::{self, Fix};
use super::replay::{Claim, Proof, Replay, Shown};
use crate::change::shell::{Dialect, Script, quoted};
use crate::change::{Act, Action, Back, RunsOn};
use crate::diagnose::{AnalyzeError, Analyzer, Proposal, Standing};
use crate::join::Unit;
use crate::model::Analysis;
use crate::model::fix::{
    self as model, CauseName, Delta, FixAction, FixClaim, FixOutcome, HandedFile,
};

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
        claim: FixClaim::CannotBeShown,
        not_shown: Vec::new(),
        costs: Vec::new(),
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
            Shown::NeedsAStep(_) | Shown::CannotBeShown(_) => FixOutcome::CannotBeShown,
        },
        claim: match proof.claim() {
            Claim::HealsTheWorkload => FixClaim::HealsTheWorkload,
            Claim::RemovesTheCause => FixClaim::RemovesTheCause,
            Claim::NeedsARuntimeStep => FixClaim::NeedsARuntimeStep,
            Claim::DoesNotHelp => FixClaim::DoesNotHelp,
            Claim::CannotBeShown => FixClaim::CannotBeShown,
        },
        not_shown: proof
            .runtime()
            .chain(&proof.unshown)
            .chain(proof.followed().iter().flat_map(|one| &one.broken))
            // The reason itself stands beside them.
            .filter(|one| *one != shown.why())
            .cloned()
            .collect(),
        costs: proof.costs().cloned().collect(),
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
        name: crate::change::shell::safe_name(&file.name),
        what: file.what.clone(),
        content: file.content.clone(),
    })
    .collect()
}

fn action(action: &Action) -> FixAction {
    let typed = |script: &Script| script.render(Dialect::Hands);
    FixAction {
        text: action.text.clone(),
        node: match &action.place {
            RunsOn::Node(node) => Some(node.clone()),
            RunsOn::Cluster | RunsOn::Hands => None,
        },
        by_hand: action.place == RunsOn::Hands,
        check: action
            .guard
            .as_ref()
            .map(|guard| guard.test.render(Dialect::Hands)),
        checks: action.guard.as_ref().map(|guard| guard.says.clone()),
        dry_run: (!action.dry_run.is_empty()).then(|| typed(&action.dry_run)),
        command: match &action.act {
            Act::Script(script) => Some(saved(action, typed(script))),
            Act::Hands(command) => command.clone(),
        },
        expect: action.expect.clone(),
        roll_back: match &action.back {
            Back::Script(back) => typed(back),
            Back::Hands(sentence) => sentence.clone(),
        },
        interrupts: action.interrupts.clone(),
    }
}

/// A change with the files saved before, as the script does.
fn saved(action: &Action, command: String) -> String {
    if action.backup.is_empty() {
        return command;
    }
    let files: Vec<String> = action
        .backup
        .iter()
        .map(|file| quoted(file).into_owned())
        .collect();
    format!(
        "mkdir -p ./backup && cp -a --parents {} ./backup/   # of these, what exists\n{command}",
        files.join(" ")
    )
}
