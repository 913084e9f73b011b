//! Texts of bundles on a terminal.

/// A text that cannot drive a terminal: control characters and those that turn the direction of writing are written out.
pub(in crate::commands) fn quiet(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// `1 bundle`, `2 bundles`.
pub(in crate::commands) fn plural(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bundle_s_text_cannot_drive_the_terminal() {
        assert_eq!(
            super::quiet("a\u{1b}[31mb\u{202e}"),
            "a\\u{1b}[31mb\\u{202e}"
        );
    }
}
