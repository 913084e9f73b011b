//! Words that are searched for and may stand in an id, or reach into one: `a3-`, `:aa`.

use std::ops::Range;
use std::sync::LazyLock;

use super::super::number::{HIGHEST, ONES};
use super::super::table::{LETTERS_AND_DIGITS, all_hex};
use super::search::SEARCH;

/// A word, and so many of its bytes that stand in front of the edge of an id.
type Edge = (usize, Box<[u8]>);

/// Such words, by the place of what would stand in an id: at its beginning, at its end, or anywhere.
#[derive(Default)]
pub(crate) struct Edges {
    begins: Vec<Edge>,
    ends: Vec<Edge>,
    inner: Vec<Box<[u8]>>,
    /// The first two letters of inner ones.
    pairs: Vec<[u8; 2]>,
}

static EDGES: LazyLock<Edges> = LazyLock::new(|| {
    let mut all = Edges::default();
    for word in SEARCH.words().map(<[u8]>::to_ascii_lowercase) {
        for part in ends_in_ids(&word) {
            let word: Box<[u8]> = word.as_slice().into();
            match (part.start, part.end == word.len()) {
                (0, true) => {
                    all.pairs.push([word[0], word[1]]);
                    all.inner.push(word);
                }
                (0, false) => all.ends.push((part.end, word)),
                (front, _) => all.begins.push((front, word)),
            }
        }
    }
    all.pairs.sort_unstable();
    all.pairs.dedup();
    all
});

impl Edges {
    /// Whether such a word stands in an id, or reaches into it.
    pub(crate) fn touch(text: &[u8], id: &Range<usize>) -> bool {
        let all = &*EDGES;
        let digits = &text[id.clone()];
        let over = |place: usize, (front, word): &Edge| {
            let there = place
                .checked_sub(*front)
                .and_then(|start| text.get(start..));
            let there = there.and_then(|there| there.get(..word.len()));
            there.is_some_and(|there| there.eq_ignore_ascii_case(word))
        };
        let inner = |word: &[u8]| memchr::memmem::find(digits, word).is_some();
        all.begins.iter().any(|edge| over(id.start, edge))
            || all.ends.iter().any(|edge| over(id.end, edge))
            || (all.pairs.iter().any(|pair| holds_pair(digits, *pair))
                && all.inner.iter().any(|word| inner(word)))
    }
}

/// Whether two letters stand side by side in a text of at least eight letters of ASCII.
fn holds_pair(text: &[u8], pair: [u8; 2]) -> bool {
    let found = |eight: &[u8; 8]| {
        let eight = u64::from_le_bytes(*eight);
        let [first, second] =
            pair.map(|letter| !((eight ^ (u64::from(letter) * ONES)) + (0x7f * ONES)) & HIGHEST);
        first & (second >> 8) != 0
    };
    // The last of eight is the first of the next ones.
    let mut at = 0;
    while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
        if found(eight) {
            return true;
        }
        at += 7;
    }
    text.last_chunk().is_some_and(found)
}

/// The letters and digits at the ends of a word that may stand in an id. Those without a letter are digits, which are looked
/// for in another way.
fn ends_in_ids(word: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let other = |byte: &u8| !LETTERS_AND_DIGITS[usize::from(*byte)];
    let first = 0..word.iter().position(other).unwrap_or(word.len());
    let last = word.iter().rposition(other).map_or(0, |at| at + 1)..word.len();
    let both = [
        Some(first.clone()),
        Some(last).filter(|last| *last != first),
    ];
    both.into_iter().flatten().filter(|part| {
        let part = &word[part.clone()];
        all_hex(part) && !part.iter().all(u8::is_ascii_digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_reach_into_an_id_touch_it() {
        assert!(
            SEARCH
                .words()
                .all(|word| ends_in_ids(word).all(|part| part.len() > 1))
        );
        let id = "0a1b2c3d4e5f6071";
        let touched = |text: String| {
            let start = text.find("0a1b2c").unwrap();
            Edges::touch(text.as_bytes(), &(start..start + id.len()))
        };
        assert!(!touched(format!("x:{id}-y")));
        assert!(touched(format!("x:{}a3-y", &id[..14])));
        assert!(touched(format!("x {}eaaa{}", &id[..6], &id[10..])));
        for at in 0..15 {
            let mut digits = *b"0123456789012345";
            digits[at..at + 2].copy_from_slice(b"ea");
            assert!(
                holds_pair(&digits, *b"ea") && !holds_pair(&digits, *b"ae"),
                "{at}"
            );
        }
    }
}
