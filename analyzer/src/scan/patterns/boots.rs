//! Where in a stretch of lines the machine came up anew.

use super::Found;
use crate::lines::Origin;
use crate::parsers::Channel;
use crate::parsers::marks::{KERNEL_STARTED, Mark};

/// Which of the lines belong to an earlier start of the machine: where the kernel last came up, and the boot of the
/// last line of a journal, if any may name one.
pub(super) fn mark(origin: &Origin<'_>, bytes: &[u8], may_name_boot: bool, found: &mut Found) {
    if !matches!(
        origin.channel,
        Channel::Kernel | Channel::Journal | Channel::Text
    ) {
        return;
    }
    let line_at = |at: usize| {
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        (start, &bytes[start..end])
    };
    let boot = may_name_boot.then(|| last(bytes, b"\"_BOOT_ID\""));
    if let Some(at) = boot.flatten() {
        let line = origin.decode(line_at(at).1, 0);
        found.boot = Some((line.boot.into_owned(), line.at)).filter(|(boot, _)| !boot.is_empty());
    }
    let started = found.marks.hold(Mark::KernelStarted);
    let started = started.then(|| last(bytes, KERNEL_STARTED.as_bytes()));
    let Some(at) = started.flatten() else {
        return;
    };
    let (start, raw) = line_at(at);
    let line = origin.decode(raw, 0);
    // The same words stand in what programs print of the system.
    let kernel = line.speaker == "kernel" || origin.channel == Channel::Kernel;
    if kernel && line.text.starts_with(KERNEL_STARTED) {
        let number = memchr::memchr_iter(b'\n', &bytes[..start]).count();
        found.came_up = u32::try_from(number).ok().map(|number| (number, line.at));
    }
}

/// The last place of a text. Looking forward for the first is much faster, and most stretches hold none.
fn last(bytes: &[u8], text: &[u8]) -> Option<usize> {
    let first = memchr::memmem::find(bytes, text)?;
    memchr::memmem::rfind(&bytes[first..], text).map(|at| first + at)
}
