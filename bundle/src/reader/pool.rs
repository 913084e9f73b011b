//! The pool: threads that inflate members and hand pieces to the sink.
//!
//! Pieces go before members, so that what waits in memory stays bounded: the reading thread puts in
//! only so many members, and waits while too many pieces are queued.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::piece::{Buf, BufPool, EntryInfo, OwnedPiece, PieceSink};
use super::problem::ReadProblem;
use crate::member::{MEMBER_BYTES_READ, MemberFault, MemberSizes, Unpacker};

/// A member read from the file, to be inflated.
pub(crate) struct MemberJob {
    pub(crate) index: u64,
    pub(crate) sizes: MemberSizes,
    pub(crate) bytes: Vec<u8>,
}

/// What inflating gave.
pub(crate) type Inflated = Result<Buf, MemberFault>;

/// What one sink call kept, and of which piece.
pub(crate) type Kept<T> = (Arc<EntryInfo>, u32, T);

#[derive(Default)]
struct Queues {
    pieces: VecDeque<OwnedPiece>,
    /// Bytes of the pieces.
    bytes: usize,
    members: VecDeque<MemberJob>,
    inflated: BTreeMap<u64, Inflated>,
    closed: bool,
    workers: usize,
    /// Workers that sleep and were not woken.
    asleep: usize,
}

/// For a piece with fewer bytes nobody is woken: most often others follow at once.
const SMALL: usize = 16 << 10;
/// So many bytes wait before a further worker is woken for them: a worker that is woken for little puts the reading thread off
/// its core, and another core idles.
const MUCH: usize = 1 << 20;
/// So many pieces count as much, whatever they hold.
const MANY: usize = 8;

impl Queues {
    /// Whether a worker is to be woken for a piece of so many bytes that was put in line; it counts as awake from then on.
    fn wakes_for(&mut self, bytes: usize) -> bool {
        let is_first = self.asleep >= self.workers && bytes >= SMALL;
        let wakes = self.asleep > 0 && (is_first || self.is_much(1));
        self.asleep -= usize::from(wakes);
        wakes
    }

    /// Whether so many times as much waits as a worker is woken for.
    fn is_much(&self, times: usize) -> bool {
        self.bytes >= MUCH * times || self.pieces.len() >= MANY * times
    }

    /// Whether a worker is to be woken for anything else.
    fn wakes(&mut self) -> bool {
        let wakes = self.asleep > 0;
        self.asleep -= usize::from(wakes);
        wakes
    }
}

/// What the reading thread and the workers share.
pub(crate) struct Shared {
    queues: Mutex<Queues>,
    work: Condvar,
    room: Condvar,
    ready: Condvar,
    bufs: BufPool,
    threads: usize,
}

enum Job {
    Piece(OwnedPiece),
    Member(MemberJob),
}

impl Shared {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            queues: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            ready: Condvar::new(),
            bufs: BufPool::new(MEMBER_BYTES_READ),
            threads,
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Members that may be on their way at the same time.
    pub(crate) fn members_in_flight(&self) -> usize {
        (self.threads * 2).clamp(4, 32)
    }

    /// Puts a member in line. Its result is asked for with its index.
    pub(crate) fn submit(&self, job: MemberJob) {
        let mut queues = self.lock();
        queues.members.push_back(job);
        queues.wakes();
        drop(queues);
        self.work.notify_one();
    }

    /// Waits for the result of the member `index`, which was submitted.
    pub(crate) fn wait_for(&self, index: u64) -> Inflated {
        let mut queues = self.lock();
        loop {
            if let Some(result) = queues.inflated.remove(&index) {
                return result;
            }
            queues = self
                .ready
                .wait(queues)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Puts a piece in line, waiting while too many are.
    pub(crate) fn push(&self, piece: OwnedPiece) {
        let bytes = piece.bytes().len();
        let mut queues = self.lock();
        while queues.is_much(self.threads) {
            // All of them may be too small to have woken anybody.
            if queues.wakes() {
                self.work.notify_one();
            }
            queues = self
                .room
                .wait(queues)
                .unwrap_or_else(PoisonError::into_inner);
        }
        queues.pieces.push_back(piece);
        queues.bytes += bytes;
        let wakes = queues.wakes_for(bytes);
        drop(queues);
        if wakes {
            self.work.notify_one();
        }
    }

    /// Says that nothing more will be put in line; queued pieces are still worked off.
    pub(crate) fn close(&self) {
        let mut queues = self.lock();
        queues.closed = true;
        queues.asleep = 0;
        queues.members.clear();
        drop(queues);
        self.work.notify_all();
    }

    fn next(&self) -> Option<Job> {
        let mut queues = self.lock();
        loop {
            if let Some(piece) = queues.pieces.pop_front() {
                // The reading thread goes on once there is room for several.
                queues.bytes -= piece.bytes().len();
                let has_room = !queues.is_much(self.threads.div_ceil(2));
                drop(queues);
                if has_room {
                    self.room.notify_one();
                }
                return Some(Job::Piece(piece));
            }
            if let Some(member) = queues.members.pop_front() {
                return Some(Job::Member(member));
            }
            if queues.closed {
                return None;
            }
            queues.asleep += 1;
            queues = self
                .work
                .wait(queues)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn inflate(&self, unpacker: &mut Unpacker, job: &MemberJob) -> Inflated {
        let mut buf = self.bufs.take();
        unpacker.unpack(&job.bytes, job.sizes, buf.space())?;
        buf.set_len(job.sizes.inflated);
        Ok(buf)
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the pool when the reading thread leaves, however it leaves.
pub(crate) struct CloseOnDrop<'a>(pub(crate) &'a Shared);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What one worker brings home.
pub(crate) struct Harvest<T> {
    pub(crate) kept: Vec<Kept<T>>,
    pub(crate) problems: Vec<ReadProblem>,
}

/// Works until the pool is closed and empty.
pub(crate) fn work<S: PieceSink>(shared: &Shared, sink: &S) -> Harvest<S::Out> {
    shared.lock().workers += 1;
    let mut unpacker = Unpacker::new();
    let mut harvest = Harvest {
        kept: Vec::new(),
        problems: Vec::new(),
    };
    while let Some(job) = shared.next() {
        match job {
            Job::Member(job) => {
                let result = catch_unwind(AssertUnwindSafe(|| shared.inflate(&mut unpacker, &job)))
                    .unwrap_or(Err(MemberFault::Damaged("the decoder failed")));
                shared.lock().inflated.insert(job.index, result);
                shared.ready.notify_one();
            }
            Job::Piece(piece) => run_sink(sink, &piece, &mut harvest),
        }
    }
    harvest
}

fn run_sink<S: PieceSink>(sink: &S, piece: &OwnedPiece, harvest: &mut Harvest<S::Out>) {
    match catch_unwind(AssertUnwindSafe(|| sink.piece(&piece.view()))) {
        Ok(Some(out)) => harvest
            .kept
            .push((Arc::clone(&piece.entry), piece.seq, out)),
        Ok(None) => {}
        Err(payload) => harvest.problems.push(ReadProblem::SinkPanicked {
            path: piece.entry.path.to_string(),
            seq: piece.seq,
            message: panic_message(payload.as_ref()),
        }),
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").chars().take(200).collect()
}
