//! What a run of tests says of those that failed. Its last word only sums them up.

use super::tail::{Said, verbatim};
use crate::facts::excerpt;
use crate::grade::Grade;
use crate::lines::Origin;
use crate::parsers::Channel;
use crate::parsers::marks::TEST_FAILED;

/// Failed tests that are kept of one log.
pub(super) const MOST: usize = 8;
/// How the run ends (`ginkgo/internal` of onsi/ginkgo).
const ENDS: &str = "Test Suite Failed";
/// Words that are kept, in bytes.
const LONGEST: usize = 300;

/// The first failed tests of a piece.
pub(super) fn of_piece(origin: &Origin<'_>, bytes: &[u8]) -> Vec<Said> {
    if origin.channel != Channel::PodLog {
        return Vec::new();
    }
    let (mut counted, mut number) = (0_usize, 0_u32);
    let mut found: Vec<Said> = Vec::new();
    for at in memchr::memmem::find_iter(bytes, TEST_FAILED.as_bytes()) {
        let newlines = memchr::memchr_iter(b'\n', &bytes[counted..at]).count();
        number = number.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        counted = at;
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |after| at + after);
        let message = String::from_utf8_lossy(&bytes[at + TEST_FAILED.len()..end]);
        let text = excerpt(message.trim(), LONGEST);
        // Several tests may fail for one reason.
        if text.is_empty() || found.iter().any(|known| known.text == text) {
            continue;
        }
        found.push(Said {
            offset: number,
            text,
            raw: verbatim(&bytes[start..end]),
            grade: Grade::Error,
            at: None,
        });
        if found.len() >= MOST {
            break;
        }
    }
    found
}

/// Whether a text is what a run of tests ends with.
pub(super) fn sums_up(text: &str) -> bool {
    text.contains(ENDS)
}

/// The first failed test, and the reasons of all of them.
pub(super) fn words(checks: &[Said]) -> Option<(&Said, String)> {
    let first = checks.first()?;
    let mut texts: Vec<&str> = Vec::new();
    for said in checks {
        if !texts.contains(&said.text.as_str()) {
            texts.push(&said.text);
        }
    }
    Some((first, format!("failed tests: {}", texts.join("; "))))
}
