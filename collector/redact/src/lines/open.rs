//! Lines that belong to a value begun before.

use super::super::span::{Open, is_open_mark, word};
use super::super::value::{harmless, looks_random};
use super::{Lines, MAX_OPEN_LINES};

/// A value between two tags has so many lines: a kernel's log names a `<password>` and never closes it.
const MAX_ELEMENT_LINES: usize = 5;

impl Lines {
    /// A line that belongs to a value begun before.
    pub(super) fn continued(&mut self, text: &str) -> Option<String> {
        let (open, lines) = self.open.take()?;
        let indent = text.len() - text.trim_start().len();
        let blank = text.trim().is_empty();
        let keep = |this: &mut Self, open: Open| {
            let most = match open {
                Open::Until("</", _) => MAX_ELEMENT_LINES,
                _ => MAX_OPEN_LINES,
            };
            if lines < most || matches!(open, Open::Values(..)) {
                this.open = Some((open, lines + 1));
            }
        };
        match open {
            Open::Items(above, class) => self.below(text, above, class, lines),
            Open::Word(class) => {
                let start = text.len() - text.trim_start().trim_start_matches(": ").len();
                let length = word(&text[start..]);
                let value = &text[start..start + length];
                let bare = value.trim_matches(['"', '\'']);
                if harmless(bare) || bare.starts_with('-') {
                    return None;
                }
                let mark = self.marker.mark(class, bare.as_bytes());
                Some(text.replacen(bare, &mark, 1))
            }
            Open::Deeper(above, class) => {
                if !blank && indent <= above {
                    return None;
                }
                keep(self, Open::Deeper(above, class));
                Some(self.whole(text, class))
            }
            Open::Values(above, class) => {
                if !blank && indent <= above {
                    return None;
                }
                keep(self, Open::Values(above, class));
                Some(self.value_alone(text, class))
            }
            Open::Heredoc(tag, class) => {
                if text.trim() == tag {
                    return Some(text.to_owned());
                }
                keep(self, Open::Heredoc(tag, class));
                Some(self.whole(text, class))
            }
            Open::List(class) => {
                if text.trim_start().starts_with(']') {
                    return None;
                }
                keep(self, Open::List(class));
                Some(self.item(text, class))
            }
            Open::Until(mark, class) => match text.find(mark) {
                Some(at) => {
                    let secret = self.whole(&text[..at], class);
                    Some(format!("{secret}{}", &text[at..]))
                }
                None => {
                    keep(self, Open::Until(mark, class));
                    Some(self.whole(text, class))
                }
            },
        }
    }

    /// A line that is secret from its first letter to its last.
    fn whole(&mut self, text: &str, class: &'static str) -> String {
        let body = text.trim();
        if body.is_empty() || harmless(body) {
            return text.to_owned();
        }
        let indent = text.len() - text.trim_start().len();
        let mark = self.marker.mark(class, body.as_bytes());
        format!("{}{mark}", &text[..indent])
    }

    /// A line of a list: the value between its quotes goes.
    fn item(&mut self, text: &str, class: &'static str) -> String {
        let bare = text.trim().trim_end_matches(',').trim_matches(['"', '\'']);
        if bare.is_empty() || bare.starts_with('#') || harmless(bare) {
            return text.to_owned();
        }
        let mark = self.marker.mark(class, bare.as_bytes());
        text.replacen(bare, &mark, 1)
    }

    /// A line of a Secret's data: the name stays, the value does not.
    fn value_alone(&mut self, text: &str, class: &'static str) -> String {
        let named = text.split_once(':').filter(|(key, value)| {
            let key = key.trim_start_matches([' ', '-']).trim_matches(['"', '\'']);
            let name = !key.is_empty()
                && key
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"._-/".contains(&b));
            name && (value.is_empty() || value.starts_with(' '))
        });
        let Some((key, value)) = named else {
            return self.whole(text, class);
        };
        let bare = value.trim();
        if bare.is_empty() || bare.starts_with("<redacted:") || is_open_mark(bare) {
            return text.to_owned();
        }
        let mark = self
            .marker
            .mark(class, bare.trim_matches(['"', '\'']).as_bytes());
        format!("{key}: {mark}")
    }

    /// A line below a secret's name that has no value of its own: an item of its list, its value, or something else.
    fn below(
        &mut self,
        text: &str,
        above: usize,
        class: &'static str,
        lines: usize,
    ) -> Option<String> {
        let indent = text.len() - text.trim_start().len();
        let body = text.trim();
        if body.is_empty() && lines < MAX_OPEN_LINES {
            self.open = Some((Open::Items(above, class), lines + 1));
            return Some(text.to_owned());
        }
        let item = body.strip_prefix("- ").map(str::trim);
        let value = item.unwrap_or(body);
        let structure = value.contains(": ")
            || value.ends_with(':')
            || value.starts_with(['{', '[', '#', '-', '}', ']', '<']);
        if structure || indent < above || (item.is_none() && indent == above) {
            return None;
        }
        if lines < MAX_OPEN_LINES {
            let open = match item {
                Some(_) => Open::Items(above, class),
                None => Open::Deeper(above, class),
            };
            self.open = Some((open, lines + 1));
        }
        let plain = value.trim_matches(['"', '\'']);
        if harmless(plain) || !looks_random(plain) && class != "password" {
            self.open = self.open.take().filter(|_| item.is_some());
            return Some(text.to_owned());
        }
        let mark = self.marker.mark(class, plain.as_bytes());
        Some(text.replacen(plain, &mark, 1))
    }
}
