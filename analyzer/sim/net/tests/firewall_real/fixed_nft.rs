//! nft rule sets as programs write them.

/// Fixed nft rule sets. All are in `table inet gen` or `table ip gen`, so that the next load removes them.
pub(crate) const FIXED: &[(&str, &str)] = &[
    ("zones as firewalld writes them", ZONES),
    ("services as kube-proxy writes them", SERVICES),
    ("a drop in one table and an accept in the other", TWO),
];

const ZONES: &str = "table inet gen {
	chain mangle_PREROUTING {
		type filter hook prerouting priority mangle + 10; policy accept;
		jump mangle_PREROUTING_ZONES
	}
	chain mangle_PREROUTING_ZONES {
		iifname \"eno1\" counter return
		counter return
	}
	chain filter_FORWARD {
		type filter hook forward priority filter + 10; policy accept;
		ct state { established, related } counter accept
		ct status dnat counter accept
		iifname \"lo\" counter accept
		jump filter_FORWARD_ZONES
		ct state { invalid } counter drop
		counter reject with icmpx admin-prohibited
	}
	chain filter_FORWARD_ZONES {
		iifname \"lxc*\" goto filter_FWD_public
		iifname \"eno1\" goto filter_FWD_trusted
		goto filter_FWD_public
	}
	chain filter_FWD_public {
		counter jump filter_FWD_public_allow
		meta l4proto { icmp, ipv6-icmp } counter accept
	}
	chain filter_FWD_public_allow {
		tcp dport 443 ct state { new, untracked } counter accept
		udp dport 53 ct state new,untracked counter accept
	}
	chain filter_FWD_trusted {
		counter accept
	}
}
";

const SERVICES: &str = "table ip gen {
	set cluster-ips {
		type ipv4_addr
		comment \"Active ClusterIPs\"
		elements = { 192.0.2.53 }
	}
	map no-endpoint-services {
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = { 192.0.2.53 . tcp . 8080 comment \"ns/none\" : goto reject-chain }
	}
	map service-ips {
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = { 192.0.2.53 . udp . 53 comment \"ns/dns:dns\" : goto nat-service-A/ns/dns/udp/dns }
	}
	chain filter-prerouting {
		type filter hook prerouting priority dstnat - 10; policy accept;
		ct state new counter jump firewall-check
	}
	chain firewall-check {
	}
	chain filter-forward {
		type filter hook forward priority -110; policy accept;
		ct state new counter jump service-endpoints-check
		ct state new counter jump cluster-ips-check
	}
	chain service-endpoints-check {
		ip daddr . meta l4proto . th dport vmap @no-endpoint-services
	}
	chain cluster-ips-check {
		ip daddr @cluster-ips tcp dport 443 counter reject comment \"Reject traffic to invalid ports of ClusterIPs\"
	}
	chain nat-prerouting {
		type nat hook prerouting priority dstnat; policy accept;
		counter jump nat-services
	}
	chain nat-services {
		ip daddr . meta l4proto . th dport vmap @service-ips
	}
	chain nat-service-A/ns/dns/udp/dns {
		ip daddr 192.0.2.53 udp dport 53 ip saddr != 10.0.0.0/8 counter jump nat-mark-for-masquerade
		numgen random mod 1 vmap { 0 : goto nat-endpoint-B/ns/dns/udp/dns__192.0.2.53/5353 }
	}
	chain nat-endpoint-B/ns/dns/udp/dns__192.0.2.53/5353 {
		ip saddr 192.0.2.53 counter jump nat-mark-for-masquerade
		meta l4proto udp counter dnat to 192.0.2.53:5353
	}
	chain nat-mark-for-masquerade {
		meta mark set meta mark | 0x00004000
	}
	chain reject-chain {
		counter reject
	}
}
";

const TWO: &str = "table inet gen {
	chain first {
		type filter hook forward priority filter - 5; policy drop;
		counter accept
	}
	chain second {
		type filter hook forward priority filter; policy accept;
		udp dport 53 counter drop
		meta mark 0x7 counter drop
	}
	chain marks {
		type filter hook prerouting priority mangle; policy accept;
		tcp dport { 443, 22 } counter meta mark set 0x7
	}
}
";
