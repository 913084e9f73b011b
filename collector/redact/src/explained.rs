//! What explains a random word by its place: the names and words in front of it, the algorithm that gave it, the path
//! that it is part of.

mod asked;
mod ids;
mod lower;
mod marks;
mod numbered;
mod things;

pub(super) use asked::{
    Asked, ask, ask_about, ask_at, ask_before, ask_digits, ask_elsewhere, ask_ids, asked, asks,
};
pub(super) use ids::{Said, hex, in_request, keyed, obvious};
pub(super) use numbered::digits_may_explain;

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::encoded;
use super::table::all_hex;
use lower::Words;
use marks::behind_mark;

/// Of a line, this much in front of a word is looked at.
pub(super) const REACH: usize = 64;
/// A private or public key in PEM form may begin this far in front of a word of it.
const PEM_REACH: usize = 16 << 10;

/// How public keys of SSH begin in base64.
const BEGINNINGS: &[&[u8]] = &[
    b"AAAAB3NzaC1yc2",
    b"AAAAC3NzaC1lZDI1NTE5",
    b"AAAAE2VjZHNh",
    b"AAAAGnNrLXNz",
    b"AAAAInNrLWVjZHNh",
];
/// How versions of modules begin that have none.
const VERSION: &[u8] = b"v0000";
/// A certificate or public key has at least so many letters.
const CERTIFICATE: usize = 200;

/// The last word of a name whose value is an id, a sum or public.
static NAMES: LazyLock<Words> = LazyLock::new(|| {
    Words::of(
        "anchor arn boot build bundle ca cert certificate checksum cid commit container cursor data_ca device \
     digest digests directory etag file fingerprint generation guid hash host hostname id identity ids image \
     invocation issuer jti kid label layer machine md5 mirror modalias selector module name names nguid nonce path pod pub \
     pubkey ref repo rev revision sandbox serial serialnumber sha sha1 sha256 sha512 sn specific span srcversion \
     subject sum tag task thumbprint trace traceparent tree uid unit url uuid vendor version volume wwid wwn",
    )
});

/// Whether its place or its beginning explains a word that was drawn.
pub(super) fn by_place(bytes: &[u8], word: &Range<usize>) -> bool {
    let text = &bytes[word.clone()];
    let digit = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/_-=".contains(byte);
    let start = word.start - bytes[..word.start].iter().rev().take_while(digit).count();
    let length = word.end - start + bytes[word.end..].iter().take_while(digit).count();
    let run = &bytes[start..start + length];
    let public = || BEGINNINGS.iter().any(|begin| run.starts_with(begin));
    // What is asked first is answered by the fewest bytes.
    if behind_mark(&bytes[..start]) || (start < word.start && behind_mark(&bytes[..word.start])) {
        return true;
    }
    ask_at(&(start..start + length), REACH, REACH);
    (run.starts_with(b"AAAA") && public())
        || holds_public_der(run)
        || run.starts_with(b"_Z")
        || run.starts_with(b"_R")
        || text.starts_with(VERSION)
        || is_interface(text)
        || names_object(&bytes[..word.start], text)
        || behind_peer(&bytes[..start])
        || name_before(&bytes[..start]).is_some_and(|name| {
            let last = last_word(name.text);
            (!ends_in(last, b"id") && NAMES.has(last)) || holds_certificate(name.text)
        })
        || sealed(&bytes[..word.start])
        || in_domain(bytes, word)
        || wireguard_peer(bytes, start, start + length)
        || in_public_block(&bytes[..word.start])
}

/// Whether base64 begins as a certificate or a public key does: a sequence in a sequence. A private key begins with its
/// version, and one under a password with the short name of its cipher.
fn holds_public_der(run: &[u8]) -> bool {
    const LONG: u8 = 0x82;
    const RSA_NAME: u8 = 0x0d;
    let begins = run.starts_with(b"MII") && run.len() >= CERTIFICATE;
    let Some(bytes) = run.get(..8).filter(|_| begins).and_then(encoded::bytes) else {
        return false;
    };
    bytes.get(4) == Some(&0x30) && matches!(bytes.get(5), Some(&(LONG | RSA_NAME)))
}

/// `certificate-authority-data`, `client-certificate-data`.
fn holds_certificate(name: &[u8]) -> bool {
    name.ends_with(b"-data") && memchr::memmem::find(name, b"certificate").is_some()
}

/// No cloud makes longer names of machines.
const MAX_LABEL: usize = 40;

/// `otnvegtkq2zujdq1a1axahua4e.xx.internal.cloudapp.net`: a label that a cloud made up, in a name of a machine.
fn in_domain(bytes: &[u8], word: &Range<usize>) -> bool {
    let label =
        |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(byte);
    let end = word.end
        + bytes[word.end..]
            .iter()
            .take(REACH)
            .take_while(label)
            .count();
    let text = &bytes[word.start..end];
    let text = text.strip_suffix(b".").unwrap_or(text);
    // `<number>-<drawn>.apps.googleusercontent.com` is longer than what a cloud calls a machine.
    let front = bytes[..word.start]
        .iter()
        .rev()
        .take(REACH)
        .take_while(|byte| label(byte) && **byte != b'.')
        .count();
    if front + (word.end - word.start) > MAX_LABEL {
        return false;
    }
    let mut labels = text.rsplit(|byte| *byte == b'.');
    let top = labels.next().unwrap_or_default();
    (2..=12).contains(&top.len())
        && top.iter().all(u8::is_ascii_lowercase)
        && labels.count() > 1
        && bytes[word.clone()].iter().all(|byte| label(&byte))
}

/// The data of a SealedSecret is encrypted with its controller's public key.
fn sealed(before: &[u8]) -> bool {
    let before = &before[before.len().saturating_sub(REACH)..];
    SEALED.find(before).is_some()
}

/// `wg show all dump`: an interface, its private key, its public key, its port.
fn wireguard_peer(bytes: &[u8], start: usize, end: usize) -> bool {
    end - start == 44
        && bytes[..start].ends_with(b"=\t")
        && bytes[end..].starts_with(b"\t")
        && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
}

/// `cali0ef24b1f9a3`, `enp129s0f0np0`: an interface's name has 15 letters at most.
fn is_interface(text: &[u8]) -> bool {
    if text.len() > MAX_INTERFACE {
        return false;
    }
    const KINDS: [&[u8]; 8] = [
        b"cali", b"veth", b"lxc", b"tap", b"azv", b"eni", b"vnet", b"enx",
    ];
    let rest = KINDS.iter().find_map(|kind| text.strip_prefix(*kind));
    rest.is_some_and(all_hex) || is_placed(text)
}

const MAX_INTERFACE: usize = 15;

/// A device that is called by its place: its kind, then letters for a bus, a slot, a function or a port, each with a number.
fn is_placed(text: &[u8]) -> bool {
    const KINDS: [&[u8]; 5] = [b"en", b"ib", b"wl", b"ww", b"sl"];
    let Some(mut rest) = KINDS.iter().find_map(|kind| text.strip_prefix(*kind)) else {
        return false;
    };
    while !rest.is_empty() {
        let count = |of: fn(&u8) -> bool, text: &[u8]| text.iter().take_while(|b| of(b)).count();
        let letters = count(u8::is_ascii_alphabetic, rest);
        let digits = count(u8::is_ascii_digit, &rest[letters..]);
        if !(1..=2).contains(&letters) || digits == 0 {
            return false;
        }
        rest = &rest[letters + digits..];
    }
    true
}

/// `pod` and the pod's id, as slices and cgroups are called, and ids of Oracle's cloud.
fn names_object(before: &[u8], text: &[u8]) -> bool {
    let pod = text.strip_prefix(b"pod").unwrap_or_default();
    let before = &before[before.len().saturating_sub(REACH)..];
    let oracle = || {
        let token = |byte: &&u8| !byte.is_ascii_whitespace() && !b"\"'=".contains(byte);
        let length = before.iter().rev().take_while(token).count();
        before[before.len() - length..].starts_with(ORACLE.needle())
    };
    let digit = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    (pod.len() >= 8 && pod.iter().all(digit)) || (ORACLE.find(before).is_some() && oracle())
}

const ORACLE_MARK: &[u8] = b"ocid1.";
static ORACLE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(ORACLE_MARK));
static SEALED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("encryptedData"));

/// Whether a text ends in some letters, in any case.
fn ends_in(text: &[u8], end: &[u8]) -> bool {
    let from = text.len().checked_sub(end.len());
    from.is_some_and(|from| text[from..].eq_ignore_ascii_case(end))
}

static PEM_BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("-----BEGIN "));

/// Whether a certificate, or another public thing in PEM form, has begun on this line and not ended.
fn in_public_block(before: &[u8]) -> bool {
    asked::ask_far();
    let before = &before[before.len().saturating_sub(PEM_REACH)..];
    // Most lines hold none, which the search from the front finds out many times faster.
    if PEM_BEGIN.find(before).is_none() {
        return false;
    }
    let Some(begin) = memchr::memmem::rfind(before, PEM_BEGIN.needle()) else {
        return false;
    };
    let title = &before[begin..before.len().min(begin + REACH)];
    memchr::memmem::find(&before[begin..], b"-----END ").is_none()
        && memchr::memmem::find(title, b"PRIVATE").is_none()
}

/// What opens a value.
static OPENS: [bool; 256] = crate::table::of(b" \t\"'\\[{(");
/// What ties it to its name.
static TIES: [bool; 256] = crate::table::of(b":=>");
static QUOTES: [bool; 256] = crate::table::of(b"\"'\\");
static BLANKS: [bool; 256] = crate::table::of(b" \t");
/// Letters, digits and signs of names.
static OF_NAMES: [bool; 256] = crate::table::with(crate::table::LETTERS_AND_DIGITS, b"_./-");
/// What may stand in front of a name that begins its line.
static LEADS: [bool; 256] = crate::table::of(b" \t-#;\"'{,");

/// A name in front of a value, and how it stands there.
struct Name<'a> {
    text: &'a [u8],
    /// It begins its line, or is tied to its value by `=` or quotes: no word of a sentence.
    tight: bool,
}

/// The name that a value at the end of these bytes belongs to.
fn name_before(before: &[u8]) -> Option<Name<'_>> {
    let before = &before[before.len().saturating_sub(REACH)..];
    // What is left in front of some marks at the end.
    let skip = |bytes: &[u8], marks: &[bool; 256]| {
        let mark = |byte: &u8| !marks[usize::from(*byte)];
        bytes.iter().rposition(mark).map_or(0, |at| at + 1)
    };
    let value = &before[..skip(before, &OPENS)];
    let name = &value[..skip(value, &TIES)];
    if name.len() == value.len() {
        return None;
    }
    let quoted = &name[..skip(name, &QUOTES)];
    let bare = &quoted[..skip(quoted, &BLANKS)];
    let (front, text) = bare.split_at(skip(bare, &OF_NAMES));
    let lead = front[..skip(front, &LEADS)].last();
    let opened = before[value.len()..]
        .iter()
        .any(|byte| b"[{".contains(byte))
        || front.trim_ascii_end().ends_with(b"{");
    let tight = quoted.len() < name.len()
        || opened
        || value.ends_with(b"=")
        || lead.is_none_or(|byte| *byte == b'\n');
    Some(Name { text, tight })
}

/// Whether a value at the end of these bytes has a name, whatever it says.
pub(super) fn has_name(before: &[u8]) -> bool {
    ask_before(before, REACH);
    name_before(before).is_some_and(|name| !name.text.is_empty())
}

/// Whether a value at the end of these bytes has the name of an id, a sum or something public.
pub(super) fn named(before: &[u8]) -> bool {
    ask_before(before, REACH);
    name_before(before).is_some_and(|name| NAMES.has(last_word(name.text)))
}

/// Whether something holds of one of the words of a name.
fn any_word(name: &[u8], holds: impl Fn(&[u8]) -> bool) -> bool {
    name.split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .any(|part| {
            let last = last_word(part);
            holds(part) || (last.len() < part.len() && holds(last))
        })
}

/// Whether the last word in front of a place in a sentence says that a public key follows.
fn behind_peer(before: &[u8]) -> bool {
    let before = &before[before.len().saturating_sub(REACH)..];
    let marks = b" \t\"'\\([{:=#";
    let end = before.len()
        - before
            .iter()
            .rev()
            .take_while(|byte| marks.contains(byte))
            .count();
    let last = last_word(&before[..end]);
    last.eq_ignore_ascii_case(b"peer") || last.eq_ignore_ascii_case(b"pubkey")
}

/// `containerID` gives `id`, `image_digest` gives `digest`.
fn last_word(name: &[u8]) -> &[u8] {
    let name = &name[name.len()
        - name
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_alphanumeric())
            .count()..];
    let hump = (1..name.len())
        .rev()
        .find(|at| name[*at].is_ascii_uppercase() && name[*at - 1].is_ascii_lowercase());
    &name[hump.unwrap_or(0)..]
}
