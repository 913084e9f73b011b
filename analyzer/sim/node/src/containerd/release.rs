//! The containerd release whose rules apply.

use serde::Serialize;

/// Releases that treat a configuration differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Release {
    /// 1.6 and, as far as these rules go, 1.4 and 1.5.
    V1_6,
    /// 1.7.
    V1_7,
    /// 2.0 to 2.2: files are merged first and plugin tables are migrated after that, all at once.
    V2_0,
    /// 2.3 and later: each file is migrated before it is merged; schema version 4 exists.
    V2_3,
}

impl Release {
    /// The highest schema version that the release accepts. 1.6 does not check.
    #[must_use]
    pub fn max_schema(self) -> Option<i64> {
        match self {
            Self::V1_6 => None,
            Self::V1_7 => Some(2),
            Self::V2_0 => Some(3),
            Self::V2_3 => Some(4),
        }
    }

    /// Whether it is a release of the first major version.
    #[must_use]
    pub fn is_v1(self) -> bool {
        matches!(self, Self::V1_6 | Self::V1_7)
    }

    /// How it is named in sentences.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V1_6 => "containerd 1.6",
            Self::V1_7 => "containerd 1.7",
            Self::V2_0 => "containerd 2.0 to 2.2",
            Self::V2_3 => "containerd 2.3",
        }
    }
}

/// A containerd version as it was found, and the release whose rules are used for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Containerd {
    /// The rules in use.
    pub release: Release,
    /// The version number, where one was captured.
    pub version: Option<(u32, u32, u32)>,
    /// What had to be assumed to choose the rules.
    pub assumptions: Vec<String>,
}

impl Containerd {
    /// Reads `containerd://1.7.12`, `v2.1.3-k3s1`, `containerd github.com/… 1.6.20~ds1` and the like.
    ///
    /// Without a version the schema version of the root file decides: 3 and above need containerd 2.
    #[must_use]
    pub fn from_text(text: Option<&str>, root_schema: Option<i64>) -> Self {
        match text.and_then(number) {
            Some(version) => Self::known(version),
            None => Self::guessed(root_schema),
        }
    }

    /// Whether a relative pattern is looked up from the daemon's working directory instead of from the file that names it:
    /// fixed in 1.7.14 and 2.0, and the 1.6 branch is treated as not having it.
    #[must_use]
    pub fn expands_from_working_directory(&self) -> bool {
        match self.version {
            Some((1, 7, patch)) => patch < 14,
            _ => self.release == Release::V1_6,
        }
    }

    /// Whether the built-in `runc` stays beside a file's table of runtimes: up to 1.4 and again from 2.0 on.
    #[must_use]
    pub fn keeps_runc(&self) -> bool {
        !self.release.is_v1() || matches!(self.version, Some((0, ..) | (1, 0..=4, _)))
    }

    /// Whether CRI pulls images through the transfer service, and needs it: from 2.1 on.
    #[must_use]
    pub fn pulls_by_transfer(&self) -> bool {
        self.version.is_some_and(|version| version >= (2, 1, 0))
    }

    fn known(version: (u32, u32, u32)) -> Self {
        let mut assumptions = Vec::new();
        let release = match version {
            (0, ..) | (1, 0..=5, _) => {
                assumptions.push(format!(
                    "containerd {}.{} is treated as 1.6",
                    version.0, version.1
                ));
                Release::V1_6
            }
            (1, 6, _) => Release::V1_6,
            (1, ..) => Release::V1_7,
            (2, 0..=2, _) => Release::V2_0,
            (2, 3, _) => Release::V2_3,
            _ => {
                assumptions.push(format!(
                    "containerd {}.{} is treated as 2.3",
                    version.0, version.1
                ));
                Release::V2_3
            }
        };
        Self {
            release,
            version: Some(version),
            assumptions,
        }
    }

    fn guessed(root_schema: Option<i64>) -> Self {
        let (release, why) = match root_schema {
            Some(4..) => (Release::V2_3, "its root file says version 4"),
            Some(3) => (Release::V2_0, "its root file says version 3"),
            _ => (
                Release::V1_7,
                "its root file does not say version 3 or above",
            ),
        };
        let assumption = format!(
            "the version of this containerd was not captured; the rules of {} are used because {why}",
            release.name()
        );
        Self {
            release,
            version: None,
            assumptions: vec![assumption],
        }
    }
}

/// The first `MAJOR.MINOR[.PATCH]` of a text that starts a word.
fn number(text: &str) -> Option<(u32, u32, u32)> {
    let words = text
        .split(|c: char| c.is_whitespace() || c == '/')
        .filter(|word| !word.is_empty());
    for word in words {
        let word = word.strip_prefix('v').unwrap_or(word);
        let mut parts = word.splitn(3, '.');
        let (Some(major), Some(minor)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (Ok(major), Some(minor)) = (major.parse(), leading(minor)) else {
            continue;
        };
        return Some((major, minor, parts.next().and_then(leading).unwrap_or(0)));
    }
    None
}

fn leading(text: &str) -> Option<u32> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.get(..digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_every_place_that_states_them() {
        for (text, want) in [
            ("containerd://1.7.12", (1, 7, 12)),
            ("containerd://2.1.3-k3s1", (2, 1, 3)),
            (
                "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3",
                (1, 6, 20),
            ),
            (
                "containerd github.com/containerd/containerd/v2 2.1.9+unknown ",
                (2, 1, 9),
            ),
            ("v2.0", (2, 0, 0)),
        ] {
            assert_eq!(number(text), Some(want), "{text}");
        }
        assert_eq!(
            number("containerd github.com/containerd/containerd/v2 unknown"),
            None
        );
    }

    #[test]
    fn an_unknown_version_says_what_was_assumed() {
        let guess = Containerd::from_text(None, Some(3));
        assert_eq!(guess.release, Release::V2_0);
        assert!(
            guess
                .assumptions
                .iter()
                .any(|line| line.contains("not captured"))
        );
    }
}
