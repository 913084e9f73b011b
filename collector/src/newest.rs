//! The newest part of log files: what a limit cuts away is the oldest.

use std::io::{Read, Seek, SeekFrom};

use casefile_bundle::Entry;

use crate::host::{Host, HostError, Stat};
use crate::out::{Out, Room};
use crate::redact::Content;
use crate::take::Tally;

/// Takes up to `most` of the newest bytes of every log file that these paths and globs name.
pub(crate) fn take_newest(host: &Host, out: &Out, patterns: &[&str], most: u64, tally: &mut Tally) {
    for pattern in patterns {
        let wild = pattern.contains(['*', '?', '[', '{']);
        let paths = if wild {
            host.glob(pattern)
        } else {
            vec![(*pattern).to_owned()]
        };
        for path in paths {
            match newest_part(host, out, &path, most) {
                Ok(stat) => {
                    out.files().record(&path, "copied", Some(stat), None);
                    tally.taken += 1;
                }
                Err(error) if error.is_absent() => out.files().record(&path, "absent", None, None),
                Err(HostError::NotAFile { .. }) if wild => {}
                Err(error) => {
                    out.files().record(&path, error.word(), None, None);
                    tally.broken(out, error.sentence());
                }
            }
        }
    }
}

/// The newest part of a log file, beginning with a whole line.
fn newest_part(host: &Host, out: &Out, path: &str, most: u64) -> Result<Stat, HostError> {
    let failed = |source| HostError::Io {
        path: path.to_owned(),
        source,
    };
    let mut file = host.open(path)?;
    let stat = Stat::from(&file.metadata().map_err(failed)?);
    let share = most.min(out.room());
    let skipped = stat.size.saturating_sub(share);
    file.seek(SeekFrom::Start(skipped)).map_err(failed)?;
    let mut entry = out.entry(
        out.path(Entry::Rootfs, path),
        Content::Text,
        Some(path.to_owned()),
    );
    let mut buffer = vec![0; 64 << 10];
    let mut file = file.take(share);
    let mut in_first = skipped > 0;
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        let mut piece = &buffer[..read];
        if in_first {
            let line = piece
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(read, |at| at + 1);
            in_first = line == read;
            piece = &piece[line..];
        }
        if !matches!(entry.write(piece), Ok(Room::More)) {
            break;
        }
    }
    if skipped > 0 {
        entry.truncated(format!(
            "newest {share} bytes kept, {skipped} older left out"
        ));
    }
    entry
        .finish_blocking()
        .map_err(|error| failed(std::io::Error::other(error)))?;
    Ok(stat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::testing::sink;

    #[test]
    fn what_is_left_of_a_log_begins_with_a_whole_line() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.log"), "old line\nnew line\nlast line\n").unwrap();
        let (out, mut done) = sink("journal", 1 << 20);
        let mut tally = Tally::default();
        // Into the middle of the second line.
        take_newest(&Host::new(dir.path()), &out, &["/a.log"], 15, &mut tally);
        assert_eq!((tally.taken, tally.broken.len()), (1, 0));
        let one = done.try_recv().unwrap();
        assert_eq!(one.entry.bytes(), "last line\n".len() as u64);
        assert_eq!(
            one.meta.truncated.as_deref(),
            Some("newest 15 bytes kept, 13 older left out")
        );
    }
}
