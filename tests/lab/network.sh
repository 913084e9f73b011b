# The node's network: an uplink, one pod, and ufw between them; and the packets of the incident.
# Sourced by `node`; uses $root, $state, $binaries.

raise_network() {
  sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
  ip link set lo up
  ip netns add upstream
  ip link add eno1 address 0c:42:a1:5d:10:31 type veth peer name eth0 address 0c:42:a1:5d:10:01 netns upstream
  ip -n upstream link set eth0 up
  ip -n upstream addr add 192.18.132.1/24 dev eth0
  ip addr add 192.18.132.31/24 dev eno1
  ip link set eno1 up
  ip route add default via 192.18.132.1 dev eno1
  # CoreDNS's pod, as Cilium wires it: a veth pair whose node end is called lxc..., marked on entry.
  ip netns add coredns
  ip link add lxc4f39491e6165 address ea:34:8a:6c:c4:4f type veth peer name eth0 address 0a:67:41:64:51:44 netns coredns
  ip link set lxc4f39491e6165 up
  ip route add 10.1.0.185/32 dev lxc4f39491e6165
  ip addr add 10.1.0.1/32 dev lxc4f39491e6165
  ip -n coredns link set eth0 up
  ip -n coredns addr add 10.1.0.185/32 dev eth0
  ip -n coredns route add 10.1.0.1 dev eth0
  ip -n coredns route add default via 10.1.0.1 dev eth0
  if tc qdisc add dev lxc4f39491e6165 clsact 2>/dev/null; then
    tc filter add dev lxc4f39491e6165 ingress matchall action skbedit mark 0xa1700f00 2>/dev/null ||
      say "this kernel cannot mark packets with tc: the log lines have no MARK"
  fi
}

raise_firewall() {
  inside_root ufw allow 22/tcp
  inside_root ufw logging medium
  if [ "$state" = fixed ]; then
    inside_root ufw allow from 10.0.0.0/8
    inside_root ufw allow out to 10.0.0.0/8
    inside_root ufw route allow in on lxc+ out on eno1
    inside_root ufw route allow in on eno1 out on lxc+
  fi
  inside_root ufw --force enable
  send_packets
}

inside_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin "$@" >/dev/null; }

# What the firewall sees, byte by byte: a stranger's probe in every state, and the two queries of the
# incident in the states in which they were noticed. The kernel logs them as the rules say.
send_packets() {
  local mark="casefile-lab $$ $(date +%N)" blocked=1
  echo "$mark" >/dev/kmsg
  ip netns exec upstream "$binaries/casefile-packet" 203.0.113.77:51413 192.18.132.31:5060 --ttl 51 --id 54321
  if [ "$state" != toolkit-wrong-containerd ]; then
    ip netns exec coredns "$binaries/casefile-packet" 10.1.0.185:59834 1.1.1.1:53 --ttl 63 --id 4481
    ip netns exec coredns "$binaries/casefile-packet" 10.1.0.185:39480 8.8.8.8:53 --ttl 63 --id 33338
  fi
  [ "$state" != ufw-blocks-dns ] || blocked=3
  sleep 0.3
  dmesg | sed -e "1,/$mark/d" | sed -n -E 's/^\[ *[0-9.]*\] (\[UFW [A-Z]+\] .*ID=(54321|4481|33338) .*)$/\1/p' \
    >"$root/run/kernel.log"
  local count
  count=$(grep -c 'UFW BLOCK' "$root/run/kernel.log" || true)
  [ "$count" = "$blocked" ] || cannot "the kernel logged $count blocked packets, not $blocked"
}
