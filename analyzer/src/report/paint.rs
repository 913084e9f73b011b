//! Colour for the terminal answer: added line by line to the plain text, so that both say the same.

use anstyle::{AnsiColor, Style};

use crate::model::Verdict;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// The plain answer with colours.
pub(crate) fn paint(plain: &str) -> String {
    let mut out = String::with_capacity(plain.len() + 512);
    for (number, line) in plain.lines().enumerate() {
        out.push_str(&one(line, number == 0));
        out.push('\n');
    }
    out
}

fn one(line: &str, title: bool) -> String {
    if title {
        return format!("{BOLD}{line}{BOLD:#}");
    }
    let indent = line.len() - line.trim_start().len();
    // Excerpts stand deepest.
    if indent >= 8 {
        return format!("{DIM}{line}{DIM:#}");
    }
    let (margin, text) = line.split_at(indent);
    if let Some((head, rest)) = text.split_once(" · ").filter(|_| text.starts_with('[')) {
        let style = style_of(head.rsplit(' ').next().unwrap_or(""));
        return format!("{margin}{style}{head}{style:#} · {rest}");
    }
    let label = text.split_once(':').map_or("", |(label, _)| label);
    let style = match label {
        "for" => GREEN,
        "against" | "not seen" | "not checked" | "would settle it" => YELLOW,
        "fix" => CYAN,
        "symptom" | "ruled out" => DIM,
        _ => return line.to_owned(),
    };
    let rest = &text[label.len()..];
    format!("{margin}{style}{label}{style:#}{rest}")
}

fn style_of(verdict: &str) -> Style {
    if verdict == Verdict::Confirmed.word() {
        RED
    } else {
        YELLOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_nothing_that_is_said() {
        let plain = "Title\n\n[1] confirmed · x · severity high\n    for: a: b\n        path:1: text\nnot seen: y\n";
        let painted = paint(plain);
        assert!(painted.contains("\u{1b}["));
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    }
}
