//! The survey: the names of all entries of an input and how each begins, read before its content.

use std::collections::BTreeSet;
use std::ops::Range;

use casefile_bundle::{Input, Limits, OpenError};

/// Bytes of each entry that are kept.
const HEAD: usize = 6 << 10;
/// Bytes of all heads together; entries behind that are known by name only.
const HEADS: usize = 64 << 20;

/// How an entry begins.
pub struct Entry {
    /// Path.
    pub path: String,
    /// First bytes.
    pub head: Vec<u8>,
    /// Last bytes, of a large one.
    pub tail: Vec<u8>,
    /// Declared size in bytes.
    pub size: Option<u64>,
}

impl Entry {
    /// The beginning as text.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.head)
    }
}

/// What an input holds, sorted by path.
#[derive(Default)]
pub struct Survey {
    /// All entries.
    pub entries: Vec<Entry>,
    /// Stretches of them that are not looked at for single files.
    covered: Vec<Range<usize>>,
}

impl Survey {
    /// Looks through an input; none for a bundle of ours, whose header says all.
    pub fn of<'a>(input: impl Into<Input<'a>>) -> Result<Option<Self>, OpenError> {
        let found = casefile_bundle::survey(input, &Limits::default(), HEAD, HEADS)?;
        let ours = found
            .iter()
            .any(|one| one.entry.path.as_str() == casefile_bundle::HEADER_PATH);
        if ours {
            return Ok(None);
        }
        let entries = found.into_iter().map(|one| Entry {
            path: one.entry.path.to_string(),
            head: one.head,
            tail: one.tail,
            size: one.entry.size,
        });
        Ok(Some(Self::new(entries.collect())))
    }

    /// A survey of these entries.
    pub fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Self {
            entries,
            covered: Vec::new(),
        }
    }

    /// Looks for single files beside those only, until [`Self::uncover`].
    pub(super) fn cover(&mut self, is_inside: impl Fn(&str) -> bool) {
        let inside = self.entries.iter().map(|entry| is_inside(&entry.path));
        let inside: Vec<bool> = inside.collect();
        let mut at = 0;
        for alike in inside.chunk_by(|one, other| one == other) {
            let stretch = at..at + alike.len();
            at = stretch.end;
            if alike.first() == Some(&true) {
                self.covered.push(stretch);
            }
        }
    }

    /// Looks at all again.
    pub(super) fn uncover(&mut self) {
        self.covered.clear();
    }

    /// Entries that are looked at for single files.
    fn open(&self) -> impl Iterator<Item = &Entry> {
        let starts = self.covered.iter().map(|covered| covered.end);
        let ends = self.covered.iter().map(|covered| covered.start);
        let stretches = std::iter::once(0).chain(starts);
        let stretches = stretches.zip(ends.chain([self.entries.len()]));
        stretches.flat_map(|(start, end)| &self.entries[start..end])
    }

    /// Whether any entry begins like a log, a table, a description or an object, as far as one line tells.
    pub fn tells(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.text().lines().take(80).any(tells))
    }

    /// The entry with this path.
    pub fn get(&self, path: &str) -> Option<&Entry> {
        let at = self
            .entries
            .binary_search_by(|entry| entry.path.as_str().cmp(path));
        self.entries.get(at.ok()?)
    }

    /// Whether there is an entry with this path.
    pub fn has(&self, path: &str) -> bool {
        self.get(path).is_some()
    }

    /// Entries whose path starts like this.
    pub fn below<'s>(&'s self, prefix: &str) -> impl Iterator<Item = &'s Entry> + use<'s> {
        let from = self
            .entries
            .partition_point(|entry| entry.path.as_str() < prefix);
        let rest = self.entries[from..].iter();
        let prefix = prefix.to_owned();
        rest.take_while(move |entry| entry.path.starts_with(&prefix))
    }

    /// Whether there is anything below a folder, named with its `/`.
    pub fn has_folder(&self, folder: &str) -> bool {
        self.below(folder).next().is_some()
    }

    /// The first line of a short entry.
    pub fn line(&self, path: &str) -> Option<String> {
        let text = self.get(path)?.text().into_owned();
        let line = text.lines().find(|line| !line.trim().is_empty())?;
        Some(line.trim().to_owned())
    }

    /// What stands before this name in paths that hold it as a segment, or that end in it; each once.
    pub fn roots(&self, marker: &str) -> Vec<String> {
        self.roots_of(|path| {
            let places = memchr::memmem::find_iter(path.as_bytes(), marker);
            let mut begins = places.filter(|at| {
                let starts = *at == 0 || path[..*at].ends_with('/');
                starts && (marker.ends_with('/') || *at + marker.len() == path.len())
            });
            Some(&path[..begins.next()?])
        })
    }

    /// The roots that paths tell; each once.
    pub fn roots_of<'s>(&'s self, root: impl Fn(&'s str) -> Option<&'s str>) -> Vec<String> {
        let roots = self.open().filter_map(|entry| root(&entry.path));
        let roots: BTreeSet<&str> = roots.collect();
        roots.into_iter().map(str::to_owned).collect()
    }

    /// Roots at which a second name lies as well.
    pub fn roots_with(&self, marker: &str, any: &[&str]) -> Vec<String> {
        let mut roots = self.roots(marker);
        roots.retain(|root| {
            any.iter()
                .any(|one| self.has_folder(&format!("{root}{one}")))
        });
        roots
    }

    /// Entries that are a capture by themselves, told by how they begin.
    pub fn files(&self, told: impl Fn(&Entry) -> bool) -> Vec<String> {
        let found = self.open().filter(|entry| told(entry));
        found.map(|entry| entry.path.clone()).collect()
    }
}

/// Whether a line is a log's, or begins something that is recognised by content.
fn tells(line: &str) -> bool {
    const STARTS: [&str; 14] = [
        "apiVersion:",
        "kind:",
        "Name:",
        "NAME ",
        "NAMESPACE ",
        "LAST SEEN",
        "==> ",
        "*nat",
        "*filter",
        "{\"",
        "[{",
        "+----",
        "Chain ",
        "table ",
    ];
    let line = line.trim_start();
    let klog = |line: &str| {
        let bytes = line.as_bytes();
        bytes.len() > 20
            && b"IWEF".contains(&bytes[0])
            && bytes[1..5].iter().all(u8::is_ascii_digit)
            && bytes[5] == b' '
    };
    let dated = line.len() > 19
        && line.as_bytes()[4] == b'-'
        && line.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    STARTS.iter().any(|start| line.starts_with(start))
        || line == "{"
        || klog(line)
        || dated
        || line.contains("level=")
        || super::node_files::host_of(line).is_some()
        || (line.starts_with('[')
            && line[1..]
                .trim_start()
                .starts_with(|c: char| c.is_ascii_digit()))
}

/// A file's name without folders and without the endings of compressions.
pub fn name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    without_packing(name)
}

/// The same as a part of a path of ours: other letters than those that are seen become `-`.
pub(super) fn plain_name(path: &str) -> String {
    let letters = name(path).chars();
    let letters = letters.map(|letter| match letter.is_ascii_graphic() && letter != '/' {
        true => letter,
        false => '-',
    });
    letters.collect()
}

/// A path without the endings of compressions.
pub fn without_packing(path: &str) -> &str {
    let endings = [".gz", ".xz", ".bz2", ".zst", ".lz4"];
    let packed = endings.iter().find_map(|ending| path.strip_suffix(ending));
    packed.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn single_files_are_looked_for_beside_what_is_covered(paths in proptest::collection::btree_set("[abc]/[a-d]", 0..9)) {
            let entry = |path: &String| Entry {
                path: path.clone(),
                head: Vec::new(),
                tail: Vec::new(),
                size: None,
            };
            let mut survey = Survey::new(paths.iter().map(entry).collect());
            let all: Vec<String> = paths.iter().cloned().collect();
            survey.cover(|path| path.starts_with('b') || path == "a/a");
            let beside = all.iter().filter(|path| !path.starts_with('b') && *path != "a/a");
            proptest::prop_assert_eq!(survey.files(|_| true), beside.cloned().collect::<Vec<_>>());
            survey.uncover();
            proptest::prop_assert_eq!(survey.files(|_| true), all);
        }
    }
}
