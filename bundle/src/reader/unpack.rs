//! Unpacking: what stands inside a stream, told by its first bytes: an archive, something compressed, or content.
//!
//! Archives may lie inside archives. Nothing is unpacked to disk, and all that is inflated at any depth counts against the one
//! budget of the [`Walk`].

use std::io::{self, BufRead, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::decoded::{self, Keeping};
use super::formats::{self, Stream};
use super::peeked::Peeked;
use super::piece::BufPool;
use super::problem::{OpenError, ReadProblem};
use super::sniff::{self, Magic, SNIFF_BYTES};
use super::stream::{Plain, Source, feed_all, fill};
use super::tar_stage::TarStage;
use super::utf16::{self, Utf16};
use super::walk::Walk;
use crate::path::BundlePath;

/// Archives and compressions around one another that are opened.
pub(super) const MAX_DEPTH: u8 = 8;
/// Bytes passed on at a time.
const BLOCK: usize = 256 << 10;

/// What is to be read, and where it lies.
pub(crate) struct Inside {
    /// The entry; none for the input itself.
    path: Option<BundlePath>,
    size: Option<u64>,
    depth: u8,
}

impl Inside {
    /// An entry of a folder or archive.
    pub(crate) fn entry(path: BundlePath, size: Option<u64>, depth: u8) -> Self {
        let path = Some(path);
        Self { path, size, depth }
    }

    /// The input itself.
    pub(crate) fn input() -> Self {
        Self {
            path: None,
            size: None,
            depth: 0,
        }
    }

    /// The file on the disk that it is; none of what lies in an archive, or may not be kept anywhere else.
    fn file(&self, walk: &Walk<'_>) -> Option<PathBuf> {
        let is_file = self.depth == 0 && walk.may_keep();
        let path = || match &self.path {
            Some(path) => walk.input.join(path.as_str()),
            None => walk.input.clone(),
        };
        is_file.then(path)
    }

    /// What is known of it when one layer is taken off.
    fn below(self) -> Self {
        Self {
            size: None,
            depth: self.depth + 1,
            ..self
        }
    }
}

/// Reads a stream to the end of what it holds.
pub(crate) fn read(from: &mut dyn Read, inside: Inside, walk: &mut Walk<'_>) {
    let mut stream: Stream<'_> = Peeked::new(from);
    let magic = match stream.peek(SNIFF_BYTES) {
        Ok(head) => container(head, inside.path.as_ref().map_or("", BundlePath::as_str)),
        Err(error) => return failed(&inside, &error, walk),
    };
    if magic == Magic::Other {
        return content(stream, inside, walk);
    }
    if inside.depth >= MAX_DEPTH || !walk.nests() {
        if let Some(path) = &inside.path
            && walk.nests()
        {
            let path = path.to_string();
            walk.problem(ReadProblem::TooDeep { path });
            return;
        }
        return content(stream, inside, walk);
    }
    match magic {
        Magic::Tar => tar(&mut stream, inside, walk),
        Magic::Zip => zip(stream, inside, walk),
        Magic::Seven => seven(stream, inside, walk),
        _ => packed((stream, magic), inside, walk),
    }
}

/// Reads what is compressed. What takes long to decode and will be read again is decoded once.
fn packed((mut stream, magic): (Stream<'_>, Magic), inside: Inside, walk: &mut Walk<'_>) {
    let file = inside.file(walk).filter(|_| decoded::is_slow(magic));
    if let Some(mut known) = file
        .as_ref()
        .and_then(|file| decoded::known(&walk.input, file))
    {
        // The compressed bytes count all the same.
        if let Err(error) = io::copy(&mut stream, &mut io::sink()) {
            return failed(&inside, &error, walk);
        }
        return read(&mut known, inside.below(), walk);
    }
    let Some(mut decoder) = formats::decoder(magic, stream) else {
        return;
    };
    match file.filter(|_| walk.reads_again()) {
        Some(file) => {
            let mut keeping = Keeping::new(decoder, &walk.input, &file);
            read(&mut keeping, inside.below(), walk);
        }
        None => read(&mut *decoder, inside.below(), walk),
    }
}

/// Whether what begins like this is read as something else than its bytes.
pub(super) fn is_opened(head: &[u8], path: &str) -> bool {
    container(head, path) != Magic::Other || utf16::told(head).is_some()
}

/// What a stream is that is opened; [`Magic::Other`] for what is content, programs' own archives included.
fn container(head: &[u8], path: &str) -> Magic {
    const CONTENT: [&str; 8] = ["jar", "war", "whl", "apk", "docx", "xlsx", "odt", "egg"];
    let ending = path.rsplit('.').next().unwrap_or("");
    if CONTENT.iter().any(|one| ending.eq_ignore_ascii_case(one)) {
        return Magic::Other;
    }
    sniff::magic(head)
}

/// What ended a stream too early, in words.
pub(super) fn why(error: &io::Error) -> String {
    if error.get_ref().is_some() {
        return error.to_string();
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the file ends too early".to_owned(),
        _ => format!("cannot be read on: {error}"),
    }
}

fn failed(inside: &Inside, error: &io::Error, walk: &mut Walk<'_>) {
    let why = why(error);
    match &inside.path {
        Some(path) => walk.unreadable(path.as_str(), &why),
        None => {
            let at = walk.consumed();
            walk.cut(0, &format!("{why} (byte {at} of the file)"));
        }
    }
}

/// Reads an input that is a tar archive as it is.
pub(super) fn plain_tar(mut file: Plain, walk: &mut Walk<'_>) {
    tar(&mut file, Inside::input(), walk);
}

fn tar(stream: &mut dyn Source, inside: Inside, walk: &mut Walk<'_>) {
    let mut stage = TarStage::nesting(inside.depth + 1);
    walk.enter(inside.path.as_ref());
    let failure = feed_all(stream, &mut stage, walk);
    let why = failure.map(|error| match inside.path {
        Some(_) => why(&error),
        None => format!("{}, at byte {} of the file", why(&error), walk.consumed()),
    });
    stage.finish(why.as_deref(), walk);
    walk.leave();
}

fn zip(mut stream: Stream<'_>, inside: Inside, walk: &mut Walk<'_>) {
    walk.enter(inside.path.as_ref());
    let name = inside.path.as_ref().map_or("archive", BundlePath::as_str);
    super::zip::read(&mut stream, name, inside.depth + 1, walk);
    walk.leave();
}

fn seven(mut stream: Stream<'_>, inside: Inside, walk: &mut Walk<'_>) {
    walk.enter(inside.path.as_ref());
    let name = inside.path.as_ref().map_or("archive", BundlePath::as_str);
    super::seven::held(&mut stream, name, inside.depth + 1, walk);
    walk.leave();
}

/// Hands over a stream that is content. Of a whole input only text is.
fn content(mut stream: Stream<'_>, inside: Inside, walk: &mut Walk<'_>) {
    let head = match stream.peek(SNIFF_BYTES) {
        Ok(head) => head.to_vec(),
        Err(error) => return failed(&inside, &error, walk),
    };
    let wide = utf16::told(&head);
    let path = match &inside.path {
        Some(path) => path.clone(),
        None if inside.is_text(&head, wide.is_some(), walk) => own_name(walk),
        None => {
            let path = walk.input.clone();
            let looks_like = sniff::looks_like(&head);
            return walk.refuse(OpenError::NotABundle { path, looks_like });
        }
    };
    let size = inside.size.filter(|_| wide.is_none());
    if !walk.begin(path.clone(), size) {
        return;
    }
    let failure = match wide {
        Some((order, mark)) => {
            stream.consume(mark);
            hand_over(&mut Utf16::new(stream, order), walk)
        }
        None => hand_over(&mut stream, walk),
    };
    walk.end(failure.is_none() && !walk.stopped());
    if let Some(error) = failure {
        walk.unreadable(path.as_str(), &why(&error));
    }
}

fn hand_over(from: &mut dyn Read, walk: &mut Walk<'_>) -> Option<io::Error> {
    let bufs = BufPool::of_blocks(BLOCK);
    while !walk.stopped() && !walk.unwanted() {
        let mut buf = bufs.take();
        let (len, failure) = fill(from, buf.space());
        buf.set_len(len);
        walk.count_inner(len);
        if len > 0 {
            walk.lead(&mut buf);
        }
        walk.content(&Arc::new(buf), 0..len);
        if failure.is_some() {
            return failure;
        }
        if len == 0 {
            break;
        }
    }
    None
}

/// The path of an input that is one text: its name.
fn own_name(walk: &Walk<'_>) -> BundlePath {
    let name = walk.input.file_name().map(|name| name.to_string_lossy());
    BundlePath::from_parts([name.as_deref().unwrap_or("input")])
}

/// Whether bytes may be text in UTF-8 or an older 8-bit encoding.
fn is_mostly_text(head: &[u8]) -> bool {
    let plain =
        |byte: &&u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace() || **byte == 0x1b;
    sniff::text(head).is_some()
        || (!head.contains(&0) && head.iter().filter(plain).count() * 10 >= head.len() * 9)
}

impl Inside {
    /// Whether an input is one text. What is named like an archive was meant to be one.
    fn is_text(&self, head: &[u8], wide: bool, walk: &Walk<'_>) -> bool {
        const ARCHIVES: [&str; 7] = ["tar", "tgz", "txz", "tbz2", "zip", "7z", "age"];
        const PACKED: [&str; 5] = ["gz", "xz", "bz2", "zst", "lz4"];
        let name = walk
            .input
            .file_name()
            .map(|name| name.to_string_lossy().to_lowercase());
        let name = name.unwrap_or_default();
        let mut endings = name.rsplit('.');
        let packed = PACKED.contains(&endings.clone().next().unwrap_or(""));
        let meant = |ending: &str| ARCHIVES.contains(&ending);
        let archive =
            endings.next().is_some_and(meant) || (packed && endings.next().is_some_and(meant));
        let text = wide || is_mostly_text(head);
        let locked =
            head.starts_with(b"-----BEGIN AGE") || head.starts_with(b"age-encryption.org/");
        !head.is_empty() && text && !locked && !archive && (self.depth > 0 || !packed)
    }
}
