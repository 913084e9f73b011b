//! The samples, and which half each belongs to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::worth::dummy;
use super::{go, more, rules};

/// A shorter text cannot be searched for in what comes out.
const SHORTEST: usize = 8;
/// Longer ones are documents.
const LONGEST: usize = 4000;

/// One secret of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sample {
    /// The program that it belongs to.
    pub(crate) scanner: &'static str,
    /// The rule, detector or plug-in.
    pub(crate) rule: String,
    /// What has to be found.
    pub(crate) secret: String,
    /// The scanner's own text around it.
    pub(crate) native: Option<String>,
    /// Its first letters say whose it is.
    pub(crate) prefixed: bool,
    /// The same secret of the same rule stands in an earlier sample.
    pub(crate) again: bool,
}

impl Sample {
    /// A sample whose beginning decides whether it has a prefix: a word and a sign, or one of the well-known ones.
    pub(crate) fn new(
        scanner: &'static str,
        rule: &str,
        secret: &str,
        native: Option<String>,
    ) -> Self {
        let prefixed = has_prefix(secret);
        Self {
            scanner,
            rule: rule.to_owned(),
            secret: secret.trim().trim_start_matches('=').to_owned(),
            native,
            prefixed,
            again: false,
        }
    }

    /// Whether redaction is mended against it.
    pub(crate) fn seen(&self) -> bool {
        Sha256::digest(self.title())[0].is_multiple_of(2)
    }

    /// `gitleaks/adobe`.
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.scanner, self.rule)
    }

    /// Whether it can be searched for, and is a secret rather than what shows where one would stand.
    pub(crate) fn worth(&self) -> bool {
        (SHORTEST..=LONGEST).contains(&self.secret.len())
            && !self.needles().is_empty()
            && !dummy(&self.secret)
            && !NO_SECRETS.contains(&self.rule.as_str())
    }

    /// Texts that give it away: of several lines each long one, without those that say what a block is.
    pub(crate) fn needles(&self) -> Vec<String> {
        if !self.secret.contains('\n') {
            return vec![self.secret.clone()];
        }
        self.secret
            .lines()
            .map(str::trim)
            .filter(|line| line.len() >= 16 && !line.contains("-----"))
            .map(str::to_owned)
            .collect()
    }
}

/// Rules that find no secrets: names of homes, examples and other people's expressions.
const NO_SECRETS: [&str; 4] = ["no-homedir", "pattern", "example", "filter-comments"];

fn has_prefix(secret: &str) -> bool {
    let letters = secret.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let word = (2..=10).contains(&letters)
        && secret.as_bytes()[0].is_ascii_alphabetic()
        && secret.len() > letters + 10
        && b"_.:-".contains(&secret.as_bytes()[letters])
        && secret[..letters].bytes().filter(u8::is_ascii_digit).count() < 3;
    let uuid = letters == 8 && secret.len() == 36;
    (word && !uuid)
        || ["eyJ", "AKIA", "ASIA", "AIza", "-----BEGIN"]
            .iter()
            .any(|known| secret.starts_with(known))
}

/// What a secret is made of, for the tables.
pub(crate) fn shape(secret: &str) -> String {
    let has = |sort: fn(char) -> bool| secret.chars().any(sort);
    let hex = secret.chars().all(|c| c.is_ascii_hexdigit());
    let uuid = secret.len() == 36 && secret.matches('-').count() == 4;
    let signs = has(|c| !c.is_ascii_alphanumeric());
    let digits = has(|c| c.is_ascii_digit());
    let sort = match (
        has(|c| c.is_ascii_lowercase()),
        has(|c| c.is_ascii_uppercase()),
    ) {
        _ if secret.chars().all(|c| c.is_ascii_digit()) => "number",
        _ if uuid => "uuid",
        _ if hex && digits => "hexadecimal",
        (false, false) => "digits",
        (true, true) if digits => "upper, lower, digits",
        (true, true) => "upper, lower",
        (true, false) if digits => "lower, digits",
        (false, true) if digits => "upper, digits",
        _ => "one case",
    };
    let length = match secret.len() {
        ..16 => "8..15",
        16..24 => "16..23",
        24..40 => "24..39",
        40..80 => "40..79",
        _ => "80..",
    };
    format!(
        "{sort}{} {length}",
        if signs && !uuid { ", signs" } else { "" }
    )
}

/// Everything that the checkouts below a folder hold, without what those below another one hold. Given such a one, a
/// secret of two rules counts once: it would stand in both halves.
pub(crate) fn read(folder: &Path, but: Option<&Path>) -> Vec<Sample> {
    let all: BTreeSet<Sample> = files(folder)
        .iter()
        .flat_map(|file| of_file(file))
        .collect();
    let others = but.map(|but| files(but).into_iter().flat_map(|file| of_file(&file)));
    let mut held: Option<BTreeSet<String>> =
        others.map(|others| others.map(|sample| sample.secret).collect());
    let mut known = BTreeSet::new();
    all.into_iter()
        .filter(Sample::worth)
        .map(|mut sample| {
            sample.again = !known.insert((sample.title(), sample.secret.clone()));
            sample
        })
        .filter(|sample| match &mut held {
            Some(held) => sample.again || held.insert(sample.secret.clone()),
            None => true,
        })
        .collect()
}

/// The samples that one file holds.
fn of_file(file: &Path) -> Vec<Sample> {
    let path = file.to_string_lossy();
    let Ok(text) = std::fs::read_to_string(file) else {
        return Vec::new();
    };
    let stem = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let under = |folder: &str| path.contains(folder);
    let ends = |end: &str| path.ends_with(end);
    match () {
        () if ends("config/gitleaks.toml") => rules::gitleaks("gitleaks", &text, file),
        () if under("/detectors/") && ends("_test.go") && !under("integration") => {
            go::trufflehog(&text, stem.trim_end_matches("_test"))
        }
        () if under("/tests/plugins/") && ends("_test.py") => {
            rules::detect_secrets(&text, stem.trim_end_matches("_test"))
        }
        () if under("/builtin/rules/") && ends(".yml") => {
            rules::noseyparker("noseyparker", &text, &stem)
        }
        () if under("/test/snapshots/") && ends("output.json") => {
            let rule = path.split("secretlint-rule-").nth(1).unwrap_or_default();
            rules::secretlint(&text, rule.split('/').next().unwrap_or_default())
        }
        () => of_later(file, &text, &stem),
    }
}

/// The same of scanners that came later.
fn of_later(file: &Path, text: &str, stem: &str) -> Vec<Sample> {
    let path = file.to_string_lossy();
    let under = |folder: &str| path.contains(folder);
    let ends = |end: &str| path.ends_with(end);
    match () {
        () if ends("config/betterleaks.toml") => rules::gitleaks("betterleaks", text, file),
        () if under("kingfisher/") && under("/data/rules/") && ends(".yml") => {
            rules::noseyparker("kingfisher", text, stem)
        }
        () if under("/pkg/rule/rules/") && ends(".yml") => rules::noseyparker("titus", text, stem),
        () if under("/ruledefine/") && ends("_test.go") => {
            more::two_ms(text, stem.trim_end_matches("_test"))
        }
        () if ends("secret/builtin-rules.go") => more::trivy(text),
        () if ends("db/rules-stable.yml") => {
            more::named("secrets-patterns-db", text, "name", "regex")
        }
        () if ends("shhgit/config.yaml") => more::named("shhgit", text, "name", "regex"),
        () if under("/GeneratedRegexPatterns/") && ends("SecurityModels.json") => {
            more::named("security-utilities", text, "Name", "Pattern")
        }
        () if under("/veles/secrets/") && ends("_test.go") => {
            let folder = file.parent().and_then(Path::file_name);
            more::scalibr(text, &folder.unwrap_or_default().to_string_lossy())
        }
        () if ends("credsweeper/tests/data/output.json") => more::credsweeper(text),
        () if under("/generic/secrets/security/") && ends(".yaml") => more::semgrep(text, stem),
        () => Vec::new(),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect();
    files.sort();
    files
}
