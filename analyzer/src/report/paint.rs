//! Colour for the terminal answer: added line by line to the plain text, so that both say the same.

use anstyle::{AnsiColor, Style};

use crate::model::Verdict;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
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
    let inner = line.trim_start();
    if inner.starts_with("> ") {
        return format!("{DIM}{line}{DIM:#}");
    }
    if inner.starts_with("$ ") {
        return format!("{CYAN}{line}{CYAN:#}");
    }
    let label = line.split(' ').next().unwrap_or_default();
    let rest = &line[label.len()..];
    let style = match label {
        "Cause" => return cause(label, rest),
        "Proof" => GREEN,
        "Against" | "Not" | "Failing" | "Doubt" => YELLOW,
        "Fix" => CYAN,
        "Since" | "Affected" | "Also" | "Next" | "Symptom" | "Harmless" | "Ruled" | "Past" => DIM,
        _ => return line.to_owned(),
    };
    format!("{style}{label}{style:#}{rest}")
}

/// The verdict stands behind the id in brackets.
fn cause(label: &str, rest: &str) -> String {
    let end = rest.find("] ").map_or(0, |at| at + 2);
    let (id, said) = rest.split_at(end);
    let verdict = said.split([' ', ',', '.']).next().unwrap_or_default();
    let style = style_of(verdict);
    let after = &said[verdict.len()..];
    format!("{BOLD}{label}{BOLD:#}{id}{style}{verdict}{style:#}{after}")
}

fn style_of(verdict: &str) -> Style {
    if verdict == Verdict::Confirmed.word() {
        BOLD
    } else {
        YELLOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_nothing_that_is_said() {
        let plain = "Title\n\nCause      [x] confirmed y.\nProof      a\n             path:1\n             > text\nNot seen   y\n";
        let painted = paint(plain);
        assert!(painted.contains("\u{1b}["));
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    }
}
