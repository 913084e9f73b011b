//! The compressions that a stream can have, each as a reader of what it holds.

use std::io::{self, BufRead, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::peeked::Peeked;
use super::sniff::Magic;

/// Memory that an xz stream may ask for, in KiB: `xz -9` asks for 65 MiB.
const XZ_MEMORY: u32 = 192 << 10;
/// Window that a zstd stream may ask for, in bytes: `zstd --ultra -22` asks for 128 MiB.
const ZSTD_WINDOW: u64 = 128 << 20;

/// A stream to be decoded.
pub(super) type Stream<'a> = Peeked<&'a mut dyn Read>;

/// The reader of what a compressed stream holds; none for what is no compression.
///
/// Errors: of kind `UnexpectedEof` where the stream ends too early, with the name of the compression otherwise.
pub(super) fn decoder<'a>(magic: Magic, stream: Stream<'a>) -> Option<Box<dyn Read + 'a>> {
    let (name, inner): (_, Box<dyn Read + 'a>) = match magic {
        Magic::Gzip => ("gzip", Box::new(MultiGzDecoder::new(stream))),
        Magic::Bzip2 => ("bzip2", Box::new(MultiBzDecoder::new(stream))),
        Magic::Xz => (
            "xz",
            Box::new(XzReader::new_mem_limit(stream, true, XZ_MEMORY)),
        ),
        Magic::Lz4 => ("lz4", Box::new(Lz4Decoder::new(stream))),
        Magic::Zstd => ("zstd", Box::new(Zstd::Next(Some(stream)))),
        Magic::Tar | Magic::Zip | Magic::Seven | Magic::Other => return None,
    };
    Some(Box::new(Named { name, inner }))
}

/// Says of an error which compression it is about.
struct Named<'a> {
    name: &'static str,
    inner: Box<dyn Read + 'a>,
}

impl Read for Named<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.inner.read(space).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            io::ErrorKind::UnexpectedEof => {
                let text = format!("the file ends inside its {} data", self.name);
                io::Error::new(io::ErrorKind::UnexpectedEof, text)
            }
            // The data are sound, and other programs read them.
            kind @ io::ErrorKind::OutOfMemory => {
                let text = format!(
                    "its {} data need more memory than one stream is given here: unpack it into a folder and name that",
                    self.name
                );
                io::Error::new(kind, text)
            }
            kind => io::Error::new(kind, format!("broken {} data", self.name)),
        })
    }
}

/// Zstd frames one after the other.
enum Zstd<'a> {
    Next(Option<Stream<'a>>),
    Frame(Box<StreamingDecoder<Stream<'a>, FrameDecoder>>),
}

impl Read for Zstd<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            match self {
                Zstd::Next(stream) => {
                    let Some(mut stream) = stream.take() else {
                        return Ok(0);
                    };
                    if stream.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let frame = StreamingDecoder::new_with_max_window_size(stream, ZSTD_WINDOW);
                    let frame = frame.map_err(|error| match error {
                        FrameDecoderError::WindowSizeTooBig { .. } => {
                            io::Error::from(io::ErrorKind::OutOfMemory)
                        }
                        other => io::Error::other(other),
                    });
                    *self = Zstd::Frame(Box::new(frame?));
                }
                Zstd::Frame(frame) => {
                    let len = frame.read(space)?;
                    if len > 0 || space.is_empty() {
                        return Ok(len);
                    }
                    let Zstd::Frame(frame) = std::mem::replace(self, Zstd::Next(None)) else {
                        return Ok(0);
                    };
                    *self = Zstd::Next(Some(frame.into_inner()));
                }
            }
        }
    }
}
