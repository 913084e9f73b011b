//! `ask` on samples, as a person asks.

use casefile_tests::bins;

use crate::support::{Ended, run};

fn ask(sample: &str, words: &[&str]) -> Ended {
    let bundle = bins::checkout().join("samples").join(sample).join("bundle");
    let bundle = bundle.to_str().unwrap();
    let mut all = vec!["ask"];
    all.extend(
        words
            .iter()
            .map(|word| if *word == "IN" { bundle } else { word }),
    );
    run(bins::ANALYZER, &all)
}

const COREDNS: &str = "pod/kube-system/coredns-fc9c778db-7j9nn";

#[test]
fn a_packet_is_told_with_the_rule_in_the_firewalls_own_words() {
    let dns = ask(
        "ufw-blocks-dns",
        &[
            "packet",
            "IN",
            "--from",
            COREDNS,
            "--to",
            "8.8.8.8:53",
            "--proto",
            "udp",
        ],
    );
    assert_eq!(dns.code, 0, "{dns:?}");
    for text in [
        "verdict  dropped",
        "Default: deny (routed)",
        "in on lxc4f39491e6165",
    ] {
        assert!(dns.out.contains(text), "{text}: {}", dns.out);
    }
    let fixed = ask(
        "fixed",
        &[
            "packet",
            "IN",
            "--from",
            COREDNS,
            "--to",
            "8.8.8.8:53",
            "--proto",
            "udp",
        ],
    );
    assert!(fixed.out.contains("verdict  accepted"), "{fixed:?}");
    // What `ping` sends is known: ufw's rules accept it.
    let ping = ask(
        "ufw-blocks-dns",
        &[
            "packet", "IN", "--from", COREDNS, "--to", "8.8.8.8", "--proto", "icmp",
        ],
    );
    assert!(ping.out.contains("verdict  accepted"), "{ping:?}");
    let bytes = "4500 0039 1c46 4000 4011 0000 0a01 00b9 0808 0808 9c40 0035 0025 0000 0001 0100";
    let seen = ask(
        "ufw-blocks-dns",
        &[
            "packet",
            "IN",
            "--from",
            COREDNS,
            "--to",
            "8.8.8.8:53",
            "--proto",
            "udp",
            "--bytes",
            bytes,
        ],
    );
    assert!(seen.out.contains("verdict  dropped"), "{seen:?}");
}

#[test]
fn a_service_that_cilium_serves_is_found_by_its_object_and_not_called_blocked_without_a_word() {
    let api = ask(
        "ufw-blocks-dns",
        &[
            "packet",
            "IN",
            "--from",
            COREDNS,
            "--to",
            "svc/default/kubernetes",
        ],
    );
    assert_eq!(api.code, 0, "{api:?}");
    assert!(
        api.out.contains("-> 10.96.0.1, tcp port 443"),
        "{}",
        api.out
    );
    assert!(
        api.out
            .contains("note     10.96.0.1 is service default/kubernetes"),
        "{}",
        api.out
    );
    // The routes of this sample lead to one pod only: of the others the interface is not known.
    let other = ask(
        "ufw-blocks-dns",
        &[
            "packet",
            "IN",
            "--from",
            "pod/default/gpu-textgen",
            "--to",
            "8.8.8.8:443",
        ],
    );
    assert!(other.out.contains("in on ?"), "{}", other.out);
}

#[test]
fn a_question_that_cannot_be_answered_says_why() {
    let of = |words: &[&str]| {
        let ended = ask("ufw-blocks-dns", words);
        assert_eq!(ended.code, 2, "{ended:?}");
        ended.err
    };
    let unknown = of(&[
        "packet",
        "IN",
        "--from",
        "pod/default/nobody",
        "--to",
        "8.8.8.8:53",
    ]);
    assert!(
        unknown.contains("pod default/nobody was not collected"),
        "{unknown}"
    );
    let families = of(&[
        "packet",
        "IN",
        "--from",
        COREDNS,
        "--to",
        "[2001:db8::1]:53",
    ]);
    assert!(families.contains("different families"), "{families}");
    let node = of(&["mtu", "IN", "--node", "elsewhere"]);
    assert!(node.contains("Cilium sets sizes inside of pods"), "{node}");
    let service = of(&[
        "packet",
        "IN",
        "--from",
        COREDNS,
        "--to",
        "svc/default/kubernetes",
        "--proto",
        "udp",
    ]);
    assert!(service.contains("serves TCP 443"), "{service}");
}
