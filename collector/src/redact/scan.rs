//! The one search that says where in a text secrets may stand, and which of all expressions are worth trying there.
//!
//! A word that only may name a secret (`key`, `path`) counts where the whole name around it does, so that most lines
//! need no second look.

use std::sync::LazyLock;

use super::encoded;
use super::forms::SPECS;
use super::words::{STEMS, decide};

/// What opens or continues something over several lines.
const OTHERS: [&str; 26] = [
    "-----begin",
    "data:",
    "private-lines",
    "\"kty",
    "\"modulus",
    "proctitle=",
    "---- begin",
    "secretlist", // lists of bytes
    ":[1",
    ":[2",
    ":[3",
    ":[4",
    ":[5",
    ":[6",
    ":[7",
    ":[8",
    ":[9",
    ": [1",
    ": [2",
    ": [3",
    ": [4",
    ": [5",
    ": [6",
    ": [7",
    ": [8",
    ": [9",
];
/// What a line means to the ones after it, though nothing in it is secret.
const STRUCTURE: [&str; 3] = ["kind:", "---", "- value:"];
/// Programs that take secrets as bare arguments.
const PROGRAMS: &[&str] = &[
    "mysql",
    "mariadb",
    "curl",
    "sshpass",
    "redis-cli",
    "docker",
    "podman",
    "nerdctl",
    "skopeo",
    "buildah",
    "crictl",
    "ctr ",
    "ipmitool",
    "openssl",
    "ldap",
    "htpasswd",
    "mongo",
    "sqlcmd",
    "bcp ",
    "smbclient",
    "snmp",
    "unzip",
    "zip ",
    "7z",
    "etcdctl",
    "helm ",
    "oc ",
    "az ",
    "mc ",
    "rabbitmq",
    "twine ",
    "crane ",
    "http -",
    "mosquitto_",
    "cqlsh",
    "beeline",
    "fence_",
    "hdparm",
    "sedutil",
    "racadm",
    "keytool",
    "\"-",
];
/// Of a name, this much is looked at on each side of the word in it.
const NAME_REACH: usize = 100;
/// An object's end is looked for this far on each side of a member.
const OBJECT_REACH: usize = 2048;

/// What a text may hold, as bits: one for names, one for programs, one for what spans lines, one for each form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hints(u128);

const NAME_BIT: u32 = 0;
const PROGRAM_BIT: u32 = 1;
const OTHER_BIT: u32 = 2;
const STRUCTURE_BIT: u32 = 3;
const FIRST_FORM: u32 = 4;

impl Hints {
    /// Whether nothing that may be secret was found.
    pub(crate) fn none(self) -> bool {
        self.0 & !(1 << STRUCTURE_BIT) == 0
    }

    /// Whether a name of a secret may stand there.
    pub(crate) fn names(self) -> bool {
        self.0 & (1 << NAME_BIT) != 0
    }

    /// Whether a program that takes secrets as arguments may stand there.
    pub(crate) fn programs(self) -> bool {
        self.0 & (1 << PROGRAM_BIT) != 0
    }

    /// The forms that may stand there, by their place in [`SPECS`].
    pub(crate) fn forms(self) -> impl Iterator<Item = usize> {
        let mut bits = self.0 >> FIRST_FORM;
        std::iter::from_fn(move || {
            let next = bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
            usize::try_from(next)
                .ok()
                .filter(|next| *next < SPECS.len())
        })
    }
}

/// One word that is searched for.
struct Word {
    text: &'static [u8],
    bit: u128,
    /// It counts only with so many characters of a token behind it.
    tail: usize,
}

/// Letters that mean the same to the search share a class; three classes in a row find the words that may begin there.
/// Other than in an automaton no step waits for memory that the step before it chose.
const CLASS_BITS: u32 = 5;
const TRIPLES: usize = 1 << (3 * CLASS_BITS);

const fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => byte - b'a' + 1,
        b'A'..=b'Z' => byte - b'A' + 1,
        b'0'..=b'9' => 27,
        b'-' => 28,
        b' ' | b'\t' => 29,
        b':' => 30,
        b'"' => 0,
        b'!'..=b'~' => 31,
        _ => 0,
    }
}

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        classes[byte as usize] = class(byte);
        byte += 1;
    }
    classes
};

struct Search {
    words: Vec<Word>,
    /// One bit for each three classes with which a word begins.
    begins: Box<[u64; TRIPLES / 64]>,
    /// The words that begin so.
    lists: Vec<Vec<u16>>,
}

static SEARCH: LazyLock<Search> = LazyLock::new(|| {
    let mut search = Search {
        words: Vec::new(),
        begins: Box::new([0; TRIPLES / 64]),
        lists: vec![Vec::new(); TRIPLES],
    };
    for (words, bit) in [
        (&STEMS[..], NAME_BIT),
        (PROGRAMS, PROGRAM_BIT),
        (&OTHERS[..], OTHER_BIT),
        (&STRUCTURE[..], STRUCTURE_BIT),
    ] {
        words.iter().for_each(|word| search.add(word, bit, 0));
    }
    for (form, bit) in SPECS.iter().zip(FIRST_FORM..) {
        form.hints
            .iter()
            .for_each(|hint| search.add(hint, bit, form.tail));
    }
    search
});

impl Search {
    fn add(&mut self, text: &'static str, bit: u32, tail: usize) {
        let word = self.words.len();
        let text = text.as_bytes();
        self.words.push(Word {
            text,
            bit: 1 << bit,
            tail,
        });
        let class = |at: usize| text.get(at).map(|byte| usize::from(class(*byte)));
        // What a word of two letters ends before may be anything.
        let thirds = class(2).map_or(0..1 << CLASS_BITS, |third| third..third + 1);
        for third in thirds {
            let triple = class(0)
                .into_iter()
                .chain(class(1))
                .chain([third])
                .fold(0, |triple, class| (triple << CLASS_BITS) | class);
            self.begins[triple / 64] |= 1 << (triple % 64);
            self.lists[triple].extend(u16::try_from(word));
        }
    }

    /// Calls `hit` with the place and the bit of each find that counts, front to back, until it says stop.
    fn run(&self, bytes: &[u8], mut hit: impl FnMut(usize, usize, u128) -> bool) {
        let mut triple = 0;
        for (at, byte) in bytes.iter().enumerate() {
            triple = next(triple, *byte);
            if self.begin(triple) && at >= 2 && self.candidates(bytes, at - 2, triple, &mut hit) {
                return;
            }
        }
        // A word of two letters at the end still waits for its third.
        triple = next(triple, 0);
        if let Some(start) = bytes.len().checked_sub(2).filter(|_| self.begin(triple)) {
            self.candidates(bytes, start, triple, &mut hit);
        }
    }

    fn begin(&self, triple: usize) -> bool {
        self.begins[triple / 64] & (1 << (triple % 64)) != 0
    }

    #[inline(never)]
    fn candidates(
        &self,
        bytes: &[u8],
        start: usize,
        triple: usize,
        hit: &mut impl FnMut(usize, usize, u128) -> bool,
    ) -> bool {
        for word in &self.lists[triple] {
            let word = &self.words[usize::from(*word)];
            let end = start + word.text.len();
            let Some(there) = bytes.get(start..end) else {
                continue;
            };
            // Most words differ at their ends already.
            if word.ends_as(there)
                && there.eq_ignore_ascii_case(word.text)
                && word.counts(bytes, start, end)
                && hit(start, end, word.bit)
            {
                return true;
            }
        }
        false
    }
}

fn next(triple: usize, byte: u8) -> usize {
    ((triple << CLASS_BITS) | usize::from(CLASSES[usize::from(byte)])) % TRIPLES
}

impl Word {
    fn ends_as(&self, there: &[u8]) -> bool {
        let last = |text: &[u8]| text.last().map(u8::to_ascii_lowercase);
        last(there) == last(self.text)
    }

    fn counts(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        if self.bit == 1 << NAME_BIT {
            return names_secret(bytes, start, end);
        }
        let token = |b: &u8| b.is_ascii_alphanumeric() || b"_+/=.:~-".contains(b);
        let behind = bytes.get(end..end + self.tail);
        self.tail == 0 || behind.is_some_and(|behind| behind.iter().all(token))
    }
}

/// Whether the name around a word is one of a secret.
fn names_secret(bytes: &[u8], start: usize, end: usize) -> bool {
    let letter = |at: Option<&u8>| at.is_some_and(u8::is_ascii_lowercase);
    // `pat` is a word of its own or none: most are the beginning of a path.
    if end - start == 3
        && bytes[start + 1] | 32 == b'a'
        && letter(bytes.get(end))
        && bytes[end] != b's'
    {
        let pat = bytes[start..end].eq_ignore_ascii_case(b"pat");
        if pat {
            return false;
        }
    }
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let (from, name) = around(bytes, start, end, inner);
    let written = match from.checked_sub(1).map(|at| bytes[at]) {
        Some(b'\\') => escaped(name),
        Some(b'[') => coloured(name),
        Some(b'%') => name.get(2..).is_some_and(classified),
        _ => false,
    };
    if written || classified(name) {
        return true;
    }
    // Names of other grammars: `example.com/api/key`, `ns:token`.
    let (_, wide) = around(bytes, start, end, |b| {
        inner(b) || matches!(b, b'/' | b':' | b'@' | b'+') || b >= 128
    });
    wide.len() > name.len() && classified(wide)
}

/// Behind a backslash the first letter, or five, belong to the escape: `\napi_key`, `\u0026api_key`.
fn escaped(name: &[u8]) -> bool {
    name.get(1..).is_some_and(classified)
        || (name.starts_with(b"u") && name.get(5..).is_some_and(classified))
}

/// Behind `ESC [` the numbers up to `m` are a colour.
fn coloured(name: &[u8]) -> bool {
    let end = name.iter().position(|b| *b == b'm').map_or(0, |at| at + 1);
    classified(&name[end..])
}

fn classified(name: &[u8]) -> bool {
    match std::str::from_utf8(name) {
        Ok(name) => decide(name).is_some(),
        Err(_) => true,
    }
}

/// The run of such bytes around a word, and where it begins.
fn around(bytes: &[u8], start: usize, end: usize, inside: impl Fn(u8) -> bool) -> (usize, &[u8]) {
    let before = bytes[start.saturating_sub(NAME_REACH)..start]
        .iter()
        .rev()
        .take_while(|b| inside(**b))
        .count();
    let behind = bytes[end..]
        .iter()
        .take(NAME_REACH)
        .take_while(|b| inside(**b))
        .count();
    (start - before, &bytes[start - before..end + behind])
}

/// Whether the name around a word has, in JSON, no value of its own and names no other member's.
fn holds_nothing(json: &[u8], start: usize, end: usize) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let (from, name) = around(json, start, end, inner);
    let before = json[..from].strip_suffix(b"\"");
    let behind = json[from + name.len()..].strip_prefix(b"\"");
    let (Some(before), Some(behind)) = (before, behind) else {
        return false;
    };
    // Inside a string it is another document's name; `"kind":"Secret"` says what the whole line is.
    if before.ends_with(b"\\") || name.eq_ignore_ascii_case(b"secret") {
        return false;
    }
    match behind.first() {
        // `"password":{"value":"x"}` has one all the same.
        Some(b':') => {
            behind.get(1) == Some(&b'{')
                && !has_value(behind[2..].iter().copied(), [b'{', b'['], b"value")
        }
        Some(b',' | b'}') => {
            let key = before.strip_suffix(b"\":").unwrap_or_default();
            let key = &key[key.len() - key.iter().rev().take_while(|b| **b != b'"').count()..];
            let names = key.eq_ignore_ascii_case(b"name") || key.eq_ignore_ascii_case(b"key");
            !(key.is_empty() || names && may_have_value(before, behind))
        }
        _ => false,
    }
}

/// Whether the object around a member has another called `value`, or may have. Both ways begin outside strings.
fn may_have_value(before: &[u8], behind: &[u8]) -> bool {
    // In front stand the member's own key and colon, which are walked over like all else.
    let front = has_value(before.iter().rev().copied(), [b'}', b']'], b"eulav");
    front || has_value(behind.iter().copied(), [b'{', b'['], b"value")
}

/// Walks out of an object, and says whether a string on the way is `value`, as it is spelt in this direction.
fn has_value(bytes: impl Iterator<Item = u8>, opens: [u8; 2], value: &[u8; 5]) -> bool {
    let (mut depth, mut string, mut alike) = (0_usize, false, 0_usize);
    for byte in bytes.take(OBJECT_REACH) {
        match byte {
            b'\\' => return true,
            b'"' if string => {
                if depth == 0 && alike == value.len() {
                    return true;
                }
                string = false;
            }
            b'"' => (string, alike) = (true, 0),
            _ if string => {
                let same = value.get(alike) == Some(&byte.to_ascii_lowercase());
                alike = if same { alike + 1 } else { usize::MAX / 2 };
            }
            _ if opens.contains(&byte) => depth += 1,
            b'{' | b'}' | b'[' | b']' if depth == 0 => return false,
            b'{' | b'}' | b'[' | b']' => depth -= 1,
            _ => {}
        }
    }
    true
}

/// What these bytes may hold; one search for everything.
pub(crate) fn hints(bytes: &[u8]) -> Hints {
    let mut all = 0;
    SEARCH.run(bytes, |_, _, bit| {
        all |= bit;
        false
    });
    Hints(all)
}

/// How many bytes at the beginning are whole lines in which nothing may be secret.
pub(crate) fn quiet_lines(bytes: &[u8]) -> usize {
    let mut end = bytes.len();
    SEARCH.run(bytes, |start, _, _| {
        end = start;
        true
    });
    if let Some(run) = encoded::first(&bytes[..end]) {
        end = run;
    }
    memchr::memrchr(b'\n', &bytes[..end]).map_or(0, |at| at + 1)
}

/// What one text may hold, by place.
pub(crate) struct Places {
    hits: Vec<(usize, usize, u128)>,
    next: usize,
    /// Where something encoded begins at or behind the last place asked for.
    encoded: Option<usize>,
}

impl Places {
    /// Searches a text once.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut hits = Vec::new();
        SEARCH.run(bytes, |start, end, bit| {
            hits.push((start, end, bit));
            false
        });
        Self {
            hits,
            next: 0,
            encoded: encoded::first(bytes),
        }
    }

    /// Whether nothing in a line of JSON may be secret: nothing was found, or only names of objects and words that
    /// are values themselves (`"serviceAccountToken":{"path":"token"}`).
    pub(crate) fn none(&self, json: &[u8]) -> bool {
        self.encoded.is_none()
            && self.hits.iter().all(|(start, end, bit)| {
                *bit == 1 << STRUCTURE_BIT
                    || (*bit == 1 << NAME_BIT && holds_nothing(json, *start, *end))
            })
    }

    /// What stands between two places; asked for from front to back.
    pub(crate) fn between(&mut self, from: usize, to: usize) -> Hints {
        let mut all = 0;
        while let Some((start, end, bit)) = self.hits.get(self.next).copied() {
            if start >= to {
                break;
            }
            self.next += 1;
            if start >= from && end <= to {
                all |= bit;
            }
        }
        Hints(all)
    }

    /// Whether something encoded may begin there; asked for from front to back.
    pub(crate) fn encoded(&mut self, bytes: &[u8], from: usize, to: usize) -> bool {
        if self.encoded.is_some_and(|at| at < from) {
            self.encoded = encoded::first(&bytes[from..]).map(|at| at + from);
        }
        self.encoded.is_some_and(|at| at < to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_where_the_name_around_them_does() {
        for quiet in [
            "key: nvidia.com/gpu",
            "path: /var/run/secrets/kubernetes.io/serviceaccount",
            "imagePullSecrets:",
            "secretName: db",
            "task-runner disk-0 monkey keyring",
            "author: me",
        ] {
            assert!(hints(quiet.as_bytes()).none(), "{quiet}");
        }
        for telling in [
            "DB_PASSWORD",
            "x-api-key",
            "example.com/api/key",
            "githubPat",
            "userpw=1",
        ] {
            assert!(hints(telling.as_bytes()).names(), "{telling}");
        }
    }

    #[test]
    fn quiet_lines_end_before_the_first_line_that_needs_a_look() {
        let text = b"a: 1\nb: 2\npassword: x\nc: 3\n";
        assert_eq!(quiet_lines(text), 10);
        assert_eq!(quiet_lines(b"a: 1\nb: 2\nhalf a li"), 10);
        assert_eq!(quiet_lines(b"kind: Secret\n"), 0);
        assert_eq!(quiet_lines(b"a\nx cGFzc3dvcmQ6IGh1bnRlcjI=\n"), 2);
    }

    #[test]
    fn a_line_of_json_is_passed_over_only_where_no_name_has_a_value() {
        let none = |json: &str| Places::of(json.as_bytes()).none(json.as_bytes());
        assert!(none(
            r#"{"serviceAccountToken":{"path":"token","x":1},"y":2}"#
        ));
        assert!(none(
            r#"{"value":1,"a":[{"name":"DB_PASSWORD","valueFrom":{"x":{"name":"db","key":"password"},"value":1}}]}"#
        ));
        for told in [
            r#"{"token":"x"}"#,
            r#"{"name":"token","value":"x"}"#,
            r#"{"value":"x","a":{"b":"}"},"name":"DB_PASSWORD"}"#,
            r#"{"key":"DB_PASSWORD","a":["]"],"Value" : "x"}"#,
            r#"{"name":"DB_PASSWORD","a":"\"}","value":"x"}"#,
            r#"{"name":"DB_PASSWORD","#,
            r#"["token","x"]"#,
            r#"{"passwords":["x"]}"#,
            r#"{"a":"{\"token\":{}}"}"#,
            r#"{"kind":"Secret","data":{"x":"y"}}"#,
        ] {
            assert!(!none(told), "{told}");
        }
    }

    #[test]
    fn every_form_has_a_bit() {
        assert!(FIRST_FORM as usize + SPECS.len() <= 128);
    }
}
