//! When a capture was taken, by its own head: what `date` prints in the locale of the machine.

use chrono::{NaiveDate, TimeDelta};

use super::months;
use crate::model::MachineClock;

/// Minutes that clocks of these names are ahead of UTC. Names that mean two zones (CST, IST, BST) are left out: a wrong
/// hour is worse than none.
const ZONES: &[(&str, i64)] = &[
    ("UTC", 0),
    ("GMT", 0),
    ("WET", 0),
    ("WEST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("JST", 540),
    ("KST", 540),
    ("WIB", 420),
    ("EST", -300),
    ("EDT", -240),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
];

/// The moment of `Tue Jun 26 11:19:49 WIB 2018`, `Do 24. Jul 15:29:56 CEST 2025` or `Mon Jul  7 06:43:57 PM EDT 2025`;
/// none where a part of it is missing or its zone is not known.
pub(super) fn moment(text: &str) -> Option<MachineClock> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let clock = words
        .iter()
        .position(|word| word.matches(':').count() == 2)?;
    let parts: Option<Vec<u32>> = words[clock]
        .split(':')
        .map(|part| part.parse().ok())
        .collect();
    let [hour, minute, second] = parts?.try_into().ok()?;
    let hour = match words.get(clock + 1) {
        Some(&"PM") => hour % 12 + 12,
        Some(&"AM") => hour % 12,
        _ => hour,
    };
    let ahead = words.iter().find_map(|word| ahead(word))?;
    let local = date(&words)?.and_hms_opt(hour, minute, second)?;
    let ahead = TimeDelta::try_minutes(ahead)?;
    Some(MachineClock {
        taken: local.and_utc().checked_sub_signed(ahead)?,
        ahead,
        is_utc: words.contains(&"UTC"),
    })
}

/// The day of `2022-02-10`, or of a month's name beside numbers for day and year.
fn date(words: &[&str]) -> Option<NaiveDate> {
    if let Some(day) = words.iter().find_map(|word| word.parse().ok()) {
        return Some(day);
    }
    let month = words.iter().find_map(|word| months::number(word))?;
    let numbers = words.iter().map(|word| word.trim_end_matches('.'));
    let numbers = numbers.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let (years, days): (Vec<&str>, Vec<&str>) = numbers.partition(|word| word.len() == 4);
    let (year, day) = (years.first()?.parse().ok()?, days.first()?.parse().ok()?);
    NaiveDate::from_ymd_opt(year, u32::from(month), day)
}

/// Minutes ahead of UTC, by a name or as `+0200`.
fn ahead(zone: &str) -> Option<i64> {
    if let Some((_, ahead)) = ZONES.iter().find(|(name, _)| *name == zone) {
        return Some(*ahead);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let number: i64 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    Some(sign * (number / 100 * 60 + number % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_capture_dates_it_where_its_zone_is_known() {
        let of = |text: &str| moment(text).map(|clock| clock.taken.format("%F %T").to_string());
        let is = |text: &str, at: &str| assert_eq!(of(text).as_deref(), Some(at), "{text}");
        is("Tue Jun 26 11:19:49 WIB 2018", "2018-06-26 04:19:49");
        is("Do 24. Jul 15:29:56 CEST 2025", "2025-07-24 13:29:56");
        is("Mon Jul  7 06:43:57 PM EDT 2025", "2025-07-07 22:43:57");
        is("Fri Nov 20 00:10:00 +0530 2026", "2026-11-19 18:40:00");
        is("Thu 2022-02-10 09:52:10 UTC", "2022-02-10 09:52:10");
        let berlin = moment("Do 24. Jul 15:29:56 CEST 2025").unwrap();
        assert_eq!((berlin.ahead.num_minutes(), berlin.is_utc), (120, false));
        assert!(moment("Thu 2022-02-10 09:52:10 UTC").unwrap().is_utc);
        assert_eq!(of("Sun May 29 18:10:23 CST 2022"), None, "two zones");
        assert_eq!(of("Date: none"), None);
    }
}
