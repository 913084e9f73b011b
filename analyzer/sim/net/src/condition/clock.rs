//! `time`: when a packet comes, against hours, days and dates in UTC (`net/netfilter/xt_time.c`).

use super::Tri;

const DAY: i64 = 86_400;
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Hours, days and dates that a rule holds at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    /// First and last second.
    dates: (i64, i64),
    /// First and last second of a day; the first may lie behind the last.
    hours: (i64, i64),
    /// Bits from 0 for Monday on.
    weekdays: u32,
    /// Bits from 1 for the first of a month on.
    monthdays: u32,
    /// The hours behind midnight belong to the day before.
    contiguous: bool,
    /// In the kernel's time zone, which is not known.
    zoned: bool,
}

impl Clock {
    /// `time --timestart 09:00:00 --timestop 18:00:00 --weekdays Mon,Tue --datestop 2038-01-19T03:14:07`.
    pub fn parse(text: &str) -> Option<Clock> {
        let mut clock = Clock {
            dates: (i64::MIN, i64::MAX),
            hours: (0, DAY - 1),
            weekdays: u32::MAX,
            monthdays: u32::MAX,
            contiguous: false,
            zoned: false,
        };
        let mut negated = false;
        let mut words = text.split(' ').skip(1);
        while let Some(word) = words.next() {
            let before = std::mem::replace(&mut negated, word == "!");
            let turned = |bits: u32| if before { !bits } else { bits };
            match word {
                "!" | "--utc" => {}
                "--contiguous" => clock.contiguous = true,
                "--kerneltz" => clock.zoned = true,
                "--timestart" => clock.hours.0 = hour(words.next()?)?,
                "--timestop" => clock.hours.1 = hour(words.next()?)?,
                "--datestart" => clock.dates.0 = date(words.next()?)?,
                "--datestop" => clock.dates.1 = date(words.next()?)?,
                "--weekdays" => clock.weekdays = turned(bits(words.next()?, weekday)?),
                "--monthdays" => {
                    let day = |word: &str| word.parse().ok().filter(|day| (1..=31).contains(day));
                    clock.monthdays = turned(bits(words.next()?, day)?);
                }
                _ => return None,
            }
        }
        Some(clock)
    }

    /// Whether it holds at a second since 1970.
    pub fn holds(&self, at: Option<i64>) -> Tri {
        let Some(at) = at.filter(|_| !self.zoned) else {
            return Tri::Maybe;
        };
        let (start, stop) = self.hours;
        let second = at.rem_euclid(DAY);
        let within = match start < stop {
            true => (start..=stop).contains(&second),
            false => second >= start || second <= stop,
        };
        let early = start >= stop && self.contiguous && second < stop;
        let day = at.div_euclid(DAY) - i64::from(early);
        // 1970 began on a Thursday.
        let weekday = (day + 3).rem_euclid(7);
        let on = |bits: u32, bit: i64| bits >> bit & 1 == 1;
        Tri::of(
            (self.dates.0..=self.dates.1).contains(&at)
                && within
                && on(self.weekdays, weekday)
                && on(self.monthdays, day_of_month(day)),
        )
    }
}

fn bits(list: &str, read: impl Fn(&str) -> Option<u32>) -> Option<u32> {
    let all = list.split(',').map(read);
    all.map(|bit| bit.map(|bit| 1 << bit))
        .try_fold(0, |all, bit| Some(all | bit?))
}

fn weekday(word: &str) -> Option<u32> {
    let found = WEEKDAYS.iter().position(|day| word.starts_with(day));
    let number = || word.parse::<u32>().ok().filter(|day| (1..=7).contains(day));
    found
        .and_then(|at| u32::try_from(at).ok())
        .or_else(|| number().map(|day| day - 1))
}

/// `09:00` or `09:00:30` as a second of the day.
fn hour(text: &str) -> Option<i64> {
    let parts: Vec<i64> = text
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    match parts.as_slice() {
        [hours, minutes] => Some(hours * 3600 + minutes * 60),
        [hours, minutes, seconds] => Some(hours * 3600 + minutes * 60 + seconds),
        _ => None,
    }
}

/// `2012-09-08T09:06:05` as a second since 1970.
fn date(text: &str) -> Option<i64> {
    let (day, time) = text.split_once('T')?;
    let parts: Vec<i64> = day
        .split('-')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let [year, month, day] = parts.as_slice() else {
        return None;
    };
    Some(days_since_1970(*year, *month, *day) * DAY + hour(time)?)
}

/// Days of the Gregorian calendar, counted in years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The day of the month of a day since 1970.
fn day_of_month(day: i64) -> i64 {
    let of_era = (day + 719_468).rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    of_year - (153 * month + 2) / 5 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_days_and_dates_are_the_kernels() {
        // Tuesday, 24 November 2026, 14:15:00 UTC.
        let at = date("2026-11-24T14:15:00").expect("a date");
        assert_eq!(at, 1_795_529_700);
        for (options, wanted) in [
            ("--timestart 14:00:00 --timestop 15:00:00", true),
            ("--timestart 15:00:00 --timestop 14:00:00", false),
            ("--timestart 22:00:00 --timestop 14:20:00", true),
            ("--weekdays Tue,Wed", true),
            ("! --weekdays Tue,Wed", false),
            ("--monthdays 24", true),
            ("--monthdays 1,2,3", false),
            ("--datestart 2026-11-24T14:15:00", true),
            ("--datestop 2012-09-08T09:06:05", false),
            // The night of Monday reaches into Tuesday.
            (
                "--timestart 22:00:00 --timestop 14:20:00 --weekdays Mon --contiguous",
                true,
            ),
        ] {
            let clock = Clock::parse(&format!("time {options}")).expect(options);
            assert_eq!(clock.holds(Some(at)), Tri::of(wanted), "{options}");
            assert_eq!(clock.holds(None), Tri::Maybe);
        }
        let zoned = Clock::parse("time --weekdays Tue --kerneltz").expect("a clock");
        assert_eq!(zoned.holds(Some(at)), Tri::Maybe);
        assert!(Clock::parse("time --moon full").is_none());
    }
}
