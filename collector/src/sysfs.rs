//! Attributes that the kernel shows as small files: many of them, each one value, so they are gathered into one line.

use serde_json::{Map, Value};

use crate::host::Host;

/// The most of one attribute.
const MAX: usize = 4096;

/// The attributes of a folder that can be read, by name. A list of `name value` lines becomes an object.
pub(crate) fn attributes(host: &Host, dir: &str, names: &[&str]) -> Map<String, Value> {
    let mut found = Map::new();
    for name in names {
        if let Ok((bytes, _)) = host.read(&format!("{dir}/{name}"), MAX) {
            let text = String::from_utf8_lossy(&bytes);
            found.insert((*name).to_owned(), value(text.trim()));
        }
    }
    found
}

/// Every attribute of a folder that is one number.
pub(crate) fn counters(host: &Host, dir: &str) -> Map<String, Value> {
    let names = host.names(dir).unwrap_or_default();
    let read = names.into_iter().filter_map(|name| {
        let (bytes, _) = host.read(&format!("{dir}/{name}"), MAX).ok()?;
        let number: u64 = String::from_utf8_lossy(&bytes).trim().parse().ok()?;
        Some((name, number.into()))
    });
    read.collect()
}

/// The last segment of a link's target: the driver of a device, its module, its group.
pub(crate) fn link_name(host: &Host, path: &str) -> Option<String> {
    let target = host.read_link(path)?;
    target.rsplit('/').next().map(str::to_owned)
}

fn value(text: &str) -> Value {
    if !text.contains('\n') {
        return text.into();
    }
    let pairs: Option<Map<String, Value>> = text
        .lines()
        .map(|line| {
            let (name, number) = line.rsplit_once(' ')?;
            let number: u64 = number.parse().ok()?;
            Some((name.to_owned(), number.into()))
        })
        .collect();
    pairs.map_or_else(|| text.into(), Value::Object)
}
