//! Lines for a terminal: a column of labels, and texts wrapped beside it.

use std::fmt::Write as _;

use super::escape;

/// Columns of the labels.
const LABEL: usize = 11;
/// Least columns of a text: below this a narrow terminal wraps by itself.
const LEAST: usize = 30;

/// Text under construction.
pub(super) struct Columns {
    width: usize,
    out: String,
}

impl Columns {
    pub(super) fn new(width: usize) -> Self {
        Columns {
            width: width.max(LABEL + LEAST),
            out: String::new(),
        }
    }

    /// A text over the whole width.
    pub(super) fn plain(&mut self, text: &str) {
        for line in wrap(&shown(text), self.width) {
            self.push(line);
        }
    }

    /// An empty line.
    pub(super) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// A text beside its label, wrapped; what begins with blanks goes on below them.
    pub(super) fn row(&mut self, label: &str, text: &str) {
        let inner = text.len() - text.trim_start().len();
        let text = shown(text);
        debug_assert!(
            label.len() < LABEL,
            "{label} leaves no blank before its text"
        );
        let room = self.width - LABEL - inner;
        for (nth, line) in wrap(&text, room).into_iter().enumerate() {
            let label = if nth == 0 { label } else { "" };
            self.push(format!("{label:LABEL$}{:inner$}{line}", ""));
        }
    }

    /// A text on one line, however long: a place or a command that people copy.
    pub(super) fn whole(&mut self, text: &str) {
        let inner = text.len() - text.trim_start().len();
        self.push(format!("{:LABEL$}{:inner$}{}", "", "", shown(text)));
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    fn push(&mut self, line: impl AsRef<str>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.out, "{}", line.as_ref().trim_end());
    }
}

/// A text on one line, control characters shown.
pub(super) fn shown(text: &str) -> String {
    let text = escape::one_line(text);
    escape::visible(text.trim(), false).into_owned()
}

/// Lines of at most `width` columns, broken at blanks; a longer word is broken where it must.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(width) {
        let at = rest[..end].rfind(' ').filter(|at| *at > width / 3);
        let (line, after) = rest.split_at(at.unwrap_or(end));
        lines.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_sentence_is_lost_whatever_the_width() {
        let text = "The kubelet uses /var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml and nothing else.";
        for width in [10, 41, 60, 200] {
            let mut out = Columns::new(width);
            out.row("Cause", text);
            let joined: String = out.finish().replace("Cause", "");
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&joined), bare(text), "{width}");
        }
    }

    #[test]
    fn control_characters_of_a_bundle_are_shown() {
        let mut out = Columns::new(80);
        out.row("Proof", "a\u{1b}[31mb");
        assert!(!out.finish().contains('\u{1b}'));
    }
}
