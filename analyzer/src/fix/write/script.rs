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
say() { printf '%s\n' "$*" >&2; }
stop() { say "stopped: $*"; exit 1; }
# A node may be known to Kubernetes by another name than its own; NODE_NAME overrides.
on_node() {
  [ "${NODE_NAME:-$(hostname)}" = "$1" ] || [ "$(hostname -s 2>/dev/null || hostname)" = "$1" ] ||
    stop "this step belongs to node $1, and this is $(hostname). Run the script there; if this is that node, set NODE_NAME=$1."
  [ "$(id -u)" = 0 ] || stop "this step needs root"
}
still() { bash -c "$2" || stop "the state is not the captured one: it is no longer so that $1. Collect and analyse again."; }
ask() {
  [ "$mode" = yes ] || [ "${YES:-}" = 1 ] && return 0
  read -r -p "Do it? [yes/skip/stop] " answer
  case $answer in yes) return 0 ;; skip) return 1 ;; *) stop "as asked" ;; esac
}
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
    let say = |text: &str| format!("say {}\n", quoted(&one_line(text)));
    text.push('\n');
    text.push_str(&say(&format!("Fix for {}: {}", fix.cause, fix.remedy)));
    let actions: Vec<&Action> = fix
        .applied()
        .iter()
        .flat_map(|applied| &applied.actions)
        .collect();
    text.push_str(&take_back(&actions));
    for (number, action) in (1..).zip(&actions) {
        text.push('\n');
        text.push_str(&say(&format!(
            "Step {number} of {}: {}",
            actions.len(),
            action.text
        )));
        text.push_str(&say(&format!("  Interrupts: {}", action.interrupts)));
        text.push_str(&step(number, action));
    }
    text.push_str("\nsay 'All steps are done. Collect again and compare: casefile-analyzer diff BEFORE AFTER'\n");
    text
}

/// The part that takes steps back: last step first, restarts after the files are what they were.
fn take_back(actions: &[&Action]) -> String {
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
        let _ = writeln!(text, "  if grep -qx {number} \"$done_steps\"; then");
        let what = format!("Take back step {number}: {}", action.text);
        let _ = writeln!(text, "    say {}", quoted(&one_line(&what)));
        if is_command(&action.roll_back) && action.place != Place::Hands {
            if let Place::Node(node) = &action.place {
                let _ = writeln!(text, "    on_node {}", quoted(node));
            }
            let _ = writeln!(
                text,
                "    if ask; then\n{}\n      sed -i '/^{number}$/d' \"$done_steps\"\n    fi",
                action.roll_back
            );
        } else {
            let _ = writeln!(
                text,
                "    say {}",
                quoted(&one_line(&format!("  By hand: {}", action.roll_back)))
            );
        }
        text.push_str("  fi\n");
    }
    text.push_str("  say 'What was done is taken back.'\n  exit 0\nfi\n");
    text
}

/// Roll-backs that no command can do begin with a capital, as sentences do.
fn is_command(roll_back: &str) -> bool {
    !roll_back.starts_with(|c: char| c.is_uppercase())
}

fn step(number: usize, action: &Action) -> String {
    let Some(command) = &action.command else {
        return "say '  This step is for people; nothing was run.'\n".into();
    };
    if action.place == Place::Hands {
        return format!(
            "say {}\n",
            quoted(&one_line(&format!("  By hand: {command}")))
        );
    }
    let mut text = String::new();
    if let Place::Node(node) = &action.place {
        let _ = writeln!(text, "on_node {}", quoted(node));
    }
    if let Some((check, what)) = &action.guard {
        let _ = writeln!(text, "still {} {}", quoted(&one_line(what)), quoted(check));
    }
    if let Some(dry) = &action.dry_run {
        text.push_str("say '  What it would do:'\n(\n");
        let _ = writeln!(text, "{dry}\n) >&2 || stop 'the dry run failed'");
    }
    text.push_str("if [ \"$mode\" != dry ] && ask; then\n  mkdir -p \"$backup\"\n");
    if !action.backup.is_empty() {
        let files: Vec<String> = action.backup.iter().map(|file| quoted(file)).collect();
        let _ = writeln!(text, "  save {}", files.join(" "));
    }
    let _ = writeln!(text, "{command}\n  echo {number} >> \"$done_steps\"");
    let said = [
        format!("  Expect: {}", action.expect),
        format!("  Back: {}", action.roll_back),
    ];
    for line in said {
        let _ = writeln!(text, "  say {}", quoted(&one_line(&line)));
    }
    text.push_str("fi\n");
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
