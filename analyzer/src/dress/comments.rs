//! Lines of a text that are no speech: comments, descriptions, rows of lists.

use std::borrow::Cow;

use super::document::Kind;

/// What each line is, where it is not speech.
pub(super) fn line_kinds<'l>(lines: &[&'l [u8]]) -> Vec<Option<Kind>> {
    let mut kinds: Vec<Option<Kind>> = vec![None; lines.len()];
    let text = |line: &&'l [u8]| {
        let line = line.trim_ascii_end();
        let text = str::from_utf8(line).map(Cow::Borrowed);
        text.unwrap_or_else(|_| String::from_utf8_lossy(line))
    };
    let texts: Vec<Cow<'l, str>> = lines.iter().map(text).collect();
    super::rows::mark(&texts, &mut kinds);
    descriptions(&texts, &mut kinds);
    for (text, kind) in texts.iter().zip(&mut kinds) {
        if kind.is_none() && (is_comment(text) || is_of_a_unit(text)) {
            *kind = Some(Kind::Comment);
        }
    }
    kinds
}

/// Whether a line of a unit of systemd says what the unit is, or what its end would run: neither happened.
fn is_of_a_unit(text: &str) -> bool {
    const KEYS: [&str; 5] = [
        "Description=",
        "Documentation=",
        "Conflicts=",
        "ExecStop=",
        "ExecStopPost=",
    ];
    text.as_bytes().first().is_some_and(u8::is_ascii_uppercase)
        && KEYS.iter().any(|key| text.starts_with(key))
}

/// A text without the blanks before it, which are most often ASCII.
fn begun(text: &str) -> &str {
    let blanks = text.bytes().take_while(u8::is_ascii_whitespace).count();
    match text.as_bytes().get(blanks) {
        Some(first) if first.is_ascii_graphic() => &text[blanks..],
        _ => text.trim_start(),
    }
}

/// Marks what stands under keys that describe: `description:` of schemas, with the lines that go on below it.
fn descriptions(texts: &[Cow<'_, str>], kinds: &mut [Option<Kind>]) {
    const KEYS: [&str; 6] = [
        "description:",
        "\"description\":",
        "- description:",
        "runbook_url:",
        "explanation:",
        "documentation:",
    ];
    let mut inside: Option<usize> = None;
    for (text, kind) in texts.iter().zip(kinds) {
        let trimmed = begun(text);
        let indent = text.len() - trimmed.len();
        if let Some(key) = inside {
            if trimmed.is_empty() || indent > key {
                *kind = Some(Kind::Schema);
                continue;
            }
            inside = None;
        }
        if KEYS.iter().any(|key| trimmed.starts_with(key)) {
            *kind = Some(Kind::Schema);
            inside = (!trimmed.starts_with('"')).then_some(indent);
        }
    }
}

/// Whether a line is a comment of a configuration, of a program or of metrics. `# kubectl get pods` is root's prompt and
/// `#1 0x00007f` a frame of a stack.
fn is_comment(text: &str) -> bool {
    let text = begun(text);
    if let Some(rest) = text.strip_prefix('#') {
        let text = rest.trim_start_matches('#').trim_start();
        let is_frame = rest.starts_with(|first: char| first.is_ascii_digit());
        // A program's own remark above its output: iptables-save.
        let is_remark = text.starts_with("Warning: ");
        return !is_frame && !is_remark && !super::typed::is_of_root(text);
    }
    text.starts_with("// ") || text.starts_with("<!--") || text.starts_with("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_told_from_a_prompt_a_frame_and_a_remark() {
        for text in ["# suspend failures, kernel panics", "// x", "; x", "<!-- x"] {
            assert!(is_comment(text), "{text}");
        }
        for text in [
            "#1 0x7f in f",
            "# kubectl get pods",
            "# /usr/bin/x",
            "# Warning: iptables-legacy tables present",
        ] {
            assert!(!is_comment(text), "{text}");
        }
        assert!(is_of_a_unit("Conflicts=shutdown.target") && !is_of_a_unit("ExecStart=/bin/x"));
    }
}
