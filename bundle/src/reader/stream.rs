//! The stream: brings the bytes of a file to the tar stage, hopping over members where it can.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use super::input::Bytes;
use super::peeked::Peeked;
use super::piece::BufPool;
use super::pool::{MemberJob, Shared};
use super::tar_stage::TarStage;
use super::walk::Walk;
use crate::member::{HEAD_BYTES, MemberFault, MemberSizes};

/// Bytes inflated at a time where there are no members to hop: small enough for a core's cache.
const STREAM_BLOCK: usize = 256 << 10;
const FILE_BUFFER: usize = 256 << 10;
/// Bytes of a plain archive that are rather passed over than read.
const WORTH_A_SEEK: u64 = STREAM_BLOCK as u64;
/// Bytes looked at behind the end of a plain archive: writers pad with zeros up to this.
const MAX_TAIL: u64 = 1 << 20;

/// Reads a gzip file into the tar stage.
pub(crate) fn read_gzip(file: Box<dyn Bytes>, shared: &Shared, walk: &mut Walk<'_>) {
    let mut tar = TarStage::new();
    let mut hopper = Hopper::new(file);
    match hop(&mut hopper, shared, &mut tar, walk) {
        Hopped::End => tar.finish(None, walk),
        Hopped::Failed(error) => tar.finish(Some(&format!("cannot read on: {error}")), walk),
        Hopped::StreamFrom(offset) => {
            let mut file = hopper.file;
            match file.seek(SeekFrom::Start(offset)) {
                Ok(_) => stream_gzip(file, offset, &mut tar, walk),
                Err(error) => tar.finish(Some(&format!("cannot read on: {error}")), walk),
            }
        }
    }
}

enum Hopped {
    End,
    Failed(io::Error),
    /// At this offset the file is not (or is wrongly) made of members that can be hopped.
    StreamFrom(u64),
}

/// A member on its way through the pool.
struct Flight {
    offset: u64,
    sizes: MemberSizes,
    /// Another member, or the end of the file, follows: the sizes are believable.
    good_neighbour: bool,
    /// It holds nothing that is wanted and was not read.
    skipped: bool,
}

fn hop(hopper: &mut Hopper, shared: &Shared, tar: &mut TarStage, walk: &mut Walk<'_>) -> Hopped {
    let mut flights: std::collections::VecDeque<Flight> = std::collections::VecDeque::new();
    let mut end = None;
    let (mut submitted, mut taken) = (0_u64, 0_u64);
    loop {
        while end.is_none() && !tar.ended() && flights.len() < shared.members_in_flight() {
            let ahead: u64 = flights.iter().map(|f| f.sizes.inflated as u64).sum();
            match hopper.next(tar.skippable(walk).saturating_sub(ahead)) {
                Ok(Hop::Skipped(flight)) => flights.push_back(flight),
                Ok(Hop::Member { flight, bytes }) => {
                    let sizes = flight.sizes;
                    shared.submit(MemberJob {
                        index: submitted,
                        sizes,
                        bytes,
                    });
                    submitted += 1;
                    flights.push_back(flight);
                }
                Ok(Hop::End) => end = Some(Hopped::End),
                Ok(Hop::Other(offset)) => end = Some(Hopped::StreamFrom(offset)),
                Err(error) => end = Some(Hopped::Failed(error)),
            }
        }
        let Some(flight) = flights.pop_front() else {
            if end.is_none() && !hopper.at_end() {
                tar.more_follows();
            }
            return end.unwrap_or(Hopped::End);
        };
        let read = flight.offset + flight.sizes.file as u64;
        if flight.skipped {
            walk.count(flight.sizes.inflated, read);
            tar.skip(flight.sizes.inflated as u64, walk);
            continue;
        }
        let result = shared.wait_for(taken);
        taken += 1;
        match result {
            Ok(buf) => {
                walk.count(buf.bytes().len(), read);
                tar.feed(&Arc::new(buf), walk);
            }
            Err(MemberFault::Damaged(why)) if flight.good_neighbour => {
                tar.gap(flight.sizes.inflated as u64, flight.offset, why, walk);
            }
            Err(_) => return Hopped::StreamFrom(flight.offset),
        }
        if walk.stopped() {
            return Hopped::End;
        }
    }
}

/// Takes a file apart into members by the sizes they say of themselves.
struct Hopper {
    file: BufReader<Box<dyn Bytes>>,
    offset: u64,
}

enum Hop {
    Skipped(Flight),
    Member { flight: Flight, bytes: Vec<u8> },
    Other(u64),
    End,
}

impl Hopper {
    fn new(file: Box<dyn Bytes>) -> Self {
        let file = BufReader::with_capacity(FILE_BUFFER, file);
        Self { file, offset: 0 }
    }

    fn at_end(&mut self) -> bool {
        self.file.fill_buf().is_ok_and(<[u8]>::is_empty)
    }

    /// The next member; its content is passed over when it inflates to no more than `unwanted`.
    fn next(&mut self, unwanted: u64) -> io::Result<Hop> {
        let mut bytes = Vec::new();
        (&mut self.file)
            .take(HEAD_BYTES as u64)
            .read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(Hop::End);
        }
        let Some(sizes) = MemberSizes::parse(&bytes) else {
            return Ok(Hop::Other(self.offset));
        };
        let rest = sizes.file - bytes.len();
        if sizes.inflated as u64 <= unwanted && self.pass_over(rest)? {
            let flight = self.flight(sizes, true);
            return Ok(Hop::Skipped(flight));
        }
        bytes.reserve_exact(rest);
        (&mut self.file).take(rest as u64).read_to_end(&mut bytes)?;
        if bytes.len() < sizes.file {
            return Ok(Hop::Other(self.offset));
        }
        let next = self.file.fill_buf()?;
        let good_neighbour = next.first().is_none_or(|b| *b == 0x1f);
        let flight = Flight {
            good_neighbour,
            ..self.flight(sizes, false)
        };
        Ok(Hop::Member { flight, bytes })
    }

    fn flight(&mut self, sizes: MemberSizes, skipped: bool) -> Flight {
        let offset = self.offset;
        self.offset += sizes.file as u64;
        Flight {
            offset,
            sizes,
            good_neighbour: false,
            skipped,
        }
    }

    /// Moves over the rest of a member; false, and not moved, when no other follows it.
    fn pass_over(&mut self, rest: usize) -> io::Result<bool> {
        let distance = i64::try_from(rest).map_err(io::Error::other)?;
        self.file.seek_relative(distance)?;
        let follows = self.file.fill_buf()?.first() == Some(&0x1f);
        if !follows {
            self.file.seek_relative(-distance)?;
        }
        Ok(follows)
    }
}

fn stream_gzip(
    file: BufReader<Box<dyn Bytes>>,
    offset: u64,
    tar: &mut TarStage,
    walk: &mut Walk<'_>,
) {
    walk.source().set(offset);
    let mut file = BufReader::new(Counted::new(file, walk.source()));
    if tar.ended() {
        let more = file.fill_buf().is_ok_and(|b| !b.iter().all(|b| *b == 0));
        tar.finish(more.then_some("trailing data"), walk);
        return;
    }
    let mut decoder = MultiGzDecoder::new(file);
    let failure = feed_all(&mut decoder, tar, walk);
    let why = failure.map(|error| {
        let at = walk.consumed();
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("the file ends at byte {at}, inside a gzip member")
            }
            _ => format!("broken gzip data near byte {at} of the file"),
        }
    });
    tar.finish(why.as_deref(), walk);
}

/// Where the bytes of an archive come from.
pub(super) trait Source: Read {
    /// Moves over at most so many bytes that nobody wants, where that costs less than reading them; says over how many.
    ///
    /// # Errors
    /// What the system says.
    fn pass_over(&mut self, _bytes: u64) -> io::Result<u64> {
        Ok(0)
    }
}

impl<R: Read> Source for Peeked<R> {}

impl<R: BufRead> Source for MultiGzDecoder<R> {}

/// An archive that lies in a file as it is: what nobody wants of it is never read.
pub(super) struct Plain {
    file: Box<dyn Bytes>,
    at: u64,
    /// Where the file ended when it was opened: no seek goes beyond it, so a file that is cut short shows.
    end: u64,
    count: Rc<Cell<u64>>,
}

impl Plain {
    /// # Errors
    /// What the system says.
    pub(super) fn new(mut file: Box<dyn Bytes>, count: Rc<Cell<u64>>) -> io::Result<Self> {
        let end = file.seek(SeekFrom::End(0)).unwrap_or(0);
        file.seek(SeekFrom::Start(0))?;
        Ok(Self {
            file,
            at: 0,
            end,
            count,
        })
    }

    fn moved(&mut self, bytes: u64) {
        self.at = self.at.saturating_add(bytes);
        self.count.set(self.at);
    }
}

impl Read for Plain {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buf)?;
        self.moved(n as u64);
        Ok(n)
    }
}

impl Source for Plain {
    fn pass_over(&mut self, bytes: u64) -> io::Result<u64> {
        let bytes = bytes.min(self.end.saturating_sub(self.at));
        if bytes < WORTH_A_SEEK {
            return Ok(0);
        }
        let distance = i64::try_from(bytes).map_err(io::Error::other)?;
        self.file.seek(SeekFrom::Current(distance))?;
        self.moved(bytes);
        Ok(bytes)
    }
}

/// Feeds a stream block by block, archives inside it included; gives the error that ended it.
pub(super) fn feed_all(
    from: &mut dyn Source,
    tar: &mut TarStage,
    walk: &mut Walk<'_>,
) -> Option<io::Error> {
    let bufs = BufPool::of_blocks(STREAM_BLOCK);
    let mut tail = 0;
    loop {
        let mut buf = bufs.take();
        let (len, failure) = fill(from, buf.space());
        buf.set_len(len);
        walk.count_inner(len);
        if len > 0 && tar.is_within() && !walk.stopped() {
            walk.lead(&mut buf);
        }
        let buf = Arc::new(buf);
        let mut at = 0;
        while let Some(found) = tar.feed_from(&buf, &mut at, walk) {
            let here = &buf.bytes()[at..];
            let here = &here[..here.len().min(found.within())];
            let behind = found.size - here.len() as u64;
            let mut content = here.chain((&mut *from).take(behind));
            found.read(&mut content, walk);
            // What was not wanted of it stands before the next entry all the same.
            let _ = io::copy(&mut content, &mut io::sink());
            let missing = content.into_inner().1.limit();
            at += here.len();
            tar.passed(found.size - missing, walk);
        }
        if tar.ended() {
            tail += len as u64;
        }
        if failure.is_some() || len == 0 || walk.stopped() || tail > MAX_TAIL {
            return failure;
        }
        match from.pass_over(tar.skippable(walk)) {
            Ok(passed) => {
                walk.count_inner(usize::try_from(passed).unwrap_or(usize::MAX));
                tar.skip(passed, walk);
            }
            Err(error) => return Some(error),
        }
    }
}

/// Fills `space` as far as the stream goes.
pub(super) fn fill(from: &mut dyn Read, space: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut len = 0;
    while len < space.len() {
        match from.read(&mut space[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (len, Some(error)),
        }
    }
    (len, None)
}

/// Counts the bytes that are read of the input.
pub(super) struct Counted<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R> Counted<R> {
    pub(super) fn new(inner: R, count: Rc<Cell<u64>>) -> Self {
        Self { inner, count }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.count.set(self.count.get().saturating_add(n as u64));
        Ok(n)
    }
}
