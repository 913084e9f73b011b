//! The report inside the page: its places lead to the lines of the capture.

use std::fmt::Write as _;

/// How the report's template writes a place that leads nowhere.
const OPEN: &str = "<span class=\"place\">";
const CLOSE: &str = "</span>";

/// The report with each place `PATH` or `PATH:LINE` as a link that opens it in the page around the report. Texts of the
/// capture are escaped in a report, so none of them can look like a place.
pub(super) fn linked(html: &str, prefix: &str) -> String {
    let mut out = String::with_capacity(html.len() + html.len() / 16);
    let mut rest = html;
    while let Some(at) = rest.find(OPEN) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let inner = &from[OPEN.len()..];
        let Some(end) = inner.find(CLOSE) else {
            rest = from;
            break;
        };
        let place = &inner[..end];
        let (path, line) = divided(place);
        let mut href = "/ui/#c=".to_owned();
        push_encoded(&unescaped(prefix), &mut href);
        href.push_str("&amp;file=");
        push_encoded(&unescaped(path), &mut href);
        if let Some(line) = line {
            let _ = write!(href, "&amp;line={line}");
        }
        let _ = write!(
            out,
            "<a class=\"place\" target=\"_top\" href=\"{href}\">{place}</a>"
        );
        rest = &inner[end + CLOSE.len()..];
    }
    out.push_str(rest);
    out
}

/// Path and line of a place.
fn divided(place: &str) -> (&str, Option<u32>) {
    let split = place.rsplit_once(':');
    match split.and_then(|(path, line)| Some((path, line.parse().ok()?))) {
        Some((path, line)) => (path, Some(line)),
        None => (place, None),
    }
}

fn unescaped(text: &str) -> String {
    let plain = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
        ("&#x2F;", "/"),
        ("&amp;", "&"),
    ];
    let replaced = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    plain.iter().fold(text.to_owned(), replaced)
}

fn push_encoded(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_to_their_lines_and_nothing_else_changes() {
        let html = "<p>a <span class=\"place\">nodes/n/a&amp;b.log:12</span> b <span class=\"place\">x&quot;&gt;&lt;script&gt;.log</span></p>";
        assert_eq!(
            linked(html, "/context-a"),
            "<p>a <a class=\"place\" target=\"_top\" href=\"/ui/#c=/context-a&amp;file=nodes/n/a%26b.log&amp;line=12\">\
nodes/n/a&amp;b.log:12</a> b <a class=\"place\" target=\"_top\" href=\"/ui/#c=/context-a&amp;file=x%22%3E%3Cscript%3E.log\">\
x&quot;&gt;&lt;script&gt;.log</a></p>"
        );
        let cut = "<p><span class=\"place\">never closed";
        assert_eq!(linked(cut, ""), cut);
    }

    #[test]
    fn a_joined_place_keeps_its_node() {
        let html = "<span class=\"place\">gpu-1:cluster-resources/nodes.json:3</span>";
        let made = linked(html, "");
        assert!(
            made.contains("file=gpu-1%3Acluster-resources/nodes.json&amp;line=3\""),
            "{made}"
        );
    }
}
