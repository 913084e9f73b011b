//! What dockerd checks before it does anything else: what `dockerd --validate` says.

use super::Loaded;
use super::keys::Release;
use super::url;

/// Sentences of what is wrong, each with the key that it is about, in dockerd's order.
pub(super) type Wrong = Vec<(&'static str, String)>;

/// All checks of a release.
pub(super) fn values(config: &Loaded<'_>) -> Wrong {
    let mut out = Wrong::new();
    if config.release > Release::V20 {
        log_words(config, &mut out);
    }
    names(config, &mut out);
    numbers(config, &mut out);
    if config.release == Release::V20 {
        super::runtimes::in_the_first_check(config, &mut out);
    } else {
        out.extend(hosts(config));
    }
    if config.release == Release::V28 {
        out.extend(mirrors(config));
        if config.text("api-cors-header").is_some() {
            let why = "the \"api-cors-header\" config parameter has been removed";
            out.push(("api-cors-header", why.to_owned()));
        }
        out.extend(exec_opts(config));
    }
    platform(config, &mut out);
    labels_that_differ(config, &mut out);
    out
}

fn log_words(config: &Loaded<'_>, out: &mut Wrong) {
    const LEVELS: [&str; 7] = ["panic", "fatal", "error", "warn", "info", "debug", "trace"];
    if let Some(level) = config.text("log-level")
        && !LEVELS.contains(&level.to_lowercase().as_str())
    {
        out.push(("log-level", format!("invalid logging level: {level}")));
    }
    if let Some(format) = config.text("log-format")
        && !matches!(format.as_str(), "text" | "json")
    {
        out.push(("log-format", format!("invalid log format: {format}")));
    }
}

fn names(config: &Loaded<'_>, out: &mut Wrong) {
    for domain in config.list("dns-search") {
        let trimmed = domain.trim_matches(' ');
        if trimmed != "." && !is_domain(trimmed) {
            out.push(("dns-search", format!("{domain} is not a valid domain")));
        }
    }
    for label in config.list("labels") {
        if !label.contains('=') {
            out.push(("labels", format!("bad attribute format: {label}")));
        }
        let lowered = label.to_lowercase();
        let reserved = ["com.docker.", "io.docker.", "org.dockerproject."];
        if reserved.iter().any(|start| lowered.starts_with(start)) {
            let why = format!("label {label} is not allowed: its namespace is reserved");
            out.push(("labels", why));
        }
    }
}

/// Docker's expression: labels of letters, digits and inner hyphens, one letter at least, 255 characters at most.
fn is_domain(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let label = |part: &str| {
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !part.is_empty()
            && part.chars().all(inner)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    text.len() < 255
        && text.contains(|c: char| c.is_ascii_alphabetic())
        && text.split('.').all(label)
}

fn numbers(config: &Loaded<'_>, out: &mut Wrong) {
    const ALL: [(&str, &str, i64); 4] = [
        ("mtu", "default MTU", 0),
        ("max-concurrent-downloads", "max concurrent downloads", 0),
        ("max-concurrent-uploads", "max concurrent uploads", 0),
        ("max-download-attempts", "max download attempts", 0),
    ];
    for (key, words, least) in ALL {
        let old = config.release == Release::V20;
        let least = match key {
            "mtu" if old => continue,
            "max-download-attempts" if old => 1,
            _ => least,
        };
        if let Some(number) = config.number(key)
            && number < least
        {
            out.push((key, format!("invalid {words}: {number}")));
        }
    }
    if let Some(port) = config.number("network-diagnostic-port")
        && config.release == Release::V28
        && !(0..=65535).contains(&port)
    {
        let why = format!("invalid network-diagnostic-port ({port})");
        out.push(("network-diagnostic-port", why));
    }
}

/// Addresses that the daemon cannot listen on.
pub(super) fn hosts(config: &Loaded<'_>) -> Wrong {
    let wrong = |host: &String| Some(("hosts", url::listens(host).err()?));
    config.list("hosts").iter().filter_map(wrong).collect()
}

/// Mirrors that are no address of a registry.
pub(super) fn mirrors(config: &Loaded<'_>) -> Wrong {
    let wrong = |one: &String| Some(("registry-mirrors", url::mirror(one, config.release).err()?));
    config
        .list("registry-mirrors")
        .iter()
        .filter_map(wrong)
        .collect()
}

fn exec_opts(config: &Loaded<'_>) -> Wrong {
    let mut out = Wrong::new();
    for one in config.list("exec-opts") {
        let (key, value) = one.split_once('=').unwrap_or((&one, ""));
        let key = key.trim().to_lowercase();
        let why = match (key.as_str(), value.trim()) {
            ("", _) | (_, "") => "must be formatted 'opt=value'".to_owned(),
            ("native.cgroupdriver", _) => continue,
            ("isolation", _) => "option 'isolation' is only supported on windows".to_owned(),
            (other, _) => format!("unknown option: '{other}'"),
        };
        out.push(("exec-opts", format!("invalid exec-opt ({one}): {why}")));
    }
    out
}

fn platform(config: &Loaded<'_>, out: &mut Wrong) {
    let proxy = config.text("userland-proxy-path");
    if config.release > Release::V20
        && config.switch("userland-proxy", true)
        && let Some(path) = proxy.filter(|path| !path.starts_with('/'))
    {
        let why = format!("invalid userland-proxy-path: must be an absolute path: {path}");
        out.push(("userland-proxy-path", why));
    }
    if let Some(mode) = config.text("default-ipc-mode")
        && !matches!(mode.as_str(), "private" | "shareable")
    {
        let why = format!("default IPC mode {mode} is not one of shareable and private");
        out.push(("default-ipc-mode", why));
    }
    if let Some(mode) = config.text("default-cgroupns-mode")
        && !matches!(mode.as_str(), "private" | "host")
    {
        let why = format!("default cgroup namespace mode {mode} is neither host nor private");
        out.push(("default-cgroupns-mode", why));
    }
}

fn labels_that_differ(config: &Loaded<'_>, out: &mut Wrong) {
    let labels = config.list("labels");
    let pairs: Vec<(&str, &str)> = labels
        .iter()
        .filter_map(|one| one.split_once('='))
        .collect();
    for (at, (key, value)) in pairs.iter().enumerate() {
        let before = pairs.iter().take(at);
        if before
            .clone()
            .any(|(other, was)| other == key && was != value)
        {
            out.push((
                "labels",
                format!("conflict labels for {key}: it is there with two values"),
            ));
            return;
        }
    }
}
