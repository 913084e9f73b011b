//! Numbers of texts: by them what was found out of a text is kept, and found again where the same text stands.

/// The highest bit of each of eight bytes.
pub(crate) const HIGHEST: u64 = 0x80 * ONES;
/// One in each of eight bytes.
pub(crate) const ONES: u64 = 0x0101_0101_0101_0101;

/// Both halves of a product, so that each bit changes all others: two texts share a number once in 2^63.
pub(crate) fn mixed(number: u64, part: u64) -> u64 {
    const ONE: u64 = 0x9e37_79b9_7f4a_7c15;
    const TWO: u64 = 0xe703_7ed1_a0b4_28db;
    let product = u128::from(number ^ ONE) * u128::from(part ^ TWO);
    half(product) ^ half(product >> 64)
}

fn half(number: u128) -> u64 {
    u64::try_from(number & u128::from(u64::MAX)).unwrap_or(0)
}

/// The number of a text, which begins with another number, with each eight bytes as they are read.
#[inline]
pub(crate) fn of(begin: u64, text: &[u8], read: impl Fn(u64) -> u64) -> u64 {
    let (parts, rest) = text.as_chunks::<8>();
    let begin = mixed(begin, text.len() as u64);
    let number = parts.iter().fold(begin, |number, part| {
        mixed(number, read(u64::from_le_bytes(*part)))
    });
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mixed(number, read(u64::from_le_bytes(last)))
}

/// The same of a longer text, with sixteen bytes at a time.
#[inline]
pub(crate) fn of_long(text: &[u8], read: impl Fn(u64) -> u64) -> u64 {
    // Spread, for it would make up for another first letter.
    let length = (text.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let with = |number: u64, part: &[u8; 16]| {
        let both = u128::from_le_bytes(*part);
        mixed(number ^ read(half(both)), read(half(both >> 64)))
    };
    let Some(last) = text.last_chunk::<16>() else {
        let mut only = [0; 16];
        only[..text.len()].copy_from_slice(text);
        return with(length, &only);
    };
    // The last sixteen may be partly among those before.
    let (parts, _) = text.as_chunks::<16>();
    with(parts.iter().fold(length, with), last)
}

/// Eight bytes in which one decimal digit stands for all.
#[inline]
pub(crate) fn without_digits(eight: u64) -> u64 {
    let low = eight & !HIGHEST;
    let from = low + (0x80 - u64::from(b'0')) * ONES;
    let beyond = low + (0x7f - u64::from(b'9')) * ONES;
    let digits = from & !beyond & !eight & HIGHEST;
    eight & !((digits >> 7) * 0x0f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_digit_stands_for_all_and_for_nothing_else() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                for beside in [b'a', b'0', b'9', 0, 0x7f, 0xff] {
                    let mut eight = [beside; 8];
                    eight[place] = byte;
                    let one = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
                    let found = without_digits(u64::from_le_bytes(eight));
                    assert_eq!(found.to_le_bytes(), eight.map(one));
                }
            }
        }
    }

    #[test]
    fn texts_that_differ_have_different_numbers() {
        let texts: Vec<Vec<u8>> = (0..60)
            .flat_map(|length| {
                [
                    b"x".repeat(length),
                    [b"y", &b"x".repeat(length)[..]].concat(),
                ]
            })
            .collect();
        let all: [fn(&[u8]) -> u64; 2] = [
            |text| of(0, text, |eight| eight),
            |text| of_long(text, |eight| eight),
        ];
        for number in all {
            let mut numbers: Vec<u64> = texts.iter().map(|text| number(text)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), texts.len());
        }
        let blind = |text: &[u8]| of_long(text, without_digits);
        assert_eq!(
            blind(b"took 815 ms for pod 7"),
            blind(b"took 992 ms for pod 1")
        );
        assert_ne!(
            blind(b"took 815 ms for pod 7"),
            blind(b"took 8150 ms for pod 7")
        );
    }
}
