//! One input for every reader of firewall, route and set texts, from standard input: for a fuzzer to drive.
//!
//! `cargo afl build --example fuzz_packets`, or `fuzz_packets < FILE` to repeat a finding.

use std::io::Read;

use casefile_sim_net::log_line::parse_log_line;
use casefile_sim_net::question::{CapturedText, Captures, Firewall, pod_to_dns};

fn main() -> std::io::Result<()> {
    let mut bytes = Vec::new();
    std::io::stdin().take(1 << 20).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let one = Some(CapturedText {
        path: "input",
        text: &text,
    });
    let captures = Captures {
        iptables: one,
        iptables_legacy: one,
        ip6tables: one,
        nft: one,
        ipsets: one,
        routes: [one, one],
        policy_rules: [one, None],
        ufw_status: one,
        ..Captures::default()
    };
    let firewall = Firewall::from_captures(&captures);
    let packet = pod_to_dns([10, 1, 0, 185].into(), None, None, [1, 1, 1, 1].into());
    std::hint::black_box(firewall.evaluate(&packet));
    for line in text.lines().filter_map(parse_log_line) {
        std::hint::black_box(firewall.evaluate_logged(&line));
    }
    Ok(())
}
