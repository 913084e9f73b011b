//! What no reader can explain does not leave in clear: words that were drawn by a machine, unless their place or their
//! value says what they are (digests, ids, public keys, names of chains). What stays is data in `explained`.

mod alone;
mod groups;
mod hex;
mod issuer;
mod judged;
mod looked;
mod parts;
mod percent;
mod replaced;
mod scattered;
mod tokens;
mod whole;
mod words;

pub(super) use hex::{holds_text, note_only_id};
pub(super) use looked::{Looked, Tried};
pub(super) use replaced::{clean, clean_from, replacements};

use std::ops::Range;

use super::alike::{Alike, Others};
use super::calm::anew;
use super::explained;
use super::known::{Ids, Known, Table, Trial};
use super::random::MIN_DRAWN;
use alone::very_short;
use groups::grouped;
use judged::Kept;
use looked::{BEGINS, NAMED};
use scattered::scattered;
use tokens::{Token, next_token};
use whole::Told;
use words::in_runs;

/// The placeholder's class.
pub(super) const CLASS: &str = "unexplained";
/// Fewer hexadecimal digits are an id.
pub(super) const MIN_HEX: usize = 18;

/// What a word is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing explains it.
    Drawn(Range<usize>),
    /// Hexadecimal digits of a text.
    Hex(Range<usize>),
}

impl Found {
    /// Where it begins.
    pub(super) fn start(&self) -> usize {
        let (Self::Drawn(place) | Self::Hex(place)) = self;
        place.start
    }

    /// What of it stands at or behind a place: what stands in front was looked at, and may be replaced already.
    fn behind(self, from: usize) -> Self {
        match self {
            Self::Drawn(place) => Self::Drawn(place.start.max(from)..place.end),
            Self::Hex(place) => Self::Hex(place),
        }
    }
}

/// The next thing that nothing explains, or that is a text in hexadecimal digits.
fn next(text: &Alike<'_>, from: usize, known: &Known) -> Option<Found> {
    let part = from..text.text.len();
    next_in(text, &part, Table::Run(known), &mut {
        Looked::WITHOUT_DIGITS
    })
}

/// The same among the tokens of a part, behind which none goes on.
fn next_in(
    text: &Alike<'_>,
    part: &Range<usize>,
    table: Table<'_>,
    looked: &mut Looked,
) -> Option<Found> {
    let bytes = text.judged();
    let ids = Ids {
        table,
        text: text.text,
    };
    let from = part.start;
    let mut at = from;
    while let Some(token) = next_token(&bytes[..part.end], at) {
        at = token.place.end;
        if is_named_id(text, &token, &ids, looked) {
            continue;
        }
        let kept = Kept::of(bytes, &token);
        if kept.as_ref().is_some_and(Kept::written) {
            continue;
        }
        let number = kept.as_ref().map(Kept::number);
        let state = ids.kept();
        if number.is_some_and(|number| is_known(number, text, &token, state, looked)) {
            continue;
        }
        explained::ask_about(&token.place);
        if let Some(found) = judge(bytes, from, &token, &ids) {
            return Some(found.behind(from));
        }
        let asked = explained::asked();
        if asked.any {
            looked.look_around(&token.place, [asked.before, asked.behind]);
        }
        looked.ask_digits(text, &token, asked.digits);
        looked.ids |= asked.ids;
        match kept.zip(number) {
            // It was said of this id, and of no other.
            Some(_) if asked.ids && (ids.is_trial() || !text.ids(&token.place).is_empty()) => {}
            Some((_, number)) if asked.any => {
                judged::note_explained(number, bytes, &token.place, asked, state);
            }
            Some((kept, number)) => judged::note(kept.judged(number, asked)),
            None => {}
        }
    }
    None
}

/// Whether a short look at a token says that it is an id that stays.
fn is_named_id(text: &Alike<'_>, token: &Token, ids: &Ids<'_>, looked: &mut Looked) -> bool {
    if anew() {
        return false;
    }
    if let Some(told) = whole::told(text.judged(), token) {
        if told == Told::ByPlace {
            looked.look_around(&token.place, NAMED);
        }
        looked.ask_digits(text, token, told == Told::ByDigits);
        return true;
    }
    let cursor = whole::is_cursor(text.judged(), token, ids);
    if cursor {
        looked.look_around(&token.place, BEGINS);
    }
    cursor
}

/// Whether a token was judged before and stays, with its digits or where it stands.
fn is_known(
    number: u64,
    text: &Alike<'_>,
    token: &Token,
    state: [u64; 2],
    looked: &mut Looked,
) -> bool {
    if judged::written(number) {
        looked.ask_digits(text, token, true);
        return true;
    }
    let before = judged::explained(number, text.judged(), &token.place, state);
    if let Some((reach, ids)) = before {
        looked.look_around(&token.place, reach.map(usize::from));
        looked.ask_digits(text, token, true);
        looked.ids |= ids;
    }
    before.is_some()
}

/// Judges a text as if no id was known; none where something is found, or one of its ids explains another. What its place
/// explains is known from then on.
pub(super) fn tried(text: &Alike<'_>, others: Others, known: &Known) -> Option<Tried> {
    let trial = Trial::default();
    let mut looked = Looked {
        others,
        ..Looked::NOTHING
    };
    let part = 0..text.text.len();
    let found = next_in(text, &part, Table::Trial(&trial), &mut looked);
    if found.is_some() || trial.met.get() {
        return None;
    }
    let noted = trial.noted.into_inner();
    for id in &noted {
        known.note(&text.text[id.clone()]);
    }
    Some(Tried { looked, noted })
}

/// What of one token nothing explains.
fn judge(bytes: &[u8], from: usize, token: &Token, ids: &Ids<'_>) -> Option<Found> {
    let mut placed = false;
    if token.place.len() >= MIN_DRAWN
        && let Some(found) = in_runs(bytes, from, token, ids, &mut placed)
    {
        return Some(found);
    }
    if (!token.one_case() || token.digits > 1)
        && let Some(place) = very_short(bytes, &token.place)
    {
        return Some(Found::Drawn(place));
    }
    if placed {
        return None;
    }
    if let Some(place) = grouped(bytes, token) {
        return Some(Found::Drawn(place));
    }
    scattered(bytes, token).map(Found::Drawn)
}

/// Where the first thing begins that nothing explains.
pub(super) fn first(bytes: &[u8], known: &Known) -> Option<usize> {
    next(&Alike::of(bytes), 0, known).map(|found| found.start())
}

/// The first such thing in a part of a text that no token begins before or goes on behind.
pub(super) fn first_in(
    text: &Alike<'_>,
    part: &Range<usize>,
    known: &Known,
    looked: &mut Looked,
) -> Option<Found> {
    next_in(text, part, Table::Run(known), looked)
}

/// The first thing that nothing explains.
pub(super) fn found(text: &Alike<'_>, known: &Known) -> Option<Found> {
    next(text, 0, known)
}

#[cfg(test)]
mod tests {
    use super::super::marker::Marker;
    use super::*;
    use crate::Key;

    fn cleaned(text: &str) -> String {
        clean(text.into(), 0, &mut Marker::new(Key::fixed())).into_owned()
    }

    #[test]
    fn a_drawn_word_is_replaced_and_the_text_around_it_stays() {
        let token = "q7ZkP2mXv9".repeat(2);
        for text in [
            format!("login as joe with {token} failed"),
            format!("a:\n  - \"{token}\"\n"),
            format!("{{\"x\":\"\\n{token}\"}}"),
        ] {
            let out = cleaned(&text);
            assert!(
                !out.contains(&token) && out.contains("<redacted:unexplained:"),
                "{out}"
            );
            assert_eq!(cleaned(&out), out);
        }
        assert!(cleaned(&format!("{{\"x\":\"\\n{token}\"}}")).starts_with("{\"x\":\"\\n<redacted"));
    }

    fn uuid(hex: &str) -> String {
        format!(
            "{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[..4],
            &hex[4..8],
            &hex[4..16]
        )
    }

    #[test]
    fn ids_that_nothing_explains_go_unless_their_place_explained_them_before() {
        let hex = "0a1b2c3d4e5f6a7b".repeat(2);
        let key = Key::fixed();
        let clean =
            |text: String| clean(text.into(), 0, &mut Marker::new(key.clone())).into_owned();
        for id in [hex.clone(), uuid(&hex)] {
            let said = format!("gpu-node-7 app: cannot use {id} here");
            assert!(!clean(said.clone()).contains(&id));
            assert!(clean(format!("pod_uid={id}")).contains(&id));
            assert!(clean(said).contains(&id));
        }
        for secret in [
            "IZAT6SA-AJUQES1-BZWZYWJ-VDIXPVG",
            "1shm0lth54a04-b1llz300-qb33nsh_3p8ta8z33",
            "sk_~8ElK98zT#l,ZkOK!o=",
            "kX3-a9K_b2Q-7fLq8Z",
            "ai$oy@v8w9-$rcawnt^87rv3-9k0t&srbc8v",
            "u/n0r+9rql3qq2qxvkp==",
            "ZQKT-8F3K2QX7M4WZ9TBC",
            "2/0a1b2c3d4e5f6a7b8c9d0e1f",
            "q7Zk%2FP2mX%2Bv9Lw%3D4RtB",
            "uW;3iV!G#k2Zq",
            "ZQK9-7RT4-XW2P-8NVH",
        ] {
            assert!(
                !clean(format!("we set {secret} on Monday")).contains(secret),
                "{secret}"
            );
        }
    }

    #[test]
    fn an_id_whose_first_part_went_with_a_word_in_front_of_it_goes_as_well() {
        let token = "nurav1Xaxoprz_08d47bc0-7573-6367-1da4-0e611316b2c6";
        for text in [
            format!("using {token}_test"),
            format!("{{\"msg\":\"using {token}\"}}"),
        ] {
            assert!(!cleaned(&text).contains("-7573-"), "{text}");
        }
        let mut marker = Marker::new(Key::fixed());
        let line = format!("{{\"msg\":\"using {token}\"}}");
        let out = crate::json::clean(&line, 0, &mut marker).unwrap();
        assert!(out.contains("<redacted:unexplained:"), "{out}");
    }

    #[test]
    fn a_short_token_goes_wherever_it_stands_alone() {
        let token = "JJ4ZIC9EJNWVIS86";
        let hex = "0a1b2c3d4e5f6a7b";
        for text in [
            format!("GET https://api.example.com/v1?x={token}&y=2"),
            format!("10.0.0.1 - - \"GET /api/{token}/messages HTTP/1.1\""),
            format!("{{\"list\":\"one\\n{token}\\ntwo\"}}"),
        ] {
            assert!(!cleaned(&text).contains(token), "{text}");
        }
        for (text, secret) in [
            ("we set e14eb54a:b9178410 on Monday", "e14eb54a:b9178410"),
            ("we set 564i_0a9_v58bn on Monday", "564i_0a9_v58bn"),
            ("we set wx2274a335e18222d6 on Monday", "2274a335e18222d6"),
            ("m_key set to 0x4f1c9ab27d3e8056 now", "4f1c9ab27d3e8056"),
        ] {
            assert!(!cleaned(text).contains(secret), "{text}");
        }
        for columns in ["40 times", "be 12 used", "02 40", "00000400 here"] {
            let text = format!("we set {hex}{hex} {columns}");
            assert!(!cleaned(&text).contains(hex), "{text}");
        }
        let parts = format!("joined with st.{hex}a1b2c3d4.{hex}{hex}.{hex}{hex} here");
        assert!(!cleaned(&parts).contains(hex));
    }

    #[test]
    fn what_its_place_explains_stays() {
        let hex = "0a1b2c3d4e5f6a7b".repeat(4);
        for text in [
            format!("image nvcr.io/nvidia/cuda@sha256:{hex}"),
            format!("StopPodSandbox for \"{hex}\""),
            format!("/run/containerd/io.containerd.runtime.v2.task/k8s.io/{hex}/config.json"),
            format!("_BOOT_ID={}", &hex[..32]),
            "A IN storage.googleapis.com.otnvegtkq2zujdq1a1axahua4e.xx.internal.cloudapp.net. udp"
                .to_owned(),
            format!(
                "gpu-node-7 kernel: XFS (sda1): Mounting filesystem {}",
                uuid(&hex)
            ),
            format!("{{\"container_id\":\"{}\"}}", &hex[..32]),
            "ED25519 key SHA256:Zk3pQ7xV9mB2nL8cR4tY6wE1sD5fG0hJ3kA7uI9oP2q fits".to_owned(),
            "-A cali-PREROUTING -m comment --comment \"cali:6gwbT8clXdHdC1b1\" -j RETURN"
                .to_owned(),
            "-A KUBE-SERVICES -j KUBE-SVC-TCOU7JCQXEZGVUNU".to_owned(),
            "GET /a%20b%2Fc?x=%7B%22app%22%3A%22web-1%22%7D&limit=5&labels=a%3Db%2Cc%3Dd2"
                .to_owned(),
            "ID: B7OG:ZE5Q:2WB5:DH55:QWLJ:5GDA:Y5D4:VPTP:7RW5:ZR6L:C5TI:D75S".to_owned(),
            "DevCap2: Completion Timeout: Not Supported, TimeoutDis+ NROPrPrP- LTR+".to_owned(),
            "EDAC MC1: Giving out device to SrcID#0_Ha#1: DEV 0000:7f:12.0".to_owned(),
            format!("traceparent: 00-{}-{}-01", &hex[..32], &hex[..16]),
            format!("{} 02 40 20 80     eth0", &hex[..32]),
            format!(
                "{0} 40 {0} 00 {0} 00000400 00000003 00000000 00000003     eth0",
                &hex[..32]
            ),
        ] {
            assert_eq!(cleaned(&text), text);
        }
    }
}
