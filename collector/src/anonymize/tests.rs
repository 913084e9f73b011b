//! Names and addresses change everywhere in the same way, and the map leads back.

use super::*;

fn site() -> Anonymizer {
    let mut names = Names::default();
    for (class, name) in [
        (Class::Hosts, "berlin-gpu-7"),
        (Class::Hosts, "lab.example.com"),
        (Class::Users, "mmeier"),
        (Class::Namespaces, "fraud-detection"),
        (Class::Namespaces, "kube-system"),
    ] {
        names.add(class, name);
    }
    Anonymizer::new(
        Key::from_bytes(&[7; 32]),
        Class::ALL.into_iter().collect(),
        &names,
    )
}

#[test]
fn names_change_wherever_they_stand_alone_and_nowhere_else() {
    let site = site();
    let out = site.text(
        r#"{"nodeName":"berlin-gpu-7","name":"kube-proxy-berlin-gpu-7","namespace":"fraud-detection","p":"/home/mmeier/x","h":"berlin-gpu-7.lab.example.com"} my-fraud-detection berlin-gpu-77"#,
    );
    assert!(
        !out.contains("\"berlin-gpu-7\"")
            && !out.contains("mmeier")
            && !out.contains("lab.example"),
        "{out}"
    );
    assert!(out.ends_with("my-fraud-detection berlin-gpu-77"), "{out}");
    assert_eq!(
        out.matches(&pseudonym(
            &Key::from_bytes(&[7; 32]),
            Class::Hosts,
            "berlin-gpu-7"
        ))
        .count(),
        3,
        "{out}"
    );
    assert_eq!(site.text("kube-system localhost"), "kube-system localhost");
}

#[test]
fn addresses_change_and_what_only_looks_like_one_does_not() {
    let site = site();
    for text in [
        "-A FORWARD -s 10.1.0.0/16 -d 192.168.4.9/32 -j DROP",
        "inet 10.1.2.3/24 brd 10.1.2.255",
        "dial tcp 10.1.2.3:6443: refused",
        "[fd00:10::7]:443 fd00:10::/32",
        "link/ether 52:54:00:12:34:56",
        "ip-10-1-2-3.ec2.internal",
        "img r.corp.example:5000/team/app:1.2",
    ] {
        let out = site.text(text);
        assert_ne!(out, text);
    }
    for text in [
        "10:15:00.123 6.8.0-45-generic 1.2.3.4.5 v25.3.0",
        "PCI 00000000:01:00.0 std::vec a::b::x",
        "127.0.0.53 0.0.0.0/0 169.254.1.1 ::1 fe80::1 255.255.255.0",
        "ff:ff:ff:ff:ff:ff 00:00:00:00:00:00 ee:ee:ee:ee:ee:ee",
        "nvcr.io/nvidia/driver:535.104.05 registry.k8s.io/pause:3.10",
    ] {
        assert_eq!(site.text(text), text);
    }
    let (net, host) = (site.text("10.1.0.0/16"), site.text("10.1.2.3"));
    let two = |text: &str| {
        text.split('.')
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(two(&net), two(&host));
    assert!(net.ends_with(".0.0/16"), "{net}");
}

#[test]
fn the_kernels_routing_table_agrees_with_the_rest() {
    let site = site();
    let table = "Iface\tDestination\tGateway\tFlags\nens3\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\nens3\t0000A8C0\t00000000\t0001\t0\t0\t100\t0000FFFF\t0\t0\t0\n";
    let out = site.text(table);
    let gateway = out.lines().nth(1).unwrap().split('\t').nth(2).unwrap();
    let number = u32::from_str_radix(gateway, 16).unwrap().swap_bytes();
    assert_eq!(
        std::net::Ipv4Addr::from(number).to_string(),
        site.text("192.168.0.1")
    );
    assert!(
        out.contains("\t00000000\t0001") && out.contains("0000A8C0"),
        "{out}"
    );
}

#[test]
fn virtual_services_of_ipvs_agree_with_the_rest() {
    let site = site();
    let listed = "Prot LocalAddress:Port Scheduler Flags\nTCP  0A600709:01BB rr  \n  -> C0A80001:192B      Masq    1      0          0         \n";
    let out = site.text(listed);
    for (hidden, real) in [("0A600709", "10.96.7.9"), ("C0A80001", "192.168.0.1")] {
        let mapped: std::net::Ipv4Addr = site.text(real).parse().unwrap();
        assert!(!out.contains(hidden), "{out}");
        assert!(
            out.contains(&format!("{:08X}:", u32::from(mapped))),
            "{out}"
        );
    }
    assert!(
        out.contains(":01BB rr") && out.contains(":192B      Masq    1"),
        "{out}"
    );
}

#[test]
fn the_map_is_for_its_owner_alone_and_leads_back() {
    let dir = tempfile::tempdir().unwrap();
    let (map, report) = (dir.path().join("b.map.json"), dir.path().join("report.md"));
    let site = site();
    let text = "berlin-gpu-7 (10.1.2.3) in 10.1.0.0/16, ns fraud-detection, 52:54:00:12:34:56, r.corp.example:5000/team/app:1.2";
    std::fs::write(&report, site.text(text)).unwrap();
    MapFile::create(&map)
        .unwrap()
        .write(&site, "b.tar.gz")
        .unwrap();
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(
        std::fs::metadata(&map).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        String::from_utf8(reveal(&map, &report).unwrap()).unwrap(),
        text
    );
    assert!(matches!(
        MapFile::create(&map),
        Err(MapError::Exists { .. })
    ));
    assert!(matches!(
        reveal(&report, &report),
        Err(MapError::NoMap { .. })
    ));
}

#[test]
fn a_map_of_a_run_without_a_bundle_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let map = dir.path().join("b.map.json");
    drop(MapFile::create(&map).unwrap());
    assert!(!map.exists());
}

/// What stands in odd positions of real files, each with a name or address of the site in it.
const ODD: &[(&str, &str)] = &[
    ("nodes/berlin-gpu-7/rootfs/etc/hosts", "berlin-gpu-7"),
    (
        r#"{"message":"nodes:\nberlin-gpu-7\tready"}"#,
        "berlin-gpu-7",
    ),
    (
        "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dberlin-gpu-7&limit=5",
        "berlin-gpu-7",
    ),
    ("node-debugger-berlin-gpu-7-x7k2q", "berlin-gpu-7"),
    ("blockaffinity berlin-gpu-7-10-1-23-0-26", "berlin-gpu-7"),
    ("workload berlin--gpu--7-k8s-web--0-eth0", "berlin--gpu--7"),
    (r"mnt-berlin\x2dgpu\x2d7.mount", r"berlin\x2dgpu"),
    (
        r#"{"UNIT":"mnt-berlin\\x2dgpu\\x2d7.mount"}"#,
        r"berlin\\x2dgpu",
    ),
    ("BERLIN-GPU-7.LAB.EXAMPLE.COM", "BERLIN"),
    ("https://berlin-gpu-7:10250/metrics", "berlin-gpu-7"),
    (r#"{"berlin-gpu-7":{"cpu":1}}"#, "berlin-gpu-7"),
    (r#"{"_HOSTNAME":"berlin-gpu-7","X":1}"#, "berlin-gpu-7"),
    ("etcd-berlin-gpu-7.17f3a2b4c5d6e7f8", "berlin-gpu-7"),
    (
        "/var/log/pods/fraud-detection_web-0_1234/app/0.log",
        "fraud-detection",
    ),
    (
        "/var/log/containers/web-0_fraud-detection_app-12ab.log",
        "fraud-detection",
    ),
    ("k8s_app_web-0_fraud-detection_1234_0", "fraud-detection"),
    ("web.fraud-detection.svc.cluster.local", "fraud-detection"),
    (
        "system:serviceaccount:fraud-detection:default",
        "fraud-detection",
    ),
    ("namespace%2Ffraud-detection%2Fpods", "fraud-detection"),
    (r#"{"m":"ns\nfraud-detection"}"#, "fraud-detection"),
    ("uid=1001(mmeier) gid=1001(mmeier)", "mmeier"),
    (r#"{"m":"home:\n/home/mmeier\nmmeier"}"#, "mmeier"),
    ("sudo:   mmeier : TTY=pts/0", "mmeier"),
    ("10.1.23.4.log and 10.1.23.4:6443", "10.1.23.4"),
    (r#"{"m":"nameserver\n10.1.23.4\t10.1.23.4"}"#, "10.1.23.4"),
    ("url=http%3A%2F%2F10.1.23.4%3A80", "10.1.23.4"),
    ("ipamblock 10-1-23-0-26", "10-1-23-0"),
    (
        "10-1-23-4.default.pod.cluster.local ip-10-1-23-4",
        "10-1-23-4",
    ),
    ("4.23.1.10.in-addr.arpa", "4.23.1.10"),
    ("::ffff:10.1.23.4 and [::ffff:10.1.23.4]:80", "10.1.23.4"),
    ("::ffff:0a01:1704 x", "0a01:1704"),
    ("fd00:10::7%eth0", "fd00:10::7"),
    (
        "FD00:10::7 fd00:0010:0000:0000:0000:0000:0000:0007",
        "0010:0000",
    ),
    (
        "7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.d.f.ip6.arpa",
        "1.0.0.0.0.d.f",
    ),
    ("52:54:00:12:34:56", "12:34:56"),
    ("52-54-00-1a-34-56", "1a-34-56"),
    ("3: enx525400123456: <UP>", "525400123456"),
    ("inet6 fe80::5054:ff:fe12:3456/64 scope link", "fe12:3456"),
    ("node_guid: b8ce:f603:00aa:bbcc", "f603:00aa"),
    (r#"{"m":"link\n52:54:00:12:34:56"}"#, "12:34:56"),
    (
        "docker://r.corp.example:5000/team/app:1.2",
        "r.corp.example",
    ),
    (
        r#"{"m":"pull\nr.corp.example:5000/team/app:1.2"}"#,
        "r.corp.example",
    ),
];

#[test]
fn nothing_of_the_site_is_left_in_odd_positions() {
    let site = site();
    let mut left = Vec::new();
    for (text, real) in ODD {
        let out = site.text(text);
        if out.contains(real) {
            left.push(format!("{text} -> {out}"));
        }
        if serde_json::from_str::<serde_json::Value>(text).is_ok() {
            assert!(
                serde_json::from_str::<serde_json::Value>(&out).is_ok(),
                "{out}"
            );
        }
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
}

#[test]
fn forms_of_one_address_agree() {
    let site = site();
    let plain = site.text("10.1.23.4");
    let reversed: Vec<&str> = plain.split('.').rev().collect();
    assert_eq!(
        site.text("4.23.1.10.in-addr.arpa"),
        format!("{}.in-addr.arpa", reversed.join("."))
    );
    assert_eq!(
        site.text("ip-10-1-23-4"),
        format!("ip-{}", plain.replace('.', "-"))
    );
    let network = site.text("10.1.23.0/26").replace(['.', '/'], "-");
    assert_eq!(site.text("10-1-23-0-26"), network);
    let mac = site.text("52:54:00:12:34:56");
    assert_eq!(
        site.text("enx525400123456"),
        format!("enx{}", mac.replace(':', ""))
    );
    // Calico's own address is everybody's.
    assert_eq!(
        site.text("fe80::ecee:eeff:feee:eeee"),
        "fe80::ecee:eeff:feee:eeee"
    );
}

#[test]
fn addresses_in_every_form_agree_with_the_plain_ones() {
    let site = site();
    let ip = |text: &str| site.text(text).parse::<std::net::Ipv4Addr>().unwrap();
    let sockets = "  sl  local_address rem_address   st\n   0: 0917010A:01BB 0904A8C0:C350 01 00000000:00000000\n";
    let out = site.text(sockets);
    for (hidden, real) in [("0917010A", "10.1.23.9"), ("0904A8C0", "192.168.4.9")] {
        let mapped = format!("{:08X}", u32::from(ip(real)).swap_bytes());
        assert!(!out.contains(hidden) && out.contains(&mapped), "{out}");
    }
    let route = "fd000010000000000000000000000000 40 00000000000000000000000000000000 00 fd000010000000000000000000000007 00000400 x\n";
    let out = site.text(route);
    assert!(!out.contains("fd000010000000000000000000000007"), "{out}");
    let mac = site.text("52:54:00:1a:34:56").replace(':', "");
    for text in [
        "5254.001a.3456",
        "01:52:54:00:1a:34:56",
        "hwaddr=5254001a3456",
        "52-54-00-1A-34-56",
    ] {
        let out = site.text(text);
        assert!(
            out.replace([':', '.', '-'], "").ends_with(&mac),
            "{text} -> {out}"
        );
    }
}

#[test]
fn infiniband_identifiers_change_as_a_whole_and_agree() {
    let site = site();
    let digits = |text: &str| {
        let out = site.text(text).replace(':', "");
        out[out.len() - 16..].to_owned()
    };
    let plain = digits("b8ce:f603:00aa:bbcc");
    assert_ne!(plain, "b8cef60300aabbcc");
    for text in [
        "Node GUID: 0xb8cef60300aabbcc",
        "link/infiniband b8:ce:f6:03:00:aa:bb:cc",
        "link/infiniband 00:00:10:49:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:aa:bb:cc",
        "switchguid=0xb8cef60300aabbcc",
    ] {
        assert_eq!(digits(text), plain, "{text}");
    }
}

#[test]
fn people_that_only_logs_name_and_machines_of_the_own_domain_change() {
    let site = site();
    for (text, name) in [
        (
            "sshd[1]: Accepted publickey for jdoe from 10.1.2.3 port 22",
            "jdoe",
        ),
        (
            "sudo:   jdoe : TTY=pts/0 ; USER=root ; COMMAND=/bin/ls",
            "jdoe",
        ),
        (
            "pam_unix(sshd:session): session opened for user jdoe(uid=1000) by (uid=0)",
            "jdoe",
        ),
        ("open /home/jdoe/.kube/config: no such file", "jdoe"),
        ("mail jane.doe@corp.example.org about it", "jane.doe"),
        ("mail jane.doe@corp.example.org about it", "corp.example"),
        ("bmc-17.lab.example.com is down", "bmc-17"),
        ("node Berlin-GPU-7 and LAB.example.com", "Berlin-GPU-7"),
        ("node Berlin-GPU-7 and LAB.example.com", "LAB.example.com"),
    ] {
        assert!(
            !site.text(text).contains(name),
            "{text} -> {}",
            site.text(text)
        );
    }
    for text in [
        "user@1000.service: Started",
        "session opened for user root(uid=0) by (uid=0)",
        "git@github.com:a/b",
        "1.2.3 and 1234.5678.9012",
    ] {
        assert_eq!(site.text(text), text);
    }
    let once = site.text("jane.doe@corp.example.org for user jdoe by berlin-gpu-7");
    assert_eq!(site.text(&once), once, "no name changes twice");
}
