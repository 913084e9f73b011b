//! A drawing: inline SVG made here, with every text escaped and a title and description for screen readers.
//!
//! Colours come from the page's style sheet by class, so that drawings follow dark mode and print.

use std::fmt::Write as _;

use serde::Serialize;

use super::escape;

pub(crate) mod activity;
mod axis;
pub(crate) mod gpu_map;
pub(crate) mod graph;
pub(crate) mod layers;
pub(crate) mod nodes;
pub(crate) mod packet_path;
pub(crate) mod packing;
pub(crate) mod timeline;

/// Finished SVG. Only this module makes one, so templates may print it as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Svg(String);

/// Pixels of a drawing that a phone shows without scrolling sideways.
const PHONE: i64 = 340;

/// SVG under construction.
struct Canvas {
    body: String,
}

impl Canvas {
    fn new() -> Self {
        Canvas {
            body: String::new(),
        }
    }

    /// Appends markup of this module's own; texts in it must have gone through [`escape::html`].
    fn raw(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.body.write_fmt(markup);
        self.body.push('\n');
    }

    fn text(&mut self, x: i64, y: i64, class: &str, anchor: &str, text: &str) {
        let text = escape::html(&escape::visible(&escape::one_line(text), false));
        self.raw(format_args!(
            "<text x=\"{x}\" y=\"{y}\" class=\"{class}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    fn rect(&mut self, x: i64, y: i64, width: i64, height: i64, class: &str) {
        self.raw(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\" class=\"{class}\"/>"
        ));
    }

    fn finish(self, id: &str, width: i64, height: i64, title: &str, description: &str) -> Svg {
        let title = escape::html(title);
        let description = escape::html(description);
        // A phone shows the words of a drawing that is wider than its screen.
        let class = if width > PHONE { " class=\"wide\"" } else { "" };
        Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"{class} width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{description}</desc>\n{}</svg>",
            self.body
        ))
    }
}

/// Width of text in columns: wide scripts count double.
fn columns(text: &str) -> usize {
    text.chars()
        .map(|c| if u32::from(c) >= 0x1100 { 2 } else { 1 })
        .sum()
}

/// Breaks text into at most `lines` lines of at most `width` columns; what does not fit ends with `…`.
fn wrap(text: &str, width: usize, lines: usize) -> Vec<String> {
    let text = escape::visible(&escape::one_line(text), false)
        .trim()
        .to_owned();
    let mut out: Vec<String> = vec![String::new()];
    let mut overflow = false;
    for word in text.split(' ') {
        let mut word = word.to_owned();
        loop {
            let last = out.last().map_or(0, |line| columns(line));
            let gap = usize::from(last > 0);
            if last + gap + columns(&word) <= width {
                if let Some(line) = out.last_mut() {
                    if gap > 0 {
                        line.push(' ');
                    }
                    line.push_str(&word);
                }
                break;
            }
            if out.len() > lines {
                overflow = true;
                break;
            }
            if last > 0 {
                out.push(String::new());
                continue;
            }
            // A word longer than a line: break it, after a mark if there is one late enough.
            let head = break_word(&word, width);
            word.drain(..head.len());
            if let Some(line) = out.last_mut() {
                line.push_str(&head);
            }
            out.push(String::new());
        }
    }
    out.retain(|line| !line.is_empty());
    if overflow || out.len() > lines {
        out.truncate(lines);
        if let Some(last) = out.last_mut() {
            let kept: String = last.chars().take(width.saturating_sub(1)).collect();
            *last = format!("{}…", kept.trim_end());
        }
    }
    out
}

/// The part of a long word that goes on one line. Never empty, so that wrapping always ends.
fn break_word(word: &str, width: usize) -> String {
    let mut head = String::new();
    let mut at_mark = 0;
    for c in word.chars() {
        if columns(&head) + 2 > width && !head.is_empty() {
            break;
        }
        head.push(c);
        if "-/._:=,".contains(c) {
            at_mark = head.len();
        }
    }
    if at_mark > head.len() / 2 {
        head.truncate(at_mark);
    }
    head
}

/// A name that fits beside a lane: the end says more than the beginning.
fn shorten(name: &str, room: usize) -> String {
    let name = escape::visible(&escape::one_line(name), false).into_owned();
    let count = name.chars().count();
    if count <= room {
        return name;
    }
    let head: String = name.chars().take(room / 2 - 2).collect();
    let tail: String = name.chars().skip(count - (room - room / 2 + 1)).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_break_into_lines_and_end_with_an_ellipsis() {
        assert_eq!(
            wrap("toolkit edits the wrong file", 14, 3),
            ["toolkit edits", "the wrong file"]
        );
        let lines = wrap(&"x".repeat(500), 20, 3);
        assert_eq!(lines.len(), 3);
        assert!(lines[2].ends_with('…'));
        assert!(lines.iter().all(|line| line.chars().count() <= 20));
    }

    #[test]
    fn nothing_to_write_gives_no_lines() {
        assert!(wrap("  ", 10, 2).is_empty());
    }
}
