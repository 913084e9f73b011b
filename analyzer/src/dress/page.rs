//! Pages in Markdown: documentation, runbooks, reports of bugs. What was said stands in their blocks of code; the rest is
//! what a person writes about it.

use super::typed::is_typed;

/// Headings that make a text a page.
const HEADINGS: usize = 3;

/// Languages of blocks that are to be typed.
const SHELLS: [&str; 6] = ["sh", "bash", "shell", "toml", "yaml", "ini"];

/// Of each line of a page whether a person wrote it there; none where the text is no page.
pub(super) fn written(path: &str, lines: &[&[u8]]) -> Option<Vec<bool>> {
    let heading = |line: &&&[u8]| {
        let marks = line.iter().take_while(|byte| **byte == b'#').count();
        (1..=4).contains(&marks) && line.get(marks) == Some(&b' ')
    };
    let is_page = path.to_ascii_lowercase().ends_with(".md")
        && (lines.iter().filter(heading).count() >= HEADINGS || has_front(lines));
    is_page.then(|| {
        let (mut fenced, mut script) = (false, false);
        let written = lines.iter().map(|line| {
            let text = String::from_utf8_lossy(line);
            let text = text.trim();
            if text.starts_with("```") || text.starts_with("~~~") {
                fenced = !fenced;
                script = SHELLS.contains(&text.trim_start_matches(['`', '~']));
                return true;
            }
            if fenced {
                return script || is_typed(text) || is_setting(text);
            }
            let indented = line.starts_with(b"    ") || line.starts_with(b"\t");
            !(super::undress(text).outer > 0 || (indented && !is_typed(text)))
        });
        written.collect()
    })
}

/// Whether a generator of sites is told something above the text: between two lines of `+++` or `---`.
fn has_front(lines: &[&[u8]]) -> bool {
    /// Lines that such a head has at most.
    const LONGEST: usize = 40;
    let first = lines.first().map(|line| line.trim_ascii());
    let Some(mark) = first.filter(|line| [&b"+++"[..], b"---"].contains(line)) else {
        return false;
    };
    let head: Vec<&&[u8]> = lines.iter().skip(1).take(LONGEST).collect();
    let end = head.iter().position(|line| line.trim_ascii() == mark);
    end.is_some_and(|end| head[..end].iter().any(|line| line.starts_with(b"title")))
}

/// A rule of udev, which is to be written into a file.
fn is_setting(line: &str) -> bool {
    let name = line.split("==").next().unwrap_or("");
    !name.is_empty()
        && name.len() < line.len()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_page_only_blocks_of_code_and_lines_of_logs_were_said() {
        let page = "# Bug\n## What\nthe GPU has fallen off the bus\n## Log\n```\n$ dmesg | grep Xid\nNVRM: Xid 79\n```\nNov 20 10:00:00 g kernel: NVRM: x\n";
        let lines: Vec<&[u8]> = page
            .as_bytes()
            .split_inclusive(|byte| *byte == b'\n')
            .collect();
        let found = written("bug.md", &lines).unwrap();
        let said: Vec<usize> = (0..found.len()).filter(|at| !found[*at]).collect();
        assert_eq!(said, [6, 8]);
        let notes: Vec<&[u8]> = vec![
            b"+++\n",
            b"title = \"1.2\"\n",
            b"+++\n",
            b"return SERVFAIL\n",
        ];
        assert_eq!(written("notes.md", &notes).unwrap(), [true; 4]);
        assert!(is_setting("SUBSYSTEM==\"net\", ACTION==\"add\"") && !is_setting("x == y"));
        assert!(written("bug.txt", &lines).is_none());
        assert!(written("short.md", &lines[4..]).is_none());
    }
}
