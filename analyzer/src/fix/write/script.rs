//! `apply.sh`: stops at each step, refuses on the wrong node or a changed state, saves what it changes.

use std::fmt::Write as _;

use super::safe_name;
use crate::fix::change::{Action, Place, quoted};
use crate::fix::proofs::Fix;

const HEAD: &str = r#"#!/usr/bin/env bash
# Applies a fix step by step. Each step is shown first and asked for; nothing runs without a yes.
#
#   apply.sh            every step, asking before each
#   apply.sh --dry-run  shows what each step would change, and changes nothing
#   apply.sh --yes      without asking, for those who have read all of it
#   apply.sh --back     takes back what was done on this machine, asking before each
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
backup=${BACKUP_DIR:-$here/backup}
mode=ask
case ${1:-} in
  --dry-run) mode=dry ;;
  --yes) mode=yes ;;
  --back) mode=back ;;
  "") ;;
  *) echo "usage: apply.sh [--dry-run|--yes|--back]" >&2; exit 2 ;;
esac

done_steps=$backup/steps-done
running='' left='' people=''
say() { printf '%s\n' "$*" >&2; }
stop() { say "stopped: $*"; exit 1; }
trap '[ -z "$running" ] || say "stopped: step $running failed half-way. See what it did; apply.sh --back takes it back."' EXIT
# A node may be known to Kubernetes by another name than its own; NODE_NAME overrides.
is_node() { [ "${NODE_NAME:-$(hostname)}" = "$1" ] || [ "$(hostname -s 2>/dev/null || hostname)" = "$1" ]; }
on_node() {
  is_node "$1" || stop "this step belongs to node $1, and this is $(hostname). Run the script there; if this is that node, set NODE_NAME=$1."
  [ "$(id -u)" = 0 ] || stop "this step needs root"
}
still() { "$2" || stop "the state is not the captured one: it is no longer so that $1. Collect and analyse again."; }
ask() {
  [ "$mode" = yes ] || [ "${YES:-}" = 1 ] && return 0
  read -r -p "Do it? [yes/skip/stop] " answer
  case $answer in yes) return 0 ;; skip) return 1 ;; *) stop "as asked" ;; esac
}
# What was begun can be taken back, even where it failed half-way; what is done is not done twice.
begun() { [ -e "$done_steps" ] && grep -qE "^$1( begun)?\$" "$done_steps"; }
is_done() { [ -e "$done_steps" ] && grep -qx "$1" "$done_steps"; }
forget() { sed -i -E "/^$1( begun)?\$/d" "$done_steps"; }
begin() { running=$1; mkdir -p "$backup"; echo "$1 begun" >> "$done_steps"; }
end() { forget "$1"; echo "$1" >> "$done_steps"; running=''; }
save() {
  local file
  for file in "$@"; do
    if [ -e "$file" ] && [ ! -e "$backup$file" ]; then
      mkdir -p "$backup$(dirname "$file")"
      cp -a "$file" "$backup$file"
      say "  saved $file in $backup"
    fi
  done
}
"#;

/// The script of one fix.
pub(super) fn apply(fix: &Fix) -> String {
    let mut text = String::from(HEAD);
    text.push('\n');
    text.push_str(&say(0, &format!("Fix for {}: {}", fix.cause, fix.remedy)));
    let actions: Vec<&Action> = fix
        .applied()
        .iter()
        .flat_map(|applied| &applied.actions)
        .collect();
    let apart = of_several_machines(&actions);
    text.push_str(&take_back(&actions, apart));
    for (number, action) in (1..).zip(&actions) {
        text.push('\n');
        let title = format!("Step {number} of {}: {}", actions.len(), action.text);
        text.push_str(&say(0, &title));
        text.push_str(&step(number, action, apart));
    }
    text.push_str(END);
    text
}

const END: &str = r#"
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

/// Whether no one machine can take all steps, so that the script runs on each for its own.
fn of_several_machines(actions: &[&Action]) -> bool {
    let mut places = actions.iter().map(|action| &action.place);
    let mut scripted = places.by_ref().filter(|place| **place != Place::Hands);
    let first = scripted.next();
    scripted.any(|place| Some(place) != first)
}

fn say(indent: usize, text: &str) -> String {
    format!("{:indent$}say {}\n", "", quoted(&one_line(text)))
}

/// The part that takes steps back: last step first, restarts after the files are what they were.
fn take_back(actions: &[&Action], apart: bool) -> String {
    let mut text = String::from(
        "\nif [ \"$mode\" = back ]; then\n  [ -e \"$done_steps\" ] || stop \"nothing was done from here: $done_steps does not exist\"\n",
    );
    let numbered = || {
        actions
            .iter()
            .enumerate()
            .rev()
            .map(|(index, action)| (index + 1, *action))
    };
    let is_restart = |action: &Action| action.roll_back.starts_with("systemctl restart ");
    let files = numbered().filter(|(_, action)| !is_restart(action));
    for (number, action) in files.chain(numbered().filter(|(_, action)| is_restart(action))) {
        // The script runs no step that is for people, so there is none to take back.
        if action.place == Place::Hands {
            continue;
        }
        let here = match &action.place {
            Place::Node(node) if apart => format!(" && is_node {}", quoted(node)),
            _ => String::new(),
        };
        let _ = writeln!(text, "  if begun {number}{here}; then");
        let what = format!("Take back step {number}: {}", action.text);
        text.push_str(&say(4, &what));
        if is_command(&action.roll_back) {
            if let Place::Node(node) = &action.place {
                let _ = writeln!(text, "    on_node {}", quoted(node));
            }
            let _ = writeln!(
                text,
                "    if ask; then\n{}\n      forget {number}\n    else\n      left=\"$left {number}\"\n    fi",
                action.roll_back
            );
        } else {
            text.push_str(&say(4, &format!("  By hand: {}", action.roll_back)));
            let _ = writeln!(text, "    left=\"$left {number}\"");
        }
        text.push_str("  fi\n");
    }
    text.push_str("  [ -z \"$left\" ] || stop \"not taken back: step$left\"\n  say 'What was done is taken back.'\n  exit 0\nfi\n");
    text
}

/// Roll-backs that no command can do begin with a capital, as sentences do.
pub(super) fn is_command(roll_back: &str) -> bool {
    !roll_back.starts_with(|c: char| c.is_uppercase())
}

fn step(number: usize, action: &Action, apart: bool) -> String {
    let interrupts = format!("  Interrupts: {}", action.interrupts);
    let Some(command) = action
        .command
        .as_ref()
        .filter(|_| action.place != Place::Hands)
    else {
        let by_hand = action.command.as_ref().map_or_else(
            || "  This step is for people; nothing was run.".to_owned(),
            |command| format!("  By hand: {command}"),
        );
        return say(0, &interrupts) + &say(0, &by_hand) + &format!("people=\"$people {number}\"\n");
    };
    let mut text = format!("if is_done {number}; then\n");
    text.push_str(&say(
        2,
        "  It was done before. apply.sh --back takes it back.",
    ));
    if let (Place::Node(node), true) = (&action.place, apart) {
        let node = quoted(node);
        let _ = writeln!(
            text,
            "elif ! is_node {node}; then\n  say \"  Not here: it belongs to node \"{node}\", and this is $(hostname). Run the script there as well.\"\n  left=\"$left {number}\""
        );
    }
    text.push_str("else\n");
    text.push_str(&say(2, &interrupts));
    if let Place::Node(node) = &action.place {
        let _ = writeln!(text, "  on_node {}", quoted(node));
    }
    if let Some((check, what)) = &action.guard {
        // A function, so that what the bundle named stays a word and is never read as a program again.
        let _ = writeln!(
            text,
            "  check_{number}() {{\n{check}\n  }}\n  still {} check_{number}",
            quoted(&one_line(what)),
        );
    }
    if let Some(dry) = &action.dry_run {
        text.push_str(&say(2, "  What it would do:"));
        // Each of its lines must succeed, which a list behind || would not see.
        let _ = writeln!(
            text,
            "  set +e\n(\nset -e\n{dry}\n) >&2\n  shown=$?\n  set -e\n  [ \"$shown\" = 0 ] || stop 'the dry run failed'"
        );
    }
    let _ = writeln!(
        text,
        "  if [ \"$mode\" = dry ]; then\n    :\n  elif ask; then\n    begin {number}"
    );
    if !action.backup.is_empty() {
        let files: Vec<String> = action.backup.iter().map(|file| quoted(file)).collect();
        let _ = writeln!(text, "    save {}", files.join(" "));
    }
    let _ = writeln!(text, "{command}\n    end {number}");
    text.push_str(&say(4, &format!("  Expect: {}", action.expect)));
    text.push_str(&say(4, &format!("  Back: {}", action.roll_back)));
    let _ = writeln!(text, "  else\n    left=\"$left {number}\"\n  fi\nfi");
    text
}

/// Without line breaks and control characters, which a terminal would obey.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// The name under which a file of the fix lies beside the script.
pub(in crate::fix) fn beside(name: &str) -> String {
    format!("\"$here/{}\"", safe_name(name))
}
