//! Hosts in a row, each a namespace: a pod, its node, routers, another node, its pod.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::dice::Dice;
use crate::lab::sh;

/// How a row is set up.
pub(crate) struct Setup {
    script: String,
    /// Names of the hosts in their order.
    pub(crate) names: Vec<String>,
    /// What is special, in words.
    pub(crate) about: Vec<&'static str>,
}

const PLAIN: [&str; 8] = [
    "1500", "1500", "1500", "1500", "1450", "1400", "1320", "4000",
];

impl Setup {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.script.write_fmt(text);
        self.script.push('\n');
    }

    /// The last node.
    fn far(&self) -> usize {
        self.names.len() - 2
    }
}

/// A row with sizes, tunnels, routes and rules by chance.
pub(crate) fn setup(dice: &mut Dice, tag: &str) -> Setup {
    let mut names = vec![format!("{tag}p"), format!("{tag}n")];
    names.extend((0..dice.below(3)).map(|router| format!("{tag}r{router}")));
    names.extend([format!("{tag}m"), format!("{tag}q")]);
    let mut setup = Setup {
        script: "set -e\n".to_owned(),
        names,
        about: Vec::new(),
    };
    for name in setup.names.clone() {
        setup.line(format_args!(
            "ip netns add {name}; ip -n {name} link set lo up"
        ));
        setup.line(format_args!("ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0 net.ipv4.tcp_no_metrics_save=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0"));
    }
    links(dice, &mut setup);
    if dice.below(3) > 0 {
        overlay(dice, &mut setup);
    } else {
        plain_routes(&mut setup);
    }
    metrics(dice, &mut setup);
    rules(dice, &mut setup);
    setup
}

/// The network between a host and the next one, without its last number.
fn net(left: usize, hosts: usize) -> String {
    match left {
        0 => "10.1.0".to_owned(),
        left if left == hosts - 2 => "10.2.0".to_owned(),
        left => format!("192.168.{left}"),
    }
}

/// Links from each host to the next, their addresses, and routes among nodes.
fn links(dice: &mut Dice, setup: &mut Setup) {
    let names = setup.names.clone();
    let hosts = names.len();
    let bridged = dice.below(3) == 0;
    for left in 0..hosts - 1 {
        let (a, b, net) = (&names[left], &names[left + 1], net(left, hosts));
        let size = dice.one(&PLAIN);
        let other = if dice.below(5) == 0 {
            dice.one(&PLAIN)
        } else {
            size
        };
        if other != size {
            setup.about.push("sides of a link differ");
        }
        // The node is .1 to its pod.
        let (of_a, of_b) = if left == 0 { (2, 1) } else { (1, 2) };
        setup.line(format_args!(
            "ip -n {a} link add e mtu {size} type veth peer name w netns {b} mtu {other}"
        ));
        setup.line(format_args!("ip -n {a} addr add {net}.{of_a}/24 dev e; ip -n {a} link set e up; ip -n {b} link set w up"));
        if left == 0 && bridged {
            setup.about.push("bridge");
            setup.line(format_args!("ip -n {b} link add cni0 type bridge; ip -n {b} link set w master cni0; ip -n {b} link set cni0 up"));
            if dice.below(3) == 0 {
                setup.line(format_args!(
                    "ip -n {b} link set cni0 mtu 1500 2>/dev/null || true"
                ));
            }
            setup.line(format_args!("ip -n {b} addr add {net}.{of_b}/24 dev cni0"));
        } else {
            setup.line(format_args!("ip -n {b} addr add {net}.{of_b}/24 dev w"));
        }
    }
    setup.line(format_args!(
        "ip -n {} route add default via 10.1.0.1",
        names[0]
    ));
    setup.line(format_args!(
        "ip -n {} route add default via 10.2.0.1",
        names[hosts - 1]
    ));
    for at in 1..hosts - 1 {
        for to in 1..hosts - 2 {
            route(setup, at, to, &format!("192.168.{to}.0/24"));
        }
    }
}

/// A route over neighbours to the network that begins at a host, unless that is on the link.
fn route(setup: &mut Setup, at: usize, to: usize, range: &str) {
    let hosts = setup.names.len();
    let via = match at {
        at if at < to => format!("{}.2", net(at, hosts)),
        at if at > to + 1 => format!("{}.1", net(at - 1, hosts)),
        _ => return,
    };
    let name = setup.names[at].clone();
    setup.line(format_args!("ip -n {name} route add {range} via {via}"));
}

fn plain_routes(setup: &mut Setup) {
    let far = setup.far();
    for at in 1..=far {
        route(setup, at, far, "10.2.0.0/24");
        route(setup, at, 0, "10.1.0.0/24");
    }
}

/// VXLAN from node to node, now and then another one inside of it.
fn overlay(dice: &mut Dice, setup: &mut Setup) {
    let (near, far) = (setup.names[1].clone(), setup.names[setup.far()].clone());
    let last = setup.far() - 1;
    let df = dice.one(&["", "", "", "df set", "df inherit"]);
    setup.about.push("vxlan");
    let mut ends = ("192.168.1.1".to_owned(), format!("192.168.{last}.2"));
    let nested = dice.below(5) == 0;
    for layer in 0..1 + usize::from(nested) {
        let (net, id) = (format!("10.9.{layer}"), 7 + layer);
        let port = 4789 + layer;
        for (host, local, remote, own) in
            [(&near, &ends.0, &ends.1, 1), (&far, &ends.1, &ends.0, 2)]
        {
            setup.line(format_args!("ip -n {host} link add vx{layer} type vxlan id {id} local {local} remote {remote} dstport {port} {df}"));
            setup.line(format_args!(
                "ip -n {host} addr add {net}.{own}/24 dev vx{layer}"
            ));
            let mtu = dice.one(&["1500", "1450", "1400", "1350"]);
            setup.line(format_args!("ip -n {host} link set vx{layer} mtu {mtu} up"));
        }
        ends = (format!("{net}.1"), format!("{net}.2"));
    }
    if nested {
        setup.about.push("vxlan in vxlan");
    }
    let (_, device) = (0, usize::from(nested));
    setup.line(format_args!(
        "ip -n {near} route add 10.2.0.0/24 via {} dev vx{device}",
        ends.1
    ));
    setup.line(format_args!(
        "ip -n {far} route add 10.1.0.0/24 via {} dev vx{device}",
        ends.0
    ));
}

/// Sizes of routes.
fn metrics(dice: &mut Dice, setup: &mut Setup) {
    let far = setup.far();
    for (at, range) in [(0, "default"), (1, "10.2.0.0/24"), (far + 1, "default")] {
        let name = setup.names[at].clone();
        let metric = match dice.below(8) {
            0 => dice.one(&["mtu 1300", "mtu 1440", "mtu 2000"]),
            1 => dice.one(&["mtu lock 1300", "mtu lock 1420"]),
            2 if at > far => dice.one(&["advmss 1200", "advmss 1000"]),
            _ => continue,
        };
        setup.about.push("route with a size");
        // The route as it stands, with the size behind it.
        setup.line(format_args!(
            "ip -n {name} route change $(ip -n {name} route show {range} | head -1) {metric}"
        ));
    }
}

/// Rules that drop the answer, and rules that make segments smaller.
fn rules(dice: &mut Dice, setup: &mut Setup) {
    if dice.below(2) == 0 {
        let at = dice.below(setup.names.len() - 1);
        let hook = if at == 0 {
            "INPUT"
        } else {
            dice.one(&["FORWARD", "OUTPUT", "FORWARD"])
        };
        let rule = match dice.below(5) {
            0 => format!(
                "iptables -A {hook} -p icmp -m icmp --icmp-type fragmentation-needed -j DROP"
            ),
            1 => format!("iptables -A {hook} -p icmp -j DROP"),
            2 => format!("iptables -A {hook} -m conntrack --ctstate RELATED -j DROP"),
            3 => format!(
                "nft 'table inet f {{ chain f {{ type filter hook {} priority 0; icmp type destination-unreachable icmp code frag-needed drop; }}; }}'",
                hook.to_lowercase()
            ),
            _ => format!(
                "iptables -A {hook} -m conntrack --ctstate NEW,ESTABLISHED -j ACCEPT; ip netns exec {} iptables -P {hook} DROP",
                setup.names[at]
            ),
        };
        let name = setup.names[at].clone();
        setup.about.push("answers dropped");
        setup.line(format_args!("ip netns exec {name} {rule}"));
    }
    if dice.below(3) == 0 {
        let name = setup.names[1 + dice.below(setup.names.len() - 2)].clone();
        let rule = dice.one(&[
            "iptables -t mangle -A FORWARD -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu",
            "iptables -t mangle -A POSTROUTING -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu",
            "iptables -t mangle -A FORWARD -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 1180",
            "nft 'table inet c { chain c { type filter hook forward priority -150; tcp flags syn tcp option maxseg size set rt mtu; }; }'",
            "nft 'table inet c { chain c { type filter hook forward priority -150; tcp flags syn tcp option maxseg size set 1200; }; }'",
        ]);
        setup.about.push("clamped");
        setup.line(format_args!("ip netns exec {name} {rule}"));
    }
}

/// A row that is up, with the program that sends in it.
pub(crate) struct Row {
    names: Vec<String>,
    wire: Child,
    to_wire: ChildStdin,
    from_wire: BufReader<ChildStdout>,
}

/// What a collector would have taken of a host.
pub(crate) struct Taken {
    pub(crate) links: String,
    pub(crate) routes: String,
    pub(crate) rules: String,
    pub(crate) iptables: String,
    pub(crate) nft: String,
}

impl Row {
    /// Sets a row up, or the complaint.
    pub(crate) fn new(setup: &Setup) -> Result<Row, String> {
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = scratch.path().join("setup.sh");
        std::fs::write(&path, &setup.script).map_err(|error| error.to_string())?;
        let (done, said) = sh(&format!("sh {} 2>&1", path.display()));
        if !done {
            drop_all(&setup.names);
            return Err(said);
        }
        let wire = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firewall_real/mtu.py");
        let mut wire = Command::new("python3")
            .arg(wire)
            .args(&setup.names)
            .arg("10.2.0.2")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let to_wire = wire.stdin.take().expect("stdin");
        let from_wire = BufReader::new(wire.stdout.take().expect("stdout"));
        let mut row = Row {
            names: setup.names.clone(),
            wire,
            to_wire,
            from_wire,
        };
        // The first packet has neighbours to find.
        row.ask("udp 100");
        Ok(row)
    }

    /// One question to the program that sends.
    pub(crate) fn ask(&mut self, line: &str) -> String {
        writeln!(self.to_wire, "{line}").expect("the wire takes a question");
        let mut answer = String::new();
        self.from_wire
            .read_line(&mut answer)
            .expect("the wire answers");
        answer.trim().to_owned()
    }

    /// What each host's programs say, in either form.
    pub(crate) fn take(&self, json: bool) -> Vec<Taken> {
        let form = if json { "-j" } else { "" };
        let of = |name: &String| Taken {
            links: sh(&format!("ip -n {name} -d {form} addr")).1,
            routes: sh(&format!("ip -n {name} -4 {form} route show table all")).1,
            rules: sh(&format!("ip -n {name} -4 {form} rule")).1,
            iptables: sh(&format!("ip netns exec {name} iptables-save")).1,
            nft: sh(&format!("ip netns exec {name} nft list ruleset")).1,
        };
        self.names.iter().map(of).collect()
    }
}

fn drop_all(names: &[String]) {
    for name in names {
        sh(&format!("ip netns del {name}"));
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        let _ = self.wire.kill();
        let _ = self.wire.wait();
        drop_all(&self.names);
    }
}
