//! Sequences that NVIDIA describes.

use std::collections::{BTreeMap, BTreeSet};

use chrono::DateTime;

use super::*;

fn event(bus: &str, code: u32, second: i64) -> Event {
    Event {
        bus: bus.into(),
        code,
        at: DateTime::from_timestamp(1_700_000_000 + second, 0),
        order: 0,
        count: 1,
        processes: BTreeSet::new(),
        details: BTreeSet::new(),
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
        story.says.contains("no source that is known here") && story.class == Class::Unknown,
        "{}",
        story.says
    );
}

#[test]
fn a_defect_that_could_not_be_recorded_is_not_said_to_be_recorded() {
    let story = &told(&[event("0000:01:00", 48, 0), event("0000:01:00", 64, 1)])[0];
    assert_eq!(story.action, Action::ResetGpu);
    assert!(
        story.says.contains("could not be recorded"),
        "{}",
        story.says
    );
    assert_eq!(story.advice, "drain the node and reset the GPU");
    let handled = &told(&[event("0000:01:00", 63, 0), event("0000:01:00", 94, 1)])[0];
    assert_eq!(handled.action, Action::RestartApplication);
    let spread = &told(&[event("0000:01:00", 94, 0), event("0000:01:00", 95, 1)])[0];
    assert_eq!(spread.action, Action::ResetGpu);
}

#[test]
fn an_old_fault_of_a_program_does_not_hide_a_loss_of_days_later() {
    let day = 86_400;
    let stories = told(&[
        event("0000:01:00", 13, 0),
        event("0000:01:00", 79, day),
        event("0000:01:00", 45, day + 1),
    ]);
    let causes: Vec<(u32, Class)> = stories
        .iter()
        .map(|story| (story.cause, story.class))
        .collect();
    assert_eq!(causes, [(13, Class::Application), (79, Class::Bus)]);
    assert_eq!(stories[1].follows, [45]);
    // Within seconds of one another the first is no mere fault of the program.
    let near = &told(&[event("0000:01:00", 13, 0), event("0000:01:00", 79, 2)])[0];
    assert_eq!(
        (near.cause, near.class, near.action),
        (13, Class::Bus, Action::RestartMachine)
    );
    // A peer that was lost last month takes no link down today.
    let apart = told(&[
        event("0000:01:00", 79, 0),
        event("0000:02:00", 74, 30 * day),
    ]);
    assert_eq!(apart[1].class, Class::Link);
}

#[test]
fn what_the_driver_asks_for_goes_before_the_table() {
    let mut asked = event("0000:01:00", 154, 1);
    asked.details = [
        Detail::Recovery("Node Reboot Required".into()),
        Detail::Recovery("None".into()),
    ]
    .into();
    let story = &told(&[event("0000:01:00", 119, 0), asked.clone()])[0];
    assert_eq!((story.cause, story.action), (119, Action::RestartMachine));
    assert!(
        story
            .says
            .contains("the driver asks for: Node Reboot Required"),
        "{}",
        story.says
    );
    assert_eq!(told(&[asked])[0].action, Action::RestartMachine);
    let health = Health {
        recovery_action: "Drain P2P".into(),
        ..Health::default()
    };
    let health = BTreeMap::from([("0000:01:00".to_owned(), health)]);
    assert_eq!(
        stories(&[event("0000:01:00", 74, 0)], &health)[0].action,
        Action::DrainPeers
    );
}

#[test]
fn heat_links_and_power_that_nvidia_smi_shows_are_told_with_the_message() {
    let hot = Health {
        slowdowns: vec!["hw-thermal".into(), "sw-power-cap".into()],
        temperature: Some((93, 90)),
        fabric: ("In Progress".into(), String::new()),
        lanes: Some((8, 16)),
        ..Health::default()
    };
    let health = BTreeMap::from([("0000:01:00".to_owned(), hot)]);
    let says = &stories(&[event("0000:01:00", 62, 0)], &health)[0].says;
    for part in [
        "hw-thermal",
        "93 °C of 90",
        "NVLink fabric In Progress",
        "8 of 16 PCIe lanes",
    ] {
        assert!(says.contains(part), "{part}: {says}");
    }
    assert!(
        !says.contains("sw-power-cap"),
        "a power cap is the normal state under load: {says}"
    );
}

#[test]
fn an_action_is_named_only_where_the_catalogue_names_one() {
    for code in [162, 165, 167, 169, 172] {
        assert_eq!(lookup(code).unwrap().action, Action::NotNamed, "Xid {code}");
    }
    // Of codes that it lists as unused the catalogue says to contact support.
    for code in [9, 61, 91, 118, 125] {
        let action = lookup(code).unwrap().action;
        assert_eq!(action, Action::ContactVendor, "Xid {code}");
    }
    assert_eq!(
        told(&[event("0000:01:00", 62, 0)])[0].advice,
        "drain the node and reset the GPU, then contact the vendor"
    );
    assert_eq!(lookup(78).unwrap().action, Action::UpdateSoftware);
}

#[test]
fn an_nvlink_error_is_what_its_unit_and_error_status_make_it() {
    let unit = |fatal, numbers| {
        let mut error = event("0000:01:00", 145, 0);
        let unit = "RLW_SRC_TRACK".to_owned();
        error.details = [Detail::Nvlink5 {
            unit,
            fatal,
            numbers,
        }]
        .into();
        error
    };
    let of = |error: &Event| {
        let story = &told(std::slice::from_ref(error))[0];
        (story.class, story.action)
    };
    let reset = unit(true, Some((7, 0x1)));
    assert_eq!(of(&reset), (Class::Link, Action::ResetGpu));
    let ignored = unit(false, Some((7, 0x2)));
    assert_eq!(of(&ignored), (Class::Information, Action::None));
    let follows = unit(false, Some((7, 0x4)));
    assert_eq!(of(&follows).0, Class::Application);
    // Xid 154 beside it says what else is needed.
    let mut asked = event("0000:01:00", 154, 1);
    asked.details = [Detail::Recovery("GPU Reset Required".into())].into();
    let both = &told(&[follows, asked])[0];
    assert_eq!((both.cause, both.action), (145, Action::ResetGpu));
    // Without numbers only the driver's word is left.
    assert_eq!(of(&unit(true, None)).0, Class::Link);
    assert_eq!(of(&unit(false, None)).0, Class::Unknown);
}

#[test]
fn a_request_that_was_taken_back_is_none() {
    let mut cleared = event("0000:01:00", 154, 1);
    cleared.details = [Detail::Recovery("None".into())].into();
    let story = &told(&[cleared])[0];
    assert_eq!(
        (story.class, story.action),
        (Class::Information, Action::None)
    );
}

proptest::proptest! {
    #[test]
    fn every_message_is_in_one_story(codes in proptest::collection::vec((0_u32..4, 0_u32..200, -5000_i64..5000), 0..20)) {
        let mut codes = codes;
        codes.sort_unstable();
        codes.dedup_by_key(|(gpu, code, _)| (*gpu, *code));
        let events: Vec<Event> = codes.iter().map(|(gpu, code, second)| event(&format!("0000:0{gpu}:00"), *code, *second)).collect();
        let mut told: Vec<(String, u32)> = Vec::new();
        for story in super::stories(&events, &BTreeMap::new()) {
            told.extend(story.follows.iter().chain([&story.cause]).map(|code| (story.bus.clone(), *code)));
        }
        told.sort();
        let mut all: Vec<(String, u32)> = events.iter().map(|event| (event.bus.clone(), event.code)).collect();
        all.sort();
        proptest::prop_assert_eq!(told, all);
    }
}
