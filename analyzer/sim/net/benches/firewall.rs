//! How long it takes to read rules and to follow a packet through them: full
//! captured dumps where they are there, and generated rules of kube-proxy.
//!
//! `cargo bench -p casefile-sim-net --bench firewall`; `FW_LINES` sets the
//! length of the generated rules (100,000 lines).

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use casefile_sim_net::packet::{Interface, Packet};
use casefile_sim_net::question::{CapturedText, Captures, Firewall, pod_to_tcp};

fn main() {
    let lines: usize = std::env::var("FW_LINES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(100_000);
    let iptables = kube_proxy_iptables(lines);
    measure(
        "kube-proxy, iptables, generated",
        Some(&iptables),
        None,
        &pod(lines),
    );
    let nft = kube_proxy_nft(lines);
    measure("kube-proxy, nft, generated", None, Some(&nft), &pod(lines));
    captured();
}

/// The rule dumps of a captured RKE2 node, each alone and both together.
fn captured() {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../shared/data/bundles/rancher-rke2-logs-2025-11-27.tar.gz");
    let base = "rancher-rke2-2025-11-27/networking";
    let member = |name: &str| {
        let tar = Command::new("tar")
            .arg("-xzOf")
            .arg(&archive)
            .arg(format!("{base}/{name}"))
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&tar.stdout).into_owned();
        tar.status.success().then_some(text)
    };
    let (Some(saved), Some(nft)) = (member("iptablessave"), member("nft_ruleset")) else {
        println!("skipped: the captured RKE2 node is not there");
        return;
    };
    let packet = pod_to_tcp(
        "10.42.207.3".parse().expect("address"),
        Some(Interface::Name("cali4e366eba6b4".to_owned())),
        Some(Interface::Name("eth0".to_owned())),
        "1.1.1.1".parse().expect("address"),
        443,
    );
    measure(
        "RKE2 with Calico, iptables-save",
        Some(&saved),
        None,
        &packet,
    );
    measure(
        "RKE2 with Calico, nft list ruleset",
        None,
        Some(&nft),
        &packet,
    );
    measure("RKE2 with Calico, both", Some(&saved), Some(&nft), &packet);
}

/// To the last service that both forms have.
fn pod(lines: usize) -> Packet {
    pod_to_tcp(
        "10.244.1.7".parse().expect("address"),
        Some(Interface::Name("veth1a2b3c".to_owned())),
        Some(Interface::Name("eth0".to_owned())),
        service((lines / 22).saturating_sub(1))
            .parse()
            .expect("address"),
        80,
    )
}

fn measure(name: &str, saved: Option<&str>, nft: Option<&str>, packet: &Packet) {
    let lines = [saved, nft]
        .into_iter()
        .flatten()
        .map(|text| text.lines().count())
        .sum::<usize>();
    let start = Instant::now();
    let captures = Captures {
        iptables: saved.map(|text| CapturedText {
            path: "iptables-save",
            text,
        }),
        nft: nft.map(|text| CapturedText { path: "nft", text }),
        ..Captures::default()
    };
    let firewall = Firewall::from_captures(&captures);
    let read = start.elapsed();
    let start = Instant::now();
    let answer = firewall.evaluate(packet);
    let asked = start.elapsed();
    println!(
        "{name}: {lines} lines, read {:.3} s, one packet {:.3} s: {} by {}",
        read.as_secs_f64(),
        asked.as_secs_f64(),
        answer.evaluation.verdict,
        answer
            .evaluation
            .decided_by
            .map_or_else(|| "nothing".to_owned(), |by| by.to_string())
    );
}

fn service(number: usize) -> String {
    format!("10.96.{}.{}", number / 250, number % 250 + 1)
}

fn endpoint(number: usize) -> String {
    format!("10.244.{}.{}", number / 250 % 250, number % 250 + 1)
}

/// About ten lines a service with three endpoints, in the order that kube-proxy writes them.
fn kube_proxy_iptables(lines: usize) -> String {
    let services = lines / 15;
    let mut chains = String::new();
    let mut rules = String::new();
    let mut heads = String::new();
    for number in 0..services {
        let (address, id) = (service(number), format!("{number:016}"));
        let _ = writeln!(chains, ":KUBE-SVC-{id} - [0:0]");
        let _ = writeln!(
            heads,
            "-A KUBE-SERVICES -d {address}/32 -p tcp -m comment --comment \"ns/svc{number}:http cluster IP\" -m tcp --dport 80 -j KUBE-SVC-{id}"
        );
        let _ = writeln!(
            rules,
            "-A KUBE-SVC-{id} ! -s 10.244.0.0/16 -d {address}/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ"
        );
        for nth in 0..3 {
            let to = endpoint(number * 3 + nth);
            let _ = writeln!(chains, ":KUBE-SEP-{id}{nth} - [0:0]");
            let chance = [
                "-m statistic --mode random --probability 0.33333333349 ",
                "-m statistic --mode random --probability 0.50000000000 ",
                "",
            ][nth];
            let _ = writeln!(
                rules,
                "-A KUBE-SVC-{id} -m comment --comment \"ns/svc{number}:http -> {to}:8080\" {chance}-j KUBE-SEP-{id}{nth}"
            );
            let _ = writeln!(
                rules,
                "-A KUBE-SEP-{id}{nth} -s {to}/32 -m comment --comment \"ns/svc{number}:http\" -j KUBE-MARK-MASQ"
            );
            let _ = writeln!(
                rules,
                "-A KUBE-SEP-{id}{nth} -p tcp -m comment --comment \"ns/svc{number}:http\" -m tcp -j DNAT --to-destination {to}:8080"
            );
        }
    }
    format!(
        "# Generated by iptables-save v1.8.9 (nf_tables)\n*nat\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n:KUBE-MARK-MASQ - [0:0]\n{chains}-A PREROUTING -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES\n-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000\n{heads}{rules}COMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\n:KUBE-FORWARD - [0:0]\n-A FORWARD -m comment --comment \"kubernetes forwarding rules\" -j KUBE-FORWARD\n-A FORWARD -s 10.244.0.0/16 -j ACCEPT\n-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP\n-A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT\n-A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\nCOMMIT\n"
    )
}

/// The same services as kube-proxy's nftables mode writes them.
fn kube_proxy_nft(lines: usize) -> String {
    let services = lines / 22;
    let (mut addresses, mut map, mut chains) = (String::new(), String::new(), String::new());
    for number in 0..services {
        let address = service(number);
        let name = format!("{number:08}-ns/svc{number}/tcp/http");
        let _ = writeln!(addresses, "\t\t\t     {address},");
        let _ = writeln!(
            map,
            "\t\t\t     {address} . tcp . 80 comment \"ns/svc{number}:http\" : goto service-{name},"
        );
        let _ = write!(
            chains,
            "\tchain service-{name} {{\n\t\tip daddr {address} tcp dport 80 ip saddr != 10.244.0.0/16 jump mark-for-masquerade\n\t\tnumgen random mod 3 vmap {{ "
        );
        let ends: Vec<String> = (0..3)
            .map(|nth| format!("endpoint-{nth}-{name}__{}/8080", endpoint(number * 3 + nth)))
            .collect();
        let choices: Vec<String> = ends
            .iter()
            .enumerate()
            .map(|(nth, end)| format!("{nth} : goto {end}"))
            .collect();
        let _ = write!(chains, "{} }}\n\t}}\n\n", choices.join(", "));
        for (nth, end) in ends.iter().enumerate() {
            let to = endpoint(number * 3 + nth);
            let _ = write!(
                chains,
                "\tchain {end} {{\n\t\tip saddr {to} jump mark-for-masquerade\n\t\tmeta l4proto tcp dnat to {to}:8080\n\t}}\n\n"
            );
        }
    }
    format!(
        "table ip kube-proxy {{\n\tset cluster-ips {{\n\t\ttype ipv4_addr\n\t\telements = {{ 10.96.255.1,\n{addresses}\t\t\t     10.96.255.2 }}\n\t}}\n\n\tmap service-ips {{\n\t\ttype ipv4_addr . inet_proto . inet_service : verdict\n\t\telements = {{ \n{map} 10.96.255.1 . tcp . 1 : drop }}\n\t}}\n\n\tchain mark-for-masquerade {{\n\t\tmeta mark set meta mark | 0x00004000\n\t}}\n\n{chains}\tchain services {{\n\t\tip daddr . meta l4proto . th dport vmap @service-ips\n\t}}\n\n\tchain nat-prerouting {{\n\t\ttype nat hook prerouting priority dstnat; policy accept;\n\t\tjump services\n\t}}\n\n\tchain filter-forward {{\n\t\ttype filter hook forward priority -110; policy accept;\n\t\tct state new ip daddr @cluster-ips reject comment \"Reject traffic to invalid ports of ClusterIPs\"\n\t}}\n}}\n"
    )
}
