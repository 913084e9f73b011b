//! The line of a value in a values file, by its path. The files are block style, one key a line.

/// The line of the deepest part of a dotted path that is found, from 1; `None` where not even its first key is.
#[must_use]
pub fn line_of(text: &str, path: &str) -> Option<u32> {
    let keys: Vec<&str> = path
        .split(['.', '['])
        .filter(|key| !key.is_empty())
        .collect();
    let mut found = None;
    let mut depth = 0;
    let mut indents: Vec<usize> = Vec::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        let trimmed = line.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') || depth == keys.len() {
            continue;
        }
        let indent = line.len() - trimmed.len();
        // Left the table of the last key: what is below stands elsewhere.
        if indents
            .last()
            .is_some_and(|last| indent <= *last && !trimmed.starts_with('-'))
        {
            break;
        }
        let key = trimmed.trim_start_matches("- ");
        let name = key
            .split(':')
            .next()
            .unwrap_or_default()
            .trim_matches(['"', '\'']);
        let list_item = key
            .strip_prefix("name:")
            .map(|rest| rest.trim().trim_matches(['"', '\'']));
        let wanted = keys[depth].trim_end_matches(']');
        let own_level = indents.is_empty() == (indent == 0);
        if own_level && (name == wanted || list_item == Some(wanted)) {
            found = Some(number);
            indents.push(indent);
            depth += 1;
        }
    }
    found
}
