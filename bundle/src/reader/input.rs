//! An input: what is read, and the keys that open it where it is encrypted.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::Form;
use super::problem::OpenError;
use super::sniff::{self, Magic, SNIFF_BYTES};
use crate::keys::{AGE_MAGIC, Keys};
use crate::member::MemberSizes;

/// A file's bytes, decrypted where that is needed.
pub(crate) trait Bytes: Read + Seek {}

impl<T: Read + Seek> Bytes for T {}

/// A file or folder to be read. A path alone is one, too.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    path: &'a Path,
    keys: Option<&'a Keys>,
}

impl<'a> From<&'a Path> for Input<'a> {
    fn from(path: &'a Path) -> Self {
        Self { path, keys: None }
    }
}

impl<'a> From<&'a PathBuf> for Input<'a> {
    fn from(path: &'a PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

/// An input that was opened and recognised.
pub(crate) enum Opened {
    Folder,
    /// A gzip file whose members say their sizes, as our own bundles do.
    Members(Box<dyn Bytes>),
    /// A 7z archive, of which any part may be needed first.
    Seven(Box<dyn Bytes>),
    /// Any other file.
    Stream(Box<dyn Bytes>, Form),
}

impl<'a> Input<'a> {
    /// A path, and the keys that open it if it is encrypted.
    pub fn new(path: &'a Path, keys: Option<&'a Keys>) -> Self {
        Self { path, keys }
    }

    /// Where it lies.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// What opens it.
    pub fn keys(&self) -> Option<&'a Keys> {
        self.keys
    }

    fn failed(&self, source: io::Error) -> OpenError {
        let path = self.path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => OpenError::NotFound { path },
            _ => OpenError::Unreadable { path, source },
        }
    }

    /// The bytes of the archive; `None` for a folder.
    pub(crate) fn bytes(&self) -> Result<Option<Box<dyn Bytes>>, OpenError> {
        let metadata = std::fs::metadata(self.path).map_err(|e| self.failed(e))?;
        if metadata.is_dir() {
            std::fs::read_dir(self.path).map_err(|e| self.failed(e))?;
            return Ok(None);
        }
        if !metadata.is_file() {
            // Opening a pipe or a terminal could wait for ever, and members are read with seeks.
            let why = "neither a regular file nor a folder: save it to a file first";
            return Err(self.failed(io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        let mut file = File::open(self.path).map_err(|e| self.failed(e))?;
        let head = head(&mut file).map_err(|e| self.failed(e))?;
        match self.keys {
            Some(keys) if head.starts_with(AGE_MAGIC) => {
                let opened = keys.unlock(file).map_err(|why| OpenError::Locked {
                    path: self.path.to_owned(),
                    why,
                })?;
                Ok(Some(Box::new(opened)))
            }
            _ => Ok(Some(Box::new(file))),
        }
    }

    /// Opens it and tells what it is.
    pub(crate) fn open(&self) -> Result<Opened, OpenError> {
        let Some(mut file) = self.bytes()? else {
            return Ok(Opened::Folder);
        };
        let head = head(&mut file).map_err(|e| self.failed(e))?;
        let path = self.path.to_owned();
        if head.is_empty() {
            return Err(OpenError::Empty { path });
        }
        Ok(match sniff::magic(&head) {
            Magic::Gzip if MemberSizes::parse(&head).is_some() => Opened::Members(file),
            Magic::Gzip => Opened::Stream(file, Form::Bundle),
            Magic::Tar => Opened::Stream(file, Form::Tar),
            Magic::Seven => Opened::Seven(file),
            Magic::Other => Opened::Stream(file, Form::Text),
            _ => Opened::Stream(file, Form::Archive),
        })
    }
}

/// The first bytes; the file stands at its beginning afterwards.
fn head(file: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(SNIFF_BYTES);
    file.take(SNIFF_BYTES as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(head)
}
