//! Registry mirrors of a containerd, moved from its configuration to the hosts directory; where they are there already,
//! the configuration names it.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host_file::HostFile;
use super::{copies, entry};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const HOSTS: &str = "/etc/containerd/certs.d";
const CONFIG: &str = "/etc/containerd/config.toml";

/// A containerd whose inline mirrors go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContainerdRegistry {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Unit to restart after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for ContainerdRegistry {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let node = super::node(self.node.as_deref(), state)?;
        let (path, found) = match inline(state, &node) {
            Ok(found) => found,
            Err(refused) => return self.read_folder(state, &node)?.ok_or(refused),
        };
        let mut all = Applied {
            simulated: true,
            ..Applied::default()
        };
        for (registry, endpoints) in &found.mirrors {
            let hosts = format!("{}/{registry}/hosts.toml", found.folder);
            if state.now(&entry(&node, &hosts)).is_some() {
                all.assumes.push(format!(
                    "{hosts}, which is there already, names the mirrors that are wanted"
                ));
                continue;
            }
            let file = HostFile {
                node: node.clone(),
                path: hosts,
                content: Some(hosts_file(registry, endpoints)),
                ..HostFile::default()
            };
            all.absorb(file.apply(state)?);
        }
        let file = HostFile {
            node: node.clone(),
            path: path.clone(),
            merge_toml: found.sets_folder(),
            remove_toml: found.tables.clone(),
            restart: self.restart.clone(),
            ..HostFile::default()
        };
        all.absorb(file.apply(state)?);
        if found.has_credentials {
            all.assumes.push(format!("what registry.configs of {path} says of certificates and credentials is moved by hand: certificates to hosts.toml, credentials to image pull secrets"));
        }
        all.title = format!(
            "Move the registry mirrors of {path} on {node} to {}",
            found.folder
        );
        Ok(all)
    }
}

impl ContainerdRegistry {
    /// A hosts directory that is filled and that the configuration does not name: it names it. None where there is none.
    fn read_folder(&self, state: &mut Captured, node: &str) -> Result<Option<Applied>, Refused> {
        let prefix = copies(node);
        let hosts = format!("{HOSTS}/");
        let own = |path: &str| path.starts_with(&hosts) && path.ends_with("/hosts.toml");
        let filled = state
            .paths()
            .filter_map(|path| path.strip_prefix(prefix.as_str()))
            .any(own);
        let text = state.now(&entry(node, CONFIG));
        let (true, Some(text)) = (filled, text) else {
            return Ok(None);
        };
        let file = HostFile {
            node: node.to_owned(),
            path: CONFIG.to_owned(),
            merge_toml: Some(names_folder(&text)?),
            restart: self.restart.clone(),
            ..HostFile::default()
        };
        let mut applied = file.apply(state)?;
        applied.title = format!("Let {CONFIG} on {node} name the hosts directory {HOSTS}");
        Ok(Some(applied))
    }
}

/// The setting, in the table that this file's schema version has for it.
fn names_folder(text: &str) -> Result<String, Refused> {
    let document: toml::Table = toml::from_str(text)
        .map_err(|error| Refused::new(format!("{CONFIG} does not parse as TOML: {error}")))?;
    let plugin = match document.get("version").and_then(toml::Value::as_integer) {
        Some(2) => "io.containerd.grpc.v1.cri",
        Some(3..) => "io.containerd.cri.v1.images",
        _ => {
            return Err(Refused::new(format!(
                "{CONFIG} is of schema version 1, which knows no hosts directory"
            )));
        }
    };
    let own = document
        .get("plugins")
        .and_then(|all| all.get(plugin)?.get("registry")?.get("config_path"));
    match own.and_then(toml::Value::as_str) {
        Some(other) if !other.is_empty() => Err(Refused::new(format!(
            "config_path of {CONFIG} names {other}, so a person decides which of the two directories is meant"
        ))),
        _ => Ok(format!(
            "[plugins.\"{plugin}\".registry]\nconfig_path = \"{HOSTS}\"\n"
        )),
    }
}

/// What stands inline.
struct Inline {
    plugin: String,
    folder: String,
    names_folder: bool,
    tables: Vec<String>,
    mirrors: Vec<(String, Vec<String>)>,
    has_credentials: bool,
}

impl Inline {
    fn sets_folder(&self) -> Option<String> {
        (!self.names_folder).then(|| {
            format!(
                "[plugins.\"{}\".registry]\nconfig_path = \"{}\"\n",
                self.plugin, self.folder
            )
        })
    }
}

/// The collected configuration files of a node's containerds.
pub(super) fn containerd_files(state: &Captured, node: &str) -> Vec<String> {
    let prefix = copies(node);
    let own = state
        .paths()
        .filter_map(|path| path.strip_prefix(prefix.as_str()));
    own.filter(|path| path.ends_with(".toml") && path.contains("containerd"))
        .map(str::to_owned)
        .collect()
}

/// The first collected file with inline mirrors.
fn inline(state: &mut Captured, node: &str) -> Result<(String, Inline), Refused> {
    for path in containerd_files(state, node) {
        let text = state.now(&entry(node, &path)).unwrap_or_default();
        if let Some(found) = read(&text) {
            return Ok((path, found));
        }
    }
    Err(Refused::new(format!(
        "no collected containerd file of node {node} has inline registry mirrors"
    )))
}

fn read(text: &str) -> Option<Inline> {
    let document: toml::Table = toml::from_str(text).ok()?;
    for (plugin, section) in document.get("plugins")?.as_table()? {
        let Some(registry) = section.get("registry").and_then(toml::Value::as_table) else {
            continue;
        };
        let tables: Vec<String> = ["mirrors", "configs", "auths"]
            .into_iter()
            .filter(|name| registry.contains_key(*name))
            .map(|name| format!("plugins.\"{plugin}\".registry.{name}"))
            .collect();
        if tables.is_empty() {
            continue;
        }
        let folder = registry
            .get("config_path")
            .and_then(toml::Value::as_str)
            .filter(|path| path.starts_with('/'));
        let mirrors = registry
            .get("mirrors")
            .and_then(toml::Value::as_table)
            .into_iter()
            .flatten();
        return Some(Inline {
            plugin: plugin.clone(),
            folder: folder
                .unwrap_or(HOSTS)
                .split(':')
                .next()
                .unwrap_or(HOSTS)
                .to_owned(),
            names_folder: folder.is_some(),
            has_credentials: tables.len() > usize::from(registry.contains_key("mirrors")),
            tables,
            mirrors: mirrors
                .filter(|(name, _)| {
                    name.bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b".-_:*".contains(&byte))
                })
                .map(|(name, mirror)| {
                    (
                        if name == "*" {
                            "_default".to_owned()
                        } else {
                            name.clone()
                        },
                        endpoints(mirror),
                    )
                })
                .collect(),
        });
    }
    None
}

fn endpoints(mirror: &toml::Value) -> Vec<String> {
    let list = mirror
        .get("endpoint")
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten();
    list.filter_map(|one| one.as_str().map(str::to_owned))
        .collect()
}

/// A hosts.toml, as containerd's documentation of hosts directories has it.
fn hosts_file(registry: &str, endpoints: &[String]) -> String {
    let server = match registry {
        "_default" => String::new(),
        "docker.io" => "server = \"https://registry-1.docker.io\"\n".to_owned(),
        other => format!("server = \"https://{other}\"\n"),
    };
    let mut text = server;
    for endpoint in endpoints {
        let _ = write!(
            text,
            "\n[host.{}]\n  capabilities = [\"pull\", \"resolve\"]\n",
            toml::Value::String(endpoint.clone())
        );
    }
    text
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(_: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"containerd-registry": {}})]
}

#[cfg(test)]
mod tests {
    use super::names_folder;

    #[test]
    fn the_table_is_that_of_the_files_schema_version() {
        let of = |text: &str| names_folder(text).map_err(|refused| refused.why);
        let table = |text: &str| of(text).unwrap().lines().next().unwrap().to_owned();
        assert_eq!(
            table("version = 2\n"),
            "[plugins.\"io.containerd.grpc.v1.cri\".registry]"
        );
        assert_eq!(
            table("version = 3\n"),
            "[plugins.\"io.containerd.cri.v1.images\".registry]"
        );
        assert!(
            of("root = \"/x\"\n")
                .unwrap_err()
                .contains("schema version 1")
        );
        let other = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = \"/srv/certs\"\n";
        assert!(of(other).unwrap_err().contains("names /srv/certs"));
    }
}
