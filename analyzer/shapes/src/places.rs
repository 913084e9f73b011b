//! Places in texts that begin alike, and the ways that lead from one to the next: the tree of [`crate::radix`].

use crate::shape::{DIGITS, HEX};

/// Ways that lead on from one place over numbers and ids: they are tried one after another.
const MOST_OPEN: usize = 64;

/// A place in texts that begin alike. It is met with all that is needed there most often: one line of a core's cache.
#[repr(align(64))]
pub(crate) struct Node {
    /// What follows here in all of them: the first bytes of it.
    begin: [[u8; 8]; 3],
    /// How many bytes follow.
    pub(crate) length: u32,
    /// Where those behind the first ones are among the bytes of all runs.
    rest: u32,
    /// The shape of the text that ends behind it; [`NONE`] where none does.
    pub(crate) ends: u32,
    /// Where the ways on behind it are; [`NONE`] where there is none or only the next.
    fork: u32,
    /// The number or the id that was known first to follow, and the place behind it; [`NONE`] where none is.
    open: Token,
    pub(crate) over: u32,
}

/// The ways on from a place that has several.
#[repr(align(64))]
struct Fork {
    /// The first bytes that follow.
    firsts: [u8; 8],
    /// The places behind them.
    children: [u32; 8],
    /// How many these are.
    count: u32,
    /// Where more of them are; [`NONE`] where there are no more.
    more: u32,
    /// The first way over a number or an id other than the node's; [`NONE`] where there is none.
    ways: u32,
}

/// A way over a number or an id: its shape, the place behind it, and the next such way.
struct Way {
    open: Token,
    over: u32,
    next: u32,
}

pub(crate) const NONE: u32 = u32::MAX;

/// The shape of a number or an id, and before its bytes how many they are. A longer one leads nowhere.
pub(crate) type Token = [u8; 16];

/// That of most numbers.
pub(crate) const NUMBER: Token = token_of_bytes(&[DIGITS]);

/// That of a number in base 16.
pub(crate) const HEX_NUMBER: Token = token_of_bytes(&[HEX]);

/// All places, each told by its number.
#[derive(Default)]
pub(crate) struct Places {
    nodes: Vec<Node>,
    forks: Vec<Fork>,
    ways: Vec<Way>,
    /// The bytes of all runs that are longer than a node holds.
    runs: Vec<u8>,
}

impl Places {
    pub(crate) fn at(&self, here: u32) -> &Node {
        &self.nodes[here as usize]
    }

    /// Notes the shape of the text that ends at a place.
    pub(crate) fn end(&mut self, here: u32, shape: u32) {
        self.nodes[here as usize].ends = shape;
    }

    /// What follows at a place: its first bytes, and those behind them.
    fn run_of<'n>(&'n self, node: &'n Node) -> (&'n [u8], &'n [u8]) {
        let begin = node.begin.as_flattened();
        let length = node.length as usize;
        let rest = self.runs.get(node.rest as usize..).unwrap_or_default();
        match length.checked_sub(begin.len()) {
            Some(more) => (begin, rest.get(..more).unwrap_or_default()),
            None => (&begin[..length], &[]),
        }
    }

    /// Whether a text goes on as the run of a place does. The first bytes are compared at once, however many they are.
    pub(crate) fn goes_on(&self, node: &Node, text: &[u8]) -> bool {
        const BEGIN: usize = size_of::<[[u8; 8]; 3]>();
        let length = node.length as usize;
        let Some(head) = text.first_chunk::<BEGIN>() else {
            // Where a text ends, of which few bytes are left.
            let begin = node.begin.as_flattened();
            let mut pairs = text.iter().zip(begin).take(length);
            return length <= text.len() && pairs.all(|(here, run)| here == run);
        };
        let (eights, _) = head.as_chunks::<8>();
        let pairs = eights
            .iter()
            .zip(&node.begin)
            .zip(&MASKS[length.min(BEGIN)]);
        let differing = pairs.fold(0, |differing, ((here, run), mask)| {
            differing | ((u64::from_le_bytes(*here) ^ u64::from_le_bytes(*run)) & mask)
        });
        differing == 0 && (length <= BEGIN || text.get(BEGIN..length) == Some(self.run_of(node).1))
    }

    pub(crate) fn bytes(&self) -> usize {
        let nodes = size_of_val(&*self.nodes) + size_of_val(&*self.forks);
        nodes + size_of_val(&*self.ways) + self.runs.len()
    }

    /// The place behind a byte that follows.
    pub(crate) fn child(&self, node: &Node, first: u8) -> Option<u32> {
        let mut at = node.fork;
        loop {
            let fork = self.forks.get(at as usize)?;
            let place = position(&fork.firsts, first);
            if let Some(place) = place.filter(|place| *place < fork.count as usize) {
                return Some(fork.children[place]);
            }
            at = fork.more;
        }
    }

    /// The place behind a number or an id that follows.
    pub(crate) fn way(&self, node: &Node, token: Token) -> Option<u32> {
        if node.open == token {
            return (node.over != NONE).then_some(node.over);
        }
        let found = self.other_ways(node).find(|way| way.open == token);
        found.map(|way| way.over)
    }

    /// The ways over numbers and ids other than the first.
    fn other_ways(&self, node: &Node) -> impl Iterator<Item = &Way> {
        let fork = self.forks.get(node.fork as usize);
        let first = fork.and_then(|fork| self.ways.get(fork.ways as usize));
        std::iter::successors(first, |way| self.ways.get(way.next as usize))
    }

    /// A place behind which nothing is known.
    pub(crate) fn add(&mut self) -> u32 {
        push(&mut self.nodes, Node::blank());
        number(self.nodes.len() - 1)
    }

    /// The ways on from a place, the first of them.
    fn fork(&mut self, here: u32) -> usize {
        let node = &mut self.nodes[here as usize];
        if node.fork == NONE {
            node.fork = number(self.forks.len());
            push(&mut self.forks, Fork::default());
        }
        node.fork as usize
    }

    /// Adds a way on behind a first byte.
    fn lead_on(&mut self, here: u32, first: u8, next: u32) {
        let mut at = self.fork(here);
        while self.forks[at].more != NONE {
            at = self.forks[at].more as usize;
        }
        if self.forks[at].count as usize == self.forks[at].children.len() {
            let more = self.forks.len();
            push(&mut self.forks, Fork::default());
            self.forks[at].more = number(more);
            at = more;
        }
        let fork = &mut self.forks[at];
        let place = fork.count as usize;
        fork.firsts[place] = first;
        fork.children[place] = next;
        fork.count += 1;
    }

    /// The place behind a stretch of a text that goes on here.
    pub(crate) fn along(&mut self, mut here: u32, mut stretch: &[u8]) -> u32 {
        loop {
            let node = &self.nodes[here as usize];
            if node.is_blank() {
                self.set_run(here, stretch);
                return here;
            }
            let (begin, rest) = self.run_of(node);
            let pairs = begin.iter().chain(rest).zip(stretch);
            let same = pairs.take_while(|(a, b)| a == b).count();
            if same < node.length as usize {
                self.split(here, same);
            }
            stretch = &stretch[same..];
            let Some(first) = stretch.first() else {
                return here;
            };
            here = match self.child(&self.nodes[here as usize], *first) {
                Some(next) => next,
                None => {
                    let next = self.add();
                    self.lead_on(here, *first, next);
                    next
                }
            };
        }
    }

    /// The place behind a number or an id; none where too many lead on from here.
    pub(crate) fn over(&mut self, here: u32, token: Token) -> Option<u32> {
        let node = &self.nodes[here as usize];
        let known = self.way(node, token);
        if known.is_some() || self.other_ways(node).count() >= MOST_OPEN {
            return known;
        }
        let next = self.add();
        let node = &mut self.nodes[here as usize];
        if node.over == NONE {
            (node.open, node.over) = (token, next);
            return Some(next);
        }
        let fork = self.fork(here);
        let way = Way {
            open: token,
            over: next,
            next: self.forks[fork].ways,
        };
        self.forks[fork].ways = number(self.ways.len());
        push(&mut self.ways, way);
        Some(next)
    }

    /// Lets what follows behind so many bytes of a run begin a place of its own.
    fn split(&mut self, here: u32, at: usize) {
        let (begin, rest) = self.run_of(self.at(here));
        let run = [begin, rest].concat();
        let (before, behind) = run.split_at(at);
        let old = std::mem::replace(&mut self.nodes[here as usize], Node::blank());
        self.set_run(here, before);
        let next = self.add();
        self.nodes[next as usize] = old;
        self.set_run(next, behind);
        self.lead_on(here, behind[0], next);
    }

    /// Writes down what follows at a place.
    fn set_run(&mut self, here: u32, run: &[u8]) {
        let node = &mut self.nodes[here as usize];
        let begin = node.begin.as_flattened_mut();
        let (held, rest) = run.split_at(run.len().min(begin.len()));
        begin[..held.len()].copy_from_slice(held);
        node.length = number(run.len());
        node.rest = number(self.runs.len());
        self.runs.extend_from_slice(rest);
    }
}

/// Adds one to a list that grows by a quarter: these are large, and a copy of twice the size would be half empty.
fn push<T>(list: &mut Vec<T>, one: T) {
    const FIRST: usize = 64;
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 4).max(FIRST));
    }
    list.push(one);
}

fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The shape of a number or an id as it is looked up.
pub(crate) fn token(shape: &[u8]) -> Option<Token> {
    (shape.len() < size_of::<Token>()).then(|| token_of_bytes(shape))
}

/// The same of so many bytes of a shape, the first one highest.
pub(crate) const fn token_of(shape: u128, bytes: u32) -> Token {
    ((bytes as u128) << (8 * bytes) | shape).to_le_bytes()
}

/// The same of one that is short enough. Put together in a register: what is written byte by byte and read at once makes a
/// processor wait.
const fn token_of_bytes(shape: &[u8]) -> Token {
    let mut token = shape.len() as u128;
    let mut at = 0;
    while at < shape.len() {
        token = token << 8 | shape[at] as u128;
        at += 1;
    }
    token.to_le_bytes()
}

/// Where among eight bytes this one stands first.
fn position(eight: &[u8; 8], byte: u8) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let differing = u64::from_le_bytes(*eight) ^ (u64::from(byte) * ONES);
    // The lowest bit is that of the first byte that is zero; those above it may be of others.
    let same = differing.wrapping_sub(ONES) & !differing & (ONES << 7);
    (same != 0).then_some((same.trailing_zeros() / 8) as usize)
}

impl Default for Fork {
    fn default() -> Self {
        Self {
            firsts: [0; 8],
            children: [NONE; 8],
            count: 0,
            more: NONE,
            ways: NONE,
        }
    }
}

impl Node {
    /// A place behind which nothing is known.
    fn blank() -> Self {
        Self {
            begin: [[0; 8]; 3],
            length: 0,
            rest: 0,
            ends: NONE,
            fork: NONE,
            open: Token::default(),
            over: NONE,
        }
    }

    /// Whether nothing is known of what follows here.
    fn is_blank(&self) -> bool {
        self.length == 0 && self.ends == NONE && self.fork == NONE && self.over == NONE
    }
}

/// For each number of bytes those of three times eight that are among the first so many.
static MASKS: [[u64; 3]; 25] = masks();

const fn masks() -> [[u64; 3]; 25] {
    let mut masks = [[0; 3]; 25];
    let mut length = 0;
    while length < masks.len() {
        let mut byte = 0;
        while byte < length {
            masks[length][byte / 8] |= 0xff << (byte % 8 * 8);
            byte += 1;
        }
        length += 1;
    }
    masks
}
