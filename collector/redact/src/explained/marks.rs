//! Marks directly in front of a word that say what it is.

use std::sync::LazyLock;

use super::asked::{ask_before, ask_beside};
use super::ends_in;

/// Texts directly in front of a word or of the run that it belongs to: algorithms of digests, chains, build ids.
pub(super) const BEFORE: &[&str] = &[
    "sha1:",
    "sha256:",
    "sha384:",
    "sha512:",
    "md5:",
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
    "h1:",
    "cali:",
    "kube-svc-",
    "kube-sep-",
    "kube-fw-",
    "kube-ext-",
    "kube-xlb-",
    "kube-svl-",
    "cni-",
    "cni-dn-",
    "cni-sn-",
    "overlay2/",
    "overlay2/l/",
    ":l/",
    "buildid=",
    "buildid=\"",
    "pci:",
    "usb:",
    "acpi:",
    "dmi:",
    "of:",
    "hid:",
    "platform:",
    "ssh-rsa ",
    "ssh-ed25519 ",
    "nistp256 ",
    "nistp384 ",
    "nistp521 ",
    "etag: ",
    "w/\"",
    "cpu:",
    "wwn-",
    "eui.",
    "naa.",
    "nqn.",
    "by-id/",
    "lvm-",
    "buildid: ",
    "apiserver-",
    "gpu-",
    "serial number: ",
    "cursor\":\"s=",
    "[s=",
    "no_pubkey ",
    ";b=",
    "mig-",
];

/// Whether one of [`BEFORE`] ends these bytes, and begins a word of them. That none does is to be asked by whoever wants to
/// know.
pub(super) fn behind_mark(before: &[u8]) -> bool {
    let Some(last) = before.last() else {
        return false;
    };
    let marks = MARKS[usize::from(last.to_ascii_lowercase())].iter();
    let mut found = marks
        .filter(|mark| ends_in(before, mark))
        .filter(|mark| begins(&before[..before.len() - mark.len()], mark[0]));
    let Some(mark) = found.next() else {
        return false;
    };
    let front = &before[..before.len() - mark.len()];
    match front.last().is_some_and(u8::is_ascii_alphanumeric) {
        true => ask_before(before, mark.len() + ESCAPE),
        false => ask_beside(before, mark.len() + 1),
    }
    true
}

/// So many bytes an escape in front of a word has.
const ESCAPE: usize = 3;

/// The marks by their last byte: most places stand behind another one.
static MARKS: LazyLock<[Vec<&[u8]>; 256]> = LazyLock::new(|| {
    let mut all = [const { Vec::new() }; 256];
    for mark in BEFORE.iter().map(|mark| mark.as_bytes()) {
        if let Some(last) = mark.last() {
            all[usize::from(*last)].push(mark);
        }
    }
    all
});

/// Whether a word begins with this letter behind what stands in front of it, an escape (`%3D`) for one.
fn begins(front: &[u8], first: u8) -> bool {
    let escape = front.len() > 2 && front[front.len() - 3] == b'%';
    let inside = front.last().is_some_and(u8::is_ascii_alphanumeric);
    escape || !inside || !first.is_ascii_alphanumeric()
}
