//! Values as `nvidia-smi` prints them.

/// A value that says something; `N/A`, `[Not Supported]`, `ERR!` and the like say nothing.
pub(super) fn known(text: &str) -> Option<&str> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let nothing = text.is_empty()
        || text.starts_with('[')
        || matches!(
            lower.as_str(),
            "n/a" | "not supported" | "unknown" | "none reported" | "err!"
        )
        || [
            "unknown error",
            "deprecated",
            "is lost",
            "requires reset",
            "not available",
        ]
        .iter()
        .any(|part| lower.contains(part));
    (!nothing).then_some(text)
}

/// A number with this unit; a bare number if the unit is empty.
pub(super) fn number(text: &str, unit: &str) -> Option<i64> {
    let text = known(text)?;
    let digits = text.strip_suffix(unit)?.trim_end();
    let whole = digits.split_once('.').map_or(digits, |(whole, rest)| {
        if rest.bytes().all(|byte| byte.is_ascii_digit()) {
            whole
        } else {
            ""
        }
    });
    whole.parse().ok()
}

/// A count, never below zero.
pub(super) fn count(text: &str) -> Option<u64> {
    known(text)?.parse().ok()
}

/// `Yes`, `Active`, `Enabled` or `No`, `Not Active`, `Disabled`.
pub(super) fn flag(text: &str) -> Option<bool> {
    match known(text)?.to_ascii_lowercase().as_str() {
        "yes" | "active" | "enabled" => Some(true),
        "no" | "not active" | "disabled" => Some(false),
        _ => None,
    }
}

/// A version; anything else, such as a note on deprecation, is not read.
pub(super) fn version(text: &str) -> Option<String> {
    let text = known(text)?;
    crate::gpu::version::is_version(text).then(|| text.to_owned())
}
