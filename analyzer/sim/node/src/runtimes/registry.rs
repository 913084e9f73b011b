//! Where a containerd would pull an image of a registry from: `hosts.toml` below `config_path`, or inline mirrors.
//!
//! Rules from containerd's `remotes/docker/config`: of the folders of `config_path` the first that has one for the
//! host, for `host_port_` or `_default` decides; the hosts of the file are tried in its order, then its server, then
//! the registry itself. Inline mirrors count only where `config_path` is empty.

#[cfg(test)]
mod tests;

use crate::containerd::{
    Answer, CapturedPath, CapturedTree, Cri, EffectiveConfig, FileLine, Section, parse,
};

/// A place that an image is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// URL without a trailing slash.
    pub url: String,
    /// What it is asked for; empty means everything.
    pub capabilities: Vec<String>,
    /// Whether its certificate is not looked at.
    pub skip_verify: bool,
    /// Files that its certificate is checked with.
    pub ca: Vec<String>,
    /// The line that names it; none for the registry itself.
    pub place: Option<FileLine>,
}

/// What containerd does for images of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The host of the image's name.
    pub host: String,
    /// In the order they are tried; empty where the configuration makes every pull fail.
    pub endpoints: Vec<Endpoint>,
    /// The file or table that decides; empty where nothing is configured for the host.
    pub decided_by: String,
    /// Its line.
    pub place: Option<FileLine>,
    /// What is wrong, as a sentence; empty where nothing is.
    pub fault: String,
    /// Whether all that could decide was captured.
    pub complete: Answer,
}

const GRPC_CRI: &str = "io.containerd.grpc.v1.cri";
const IMAGES: &str = "io.containerd.cri.v1.images";

/// Resolves a host.
#[must_use]
pub fn resolve(
    tree: &dyn CapturedTree,
    config: &EffectiveConfig,
    cri: &Cri,
    host: &str,
) -> Resolution {
    let mut out = Resolution {
        host: host.to_owned(),
        endpoints: Vec::new(),
        decided_by: String::new(),
        place: None,
        fault: String::new(),
        complete: if config.uncertain() {
            Answer::Unknown
        } else {
            Answer::Yes
        },
    };
    let roots = &cri.registry_config_path;
    let inline = cri
        .registry_mirrors
        .get(host)
        .or(cri.registry_mirrors.get("*"));
    match (roots.value.is_empty(), inline) {
        (false, Some(place)) => {
            out.fault = format!(
                "registry.mirrors at {place} and config_path {} exclude each other: the CRI plugin does not load",
                roots.value
            );
            out.place = Some(place.clone());
        }
        (false, None) => from_folders(
            tree,
            &roots.value,
            config.containerd.release.is_v1(),
            &mut out,
        ),
        (true, Some(place)) => from_table(config, host, place, &mut out),
        (true, None) => out.endpoints.push(itself(host)),
    }
    out
}

fn itself(host: &str) -> Endpoint {
    let name = if host == "docker.io" {
        "registry-1.docker.io"
    } else {
        host
    };
    Endpoint {
        url: format!("https://{name}"),
        capabilities: Vec::new(),
        skip_verify: false,
        ca: Vec::new(),
        place: None,
    }
}

/// Inline mirrors: those of the host, else those of `*`, then the registry itself.
fn from_table(config: &EffectiveConfig, host: &str, place: &FileLine, out: &mut Resolution) {
    let tables = [GRPC_CRI, IMAGES];
    let endpoints = tables.into_iter().find_map(|id| {
        let of = |name: &str| {
            config
                .plugins
                .setting(&[id, "registry", "mirrors", name, "endpoint"])
        };
        of(host).or_else(|| of("*"))
    });
    out.decided_by = format!("registry.mirrors at {place}");
    out.place = Some(place.clone());
    for url in endpoints
        .into_iter()
        .flat_map(|setting| setting.value.strings())
    {
        out.endpoints.push(Endpoint {
            url: url.trim_end_matches('/').to_owned(),
            place: Some(place.clone()),
            ..itself(host)
        });
    }
    let last = itself(host);
    if !out.endpoints.iter().any(|one| one.url == last.url) {
        out.endpoints.push(last);
    }
}

/// Folder names for a host, in the order they are looked for.
fn names(host: &str) -> Vec<String> {
    let mut names = Vec::new();
    if let Some((name, port)) = host.rsplit_once(':') {
        names.push(format!("{name}_{port}_"));
    }
    names.push(host.to_owned());
    names.push("_default".to_owned());
    names
}

fn from_folders(tree: &dyn CapturedTree, roots: &str, v1: bool, out: &mut Resolution) {
    let host = out.host.clone();
    let host = host.as_str();
    for root in roots.split(':').filter(|root| !root.is_empty()) {
        for name in names(host) {
            let folder = format!("{}/{name}", root.trim_end_matches('/'));
            let path = format!("{folder}/hosts.toml");
            match tree.read(&path) {
                CapturedPath::Content { bundle_path, text } => {
                    return from_file(tree, &path, &bundle_path, &text, v1, out);
                }
                other => {
                    let inside = tree.glob(&format!("{folder}/*"));
                    if !tree.glob(&folder).paths.is_empty() {
                        // A folder without the file decides too: the registry itself, checked with its certificates.
                        out.decided_by = folder;
                        out.endpoints.push(Endpoint {
                            ca: inside.paths,
                            ..itself(host)
                        });
                        return;
                    }
                    if other == CapturedPath::NotCaptured && !inside.complete {
                        out.complete = Answer::Unknown;
                    }
                }
            }
        }
    }
    out.endpoints.push(itself(host));
}

fn from_file(
    tree: &dyn CapturedTree,
    path: &str,
    bundle_path: &str,
    text: &str,
    v1: bool,
    out: &mut Resolution,
) {
    out.decided_by = path.to_owned();
    let section = match parse::parse(text, path, bundle_path) {
        Ok(section) => section,
        Err(error) => {
            return left_out(
                tree,
                out,
                error.place,
                &format!("is not TOML ({})", error.message),
            );
        }
    };
    if let Some((place, why)) = undecodable(&section) {
        return left_out(tree, out, place, &why);
    }
    let named = section.section(&["host"]).is_some();
    if let Some(server) = section.setting(&["server"]).filter(|_| v1 && !named) {
        let place = server.place.clone();
        return left_out(
            tree,
            out,
            place,
            "names a server and no host, which needs containerd 2",
        );
    }
    out.place = Some(section.place.clone());
    let mut hosts: Vec<(&String, &Section)> = section
        .section(&["host"])
        .into_iter()
        .flat_map(|hosts| &hosts.entries)
        .filter_map(|(url, node)| Some((url, node.section()?)))
        .collect();
    hosts.sort_by_key(|(_, entry)| entry.place.line);
    for (url, entry) in hosts {
        out.endpoints.push(endpoint(url, entry));
    }
    let server = section.setting(&["server"]);
    let mut last = itself(&out.host);
    if let Some((url, setting)) = server.and_then(|one| Some((one.value.as_str()?, one))) {
        last.url = with_scheme(url);
        last.place = Some(setting.place.clone());
        last.ca = strings(&section, "ca");
    }
    out.endpoints.push(last);
    missing_ca(tree, out);
}

/// A file that cannot be decoded costs its hosts: containerd logs an error and asks the registry itself.
fn left_out(tree: &dyn CapturedTree, out: &mut Resolution, place: FileLine, why: &str) {
    let host = &out.host;
    out.fault = format!(
        "{place} {why}: the file is left out, and images of {host} come from the registry itself"
    );
    let folder = place
        .host_path
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let inside = tree.glob(&format!("{folder}/*.crt")).paths;
    out.endpoints.push(Endpoint {
        ca: inside,
        ..itself(host)
    });
    out.place = Some(place);
}

/// A value of another type than containerd decodes, or a capability that it does not know.
fn undecodable(section: &Section) -> Option<(FileLine, String)> {
    if let Some(setting) = section.setting(&["host"]) {
        return Some((
            setting.place.clone(),
            "sets host to something other than tables".to_owned(),
        ));
    }
    let hosts = section
        .section(&["host"])
        .into_iter()
        .flat_map(|hosts| &hosts.entries);
    let tables = hosts.filter_map(|(_, node)| node.section());
    let server = section
        .setting(&["server"])
        .filter(|one| one.value.as_str().is_none());
    if let Some(setting) = server {
        return Some((
            setting.place.clone(),
            "sets server to something other than a string".to_owned(),
        ));
    }
    std::iter::once(section).chain(tables).find_map(|table| {
        for key in ["skip_verify", "override_path"] {
            let set = table
                .setting(&[key])
                .filter(|one| one.value.as_bool().is_none());
            if let Some(setting) = set {
                return Some((
                    setting.place.clone(),
                    format!("sets {key} to something other than a boolean"),
                ));
            }
        }
        let setting = table.setting(&["capabilities"])?;
        let known = |one: &String| matches!(one.as_str(), "pull" | "resolve" | "push");
        if setting.value.as_str().is_some() || setting.value.as_bool().is_some() {
            return Some((
                setting.place.clone(),
                "sets capabilities to something other than a list".to_owned(),
            ));
        }
        let other = setting
            .value
            .strings()
            .into_iter()
            .find(|one| !known(one))?;
        Some((
            setting.place.clone(),
            format!("has the unknown capability {other:?}"),
        ))
    })
}

fn endpoint(url: &str, entry: &Section) -> Endpoint {
    Endpoint {
        url: with_scheme(url),
        capabilities: strings(entry, "capabilities"),
        skip_verify: entry
            .setting(&["skip_verify"])
            .is_some_and(|setting| setting.value.as_bool() == Some(true)),
        ca: strings(entry, "ca"),
        place: Some(entry.place.clone()),
    }
}

fn with_scheme(url: &str) -> String {
    let url = url.trim_end_matches('/');
    if url.contains("://") {
        url.to_owned()
    } else {
        format!("https://{url}")
    }
}

/// A string or a list of strings.
fn strings(section: &Section, key: &str) -> Vec<String> {
    let Some(setting) = section.setting(&[key]) else {
        return Vec::new();
    };
    match setting.value.as_str() {
        Some(one) => vec![one.to_owned()],
        None => setting.value.strings(),
    }
}

/// A certificate file that is known not to be there fails the pull.
fn missing_ca(tree: &dyn CapturedTree, out: &mut Resolution) {
    let files = out.endpoints.iter().flat_map(|one| &one.ca);
    let gone = files
        .filter(|path| path.starts_with('/'))
        .find(|path| tree.read(path) == CapturedPath::Absent);
    if let Some(path) = gone {
        out.fault = format!(
            "{} names the certificate file {path}, which does not exist",
            out.decided_by
        );
    }
}

/// The registry of an image's name, as the reference is normalised.
#[must_use]
pub fn host_of(image: &str) -> String {
    let first = image.split('/').next().unwrap_or_default();
    let is_host = image.contains('/') && (first.contains(['.', ':']) || first == "localhost");
    if is_host {
        first.to_owned()
    } else {
        "docker.io".to_owned()
    }
}
