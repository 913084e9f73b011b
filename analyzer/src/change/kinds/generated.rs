//! Files that a program writes anew at each of its starts, so that what is changed in them is lost.
//!
//! Their first lines say so. K3s and RKE2 also name the template that they make containerd's configuration of, which may
//! repeat their own with `{{ template "base" . }}` and go on from there (k3s `pkg/agent/templates`).

use toml_edit::{DocumentMut, TableLike};

use super::toml_text::merge_toml;
use crate::change::Refused;

/// Lines at the beginning of a file that may say who writes it.
const HEAD: usize = 5;

/// Runtimes that K3s and RKE2 find by themselves, and define where their program is there: the handler and the program
/// (k3s `pkg/agent/containerd/runtimes.go`). A template that defines one of them as well is refused by containerd.
const FOUND: [(&str, &str); 4] = [
    ("nvidia", "nvidia-container-runtime"),
    ("nvidia-cdi", "nvidia-container-runtime.cdi"),
    (
        "nvidia-experimental",
        "nvidia-container-runtime-experimental",
    ),
    ("crun", "crun"),
];

/// A file that is written anew from a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Generated {
    /// Path of the template.
    pub(super) template: String,
    /// The line that says so, from 1.
    line: usize,
    path: String,
}

impl Generated {
    /// What a file says of itself; none where it names no template.
    pub(super) fn of(path: &str, text: &str) -> Option<Self> {
        let (folder, _) = path.rsplit_once('/')?;
        let mut head = (1..).zip(text.lines().take(HEAD));
        head.find_map(|(line, text)| {
            let says = text.strip_prefix('#')?.to_ascii_lowercase();
            if !says.contains("generated") || !says.contains("do not edit") {
                return None;
            }
            let name = text
                .split_whitespace()
                .find(|word| word.ends_with(".tmpl"))?;
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            let own = name.chars().all(plain) && !path.ends_with(name);
            own.then(|| Self {
                template: format!("{folder}/{name}"),
                line,
                path: path.to_owned(),
            })
        })
    }

    /// The line, from 1, by which a file says that a program writes it, where it names no template to change instead:
    /// K3s and RKE2 say so of each hosts.toml that they make of registries.yaml.
    pub(super) fn without_template(path: &str, text: &str) -> Option<usize> {
        if Self::of(path, text).is_some() {
            return None;
        }
        let mut head = (1..).zip(text.lines().take(HEAD));
        let says = |line: &str| {
            let line = line.to_ascii_lowercase();
            line.starts_with('#') && line.contains("generated") && line.contains("do not edit")
        };
        head.find_map(|(number, line)| says(line).then_some(number))
    }

    /// The program of a runtime that the writer finds and defines by itself.
    pub(super) fn finds(handler: &str) -> Option<&'static str> {
        let found = FOUND.iter().find(|(name, _)| *name == handler);
        found.map(|(_, program)| *program)
    }

    /// The template with an addition, where the addition is possible: tables that the file does not have.
    pub(super) fn extended(
        &self,
        text: &str,
        template: Option<&str>,
        addition: &str,
    ) -> Result<String, Refused> {
        let parse = |text: &str| text.parse::<DocumentMut>();
        let (Ok(file), Ok(new)) = (parse(text), parse(addition)) else {
            return Err(self.refused());
        };
        if addition.contains("{{") || !only_adds(file.as_table(), new.as_table()) {
            return Err(self.refused());
        }
        let base = template.unwrap_or("{{ template \"base\" . }}\n");
        let gap = if base.ends_with('\n') { "\n" } else { "\n\n" };
        Ok(format!("{base}{gap}{}", addition.trim_start()))
    }

    /// The file as its writer then makes it.
    pub(super) fn rendered(&self, text: &str, addition: &str) -> Result<String, Refused> {
        merge_toml(&self.path, text, addition)
    }

    /// Why a change is none for a script.
    pub(super) fn refused(&self) -> Refused {
        Refused::new(format!(
            "{path} is written anew at each start of what uses it (line {line} says so), so this change of it would be lost. A person changes {template} instead",
            path = self.path,
            line = self.line,
            template = self.template
        ))
    }
}

/// Whether a text has nothing but tables that the file lacks: TOML defines a table once. A key of the root cannot
/// follow a table, and a runtime that the writer finds by itself would be there twice.
fn only_adds(file: &dyn TableLike, new: &dyn TableLike) -> bool {
    new.iter().all(|(key, value)| {
        let Some(table) = value.as_table().filter(|_| Generated::finds(key).is_none()) else {
            return false;
        };
        match file.get(key) {
            None => true,
            Some(own) => {
                let own = own.as_table_like().filter(|_| table.is_implicit());
                own.is_some_and(|own| only_adds(own, table))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# File generated by rke2. DO NOT EDIT. Use config.toml.tmpl instead.\nversion = 2\n[plugins.a.runtimes.runc]\nx = 1\n";

    fn generated() -> Generated {
        Generated::of("/d/config.toml", FILE).unwrap()
    }

    #[test]
    fn a_file_that_names_its_template_is_known_by_its_head() {
        assert_eq!(generated().template, "/d/config.toml.tmpl");
        // K3s has the same line, after an empty one.
        let k3s = "\n# File generated by k3s. DO NOT EDIT. Use config-v3.toml.tmpl instead.\nversion = 3\n";
        let k3s = Generated::of("/d/config.toml", k3s).unwrap();
        assert_eq!(k3s.template, "/d/config-v3.toml.tmpl");
        for other in [
            "# managed by hand\nversion = 2\n",
            "# File generated by k3s. DO NOT EDIT.\n",
            "# generated, do not edit, use ../../x.tmpl instead\n",
            "version = 2\n",
        ] {
            assert_eq!(Generated::of("/d/config.toml", other), None, "{other}");
        }
        assert_eq!(Generated::of("/d/config.toml.tmpl", FILE), None);
    }

    #[test]
    fn a_file_that_is_made_of_no_template_is_known_by_its_head() {
        // As k3s `pkg/agent/templates/templates.go` begins a hosts.toml and its configuration of containerd.
        let hosts = "# File generated by k3s. DO NOT EDIT.\nserver = \"https://r.example\"\n";
        let of = |text: &str| Generated::without_template("/d/hosts.toml", text);
        assert_eq!(of(hosts), Some(1));
        assert_eq!(of(FILE), None, "it has a template");
        assert_eq!(of("# do not edit without a review\nversion = 2\n"), None);
    }

    #[test]
    fn a_template_gets_only_what_can_follow_the_base() {
        let new = "[plugins.a.runtimes.kata]\nx = 2\n";
        let text = generated().extended(FILE, None, new).unwrap();
        assert_eq!(text, format!("{{{{ template \"base\" . }}}}\n\n{new}"));
        let own = generated().extended(FILE, Some("own"), new).unwrap();
        assert_eq!(own, format!("own\n\n{new}"));
        for other in [
            "disabled_plugins = []\n",
            "[plugins.a.runtimes.runc]\ny = 1\n",
            "[plugins.a]\n[plugins.a.runtimes.kata]\n",
            "[plugins.a.runtimes.nvidia]\nx = 2\n",
            "[plugins.a.runtimes.kata]\nx = \"{{ .Program }}\"\n",
        ] {
            let refused = generated().extended(FILE, None, other);
            assert!(
                refused.unwrap_err().why.contains("config.toml.tmpl"),
                "{other}"
            );
        }
    }
}
