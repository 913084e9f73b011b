//! Text without the indentation that all its lines share, as a quote in a ticket or a nested value has.

/// The lines without their common indentation. The number of lines stays.
pub(super) fn dedent(lines: &[&str]) -> String {
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| indent_of(line))
        .min()
        .unwrap_or(0);
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        text.push_str(line.get(indent..).unwrap_or("").trim_end_matches('\r'));
        text.push('\n');
    }
    text
}

/// Blanks at the start of a line, in bytes.
pub(super) fn indent_of(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}
