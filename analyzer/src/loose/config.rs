//! containerd configurations, whole or cut, with or without a file name.

use super::dedent::dedent;
use super::split::Section;
use super::{Taken, What};
use crate::form::Form;
use crate::parsers::SMALL;

static TABLE: Form = Form::new(r#"^\s*\[{1,2}\s*[\w."'/ -]+\s*\]{1,2}\s*(?:#.*)?$"#);
static SETTING: Form =
    Form::new(r#"^\s*["']?[\w.-]+["']?\s*=\s*(?:["'\[{]|true\b|false\b|[-+]?\d)"#);
/// What only a containerd configuration holds.
static CONTAINERD: Form = Form::new(
    r#"(?m)^\s*(?:\[\s*plugins\s*\.\s*["']?(?:io\.containerd\.|cri\b)|(?:disabled|required)_plugins\s*=|imports\s*=\s*\[)"#,
);

/// A line that stands for lines left out.
pub(super) fn is_elision(line: &str) -> bool {
    let line = line.trim().trim_matches(['[', ']', '#', ' ', '<', '>']);
    !line.is_empty()
        && line
            .chars()
            .all(|letter| matches!(letter, '.' | '\u{2026}'))
        || line.eq_ignore_ascii_case("snip")
}

/// Takes the TOML text that starts here if it is a containerd configuration.
pub(super) fn take(section: &Section<'_>, at: usize) -> Taken {
    let first = section.line(at);
    if !TABLE.is_match(first) && !SETTING.is_match(first) {
        return Taken::No;
    }
    let lines = extent(section, at);
    let used = section.range(at, at + lines);
    let text = dedent(&used);
    // A template that a program has yet to fill in is nobody's configuration, nor is what is too large for one.
    if !CONTAINERD.is_match(&text) || text.contains("{{") || text.len() > SMALL {
        return Taken::Refused(lines);
    }
    let cut = used.iter().any(|line| is_elision(line));
    let Ok(table) = without_elisions(&text).parse::<toml::Table>() else {
        return Taken::Refused(lines);
    };
    let whole = !cut
        && section.is_whole()
        && table.contains_key("version")
        && table.contains_key("plugins");
    Taken::one(What::ContainerdConfig { whole }, lines)
}

/// The text with the lines that stand for others made empty.
pub(crate) fn without_elisions(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| if is_elision(line) { "" } else { line });
    let mut kept: String = lines.collect::<Vec<_>>().join("\n");
    kept.push('\n');
    kept
}

fn extent(section: &Section<'_>, at: usize) -> usize {
    let mut open = 0i64;
    let lines = section.run(at, |line| {
        let start = line.trim();
        if open > 0 {
            open += brackets(start);
            return true;
        }
        let belongs = start.is_empty()
            || start.starts_with('#')
            || is_elision(line)
            || TABLE.is_match(line)
            || SETTING.is_match(line);
        if belongs && SETTING.is_match(line) {
            open = brackets(start).max(0);
        }
        belongs
    });
    let used = section.range(at, at + lines);
    let tail = used
        .iter()
        .rev()
        .take_while(|line| line.trim().is_empty())
        .count();
    lines - tail
}

/// Brackets that a line opens less those that it closes; strings are not looked into.
fn brackets(line: &str) -> i64 {
    line.bytes()
        .map(|byte| match byte {
            b'[' | b'{' => 1,
            b']' | b'}' => -1,
            _ => 0,
        })
        .sum()
}
