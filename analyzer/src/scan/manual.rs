//! Text that explains instead of saying: help texts of `nvidia-smi`, comments of metrics, names of columns. A sentence such as
//! "Checks if any row remapping failure happens" is no finding.

use std::borrow::Cow;

use memchr::memmem;

/// Lines that begin a help text of `nvidia-smi`.
const HELP: [&str; 2] = [
    "NVIDIA System Management Interface -- v",
    "List of valid properties to query for the switch",
];
/// Lines that end one: a rule, a prompt, output.
const ENDS: [&str; 8] = [
    "####",
    "====",
    "----",
    "$ ",
    "# ",
    "+--",
    "```",
    "Timestamp  ",
];

/// Whether a line explains a metric or names columns, and so says nothing of the machine.
pub(super) fn explains(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"# HELP ") || line.starts_with(b"# TYPE ") || names_columns(line)
}

/// `remapped_rows.pending`, `"mig.mode.pending" or "..."`, `index, name, ecc.mode.current [unit]`: names with points and nothing
/// that could be a value.
fn names_columns(line: &[u8]) -> bool {
    let name = |field: &[u8]| {
        let field = field.trim_ascii();
        let (name, unit) = match field.iter().position(|byte| *byte == b' ') {
            Some(at) => field.split_at(at),
            None => (field, &[][..]),
        };
        let name = name.strip_prefix(b"\"").unwrap_or(name);
        let name = name.strip_suffix(b"\"").unwrap_or(name);
        let unit = unit.trim_ascii();
        let unit_only = unit.is_empty() || (unit.starts_with(b"[") && unit.ends_with(b"]"));
        let letter =
            |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.' | b'0'..=b'9');
        unit_only && name.first().is_some_and(u8::is_ascii_lowercase) && name.iter().all(letter)
    };
    // Most lines are told by the first byte.
    if !matches!(line.first(), Some(b'a'..=b'z' | b'"')) {
        return false;
    }
    // One word may be a value; a name of a column of nvidia-smi has a point, or stands among others.
    (line.contains(&b'.') || line.contains(&b',')) && line.split(|byte| *byte == b',').all(name)
}

/// The text with the lines of help texts emptied; lines keep their numbers.
pub(super) fn without_help(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let starts = |line: &[u8]| {
        HELP.iter()
            .any(|head| line.trim_ascii().starts_with(head.as_bytes()))
    };
    let mut heads = HELP.iter().map(|head| head.as_bytes());
    if !heads.any(|head| memmem::find(&text, head).is_some()) {
        return text;
    }
    let mut kept = Vec::with_capacity(text.len());
    let mut inside = false;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let ends = |end: &&str| line.starts_with(end.as_bytes());
        inside = starts(line) || (inside && !ENDS.iter().any(ends));
        if !inside {
            kept.extend_from_slice(line);
        } else if line.ends_with(b"\n") {
            kept.push(b'\n');
        }
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_texts_are_emptied_up_to_what_follows_them() {
        let text = "Xid 79\nList of valid properties to query for the switch \"--query-gpu\":\n\n\"remapped_rows.failure\"\nChecks if any row remapping failure happens.\n$ dmesg\nXid 48\n";
        let kept = without_help(Cow::Borrowed(text.as_bytes()));
        let kept = String::from_utf8_lossy(&kept).into_owned();
        assert_eq!(kept, "Xid 79\n\n\n\n\n$ dmesg\nXid 48\n");
        let plain = without_help(Cow::Borrowed(b"Xid 79\n"));
        assert!(matches!(plain, Cow::Borrowed(_)));
    }

    #[test]
    fn names_of_columns_and_comments_of_metrics_explain() {
        for line in [
            "# HELP nvidia_smi_remapped_rows_pending rows pending 1",
            "remapped_rows.pending",
            "\"mig.mode.pending\"",
            "index, name, remapped_rows.pending, power.draw [W]",
        ] {
            assert!(explains(line.as_bytes()), "{line}");
        }
        for line in [
            "remapped_rows.pending: Yes",
            "0, NVIDIA H200, Yes",
            "DCGM_FI_DEV_ROW_REMAP_PENDING{gpu=\"0\"} 1",
            "uncorrectable",
            "10.0.0.1, 10.0.0.2",
            "",
        ] {
            assert!(!explains(line.as_bytes()), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn lines_keep_their_numbers(text in "(NVIDIA System Management Interface -- v|Xid 79|# x|[a-z., ]{0,8}|\n){0,12}") {
            let kept = without_help(Cow::Borrowed(text.as_bytes()));
            let count = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
            proptest::prop_assert_eq!(count(&kept), count(text.as_bytes()));
        }
    }
}
