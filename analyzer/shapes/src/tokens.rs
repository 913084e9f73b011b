//! The steps of a walk along shapes: a number or an id with its shape. Most are told without writing it.

use crate::places::{HEX_NUMBER, NUMBER, Token, token, token_of};
use crate::recent::Recent;
use crate::shape::{DIGIT, DIGITS, HEX_LETTER, kind, open_token};
use crate::words::{SHORTEST, Words};

/// Tells steps.
#[derive(Default)]
pub(crate) struct Tokens {
    recent: Recent,
    /// The shape of the present one, where it is written.
    shape: Vec<u8>,
}

impl Tokens {
    /// The step that a text begins with, given its first digits and letters, of which one is a digit; with its length. None
    /// where no place has so long a one.
    pub(crate) fn step(
        &mut self,
        text: &[u8],
        (length, kinds): (usize, u8),
        words: &Words,
    ) -> Option<(Token, usize)> {
        if !is_alone(text, length) {
            return self.written(text, (length, kinds), words);
        }
        match kinds {
            DIGIT if is_number(text, length, words) => Some((NUMBER, length)),
            HEX if words.first_in(&text[..length], HEX).is_none() => Some((HEX_NUMBER, length)),
            DIGIT | HEX => self.written(text, (length, kinds), words),
            _ => self.met(text, (length, kinds), words),
        }
    }

    /// Of one with letters that nothing goes on behind.
    fn met(
        &mut self,
        text: &[u8],
        (length, kinds): (usize, u8),
        words: &Words,
    ) -> Option<(Token, usize)> {
        if length < SHORTEST {
            return Some((measure(&text[..length]), length));
        }
        let id = Recent::id(text, length);
        if let Some(known) = id.and_then(|id| self.recent.shape(id)) {
            return Some((known, length));
        }
        let step = self.written(text, (length, kinds), words)?;
        if let Some(id) = id {
            self.recent.note(id, step.0);
        }
        Some(step)
    }

    fn written(
        &mut self,
        text: &[u8],
        token_here: (usize, u8),
        words: &Words,
    ) -> Option<(Token, usize)> {
        self.shape.clear();
        let length = open_token(text, token_here, words, &mut self.shape);
        Some((token(&self.shape)?, length))
    }
}

/// Digits and the letters of numbers in base 16.
const HEX: u8 = DIGIT | HEX_LETTER;

/// Whether nothing that is drawn goes on behind the digits and letters that a text begins with, so that they alone tell
/// their shape.
#[inline]
fn is_alone(text: &[u8], length: usize) -> bool {
    // Behind a hyphen a UUID may go on, and the end of a name that holds no digit.
    text.get(length) != Some(&b'-') || (length != UUID && is_digit(text.get(length + 1)))
}

/// Length of the part that a UUID begins with.
const UUID: usize = 8;

fn is_digit(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_digit)
}

/// Whether digits that a text begins with are left open whatever they are.
#[inline]
fn is_number(text: &[u8], length: usize, words: &Words) -> bool {
    match length < SHORTEST {
        true => !words.joins(text.get(length)) || !words.begin_with_number(text),
        false => words.first_in(&text[..length], DIGIT).is_none(),
    }
}

/// The shape of digits and letters that are shorter than all words: the digits are open, the letters say what they are
/// (`5s`, `v1`).
#[inline]
fn measure(token: &[u8]) -> Token {
    let (mut shape, mut length, mut was_digit) = (0, 0, false);
    for byte in token {
        let is_digit = kind(*byte) == DIGIT;
        if !(is_digit && was_digit) {
            let open = if is_digit { DIGITS } else { *byte };
            shape = shape << 8 | u128::from(open);
            length += 1;
        }
        was_digit = is_digit;
    }
    token_of(shape, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::token_at;

    proptest::proptest! {
        #[test]
        fn a_step_has_the_shape_of_what_it_goes_over(
            text in "([0-9]{1,5}|[0-9]{8}|[:./-]|6443|401 unauthorized|x509|[0-9][a-zA-Z]{1,3}|[a-f0-9]{8}-|[0-9a-f]{2,9}|v[0-9]|[a-zA-Z0-9]{3,9}|-[bcdf]{5}| ){1,9}",
        ) {
            let words = Words::of(["x509", "6443", "401 unauthorized", "404: no"].into_iter());
            let mut tokens = Tokens::default();
            let text = text.as_bytes();
            let first = token_at(text);
            proptest::prop_assume!(first.1 & DIGIT != 0);
            // What was met before changes nothing.
            for _ in 0..2 {
                let Some((step, length)) = tokens.step(text, first, &words) else { continue };
                let (mut shape, mut at) = (Vec::new(), 0);
                while at < length {
                    let here = token_at(&text[at..]);
                    if here.0 == 0 {
                        shape.push(text[at]);
                        at += 1;
                        continue;
                    }
                    at += open_token(&text[at..], here, &words, &mut shape);
                }
                proptest::prop_assert_eq!(at, length);
                proptest::prop_assert_eq!(token(&shape), Some(step));
            }
        }
    }
}
