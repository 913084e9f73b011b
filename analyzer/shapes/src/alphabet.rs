//! The alphabet in which Kubernetes draws parts of names (`k8s.io/apimachinery/pkg/util/rand`): neither vowels nor 0, 1 and
//! 3, so that no words come up.

/// Its letters and digits, as ranges.
pub const RANGES: [(u8, u8); 8] = [
    (b'2', b'2'),
    (b'4', b'9'),
    (b'b', b'd'),
    (b'f', b'h'),
    (b'j', b'n'),
    (b'p', b't'),
    (b'v', b'x'),
    (b'z', b'z'),
];

static LETTERS: [bool; 256] = letters();

const fn letters() -> [bool; 256] {
    let mut letters = [false; 256];
    let mut range = 0;
    while range < RANGES.len() {
        let (first, last) = RANGES[range];
        let mut byte = first;
        while byte <= last {
            letters[byte as usize] = true;
            byte += 1;
        }
        range += 1;
    }
    letters
}

/// Whether a byte is of it.
pub fn is_letter(byte: u8) -> bool {
    LETTERS[usize::from(byte)]
}

/// Whether all bytes are.
pub fn are_letters(token: &[u8]) -> bool {
    token.iter().all(|byte| is_letter(*byte))
}

/// Whether it is the end that a controller draws for the name of a pod.
pub fn is_end_of_pod(part: &str) -> bool {
    part.len() == 5 && are_letters(part.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_are_the_alphabet() {
        let all: Vec<u8> = (0..=u8::MAX).filter(|byte| is_letter(*byte)).collect();
        assert_eq!(all, b"2456789bcdfghjklmnpqrstvwxz");
    }
}
