# shellcheck shell=bash
# Words for BEFORE and FAULTY of a try, and the try itself: the captured state, a dry run, apply.sh, and back. For
# `apart` and `booted`, which make the machine that it happens on; SCRATCH is a folder of that machine alone.

place() {
  rm -rf /etc/containerd /etc/docker
  local part
  for part in etc var; do
    [ ! -d "$STATE/nodes/$NODE/rootfs/$part" ] || cp -R "$STATE/nodes/$NODE/rootfs/$part/." "/$part/"
  done
}

# Whether a daemon says the first words before the second ones, which it says once it is as far; then it is ended.
says_before() {
  local words=$1 far=$2 line said=1 daemon
  shift 2
  while IFS= read -r line; do
    case $line in
    *"$words"*) said=0 && break ;;
    *"$far"*) break ;;
    esac
  done < <(exec timeout 6 "$@" 2>&1)
  daemon=$!
  kill "$daemon" 2>/dev/null || true
  wait "$daemon" || true
  return "$said"
}

# Older daemons have no --validate; each reads its file before it does anything else.
docker_refuses() {
  says_before 'unable to configure the Docker daemon' 'Starting up' \
    dockerd --config-file /etc/docker/daemon.json --data-root "$SCRATCH"/data --exec-root "$SCRATCH"/exec --pidfile "$SCRATCH"/pid \
    -H unix://"$SCRATCH"/d.sock --bridge none --iptables=false
}

containerd_says() {
  says_before "$1" 'containerd successfully booted' \
    containerd --root "$SCRATCH"/root --state "$SCRATCH"/state -a "$SCRATCH"/c.sock -c /etc/containerd/config.toml
}

containerd_has() { containerd -c /etc/containerd/config.toml config dump 2>/dev/null | grep -q "$1"; }

# The image that each sandbox needs, so that the running containerd gets as far as its handlers.
load_sandbox_image() {
  load_image "$({ containerd config dump || containerd config default; } 2>/dev/null | sed -n 's/^ *sandbox_image = "\(.*\)"/\1/p')" pause
}

# An image of this name that holds one empty program.
load_image() {
  local home=$SCRATCH/image-$2 name=$1
  mkdir -p "$home/files"
  touch "$home/files/$2"
  tar -C "$home/files" -cf "$home/layer.tar" .
  printf '{"architecture":"amd64","os":"linux","config":{"Entrypoint":["/%s"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$2" "$(sha256sum <"$home/layer.tar" | cut -d' ' -f1)" >"$home/config.json"
  printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$name" >"$home/manifest.json"
  tar -C "$home" -cf "$home/image.tar" manifest.json config.json layer.tar
  ctr --namespace k8s.io images import "$home/image.tar" >/dev/null
}

# Whether the running containerd starts no sandbox for want of a handler. One that has just started is asked again until
# it answers.
lacks_handler() {
  local said=
  for _ in $(seq 50); do
    # A name that was asked for once is taken.
    asked=$((${asked:-0} + 1))
    if said=$(casefile-cri /run/containerd/containerd.sock "a/b$asked" c --handler "$1" 2>&1) &&
      [[ $said != *'not initialized'* ]]; then break; fi
    sleep 0.2
  done
  [[ $said == *'no runtime for'* ]]
}

# A pod behind an interface of this name, and the world behind eth0, which counts the queries that arrive.
raise_pod() {
  unshare --net sleep 3600 >/dev/null 2>&1 &
  pod=$!
  unshare --net sleep 3600 >/dev/null 2>&1 &
  world=$!
  until [ "$(readlink /proc/$world/ns/net)" != "$(readlink /proc/self/ns/net)" ] &&
    [ "$(readlink /proc/$pod/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
  sysctl -qw net.ipv4.ip_forward=1
  ip link add "$1" type veth peer name eth0 netns $pod
  ip link add eth0 type veth peer name eth0 netns $world
  ip addr add 10.42.0.1/32 dev "$1"
  ip addr add 192.0.2.7/24 dev eth0
  ip link set "$1" up
  ip link set eth0 up
  ip route add 10.42.0.7/32 dev "$1"
  nsenter -t $pod -n sh -ec 'ip link set eth0 up; ip addr add 10.42.0.7/32 dev eth0
    ip route add 10.42.0.1 dev eth0; ip route add default via 10.42.0.1'
  nsenter -t $world -n sh -ec 'ip link set eth0 up; ip addr add 192.0.2.1/24 dev eth0; nft add table ip seen
    nft add chain ip seen arrived "{ type filter hook prerouting priority 0; }"; nft add rule ip seen arrived udp dport 53 counter'
  sent=5900
}

queries() { nsenter -t "$world" -n nft list chain ip seen arrived | sed -n 's/.*packets \([0-9]*\).*/\1/p'; }

query_arrives() {
  local count
  count=$(queries)
  sent=$((sent + 1))
  nsenter -t "$pod" -n casefile-packet "10.42.0.7:$sent" 192.0.2.1:53
  sleep 0.3
  [ "$(queries)" -gt "$count" ]
}

faulty() { eval "$FAULTY"; }

# Prints `gone` or `still there`, and `taken back`.
# shellcheck disable=SC2153 # both are the caller's
attempt() {
  # Some changes take something from somebody, which a person has to choose.
  export ACCEPT=yes
  eval "$BEFORE"
  faulty || { echo 'not the captured state' >&2; exit 3; }
  if ! bash "$FIX/apply.sh" --dry-run >"$SCRATCH/dry" 2>&1; then
    cat "$SCRATCH/dry" >&2
    if faulty; then echo 'still there'; fi
    exit 0
  fi
  faulty || { echo 'the dry run changed something' >&2; exit 4; }
  bash "$FIX/apply.sh" --yes >&2
  if faulty; then echo 'still there'; else echo gone; fi
  yes yes | bash "$FIX/apply.sh" --back >&2 || true
  if faulty; then echo 'taken back'; fi
}

# Stands before a script that dies with all that it started, before the command whose number KILL_BEFORE is. Only those
# count that can change anything: between two of them nothing becomes different that a kill could show. The count is in a
# file, since a subshell's own is lost with it.
dying() {
  cat <<'END'
#!/usr/bin/env bash
set -T
dies() {
  local count=0
  case $1 in
    *'> '* | *'>> '*) ;;
    cat\ * | cut\ * | date\ * | diff\ * | dirname\ * | flock\ * | grep\ * | head\ * | hostname* | id\ * | printf\ * | sed\ * | \
      sha256sum\ * | stat\ * | sync\ * | tail\ * | '['* | kubectl\ get\ * | helm\ status\ * | helm\ history\ * | helm\ get\ * | \
      iptables*\ -[CS]\ * | iptables*-save* | nft\ *list\ * | firewall-cmd\ *--query-* | firewall-cmd\ --get-* | \
      firewall-cmd\ --state* | systemctl\ is-active\ * | systemctl\ status\ * | *\ --dry-run*) return 0 ;;
    *) type -P -- "${1%% *}" >/dev/null || return 0 ;;
  esac
  read -r count <"$SCRATCH/kill-count" || true
  [ $((count + 1)) -lt "$KILL_BEFORE" ] || { : >"$SCRATCH/dead"; kill -9 0; }
  printf '%s\n' $((count + 1)) >"$SCRATCH/kill-count"
}
trap 'dies "$BASH_COMMAND"' DEBUG
END
}

# The script of the fix that dies.
deadly() {
  own=$SCRATCH/killed
  export ACCEPT=yes KILL_BEFORE SCRATCH
  cp -R "$FIX" "$own"
  { dying; cat "$FIX/apply.sh"; } >"$own/killed.sh"
}

# Killed before this command, then taken back, or with `again` begun again and taken back. Ends with 9 where the script has
# no more commands, and says what is not as it should be.
killed_once() {
  rm -f "$SCRATCH/dead"
  echo 0 >"$SCRATCH/kill-count"
  KILL_BEFORE=$1 setsid --wait bash "$own/killed.sh" --yes >&2 || true
  [ -e "$SCRATCH/dead" ] || return 9
  # What died with it lets go of the lock a moment later; a person waits for that, as is said.
  local lock
  for lock in "${LOCK_DIR:-/run}/casefile-fix" "$BACKUP_DIR/lock"; do
    [ ! -e "$lock" ] || flock -w 30 "$lock" true
  done
  if [ "$2" = again ]; then
    bash "$own/apply.sh" --yes >&2 || { echo "not begun again after $1"; exit 0; }
    if faulty; then echo "still there after $1"; exit 0; fi
  fi
  YES=1 bash "$own/apply.sh" --back >&2 || [ ! -e "$BACKUP_DIR/steps-done" ] || { echo "no way back after $1 ($2)"; exit 0; }
  faulty || { echo "not taken back after $1 ($2)"; exit 0; }
}

# Both, before each KILL_STEP-th command; prints how often.
attempt_killed() {
  local at times=0
  deadly
  eval "$BEFORE"
  faulty || { echo 'not the captured state' >&2; exit 3; }
  for ((at = KILL_STEP; ; at += KILL_STEP)); do
    killed_once "$at" back || break
    killed_once "$at" again || break
    times=$((times + 1))
  done
  echo "killed $times times"
}
