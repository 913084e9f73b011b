#!/usr/bin/env bash
# Applies a fix step by step. Each step is shown first and asked for; nothing runs without a yes.
#
#   apply.sh            every step, asking before each
#   apply.sh --dry-run  shows what each step would change, and changes nothing
#   apply.sh --yes      without asking, for those who have read all of it
#   apply.sh --back     takes back what was done on this machine, asking before each
#
# A run that was interrupted can be started again, or taken back. BACKUP_DIR says where the files before are kept,
# NODE_NAME as which node this machine is known to Kubernetes.
set -euo pipefail
export LC_ALL=C
here=$(cd -- "$(dirname -- "$0")" && pwd)
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
record=$backup/record.txt
saved=$backup/step-0
lock='' running=''
# Steps of other machines or that were skipped, and steps for people.
export left='' people=''
say() { printf '%s\n' "$*" >&2; }
stop() { say "stopped: $*"; exit 1; }
ended() {
  [ -z "$running" ] || say "stopped: step $running failed half-way. See what it did; apply.sh --back takes it back, apply.sh begins it again."
  [ -z "$lock" ] || rm -f -- "$lock"
}
trap ended EXIT

# One at a time on a machine (LOCK_DIR says where that is noted). A lock whose process is gone is an interrupted run's.
alone() {
  [ "$mode" != dry ] || return 0
  mkdir -p -- "$backup"
  local file=$backup/lock other folder=${LOCK_DIR:-/run/lock}
  [ ! -w "$folder" ] || file=$folder/casefile-fix
  if ! (set -o noclobber; echo "$$" > "$file") 2>/dev/null; then
    read -r other < "$file" || other=''
    if [ -n "$other" ] && kill -0 "$other" 2>/dev/null; then
      stop "another run of a fix is at work on this machine (process $other); wait for its end"
    fi
    echo "$$" > "$file"
  fi
  lock=$file
}

# A node may be known to Kubernetes by another name than its own; NODE_NAME overrides.
is_node() { [ "${NODE_NAME:-$(hostname)}" = "$1" ] || [ "$(hostname -s 2>/dev/null || hostname)" = "$1" ]; }
on_node() {
  is_node "$1" || stop "this step belongs to node $1, and this is $(hostname). Run the script there; if this is that node, set NODE_NAME=$1."
  [ "$(id -u)" = 0 ] || stop "this step needs root"
}
elsewhere() { say "  Not here: it belongs to node $1, and this is $(hostname). Run the script there as well."; }
needs() {
  local program
  for program in "$@"; do
    command -v -- "$program" >/dev/null || stop "this step needs $program, which is not on this machine"
  done
}
answers() { kubectl get --raw /version >/dev/null || stop "the API server does not answer as kubectl is set up here; nothing was changed"; }
still() { [ -n "$resumed" ] || "$2" || stop "the state is not the captured one: it is no longer so that $1. Collect and analyse again."; }
# Each line of it must succeed, which a list behind || would not see.
look() {
  [ -z "$resumed" ] || return 0
  say '  What it would do:'
  local shown=0
  set +e
  (set -e; "$1") >&2
  shown=$?
  set -e
  [ "$shown" = 0 ] || stop 'the dry run failed'
}
ask() {
  [ "$mode" != yes ] && [ "${YES:-}" != 1 ] || return 0
  local answer=''
  read -r -p "Do it? [yes/skip/stop] " answer || stop "nobody answered"
  case $answer in yes) return 0 ;; skip) return 1 ;; *) stop "as asked" ;; esac
}

# What takes something from somebody is chosen by a person; --yes alone chooses nothing.
choose() {
  say "  A person has to choose this: $1"
  [ "$mode" != yes ] || [ "${ACCEPT:-}" = yes ] || stop "--yes does not choose that; run it without --yes, or with ACCEPT=yes"
}

# ---- what was done: begun, and done; a step that failed half-way is begun
begun() { [ -e "$done_steps" ] && grep -qE "^$1( begun)?\$" "$done_steps"; }
is_done() { [ -e "$done_steps" ] && grep -qx "$1" "$done_steps"; }
mark() {
  local text=''
  [ ! -e "$done_steps" ] || text=$(grep -vE "^$1( begun)?\$" "$done_steps" || true)
  printf '%s\n%s\n' "$text" "$2" > "$done_steps.part"
  mv -f -- "$done_steps.part" "$done_steps"
}
note() { printf '%s  %s  %s  %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(hostname)" "${SUDO_USER:-${USER:-unknown}}" "$*" >> "$record"; }
saves() { saved=$backup/step-$1; }
begin() {
  running=$1
  saves "$1"
  # What an earlier run saved is no longer what is there.
  rm -rf -- "${backup:?}/step-$1"
  mkdir -p -- "$saved"
  note "step $1 begun"
  mark "$1" "$1 begun"
}
end() { mark "$1" "$1"; note "step $1 done"; running=''; }
forget() { mark "$1" ''; note "step $1 taken back"; rm -rf -- "${backup:?}/step-$1"; }
resumed=''
interrupted() {
  resumed=''
  begun "$1" && ! is_done "$1" || return 1
  say "  It was begun and not finished: what it changed is taken back, and it begins again."
  [ "$mode" != dry ] || { resumed=yes; return 1; }
}
something_done() { { [ -e "$done_steps" ] && grep -q . "$done_steps"; } || stop "nothing was done from here: $done_steps names no step"; }
all_taken_back() { [ -z "$left" ] || stop "not taken back: step$left"; say 'What was done is taken back.'; exit 0; }

# ---- files: saved before, whole or as missing; changed beside their place and then put there
save() {
  local file
  for file in "$@"; do
    if [ -e "$saved$file" ] || [ -e "$saved$file.absent" ]; then continue; fi
    mkdir -p -- "$saved${file%/*}"
    if [ -e "$file" ]; then
      cp -a -- "$file" "$saved$file.part"
      mv -f -- "$saved$file.part" "$saved$file"
      say "  saved $file in $saved"
    else
      : > "$saved$file.absent"
    fi
  done
}
restore() {
  rm -f -- "$1.casefile-new"
  if [ -e "$saved$1" ]; then
    cp -a -- "$saved$1" "$1.casefile-new"
    mv -f -- "$1.casefile-new" "$1"
  elif [ -e "$saved$1.absent" ]; then
    rm -f -- "$1"
  else
    say "  $1 was not touched"
  fi
}
# A new file, or one that is this fix's own.
add_file() {
  if [ -e "$1" ]; then
    cp -a -- "$1" "$1.casefile-new"
    cat -- "$2" > "$1.casefile-new"
    mv -f -- "$1.casefile-new" "$1"
  else
    install -D -m 644 -- "$2" "$1"
  fi
}
compare() {
  local old=$1
  [ -e "$old" ] || old=/dev/null
  diff -u -- "$old" "$2" || [ $? = 1 ]
}
compare_patched() {
  fits "$1" "$2" || stop "$1 does not hold the lines that would change"
  patched "$1" "$2" | diff -u -- "$1" - || [ $? = 1 ]
}
fits() { [ -f "$1" ] && [ ! -L "$1" ] && patched "$1" "$2" >/dev/null; }
# Mode, owner and security context stay: the copy has them before it gets another text.
patch_file() {
  [ ! -L "$1" ] || stop "$1 is a link; change the file that it leads to by hand"
  cp -a -- "$1" "$1.casefile-new"
  patched "$1" "$2" > "$1.casefile-new" || { rm -f -- "$1.casefile-new"; stop "$1 does not hold the lines that would change, or there is no room to write it"; }
  mv -f -- "$1.casefile-new" "$1"
}
# The text of a file after unified differences, each of whose places must be found exactly once.
patched() {
  local -a lines=() changes=() old=() new=() out=()
  local line last='' from=0 opened=''
  mapfile lines < "$1"
  mapfile -t changes < "$2"
  # What no line can hold (an end of text) would be lost.
  [ "${#lines[@]}" = 0 ] || printf '%s' "${lines[@]}" | diff -q -- - "$1" >/dev/null || return 1
  for line in "${changes[@]}"; do
    case $line in
      '@@ '*) hunk || return 1; opened=yes; old=(); new=() ;;
      ' '*) [ -z "$opened" ] || { old+=("${line:1}"$'\n'); new+=("${line:1}"$'\n'); last=both; } ;;
      '-'*) [ -z "$opened" ] || { old+=("${line:1}"$'\n'); last=old; } ;;
      '+'*) [ -z "$opened" ] || { new+=("${line:1}"$'\n'); last=new; } ;;
      "\\"*)
        [ "$last" = new ] || old[${#old[@]}-1]=${old[${#old[@]}-1]%$'\n'}
        [ "$last" = old ] || new[${#new[@]}-1]=${new[${#new[@]}-1]%$'\n'}
        ;;
    esac
  done
  hunk || return 1
  out+=("${lines[@]:from}")
  [ "${#out[@]}" = 0 ] || printf '%s' "${out[@]}"
}
# One place of `patched`, whose variables it uses.
hunk() {
  [ -n "$opened" ] || return 0
  local at found=-1 count=${#old[@]} index
  if [ "$count" = 0 ]; then
    [ "${#lines[@]}" = 0 ] || return 1
    found=0
  fi
  for ((at = 0; count > 0 && at + count <= ${#lines[@]}; at++)); do
    for ((index = 0; index < count; index++)); do
      [ "${lines[at + index]}" = "${old[index]}" ] || continue 2
    done
    [ "$found" = -1 ] || return 1
    found=$at
  done
  [ "$found" -ge "$from" ] || return 1
  out+=("${lines[@]:from:found-from}" "${new[@]}")
  from=$((found + count))
}

alone
