//! How much memory an analysis may take for what it keeps of the input.

/// Bytes for texts and facts of the input, beyond what the program takes for itself: rules, automata, buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget(usize);

impl Budget {
    /// Less than this holds no capture.
    const LEAST: usize = 8 << 20;
    /// What a fact of a listed object takes, with its strings, on average.
    const FACT: usize = 1200;
    /// What alike lines take, with the texts that they are known by.
    const GROUP: usize = 3072;

    /// So many bytes, but no fewer than 8 MiB.
    pub fn of(bytes: usize) -> Self {
        Self(bytes.max(Self::LEAST))
    }

    /// For texts that wait for the end of the reading; others wait in a file.
    pub(super) fn waiting(self) -> usize {
        self.0 / 8
    }

    /// For texts that derivers read.
    pub(super) fn kept(self) -> usize {
        self.0 / 3
    }

    /// How many facts of listed objects are evaluated together.
    pub(super) fn facts(self) -> usize {
        self.0 / Self::FACT
    }

    /// How many kinds of lines that match are kept.
    pub(super) fn groups(self) -> usize {
        self.0 / Self::GROUP
    }

    /// For how logs end.
    pub(super) fn ends(self) -> usize {
        self.0 / 4
    }

    /// For what is recognised in texts of unknown origin.
    pub(super) fn pieces(self) -> usize {
        self.0 / 3
    }

    /// For lines of one kind that say something of their node.
    pub(super) fn lines(self) -> usize {
        self.0 / 16
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self(96 << 20)
    }
}
