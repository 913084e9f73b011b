//! Verdicts on names: most stand in line after line, so the last few hundred are kept.

use std::cell::RefCell;

/// A longer name is decided anew.
const ROOM: usize = 32;
const CELLS: usize = 256;

#[derive(Clone, Copy)]
struct Seen {
    /// The name with zeros behind it, which no name has.
    name: [u64; ROOM / 8],
    secret: bool,
}

const NONE: Seen = Seen {
    name: [0; ROOM / 8],
    secret: false,
};

// Boxed, for what lies in a thread's own storage is taken from the stack of every thread, also of those that redact nothing.
thread_local! {
    static SEEN: RefCell<Box<[Seen]>> = RefCell::new(vec![NONE; CELLS].into_boxed_slice());
}

/// What `decide` says of a name, or said the last time.
pub(super) fn verdict(name: &[u8], decide: impl FnOnce(&[u8]) -> bool) -> bool {
    let Some(key) = key(name) else {
        return decide(name);
    };
    let place = place(&key);
    let kept = SEEN.with_borrow(|seen| seen[place]);
    if kept.name == key {
        return kept.secret;
    }
    let secret = decide(name);
    SEEN.with_borrow_mut(|seen| seen[place] = Seen { name: key, secret });
    secret
}

fn key(name: &[u8]) -> Option<[u64; ROOM / 8]> {
    let mut padded = [0; ROOM];
    padded.get_mut(..name.len())?.copy_from_slice(name);
    let mut key = [0; ROOM / 8];
    for (part, eight) in key.iter_mut().zip(padded.chunks_exact(8)) {
        *part = u64::from_le_bytes(eight.try_into().ok()?);
    }
    Some(key)
}

fn place(key: &[u64; ROOM / 8]) -> usize {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = key.iter().fold(0_u64, |mixed, part| {
        (mixed.rotate_left(23) ^ part).wrapping_mul(MIX)
    });
    usize::try_from(mixed >> 48).unwrap_or(0) % CELLS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_verdict_and_gives_it_to_no_other() {
        let names: Vec<String> = (0..3000).map(|n| format!("name{n}")).collect();
        for _ in 0..2 {
            for (n, name) in names.iter().enumerate() {
                assert_eq!(verdict(name.as_bytes(), |_| n % 3 == 0), n % 3 == 0);
            }
        }
        assert!(verdict(b"kept", |_| true));
        assert!(verdict(b"kept", |_| false));
        assert!(!verdict(b"kep", |_| false));
        let long = b"x".repeat(ROOM + 1);
        assert!(verdict(&long, |_| true));
        assert!(!verdict(&long, |_| false));
    }
}
