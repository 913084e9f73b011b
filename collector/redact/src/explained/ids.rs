//! What explains hexadecimal digits: the name or algorithm in front of them, the path that they are part of, the
//! sentence around them.

use std::ops::Range;
use std::sync::LazyLock;

use super::asked::{ask_at, ask_before, ask_far};
use super::lower::Words;
use super::things::{SENTENCE, sentence_names_it};
use super::{
    NAMES, REACH, any_word, behind_mark, ends_in, in_public_block, last_word, name_before,
};

/// `key 01 <digits>`, `enc 'cbc(aes)' <digits>`: a command takes a key of its own.
fn follows_key(line: &[u8]) -> bool {
    let line = &line[line.len().saturating_sub(REACH)..];
    let key = |word: &[u8]| KEYS.has(word) || ends_in(word, b"_key");
    let public = |word: &[u8]| {
        let begin = word.get(..6);
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(b"public"))
    };
    // Other letters than those of ASCII may be blanks.
    if line.is_ascii() {
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
        let last = || line.rsplit(blank).filter(|word| !word.is_empty()).take(3);
        return last().any(key) && !last().any(public);
    }
    let text = String::from_utf8_lossy(line);
    let last = || text.split_whitespace().rev().take(3).map(str::as_bytes);
    last().any(key) && !last().any(public)
}

/// What commands say in front of a key.
pub(super) static KEYS: LazyLock<Words> =
    LazyLock::new(|| Words::of("key psk enc auth aead secret"));

/// Whether the words in front of a place say that a key follows.
pub(crate) fn keyed(before: &[u8]) -> bool {
    ask_before(before, REACH);
    follows_key(end_of_line(before))
}

/// What stands in front of a place on its line, as far as anything looks at it: a line may be as long as its file.
fn end_of_line(before: &[u8]) -> &[u8] {
    let near = &before[before.len().saturating_sub(SENTENCE)..];
    &near[memchr::memrchr(b'\n', near).map_or(0, |at| at + 1)..]
}

/// Whether nothing but blanks stands in front of a place on its line.
fn begins_line(before: &[u8]) -> bool {
    ask_far();
    let blank = |byte: &&u8| byte.is_ascii_whitespace() && **byte != b'\n';
    let rest = before.iter().rev().find(|byte| !blank(byte));
    rest.is_none_or(|byte| *byte == b'\n')
}

/// What stands in front of the hexadecimal digits of an object's name.
pub(super) static OBJECTS: LazyLock<Words> = LazyLock::new(|| {
    Words::of(
        "apiserver blob boot buildkit cache cni csi lease commit config conmon container containerd crio crypt digest dm docker \
     eui hash id image k8s layer libpod luks luks1 luks2 lvm machine manifest netns nvme overlay pod pods podman rbd runc \
     pvc sha256 snapshot temp tmp trace uid uuid volume wwn",
    )
});

/// Names of ids that the node and its cluster made: what they say holds wherever the same digits stand. `client_id` and
/// `reporter_id` may be half of a login.
pub(super) static OF_THE_NODE: LazyLock<Words> = LazyLock::new(|| {
    Words::of(
        "boot checksum commit container containerd digest gpu image invocation layer machine manifest member node pod podman \
     sandbox sha1 sha256 sha512 snapshot sum trace uid uuid volume",
    )
});

/// Whether digits end a path or the name of an object, rather than a token with its issuer's prefix.
fn named_object(before: &[u8]) -> bool {
    let digit = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_@".contains(byte);
    let prefix = &before[before.len() - before.iter().rev().take_while(digit).count()..];
    if name_before(&before[..before.len() - prefix.len()])
        .is_some_and(|name| NAMES.has(last_word(name.text)))
    {
        return true;
    }
    let object = |name: &[u8]| any_word(name, |word| OBJECTS.has(word));
    // Of `docker/<id>` and `minikube.<id>` the part in front says what the digits are: `2/<key>` says nothing.
    let front = &before[..before.len() - prefix.len()];
    let parted = front.last().is_some_and(|byte| b"/.:".contains(byte));
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_@./:".contains(byte);
    let path = &front[front.len() - front.iter().rev().take(REACH).take_while(part).count()..];
    // The parts of a token are no path: `st.<digits>.<digits>`.
    let token = || {
        !path.contains(&b'/')
            && path
                .split(|byte| !byte.is_ascii_alphanumeric())
                .any(|part| part.len() >= TOKEN_PART && part.iter().any(u8::is_ascii_digit))
    };
    let long = || {
        path.iter().filter(|byte| **byte == b'/').count() > 1
            || (path.len() > MIN_PATH && !token())
            || object(path)
    };
    object(prefix) || (parted && long()) || (prefix.is_empty() && !parted)
}

/// A part of a dotted name with a digit in it is shorter.
const TOKEN_PART: usize = 14;

/// A path or dotted name in front of digits is longer than what an issuer puts there.
const MIN_PATH: usize = 16;

/// An issuer's words are no longer.
const ISSUER: usize = 32;

/// The mark behind a prefix as issuers of tokens put it in front of digits, where it names no object: `key_live_`, `v1.`.
fn issuer(before: &[u8]) -> Option<u8> {
    let mark = *before.last().filter(|byte| b"_.".contains(byte))?;
    let name = &before[..before.len() - 1];
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
    let length = name.iter().rev().take(ISSUER + 1).take_while(part).count();
    let (front, name) = name.split_at(name.len() - length);
    let alone = front
        .last()
        .is_none_or(|byte| b" \t\n\"'`\\=,;([{m".contains(byte));
    let object = || any_word(name, |word| OBJECTS.has(word) || NAMES.has(word));
    ((2..=ISSUER).contains(&name.len()) && alone && !object()).then_some(mark)
}

/// So many bytes behind digits say that a column ends.
const COLUMN: usize = 2;

/// So many hexadecimal digits may be a token; fewer are ids of members, traces and addresses.
const LONG: usize = 24;

/// What explains hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// The name or the algorithm in front of them: they are what it says wherever they stand.
    Named,
    /// What stands around them.
    Likely,
    /// Nothing.
    Nothing,
}

/// What explains hexadecimal digits at a place. `length` counts them without `0x`.
pub(crate) fn hex(bytes: &[u8], word: &Range<usize>, length: usize) -> Said {
    let before = &bytes[..word.start];
    if obvious(before) {
        return Said::Likely;
    }
    // Digits behind `0x` are said by the words in front of them.
    if word.len() <= length && behind_mark(before) {
        return Said::Named;
    }
    ask_at(word, REACH, COLUMN);
    match said(bytes, word, length) {
        Said::Nothing if in_public_block(before) => Said::Likely,
        said => said,
    }
}

/// What most ids stand behind.
pub(super) const ENDS: [&[u8]; 5] = [
    b"sha256:",
    b"ID\":\"",
    b"id\":\"",
    b"ontainerd-",
    b"Id\":\"",
];

/// Whether a look at the last letters tells that an id follows; most of them stand behind one of these. That it does not is
/// to be asked by whoever wants to know.
pub(crate) fn obvious(before: &[u8]) -> bool {
    let mut ends = ENDS.iter();
    let found = ends.find(|end| before.last() == end.last() && before.ends_with(end));
    found.inspect(|end| ask_before(before, end.len())).is_some()
}

fn said(bytes: &[u8], word: &Range<usize>, length: usize) -> Said {
    let before = &bytes[..word.start];
    if word.len() > length {
        return if length < 32 && !keyed(before) {
            Said::Likely
        } else {
            Said::Nothing
        };
    }
    // The kubelet's events name a container as their data.
    let data = length == 64
        && (before.ends_with(b"\"Data\":\"") || before.ends_with(b"\\\"Data\\\":\\\""));
    if data {
        return Said::Named;
    }
    let requested = in_request(before);
    if !requested && (name_goes_on(bytes, word.end, length) || in_path(before)) {
        return Said::Likely;
    }
    let line = end_of_line(before);
    let long = length >= LONG;
    let sentence = || match sentence_names_it(bytes, line, word.end, long) {
        true => Said::Likely,
        false => Said::Nothing,
    };
    // Part of a name: `cri-containerd-<id>.scope`.
    if !requested && before.last().is_some_and(|byte| b"/-_.@".contains(byte)) {
        return match issuer(before) {
            Some(b'_') => Said::Nothing,
            None if named_object(before) => Said::Likely,
            _ => sentence(),
        };
    }
    if let Some(name) = name_before(before).filter(|name| !name.text.is_empty()) {
        let id = any_word(name.text, |word| {
            NAMES.has(word)
                || ["id", "sum", "hash", "commit", "digest", "sha1", "sha256"]
                    .iter()
                    .any(|end| ends_in(word, end.as_bytes()))
        });
        let of_the_node = || any_word(name.text, |word| OF_THE_NODE.has(word));
        return match id {
            true if of_the_node() => Said::Named,
            true => Said::Likely,
            false if name.tight => Said::Nothing,
            false => sentence(),
        };
    }
    if follows_key(line) {
        return Said::Nothing;
    }
    if length == ADDRESS && between_columns(bytes, word.end) {
        return Said::Likely;
    }
    let column = bytes[word.end..].starts_with(b"  ") || bytes[word.end..].starts_with(b"\t");
    // The first column of a table, a sum in front of its file.
    if length >= 36 && column && begins_line(before) {
        return Said::Likely;
    }
    sentence()
}

/// So many digits an address of IPv6 has in `/proc/net`.
const ADDRESS: usize = 32;

/// Whether columns of hexadecimal numbers follow as they do behind an address in `/proc/net/if_inet6` and `ipv6_route`
/// (Linux, `net/ipv6/addrconf.c` and `route.c`): ` 02 40 20 80 `, ` 00 fe80... `, ` 00000400 00000003 `.
fn between_columns(bytes: &[u8], end: usize) -> bool {
    let mut rest = &bytes[end..];
    // Most digits have something else behind them, as the first two bytes tell.
    if !matches!(rest, [b' ', digit, ..] if digit.is_ascii_hexdigit()) {
        return false;
    }
    ask_at(&(end..end), 0, COLUMNS);
    let mut next = || {
        let digits = rest.strip_prefix(b" ").unwrap_or_default().iter();
        let length = digits.take_while(|b| b.is_ascii_hexdigit()).count();
        rest = rest.get(1 + length..).unwrap_or_default();
        length
    };
    let columns = match (next(), next()) {
        (2, 2) => next() == 2 && next() == 2,
        (2, length) => length == ADDRESS,
        (8, length) => length == 8,
        _ => false,
    };
    columns && rest.starts_with(b" ")
}

/// As far as those columns reach.
const COLUMNS: usize = 2 + 2 + ADDRESS + 1;

/// What stands in no address.
static ADDRESS_END: [bool; 256] = crate::table::of(b" \t\n\"'`<>()[]{},");

/// Whether a place is within the path of a request or an address, which may hold a key: `GET /v1/<key>/x`,
/// `https://hooks.example.com/<key>`.
pub(crate) fn in_request(before: &[u8]) -> bool {
    let whole = before;
    let before = &before[before.len().saturating_sub(REACH * 2)..];
    let begin = before
        .iter()
        .rposition(|byte| ADDRESS_END[usize::from(*byte)]);
    let (front, text) = before.split_at(begin.map_or(0, |at| at + 1));
    let method_counts = text.starts_with(b"/");
    match begin {
        Some(at) if !method_counts => ask_before(whole, before.len() - at),
        _ => ask_before(whole, REACH * 2),
    }
    let scheme = |at: usize| {
        let ends = |scheme: &[u8]| text[..at].ends_with(scheme);
        text[at..].starts_with(b"://") && (ends(b"http") || ends(b"https") || ends(b"wss"))
    };
    let address = memchr::memchr_iter(b':', text).any(scheme);
    let method = || {
        let front = front.trim_ascii_end();
        ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]
            .iter()
            .any(|method| front.ends_with(method.as_bytes()))
    };
    address || (method_counts && method())
}

/// Letters, digits and signs of paths.
static OF_PATHS: [bool; 256] = crate::table::with(crate::table::LETTERS_AND_DIGITS, b"/-_.@+:~%");

/// Whether a place is within a path of the file system.
fn in_path(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(REACH * 4)..];
    let begin = near.iter().rposition(|byte| !OF_PATHS[usize::from(*byte)]);
    let path = &near[begin.map_or(0, |at| at + 1)..];
    path.first() == Some(&b'/') && memchr::memchr_iter(b'/', path).count() > 1
}

/// Whether a name or path goes on behind digits: `<id>.scope`, `<id>/config.json`, `<id>-init`.
fn name_goes_on(bytes: &[u8], end: usize, length: usize) -> bool {
    let part = || {
        let part = &bytes[(end + 1).min(bytes.len())..];
        &part[..part
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count()]
    };
    match bytes.get(end) {
        Some(b'/') => true,
        Some(b'.') => {
            let part = part();
            !part.is_empty() && part.len() < 12 && part.iter().all(u8::is_ascii_lowercase)
        }
        // A container's id has 64 digits, a commit's 40.
        Some(b'-' | b'_') => {
            let part = part();
            matches!(length, 64 | 40)
                && !part.is_empty()
                && part.len() < 8
                && part.iter().all(u8::is_ascii_lowercase)
        }
        _ => false,
    }
}
