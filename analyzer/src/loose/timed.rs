//! Lines that tell a time or an age: what stands near a line without one may date it.

use std::sync::LazyLock;

use regex::Regex;

use crate::facts::excerpt;
use crate::facts::text::TimedLine;

/// Lines of one text that are kept.
const MOST: usize = 3_000;
/// Characters of one line.
const LONGEST: usize = 300;

static TIMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        // Logs: a date with a clock near the beginning, klog's head, the kernel's clock.
        r"^.{0,60}?\b\d{4}[-/]\d\d[-/]\d\d[T ]+\d\d:\d\d:\d\d",
        r"|^.{0,40}?\b(?:\w{3} )?\w{3} +\d{1,2} \d\d:\d\d:\d\d",
        r"|^\s*[IWEF]\d{4} \d\d:\d\d:\d\d",
        r"|^\s*\[ *\d+\.\d+\]",
        // Rows of events and of pods.
        r"|(?P<row>(?:^|\s)(?:Normal|Warning)\s+\w+\s+\d+[smhdy]",
        r"|(?:^|\s)\d+[smhdy]\S*\s+(?:Normal|Warning)\s",
        r"|\s\d+/\d+\s+[A-Z][\w:]+\s+\d+(?: \([^()]{1,24} ago\))?\s+\d+[smhdy])",
    ))
    .ok()
});

/// The lines of a text that tell a time, each with its number, from 1.
pub(crate) fn timed(text: &str) -> Vec<(TimedLine, u32, String)> {
    let lines = text.lines().zip(1_u32..);
    let timed = lines.filter_map(|(line, number)| {
        let found = TIMED.as_ref()?.captures(line)?;
        let row = found.name("row").is_some();
        Some((TimedLine { row }, number, excerpt(line, LONGEST)))
    });
    timed.take(MOST).collect()
}
