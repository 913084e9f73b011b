//! Zip archives, read as a stream by the headers before each entry, so that they can come through a pipe and lie
//! inside other archives. Format: PKWARE APPNOTE 6.3.

use std::io::{self, BufRead, Read};

use bzip2::bufread::BzDecoder;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::formats::Stream;
use super::problem::ReadProblem;
use super::unpack::{self, Inside};
use super::walk::{Walk, printable};

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
/// What begins the list at the end of an archive, or an archive without entries.
const ENDS: [[u8; 4]; 4] = [
    *b"PK\x01\x02",
    *b"PK\x05\x06",
    *b"PK\x06\x06",
    *b"PK\x06\x08",
];
const HEADER: usize = 30;
const ENCRYPTED: u16 = 1;
const SIZES_FOLLOW: u16 = 8;

/// An entry's header.
struct Local {
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    name: Vec<u8>,
    wide: bool,
}

/// Reads all entries; `name` is what the archive is called.
pub(super) fn read(stream: &mut Stream<'_>, name: &str, depth: u8, walk: &mut Walk<'_>) {
    if let Err(error) = entries(stream, depth, walk) {
        let why = unpack::why(&error);
        walk.unreadable(name, &why);
    }
}

fn entries(stream: &mut Stream<'_>, depth: u8, walk: &mut Walk<'_>) -> io::Result<()> {
    while let Some(local) = next(stream)? {
        if walk.stopped() || !walk.count_entry() {
            return Ok(());
        }
        let known = local.flags & SIZES_FOLLOW == 0;
        if local.name.ends_with(b"/") && known && local.packed == 0 {
            let _ = walk.name(&local.name, true);
            continue;
        }
        if local.flags & ENCRYPTED != 0 {
            let path = printable(&local.name);
            walk.problem(ReadProblem::Encrypted { path });
            if !known {
                return Err(broken("what follows an encrypted entry cannot be found"));
            }
            skip(stream, local.packed)?;
            continue;
        }
        content(stream, &local, depth, walk)?;
        if !known {
            descriptor(stream, local.wide)?;
        }
    }
    Ok(())
}

fn content(
    stream: &mut Stream<'_>,
    local: &Local,
    depth: u8,
    walk: &mut Walk<'_>,
) -> io::Result<()> {
    let known = local.flags & SIZES_FOLLOW == 0;
    let path = walk.name(&local.name, local.name.ends_with(b"/"));
    match local.method {
        0 if known => {
            let mut bytes = Read::take(stream, local.packed);
            one(&mut bytes, path, local, depth, walk)
        }
        8 if known => {
            let mut bytes = Read::take(stream, local.packed);
            one(
                &mut DeflateDecoder::new(&mut bytes),
                path,
                local,
                depth,
                walk,
            )?;
            drain(&mut bytes)
        }
        8 => one(&mut DeflateDecoder::new(stream), path, local, depth, walk),
        12 if known => {
            let mut bytes = Read::take(stream, local.packed);
            one(&mut BzDecoder::new(&mut bytes), path, local, depth, walk)?;
            drain(&mut bytes)
        }
        method => {
            if let Some(path) = path {
                let why = format!("packed by zip method {method}, which is not read");
                walk.unreadable(path.as_str(), &why);
            }
            if !known {
                return Err(broken("an entry without a size cannot be passed over"));
            }
            skip(stream, local.packed)
        }
    }
}

/// Reads one entry's content to its end and holds it against its checksum.
fn one(
    from: &mut dyn Read,
    path: Option<crate::BundlePath>,
    local: &Local,
    depth: u8,
    walk: &mut Walk<'_>,
) -> io::Result<()> {
    let known = local.flags & SIZES_FOLLOW == 0;
    let mut sum = Summed {
        inner: from,
        crc: Crc::new(),
        failed: None,
    };
    let shown = path.as_ref().map(ToString::to_string);
    if let Some(path) = path {
        let size = known.then_some(local.size);
        let inside = Inside::entry(path, size, depth);
        unpack::read(&mut sum, inside, walk);
    }
    drain(&mut sum)?;
    if let Some(kind) = sum.failed {
        return Err(io::Error::new(kind, "broken zip data"));
    }
    if let Some(path) = shown
        && known
        && sum.crc.sum() != local.crc
    {
        walk.unreadable(&path, "its content does not fit its checksum");
    }
    Ok(())
}

/// Sums up what is read, and remembers that reading failed.
struct Summed<'a> {
    inner: &'a mut dyn Read,
    crc: Crc,
    failed: Option<io::ErrorKind>,
}

impl Read for Summed<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if let Some(kind) = self.failed {
            return Err(kind.into());
        }
        let read = self.inner.read(space);
        match &read {
            Ok(len) => self.crc.update(&space[..*len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => self.failed = Some(error.kind()),
        }
        read
    }
}

/// The next entry's header; none at the end of the entries.
fn next(stream: &mut Stream<'_>) -> io::Result<Option<Local>> {
    let head = stream.peek(HEADER)?;
    if ENDS.iter().any(|end| head.starts_with(end)) {
        return Ok(None);
    }
    if head.len() < HEADER {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if !head.starts_with(&LOCAL) {
        return Err(broken("an entry's header is missing"));
    }
    let short = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let long = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (name_len, extra_len) = (usize::from(short(26)), usize::from(short(28)));
    let mut local = Local {
        flags: short(6),
        method: short(8),
        crc: long(14),
        packed: u64::from(long(18)),
        size: u64::from(long(22)),
        name: vec![0; name_len],
        wide: false,
    };
    stream.consume(HEADER);
    stream.read_exact(&mut local.name)?;
    let mut extra = vec![0; extra_len];
    stream.read_exact(&mut extra)?;
    widen(&mut local, &extra);
    Ok(Some(local))
}

/// Takes the sizes from the zip64 field, where there is one.
fn widen(local: &mut Local, mut extra: &[u8]) {
    const ZIP64: u16 = 1;
    while let [id0, id1, len0, len1, rest @ ..] = extra {
        let len = usize::from(u16::from_le_bytes([*len0, *len1])).min(rest.len());
        let (field, after) = rest.split_at(len);
        if u16::from_le_bytes([*id0, *id1]) == ZIP64 {
            local.wide = true;
            let mut numbers = field
                .chunks_exact(8)
                .filter_map(|eight| Some(u64::from_le_bytes(eight.try_into().ok()?)));
            for size in [&mut local.size, &mut local.packed] {
                if *size == u64::from(u32::MAX) {
                    *size = numbers.next().unwrap_or(*size);
                }
            }
        }
        extra = after;
    }
}

/// Passes over the sizes behind an entry, with or without their mark.
fn descriptor(stream: &mut Stream<'_>, wide: bool) -> io::Result<()> {
    let sizes = if wide { 16 } else { 8 };
    let marked = stream.peek(4)? == DESCRIPTOR;
    let len = 4 + sizes + if marked { 4 } else { 0 };
    skip(stream, len)
}

fn skip(stream: &mut Stream<'_>, len: u64) -> io::Result<()> {
    let passed = io::copy(&mut Read::take(stream, len), &mut io::sink())?;
    if passed < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

fn drain(from: &mut dyn Read) -> io::Result<()> {
    io::copy(from, &mut io::sink()).map(|_| ())
}

fn broken(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("broken zip data: {why}"),
    )
}
