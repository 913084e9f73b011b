//! Host paths as Go's `path/filepath` treats them: cleaned, joined and matched by text, never by a disk.

/// `filepath.Clean` for Unix: the shortest equivalent path, by text only.
#[must_use]
pub fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if rooted => {}
            _ => kept.push(part),
        }
    }
    let joined = kept.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// `filepath.Dir`: everything before the last slash, cleaned.
#[must_use]
pub fn dir(path: &str) -> String {
    match path.rfind('/') {
        Some(at) => clean(path.get(..=at).unwrap_or("/")),
        None => ".".to_owned(),
    }
}

/// `filepath.Join` of two parts.
#[must_use]
pub fn join(left: &str, right: &str) -> String {
    clean(&format!("{left}/{right}"))
}

/// The last segment of a path.
#[must_use]
pub fn base(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

/// Puts a socket address into one spelling: no `unix://`, `/var/run` as `/run`, cleaned.
///
/// `/var/run` is a link to `/run` on every distribution that ships containerd.
#[must_use]
pub fn socket(address: &str) -> String {
    let bare = address
        .trim()
        .strip_prefix("unix:")
        .unwrap_or(address.trim());
    let bare = if bare.starts_with("//") {
        bare.trim_start_matches('/')
    } else {
        bare
    };
    let path = if bare.starts_with('/') {
        clean(bare)
    } else {
        clean(&format!("/{bare}"))
    };
    same_run(&path)
}

/// Rewrites `/var/run/x` to `/run/x`.
#[must_use]
pub fn same_run(path: &str) -> String {
    match path.strip_prefix("/var/run/") {
        Some(rest) => format!("/run/{rest}"),
        None => path.to_owned(),
    }
}

/// Whether Go would treat the text as a pattern.
#[must_use]
pub fn has_meta(text: &str) -> bool {
    text.contains(['*', '?', '[', '\\'])
}

/// One step of a compiled segment pattern.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Star,
    Any,
    One(char),
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Step {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Star => false,
            Self::Any => true,
            Self::One(want) => *want == c,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| *low <= c && c <= *high) != *negated
            }
        }
    }
}

/// A pattern for one path segment, in the syntax of Go's `filepath.Match`.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentPattern(Vec<Step>);

impl SegmentPattern {
    /// Compiles a pattern; `None` where Go reports `ErrBadPattern`.
    #[must_use]
    pub fn new(pattern: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            steps.push(match c {
                '*' => Step::Star,
                '?' => Step::Any,
                '\\' => Step::One(chars.next()?),
                '[' => class(&mut chars)?,
                other => Step::One(other),
            });
        }
        steps.dedup_by(|a, b| *a == Step::Star && *b == Step::Star);
        Some(Self(steps))
    }

    /// Whether the whole name matches. The work is bounded by name length times pattern length.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut at_name, mut at_step) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while at_name < name.len() {
            match (self.0.get(at_step), name.get(at_name)) {
                (Some(Step::Star), _) => {
                    retry = Some((at_step, at_name));
                    at_step += 1;
                }
                (Some(step), Some(c)) if step.takes(*c) => {
                    at_step += 1;
                    at_name += 1;
                }
                _ => {
                    let Some((star, from)) = retry else {
                        return false;
                    };
                    retry = Some((star, from + 1));
                    at_step = star + 1;
                    at_name = from + 1;
                }
            }
        }
        self.0.iter().skip(at_step).all(|step| *step == Step::Star)
    }
}

fn class(chars: &mut std::str::Chars<'_>) -> Option<Step> {
    let negated = chars.clone().next() == Some('^');
    if negated {
        chars.next();
    }
    let mut ranges = Vec::new();
    loop {
        let low = match chars.next()? {
            ']' if !ranges.is_empty() => return Some(Step::Class { negated, ranges }),
            '\\' => chars.next()?,
            ']' | '-' => return None,
            c => c,
        };
        let mut high = low;
        if chars.clone().next() == Some('-') {
            chars.next();
            high = match chars.next()? {
                '\\' => chars.next()?,
                ']' | '-' => return None,
                c => c,
            };
        }
        ranges.push((low, high));
    }
}

/// Whether Go's `filepath.Glob` accepts the pattern.
#[must_use]
pub fn pattern_ok(pattern: &str) -> bool {
    pattern
        .split('/')
        .all(|segment| SegmentPattern::new(segment).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_as_go_cleans_them() {
        for (input, want) in [
            ("/a//b/../c/.", "/a/c"),
            ("", "."),
            ("../x", "../x"),
            ("/../x", "/x"),
            ("a/..", "."),
        ] {
            assert_eq!(clean(input), want, "{input}");
        }
        assert_eq!(dir("/etc/containerd/config.toml"), "/etc/containerd");
        assert_eq!(join("/etc/containerd", "../x/*.toml"), "/etc/x/*.toml");
    }

    #[test]
    fn a_socket_has_one_spelling() {
        for spelling in [
            "unix:///run/containerd/containerd.sock",
            "/var/run/containerd/containerd.sock",
            "unix:/run/containerd/containerd.sock",
            "/run//containerd/containerd.sock",
        ] {
            assert_eq!(
                socket(spelling),
                "/run/containerd/containerd.sock",
                "{spelling}"
            );
        }
    }

    #[test]
    fn segments_match_as_go_matches_them() {
        for (pattern, name, want) in [
            ("*.toml", "a.toml", true),
            ("*.toml", ".toml", true),
            ("*.toml", "a.toml.bak", false),
            ("[0-9]*-x", "99-x", true),
            ("[^a]*", "abc", false),
            ("a?c", "abc", true),
            ("\\*", "*", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
        ] {
            let compiled = SegmentPattern::new(pattern).expect(pattern);
            assert_eq!(compiled.matches(name), want, "{pattern} {name}");
        }
        for bad in ["[", "[]a]", "[a-]", "a\\", "[-]"] {
            assert!(!pattern_ok(bad), "{bad}");
        }
    }
}
