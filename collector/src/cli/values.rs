//! Durations and sizes as a user writes them.

use std::time::Duration;

/// `90s`, `15m`, `24h`, `7d`; a bare number is seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("{text:?} is no duration (write it as 30s, 5m, 24h or 7d)"))?;
    let factor = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        unit => return Err(format!("unknown unit {unit:?} (use s, m, h or d)")),
    };
    let seconds = number
        .checked_mul(factor)
        .filter(|seconds| *seconds <= 366 * 86_400 * 10);
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| format!("{text:?} is too long"))
}

/// `512MiB`, `1G`, `100000`; units are powers of 1,024.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("{text:?} is no size (write it as 512MiB)"))?;
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        unit => return Err(format!("unknown unit {unit:?} (use KiB, MiB or GiB)")),
    };
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| format!("{text:?} is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_are_read_with_units() {
        assert_eq!(duration("24h"), Ok(Duration::from_secs(86_400)));
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert!(duration("99999999999d").is_err());
        assert_eq!(size("512MiB"), Ok(512 << 20));
        assert!(size("99999999999999GiB").is_err());
    }
}
