//! A reader that can be looked into before it is read: what a stream holds is told by its first bytes.

use std::io::{self, BufRead, Read};

/// Bytes read of the stream at a time.
const BUFFER: usize = 64 << 10;

/// A buffered reader with a look ahead of up to its buffer.
pub(super) struct Peeked<R> {
    inner: R,
    buf: Vec<u8>,
    from: usize,
    to: usize,
}

impl<R: Read> Peeked<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            buf: vec![0; BUFFER],
            from: 0,
            to: 0,
        }
    }

    /// The next `wanted` bytes, fewer only where the stream ends; they are read again afterwards.
    pub(super) fn peek(&mut self, wanted: usize) -> io::Result<&[u8]> {
        let wanted = wanted.min(self.buf.len());
        if self.buf.len() - self.from < wanted {
            self.buf.copy_within(self.from..self.to, 0);
            self.to -= self.from;
            self.from = 0;
        }
        while self.to - self.from < wanted {
            match self.inner.read(&mut self.buf[self.to..]) {
                Ok(0) => break,
                Ok(len) => self.to += len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buf[self.from..self.to.min(self.from + wanted)])
    }
}

impl<R: Read> BufRead for Peeked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.from == self.to {
            self.from = 0;
            self.to = self.inner.read(&mut self.buf)?;
        }
        Ok(&self.buf[self.from..self.to])
    }

    fn consume(&mut self, amount: usize) {
        self.from = (self.from + amount).min(self.to);
    }
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if self.from == self.to && space.len() >= self.buf.len() {
            return self.inner.read(space);
        }
        let ready = self.fill_buf()?;
        let len = ready.len().min(space.len());
        space[..len].copy_from_slice(&ready[..len]);
        self.consume(len);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, as a slow pipe does.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
            let len = space.len().min(1);
            self.0.read(&mut space[..len])
        }
    }

    #[test]
    fn what_was_looked_at_is_read_again() {
        let text = b"0123456789".repeat(20_000);
        let mut peeked = Peeked::new(Slow(&text));
        let mut read = Vec::new();
        while !peeked.peek(512).expect("no error").is_empty() {
            let mut part = [0; 700];
            let len = peeked.read(&mut part).expect("no error");
            read.extend_from_slice(&part[..len]);
        }
        assert_eq!(read, text);
    }
}
