//! What a mail program, a browser or a terminal does to lines on their way into a ticket, undone where it is plain to
//! see: marks of quotes and lists before every line, typographic quotes, HTML entities, elisions, outputs behind a sign of comments.

use std::borrow::Cow;

use memchr::memmem;

/// Texts of at most so many bytes are pasted; larger ones are captured.
const LARGEST: usize = 256 << 10;
/// Marks that stand before the lines of a quote or of a list.
const MARKS: [&str; 4] = ["> ", "- ", "* ", "\u{2022} "];
/// Entities in which a browser gives out a text.
const ENTITIES: [(&str, &str); 6] = [
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
];

/// The text as it was before, line by line; none where nothing was done to it.
pub fn mend(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() || bytes.len() > LARGEST {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let mut mended = plain(text);
    if let Some(mark) = mark(&mended) {
        let lines = mended.lines();
        let bare = lines.map(|line| line.strip_prefix(mark).unwrap_or(line));
        mended = Cow::Owned(joined(bare));
    }
    if let Some(outputs) = commented(&mended) {
        mended = Cow::Owned(outputs);
    }
    if memmem::find(mended.as_bytes(), b"...").is_some() {
        let whole = joined(mended.lines().map(whole));
        mended = Cow::Owned(whole);
    }
    (mended != text).then(|| mended.into_owned())
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Quotes and brackets as a keyboard has them.
fn plain(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    // All four begin with the same two bytes. Most texts have neither them nor an entity.
    if memmem::find(text.as_bytes(), b"\xe2\x80").is_some() {
        let turned = text.chars().map(|letter| match letter {
            '\u{201c}' | '\u{201d}' => '"',
            '\u{2018}' | '\u{2019}' => '\'',
            other => other,
        });
        text = Cow::Owned(turned.collect());
    }
    let has = |entity: &str| memmem::find(text.as_bytes(), entity.as_bytes()).is_some();
    if has("&quot;") || has("&gt;") || has("&lt;") {
        for (entity, sign) in ENTITIES {
            text = Cow::Owned(text.replace(entity, sign));
        }
    }
    text
}

/// The mark that every line begins with. A list of YAML has other lines, too.
fn mark(text: &str) -> Option<&'static str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    MARKS
        .into_iter()
        .find(|mark| lines().next().is_some() && lines().all(|line| line.starts_with(mark)))
}

/// The text with outputs as they were printed, where people set `# ` before each line of one, so that the commands above can be
/// copied. A table, an event or several lines are an output; a line or two below a command are a remark about it, or
/// about the next one.
fn commented(text: &str) -> Option<String> {
    const LEAST: usize = 3;
    memmem::find(text.as_bytes(), b"\n# ")?;
    let mut lines: Vec<&str> = text.lines().collect();
    let mut done = false;
    let mut at = 1;
    while at < lines.len() {
        let run = lines[at..].iter().take_while(|line| line.starts_with("# "));
        let run = run.count();
        let first = lines[at].strip_prefix("# ").unwrap_or("");
        let is_output = run >= LEAST || (run > 1 && is_head(first)) || (run > 0 && is_event(first));
        let above = lines[at - 1];
        if is_output && !above.starts_with('#') && super::typed::is_typed(above) {
            for line in &mut lines[at..at + run] {
                *line = line.strip_prefix("# ").unwrap_or(line);
            }
            done = true;
        }
        at += run.max(1);
    }
    done.then(|| joined(lines.into_iter()))
}

/// Whether a line is an event as `kubectl describe` prints it.
fn is_event(line: &str) -> bool {
    let rest = line
        .strip_prefix("Warning ")
        .or_else(|| line.strip_prefix("Normal "));
    let reason = rest
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap_or("");
    let inner = reason.trim_end_matches(':');
    inner.starts_with(|first: char| first.is_ascii_uppercase())
        && inner.bytes().all(|byte| byte.is_ascii_alphabetic())
        && inner.bytes().skip(1).any(|byte| byte.is_ascii_lowercase())
}

/// Whether a line is the head of a table: names of columns in capitals.
fn is_head(line: &str) -> bool {
    let columns = || {
        line.split("  ")
            .map(str::trim)
            .filter(|name| !name.is_empty())
    };
    columns().count() > 1
        && columns().all(|name| !name.bytes().any(|byte| byte.is_ascii_lowercase()))
}

/// A line without `... ` before and ` [...]` behind it.
fn whole(line: &str) -> &str {
    let begun = ["... ", "[...] ", "\u{2026} "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line);
    [" ...", " [...]", " \u{2026}"]
        .iter()
        .find_map(|mark| begun.strip_suffix(mark))
        .unwrap_or(begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_ticket_does_to_a_text_is_undone_and_lines_keep_their_numbers() {
        let text = "E1120 failed to \"load\"\nsecond\n";
        for damaged in [
            "> E1120 failed to \"load\"\n> second\n",
            "- E1120 failed to \u{201c}load\u{201d}\n- second\n",
            "E1120 failed to &quot;load&quot;\nsecond\n",
            "... E1120 failed to \"load\" [...]\nsecond ...\n",
        ] {
            let mended = mend(damaged.as_bytes());
            assert_eq!(mended.as_deref(), Some(text), "{damaged}");
        }
        assert_eq!(mend(text.as_bytes()), None);
        let table = "kubectl get pods\n# NAME  STATUS\n# a     Failed\n";
        let bare = "kubectl get pods\nNAME  STATUS\na     Failed\n";
        assert_eq!(mend(table.as_bytes()).as_deref(), Some(bare));
        let event =
            "kubectl describe pod web-0\n# Warning  FailedScheduling: 0/1 nodes are available\n";
        assert!(mend(event.as_bytes()).is_some_and(|text| text.contains("\nWarning  FailedS")));
        let remark = "kubectl get pods\n# shows those that failed to start\n";
        assert_eq!(mend(remark.as_bytes()), None, "a remark");
        assert_eq!(mend(b"args:\n- one\n- two\n"), None, "a list of YAML");
    }
}
