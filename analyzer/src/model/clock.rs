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
    /// systemd starts: it says next by what the hardware clock runs, unless that is UTC.
    Systemd,
    /// The hardware clock runs by local time, so many minutes ahead of UTC.
    LocalHardware(i32),
}

/// The clock of the machine of which all lines are, as the head of the input shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineClock {
    /// When the input was taken.
    pub taken: DateTime<Utc>,
    /// How far the clock was ahead of UTC then.
    pub ahead: TimeDelta,
    /// Its zone is UTC, in summer as in winter.
    pub is_utc: bool,
}

/// When a machine was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// By its hardware clock, of which nothing says in which zone it runs.
    Hardware(NaiveDateTime),
    /// Wholly.
    At(DateTime<Utc>),
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

/// What dates lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Lines that date others.
    pub lines: Vec<ClockLine>,
    /// The machine's clock, where the head of the input shows it.
    pub machine: Option<MachineClock>,
    /// The newest date that a loose text tells, and where.
    pub newest: Option<(DateTime<Utc>, Place)>,
}

impl Clocks {
    /// So many lines that tell the time twice say how far a clock is ahead: one may tell another time than its own.
    const TWICE: u64 = 2;

    /// When a line was written that stands there, so many seconds after the machine was started: by the nearest line above
    /// it in which the kernel read the hardware clock.
    pub fn since_start(&self, place: &Place, after: i64) -> Option<Started> {
        let in_file = || {
            let lines = self.lines.iter();
            lines.filter(|one| one.place.path == place.path && one.place.line.is_some())
        };
        let above = in_file().filter(|one| one.place.line <= place.line);
        let nearest = above
            .filter_map(|one| match one.clock {
                Clock::Kernel { started, seconds } => Some((one.place.line, started, seconds)),
                _ => None,
            })
            .max()?;
        let (_, started, seconds) = nearest;
        // A smaller figure is of another start, which no line dates.
        if after < seconds {
            return None;
        }
        let at = started.checked_add_signed(TimeDelta::try_seconds(after)?)?;
        let (line, ..) = nearest;
        let next = in_file().filter_map(|one| match one.clock {
            Clock::Kernel { .. } if one.place.line > line => one.place.line,
            _ => None,
        });
        let next = next.min();
        let of_start = in_file().filter(|one| {
            one.place.line > line && next.is_none_or(|next| one.place.line < Some(next))
        });
        let hardware = of_start.filter_map(|one| match one.clock {
            Clock::LocalHardware(ahead) => Some(ahead),
            Clock::Systemd => Some(0),
            _ => None,
        });
        // The one in the initial RAM disk starts before it and does not look (`initialize_clock` of systemd).
        let ahead = hardware.max_by_key(|ahead| ahead.abs());
        let at_utc = |ahead: i32| at.checked_sub_signed(TimeDelta::try_minutes(i64::from(ahead))?);
        Some(match ahead.and_then(at_utc) {
            Some(at) => Started::At(at.and_utc()),
            None => Started::Hardware(at),
        })
    }

    /// When the machine was last started, by the last line in which the kernel read the hardware clock.
    pub fn started(&self) -> Option<NaiveDateTime> {
        let kernel = self.lines.iter().filter_map(|one| match one.clock {
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
        let lines = || self.lines.iter().filter(|one| one.place.path == path);
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
        });
        let Some(begun) = begun else {
            return (own == Own::System)
                .then(|| self.by_machine(in_year))
                .flatten();
        };
        // A log may go on into the next year.
        let years = [begun.year(), begun.year() + 1];
        let year = years
            .into_iter()
            .find(|year| in_year(*year).is_some_and(|at| at >= begun))?;
        Some(Dated::Year(year))
    }

    /// Dates a time without a year by the machine's clock: the system's log is written by it.
    fn by_machine(&self, in_year: impl Fn(i32) -> Option<NaiveDateTime>) -> Option<Dated> {
        // Longer before, summer time may have begun or ended.
        const SAME_TIME: TimeDelta = TimeDelta::days(1);
        let machine = self.machine?;
        let taken = machine
            .taken
            .naive_utc()
            .checked_add_signed(machine.ahead)?;
        let years = [taken.year(), taken.year() - 1];
        let year = years
            .into_iter()
            .find(|year| in_year(*year).is_some_and(|at| at <= taken))?;
        let at = in_year(year)?;
        if machine.is_utc || taken - at <= SAME_TIME {
            let at = at.checked_sub_signed(machine.ahead)?;
            return Some(Dated::At(at.and_utc()));
        }
        Some(Dated::Year(year))
    }

    /// Whether the zone of the only machine is UTC.
    pub fn is_utc(&self) -> bool {
        let told = self.lines.iter().any(|one| one.clock == Clock::Utc);
        told || self.machine.is_some_and(|machine| machine.is_utc)
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

    fn of(lines: &[ClockLine]) -> Clocks {
        Clocks {
            lines: lines.to_vec(),
            ..Clocks::default()
        }
    }

    fn line(number: u32, count: u64, clock: Clock) -> ClockLine {
        ClockLine {
            place: place(number),
            count,
            clock,
        }
    }

    fn place(number: u32) -> Place {
        Place {
            path: "a.log".into(),
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
        let clocks = of(&[
            line(5, 1, kernel("2023-11-14T09:00:00", 2)),
            line(50, 1, kernel("2023-11-14T10:00:00", 2)),
        ]);
        let at = |number: u32, after: i64| match clocks.since_start(&place(number), after)? {
            Started::Hardware(at) => Some(at.to_string()),
            Started::At(at) => Some(format!("{at}")),
        };
        assert_eq!(at(9, 60).as_deref(), Some("2023-11-14 09:01:00"));
        assert_eq!(at(60, 60).as_deref(), Some("2023-11-14 10:01:00"));
        assert_eq!(at(60, 1), None);
        assert_eq!(at(2, 60), None);
        let elsewhere = Place {
            path: "b.log".into(),
            line: Some(60),
        };
        assert_eq!(clocks.since_start(&elsewhere, 60), None);
    }

    #[test]
    fn systemd_says_by_what_the_hardware_clock_runs() {
        let start = kernel("2022-05-29T17:51:10", 0);
        let at = |lines: &[ClockLine]| of(lines).since_start(&place(40), 5);
        let is = |at: &str| Some(Started::At(at.parse().unwrap()));
        let local = line(30, 1, Clock::LocalHardware(480));
        let systemd = line(20, 2, Clock::Systemd);
        let first = line(1, 1, start.clone());
        let unsaid = Started::Hardware("2022-05-29T17:51:15".parse().unwrap());
        assert_eq!(at(std::slice::from_ref(&first)), Some(unsaid));
        let utc = [first.clone(), systemd.clone()];
        assert_eq!(at(&utc), is("2022-05-29T17:51:15Z"));
        let ahead = [first.clone(), systemd.clone(), local.clone()];
        assert_eq!(at(&ahead), is("2022-05-29T09:51:15Z"));
        let of_another_start = [
            first,
            line(10, 1, kernel("2022-05-29T18:00:00", 0)),
            line(5, 1, Clock::Systemd),
        ];
        let later = of(&of_another_start).since_start(&place(40), 5);
        assert!(matches!(later, Some(Started::Hardware(_))), "{later:?}");
    }

    #[test]
    fn the_systems_log_is_dated_by_the_machines_clock_on_the_day_before() {
        let clocks = Clocks {
            lines: Vec::new(),
            machine: Some(MachineClock {
                taken: "2025-01-01T00:30:00Z".parse().unwrap(),
                ahead: TimeDelta::hours(2),
                is_utc: false,
            }),
            ..Clocks::default()
        };
        let date =
            |own, at: &str| clocks.date("a.log", own, |year| format!("{year}-{at}").parse().ok());
        let hour_before = Some(Dated::At("2025-01-01T00:00:00Z".parse().unwrap()));
        assert_eq!(date(Own::System, "01-01T02:00:00"), hour_before);
        let evening = Some(Dated::At("2024-12-31T20:00:00Z".parse().unwrap()));
        assert_eq!(date(Own::System, "12-31T22:00:00"), evening);
        assert_eq!(date(Own::System, "10-20T22:00:00"), Some(Dated::Year(2024)));
        assert_eq!(date(Own::Klog, "01-01T02:00:00"), None);
    }

    #[test]
    fn a_year_is_that_of_the_logs_head_or_the_next_and_a_zone_needs_two_lines() {
        let begun = "2025-12-31T23:00:00".parse().unwrap();
        let head = line(1, 1, Clock::Log(begun));
        let in_year = |year: i32| format!("{year}-01-02T03:04:05").parse().ok();
        let date = |lines: &[ClockLine], own| of(lines).date("a.log", own, in_year);
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
        let clocks = of(&[line(1, 1, Clock::Log(begun))]);
        let in_year = |year: i32| format!("{year}-01-02T03:04:05").parse().ok();
        assert_eq!(clocks.date("b.log", Own::Klog, in_year), None);
    }
}
