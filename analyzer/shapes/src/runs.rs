//! What is remembered while an open place of a shape is gone through.

/// Where in an open place a state was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    pub(crate) letters: Letters,
    /// A digit was read, or need not be: before that a place of numbers does not end.
    pub(crate) has_digit: bool,
}

/// The letters that were read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Letters {
    /// None, or what they are does not matter.
    None,
    /// So many of any kind, which are at most three.
    Any(u8),
    /// Of numbers in base 16 only.
    Hex,
    /// This one, or these two, which begin a run.
    Begun([u8; 2]),
    /// The place is over: a word boundary lies behind what was read.
    Over,
}

impl Run {
    /// How many of them are told apart by a number; those that name letters are kept in a set.
    pub(crate) const NUMBERS: usize = 12;

    /// Nothing is to be remembered.
    pub(crate) const FREE: Self = Self::after(Letters::None);

    /// After a digit.
    pub(crate) const fn after(letters: Letters) -> Self {
        Self {
            letters,
            has_digit: true,
        }
    }

    pub(crate) fn with(self, letters: Letters) -> Self {
        Self { letters, ..self }
    }

    pub(crate) fn number(self) -> Option<usize> {
        let letters = match self.letters {
            Letters::None => 0,
            Letters::Any(count) => usize::from(count.clamp(1, 3)),
            Letters::Hex => 4,
            Letters::Over => 5,
            Letters::Begun(_) => return None,
        };
        Some(2 * letters + usize::from(self.has_digit))
    }
}
