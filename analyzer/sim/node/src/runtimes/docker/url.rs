//! Addresses as dockerd takes them: to listen on, and of registries.

use super::keys::Release;

/// Whether the daemon can listen on an address; the error says why not.
pub(super) fn listens(host: &str) -> Result<(), String> {
    let host = host.trim();
    let bad = |why: String| Err(format!("invalid bind address ({host}): {why}"));
    if host.is_empty() {
        return Ok(());
    }
    let (scheme, rest) = host.split_once("://").unwrap_or(("tcp", host));
    match scheme {
        "fd" => Ok(()),
        "unix" | "npipe" if rest.contains("://") => {
            bad(format!("invalid {scheme} address: {rest}"))
        }
        "unix" | "npipe" => Ok(()),
        "tcp" => tcp(rest).or_else(bad),
        other => bad(format!("unsupported proto '{other}'")),
    }
}

fn tcp(rest: &str) -> Result<(), String> {
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if path.starts_with('/') {
        return Err("should not contain a path element".to_owned());
    }
    let after = authority
        .rsplit_once(']')
        .map_or(authority, |(_, after)| after);
    let Some((name, port)) = after.rsplit_once(':') else {
        return Ok(());
    };
    let number = port.parse::<u64>();
    match number {
        _ if name.contains(':') => Err(format!("too many colons in {authority}")),
        _ if port.is_empty() => Ok(()),
        Ok(1..) => Ok(()),
        _ => Err(format!("invalid port: {port}")),
    }
}

/// Whether an address can be a mirror; the error says why not.
pub(super) fn mirror(address: &str, release: Release) -> Result<(), String> {
    let bad = |why: &str| Err(format!("invalid mirror: {address:?}: {why}"));
    let Some((scheme, rest)) = address.split_once("://") else {
        return bad("no scheme specified: must use either https:// or http://");
    };
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return bad("unsupported scheme: must use either https:// or http://");
    }
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let tail = rest.get(path.len()..).unwrap_or_default();
    if tail.len() > 1 {
        return bad("query or fragment at end of the URI");
    }
    if release == Release::V20 && !matches!(path, "" | "/") {
        return bad("path, query, or fragment at end of the URI");
    }
    if authority.contains('@') {
        return bad("username/password not allowed in URI");
    }
    Ok(())
}

/// A registry that is trusted without a certificate: its name without a scheme, or why it is none.
pub(super) fn insecure(name: &str) -> Result<String, String> {
    if name.starts_with('-') || name.ends_with('-') {
        let why = format!("invalid index name ({name}). Cannot begin or end with a hyphen");
        return Err(why);
    }
    let lower = name.to_lowercase();
    for scheme in ["http://", "https://"] {
        if lower.starts_with(scheme) {
            return Ok(name.get(scheme.len()..).unwrap_or_default().to_owned());
        }
    }
    if name.contains("://") {
        return Err(format!("insecure registry {name} should not contain '://'"));
    }
    Ok(name.to_owned())
}
