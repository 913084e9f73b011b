//! The whole set as a browsable reference in Markdown: an index by family, one page a rule.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use super::file::Kind;
use super::{Rule, RuleSet, show};

/// Writes `README.md` and `<family>/<id>.md` below a folder; gives the files, in order.
///
/// A family or id that would lead out of the folder is an error, as is a file that cannot be written.
pub fn write(set: &RuleSet, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    let mut put = |name: &str, text: &[u8]| {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, text)?;
        written.push(path);
        Ok::<(), io::Error>(())
    };
    put("README.md", index(set).as_bytes())?;
    for rule in &set.rules {
        let mut page = Vec::new();
        let link = |id: &str| match set.rules.iter().find(|other| other.file.id == id) {
            Some(other) => format!("[{}](../{})", other.file.title, path_of(other)),
            None => format!("`{id}`"),
        };
        show::page(set, rule, &link, &mut page)?;
        let name = casefile_bundle::BundlePath::new(&path_of(rule)).map_err(io::Error::other)?;
        put(name.as_str(), &page)?;
    }
    Ok(written)
}

fn path_of(rule: &Rule) -> String {
    format!("{}/{}.md", rule.file.family, rule.file.id)
}

fn index(set: &RuleSet) -> String {
    let mut families: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
    for rule in &set.rules {
        families.entry(&rule.file.family).or_default().push(rule);
    }
    let causes = set
        .rules
        .iter()
        .filter(|rule| rule.file.kind == Kind::Cause)
        .count();
    let mut text = String::from("# What the analyzer knows\n\n");
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{causes} root causes in {} families, and {} kinds of noise that look like a fault and are none.\n",
        families.len(),
        set.rules.len() - causes
    );
    for (family, rules) in &families {
        let _ = writeln!(
            text,
            "## {family}\n\n| cause | id | severity |\n|---|---|---|"
        );
        for rule in rules {
            let file = &rule.file;
            let severity = match file.kind {
                Kind::Cause => file.severity.word(),
                Kind::Benign => "none",
            };
            let _ = writeln!(
                text,
                "| [{}]({}) | `{}` | {severity} |",
                file.title,
                path_of(rule),
                file.id
            );
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::rules;

    #[test]
    fn every_rule_has_a_page_and_every_link_leads_to_one() {
        let (set, _) = rules::load(None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let written = super::write(&set, folder.path()).unwrap();
        assert_eq!(written.len(), set.rules.len() + 1);
        let mut links = 0;
        for page in &written {
            let text = std::fs::read_to_string(page).unwrap();
            for target in text
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split(')').next())
            {
                if target.ends_with(".md") {
                    links += 1;
                    let path = page.parent().unwrap().join(target);
                    assert!(path.is_file(), "{} links to {target}", page.display());
                }
            }
        }
        assert!(
            links > set.rules.len(),
            "the index links to every rule, and rules to one another"
        );
    }
}
