//! Short ids that were met last, with their shapes: in a log the same stand in line after line (`I1120`, `v1beta1`, `30T10`).

use crate::places::Token;

/// How many are remembered.
const SLOTS: usize = 256;

/// What an id of up to eight bytes is told by: its bytes, and zeros behind them.
pub(crate) type Id = u64;

/// Each id at the one place that its bytes tell.
pub(crate) struct Recent(Box<[(Id, Token); SLOTS]>);

impl Default for Recent {
    fn default() -> Self {
        Self(Box::new([(0, Token::default()); SLOTS]))
    }
}

impl Recent {
    /// The id of so many bytes that a text begins with; none where it is longer, or where the text ends with it.
    #[inline]
    pub(crate) fn id(text: &[u8], length: usize) -> Option<Id> {
        let eight = u64::from_le_bytes(*text.first_chunk()?);
        match length {
            1..8 => Some(eight & ((1 << (8 * length)) - 1)),
            8 => Some(eight),
            _ => None,
        }
    }

    /// The shape of an id, if it was noted and no other since at its place.
    #[inline]
    pub(crate) fn shape(&self, id: Id) -> Option<Token> {
        let (known, shape) = self.0[Self::slot(id)];
        (known == id).then_some(shape)
    }

    pub(crate) fn note(&mut self, id: Id, shape: Token) {
        self.0[Self::slot(id)] = (id, shape);
    }

    fn slot(id: Id) -> usize {
        (id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SLOTS
    }
}
