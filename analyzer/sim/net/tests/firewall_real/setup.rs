//! What the laboratory needs, and the namespaces that it makes.

use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::shot::{OUT_IP, OUT_SIDE, POD_IP, POD_SIDE, ROUTER_IP, SIX};

/// Why the test cannot run here, if so.
pub(crate) fn missing() -> Option<String> {
    let uid = Command::new("id").arg("-u").output().ok()?;
    if uid.stdout.trim_ascii() != b"0" {
        return Some("not root".into());
    }
    for tool in [
        "ip",
        "iptables-restore",
        "iptables-save",
        "iptables-legacy-save",
        "ipset",
        "nft",
        "ufw",
        "python3",
        "sysctl",
    ] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output();
        if !found.is_ok_and(|o| o.status.success()) {
            return Some(format!("{tool} is not installed"));
        }
    }
    // Tests of one process ask at the same time.
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let asked = ASKED.fetch_add(1, Ordering::Relaxed);
    let probe = format!("fw-probe-{}-{asked}", std::process::id());
    if !sh(&format!(
        "ip netns add {probe} && ip netns exec {probe} iptables-save && ip netns del {probe}"
    ))
    .0
    {
        return Some("network namespaces or iptables do not work".into());
    }
    None
}

/// Runs a shell line; success and standard output.
pub(crate) fn sh(line: &str) -> (bool, String) {
    let output = Command::new("sh")
        .args(["-c", line])
        .output()
        .expect("sh runs");
    if !output.status.success() && std::env::var_os("FW_VERBOSE").is_some() {
        let mut err = std::io::stderr();
        let _ = writeln!(err, "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

/// Addresses, routes and neighbours of IPv6. Neighbours are fixed, so that no rule can stop their discovery,
/// and nothing is sent but the packets that are fired.
pub(crate) fn six_script(tag: &str) -> String {
    let [pod, out, router] = SIX;
    format!(
        "set -e
        mac() {{ ip netns exec $1 cat /sys/class/net/$2/address; }}
        for n in p r o; do ip netns exec {tag}$n sysctl -qw net.ipv6.conf.all.router_solicitations=0 net.ipv6.conf.all.accept_ra=0; done
        ip netns exec {tag}r sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv6.icmp.ratelimit=0
        ip -n {tag}p addr add {pod}/64 dev eth0 nodad
        ip -n {tag}r addr add {router}/64 dev {POD_SIDE} nodad
        ip -n {tag}r addr add 2001:db8::1/64 dev {OUT_SIDE} nodad
        ip -n {tag}o addr add {out}/64 dev eth0 nodad
        ip -n {tag}p -6 route add default via {router}
        ip -n {tag}o -6 route add default via 2001:db8::1
        ip -n {tag}p neigh add {router} lladdr $(mac {tag}r {POD_SIDE}) dev eth0 nud permanent
        ip -n {tag}o neigh add 2001:db8::1 lladdr $(mac {tag}r {OUT_SIDE}) dev eth0 nud permanent
        ip -n {tag}r neigh add {pod} lladdr $(mac {tag}p eth0) dev {POD_SIDE} nud permanent
        ip -n {tag}r neigh add {out} lladdr $(mac {tag}o eth0) dev {OUT_SIDE} nud permanent
        for n in p o; do ip netns exec {tag}$n ip6tables -A INPUT -j DROP; done
        sleep 3"
    )
}

/// Namespaces of the pod, of the outside and of the router between them.
pub(crate) fn namespaces(tag: &str) -> String {
    format!(
            "set -e
            for n in p r o; do ip netns add {tag}$n; ip -n {tag}$n link set lo up; done
            ip -n {tag}p link add eth0 type veth peer name {POD_SIDE} netns {tag}r
            ip -n {tag}o link add eth0 type veth peer name {OUT_SIDE} netns {tag}r
            ip -n {tag}o link add wire0 type veth peer name wire1
            for i in wire0 wire1; do ip -n {tag}o link set $i addrgenmode none; ip -n {tag}o link set $i up; done
            ip -n {tag}p addr add {POD_IP}/24 dev eth0
            ip -n {tag}r addr add {ROUTER_IP}/24 dev {POD_SIDE}
            ip -n {tag}r addr add 192.0.2.1/24 dev {OUT_SIDE}
            ip -n {tag}o addr add {OUT_IP}/24 dev eth0
            for n in p o; do ip -n {tag}$n link set eth0 up; done
            for i in {POD_SIDE} {OUT_SIDE}; do ip -n {tag}r link set $i up; done
            ip -n {tag}p route add default via 10.1.0.1
            ip -n {tag}o route add default via 192.0.2.1
            for n in p o; do ip netns exec {tag}$n iptables -A INPUT -j DROP; done
            # The hosts' own solicitations and listener reports would move the router's counters.
            for n in p o; do for from in fe80::/10 ::/128; do ip netns exec {tag}$n ip6tables -A OUTPUT -s $from -j DROP; done; done
            ip netns exec {tag}r sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0
            ip netns exec {tag}r sysctl -qw net.netfilter.nf_conntrack_udp_timeout=900 net.netfilter.nf_conntrack_udp_timeout_stream=900
            ip netns exec {tag}r nft 'add table inet keep; add chain inet keep c {{ type filter hook input priority 500; }}; add rule inet keep c ct state new counter'
            ip netns exec {tag}p ping -c1 -W1 {OUT_IP} >/dev/null 2>&1 || true
            ip netns exec {tag}o ping -c1 -W1 {POD_IP} >/dev/null 2>&1 || true"
        )
}
