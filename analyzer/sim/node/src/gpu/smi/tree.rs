//! Labels and values as a tree, from XML or from indented text, so that both are read by the same code.

use roxmltree::{Document, Node, ParsingOptions};

/// Deeper nesting than any driver prints is left out.
const DEEPEST: usize = 24;

/// A label with its value and what stands below it.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    /// In small letters, words joined by underscores.
    pub(super) label: String,
    /// Value; empty for a heading.
    pub(super) value: String,
    /// Line, from 1.
    pub(super) line: u32,
    pub(super) children: Vec<Tree>,
}

impl Tree {
    /// The value at the first of several paths that exists; a path is labels joined by points.
    pub(super) fn at(&self, paths: &[&str]) -> Option<&str> {
        let mut found = paths.iter().filter_map(|path| self.below(path));
        found.next().map(|tree| tree.value.as_str())
    }

    /// What stands at a path.
    pub(super) fn below(&self, path: &str) -> Option<&Tree> {
        let mut tree = self;
        for label in path.split('.') {
            tree = tree.children.iter().find(|child| child.label == label)?;
        }
        Some(tree)
    }

    /// Children with a label.
    pub(super) fn all<'a>(&'a self, label: &'a str) -> impl Iterator<Item = &'a Tree> {
        self.children
            .iter()
            .filter(move |child| child.label == label)
    }

    /// Every label below this one, at any depth.
    pub(super) fn walk(&self, visit: &mut dyn FnMut(&Tree)) {
        for child in &self.children {
            visit(child);
            child.walk(visit);
        }
    }
}

/// Reads `-q -x`.
pub(super) fn from_xml(text: &str) -> Result<Tree, (u32, String)> {
    // The report starts with a DOCTYPE; entities cannot be declared in it without being expanded,
    // which roxmltree bounds.
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let start = text.find('<').unwrap_or(0);
    let skipped = newlines(&text[..start]);
    let xml = Document::parse_with_options(&text[start..], options)
        .map_err(|error| (error.pos().row.saturating_add(skipped), error.to_string()))?;
    let mut lines = Lines {
        text: xml.input_text(),
        at: 0,
        line: skipped.saturating_add(1),
    };
    Ok(convert(xml.root_element(), &mut lines, 0))
}

fn newlines(text: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text.as_bytes()).count()).unwrap_or(u32::MAX)
}

/// Counts lines forward only, since elements come in order.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl Lines<'_> {
    fn of(&mut self, offset: usize) -> u32 {
        if let Some(between) = self.text.get(self.at..offset) {
            self.line = self.line.saturating_add(newlines(between));
            self.at = offset;
        }
        self.line
    }
}

fn convert(node: Node<'_, '_>, lines: &mut Lines<'_>, depth: usize) -> Tree {
    let line = lines.of(node.range().start);
    let elements = node.children().filter(Node::is_element);
    let children = if depth < DEEPEST {
        elements
            .map(|child| convert(child, lines, depth + 1))
            .collect()
    } else {
        Vec::new()
    };
    let text = node.attribute("id").or_else(|| node.text());
    Tree {
        label: label(node.tag_name().name()),
        value: text.map(str::trim).unwrap_or_default().to_owned(),
        line,
        children,
    }
}

/// Reads `-q`: labels by indentation, values after a colon.
pub(super) fn from_text(text: &str) -> Tree {
    let mut open: Vec<(usize, Tree)> = vec![(0, Tree::default())];
    for (line, number) in text.lines().zip(1_u32..) {
        let Some((indent, mut entry)) = entry(line) else {
            continue;
        };
        entry.line = number;
        while open.len() > 1
            && (open.last().is_some_and(|(at, _)| *at >= indent) || open.len() > DEEPEST)
        {
            close(&mut open);
        }
        open.push((indent, entry));
    }
    while open.len() > 1 {
        close(&mut open);
    }
    open.pop().map(|(_, root)| root).unwrap_or_default()
}

fn close(open: &mut Vec<(usize, Tree)>) {
    if let Some((_, done)) = open.pop()
        && let Some((_, parent)) = open.last_mut()
    {
        parent.children.push(done);
    }
}

/// A line's depth and label. A GPU's heading carries its bus address instead of a colon.
fn entry(line: &str) -> Option<(usize, Tree)> {
    let body = line.trim_start();
    let indent = line.len() - body.len() + 1;
    let body = body.trim_end();
    if body.is_empty() || body.starts_with("====") {
        return None;
    }
    let address = body.strip_prefix("GPU ").filter(|rest| is_address(rest));
    let (name, value) = match (address, body.split_once(" : "), body.strip_suffix(':')) {
        (Some(address), _, _) => ("gpu", address),
        (None, Some((name, value)), _) => (name, value),
        (None, None, Some(name)) => (name, ""),
        (None, None, None) => (body, ""),
    };
    let tree = Tree {
        label: label(name),
        value: value.trim().to_owned(),
        ..Tree::default()
    };
    Some((indent, tree))
}

/// A PCI address, as `00000000:19:00.0`.
pub(super) fn is_address(text: &str) -> bool {
    let parts: Vec<&str> = text.trim().split([':', '.']).collect();
    parts.len() == 4
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn label(name: &str) -> String {
    let mut label = String::with_capacity(name.len());
    for word in name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        if !label.is_empty() {
            label.push('_');
        }
        label.push_str(&word.to_ascii_lowercase());
    }
    label
}
