# The node's files: the machine's own /usr, and beside it only what the model node has.
# Sourced by `node`; uses $root, $lab, $state, $binaries, $shared, $base.

plant_tree() {
  mkdir -p "$root"/{etc/default,etc/kubernetes,usr,proc,sys,dev,root,opt/cni/bin,home,boot,shared}
  mkdir -p "$root"/{run/lock,tmp,var/log,var/lib/ufw,var/lib/kubelet,var/lib/containerd,var/snap/k8s/4401,snap/k8s/4401/bin}
  mkdir -p "$root$base"/{etc/containerd/hosts.d,etc/containerd/conf.d,run/containerd,var/lib/containerd}
  chmod 1777 "$root/tmp"
  mount --rbind -o ro /usr "$root/usr"
  mount -t tmpfs -o mode=755 lab "$root/usr/local"
  local link
  for link in bin sbin lib lib32 lib64 libx32; do
    [ -L "/$link" ] && cp -a "/$link" "$root/$link"
  done
  ln -s ../run "$root/var/run"
  mount --bind "$shared" "$root/shared"
  plant_devices
  plant_etc
  plant_programs
  plant_states
}

plant_devices() {
  local device
  for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  ln -s /proc/self/fd "$root/dev/fd"
  mkdir "$root/dev/shm"
  mount -t sysfs lab "$root/sys"
  mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
  mount -t proc lab "$root/proc"
}

plant_etc() {
  cp -a /etc/alternatives /etc/ld.so.cache /etc/passwd /etc/group /etc/protocols /etc/services "$root/etc/"
  printf 'root:x:0:0:root:/root:/bin/bash\n' >"$root/etc/passwd"
  printf 'root:x:0:\nsystemd-journal:x:999:\n' >"$root/etc/group"
  printf 'passwd: files\ngroup: files\nhosts: files\n' >"$root/etc/nsswitch.conf"
  printf '127.0.0.1 localhost\n192.18.132.31 192-18-132-31\n' >"$root/etc/hosts"
  printf '192-18-132-31\n' >"$root/etc/hostname"
  printf '62c66a7a5dd70c3146618063c344e531\n' >"$root/etc/machine-id"
  hostname 192-18-132-31
  # ufw as its package installs it, whatever this machine made of it.
  mkdir -p "$root/etc/ufw/applications.d"
  cp /usr/share/ufw/iptables/*.rules /usr/share/ufw/ufw.conf "$root/etc/ufw/"
  cp /etc/ufw/sysctl.conf /etc/ufw/before.init /etc/ufw/after.init "$root/etc/ufw/"
  cp /etc/default/ufw "$root/etc/default/ufw"
  sed -i 's/^DEFAULT_INPUT_POLICY=.*/DEFAULT_INPUT_POLICY="DROP"/; s/^DEFAULT_OUTPUT_POLICY=.*/DEFAULT_OUTPUT_POLICY="ACCEPT"/; s/^DEFAULT_FORWARD_POLICY=.*/DEFAULT_FORWARD_POLICY="DROP"/' "$root/etc/default/ufw"
  cp -R "$lab/files/common/." "$root/"
  mount --bind "$lab/files/common/etc/os-release" "$root/usr/lib/os-release"
}

plant_programs() {
  mkdir -p "$root/usr/local/bin" "$root/usr/local/nvidia/toolkit"
  cp /usr/bin/containerd "$root/snap/k8s/4401/bin/containerd"
  cp "$binaries/casefile-standin" "$root/snap/k8s/4401/bin/kubelet"
  ln -s 4401 "$root/snap/k8s/current"
  # The kernel's own log belongs to the machine around the lab; the node's part of it is in its journal.
  cp "$lab/dmesg" "$root/usr/local/bin/dmesg"
  local name
  for name in nvidia-container-runtime nvidia-container-runtime.cdi nvidia-container-runtime.legacy; do
    cp "$binaries/casefile-standin" "$root/usr/local/nvidia/toolkit/$name"
  done
  for name in casefile-collector casefile-story casefile-cri casefile-packet casefile-dns; do
    [ ! -e "$binaries/$name" ] || cp "$binaries/$name" "$root/usr/local/bin/"
  done
}

# Which files a state has, with the times at which the incident's story wrote them.
plant_states() {
  local wrote_snap=2026-09-26T18:40:12Z wrote_host=2026-11-20T11:00:33Z
  case $state in
    toolkit-wrong-containerd) cp -R "$lab/files/wrong/." "$root/" ;;
    *)
      cp -R "$lab/files/mended/." "$root/"
      wrote_snap=2026-11-20T10:14:22Z wrote_host=2026-11-20T10:10:33Z
      ;;
  esac
  touch -d "$wrote_snap" "$root$base/etc/containerd/config.toml"
  touch -d "$wrote_host" "$root/etc/containerd/config.toml"
  find "$root/etc/cni" "$root/etc/systemd" "$root/var/snap" "$root/etc/resolv.conf" "$root/etc/os-release" \
    -type f -exec touch -d 2026-09-26T18:40:02Z {} +
}
