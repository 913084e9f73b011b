//! Rule sets that real programs write.

/// Fixed iptables rule sets.
pub(crate) const FIXED: &[(&str, &str)] = &[
    (
        "empty",
        "*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\nCOMMIT\n",
    ),
    (
        "policy drop",
        "*filter\n:INPUT ACCEPT\n:FORWARD DROP\n:OUTPUT ACCEPT\nCOMMIT\n",
    ),
    ("docker", DOCKER),
    ("kube-proxy and a portal", KUBE),
    ("jumps, returns, gotos, negations", CHAINS),
    ("marks in mangle and a drop behind the filter", MARKS),
    (
        "not tracked",
        "*raw\n:PREROUTING ACCEPT\n-A PREROUTING -p udp -m udp --dport 53 -j CT --notrack\nCOMMIT\n*filter\n:INPUT ACCEPT\n:FORWARD DROP\n:OUTPUT ACCEPT\n-A FORWARD -m conntrack --ctstate UNTRACKED -j ACCEPT\n-A FORWARD -m conntrack --ctstate INVALID -j REJECT\nCOMMIT\n",
    ),
];

const DOCKER: &str = "*filter
:INPUT ACCEPT
:FORWARD DROP
:OUTPUT ACCEPT
:DOCKER -
:DOCKER-ISOLATION-STAGE-1 -
:DOCKER-ISOLATION-STAGE-2 -
:DOCKER-USER -
-A FORWARD -j DOCKER-USER
-A FORWARD -j DOCKER-ISOLATION-STAGE-1
-A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A FORWARD -o docker0 -j DOCKER
-A FORWARD -i docker0 ! -o docker0 -j ACCEPT
-A FORWARD -i docker0 -o docker0 -j ACCEPT
-A DOCKER-ISOLATION-STAGE-1 -i docker0 ! -o docker0 -j DOCKER-ISOLATION-STAGE-2
-A DOCKER-ISOLATION-STAGE-1 -j RETURN
-A DOCKER-ISOLATION-STAGE-2 -o docker0 -j DROP
-A DOCKER-ISOLATION-STAGE-2 -j RETURN
-A DOCKER-USER -j RETURN
COMMIT
";

const KUBE: &str = "*filter
:INPUT ACCEPT
:FORWARD DROP
:OUTPUT ACCEPT
:KUBE-FORWARD -
:KUBE-SERVICES -
:PORTAL -
-A FORWARD -m comment --comment \"kubernetes forwarding rules\" -j KUBE-FORWARD
-A FORWARD -m conntrack --ctstate NEW -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES
-A FORWARD -m addrtype --dst-type LOCAL -j DROP
-A FORWARD -s 10.1.0.0/16 -p udp -m multiport --dports 53,443:445 -j PORTAL
-A FORWARD -s 10.1.0.0/16 -p tcp -m multiport --dports 53,443:445 -j PORTAL
-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
-A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT
-A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m tcp --dport 443 -j REJECT --reject-with icmp-port-unreachable
-A PORTAL -p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -j REJECT --reject-with tcp-reset
-A PORTAL -p udp -m limit --limit 3/min -j LOG --log-prefix \"portal \"
-A PORTAL -j ACCEPT
COMMIT
";

const CHAINS: &str = "*filter
:INPUT ACCEPT
:FORWARD ACCEPT
:OUTPUT ACCEPT
:A -
:B -
:C -
-A FORWARD ! -i lxc+ -g C
-A FORWARD -p udp -j A
-A FORWARD -p tcp -m multiport ! --dports 443,22 -j DROP
-A FORWARD -j B
-A FORWARD -j REJECT --reject-with icmp-host-prohibited
-A A -d 192.0.2.0/24 -p udp -m udp ! --dport 53 -j RETURN
-A A -g B
-A A -j DROP
-A B -p tcp -j RETURN
-A B ! -s 10.1.0.185/32 -j DROP
-A B -m iprange --src-range 10.1.0.180-10.1.0.190 -j ACCEPT
-A C -o lxc+ -p tcp -j ACCEPT
COMMIT
";

const MARKS: &str = "*mangle
:PREROUTING ACCEPT
:INPUT ACCEPT
:FORWARD ACCEPT
:OUTPUT ACCEPT
:POSTROUTING ACCEPT
-A PREROUTING -p udp -j MARK --set-xmark 0x10/0xff
-A FORWARD -m mark --mark 0x10/0xf0 -j MARK --set-xmark 0x3/0x3
-A POSTROUTING -m mark --mark 0x13 -p udp -m udp --dport 123 -j DROP
COMMIT
*filter
:INPUT ACCEPT
:FORWARD DROP
:OUTPUT ACCEPT
-A FORWARD -m mark --mark 0x13/0xff -j ACCEPT
-A FORWARD -m mark ! --mark 0x0 -j DROP
-A FORWARD -p icmp -m icmp --icmp-type 8 -j ACCEPT
COMMIT
";

/// ufw set up by its own command.
pub(crate) const UFW: &[(&str, &str)] = &[
    ("ufw, default deny for routed traffic", "ufw --force enable"),
    (
        "ufw with the route rules of the incident",
        "ufw --force enable; ufw route allow in on lxc+ out on eno1; ufw route allow in on eno1 out on lxc+; \
         ufw allow from 10.0.0.0/8; ufw allow out to 10.0.0.0/8",
    ),
    ("ufw disabled", "ufw --force enable; ufw disable"),
    (
        "ufw allowing routed traffic",
        "ufw default allow routed; ufw --force enable; ufw route deny proto udp to any port 53",
    ),
    (
        "ufw rejecting routed traffic",
        "ufw default reject routed; ufw --force enable; ufw route allow proto tcp to 192.0.2.0/24 port 443,8080",
    ),
    (
        "ufw logging much",
        "ufw --force enable; ufw logging high; ufw route allow log in on lxc+ to any port 53; ufw route reject in on lxc+ to any port 443 proto tcp",
    ),
];
