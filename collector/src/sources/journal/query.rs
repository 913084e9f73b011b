//! One file's worth of journal, the newest part where it is too large.

use casefile_bundle::Entry;

use crate::exec::{self, Call, ExecError};
use crate::out::Room;
use crate::redact::Content;
use crate::source::SourceCtx;

use super::call;

/// One file's worth of journal.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    /// The stem of its file.
    pub(super) name: &'a str,
    /// What to match: a field or a unit.
    pub(super) matching: &'a str,
    /// The argument that names the journal's folder, or nothing.
    pub(super) place: &'a str,
    /// The earliest time.
    pub(super) since: &'a str,
    /// The argument that names the latest time, or nothing.
    pub(super) until: &'a str,
    /// A match of one boot, or nothing.
    pub(super) boot: &'a str,
    /// The most bytes.
    pub(super) most: u64,
}

impl Query<'_> {
    fn call(&self, id: &str) -> Result<Call, String> {
        let call = call(id)?
            .with("place", self.place)
            .with("match", self.matching)
            .with("since", self.since)
            .with("until", self.until)
            .with("boot", self.boot);
        Ok(call.on_files())
    }

    /// True when there were records.
    pub(super) async fn take(&self, ctx: &SourceCtx) -> Result<bool, String> {
        let share = self.most.min(ctx.out.room());
        if share < 4096 {
            return Err(
                "the byte limit of the source was used up by the units before it".to_owned(),
            );
        }
        match self
            .stream(ctx, &self.call("journal")?, share, None)
            .await?
        {
            Streamed::Nothing => return Ok(false),
            Streamed::Whole => return Ok(true),
            Streamed::TooMuch => {}
        }
        let (lines, start) = self.fitting(ctx, share - share / 50).await?;
        let newest = Query {
            since: &start,
            ..*self
        };
        let why = format!("byte limit of {share} bytes; the newest {lines} records were kept");
        ctx.out.note(format!("journal of {}: {why}", self.name));
        // Records that came meanwhile may push it over the share again; then its end is cut.
        let streamed = newest
            .stream(ctx, &newest.call("journal")?, share, Some(&why))
            .await?;
        Ok(!matches!(streamed, Streamed::Nothing))
    }

    async fn stream(
        &self,
        ctx: &SourceCtx,
        call: &Call,
        share: u64,
        cut: Option<&str>,
    ) -> Result<Streamed, String> {
        let file = format!("{}.json", self.name);
        let path = ctx.out.path(Entry::Journal, &file);
        let mut entry = ctx
            .out
            .entry(path, Content::JsonLines, Some(ctx.exec.line(call)));
        let mut bytes = 0_u64;
        let ran = ctx
            .exec
            .run(call, &ctx.cancel, |piece| {
                bytes += piece.len() as u64;
                let room = entry.write(piece).unwrap_or(Room::Full);
                if bytes > share { Room::Full } else { room }
            })
            .await;
        if let Ok(ended) = &ran
            && ended.cut
            && cut.is_none()
        {
            entry.discard();
            return Ok(Streamed::TooMuch);
        }
        if bytes == 0 {
            entry.discard();
            return match ran {
                Ok(ended) if ended.code == Some(0) => Ok(Streamed::Nothing),
                // Nothing matched: older journalctl says so with 1.
                Ok(ended) if ended.code == Some(1) && ended.stderr.is_empty() => {
                    Ok(Streamed::Nothing)
                }
                Ok(ended) => Err(format!("journalctl: {}", ended.complaint())),
                Err(error) => Err(error.to_string()),
            };
        }
        if let Some(why) = cut {
            entry.truncated(why);
        }
        let trouble = trouble(&ran);
        if let Some(what) = &trouble {
            entry.truncated(what.clone());
        }
        entry.finish().await.map_err(|error| error.to_string())?;
        trouble.map_or(Ok(Streamed::Whole), Err)
    }

    /// How many of the newest records fit into `share` bytes, and the time of the first of them. `--lines` would not
    /// do: whether it counts from the beginning or the end when there is a `--since` depends on the version.
    async fn fitting(&self, ctx: &SourceCtx, share: u64) -> Result<(u64, String), String> {
        let mut newest = Newest::default();
        let mut bytes = 0_u64;
        let call = self.call("journal-newest")?;
        let counted = ctx
            .exec
            .run(&call, &ctx.cancel, |piece| {
                bytes += piece.len() as u64;
                if bytes > share {
                    return Room::Full;
                }
                newest.push(piece);
                Room::More
            })
            .await;
        counted.map_err(|error| error.to_string())?;
        let start = newest.oldest.ok_or("one record alone is over the limit")?;
        Ok((newest.records, start))
    }
}

/// Reads records that come newest first.
#[derive(Default)]
pub(super) struct Newest {
    line: Vec<u8>,
    records: u64,
    /// The time of the last whole record, as `--since` takes it.
    oldest: Option<String>,
}

impl Newest {
    fn push(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.records += 1;
                if let Some(micros) = micros_of(&self.line) {
                    self.oldest =
                        Some(format!("@{}.{:06}", micros / 1_000_000, micros % 1_000_000));
                }
                self.line.clear();
            }
        }
    }
}

/// A record's time in microseconds since 1970. The line is not parsed as JSON: there may be millions.
pub(super) fn micros_of(record: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"\"__REALTIME_TIMESTAMP\":\"";
    let at = record.windows(KEY.len()).position(|bytes| bytes == KEY)? + KEY.len();
    let digits = record[at..].iter().take_while(|byte| byte.is_ascii_digit());
    let digits: Vec<u8> = digits.copied().take(20).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

enum Streamed {
    Nothing,
    Whole,
    TooMuch,
}

pub(super) fn trouble(ran: &Result<exec::Ended, ExecError>) -> Option<String> {
    match ran {
        Ok(ended) if ended.cut || ended.code == Some(0) => None,
        Ok(ended) => Some(format!("journalctl: {}", ended.complaint())),
        Err(error) => Some(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_oldest_whole_record_is_kept_in_any_chunking() {
        let text = b"{\"__REALTIME_TIMESTAMP\":\"1700000000000009\"}\n{\"M\":\"x\",\"__REALTIME_TIMESTAMP\":\"1699999999000007\"}\n{\"__REALTIME_TIMESTAMP\":\"16";
        for size in [1, 7, 1000] {
            let mut newest = Newest::default();
            text.chunks(size).for_each(|piece| newest.push(piece));
            assert_eq!(
                (newest.records, newest.oldest.as_deref()),
                (2, Some("@1699999999.000007"))
            );
        }
        assert_eq!(micros_of(b"nonsense"), None);
    }
}
