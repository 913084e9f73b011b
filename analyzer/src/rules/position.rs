//! Where in a rule file something stands, so that an error can point at it.

/// A place in a file: line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: u64,
    /// Column.
    pub column: u64,
}

/// Finds a word below a path of keys, such as `signals`, `lost-gpu`.
///
/// The text has been parsed before, so keys stand where YAML has them; a key that is not found (a flow
/// mapping holds it) leaves the search where it was. Falls back to the last key that was found.
pub fn locate(text: &str, path: &[&str], word: &str) -> Position {
    let lines: Vec<&str> = text.lines().collect();
    let mut block = (0, lines.len());
    let mut found = Position { line: 1, column: 1 };
    for key in path {
        let Some(at) = (block.0..block.1).find(|at| is_key(lines[*at], key)) else {
            continue;
        };
        let indent = indent_of(lines[at]);
        found = position(at, indent);
        let end = (at + 1..block.1)
            .find(|next| {
                !lines[*next].trim().is_empty()
                    && indent_of(lines[*next]) <= indent
                    && !lines[*next].trim_start().starts_with("- ")
            })
            .unwrap_or(block.1);
        block = (at, end);
    }
    let holds = |at: &usize| !word.is_empty() && lines[*at].contains(word);
    match (block.0..block.1).find(holds) {
        Some(at) => position(at, lines[at].find(word).unwrap_or(0)),
        None => found,
    }
}

fn position(line: usize, before: usize) -> Position {
    Position {
        line: line as u64 + 1,
        column: before as u64 + 1,
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_key(line: &str, key: &str) -> bool {
    let start = line.trim_start().trim_start_matches("- ");
    let bare = start.trim_start_matches(['"', '\'']);
    bare.strip_prefix(key)
        .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_word_is_found_under_the_key_that_is_meant() {
        let text = "id: a\nsignals:\n  one:\n    fact: pod\n  two:\n    fact: pud\nlikely:\n  - all: [one, pud]\n";
        let at = |path: &[&str], word: &str| {
            let found = locate(text, path, word);
            (found.line, found.column)
        };
        assert_eq!(at(&["signals", "two"], "pud"), (6, 11));
        assert_eq!(at(&["likely"], "pud"), (8, 16));
        assert_eq!(at(&["signals", "two"], "absent"), (5, 3));
        assert_eq!(at(&["absent"], "absent"), (1, 1));
    }
}
