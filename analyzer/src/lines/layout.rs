//! How a record of the journal is laid out up to its message: the next record of the same program is laid out alike, most
//! often, and then nothing in it has to be looked for.

use std::ops::Range;

use super::quick::{Escapes, Fields, KnownMessage, Parts, blanks, is_plain, length, named};

/// The bytes of a record up to the value of its message.
#[derive(Default)]
pub(super) struct Layout {
    bytes: Vec<u8>,
    /// For each 0xff where it names a field or is a sign, 0 where it belongs to a value.
    signs: Vec<u8>,
    realtime: Option<Range<usize>>,
    unit: Option<Range<usize>>,
    identifier: Option<Range<usize>>,
    boot: Option<Range<usize>>,
    host: Option<Range<usize>>,
}

impl Layout {
    /// That of a record that was read.
    pub(super) fn of(raw: &[u8], fields: &Fields<'_>) -> Self {
        let message = range(raw, fields.message).map_or(0, |at| at.start);
        let before = |field: Option<&[u8]>| {
            let at = range(raw, field?)?;
            (at.end < message).then_some(at)
        };
        Self {
            signs: signs(&raw[..message]),
            bytes: raw[..message].to_owned(),
            realtime: before(fields.realtime),
            unit: before(fields.unit),
            identifier: before(fields.identifier),
            boot: before(fields.boot),
            host: before(fields.host),
        }
    }

    /// Reads a record that is laid out so.
    pub(super) fn read<'a>(
        &self,
        raw: &'a [u8],
        known: &mut KnownMessage<'_>,
    ) -> Option<Fields<'a>> {
        if self.bytes.is_empty() {
            return None;
        }
        let (head, value) = raw.split_at_checked(self.bytes.len())?;
        if !self.is_alike(head) {
            return None;
        }
        let field = |at: &Option<Range<usize>>| head.get(at.clone()?);
        let fields = Fields {
            realtime: field(&self.realtime),
            unit: field(&self.unit),
            identifier: field(&self.identifier),
            boot: field(&self.boot),
            host: field(&self.host),
            ..Fields::default()
        };
        let parts = Parts {
            fields,
            message: None,
        };
        if let Some(length) = known(value) {
            return parts.behind_known(value, length);
        }
        is_plain(value).then(|| parts.behind_head(value))?
    }

    /// Whether names and signs are the same, and values hold no sign.
    fn is_alike(&self, head: &[u8]) -> bool {
        let pairs = head.iter().zip(&self.bytes).zip(&self.signs);
        let differing = pairs.fold(0, |differing, ((here, before), sign)| {
            let is_sign = (*here == b'"') | (*here == b'\\') | (here.wrapping_sub(0x20) >= 0x60);
            differing | ((here ^ before) & sign) | (u8::from(is_sign) & !sign)
        });
        differing == 0
    }
}

/// Where a part of a text stands in it.
fn range(text: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    (start + part.len() <= text.len()).then_some(start..start + part.len())
}

/// Which bytes of a record that was read are no part of a value. Where a value holds an escape, all of it is a sign.
fn signs(head: &[u8]) -> Vec<u8> {
    let mut signs = vec![0xff; head.len()];
    let mut rest = head.get(1..).unwrap_or_default();
    while let Some((_, value)) = named(rest) {
        let Some((length, escapes)) = length(value) else {
            break;
        };
        if escapes == Escapes::None {
            let at = head.len() - value.len();
            signs[at..at + length].fill(0);
        }
        let Some(behind) = blanks(&value[length + 1..]).strip_prefix(b",") else {
            break;
        };
        rest = behind;
    }
    signs
}
