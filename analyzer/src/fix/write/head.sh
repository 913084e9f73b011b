#!/usr/bin/env bash
# Applies a fix step by step. Each step is shown first and asked for; nothing runs without a yes.
#
#   apply.sh            every step, asking before each
#   apply.sh --dry-run  shows what each step would change, and changes nothing
#   apply.sh --yes      without asking, for those who have read all of it
#   apply.sh --back     takes back what was done on this machine, asking before each
#
# A run that was interrupted can be started again, or taken back. BACKUP_DIR says where the files before are kept,
# NODE_NAME as which node this machine is known to Kubernetes, CHART which chart file a release is upgraded with.
# Texts in single quotes are words and stay so, and not every fix needs every function.
# shellcheck disable=SC2016,SC2317,SC2329
set -euo pipefail
export LC_ALL=C
[ "${BASH_VERSINFO[0]:-0}" -ge 4 ] || { echo 'stopped: this script needs bash 4 or newer' >&2; exit 1; }
here=$(cd -- "$(dirname -- "$0")" && pwd)
backup=${BACKUP_DIR:-$here/backup}
case $backup in /*) ;; *) backup=$PWD/$backup ;; esac
mode=ask
case ${1:-} in
  --dry-run) mode=dry ;;
  --yes) mode=yes ;;
  --back) mode=back ;;
  "") ;;
  *) echo "usage: apply.sh [--dry-run|--yes|--back]" >&2; exit 2 ;;
esac

case ${CHART:-} in -*) echo 'stopped: CHART names no file: it begins with a dash' >&2; exit 2 ;; esac
done_steps=$backup/steps-done
record=$backup/record.txt
saved=$backup/step-0
running='' half='' reason=''
# Steps of other machines or that were skipped, and steps for people.
export left='' people=''
say() { printf '%s\n' "$*" >&2; }
# In one line, also in the middle of a step.
stop() {
  say "stopped: $*${running:+. Step $running was begun: apply.sh --back takes it back, apply.sh begins it again}"
  running=''
  exit 1
}
ended() {
  [ -z "$half" ] || rm -f -- "$half"
  [ -z "$running" ] || say "stopped: step $running failed half-way. See what it did; apply.sh --back takes it back, apply.sh begins it again."
}
trap ended EXIT

# One at a time on a machine (LOCK_DIR says where that is noted). The kernel holds the lock for this run and for what it
# started: one that was killed leaves none behind, and one whose helm goes on still has it. The file stays, since two that
# hold two files of one name would both be at work. Nobody but root writes to /run, so that no other user puts a link there.
alone() {
  [ "$mode" != dry ] || return 0
  [ ! -L "$backup" ] || stop "$backup is a link; name the folder for the files before with BACKUP_DIR"
  reason=$({ mkdir -p -- "$backup" && chmod 700 -- "$backup"; } 2>&1) || stop "the files before cannot be kept in $backup (${reason##*: }); name another folder with BACKUP_DIR"
  local file=$backup/lock other='' folder=${LOCK_DIR:-/run}
  [ ! -w "$folder" ] || file=$folder/casefile-fix
  [ ! -L "$file" ] || stop "$file is a link, which no run of a fix makes; look at it and remove it"
  command -v -- flock >/dev/null || stop "this script needs flock (of util-linux), which is not on this machine"
  exec 9<> "$file" || stop "$file cannot be written (the reason is above), so that another run of a fix would not be seen; name another folder with LOCK_DIR"
  if ! flock -n 9; then
    read -r other <&9 || true
    stop "another run of a fix is at work on this machine (process ${other:-unknown}, or what it started); wait for its end"
  fi
  echo "$$" 2>/dev/null > "$file" || true
}

# A node may be known to Kubernetes by another name than its own; NODE_NAME overrides.
is_node() {
  if [ -n "${NODE_NAME:-}" ]; then [ "$NODE_NAME" = "$1" ]; else [ "$(hostname)" = "$1" ] || [ "$(hostname -s 2>/dev/null || hostname)" = "$1" ]; fi
}
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
answers() {
  kubectl get --raw /version >/dev/null || stop "the API server does not answer as kubectl is set up here; nothing was changed"
  same_cluster kubectl
}
# The same for helm, which says so of each command. One that may not list releases has an answer all the same.
releases() {
  local said
  said=$(helm list --max 1 --short 2>&1 >/dev/null) || case $said in
    *'cluster unreachable'*) stop "the API server does not answer as helm is set up here; nothing was changed" ;;
  esac
  same_cluster helm ${HELM_KUBECONTEXT:+"--context=$HELM_KUBECONTEXT"}
}
# The same names may stand in another cluster: where kubectl shows that, nothing is done there.
same_cluster() {
  local program=$1 there
  shift
  [ -n "$cluster" ] && command -v -- kubectl >/dev/null || return 0
  there=$(kubectl "$@" get namespace kube-system -o 'jsonpath={.metadata.uid}' 2>/dev/null) || return 0
  [ -z "$there" ] || [ "$there" = "$cluster" ] || stop "$program reaches another cluster than the one that was collected (its kube-system is $there, not $cluster); nothing was changed. Choose the right context."
}
# What was checked before the step began, and is taken back, need not be the same object again: one that was made anew has
# another identity. A look that was refused shows no other state.
still() {
  [ -z "$resumed$checked" ] || return 0
  local complaint=''
  complaint=$("$2" 2>&1 >/dev/null) && return 0
  case $complaint in
    *[Ff]orbidden* | *[Uu]nauthorized* | *[Pp]'ermission denied'* | *'not permitted'*)
      stop "whether $1 cannot be seen, for the look was refused (${complaint##*$'\n'}); nothing was changed"
      ;;
  esac
  [ -z "$complaint" ] || say "$complaint"
  stop "the state is not the captured one: expected: $1. Collect and analyse again."
}
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

# What a person may name otherwise, by a variable: the text, unless it is set.
chosen() { printf '%s' "${!1:-$2}"; }

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
  [ ! -e "$done_steps" ] || text=$(grep -vE "^($1( begun)?)?\$" "$done_steps" || true)
  # The last one to go needs no room on a disk that is full.
  if [ -z "$text$2" ]; then rm -f -- "$done_steps"; return 0; fi
  half=$done_steps.part
  printf '%s\n%s\n' "$text" "$2" > "$half" && kept "$half" && mv -f -- "$half" "$done_steps" || return 1
  half=''
}
note() { printf '%s  %s  %s  %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(hostname)" "${SUDO_USER:-${USER:-unknown}}" "$*" >> "$record"; }
saves() { saved=$backup/step-$1; }
begin() {
  saves "$1"
  # What an earlier run saved is no longer what is there.
  rm -rf -- "${backup:?}/step-$1"
  reason=$({ mkdir -p -- "$saved" && note "step $1 begun" && mark "$1" "$1 begun"; } 2>&1) || {
    half=$done_steps.part
    stop "what is done cannot be noted in $backup (${reason##*: }); nothing was changed by step $1"
  }
  running=$1
}
end() { mark "$1" "$1"; note "step $1 done"; running=''; }
# What was saved goes last, so that who is stopped in between knows all the same what there is to take back. On a full
# disk it makes the room that the journal needs.
forget() {
  mark "$1" '' || { rm -rf -- "${backup:?}/step-$1"; mark "$1" ''; }
  rm -rf -- "${backup:?}/step-$1"
  note "step $1 taken back"
}
resumed='' checked=''
interrupted() {
  resumed='' checked=''
  begun "$1" && ! is_done "$1" || return 1
  say "  It was begun and not finished: what it changed is taken back, and it begins again."
  [ "$mode" != dry ] || { resumed=yes; return 1; }
}
# On the disk, and not only on its way there, before anything that counts on it: a machine may lose its power.
kept() { sync -- "$1" 2>/dev/null || sync; }
something_done() { { [ -e "$done_steps" ] && grep -q . "$done_steps"; } || stop "nothing was done from here: $done_steps names no step"; }
all_taken_back() { [ -z "$left" ] || stop "not taken back: step$left"; say 'What was done is taken back.'; exit 0; }

# ---- files: saved before, whole or as missing; changed beside their place and then put there
# The name of the new text begins with a dot, so that no program that reads the folder takes it for a file of its own.
beside() { printf '%s/.%s.casefile-new' "${1%/*}" "${1##*/}"; }
# Whether a file can get another text, asked before anything is: the folder that it is in, or is to be in, takes files.
writable() {
  local file folder
  for file in "$@"; do
    folder=${file%/*}
    while [ -n "$folder" ] && [ ! -e "$folder" ]; do folder=${folder%/*}; done
    [ -d "${folder:-/}" ] || stop "$folder is no folder, so $file cannot be written; nothing was changed"
    [ -w "${folder:-/}" ] || stop "${folder:-/} takes no files (a read-only file system, or no permission), so $file cannot be changed by this script; nothing was changed"
  done
}
save() {
  local file folder made
  for file in "$@"; do
    if [ -e "$saved$file" ] || [ -e "$saved$file.absent" ]; then continue; fi
    mkdir -p -- "$saved${file%/*}"
    if [ -e "$file" ]; then
      half=$saved$file.part
      reason=$(cp -a -- "$file" "$half" 2>&1) || stop "$file cannot be saved in $saved (${reason##*: }), so it was not changed"
      same_rights "$file" "$half"
      kept "$half"
      mv -f -- "$half" "$saved$file"
      half=''
      say "  saved $file in $saved"
    else
      # Folders that are made for it are taken away with it.
      folder=${file%/*} made=''
      while [ -n "$folder" ] && [ ! -e "$folder" ]; do made+=$folder$'\n' folder=${folder%/*}; done
      printf '%s' "$made" > "$saved$file.absent"
      kept "$saved$file.absent"
    fi
  done
}
# A copy on a file system without owners and modes (a USB stick) could not bring them back.
same_rights() {
  [ "$(rights "$1")" = "$(rights "$2")" ] || { rm -f -- "$2"; stop "$backup does not keep owner and mode of $1; name a folder on a disk of this machine with BACKUP_DIR. $1 was not changed"; }
}
rights() { stat -c '%a %u %g' -- "$1"; }
restore() {
  local new folder
  new=$(beside "$1")
  rm -f -- "$new"
  if [ -e "$saved$1" ]; then
    half=$new
    cp -a -- "$saved$1" "$new"
    placed "$1"
  elif [ -e "$saved$1.absent" ]; then
    rm -f -- "$1"
    while read -r folder; do rmdir -- "$folder" 2>/dev/null || break; done < "$saved$1.absent"
  else
    say "  $1 was not touched"
  fi
}
# The new text at its place, as a whole or not at all.
placed() {
  kept "$half"
  mv -f -- "$half" "$1"
  half=''
}
# The program that will read the file reads its new text first, which nobody else does yet.
reads() {
  local file=$1
  shift
  command -v -- "$1" >/dev/null || { say "  $1 is not on this machine, so the new $file was not read before it is put in its place"; return 0; }
  reason=$("$@" 2>&1 >/dev/null) && return 0
  rm -f -- "$half"
  half=''
  reason=${reason##*$'\n'}
  stop "$1 refuses the new $file (${reason:0:400}); it is as it was"
}
# A new file, or one that is this fix's own.
add_file() { new_text "$1" "$2"; placed "$1"; }
new_text() {
  half=$(beside "$1")
  rm -f -- "$half"
  reason=$({ if [ -e "$1" ]; then
    cp -a -- "$1" "$half" && cat -- "$2" > "$half"
  else
    mkdir -p -- "${1%/*}" && install -m 644 -- "$2" "$half"
  fi; } 2>&1) || stop "$1 cannot be written (${reason##*: }); it is as it was"
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
patch_file() { patched_text "$1" "$2"; placed "$1"; }
patched_text() {
  [ ! -L "$1" ] || stop "$1 is a link; change the file that it leads to by hand"
  fits "$1" "$2" || stop "$1 does not hold the lines that would change"
  half=$(beside "$1")
  rm -f -- "$half"
  reason=$({ cp -a -- "$1" "$half" && patched "$1" "$2" > "$half"; } 2>&1) || stop "$1 cannot be written anew (${reason##*: }); it is as it was"
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
