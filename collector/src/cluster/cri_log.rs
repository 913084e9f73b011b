//! A container's log file as the runtime writes it on the node, turned into lines as the API gives them: `TIME MESSAGE`.

use serde::Deserialize;

/// A message longer than this is given in pieces.
const MAX_LINE: usize = 1 << 20;

/// Converts one log file, in any chunking.
#[derive(Debug, Default)]
pub struct CriLog {
    line: Vec<u8>,
    /// A message of which only the beginning came so far (tag `P`).
    open: bool,
}

#[derive(Deserialize)]
struct DockerLine {
    log: String,
    time: String,
}

impl CriLog {
    /// Takes bytes of the file and appends converted lines to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.last() == Some(&b'\n') || self.line.len() > MAX_LINE {
                self.convert(out);
            }
        }
    }

    /// The file ended: the last line may lack its end.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.line.is_empty() {
            self.convert(out);
        }
        if std::mem::take(&mut self.open) {
            out.push(b'\n');
        }
    }

    fn convert(&mut self, out: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        if line.first() == Some(&b'{')
            && let Ok(docker) = serde_json::from_slice::<DockerLine>(line)
        {
            self.add(
                docker.time.as_bytes(),
                docker.log.trim_end_matches('\n').as_bytes(),
                docker.log.ends_with('\n'),
                out,
            );
            return;
        }
        match parts(line) {
            Some((time, whole, message)) => self.add(time, message, whole, out),
            // Not the format: kept as it is rather than lost.
            None => self.add(b"", line, true, out),
        }
    }

    fn add(&mut self, time: &[u8], message: &[u8], whole: bool, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.open, !whole) && !time.is_empty() {
            out.extend_from_slice(time);
            out.push(b' ');
        }
        out.extend_from_slice(message);
        if whole {
            out.push(b'\n');
        }
    }
}

/// `TIME STREAM TAG MESSAGE`; the tag begins with `P` (the message goes on) or `F`.
fn parts(line: &[u8]) -> Option<(&[u8], bool, &[u8])> {
    let mut fields = line.splitn(4, |byte| *byte == b' ');
    let (time, stream, tag) = (fields.next()?, fields.next()?, fields.next()?);
    let message = fields.next().unwrap_or_default();
    let known = time.first()?.is_ascii_digit() && matches!(stream, b"stdout" | b"stderr");
    let whole = match tag.first()? {
        b'F' => true,
        b'P' => false,
        _ => return None,
    };
    known.then_some((time, whole, message))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn convert(file: &[u8], cut: usize) -> Vec<u8> {
        let mut log = CriLog::default();
        let mut out = Vec::new();
        let (a, b) = file.split_at(cut.min(file.len()));
        log.push(a, &mut out);
        log.push(b, &mut out);
        log.finish(&mut out);
        out
    }

    #[test]
    fn lines_get_the_form_of_kubectl_logs_with_time_stamps() {
        let file = b"2026-01-01T00:00:00.1Z stdout F one\n2026-01-01T00:00:01Z stderr P tw\n2026-01-01T00:00:02Z stderr F o\n2026-01-01T00:00:03Z stdout F ";
        let expected =
            "2026-01-01T00:00:00.1Z one\n2026-01-01T00:00:01Z two\n2026-01-01T00:00:03Z \n";
        assert_eq!(String::from_utf8(convert(file, 0)).unwrap(), expected);
    }

    #[test]
    fn dockers_json_lines_are_read_too() {
        let file = br#"{"log":"a \"b\"\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}"#;
        assert_eq!(convert(file, 3), b"2026-01-01T00:00:00Z a \"b\"\n");
    }

    #[test]
    fn lines_of_no_known_form_are_kept() {
        assert_eq!(convert(b"hello\n{\"x\":1}\n\n", 0), b"hello\n{\"x\":1}\n\n");
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_chunking_give_the_same(file in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b' '), Just(b'P')], 0..80), cut in 0_usize..80) {
            prop_assert_eq!(convert(&file, cut), convert(&file, 0));
        }
    }
}
