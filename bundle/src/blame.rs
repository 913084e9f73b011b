//! Blame: where in a file that is not the one that was sealed a byte was changed, as far as that can be told.

use std::io::{BufReader, Read, SeekFrom};

use crate::member::{HEAD_BYTES, MemberSizes, Packer, Unpacker};
use crate::reader::Bytes;

/// Packs each member of the file's first `length` bytes again. Where a single one comes out otherwise, that is the one
/// (another version of the compressor would make all of them otherwise); it is named by its place and by the name
/// of the first entry in it.
pub(crate) fn changed_member(file: &mut dyn Bytes, length: u64) -> Option<String> {
    file.seek(SeekFrom::Start(0)).ok()?;
    let mut file = BufReader::new(file).take(length);
    let (mut packer, mut unpacker) = (Packer::new(), Unpacker::new());
    let (mut member, mut again) = (Vec::new(), Vec::new());
    let mut offset = 0;
    let mut changed = None;
    loop {
        member.clear();
        (&mut file)
            .take(HEAD_BYTES as u64)
            .read_to_end(&mut member)
            .ok()?;
        if member.is_empty() {
            break;
        }
        let Some(sizes) = MemberSizes::parse(&member) else {
            // From here on the members cannot be told apart.
            return changed.is_none().then(|| place(offset, &[]));
        };
        let rest = sizes.file - HEAD_BYTES;
        (&mut file)
            .take(rest as u64)
            .read_to_end(&mut member)
            .ok()?;
        let mut content = vec![0; sizes.inflated];
        let whole = unpacker.unpack(&member, sizes, &mut content).is_ok();
        again.clear();
        packer.pack(&content, &mut again).ok()?;
        if !whole || again != member {
            if changed.is_some() {
                return None;
            }
            changed = Some(place(offset, &content));
        }
        offset += sizes.file as u64;
    }
    changed
}

/// The member in words.
fn place(offset: u64, content: &[u8]) -> String {
    let name = content.get(..100).and_then(|head| {
        let end = memchr::memchr(0, head).unwrap_or(head.len());
        let path = std::str::from_utf8(&head[..end]).ok()?.split_once('/')?.1;
        let header = content.get(257..262) == Some(b"ustar");
        header.then(|| format!(", which begins with {path}"))
    });
    format!(
        "; changed is the gzip member at byte {offset}{}",
        name.unwrap_or_default()
    )
}
