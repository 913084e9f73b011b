//! What dates lines whose own clock names no year, no zone or neither.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};

use super::Place;

/// What a line says of a clock that other lines are dated by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// The kernel read the machine's hardware clock: when the machine was started, and how many seconds later that was.
    Kernel {
        /// When the kernel's own clock was at zero. The kernel takes it for UTC; beside Windows it is mostly local time.
        started: NaiveDateTime,
        /// Whole seconds of the kernel's own clock at this line.
        seconds: i64,
    },
    /// When a log of klog was begun, by the clock of its lines.
    Log(NaiveDateTime),
    /// A line tells the time twice, by its own clock and in full.
    Zone {
        /// Whose clock.
        own: Own,
        /// The year by its own clock.
        year: i32,
        /// The month by its own clock, from 1.
        month: u32,
        /// Minutes that its own clock is ahead of UTC.
        ahead: i32,
    },
    /// The machine's zone is UTC.
    Utc,
}

/// Whose clock a line without a year is dated by: in one file each may be of another zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Own {
    /// The system's log writes it in front of the host's name.
    System,
    /// The program writes it, as klog does.
    Klog,
}

/// Such a line and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockLine {
    /// Where.
    pub place: Place,
    /// How many lines of its entry say so.
    pub count: u64,
    /// What it says.
    pub clock: Clock,
}

/// A time without a year, dated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dated {
    /// Wholly.
    At(DateTime<Utc>),
    /// The year is known, the zone is not.
    Year(i32),
}

/// The lines that date others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clocks(pub Vec<ClockLine>);

impl Clocks {
    /// So many lines that tell the time twice say how far a clock is ahead: one may tell another time than its own.
    const TWICE: u64 = 2;

    /// When a line was written that stands there, so many seconds after the machine was started: by the nearest line above
    /// it in which the kernel read the hardware clock.
    pub fn since_start(&self, place: &Place, after: i64) -> Option<NaiveDateTime> {
        let above = self.0.iter().filter(|one| {
            one.place.path == place.path && one.place.line.is_some() && one.place.line <= place.line
        });
        let nearest = above
            .filter_map(|one| match one.clock {
                Clock::Kernel { started, seconds } => Some((one.place.line, started, seconds)),
                _ => None,
            })
            .max()?;
        let (_, started, seconds) = nearest;
        // A smaller figure is of another start, which no line dates.
        let later = after >= seconds;
        later
            .then(|| started.checked_add_signed(TimeDelta::try_seconds(after)?))
            .flatten()
    }

    /// When the machine was last started, by the last line in which the kernel read the hardware clock.
    pub fn started(&self) -> Option<NaiveDateTime> {
        let kernel = self.0.iter().filter_map(|one| match one.clock {
            Clock::Kernel { started, .. } => Some(started),
            _ => None,
        });
        kernel.max()
    }

    /// Dates a time without a year that one of the clocks of an entry shows; `in_year` gives the time in a year. None where
    /// nothing does.
    pub fn date(
        &self,
        path: &str,
        own: Own,
        in_year: impl Fn(i32) -> Option<NaiveDateTime>,
    ) -> Option<Dated> {
        let lines = || self.0.iter().filter(|one| one.place.path == path);
        let zones = lines().filter_map(|one| match one.clock {
            Clock::Zone {
                own: whose,
                year,
                month,
                ahead,
            } if one.count >= Self::TWICE && whose == own => Some((year, month, ahead)),
            _ => None,
        });
        let zones: Vec<(i32, u32, i32)> = zones.collect();
        if let Some((year, month, ahead)) = zones.first() {
            // A clock that was set between them, or two clocks.
            if zones.iter().any(|(_, _, other)| other != ahead) {
                return None;
            }
            let at = nearest(*year, *month, in_year)?;
            let at = at.checked_sub_signed(TimeDelta::try_minutes(i64::from(*ahead))?)?;
            return Some(Dated::At(at.and_utc()));
        }
        let begun = lines().find_map(|one| match one.clock {
            Clock::Log(begun) if own == Own::Klog => Some(begun),
            _ => None,
        })?;
        // A log may go on into the next year.
        let years = [begun.year(), begun.year() + 1];
        let year = years
            .into_iter()
            .find(|year| in_year(*year).is_some_and(|at| at >= begun))?;
        Some(Dated::Year(year))
    }

    /// Whether the zone of the only machine is UTC.
    pub fn is_utc(&self) -> bool {
        self.0.iter().any(|one| one.clock == Clock::Utc)
    }
}

/// The time in that year in which it is nearest to a month: a log goes on from December to January.
fn nearest(
    year: i32,
    month: u32,
    in_year: impl Fn(i32) -> Option<NaiveDateTime>,
) -> Option<NaiveDateTime> {
    let middle = NaiveDate::from_ymd_opt(year, month, 15)?.and_time(NaiveTime::MIN);
    let years = [year - 1, year, year + 1].into_iter();
    years
        .filter_map(in_year)
        .min_by_key(|at| (*at - middle).abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u32, count: u64, clock: Clock) -> ClockLine {
        ClockLine {
            place: place(number),
            count,
            clock,
        }
    }

    fn place(number: u32) -> Place {
        Place {
            path: "a.log".to_owned(),
            line: Some(number),
        }
    }

    fn kernel(started: &str, seconds: i64) -> Clock {
        Clock::Kernel {
            started: started.parse().unwrap(),
            seconds,
        }
    }

    #[test]
    fn the_kernels_clock_is_dated_by_the_nearest_line_above_of_the_same_start() {
        let clocks = Clocks(vec![
            line(5, 1, kernel("2023-11-14T09:00:00", 2)),
            line(50, 1, kernel("2023-11-14T10:00:00", 2)),
        ]);
        let at = |number: u32, after: i64| {
            let at = clocks.since_start(&place(number), after);
            at.map(|at| at.to_string())
        };
        assert_eq!(at(9, 60).as_deref(), Some("2023-11-14 09:01:00"));
        assert_eq!(at(60, 60).as_deref(), Some("2023-11-14 10:01:00"));
        assert_eq!(at(60, 1), None);
        assert_eq!(at(2, 60), None);
        let elsewhere = Place {
            path: "b.log".to_owned(),
            line: Some(60),
        };
        assert_eq!(clocks.since_start(&elsewhere, 60), None);
    }

    #[test]
    fn a_year_is_that_of_the_logs_head_or_the_next_and_a_zone_needs_two_lines() {
        let begun = "2025-12-31T23:00:00".parse().unwrap();
        let head = line(1, 1, Clock::Log(begun));
        let in_year = |year: i32| format!("{year}-01-02T03:04:05").parse().ok();
        let date = |lines: &[ClockLine], own| Clocks(lines.to_vec()).date("a.log", own, in_year);
        assert_eq!(
            date(std::slice::from_ref(&head), Own::Klog),
            Some(Dated::Year(2026))
        );
        assert_eq!(date(std::slice::from_ref(&head), Own::System), None);
        let zone = |count: u64, month: u32, ahead: i32| {
            let own = Own::Klog;
            let year = 2025;
            line(
                7,
                count,
                Clock::Zone {
                    own,
                    year,
                    month,
                    ahead,
                },
            )
        };
        let once = [head.clone(), zone(1, 12, -60)];
        assert_eq!(date(&once, Own::Klog), Some(Dated::Year(2026)));
        let at = Some(Dated::At("2026-01-02T04:04:05Z".parse().unwrap()));
        assert_eq!(date(&[head.clone(), zone(2, 12, -60)], Own::Klog), at);
        assert_eq!(date(&[zone(2, 12, -60)], Own::System), None);
        let two = [head, zone(2, 11, -60), zone(2, 12, 0)];
        assert_eq!(date(&two, Own::Klog), None);
    }

    #[test]
    fn another_entry_dates_nothing() {
        let begun = "2025-12-31T23:00:00".parse().unwrap();
        let clocks = Clocks(vec![line(1, 1, Clock::Log(begun))]);
        let in_year = |year: i32| format!("{year}-01-02T03:04:05").parse().ok();
        assert_eq!(clocks.date("b.log", Own::Klog, in_year), None);
    }
}
