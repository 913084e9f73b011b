# The node's programs, and then the command. Runs as the first process of the node's process namespace.
set -euo pipefail
state=$1
shift
export PATH=/usr/local/bin:/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8
base=/var/lib/k8s-containerd/k8s-containerd
mount -t proc proc /proc
# What the recorded node object says of its machine, where this machine would say another thing.
pose() { printf '%s\n' "$2" >"/run/pose-$(basename "$1")"; mount --bind "/run/pose-$(basename "$1")" "$1"; }
pose /proc/sys/kernel/random/boot_id b0070000-1111-4222-8333-444455556666
pose /proc/sys/kernel/osrelease 6.8.0-79-generic
pose /proc/version 'Linux version 6.8.0-79-generic (buildd@lcy02) #79-Ubuntu SMP PREEMPT_DYNAMIC'
pose /proc/cmdline 'BOOT_IMAGE=/boot/vmlinuz-6.8.0-79-generic root=LABEL=cloudimg-rootfs ro'

# unit, log, command: started in the unit's cgroup, as systemd would
service() {
  local unit=$1 log=$2
  shift 2
  (
    for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
      [ -e "$root/cgroup.procs" ] || continue
      place=$root/$LAB_CGROUP/system.slice/$unit
      mkdir -p "$place" 2>/dev/null && echo $BASHPID >"$place/cgroup.procs" || true
    done
    exec "$@" >"$log" 2>&1
  ) &
  started=$!
}

service snap.k8s.containerd.service /run/snap-containerd.log \
  /snap/k8s/4401/bin/containerd $(cat /var/snap/k8s/common/args/containerd)
snap=$started
service containerd.service /run/host-containerd.log /usr/bin/containerd
host=$started
service snap.k8s.kubelet.service /run/kubelet.log \
  /snap/k8s/4401/bin/kubelet $(cat /var/snap/k8s/common/args/kubelet)
echo "$snap $host $started" >/run/pids

for socket in $base/run/containerd/containerd.sock /run/containerd/containerd.sock; do
  for _ in $(seq 100); do
    grep -qs 'containerd successfully booted' /run/snap-containerd.log /run/host-containerd.log && [ -S "$socket" ] && break
    sleep 0.1
  done
done
for log in /run/snap-containerd.log /run/host-containerd.log; do
  grep -q 'containerd successfully booted' $log || sleep 2
  grep -q 'containerd successfully booted' $log || { cat $log >&2; exit 1; }
done

# A runtime looks for the pause image before it looks for the handler; nothing can be pulled here.
pause_image() {
  local image=/tmp/pause layer
  mkdir -p $image/files && printf 'pause\n' >$image/files/pause
  tar --sort=name --owner=0 --group=0 --mtime=@0 -C $image/files -cf $image/layer.tar .
  layer=$(sha256sum $image/layer.tar | cut -d' ' -f1)
  printf '{"architecture":"amd64","os":"linux","config":{"Entrypoint":["/pause"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$layer" >$image/config.json
  printf '[{"Config":"config.json","RepoTags":["ghcr.io/canonical/k8s-snap/pause:3.10"],"Layers":["layer.tar"]}]' >$image/manifest.json
  tar -C $image -cf /tmp/pause.tar manifest.json config.json layer.tar
  ctr --address $base/run/containerd/containerd.sock --namespace k8s.io images import /tmp/pause.tar >/dev/null
  rm -r $image /tmp/pause.tar
}
pause_image
casefile-story ask "$state" $base/run/containerd/containerd.sock >/run/answers
casefile-story journal "$state" /run >/run/journal.export
journal=/var/log/journal/$(cat /etc/machine-id)
mkdir -p "$journal"
/lib/systemd/systemd-journal-remote -o "$journal/system.journal" /run/journal.export >/dev/null 2>&1
rm -f /run/*.log /run/answers /run/journal.export /run/pids /run/programs.sh
exec "$@"
