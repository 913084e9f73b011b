//! Line forms of several driver generations.

use super::*;

#[test]
fn lines_of_all_generations_give_gpu_code_and_process() {
    for (text, bus, code, process) in [
        (
            "NVRM: Xid (PCI:0000:a1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            "0000:a1:00",
            79,
            "",
        ),
        (
            "NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2)",
            "0018:01:00",
            145,
            "",
        ),
        (
            "NVRM: Xid (0000:03:00): 13, 0003 00000000 0000a1c0",
            "0000:03:00",
            13,
            "",
        ),
        (
            "kernel: NVRM: Xid (PCI:0000:3B:00): 31, pid=2491, name=python3, Ch 00000008",
            "0000:3b:00",
            31,
            "python3",
        ),
        (
            "NVRM: Xid (PCI:0000:3B:00): 45, pid=17, Ch 00000001 caused by previous Xid 149",
            "0000:3b:00",
            45,
            "pid 17",
        ),
        (
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No",
            "0000:01:00",
            94,
            "pid 7194",
        ),
        (
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:00): 13, pid=9, name=a, Graphics Exception",
            "0000:01:00",
            13,
            "a",
        ),
    ] {
        let line = parse(text).unwrap();
        assert_eq!(
            (line.bus.as_str(), line.code, line.process.as_str()),
            (bus, code, process),
            "{text}"
        );
    }
    assert_eq!(parse("NVRM: Xid (PCI:zz): 1"), None);
    assert_eq!(parse("NVRM: Xid (PCI:0000:01:00): many"), None);
    assert_eq!(bus("00000000:A1:00.0"), bus("0000:a1:00"));
}

#[test]
fn what_a_message_says_besides_its_code_is_kept() {
    let detail = |rest: &str| {
        parse(&format!("NVRM: Xid (PCI:0008:01:00): {rest}"))
            .unwrap()
            .detail
    };
    for (rest, words) in [
        (
            "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
            "GPU Reset Required",
        ),
        (
            "154, GPU recovery action changed from 0x0 (None) to 0x2 (OS Reboot)",
            "OS Reboot",
        ),
        (
            "154, GPU recovery action changed from 0x2 (Node Reboot Required) to 0x0 (None)",
            "None",
        ),
    ] {
        assert_eq!(detail(rest), Some(Detail::Recovery(words.into())), "{rest}");
    }
    assert_eq!(
        detail("45, pid=3, Ch 00000001 caused by previous Xid 149"),
        Some(Detail::After(149))
    );
    assert_eq!(
        detail("145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x0)"),
        Some(Detail::Nvlink5 {
            unit: "RLW_RXPIPE, link 13".into(),
            fatal: false,
            numbers: Some((0x0409_a0c2, 0)),
        })
    );
    assert_eq!(
        detail("149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x004505c6)"),
        Some(Detail::Nvlink5 {
            unit: "NETIR_LINK_EVT, link 08".into(),
            fatal: true,
            numbers: None,
        })
    );
    assert_eq!(detail("154, recovery action unreadable"), None);
    assert_eq!(
        parse("NVRM: Xid (PCI:0000:01:00 GPU-I:05): 43, pid=1")
            .unwrap()
            .detail,
        Some(Detail::Instance(5))
    );
}

#[test]
fn recovery_actions_of_all_drivers_are_told_apart() {
    for (words, action) in [
        ("None", Some(Action::None)),
        ("Drain P2P", Some(Action::DrainPeers)),
        ("Drain and Reset", Some(Action::ResetGpu)),
        ("GPU Reset Required", Some(Action::ResetGpu)),
        ("PF FLR", Some(Action::ResetGpu)),
        ("OS Reboot", Some(Action::RestartMachine)),
        ("Node Reboot Required", Some(Action::RestartMachine)),
        ("Something Else", None),
    ] {
        assert_eq!(recovery(words), action, "{words}");
    }
}

proptest::proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(text in "(NVRM: Xid \\()?(PCI:)?[0-9a-f:.]{0,16}\\)?:? ?[0-9]{0,12}[ ,a-z=<>']{0,20}|\\PC{0,40}") {
        let _ = parse(&text);
    }
}
