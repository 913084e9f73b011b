//! The text of all objects, compressed in chunks: what a large cluster holds must fit into little memory, and one object
//! must be had without unpacking the others.

use std::collections::VecDeque;

use bytes::Bytes;

/// A chunk is closed when it holds this much.
const CHUNK: usize = 128 << 10;
/// Chunks that a reader keeps unpacked.
const KEPT: usize = 4;

/// Where the text of an object is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    chunk: u32,
    start: u32,
    end: u32,
}

/// All chunks.
#[derive(Debug, Default)]
pub(crate) struct Chunks(Vec<Box<[u8]>>);

impl Chunks {
    /// Bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.0.iter().map(|chunk| chunk.len()).sum()
    }
}

/// Texts that go into the same chunks.
#[derive(Debug, Default)]
pub(crate) struct Filling {
    open: Vec<u8>,
    /// Texts of the chunk that is open.
    spots: Vec<(usize, u32, u32)>,
}

impl Filling {
    /// Adds a text; `index` names it when the chunk is closed.
    pub(crate) fn add(&mut self, index: usize, text: &[u8]) {
        let start = self.open.len();
        self.open.extend_from_slice(text);
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.spots
            .push((index, place(start), place(self.open.len())));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.open.len() >= CHUNK
    }

    /// Closes the chunk and says where each text is.
    pub(crate) fn close(&mut self, chunks: &mut Chunks) -> impl Iterator<Item = (usize, Spot)> {
        let chunk = u32::try_from(chunks.0.len()).unwrap_or(u32::MAX);
        if !self.open.is_empty() {
            let packed = lz4_flex::block::compress_prepend_size(&self.open);
            chunks.0.push(packed.into_boxed_slice());
            self.open.clear();
        }
        let spots = std::mem::take(&mut self.spots).into_iter();
        spots.map(move |(index, start, end)| (index, Spot { chunk, start, end }))
    }
}

/// Reads texts, those of one chunk without unpacking it anew.
#[derive(Default)]
pub(crate) struct Reader {
    unpacked: VecDeque<(u32, Bytes)>,
}

impl Reader {
    /// A text; empty where there is none, which only a bug could cause.
    pub(crate) fn read(&mut self, chunks: &Chunks, spot: Spot) -> Bytes {
        let known = self.unpacked.iter().find(|(chunk, _)| *chunk == spot.chunk);
        let chunk = match known {
            Some((_, bytes)) => bytes.clone(),
            None => self.unpack(chunks, spot.chunk),
        };
        let (start, end) = (spot.start as usize, spot.end as usize);
        if end > chunk.len() || start > end {
            return Bytes::new();
        }
        chunk.slice(start..end)
    }

    fn unpack(&mut self, chunks: &Chunks, chunk: u32) -> Bytes {
        let packed = chunks.0.get(chunk as usize);
        let bytes = packed.and_then(|one| lz4_flex::block::decompress_size_prepended(one).ok());
        let bytes = Bytes::from(bytes.unwrap_or_default());
        if self.unpacked.len() == KEPT {
            self.unpacked.pop_front();
        }
        self.unpacked.push_back((chunk, bytes.clone()));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_whichever_chunk_holds_them() {
        let (mut chunks, mut filling) = (Chunks::default(), Filling::default());
        let texts: Vec<String> = (0..4000)
            .map(|n| format!("{{\"n\":{n},\"pad\":\"{:>90}\"}}", n))
            .collect();
        let mut spots = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            filling.add(index, text.as_bytes());
            if filling.is_full() {
                spots.extend(filling.close(&mut chunks));
            }
        }
        spots.extend(filling.close(&mut chunks));
        assert!(chunks.0.len() > 2, "several chunks");
        let mut reader = Reader::default();
        for (index, spot) in spots.into_iter().rev() {
            assert_eq!(reader.read(&chunks, spot), texts[index].as_bytes());
        }
    }
}
