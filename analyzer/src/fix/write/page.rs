//! The pages that go with a fix.

use std::fmt::Write as _;

use crate::change::shell::{Dialect, Script, safe_name};
use crate::change::{Act, Action, Applied, Back, RunsOn};
use crate::diagnose::Standing;
use crate::fix::proofs::Fix;
use crate::fix::replay::Proof;
use crate::fix::replay::Shown;
use crate::model::{Input, Step};
use crate::report::escape::{md_code, md_fence, md_text};

/// The page of the whole folder.
pub(super) fn overview(input: &Input, fixes: &[Fix]) -> String {
    let mut page = format!("# Fixes for {}\n\n", md_text(&input.name));
    if fixes.is_empty() {
        page.push_str(
            "Nothing is confirmed or likely in this bundle, so there is nothing to fix. \
             `casefile-analyzer diagnose` says what was checked and what could not be seen.\n",
        );
        return page;
    }
    page.push_str(
        "Each change was applied to a copy of what the bundle holds, and the whole diagnosis was run again on it. \
         Nothing has been changed anywhere.\n\n\
         | cause | verdict | after the change | fix |\n|---|---|---|---|\n",
    );
    for fix in fixes {
        let verdict = fix
            .verdict
            .map_or("proposed by a person", crate::model::Verdict::word);
        let folder = safe_name(&fix.cause);
        let _ = writeln!(
            page,
            "| {} | {verdict} | **{}** | [{}]({folder}/README.md) |",
            md_text(&fix.title),
            fix.word(),
            md_text(if fix.remedy.is_empty() {
                "steps"
            } else {
                &fix.remedy
            }),
        );
    }
    if fixes.len() > 1 {
        page.push_str(
            "\nEach was tried alone. Start at the top, and collect again before the next: what remains may look different then.\n",
        );
    }
    page
}

/// The page of one fix.
pub(super) fn fix(fix: &Fix) -> String {
    let mut page = format!(
        "# {}\n\n",
        md_text(if fix.remedy.is_empty() {
            &fix.title
        } else {
            &fix.remedy
        })
    );
    let _ = write!(page, "For: {} (`{}`)\n\n", md_text(&fix.title), fix.cause);
    page.push_str(&what_replay_shows(fix));
    page.push_str(&steps(fix.applied()));
    page.push_str(&verify(&fix.verify));
    page.push_str(&files(fix));
    page
}

/// How to see that it helped; the second bundle says it for the whole node.
fn verify(steps: &[Step]) -> String {
    let mut text = String::from("## Verify\n\n");
    for (number, step) in (1..).zip(steps) {
        let _ = writeln!(text, "{number}. {}", md_text(&step.text));
        if let Some(command) = &step.command {
            let _ = writeln!(text, "\n{}", md_fence(command, "sh", 3));
        }
        if let Some(expect) = &step.expect {
            let _ = writeln!(text, "   Expect: {}", md_text(expect));
        }
    }
    text.push_str(
        "\nThen collect again and compare: `casefile-analyzer diff BEFORE AFTER` says whether the incident is over.\n\n",
    );
    text
}

fn what_replay_shows(fix: &Fix) -> String {
    let shown = fix.shown();
    let mut text = String::from("## What the replay shows\n\n");
    let sentence = match &shown {
        Shown::Gone(_) if fix.word() != shown.word() => {
            "With this change the captured files no longer make the cause; it is **gone after a step on the running system**, which no replay can show."
        }
        Shown::Gone(_) => "With this change the cause is **gone** from the captured state.",
        Shown::StillThere(_) => "With this change the cause is **still there**: it does not help.",
        Shown::NeedsAStep(_) => {
            "This fix **needs a step on the running system**, which no replay can show."
        }
        Shown::CannotBeShown(_) => {
            "Whether this change helps **cannot be shown** from this bundle."
        }
    };
    let _ = write!(text, "{sentence}\n\nWhy: {}\n\n", said(shown.why()));
    let Ok(proof) = &fix.proof else {
        text.push_str("Take the steps below by hand, and collect again after them.\n\n");
        return text;
    };
    text.push_str(&claimed(fix));
    text.push_str("| | causes in the captured state |\n|---|---|\n");
    for (word, causes) in [
        ("gone", &proof.gone),
        ("remains", &proof.remains),
        ("new", &proof.appears),
    ] {
        let _ = writeln!(text, "| {word} | {} |", causes_of(causes));
    }
    text.push('\n');
    text.push_str(&opens(fix, proof));
    let assumed: Vec<&String> = fix
        .best()
        .into_iter()
        .flat_map(|proof| &proof.applied)
        .flat_map(|one| &one.assumes)
        .collect();
    if !assumed.is_empty() {
        text.push_str("Assumes that:\n\n");
        assumed.iter().for_each(|one| {
            let _ = writeln!(text, "- {}", md_text(one));
        });
        text.push('\n');
    }
    text
}

/// What may be said of the change that is handed over, and what may not.
fn claimed(fix: &Fix) -> String {
    let Some(proof) = fix.best() else {
        return String::new();
    };
    let shown = fix.shown();
    let mut text = match &shown {
        // The first sentence says it.
        Shown::NeedsAStep(_) => String::new(),
        _ => format!("What this claims: {}.\n\n", proof.claim().says()),
    };
    let not_shown = proof.runtime().chain(&proof.unshown);
    for one in not_shown.filter(|one| *one != shown.why()) {
        let _ = writeln!(text, "- Not shown: {}", md_text(one));
    }
    if let Some(workload) = proof.followed() {
        if let Some(shown) = workload.shown() {
            let _ = writeln!(text, "- Shown to work after it: {}", md_text(&shown));
        }
        for one in &workload.broken {
            let _ = writeln!(text, "- Still broken after it: {}", md_text(one));
        }
        for one in &workload.open {
            let _ = writeln!(text, "- Not shown: {}", md_text(one));
        }
    }
    for one in proof.costs() {
        let _ = writeln!(text, "- A person has to choose it: {}.", md_text(one));
    }
    text.push('\n');
    text
}

fn opens(fix: &Fix, proof: &Proof) -> String {
    let mut text = String::new();
    // What is handed over is what somebody is about to run: first what that opens.
    let handed = fix.narrower.as_ref().unwrap_or(proof);
    for one in &handed.opens {
        let _ = writeln!(text, "- It opens {}.", md_text(one));
    }
    if fix.narrower.is_some() {
        let titles = handed.applied.iter().map(|one| md_text(&one.title));
        let titles: Vec<String> = titles.collect();
        let _ = write!(
            text,
            "- The change that the runbook names is wider than needed. A smaller one does as well and is the one handed over here: {}.",
            titles.join("; ")
        );
        let closed = proof.opens.iter().filter(|one| !handed.opens.contains(one));
        let closed: Vec<String> = closed.map(|one| md_text(one)).collect();
        if !closed.is_empty() {
            let _ = write!(
                text,
                " The wider one would also open {}.",
                closed.join("; ")
            );
        }
        text.push('\n');
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// A sentence whose parts between backticks are code.
fn said(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) || parts.len() == 1 || text.contains("``") {
        return md_text(text);
    }
    let parts = parts.iter().enumerate();
    parts
        .map(|(index, part)| {
            if index.is_multiple_of(2) {
                md_text(part)
            } else {
                md_code(part, false)
            }
        })
        .collect()
}

fn causes_of(causes: &[Standing]) -> String {
    if causes.is_empty() {
        return "none".into();
    }
    let names: Vec<String> = causes
        .iter()
        .map(|one| {
            format!(
                "{} ({}, `{}`)",
                md_text(&one.title),
                one.verdict.word(),
                one.cause
            )
        })
        .collect();
    names.join("; ")
}

fn steps(applied: &[Applied]) -> String {
    let mut text = String::from(
        "## Steps\n\n`apply.sh` takes them one by one, shows each first, and asks; it runs none that is for people. `apply.sh --back` takes back what it did. By hand:\n\n",
    );
    let actions: Vec<&Action> = applied.iter().flat_map(|one| &one.actions).collect();
    for (number, action) in (1..).zip(actions) {
        let place = match &action.place {
            RunsOn::Node(node) => format!("as root on node {}", md_text(node)),
            RunsOn::Cluster => "where helm and kubectl reach the cluster".into(),
            RunsOn::Hands => "by hand; the script runs nothing of it".into(),
        };
        let _ = write!(
            text,
            "### {number}. {}\n\nRuns {place}.\n\n",
            md_text(action.text.trim_end_matches('.'))
        );
        text.push_str(&by_hand(action));
    }
    text
}

/// A step as somebody types it in the folder of the fix.
fn by_hand(action: &Action) -> String {
    let mut text = String::new();
    if let Some(guard) = &action.guard {
        let check = guard.test.render(Dialect::Hands);
        let _ = write!(
            text,
            "First make sure that {}: {}\n\n",
            md_text(&guard.says),
            md_code(&check, false)
        );
    }
    let mut say = |what: &str, command: &str| {
        let _ = writeln!(text, "{what}\n\n{}", md_fence(command, "sh", 0));
    };
    let looks = !action.dry_run.is_empty();
    if looks {
        say(
            "Look at it first, without changing anything:",
            &typed(&action.dry_run),
        );
    }
    let act = match &action.act {
        Act::Script(script) => Some(typed(script)),
        Act::Hands(command) => command.clone(),
    };
    if let Some(command) = act {
        say(if looks { "Then:" } else { "Do:" }, &command);
    }
    if !action.expect.is_empty() {
        let _ = writeln!(text, "- Expect: {}", md_text(&action.expect));
    }
    let _ = writeln!(text, "- Interrupts: {}", md_text(&action.interrupts));
    let back = match &action.back {
        Back::Script(back) => match typed(back) {
            lines if lines.contains('\n') => format!("\n\n{}", md_fence(&lines, "sh", 2)),
            line => format!("{}\n", md_code(&line, false)),
        },
        Back::Hands(sentence) => format!("{}\n", md_text(sentence)),
    };
    let _ = writeln!(text, "- Roll back: {back}");
    text
}

fn typed(script: &Script) -> String {
    script.render(Dialect::Hands)
}

fn files(fix: &Fix) -> String {
    let files: Vec<_> = fix.applied().iter().flat_map(|one| &one.files).collect();
    let mut text = String::from("## Files\n\n");
    for file in files {
        let name = safe_name(&file.name);
        let _ = writeln!(text, "- [{name}]({name}): {}", md_text(&file.what));
    }
    text.push_str("- `apply.sh`: the steps above, one by one\n");
    if fix.best().is_none() {
        return text;
    }
    text.push_str(
        "- `changes.yaml`: the same as typed changes; edit it and try it with `casefile-analyzer fix BUNDLE -o DIR --what-if changes.yaml`\n\
         - `*.diff`: what changes in the captured files\n",
    );
    text
}
