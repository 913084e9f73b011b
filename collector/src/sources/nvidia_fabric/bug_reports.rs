//! Reports that nvidia-bug-report.sh left behind. They are packed, and what is packed cannot be redacted: they are taken
//! as the text that they hold.

use std::io::Read;

use casefile_bundle::Entry;
use flate2::read::MultiGzDecoder;

use crate::host::{Host, HostError, Stat};
use crate::out::{Out, Room};
use crate::redact::Content;
use crate::take::Tally;

/// Where they lie.
pub(super) const PLACES: [&str; 3] = [
    "/var/log/nvidia-bug-report*",
    "/root/nvidia-bug-report*",
    "/home/*/nvidia-bug-report*",
];
/// The newest ones that are taken, and the most text of each.
const MAX_REPORTS: usize = 2;
const MAX_TEXT: u64 = 32 << 20;
const PACKED: &str = ".gz";

pub(super) fn take(host: &Host, out: &Out, tally: &mut Tally) {
    let mut found: Vec<(i64, String)> = PLACES
        .iter()
        .flat_map(|place| host.glob(place))
        .filter_map(|path| {
            let meta = host.metadata(&path).ok().filter(|meta| meta.is_file())?;
            Some((Stat::from(&meta).mtime, path))
        })
        .collect();
    found.sort();
    for (_, path) in found.iter().rev().take(MAX_REPORTS) {
        match report(host, out, path) {
            Ok(true) => tally.taken += 1,
            Ok(false) => {
                tally.taken += 1;
                tally.broken(out, format!("{path}: only its beginning was taken"));
            }
            Err(error) => tally.broken(out, error.sentence()),
        }
    }
}

/// Writes the text of one; false where it is cut.
fn report(host: &Host, out: &Out, path: &str) -> Result<bool, HostError> {
    let failed = |source| HostError::Io {
        path: path.to_owned(),
        source,
    };
    let file = host.open(path)?;
    let stat = Stat::from(&file.metadata().map_err(failed)?);
    let text: Box<dyn Read> = match path.ends_with(PACKED) {
        true => Box::new(MultiGzDecoder::new(file)),
        false => Box::new(file),
    };
    let name = path.trim_end_matches(PACKED);
    let copy = out.path(Entry::Rootfs, name);
    let mut entry = out.entry(copy, Content::Text, Some(path.to_owned()));
    let mut text = text.take(MAX_TEXT);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = match text.read(&mut buffer) {
            Ok(read) => read,
            // Cut while it was written, as on a machine that went down: what is there counts.
            Err(error) => {
                entry.truncated(format!("it ends early: {error}"));
                break;
            }
        };
        if read == 0
            || entry
                .write(&buffer[..read])
                .map_err(|error| failed(std::io::Error::other(error)))?
                == Room::Full
        {
            break;
        }
    }
    if text.limit() == 0 {
        entry.truncated(format!(
            "byte limit of one report reached ({MAX_TEXT} bytes); the beginning was kept"
        ));
    }
    let whole = !entry.is_truncated();
    entry
        .finish_blocking()
        .map_err(|error| failed(std::io::Error::other(error)))?;
    let outcome = if whole { "copied" } else { "truncated" };
    out.files().record(path, outcome, Some(stat), None);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::out::testing::sink;

    #[test]
    fn a_packed_report_is_taken_as_its_text_and_a_cut_one_up_to_the_cut() {
        let dir = tempfile::tempdir().unwrap();
        let logs = dir.path().join("var/log");
        std::fs::create_dir_all(&logs).unwrap();
        let mut packer = GzEncoder::new(Vec::new(), Compression::none());
        packer.write_all(&b"NVRM: Xid 79\n".repeat(20_000)).unwrap();
        let packed = packer.finish().unwrap();
        std::fs::write(logs.join("nvidia-bug-report.log.gz"), &packed).unwrap();
        std::fs::write(
            logs.join("nvidia-bug-report-cut.log.gz"),
            &packed[..packed.len() / 2],
        )
        .unwrap();
        let (out, mut done) = sink("nvidia_fabric", 64 << 20);
        let mut tally = Tally::default();
        take(&Host::new(dir.path()), &out, &mut tally);
        assert_eq!(
            (tally.taken, tally.broken.len()),
            (2, 1),
            "{:?}",
            tally.broken
        );
        let mut sizes: Vec<u64> = std::iter::from_fn(|| done.try_recv().ok())
            .map(|one| one.entry.bytes())
            .collect();
        sizes.sort_unstable();
        assert_eq!(sizes.last(), Some(&260_000));
        assert!(sizes[0] > 100_000 && sizes[0] < 260_000, "{sizes:?}");
    }
}
