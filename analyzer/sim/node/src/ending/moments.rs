//! What happened to a node, in order: boots, kills for memory, pressure, a runtime that hangs, clocks and
//! certificates. The first of them is where to begin to read.

use chrono::{DateTime, TimeDelta, Utc};

/// Kinds, from what takes a node down at once to what shows that it is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The kernel came up.
    Boot,
    /// A certificate ended.
    CertificateEnd,
    /// The kernel killed a process because the machine had no memory left.
    MemoryKill,
    /// An eviction threshold was met.
    Pressure,
    /// The kubelet has had no list of containers for too long.
    Pleg,
    /// The kubelet calls the runtime down.
    RuntimeDown,
    /// The kubelet was started.
    KubeletStart,
    /// The node stopped being ready.
    NotReady,
}

impl Kind {
    /// The word that rules use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Boot => "boot",
            Self::CertificateEnd => "certificate-end",
            Self::MemoryKill => "memory-kill",
            Self::Pressure => "pressure",
            Self::Pleg => "pleg",
            Self::RuntimeDown => "runtime-down",
            Self::KubeletStart => "kubelet-start",
            Self::NotReady => "not-ready",
        }
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What.
    pub kind: Kind,
    /// When it first happened.
    pub at: DateTime<Utc>,
}

/// How long before the node stopped being ready something may have happened to be why.
const WINDOW: TimeDelta = TimeDelta::hours(1);

/// For each moment whether it came first: the earliest of the window before the node was last not ready, or since the
/// last boot where it always was. Of a tie the kind that takes more down is first.
#[must_use]
pub fn first(moments: &[Moment]) -> Option<usize> {
    let down = moments.iter().filter(|one| one.kind == Kind::NotReady);
    let down = down.map(|one| one.at).max();
    let boots = moments.iter().filter(|one| one.kind == Kind::Boot);
    let boot = boots.map(|one| one.at).max();
    let inside = |one: &Moment| match down {
        Some(down) => one.at <= down && one.at + WINDOW >= down,
        None => boot.is_none_or(|boot| one.at >= boot),
    };
    let hits = moments.iter().enumerate().filter(|(_, one)| inside(one));
    hits.min_by_key(|(_, one)| (one.at, one.kind))
        .map(|(at, _)| at)
}

/// Where a certificate stands in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// Its end is past.
    Expired,
    /// Its beginning is to come: a clock is wrong.
    NotYet,
    /// It ends within thirty days.
    EndsSoon,
    /// It is valid.
    Valid,
}

impl Validity {
    /// The word that rules use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::NotYet => "not-yet-valid",
            Self::EndsSoon => "ends-soon",
            Self::Valid => "valid",
        }
    }
}

const SOON: TimeDelta = TimeDelta::days(30);

/// Judges dates by the clock of the collection.
#[must_use]
pub fn validity(from: DateTime<Utc>, until: DateTime<Utc>, now: DateTime<Utc>) -> Validity {
    if until < now {
        Validity::Expired
    } else if from > now {
        Validity::NotYet
    } else if until - now < SOON {
        Validity::EndsSoon
    } else {
        Validity::Valid
    }
}

/// A value of `chronyc tracking`.
fn tracking<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim_start);
    let line = lines.find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}

/// Whether `chronyc tracking` has a server that it follows.
#[must_use]
pub fn chrony_follows(text: &str) -> Option<bool> {
    match tracking(text, "Leap status")? {
        "Not synchronised" => Some(false),
        "Normal" | "Insert second" | "Delete second" => Some(true),
        _ => None,
    }
}

/// The offset of the clock in seconds as `chronyc tracking` prints it: positive where it is ahead of the servers. None
/// where it follows no server: the nought that it prints then is no measurement.
#[must_use]
pub fn chrony_offset(text: &str) -> Option<f64> {
    if chrony_follows(text) == Some(false) {
        return None;
    }
    let value = tracking(text, "System time")?;
    let seconds: f64 = value.split_whitespace().next()?.parse().ok()?;
    let behind = value.contains("slow");
    seconds
        .is_finite()
        .then_some(if behind { -seconds } else { seconds })
}

/// Whether `timedatectl` calls the clock synchronised: `timedatectl show`, `timedatectl status` and older spellings.
#[must_use]
pub fn synchronised(text: &str) -> Option<bool> {
    let keys = [
        "NTPSynchronized=",
        "System clock synchronized:",
        "NTP synchronized:",
    ];
    let line = text.lines().find_map(|line| {
        keys.iter()
            .find_map(|key| line.trim_start().strip_prefix(key))
    })?;
    match line.trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}
