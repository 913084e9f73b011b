//! `apply.sh`: stops at each step, refuses on the wrong node or a changed state, saves what it changes.
//!
//! Everything that differs from fix to fix is written by [`shell`](crate::change::shell); the rest is `head.sh`, whose
//! functions do what must not be done half.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::change::shell::{Dialect, Program, Script, one_line, quoted};
use crate::change::{Act, Action, Back, RunsOn};
use crate::fix::proofs::Fix;

/// The functions that every script has.
const HEAD: &str = include_str!("head.sh");

const END: &str = r#"
[ ! -e "$record" ] || say "What was done, when and by whom, for the ticket: $record"
if [ "$mode" = dry ]; then
  say 'That was a dry run: nothing was changed.'
elif [ -n "$left" ]; then
  stop "not done here: step$left"
elif [ -n "$people" ]; then
  say "What a script can do is done. For people: step$people. Then collect again and compare: casefile-analyzer diff BEFORE AFTER"
else
  say 'All steps are done. Collect again and compare: casefile-analyzer diff BEFORE AFTER'
fi
"#;

/// The script of one fix; `cluster` is the identity of the collected one.
pub(super) fn apply(fix: &Fix, cluster: Option<&str>) -> String {
    let applied = fix.applied().iter();
    let actions: Vec<&Action> = applied.flat_map(|applied| &applied.actions).collect();
    let costs = costs(fix);
    let apart = of_several_machines(&actions);
    let mut text = String::from(HEAD);
    let _ = writeln!(text, "\ncluster={}", quoted(cluster.unwrap_or_default()));
    for (number, action) in (1..).zip(&actions) {
        text.push_str(&functions(number, action));
    }
    text.push('\n');
    text.push_str(&say(0, &format!("Fix for {}: {}", fix.cause, fix.remedy)));
    text.push_str(&take_back(&actions, apart));
    for (number, action) in (1..).zip(&actions) {
        let title = format!("Step {number} of {}: {}", actions.len(), action.text);
        let cost = costs.get(&number).map(String::as_str);
        let _ = write!(
            text,
            "\n{}{}",
            say(0, &title),
            step(number, action, apart, cost)
        );
    }
    text.push_str(END);
    text
}

/// What a change takes from somebody, at its first step.
fn costs(fix: &Fix) -> BTreeMap<usize, String> {
    let (mut all, mut number) = (BTreeMap::new(), 1);
    for applied in fix.applied() {
        if !applied.costs.is_empty() {
            all.insert(number, applied.costs.join("; "));
        }
        number += applied.actions.len();
    }
    all
}

/// What a step asks, shows, does and takes back, each as a function of the script.
fn functions(number: usize, action: &Action) -> String {
    let Some(script) = action.script() else {
        return String::new();
    };
    let mut text = String::new();
    let mut function = |name: &str, body: String| {
        let _ = write!(text, "\n{name}_{number}() {{\n{body}\n}}\n");
    };
    if let Some(guard) = &action.guard {
        function("check", guard.test.clone().heard().render(Dialect::Script));
    }
    if !action.dry_run.is_empty() {
        function("show", action.dry_run.render(Dialect::Script));
    }
    function("make", script.render(Dialect::Script));
    if let Back::Script(back) = &action.back {
        function("back", or_nothing(back));
    }
    text
}

fn or_nothing(script: &Script) -> String {
    if script.is_empty() {
        ":".to_owned()
    } else {
        script.render(Dialect::Script)
    }
}

/// Whether no one machine can take all steps, so that the script runs on each for its own.
fn of_several_machines(actions: &[&Action]) -> bool {
    let mut places = actions.iter().map(|action| &action.place);
    let mut scripted = places.by_ref().filter(|place| **place != RunsOn::Hands);
    let first = scripted.next();
    scripted.any(|place| Some(place) != first)
}

fn say(indent: usize, text: &str) -> String {
    format!("{:indent$}say {}\n", "", quoted(&one_line(text)))
}

/// The part that takes steps back: last step first, restarts after the files are what they were.
fn take_back(actions: &[&Action], apart: bool) -> String {
    let mut text = String::from("\nif [ \"$mode\" = back ]; then\n  something_done\n");
    let mut last_first: Vec<(usize, &Action)> = (1..).zip(actions.iter().copied()).collect();
    last_first.reverse();
    let (restarts, files): (Vec<_>, Vec<_>) = last_first
        .into_iter()
        .partition(|(_, action)| only_restarts(action));
    for (number, action) in files.into_iter().chain(restarts) {
        // The script runs no step that is for people, so there is none to take back.
        if action.script().is_none() {
            continue;
        }
        let here = match &action.place {
            RunsOn::Node(node) if apart => format!(" && is_node {}", quoted(node)),
            _ => String::new(),
        };
        let _ = writeln!(text, "  if begun {number}{here}; then");
        text.push_str(&say(
            4,
            &format!("Take back step {number}: {}", action.text),
        ));
        text.push_str(&taken_back(number, action));
        text.push_str("  fi\n");
    }
    text.push_str("  all_taken_back\nfi\n");
    text
}

fn taken_back(number: usize, action: &Action) -> String {
    let mut text = String::new();
    match &action.back {
        Back::Script(back) => {
            text.push_str(&place(action, 4));
            text.push_str(&needs(back.programs().into_iter(), 4));
            let _ = writeln!(
                text,
                "    if ask; then\n      saves {number}\n      back_{number}\n      forget {number}\n    else\n      left=\"$left {number}\"\n    fi"
            );
        }
        Back::Hands(sentence) => {
            text.push_str(&say(4, &format!("  By hand: {sentence}")));
            let _ = writeln!(text, "    left=\"$left {number}\"");
        }
    }
    text
}

/// Whether taking it back only restarts what has to read its files again.
fn only_restarts(action: &Action) -> bool {
    let back = match &action.back {
        Back::Script(back) => back.programs(),
        Back::Hands(_) => return false,
    };
    action.backup.is_empty() && back.into_iter().eq([Program::Systemctl])
}

/// The node that a step belongs to.
fn place(action: &Action, indent: usize) -> String {
    match &action.place {
        RunsOn::Node(node) => format!("{:indent$}on_node {}\n", "", quoted(node)),
        RunsOn::Cluster | RunsOn::Hands => String::new(),
    }
}

/// What has to be installed where the step runs.
fn needs(programs: impl Iterator<Item = Program>, indent: usize) -> String {
    let wanted: Vec<Program> = programs
        .filter(|program| !program.is_everywhere())
        .collect();
    if wanted.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = wanted.iter().map(|program| program.name()).collect();
    let mut text = format!("{:indent$}needs {}\n", "", names.join(" "));
    if wanted.contains(&Program::Kubectl) {
        let _ = writeln!(text, "{:indent$}answers", "");
    }
    if wanted.contains(&Program::Helm) {
        let _ = writeln!(text, "{:indent$}releases", "");
    }
    text
}

fn step(number: usize, action: &Action, apart: bool, cost: Option<&str>) -> String {
    let interrupts = format!("  Interrupts: {}", action.interrupts);
    if action.script().is_none() {
        let by_hand = match &action.act {
            Act::Hands(Some(command)) => format!("  By hand: {command}"),
            _ => "  This step is for people; nothing was run.".to_owned(),
        };
        return say(0, &interrupts) + &say(0, &by_hand) + &format!("people=\"$people {number}\"\n");
    }
    let mut text = format!("if is_done {number}; then\n");
    text.push_str(&say(
        2,
        "  It was done before. apply.sh --back takes it back.",
    ));
    if let (RunsOn::Node(node), true) = (&action.place, apart) {
        let _ = writeln!(
            text,
            "elif ! is_node {0}; then\n  elsewhere {0}\n  left=\"$left {number}\"",
            quoted(&one_line(node))
        );
    }
    text.push_str("else\n");
    text.push_str(&say(2, &interrupts));
    text.push_str(&place(action, 2));
    text.push_str(&needs(action.programs().into_iter(), 2));
    text.push_str(&unfinished(number, action));
    if let Some(guard) = &action.guard {
        let _ = writeln!(
            text,
            "  still {} check_{number}",
            quoted(&one_line(&guard.says))
        );
    }
    if !action.backup.is_empty() {
        let _ = writeln!(text, "  writable {}", quoted_all(&action.backup));
    }
    if !action.dry_run.is_empty() {
        let _ = writeln!(text, "  look show_{number}");
    }
    if let Some(cost) = cost {
        let _ = writeln!(text, "  choose {}", quoted(&one_line(cost)));
    }
    text.push_str(&made(number, action));
    text
}

fn quoted_all(files: &[String]) -> String {
    let files: Vec<_> = files.iter().map(|file| quoted(file)).collect();
    files.join(" ")
}

/// A step that was interrupted is first taken back, so that it starts from what was saved.
fn unfinished(number: usize, action: &Action) -> String {
    let back = match &action.back {
        Back::Script(_) => {
            format!("    saves {number}\n    back_{number}\n    forget {number}\n    checked=yes\n")
        }
        Back::Hands(sentence) => {
            say(4, &format!("  By hand: {sentence}")) + "    stop 'then run it again'\n"
        }
    };
    format!("  if interrupted {number} && ask; then\n{back}  fi\n")
}

fn made(number: usize, action: &Action) -> String {
    let mut text =
        format!("  if [ \"$mode\" = dry ]; then\n    :\n  elif ask; then\n    begin {number}\n");
    if !action.backup.is_empty() {
        let _ = writeln!(text, "    save {}", quoted_all(&action.backup));
    }
    let _ = writeln!(text, "    make_{number}\n    end {number}");
    text.push_str(&say(4, &format!("  Expect: {}", action.expect)));
    let back = match &action.back {
        Back::Script(_) => "  Back: apply.sh --back".to_owned(),
        Back::Hands(sentence) => format!("  Back: {sentence}"),
    };
    text.push_str(&say(4, &back));
    let _ = writeln!(text, "  else\n    left=\"$left {number}\"\n  fi\nfi");
    text
}
