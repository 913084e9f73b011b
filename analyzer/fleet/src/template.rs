//! A message without what differs from one to the next: numbers, ids, addresses, names.

/// Longest template, in bytes.
const LONGEST: usize = 300;

/// The message with `#` for every word that holds a digit, and `<node>` for the node's name.
///
/// Words of letters alone stay; so do short codes in which digits belong to a name (`Xid 79`: a number of at most three
/// digits right behind `Xid` or `error`, `code`, `status`, `exit` is what the message is about).
pub fn template(text: &str, node: &str) -> String {
    let text = if node.len() > 2 {
        text.replace(node, "<node>")
    } else {
        text.to_owned()
    };
    let mut out = String::new();
    let mut before = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        if is_code(&before, word) {
            out.push_str(word);
        } else {
            generalise(word, &mut out);
        }
        before = word.to_ascii_lowercase();
        if out.len() > LONGEST {
            break;
        }
    }
    let mut end = out.len().min(LONGEST);
    while !out.is_char_boundary(end) {
        end -= 1;
    }
    out.truncate(end);
    out
}

/// A number that is what the message is about. An Xid's is behind the bus id: `Xid (PCI:0000:81:00): 94,`.
fn is_code(before: &str, word: &str) -> bool {
    let digits = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_short = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let named = ["xid", "error", "code", "status", "exit", "signal"];
    let plain = before.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    is_short && (named.contains(&plain) || before.starts_with("(pci:"))
}

/// Pieces between punctuation: those with a digit become one `#`.
fn generalise(word: &str, out: &mut String) {
    for piece in word.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_')) {
        let body = piece.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
        let mark = &piece[body.len()..];
        let hex = body.len() >= 8 && body.bytes().all(|b| b.is_ascii_hexdigit());
        if hex || body.bytes().any(|b| b.is_ascii_digit()) {
            if !out.ends_with('#') && !out.ends_with("#-") && !out.ends_with("#.") {
                out.push('#');
            } else {
                out.truncate(out.trim_end_matches(['-', '.']).len());
            }
        } else {
            out.push_str(body);
        }
        out.push_str(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::template;

    #[test]
    fn the_same_message_of_two_machines_has_one_template() {
        let one = template(
            "Failed to pull image for pod web-7d9f8b6c5-x2x4z on gpu-1 after 12.5s",
            "gpu-1",
        );
        let two = template(
            "Failed to pull image for pod web-66c9bdf4-q9k2p on gpu-22 after 3s",
            "gpu-22",
        );
        assert_eq!(one, two);
    }

    #[test]
    fn what_a_message_is_about_stays() {
        let fallen = template(
            "NVRM: Xid (PCI:0000:81:00): 79, pid=88002, GPU has fallen off the bus",
            "",
        );
        let contained = template(
            "NVRM: Xid (PCI:0000:41:00): 94, pid=1, GPU has fallen off the bus",
            "",
        );
        assert!(fallen.contains(" 79,"), "{fallen}");
        assert_ne!(fallen, contained);
    }

    #[test]
    fn a_text_of_any_length_and_script_is_cut_at_a_character() {
        let long = "ошибка ".repeat(1000);
        assert!(template(&long, "").len() <= 300);
    }
}
