//! Line forms of several driver generations and sequences that NVIDIA describes.

use std::collections::{BTreeMap, BTreeSet};

use chrono::DateTime;

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

fn event(bus: &str, code: u32, second: i64) -> Event {
    Event {
        bus: bus.into(),
        code,
        at: DateTime::from_timestamp(1_700_000_000 + second, 0),
        order: 0,
        count: 1,
        processes: BTreeSet::new(),
    }
}

fn told(events: &[Event]) -> Vec<Story> {
    stories(events, &BTreeMap::new())
}

#[test]
fn the_first_code_that_is_no_consequence_is_the_cause() {
    let stories = told(&[
        event("0000:01:00", 45, 2),
        event("0000:01:00", 43, 0),
        event("0000:01:00", 31, 1),
    ]);
    assert_eq!((stories[0].first, stories[0].cause), (43, 31));
    assert_eq!(stories[0].follows, [43, 45]);
    assert_eq!(stories[0].class, Class::Application);
    assert_eq!(stories[0].action, Action::RestartApplication);
}

#[test]
fn a_memory_error_with_its_remap_asks_for_a_reset() {
    let stories = told(&[
        event("0000:01:00", 48, 0),
        event("0000:01:00", 63, 1),
        event("0000:01:00", 94, 2),
    ]);
    assert_eq!(
        (stories[0].cause, stories[0].class, stories[0].action),
        (48, Class::Memory, Action::ResetGpu)
    );
}

#[test]
fn links_that_go_down_with_a_lost_peer_are_its_consequence() {
    let stories = told(&[event("0000:01:00", 79, 0), event("0000:02:00", 74, 1)]);
    assert_eq!(
        (stories[0].class, stories[0].action),
        (Class::Bus, Action::RestartMachine)
    );
    assert_eq!(stories[1].class, Class::Consequence);
    assert!(
        stories[1].says.contains("0000:01:00"),
        "{}",
        stories[1].says
    );
    let alone = told(&[event("0000:02:00", 74, 1)]);
    assert_eq!(alone[0].class, Class::Link);
}

#[test]
fn application_and_hardware_are_told_apart_by_who_else_is_hit() {
    let shared = told(&[event("0000:01:00", 31, 0), event("0000:02:00", 31, 1)]);
    assert!(shared.iter().all(|story| story.class == Class::Application));
    let mut one = event("0000:01:00", 31, 0);
    one.processes = ["train".to_owned(), "infer".to_owned()].into();
    assert_eq!(told(&[one])[0].class, Class::Hardware);
    let sick = Health {
        ecc_uncorrectable: Some(2),
        ..Health::default()
    };
    let health = BTreeMap::from([("0000:01:00".to_owned(), sick)]);
    assert_eq!(
        stories(&[event("0000:01:00", 13, 0)], &health)[0].class,
        Class::Memory
    );
}

#[test]
fn codes_that_nobody_knows_are_said_to_be_unknown() {
    assert_eq!(lookup(9999), None);
    let story = &told(&[event("0000:01:00", 9999, 0)])[0];
    assert!(
        story.says.contains("not in NVIDIA's catalogue"),
        "{}",
        story.says
    );
}

proptest::proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(text in "(NVRM: Xid \\()?(PCI:)?[0-9a-f:.]{0,16}\\)?:? ?[0-9]{0,12}[ ,a-z=<>']{0,20}|\\PC{0,40}") {
        let _ = parse(&text);
    }

    #[test]
    fn every_gpu_has_one_story(codes in proptest::collection::vec((0_u32..4, 0_u32..200, -5000_i64..5000), 0..20)) {
        let events: Vec<Event> = codes.iter().map(|(gpu, code, second)| event(&format!("0000:0{gpu}:00"), *code, *second)).collect();
        let gpus: BTreeSet<&str> = events.iter().map(|event| event.bus.as_str()).collect();
        proptest::prop_assert_eq!(told(&events).len(), gpus.len());
    }
}
