//! What explains a random word by its place: the names and words in front of it, the algorithm that gave it, the path
//! that it is part of.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

/// Of a line, this much in front of a word is looked at.
const REACH: usize = 64;
/// A private or public key in PEM form may begin this far in front of a word of it.
const PEM_REACH: usize = 16 << 10;

/// Texts directly in front of a word or of the run that it belongs to: algorithms of digests, chains, build ids.
const BEFORE: &[&str] = &[
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
];
/// How public things in base64 begin: keys of SSH, certificates.
const BEGINNINGS: &[&[u8]] = &[
    b"AAAAB3NzaC1yc2",
    b"AAAAC3NzaC1lZDI1NTE5",
    b"AAAAE2VjZHNh",
    b"AAAAGnNrLXNz",
    b"AAAAInNrLWVjZHNh",
    b"MIIB",
    b"MIIC",
    b"MIID",
    b"MIIE",
    b"MIIF",
    b"MIIG",
    b"MIIH",
];
/// A certificate has at least so many letters.
const CERTIFICATE: usize = 200;
/// The last word of a name whose value is an id, a sum or public.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "anchor arn boot build bundle ca cert certificate checksum cid commit container cursor data_ca device \
     digest digests directory etag file fingerprint generation guid hash host hostname id identity ids image \
     invocation issuer kid label layer machine md5 modalias module name names nguid nonce path pod pub \
     pubkey ref repo rev revision sandbox serial serialnumber sha sha1 sha256 sha512 sn span srcversion \
     subject sum tag task thumbprint trace tree uid unit url uuid vendor version volume wwid wwn"
        .split_ascii_whitespace()
        .collect()
});
/// Words in front of hexadecimal digits in a sentence that say what they are.
static SAID: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "at blob boot build cgroup checksum commit container containers digest endpoint exec fingerprint for \
     from guid hash id ids image layer machine netns network of on pod podsandbox revision sandbox scope \
     serial shim snapshot span sum task to trace uid uuid with"
        .split_ascii_whitespace()
        .collect()
});

/// Whether its place or its beginning explains a word that was drawn.
pub(super) fn by_place(bytes: &[u8], word: &Range<usize>) -> bool {
    let text = &bytes[word.clone()];
    let digit = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/_-=".contains(byte);
    let start = word.start - bytes[..word.start].iter().rev().take_while(digit).count();
    let length = word.end - start + bytes[word.end..].iter().take_while(digit).count();
    let run = &bytes[start..start + length];
    let public = BEGINNINGS
        .iter()
        .any(|beginning| run.starts_with(beginning))
        && (run.len() >= CERTIFICATE || run.starts_with(b"AAAA"));
    public
        || [start, word.start]
            .iter()
            .any(|at| behind_mark(&bytes[..*at]))
        || run.starts_with(b"_Z")
        || run.starts_with(b"_R")
        || text.starts_with(b"v0000")
        || is_interface(text)
        || matches!(said_before(&bytes[..start]).as_str(), "peer" | "pubkey")
        || name_before(&bytes[..start]).is_some_and(|name| {
            let last = last_word(name.text);
            NAMES.contains(last.as_str()) && !last.ends_with("id")
        })
        || in_public_block(&bytes[..word.start])
}

/// `cali0ef24b1f9a3`: an interface's name has 15 letters at most.
fn is_interface(text: &[u8]) -> bool {
    const KINDS: [&[u8]; 8] = [
        b"cali", b"veth", b"lxc", b"tap", b"azv", b"eni", b"vnet", b"enx",
    ];
    let rest = KINDS.iter().find_map(|kind| text.strip_prefix(*kind));
    text.len() <= 15 && rest.is_some_and(|rest| rest.iter().all(u8::is_ascii_hexdigit))
}

fn behind_mark(before: &[u8]) -> bool {
    let tail = before[before.len().saturating_sub(16)..].to_ascii_lowercase();
    let last = tail.last();
    BEFORE
        .iter()
        .map(|mark| mark.as_bytes())
        .any(|mark| mark.last() == last && tail.ends_with(mark))
}

/// Whether a certificate, or another public thing in PEM form, has begun on this line and not ended.
fn in_public_block(before: &[u8]) -> bool {
    let before = &before[before.len().saturating_sub(PEM_REACH)..];
    let Some(begin) = memchr::memmem::rfind(before, b"-----BEGIN ") else {
        return false;
    };
    let title = &before[begin..before.len().min(begin + REACH)];
    memchr::memmem::find(&before[begin..], b"-----END ").is_none()
        && memchr::memmem::find(title, b"PRIVATE").is_none()
}

/// A name in front of a value, and how it stands there.
struct Name<'a> {
    text: &'a [u8],
    /// It begins its line, or is tied to its value by `=` or quotes: no word of a sentence.
    tight: bool,
}

/// The name that a value at the end of these bytes belongs to.
fn name_before(before: &[u8]) -> Option<Name<'_>> {
    let before = &before[before.len().saturating_sub(REACH)..];
    let skip = |bytes: &[u8], marks: &[u8]| {
        bytes.len()
            - bytes
                .iter()
                .rev()
                .take_while(|byte| marks.contains(byte))
                .count()
    };
    let value = &before[..skip(before, b" \t\"'\\[{(")];
    let name = &value[..skip(value, b":=>")];
    if name.len() == value.len() {
        return None;
    }
    let quoted = &name[..skip(name, b"\"'\\")];
    let bare = &quoted[..skip(quoted, b" \t")];
    let length = bare
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_./-".contains(byte))
        .count();
    let (front, text) = bare.split_at(bare.len() - length);
    let lead = front
        .iter()
        .rev()
        .find(|byte| !b" \t-#;\"'{,".contains(byte));
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

/// The words of a name in lower case.
fn words(name: &[u8]) -> Vec<String> {
    let mut words = Vec::new();
    for part in name
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
    {
        words.push(String::from_utf8_lossy(part).to_ascii_lowercase());
        words.push(last_word(part));
    }
    words
}

/// The last word in front of a place in a sentence.
fn said_before(before: &[u8]) -> String {
    let before = &before[before.len().saturating_sub(REACH)..];
    let marks = b" \t\"'\\([{:=#";
    let end = before.len()
        - before
            .iter()
            .rev()
            .take_while(|byte| marks.contains(byte))
            .count();
    last_word(&before[..end])
}

/// `containerID` gives `id`, `image_digest` gives `digest`.
fn last_word(name: &[u8]) -> String {
    let name = &name[name.len()
        - name
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_alphanumeric())
            .count()..];
    let hump = (1..name.len())
        .rev()
        .find(|at| name[*at].is_ascii_uppercase() && name[*at - 1].is_ascii_lowercase());
    String::from_utf8_lossy(&name[hump.unwrap_or(0)..]).to_ascii_lowercase()
}

/// `key 01 <digits>`, `enc 'cbc(aes)' <digits>`: a command takes a key of its own.
fn follows_key(line: &[u8]) -> bool {
    let line = &line[line.len().saturating_sub(REACH)..];
    let all = String::from_utf8_lossy(line).to_ascii_lowercase();
    let last: Vec<&str> = all.split_whitespace().rev().take(3).collect();
    let key = |word: &&str| matches!(*word, "key" | "psk" | "enc" | "auth" | "aead" | "secret");
    last.iter().any(key) && !last.iter().any(|word| word.starts_with("public"))
}

/// What stands in front of the hexadecimal digits of an object's name.
static OBJECTS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "apiserver blob boot buildkit cache cni csi lease commit config conmon container containerd crio crypt digest dm docker \
     eui hash id image layer libpod luks luks1 luks2 lvm machine manifest netns nvme overlay pod podman \
     pvc sha256 snapshot temp tmp trace uid uuid volume wwn"
        .split_ascii_whitespace()
        .collect()
});

/// Whether digits end a path or the name of an object, rather than a token with its issuer's prefix.
fn named_object(before: &[u8]) -> bool {
    let digit = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_@".contains(byte);
    let prefix = &before[before.len() - before.iter().rev().take_while(digit).count()..];
    if name_before(&before[..before.len() - prefix.len()])
        .is_some_and(|name| NAMES.contains(last_word(name.text).as_str()))
    {
        return true;
    }
    let path = before[..before.len() - prefix.len()]
        .last()
        .is_some_and(|byte| b"/.:".contains(byte));
    prefix.is_empty()
        || path
        || words(prefix)
            .iter()
            .any(|word| OBJECTS.contains(word.as_str()))
}

/// Whether nothing around hexadecimal digits says what they are, and no certificate holds them.
pub(super) fn hex_is_foreign(bytes: &[u8], word: &Range<usize>, length: usize) -> bool {
    unsaid(bytes, word, length) && !in_public_block(&bytes[..word.start])
}

/// Whether a look at the last letters tells that an id follows; most of them stand behind one of these.
fn obvious(before: &[u8]) -> bool {
    const ENDS: [&[u8]; 6] = [
        b"sha256:",
        b"ID\":\"",
        b"id\":\"",
        b"ontainerd-",
        b"/",
        b"Id\":\"",
    ];
    ENDS.iter()
        .any(|end| before.last() == end.last() && before.ends_with(end))
}

/// Whether nothing around hexadecimal digits says what they are. `length` counts them without `0x`.
fn unsaid(bytes: &[u8], word: &Range<usize>, length: usize) -> bool {
    if obvious(&bytes[..word.start]) {
        return false;
    }
    let usual = matches!(length, 32 | 40 | 56 | 64 | 96 | 128);
    let before = &bytes[..word.start];
    let prefixed = word.len() > length;
    if prefixed {
        return length >= 32;
    }
    // Part of a name or path: `cri-containerd-<id>.scope`.
    let joined = |byte: Option<&u8>| byte.is_some_and(|byte| b"/-_.@".contains(byte));
    let name_goes_on = bytes
        .get(word.end)
        .is_some_and(|byte| b"/-_@".contains(byte))
        || (bytes.get(word.end) == Some(&b'.')
            && bytes
                .get(word.end + 1)
                .is_some_and(u8::is_ascii_alphanumeric));
    if name_goes_on || behind_mark(before) {
        return false;
    }
    if joined(before.last()) {
        return length >= 32 && !named_object(before);
    }
    if let Some(name) = name_before(before).filter(|name| !name.text.is_empty()) {
        let id = words(name.text).iter().any(|word| {
            NAMES.contains(word.as_str())
                || ["id", "sum", "hash"].iter().any(|end| word.ends_with(end))
        });
        return !id && (!usual || (name.tight && name.text.len() > 1));
    }
    let line = &before[memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)..];
    let said = said_before(line);
    if follows_key(line) {
        return true;
    }
    let alone = line.trim_ascii().is_empty();
    if alone || SAID.contains(said.as_str()) {
        return !usual;
    }
    // Ids of containers, images and commits stand in sentences of every sort; behind a program's name alone stands
    // what it printed.
    let printed = line.trim_ascii_end().ends_with(b"]:");
    !usual || printed
}
