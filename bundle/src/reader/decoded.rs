//! What was decoded of an archive that will be read once more: xz and bzip2 take longer to decode than all that is done with
//! what they hold. It is kept in one temporary file that has no name, for the input that was read last.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::several::{Stamp, stamp};
use super::sniff::Magic;

/// Bytes kept of one input; one that holds more is decoded again.
const MOST: u64 = if cfg!(test) { 1 << 20 } else { 512 << 20 };

/// A file as it was when it was decoded.
type Decoded = (PathBuf, Stamp);

/// What is kept of an input.
#[derive(Default)]
struct Kept {
    input: PathBuf,
    file: Option<File>,
    /// Where in the file its streams end up, each by the file that was decoded.
    streams: Vec<(Decoded, u64, u64)>,
    end: u64,
}

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

fn kept() -> MutexGuard<'static, Option<Kept>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file as it is now; none where nothing says when it was changed.
fn present(file: &Path) -> Option<Decoded> {
    let stamp = stamp(file).filter(|(_, modified)| modified.is_some())?;
    Some((file.to_owned(), stamp))
}

/// Whether what is compressed so takes long to decode.
pub(super) fn is_slow(magic: Magic) -> bool {
    matches!(magic, Magic::Xz | Magic::Bzip2)
}

/// What a file of an input holds, if that was kept.
pub(super) fn known(input: &Path, file: &Path) -> Option<impl Read + use<>> {
    let present = present(file)?;
    let kept = kept();
    let kept = kept.as_ref().filter(|kept| kept.input == input)?;
    let (_, at, length) = kept.streams.iter().find(|(one, ..)| *one == present)?;
    let file = kept.file.as_ref()?.try_clone().ok()?;
    Some(Part {
        file,
        at: *at,
        end: at + length,
    })
}

/// A stretch of the file. The place to read from is shared by all its readers, so each says it anew.
struct Part {
    file: File,
    at: u64,
    end: u64,
}

impl Read for Part {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let room = space.len().min(left);
        let _one_at_a_time = kept();
        self.file.seek(SeekFrom::Start(self.at))?;
        let len = self.file.read(&mut space[..room])?;
        if len == 0 && room > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += len as u64;
        Ok(len)
    }
}

/// A decoder of which all is kept that it gives, once it came to its end without an error.
pub(super) struct Keeping<R> {
    decoder: R,
    input: PathBuf,
    /// The file that is decoded; none once no more is kept.
    decoded: Option<Decoded>,
    at: u64,
    length: u64,
}

impl<R: Read> Keeping<R> {
    /// Of another input than before nothing is kept any more.
    pub(super) fn new(decoder: R, input: &Path, file: &Path) -> Self {
        let mut kept = kept();
        if kept.as_ref().is_none_or(|kept| kept.input != input) {
            *kept = Some(Kept {
                input: input.to_owned(),
                ..Kept::default()
            });
        }
        Self {
            decoder,
            input: input.to_owned(),
            decoded: present(file),
            at: kept.as_ref().map_or(0, |kept| kept.end),
            length: 0,
        }
    }

    /// Keeps what was read; an error where there is no room for it.
    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut kept = kept();
        let kept = kept.as_mut().filter(|kept| kept.input == self.input);
        // Another input is being read, or another stream of this one.
        let kept = kept.filter(|kept| kept.end == self.at);
        let kept = kept.ok_or(io::ErrorKind::ResourceBusy)?;
        let at = self.at + self.length;
        if bytes.is_empty() {
            kept.end = at;
            kept.streams
                .extend(self.decoded.take().map(|one| (one, self.at, self.length)));
            return Ok(());
        }
        self.length += bytes.len() as u64;
        if at + bytes.len() as u64 > MOST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let file = match &mut kept.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }
}

impl<R: Read> Read for Keeping<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(space);
        let is_given_up = match &read {
            Ok(_) if self.decoded.is_none() || space.is_empty() => false,
            Ok(len) => self.keep(&space[..*len]).is_err(),
            Err(error) => error.kind() != io::ErrorKind::Interrupted,
        };
        if is_given_up {
            self.decoded = None;
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from: &mut dyn Read) -> Vec<u8> {
        let mut all = Vec::new();
        from.read_to_end(&mut all).expect("readable");
        all
    }

    #[test]
    fn what_was_decoded_whole_is_read_again_as_long_as_the_file_is_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let input = folder.path();
        let file = |name: &str| {
            let path = input.join(name);
            std::fs::write(&path, name).expect("written");
            path
        };
        let (one, other, large) = (file("a.xz"), file("b.xz"), file("c.xz"));
        let long = vec![b'x'; usize::try_from(MOST).expect("small")];
        for (path, text) in [(&one, &b"one"[..]), (&other, b"other"), (&large, &long)] {
            assert_eq!(read(&mut Keeping::new(text, input, path)), text);
        }
        let again = |path: &Path| known(input, path).map(|mut part| read(&mut part));
        assert_eq!(again(&one).as_deref(), Some(&b"one"[..]));
        assert_eq!(again(&other).as_deref(), Some(&b"other"[..]));
        assert!(again(&large).is_none(), "there is no room for it");
        assert!(known(&input.join("x"), &one).is_none(), "of another input");
        std::fs::write(&one, "more").expect("written");
        assert!(again(&one).is_none(), "another file lies there");
        // A reading that ends early has not seen all.
        let mut half = Keeping::new(&b"half"[..], input, &one);
        half.read_exact(&mut [0; 2]).expect("readable");
        drop(half);
        assert!(again(&one).is_none());
    }
}
