//! The search for known secret values in every form in which programs write them, and their replacement.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::rules::{self, Rules};
use super::{apart, entropy, forms};
use crate::anonymize::{Anonymizer, Class};
use crate::redact::Key;

/// Values searched for are at least so long.
const MIN_VALUE: usize = 12;
/// And so long where they are of capitals, small letters and digits: generators make passwords of ten.
const MIN_MIXED: usize = 8;
/// Of a longer form this much is compared; what goes on like it belongs to it.
const MAX_FORM: usize = 96;
/// Shorter names are parts of other texts in base64.
const MIN_NAME: usize = 9;
/// The automaton knows the beginning of each form, so that it stays small with many values.
const MAX_KEY: usize = 12;

/// A text by which a value is found.
struct Form {
    text: Box<[u8]>,
    value: usize,
    /// The value is short: it must stand alone.
    alone: bool,
    /// The form was cut, so what follows belongs to it.
    goes_on: bool,
}

/// Finds the secret values of a run.
pub struct Search {
    begins: Option<AhoCorasick>,
    forms: Vec<Form>,
    values: Vec<String>,
    /// So many of the values are secrets, the others names of the site.
    secrets: usize,
    forgotten: BTreeSet<usize>,
    /// Knows which random texts stay.
    key: Key,
    /// Rules of other scanners.
    rules: Option<Arc<Rules>>,
}

impl Search {
    /// Of the values that the key remembers.
    pub(super) fn new(key: &Key, rules: Option<Arc<Rules>>) -> Self {
        let seen = key.seen();
        let telling: Vec<&[u8]> = seen
            .iter()
            .map(|value| &**value)
            .filter(|value| telling(value))
            .collect();
        let mut forms: Vec<Form> = telling
            .iter()
            .enumerate()
            .flat_map(|(at, value)| forms_of(at, value))
            .collect();
        let mut values: Vec<String> = telling.iter().map(|value| key.pseudonym(value)).collect();
        let secrets = values.len();
        for (pseudonym, real) in names_of_the_site(key) {
            forms.extend(encoded_forms(values.len(), real.as_bytes()));
            values.push(pseudonym);
        }
        forms.sort_by(|a, b| a.text.cmp(&b.text));
        forms.dedup_by(|a, b| a.text == b.text);
        let begins: Vec<&[u8]> = forms
            .iter()
            .map(|form| &form.text[..form.text.len().min(MAX_KEY)])
            .collect();
        let begins = AhoCorasick::new(&begins).ok().filter(|_| !forms.is_empty());
        Self {
            begins,
            forms,
            values,
            secrets,
            forgotten: BTreeSet::new(),
            key: key.clone(),
            rules,
        }
    }

    /// These values are public after all.
    pub(super) fn forget(&mut self, values: BTreeSet<usize>) {
        self.forgotten.extend(values);
    }

    /// What is said of a value.
    pub(super) fn what(&self, value: usize) -> &'static str {
        if value < self.secrets {
            "a secret value that was seen elsewhere in this run"
        } else {
            "a name that was anonymised elsewhere in this run"
        }
    }

    /// Random texts and finds of other scanners' rules that nobody wants to keep.
    pub(super) fn random(&self, bytes: &[u8]) -> Vec<(Range<usize>, &'static str)> {
        let kept = |range: &Range<usize>| {
            std::str::from_utf8(&bytes[range.clone()]).is_ok_and(|text| self.key.keeps(text))
        };
        let rules = self.rules.as_ref().map(|rules| rules.find(bytes));
        let random = entropy::find(bytes)
            .into_iter()
            .map(|range| (range, entropy::RANDOM));
        random
            .chain(
                rules
                    .into_iter()
                    .flatten()
                    .map(|range| (range, rules::WHAT)),
            )
            .filter(|(range, _)| !kept(range))
            .collect()
    }

    /// Every place of a value.
    pub(super) fn values(&self, bytes: &[u8], each: &mut dyn FnMut(Range<usize>, usize)) {
        let Some(begins) = &self.begins else { return };
        for hit in begins.find_overlapping_iter(bytes) {
            let form = &self.forms[hit.pattern().as_usize()];
            let start = hit.start();
            if self.forgotten.contains(&form.value) || !bytes[start..].starts_with(&form.text) {
                continue;
            }
            let mut end = start + form.text.len();
            if form.goes_on {
                end += bytes[end..]
                    .iter()
                    .take_while(|byte| in_token(**byte))
                    .count();
            }
            let stands_alone = || {
                let before = start.checked_sub(1).and_then(|at| bytes.get(at));
                let inside = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
                !inside(before) && !inside(bytes.get(end))
            };
            if !form.alone || stands_alone() {
                each(start..end, form.value);
            }
        }
    }

    /// A text without what was looked for; `keep` are places that stay. Says how many places were replaced.
    pub fn clean(&self, bytes: &[u8], keep: &dyn Fn(usize) -> bool) -> (Vec<u8>, u64) {
        let (spans, names) = self.spans(bytes, keep);
        let mut clean = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for span in &spans {
            clean.extend_from_slice(&bytes[from..span.start]);
            clean.extend_from_slice(names(span).as_bytes());
            from = span.end;
        }
        clean.extend_from_slice(&bytes[from..]);
        (clean, spans.len() as u64)
    }

    /// As [`Search::clean`], of a text.
    pub fn clean_text(&self, text: &str) -> String {
        let (clean, _) = self.clean(text.as_bytes(), &|_| false);
        String::from_utf8_lossy(&clean).into_owned()
    }

    /// Where a text can be cut at or behind `wanted` without cutting what is to be replaced.
    pub fn boundary(&self, bytes: &[u8], wanted: usize) -> usize {
        let (spans, _) = self.spans(bytes, &|_| false);
        let across = |span: &&Range<usize>| span.start < wanted && wanted < span.end;
        spans.iter().find(across).map_or(wanted, |span| span.end)
    }

    /// What is to be replaced, and by what.
    fn spans<'a>(
        &'a self,
        bytes: &[u8],
        keep: &dyn Fn(usize) -> bool,
    ) -> (Vec<Range<usize>>, impl Fn(&Range<usize>) -> String + 'a) {
        let mut known: Vec<(usize, usize)> = Vec::new();
        let mut found: Vec<Range<usize>> = forms::find(bytes)
            .into_iter()
            .chain(self.random(bytes))
            .map(|(range, _)| range)
            .collect();
        self.values(bytes, &mut |range, value| {
            known.push((range.start, value));
            found.push(range);
        });
        found.retain(|range| !keep(range.start));
        known.sort_unstable();
        let name = move |span: &Range<usize>| {
            let at = known.partition_point(|(start, _)| *start < span.start);
            match known.get(at).filter(|(start, _)| *start < span.end) {
                Some((_, value)) => format!("<redacted:leak-check:{}>", self.values[*value]),
                None => "<redacted:leak-check>".to_owned(),
            }
        };
        (apart(found), name)
    }
}

fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=_-.%".contains(&byte)
}

/// Whether a value is unlike anything that stands in a bundle for another reason.
fn telling(value: &[u8]) -> bool {
    let distinct: BTreeSet<u8> = value.iter().copied().collect();
    let digit = value.iter().any(u8::is_ascii_digit);
    let letter = value.iter().any(u8::is_ascii_alphabetic);
    let upper =
        value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    let path = value.contains(&b'/') && (value.starts_with(b"/") || value.contains(&b'.'));
    let long = value.len() >= MIN_VALUE && distinct.len() >= 8;
    let mixed = value.len() >= MIN_MIXED && distinct.len() >= 6 && upper && digit;
    (long || mixed)
        && ((digit && letter) || upper)
        && !path
        && !value.contains(&b' ')
        && !value.starts_with(b"<redacted")
        && !value.windows(10).any(|part| part == b"<redacted:")
}

/// A value itself, as JSON and URLs write it, in base64 and in hexadecimal digits.
fn forms_of(at: usize, value: &[u8]) -> Vec<Form> {
    let mut forms = Vec::new();
    let mut add = |text: &[u8], alone: bool| {
        let cut = text.len().min(MAX_FORM);
        forms.push(Form {
            text: text[..cut].into(),
            value: at,
            alone,
            goes_on: cut < text.len() || value.len() >= 512,
        });
    };
    add(value, value.len() < MIN_VALUE);
    if let Ok(text) = std::str::from_utf8(value) {
        let json = escaped(text);
        // Some encoders escape what RFC 3986 leaves alone, and some write small digits.
        let in_urls = percent_encoded(text, b"-._~");
        let all = percent_encoded(text, b"");
        let small = [in_urls.clone(), all.clone()].map(|form| small_digits(&form));
        let twice = escaped(&json);
        for other in [json, twice, in_urls, all].into_iter().chain(small) {
            if other != text {
                add(other.as_bytes(), false);
            }
        }
    }
    forms.extend(encoded_forms(at, value));
    forms
}

/// Names of the site that were replaced, with their pseudonyms. Where they stand plain, anonymising decided; encoded,
/// none may be left.
fn names_of_the_site(key: &Key) -> Vec<(String, String)> {
    let pairs = Anonymizer::of(key)
        .map(Anonymizer::pairs)
        .unwrap_or_default();
    let names = pairs.into_iter().filter(|(_, (class, real))| {
        let name = !matches!(class, Class::Ips | Class::Macs);
        name && real.len() >= MIN_NAME && real.len() <= MAX_FORM
    });
    names
        .map(|(pseudonym, (_, real))| (pseudonym, real))
        .collect()
}

/// In base64 at each of the three offsets, and as hexadecimal digits.
fn encoded_forms(at: usize, value: &[u8]) -> Vec<Form> {
    let mut forms = Vec::new();
    let mut add = |text: &[u8]| {
        let cut = text.len().min(MAX_FORM);
        forms.push(Form {
            text: text[..cut].into(),
            value: at,
            alone: false,
            goes_on: cut < text.len() || value.len() >= 512,
        });
    };
    for offset in 0..3 {
        let padded = [&vec![0; offset], value].concat();
        // The digits at both ends depend on the neighbours as well.
        let from = if offset == 0 { 0 } else { offset + 1 };
        let standard = STANDARD_NO_PAD.encode(&padded);
        let to = standard.len() - usize::from(!padded.len().is_multiple_of(3));
        if to > from + MIN_MIXED {
            add(&standard.as_bytes()[from..to]);
            let for_urls = URL_SAFE_NO_PAD.encode(&padded);
            if for_urls != standard {
                add(&for_urls.as_bytes()[from..to]);
            }
        }
    }
    let hex = casefile_bundle::hex(value);
    add(hex.to_ascii_uppercase().as_bytes());
    add(hex.as_bytes());
    forms
}

fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inner = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or_default().to_owned()
}

/// The same with the digits of its escapes in small letters.
fn small_digits(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let (digits, rest) = part.split_at(part.len().min(2));
        format!("{all}%{}{rest}", digits.to_ascii_lowercase())
    })
}

/// All but letters, digits and what is left alone is escaped.
fn percent_encoded(text: &str, alone: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || alone.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use casefile_redact::Site;
    use proptest::prelude::*;

    use super::*;

    const SECRET: &[u8] = b"k3Xy-9vQ2mPz77";

    fn search(value: &[u8]) -> Search {
        let key = Key::from_bytes(&[7; 32]);
        key.remember(value);
        Search::new(&key, None)
    }

    fn clean(search: &Search, text: &[u8]) -> String {
        String::from_utf8(search.clean(text, &|_| false).0).unwrap()
    }

    #[test]
    fn a_value_is_replaced_plain_and_in_base64_at_any_offset() {
        let search = search(SECRET);
        for before in ["", "a", "ab", "abc"] {
            let text = [before.as_bytes(), SECRET, b" and more"].concat();
            assert!(clean(&search, &text).ends_with("> and more"));
            let encoded = STANDARD.encode(&text);
            let hex = casefile_bundle::hex(&text);
            for encoded in [encoded, hex] {
                assert!(
                    clean(&search, encoded.as_bytes()).contains("<redacted:leak-check:"),
                    "{before}"
                );
            }
        }
    }

    #[test]
    fn a_name_of_the_site_is_found_where_anonymising_could_not_see_it() {
        let mut names = crate::anonymize::Names::default();
        names.add(Class::Hosts, "lyra-gpu-017");
        let site = Anonymizer::new(
            Key::from_bytes(&[7; 32]),
            Class::ALL.into_iter().collect(),
            &names,
        );
        let _ = Site::text(&site, "node lyra-gpu-017 is up");
        let search = Search::new(&Key::from_bytes(&[7; 32]).with_site(Arc::new(site)), None);
        let line = format!("blob {}", STANDARD.encode("a node lyra-gpu-017 is up"));
        assert!(clean(&search, line.as_bytes()).contains("<redacted:leak-check:host-"));
        assert_eq!(clean(&search, b"lyra-gpu-017"), "lyra-gpu-017");
    }

    #[test]
    fn plain_words_are_not_searched_for_and_short_values_stand_alone() {
        assert!(!telling(b"gpu-operator-values"));
        assert!(!telling(b"/var/lib/kubelet/pki/kubelet.key1"));
        assert!(telling(SECRET) && telling(b"aB3dE6gH9k"));
        let search = search(b"aB3dE6gH9k");
        assert_eq!(clean(&search, b"xaB3dE6gH9k"), "xaB3dE6gH9k");
        assert!(clean(&search, b"x aB3dE6gH9k.").starts_with("x <redacted:"));
    }

    #[test]
    fn the_rest_of_a_long_value_goes_with_its_beginning() {
        let value = "k3Xy9vQ2mPz77aB".repeat(20);
        let search = search(value.as_bytes());
        let text = clean(&search, format!("a {value} b").as_bytes());
        assert!(
            text.starts_with("a <redacted:") && text.ends_with("> b") && text.len() < 60,
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn no_form_of_a_value_is_left(
            value in "[A-Za-z0-9+/=%\"\\\\!_-]{16,80}", before in "[ -~]{0,6}", after in "[ -~]{0,6}",
        ) {
            prop_assume!(telling(value.as_bytes()));
            let search = search(value.as_bytes());
            for form in [value.clone(), escaped(&value), escaped(&escaped(&value)), percent_encoded(&value, b"-._~"), percent_encoded(&value, b"")] {
                let text = format!("{before} {form} {after}");
                prop_assert!(!clean(&search, text.as_bytes()).contains(&form), "{text}");
            }
        }
    }
}
