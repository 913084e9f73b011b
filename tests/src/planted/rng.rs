//! A small generator of numbers, the same in every run: what is planted must not depend on the day.

/// `SplitMix64`.
pub(super) struct Rng(u64);

impl Rng {
    /// Starts at a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end.max(1) as u64).unwrap_or(0)
    }

    /// `length` characters out of `alphabet`.
    pub(super) fn text(&mut self, length: usize, alphabet: &str) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length)
            .map(|_| letters[self.below(letters.len())])
            .collect()
    }

    /// Hexadecimal digits in lower case.
    pub(super) fn hex(&mut self, length: usize) -> String {
        self.text(length, "0123456789abcdef")
    }

    /// Letters and digits, at least one of each sort: what passwords and tokens are made of.
    pub(super) fn mixed(&mut self, length: usize) -> String {
        const ALL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let inner = self.text(length.saturating_sub(3), ALL);
        format!(
            "{}{inner}{}{}",
            self.text(1, "bcdfghjkm"),
            self.text(1, "23456789"),
            self.text(1, "QRSTVWXZ")
        )
    }

    /// Capital letters and digits.
    pub(super) fn capitals(&mut self, length: usize) -> String {
        self.text(length, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    }

    /// Random bytes.
    pub(super) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length)
            .map(|_| u8::try_from(self.number() & 0xff).unwrap_or(0))
            .collect()
    }

    /// A UUID.
    pub(super) fn uuid(&mut self) -> String {
        let (a, b, c, d, e) = (
            self.hex(8),
            self.hex(4),
            self.hex(3),
            self.hex(3),
            self.hex(12),
        );
        format!("{a}-{b}-4{c}-a{d}-{e}")
    }
}
