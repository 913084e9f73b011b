//! What happened first, boots, dates and clocks.

use chrono::{DateTime, TimeDelta, Utc};

use super::boots;
use super::moments::{
    Kind, Moment, Validity, chrony_follows, chrony_offset, first, synchronised, validity,
};

fn at(clock: &str) -> DateTime<Utc> {
    let text = format!("2026-11-20T{clock}Z");
    DateTime::parse_from_rfc3339(&text)
        .expect("a time")
        .to_utc()
}

#[test]
fn what_happened_first_is_looked_for_in_the_hour_before_the_node_went_down() {
    let moment = |kind, clock| Moment {
        kind,
        at: at(clock),
    };
    let moments = [
        moment(Kind::Boot, "03:00:00"),
        moment(Kind::Pleg, "10:12:00"),
        moment(Kind::MemoryKill, "10:10:00"),
        moment(Kind::NotReady, "10:13:00"),
        moment(Kind::KubeletStart, "10:20:00"),
    ];
    assert_eq!(first(&moments), Some(2));
    assert_eq!(first(&moments[..2]), Some(0), "never down: the earliest");
    let boots = [
        moment(Kind::Pleg, "02:00:00"),
        moment(Kind::Boot, "03:00:00"),
    ];
    assert_eq!(first(&boots), Some(1), "what an earlier boot saw is over");
    assert_eq!(first(&[]), None);
    let tie = [
        moment(Kind::NotReady, "10:13:00"),
        moment(Kind::Boot, "10:13:00"),
    ];
    assert_eq!(first(&tie), Some(1));
}

#[test]
fn dates_are_judged_by_the_clock_of_the_collection() {
    let now = at("12:00:00");
    let days = TimeDelta::days;
    assert_eq!(
        validity(now - days(400), now - days(1), now),
        Validity::Expired
    );
    assert_eq!(
        validity(now + days(1), now + days(366), now),
        Validity::NotYet
    );
    assert_eq!(
        validity(now - days(350), now + days(15), now),
        Validity::EndsSoon
    );
    assert_eq!(
        validity(now - days(1), now + days(364), now),
        Validity::Valid
    );
    let tracking =
        "Reference ID    : A9FEA97B\nSystem time     : 3.250000000 seconds slow of NTP time\n";
    assert_eq!(chrony_offset(tracking), Some(-3.25));
    assert_eq!(chrony_offset("System time : x seconds"), None);
    let alone = "System time     : 0.000000000 seconds fast of NTP time\nLeap status     : Not synchronised\n";
    assert_eq!(
        (chrony_offset(alone), chrony_follows(alone)),
        (None, Some(false))
    );
    assert_eq!(chrony_follows("Leap status     : Normal\n"), Some(true));
    assert_eq!(synchronised("NTP=yes\nNTPSynchronized=no\n"), Some(false));
    assert_eq!(
        synchronised("  System clock synchronized: no\n"),
        Some(false)
    );
    assert_eq!(synchronised("Failed to query server"), None);
}

#[test]
fn boots_are_read_from_both_forms_of_the_list() {
    let old = "-1 0123456789abcdef0123456789abcdef Fri 2026-11-20 08:00:00 UTC—Fri 2026-11-20 09:59:59 UTC\n";
    let new = "IDX BOOT ID                          FIRST ENTRY                 LAST ENTRY\n  0 0123456789abcdef0123456789abcdef Fri 2026-11-20 10:00:05 UTC Fri 2026-11-20 12:00:00 UTC\n";
    let began = |text: &str| -> Vec<(u32, DateTime<Utc>)> {
        let listed = boots::parse(text);
        listed
            .into_iter()
            .map(|one| (one.line, one.began))
            .collect()
    };
    assert_eq!(began(old), [(1, at("08:00:00"))]);
    assert_eq!(began(new), [(2, at("10:00:05"))]);
    let elsewhere = new.replace("UTC", "CET");
    assert!(
        began(&elsewhere).is_empty(),
        "a zone's name does not tell its offset"
    );
    assert!(began("0 xyz Fri 2026-11-20 10:00:05 UTC").is_empty());
}
