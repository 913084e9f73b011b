//! What an issuer puts around what it draws: words in front, each with a sign, and a version, a region or a sum behind:
//! `zq_live_...`, `ZQKT-...-v1`, `71234:...`.

use std::ops::Range;

use super::super::escapes;
use super::super::explained::by_place;
use super::super::random::Sorts;
use super::alone::stands_alone;

/// What stands between an issuer's words and behind them.
const SIGNS: &[u8] = b"_-.:~/$#+";
/// An issuer puts so many words in front at most, each of so many letters.
pub(super) const MOST_WORDS: usize = 3;
pub(super) const LONGEST_WORD: usize = 12;
/// And no longer part behind.
const LONGEST_ENDING: usize = 8;

/// A token that is alone, with its issuer's words.
pub(super) struct Issuer {
    /// The token from its first word on, to the end of what stands behind what was drawn.
    pub(super) whole: Range<usize>,
    /// The sign in front of what was drawn.
    pub(super) mark: u8,
    /// No small letter stands in its words.
    pub(super) capitals: bool,
}

impl Issuer {
    /// The words of the issuer.
    pub(super) fn words<'a>(&self, bytes: &'a [u8], drawn: &Range<usize>) -> &'a [u8] {
        &bytes[self.whole.start..drawn.start]
    }

    /// Whether the object of a cluster may have such a name, which ends in small letters and digits behind a dash.
    pub(super) fn object(&self, sorts: Sorts) -> bool {
        sorts.upper == 0 && !self.capitals && b"-./".contains(&self.mark)
    }
}

/// The issuer's words around something that is alone but for them.
pub(super) fn around(bytes: &[u8], drawn: &Range<usize>) -> Option<Issuer> {
    let mark = *bytes[..drawn.start].last()?;
    let ended = ending(bytes, drawn.end);
    let ends = [Some(drawn.end), Some(ended).filter(|end| *end > drawn.end)];
    let mut start = drawn.start;
    for _ in 0..MOST_WORDS {
        let length = word_in_front(bytes, start)?;
        start -= length + 1;
        if let Some(end) = ends
            .into_iter()
            .flatten()
            .find(|end| stands_alone(bytes, &(start..*end)))
        {
            let whole = start..end;
            let words = &bytes[start..drawn.start];
            let capitals = !words.iter().any(u8::is_ascii_lowercase);
            // A single letter with a dash is an option.
            let enough = words.len() > 2 || b"._:~".contains(&mark);
            return (enough && !by_place(bytes, &whole)).then_some(Issuer {
                whole,
                mark,
                capitals,
            });
        }
    }
    None
}

/// The length of the word in front of a sign that ends there.
fn word_in_front(bytes: &[u8], end: usize) -> Option<usize> {
    let (sign, front) = bytes[..end].split_last()?;
    let length = front
        .iter()
        .rev()
        .take(LONGEST_WORD + 1)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let length = length.saturating_sub(escapes::letters(bytes, front.len() - length));
    (SIGNS.contains(sign) && (1..=LONGEST_WORD).contains(&length)).then_some(length)
}

/// The end of what stands behind what was drawn: a sign and few letters.
pub(super) fn ending(bytes: &[u8], end: usize) -> usize {
    let sign = bytes.get(end).is_some_and(|byte| SIGNS.contains(byte));
    let length = bytes[(end + 1).min(bytes.len())..]
        .iter()
        .take(LONGEST_ENDING + 1)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    match sign && (1..=LONGEST_ENDING).contains(&length) {
        true => end + 1 + length,
        false => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_signs_around_a_token_that_is_alone_are_its_issuers() {
        let words = |text: &str| {
            let start = text.find("Q7").unwrap();
            let drawn = start..start + 8;
            around(text.as_bytes(), &drawn).map(|issuer| text[issuer.whole].to_owned())
        };
        for token in [
            "zq_Q7xxxxxx",
            "zq-live.v1:Q7xxxxxx",
            "71234:Q7xxxxxx_test",
            "s.Q7xxxxxx",
        ] {
            for text in [
                token.to_owned(),
                format!("at \"{token}\", so"),
                format!("x {token}."),
                format!("x\\n{token}"),
            ] {
                assert_eq!(words(&text).as_deref(), Some(token), "{text}");
            }
        }
        for text in [
            "Q7xxxxxx",
            "a_b_c_d_Q7xxxxxx",
            "/etc/x_Q7xxxxxx",
            "-Q7xxxxxx",
            "x!_Q7xxxxxx",
        ] {
            assert_eq!(words(text), None, "{text}");
        }
    }
}
