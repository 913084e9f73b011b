//! Records of the journal as journalctl prints them: texts only, with escapes that stand for one letter, or as other
//! programs write them again, with blanks behind the signs. They are read where they stand; whatever is written in another
//! way is left to the parser of JSON.

use super::layout::Layout;

/// What a diagnosis reads of a record; a text is as it stands in the record, and all of it is ASCII.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Fields<'a> {
    /// The message, in which characters may be escaped.
    pub(super) message: &'a [u8],
    /// Which are.
    pub(super) escapes: Escapes,
    pub(super) realtime: Option<&'a [u8]>,
    pub(super) unit: Option<&'a [u8]>,
    pub(super) identifier: Option<&'a [u8]>,
    pub(super) boot: Option<&'a [u8]>,
    pub(super) host: Option<&'a [u8]>,
}

/// What is escaped in a text of JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Escapes {
    /// Nothing.
    #[default]
    None,
    /// Letters that are written as they are, or by one letter.
    Letters,
    /// Characters that are written as a number, or what is no escape.
    Others,
}

/// Tells how long the message is that a text begins with, if its like was met before: all of it is printable ASCII, and its
/// escapes are letters.
pub(super) type KnownMessage<'k> = dyn FnMut(&[u8]) -> Option<usize> + 'k;

/// Reads records one after another.
#[derive(Default)]
pub(super) struct Reader {
    before: Layout,
}

impl Reader {
    /// Reads a record; none where it is none, or one of another kind.
    pub(super) fn read<'a>(
        &mut self,
        raw: &'a [u8],
        known: &mut KnownMessage<'_>,
    ) -> Option<Fields<'a>> {
        if let Some(fields) = self.before.read(raw, known) {
            return Some(fields);
        }
        let fields = read(raw)?;
        self.before = Layout::of(raw, &fields);
        Some(fields)
    }
}

/// Reads a record; none where it is none, or one of another kind.
pub(super) fn read(raw: &[u8]) -> Option<Fields<'_>> {
    if raw.first() != Some(&b'{') || !is_plain(raw) {
        return None;
    }
    Parts::default().read(&raw[1..])
}

/// The fields of a record so far.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) fields: Fields<'a>,
    pub(super) message: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// Reads the other fields, of which the first begins here.
    fn read(mut self, mut rest: &'a [u8]) -> Option<Fields<'a>> {
        loop {
            let (name, value) = named(rest)?;
            match blanks(self.take(name, value)?) {
                b"}" => break,
                [b',', behind @ ..] => rest = behind,
                _ => return None,
            }
        }
        self.fields.message = self.message?;
        Some(self.fields)
    }

    /// Takes a field with its value and what stands behind that; gives what does.
    pub(super) fn take(&mut self, name: &[u8], value: &'a [u8]) -> Option<&'a [u8]> {
        let (length, escapes) = length(value)?;
        let (value, behind) = (&value[..length], &value[length + 1..]);
        let fields = &mut self.fields;
        let known = match name {
            b"MESSAGE" => {
                fields.escapes = escapes;
                &mut self.message
            }
            b"__REALTIME_TIMESTAMP" => &mut fields.realtime,
            b"_SYSTEMD_UNIT" => &mut fields.unit,
            b"SYSLOG_IDENTIFIER" => &mut fields.identifier,
            b"_BOOT_ID" => &mut fields.boot,
            b"_HOSTNAME" => &mut fields.host,
            _ => {
                // Nobody reads it, but a record with an escape that is none is no record.
                let is_valid = escapes != Escapes::Others && memchr::memchr(b'\\', name).is_none();
                return is_valid.then_some(behind);
            }
        };
        let is_new = known.replace(value).is_none();
        (is_new && (escapes == Escapes::None || name == b"MESSAGE")).then_some(behind)
    }

    /// Goes on behind the value of the message, which begins here.
    pub(super) fn behind_head(mut self, value: &'a [u8]) -> Option<Fields<'a>> {
        let behind = self.take(b"MESSAGE", value)?;
        self.finish(behind)
    }

    /// The same for a message whose length is known.
    pub(super) fn behind_known(mut self, value: &'a [u8], length: usize) -> Option<Fields<'a>> {
        let (message, behind) = value.split_at_checked(length)?;
        let behind = behind.strip_prefix(b"\"")?;
        if behind != b"}" && !is_plain(behind) {
            return None;
        }
        self.message = Some(message);
        if memchr::memchr(b'\\', message).is_some() {
            self.fields.escapes = Escapes::Letters;
        }
        self.finish(behind)
    }

    /// Reads what follows behind the message.
    fn finish(mut self, behind: &'a [u8]) -> Option<Fields<'a>> {
        match blanks(behind) {
            b"}" => {
                self.fields.message = self.message?;
                Some(self.fields)
            }
            [b',', behind @ ..] => self.read(behind),
            _ => None,
        }
    }
}

/// The name of a field that begins here, and what begins with its value, which is a text.
pub(super) fn named(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let name = blanks(rest).strip_prefix(b"\"")?;
    let end = memchr::memchr(b'"', name)?;
    let value = blanks(&name[end + 1..]).strip_prefix(b":")?;
    Some((&name[..end], blanks(value).strip_prefix(b"\"")?))
}

/// What stands here without the blanks before it.
pub(super) fn blanks(mut rest: &[u8]) -> &[u8] {
    while let [b' ', behind @ ..] = rest {
        rest = behind;
    }
    rest
}

/// Whether all bytes are printable ASCII.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.wrapping_sub(0x20) < 0x60;
    let mut blocks = bytes.chunks(64);
    blocks.all(|block| block.iter().fold(true, |all, byte| all & is_plain(byte)))
}

/// Where a text of JSON ends, and what in it is escaped.
pub(super) fn length(text: &[u8]) -> Option<(usize, Escapes)> {
    let mut at = 0;
    let mut escapes = Escapes::None;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some((at, escapes));
        }
        escapes = match text.get(at + 1)? {
            b'n' | b't' | b'r' | b'b' | b'f' | b'"' | b'\\' | b'/'
                if escapes != Escapes::Others =>
            {
                Escapes::Letters
            }
            _ => Escapes::Others,
        };
        at += 2;
    }
}

/// A text with its escapes taken out; none where it holds one that is none, or a character written as a number.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        said.push_str(&rest[..at]);
        said.push(match rest.as_bytes().get(at + 1)? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
            _ => return None,
        });
        rest = &rest[at + 2..];
    }
    said.push_str(rest);
    Some(said)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The same by the parser of JSON.
    fn parsed(raw: &[u8]) -> Option<BTreeMap<String, String>> {
        serde_json::from_slice(raw).ok()
    }

    /// Checks what is read of a record that comes first, and of one behind each of these.
    fn check(raw: &[u8]) {
        let first = [
            r#"{"MESSAGE":"a"}"#,
            r#"{"_BOOT_ID":"b","x":"y","MESSAGE":"a \"","_HOSTNAME":"h"}"#,
            r#"{"_HOSTNAME":"abc","MESSAGE":"a"}"#,
            r#"{ "_HOSTNAME": "abc", "MESSAGE": "a", "_BOOT_ID": "b" }"#,
        ];
        let fields = read(raw);
        for before in first.map(str::as_bytes).into_iter().chain([raw]) {
            let mut reader = Reader::default();
            reader.read(before, &mut |_| None);
            assert_eq!(reader.read(raw, &mut |_| None), fields);
            let mut reader = Reader::default();
            reader.read(before, &mut |_| None);
            let known = |value: &[u8]| {
                let (length, escapes) = length(value)?;
                let is_known = escapes != Escapes::Others && is_plain(&value[..length]);
                is_known.then_some(length)
            };
            assert_eq!(reader.read(raw, &mut { known }), fields);
        }
        let Some(fields) = fields else { return };
        let Some(message) = unescaped(str::from_utf8(fields.message).unwrap()) else {
            return;
        };
        let map = parsed(raw).unwrap_or_else(|| panic!("{:?}", raw.escape_ascii().to_string()));
        let field = |name: &str| map.get(name).map(String::as_bytes);
        assert_eq!(field("MESSAGE"), Some(message.as_bytes()));
        assert_eq!(field("__REALTIME_TIMESTAMP"), fields.realtime);
        assert_eq!(field("_SYSTEMD_UNIT"), fields.unit);
        assert_eq!(field("SYSLOG_IDENTIFIER"), fields.identifier);
        assert_eq!(field("_BOOT_ID"), fields.boot);
        assert_eq!(field("_HOSTNAME"), fields.host);
    }

    #[test]
    fn a_record_as_journalctl_prints_it_is_read() {
        let raw = br#"{"_PID":"7","MESSAGE":"a \"b\"\tc","_SYSTEMD_UNIT":"k.service","__REALTIME_TIMESTAMP":"17"}"#;
        let fields = read(raw).unwrap();
        let message = str::from_utf8(fields.message).unwrap();
        assert_eq!(unescaped(message).as_deref(), Some("a \"b\"\tc"));
        assert_eq!(
            (fields.unit, fields.realtime),
            (Some(&b"k.service"[..]), Some(&b"17"[..]))
        );
        check(raw);
        let all = br#"{"_SELINUX_CONTEXT":"unconfined\n","MESSAGE":"a"}"#;
        assert_eq!(read(all).unwrap().message, b"a");
        check(all);
        assert!(read(br#"{"_CMDLINE":"\q","MESSAGE":"a"}"#).is_none());
        assert!(read(br#"{"MESSAGE":"a","MESSAGE":"b"}"#).is_none());
        assert!(read(br#"{"MESSAGE":[104,105]}"#).is_none());
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_is_what_the_parser_of_json_reads(
            parts in proptest::collection::vec(
                "\"MESSAGE\"|\"_BOOT_ID\"|\"_HOSTNAME\"|\"x\"|:|: |, | |,|\"|\\\\|\\\\n|\\\\\"|\\{|\\}|[a-z ]{1,5}|\"[a-z\\\\\\\\\"]{0,4}\":? ?\"[a-z\\\\\\\\\"n]{0,6}\"",
                0..9,
            ),
            host in "[a-c\"\\\\\n]{3}",
        ) {
            check(format!("{{{}}}", parts.concat()).as_bytes());
            check(format!("{{\"MESSAGE\":\"a\",{}}}", parts.concat()).as_bytes());
            check(format!("{{\"_HOSTNAME\": \"{host}\", \"MESSAGE\": \"a{}}}", parts.concat()).as_bytes());
            check(format!("{{\"_HOSTNAME\":\"{host}\",\"MESSAGE\":\"a{}}}", parts.concat()).as_bytes());
        }

        #[test]
        fn every_message_comes_back(message in "[ -~\\n\\t]{0,40}", unit in "[a-z.]{1,9}") {
            let raw = serde_json::json!({ "MESSAGE": message, "_SYSTEMD_UNIT": unit }).to_string();
            let fields = read(raw.as_bytes()).unwrap();
            let spaced = raw.replacen("\":\"", "\": \"", 1).replace("\",\"_SYSTEMD_UNIT\":", "\", \"_SYSTEMD_UNIT\" : ");
            proptest::prop_assert_eq!(read(spaced.as_bytes()).map(|other| (other.message, other.unit)), Some((fields.message, fields.unit)));
            proptest::prop_assert_eq!(unescaped(str::from_utf8(fields.message).unwrap()), Some(message));
        }
    }
}
