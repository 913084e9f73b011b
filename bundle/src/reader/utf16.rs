//! Text in UTF-16, as PowerShell writes it, read as UTF-8.

use std::io::{self, Read};

/// Bytes that tell: a byte order mark, or zeros in every second place.
const TELLING: usize = 64;

/// The order of the bytes, and how many to pass over, where a text starts like UTF-16.
pub(super) fn told(head: &[u8]) -> Option<(Order, usize)> {
    match head {
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some((Order::Little, 2)),
        [0xfe, 0xff, ..] => Some((Order::Big, 2)),
        _ => {
            let head = head.get(..TELLING)?;
            let zeros = |from: usize| head.iter().skip(from).step_by(2).all(|byte| *byte == 0);
            let text = |from: usize| {
                let mut bytes = head.iter().skip(from).step_by(2);
                bytes.all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
            };
            match () {
                () if zeros(1) && text(0) => Some((Order::Little, 0)),
                () if zeros(0) && text(1) => Some((Order::Big, 0)),
                () => None,
            }
        }
    }
}

/// Which byte of a unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// Reads UTF-16 as UTF-8; halves of broken pairs become U+FFFD.
pub(super) struct Utf16<R> {
    inner: R,
    order: Order,
    /// A byte whose other half, or a unit whose partner, has not come yet.
    rest: Vec<u8>,
    ready: Vec<u8>,
    given: usize,
}

impl<R: Read> Utf16<R> {
    pub(super) fn new(inner: R, order: Order) -> Self {
        Self {
            inner,
            order,
            rest: Vec::new(),
            ready: Vec::new(),
            given: 0,
        }
    }

    /// Decodes the next stretch; false at the end.
    fn more(&mut self) -> io::Result<bool> {
        let mut buf = [0; 16 << 10];
        let len = self.inner.read(&mut buf)?;
        self.rest.extend_from_slice(&buf[..len]);
        let mut units: Vec<u16> = self
            .rest
            .chunks_exact(2)
            .map(|two| match self.order {
                Order::Little => u16::from_le_bytes([two[0], two[1]]),
                Order::Big => u16::from_be_bytes([two[0], two[1]]),
            })
            .collect();
        let open = units
            .last()
            .is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        if open && len > 0 {
            units.pop();
        }
        self.rest.drain(..units.len() * 2);
        let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        self.ready = text.collect::<String>().into_bytes();
        self.given = 0;
        Ok(len > 0)
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() {
            if !self.more()? && self.ready.is_empty() {
                return Ok(0);
            }
        }
        let len = (self.ready.len() - self.given).min(space.len());
        space[..len].copy_from_slice(&self.ready[self.given..self.given + len]);
        self.given += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives three bytes at a time, so that units and pairs are cut.
    struct Cut<'a>(&'a [u8]);

    impl Read for Cut<'_> {
        fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
            let len = space.len().min(3);
            self.0.read(&mut space[..len])
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in ".{0,200}") {
            for (order, bytes) in [
                (Order::Little, text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
                (Order::Big, text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            ] {
                let mut read = String::new();
                Utf16::new(Cut(&bytes), order).read_to_string(&mut read).expect("UTF-8");
                prop_assert_eq!(&read, &text);
            }
        }
    }

    #[test]
    fn plain_text_and_programs_are_not_taken_for_it() {
        let wide: Vec<u8> = "NAME  STATUS\n"
            .repeat(9)
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(told(&wide), Some((Order::Little, 0)));
        assert_eq!(
            told(b"NAME STATUS ROLES AGE VERSION INTERNAL-IP EXTERNAL-IP OS-IMAGE and more"),
            None
        );
        assert_eq!(told(&[0; 80]), None);
    }
}
