//! 7z archives. Their list stands at the end, so one that comes through a stream is held in memory first, within a bound; a file is
//! read where it lies. Format: 7-Zip's `7zFormat.txt`.

use std::io::{Cursor, Read, Seek};

use sevenz_rust2::{Archive, ArchiveEntry, BlockDecoder, Error, Password};

use super::formats::Stream;
use super::problem::ReadProblem;
use super::unpack::{self, Inside};
use super::walk::{Walk, printable};

/// Memory that a decoder may ask for, in KiB: `7z -mx=9` asks for 64 MiB.
const MEMORY: usize = 192 << 10;
/// Largest archive inside another one, or of a pipe, that is held, in bytes.
const HELD: u64 = 128 << 20;

/// Reads an archive that comes as a stream; `name` is what it is called.
pub(super) fn held(stream: &mut Stream<'_>, name: &str, depth: u8, walk: &mut Walk<'_>) {
    let mut bytes = Vec::new();
    let read = Read::take(&mut *stream, HELD + 1).read_to_end(&mut bytes);
    if let Err(error) = read {
        return walk.unreadable(name, &unpack::why(&error));
    }
    if bytes.len() as u64 > HELD {
        let why = "a 7z archive of more than 128 MiB inside another archive is not opened: take it out and name the file";
        return walk.unreadable(name, why);
    }
    walk.count_inner(bytes.len());
    file(&mut Cursor::new(bytes), name, depth, walk);
}

/// Reads an archive that can be read from any place.
pub(super) fn file<R: Read + Seek>(from: &mut R, name: &str, depth: u8, walk: &mut Walk<'_>) {
    let archive = match Archive::read_with_memory_limit(from, &Password::default(), MEMORY) {
        Ok(archive) => archive,
        Err(error) => return failed(name, &error, walk),
    };
    let secret: Vec<bool> = (0..archive.files.len())
        .map(|at| archive.is_file_encrypted(at))
        .collect();
    for (entry, _) in archive.files.iter().zip(&secret).filter(|(_, is)| **is) {
        let path = printable(entry.name().as_bytes());
        walk.problem(ReadProblem::Encrypted { path });
    }
    let owners = &archive.stream_map.file_block_index;
    for block in 0..archive.blocks.len() {
        let locked = owners
            .iter()
            .zip(&secret)
            .any(|(owner, secret)| *owner == Some(block) && *secret);
        if walk.stopped() {
            return;
        }
        if locked {
            continue;
        }
        let password = Password::default();
        let decoder =
            BlockDecoder::new_with_memory_limit(1, MEMORY, block, &archive, &password, from);
        let mut each = |entry: &ArchiveEntry, content: &mut dyn Read| {
            one(entry, content, depth, walk);
            Ok(!walk.stopped())
        };
        // The other blocks do not depend on this one.
        if let Err(error) = decoder.for_each_entries(&mut each) {
            failed(name, &error, walk);
        }
    }
    for (entry, owner) in archive.files.iter().zip(owners) {
        if owner.is_none() {
            one(entry, &mut [0_u8; 0].as_slice(), depth, walk);
        }
    }
}

/// Reads one entry to its end; what nobody wants of it counts against the budget all the same.
fn one(entry: &ArchiveEntry, content: &mut dyn Read, depth: u8, walk: &mut Walk<'_>) {
    if walk.stopped() || !walk.count_entry() {
        return;
    }
    let name = entry.name().replace('\\', "/");
    let path = walk.name(name.as_bytes(), entry.is_directory());
    if entry.is_directory() {
        return;
    }
    if let Some(path) = path {
        let inside = Inside::entry(path, Some(entry.size()), depth);
        unpack::read(content, inside, walk);
    }
    let mut space = vec![0_u8; 64 << 10];
    while !walk.stopped() {
        match content.read(&mut space) {
            // A fault of the data is told by the decoder, which reads on.
            Ok(0) | Err(_) => return,
            Ok(len) => walk.count_inner(len),
        }
    }
}

fn failed(name: &str, error: &Error, walk: &mut Walk<'_>) {
    let why = match error {
        Error::PasswordRequired | Error::MaybeBadPassword(_) => {
            let path = name.to_owned();
            return walk.problem(ReadProblem::Encrypted { path });
        }
        Error::UnsupportedCompressionMethod(method) if method.contains("AES") => {
            let path = name.to_owned();
            return walk.problem(ReadProblem::Encrypted { path });
        }
        Error::UnsupportedCompressionMethod(method) => {
            format!("packed by the 7z method {method}, which is not read")
        }
        Error::MaxMemLimited { .. } => format!(
            "its 7z dictionary needs more than {} MiB: unpack it into a folder and name that",
            MEMORY >> 10
        ),
        Error::ChecksumVerificationFailed | Error::NextHeaderCrcMismatch => {
            "broken 7z data: a checksum does not fit".to_owned()
        }
        Error::Io(error, _) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            "the file ends inside its 7z data".to_owned()
        }
        _ => "broken 7z data, or only a part of a 7z archive: its list, which stands at the end, cannot be read".to_owned(),
    };
    walk.unreadable(name, &why);
}
