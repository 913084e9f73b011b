//! Where a containerd would pull an image of a registry from: `hosts.toml` below `config_path`, or inline mirrors.
//!
//! Rules from containerd's `remotes/docker/config`: of the folders of `config_path` the first that has one for the
//! host, for `host_port_` or `_default` decides; the hosts of the file are tried in its order, then its server, then
//! the registry itself. Inline mirrors count only where `config_path` is empty.

use crate::containerd::{
    Answer, Captured, CapturedTree, Cri, EffectiveConfig, Place, Section, parse,
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
    pub place: Option<Place>,
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
    pub place: Option<Place>,
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
        (false, None) => from_folders(tree, &roots.value, host, &mut out),
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
fn from_table(config: &EffectiveConfig, host: &str, place: &Place, out: &mut Resolution) {
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

fn from_folders(tree: &dyn CapturedTree, roots: &str, host: &str, out: &mut Resolution) {
    for root in roots.split(':').filter(|root| !root.is_empty()) {
        for name in names(host) {
            let folder = format!("{}/{name}", root.trim_end_matches('/'));
            let path = format!("{folder}/hosts.toml");
            match tree.read(&path) {
                Captured::Content { bundle_path, text } => {
                    return from_file(tree, &path, &bundle_path, &text, out);
                }
                Captured::NotCaptured => {
                    let inside = tree.glob(&format!("{folder}/*"));
                    if inside.paths.is_empty() && !inside.complete {
                        out.complete = Answer::Unknown;
                    } else if !inside.paths.is_empty() {
                        // A folder with certificates alone decides too: the registry itself, checked with them.
                        out.decided_by = folder;
                        out.endpoints.push(Endpoint {
                            ca: inside.paths,
                            ..itself(host)
                        });
                        return;
                    }
                }
                Captured::Absent => {}
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
    out: &mut Resolution,
) {
    out.decided_by = path.to_owned();
    let section = match parse::parse(text, path, bundle_path) {
        Ok(section) => section,
        Err(error) => {
            out.fault = format!(
                "{} is not TOML ({}): every pull from {} fails",
                error.place, error.message, out.host
            );
            out.place = Some(error.place);
            return;
        }
    };
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
        .find(|path| tree.read(path) == Captured::Absent);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containerd::{MapTree, RootFile, cri_view};

    const ROOT: &str = "/etc/containerd/config.toml";

    fn resolved(config: &str, files: &[(&str, &str)], host: &str) -> Resolution {
        let mut tree = MapTree::whole();
        tree.add(ROOT, "root", config);
        for (path, text) in files {
            tree.add(path, &format!("nodes/n/rootfs{path}"), text);
        }
        let root = RootFile {
            path: ROOT,
            explicit: false,
        };
        let config = crate::containerd::resolve(&tree, root, Some("1.7.24"));
        resolve(&tree, &config, &cri_view(&config), host)
    }

    const DIRS: &str = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = \"/etc/containerd/certs.d:/etc/docker/certs.d\"\n";

    fn urls(found: &Resolution) -> Vec<&str> {
        found.endpoints.iter().map(|one| one.url.as_str()).collect()
    }

    #[test]
    fn hosts_are_tried_in_the_order_of_the_file_and_then_its_server() {
        let hosts = "server = \"https://registry-1.docker.io\"\n[host.\"https://z.example\"]\ncapabilities = [\"pull\"]\n[host.\"https://a.example/\"]\nskip_verify = true\n";
        let found = resolved(
            DIRS,
            &[("/etc/containerd/certs.d/docker.io/hosts.toml", hosts)],
            "docker.io",
        );
        assert_eq!(
            urls(&found),
            [
                "https://z.example",
                "https://a.example",
                "https://registry-1.docker.io"
            ]
        );
        assert_eq!(found.endpoints[0].capabilities, ["pull"]);
        assert!(found.endpoints[1].skip_verify);
        assert_eq!(
            found.endpoints[1].place.as_ref().map(|place| place.line),
            Some(4)
        );
    }

    #[test]
    fn the_first_folder_of_the_path_that_has_the_host_decides_and_default_is_the_last_name() {
        let hosts = |url: &str| format!("[host.\"{url}\"]\n");
        let files = [
            (
                "/etc/containerd/certs.d/_default/hosts.toml",
                hosts("https://all.example"),
            ),
            (
                "/etc/containerd/certs.d/r.example_5000_/hosts.toml",
                hosts("https://port.example"),
            ),
            (
                "/etc/docker/certs.d/quay.io/hosts.toml",
                hosts("https://late.example"),
            ),
        ];
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        let at = |host: &str| resolved(DIRS, &files, host).endpoints[0].url.clone();
        assert_eq!(at("r.example:5000"), "https://port.example");
        assert_eq!(
            at("quay.io"),
            "https://all.example",
            "_default of an earlier folder comes first"
        );
    }

    #[test]
    fn what_makes_every_pull_fail_is_said() {
        let broken = resolved(
            DIRS,
            &[("/etc/containerd/certs.d/quay.io/hosts.toml", "server = \n")],
            "quay.io",
        );
        assert!(broken.endpoints.is_empty());
        assert!(
            broken.fault.contains("quay.io/hosts.toml:1 is not TOML"),
            "{}",
            broken.fault
        );
        let both = format!(
            "{DIRS}[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"docker.io\"]\nendpoint = [\"https://m\"]\n"
        );
        let both = resolved(&both, &[], "docker.io");
        assert!(both.fault.contains("exclude each other"), "{}", both.fault);
        let ca = "[host.\"https://m.example\"]\nca = \"/etc/ssl/m.crt\"\n";
        let ca = resolved(
            DIRS,
            &[("/etc/containerd/certs.d/quay.io/hosts.toml", ca)],
            "quay.io",
        );
        assert!(ca.fault.contains("/etc/ssl/m.crt"), "{}", ca.fault);
    }

    #[test]
    fn inline_mirrors_end_with_the_registry_itself() {
        let inline = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"*\"]\nendpoint = [\"https://m.example/\"]\n";
        let found = resolved(inline, &[], "ghcr.io");
        assert_eq!(urls(&found), ["https://m.example", "https://ghcr.io"]);
        assert_eq!(
            urls(&resolved("version = 2\n", &[], "docker.io")),
            ["https://registry-1.docker.io"]
        );
    }

    #[test]
    fn the_host_of_an_image_is_the_one_a_runtime_would_ask() {
        for (image, host) in [
            ("nginx", "docker.io"),
            ("library/nginx:1", "docker.io"),
            ("nvcr.io/nvidia/driver:570", "nvcr.io"),
            ("localhost/x", "localhost"),
            ("r.example:5000/a/b@sha256:00", "r.example:5000"),
        ] {
            assert_eq!(host_of(image), host, "{image}");
        }
    }
}
