//! What a running dockerd says of itself: `GET /info`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use casefile_sim_node::runtimes::docker::{Effective, Release};
use serde_json::Value;

/// The part of the answer that is resolved here, as names and values.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said(BTreeMap<String, String>, pub(crate) Value);

/// Asks; `None` where there is no answer yet.
pub(crate) fn ask(mut socket: UnixStream) -> Option<Said> {
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .ok()?;
    socket
        .write_all(b"GET /info HTTP/1.0\r\nHost: d\r\n\r\n")
        .ok()?;
    let mut text = String::new();
    socket.read_to_string(&mut text).ok()?;
    let body = text.split_once("\r\n\r\n")?.1;
    let info: Value = serde_json::from_str(body).ok()?;
    info.get("DefaultRuntime")?;
    Some(Said(facts(&info), info))
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn facts(info: &Value) -> BTreeMap<String, String> {
    let text = |key: &str| {
        info.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut out = BTreeMap::new();
    for (name, value) in info["Runtimes"].as_object().into_iter().flatten() {
        let path = value
            .get("path")
            .and_then(Value::as_str)
            .unwrap_or_default();
        out.insert(format!("runtime {name}"), path.to_owned());
    }
    out.insert("default".to_owned(), text("DefaultRuntime"));
    out.insert("cgroup driver".to_owned(), text("CgroupDriver"));
    out.insert("log driver".to_owned(), text("LoggingDriver"));
    out.insert("root".to_owned(), text("DockerRootDir"));
    out.insert("cdi".to_owned(), texts(info.get("CDISpecDirs")).join(" "));
    let registries = &info["RegistryConfig"];
    out.insert(
        "mirrors".to_owned(),
        texts(registries.get("Mirrors")).join(" "),
    );
    let named = registries["IndexConfigs"].as_object().into_iter().flatten();
    let insecure = named
        .filter(|(_, one)| one["Secure"] == Value::Bool(false))
        .map(|(name, _)| name.clone());
    let mut insecure: BTreeSet<String> = insecure.collect();
    insecure.extend(texts(registries.get("InsecureRegistryCIDRs")));
    for own in ["127.0.0.0/8", "::1/128"] {
        insecure.remove(own);
    }
    out.insert(
        "insecure".to_owned(),
        insecure.into_iter().collect::<Vec<_>>().join(" "),
    );
    out
}

fn ours(of: &Effective) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for handler in &of.resolved.handlers {
        out.insert(format!("runtime {}", handler.name), handler.program.clone());
    }
    let mut put = |key: &str, value: &str| out.insert(key.to_owned(), value.to_owned());
    put("default", &of.resolved.default_runtime);
    put("cgroup driver", &of.resolved.cgroup_driver);
    put("log driver", &of.log_driver);
    put("root", &of.data_root);
    put("cdi", &of.cdi_spec_dirs.join(" "));
    // The daemon ends each with a slash.
    let mirrors: Vec<String> = of
        .mirrors
        .iter()
        .map(|one| format!("{}/", one.trim_end_matches('/')))
        .collect();
    put("mirrors", &mirrors.join(" "));
    let insecure: BTreeSet<&str> = of.insecure_registries.iter().map(String::as_str).collect();
    put(
        "insecure",
        &insecure.into_iter().collect::<Vec<_>>().join(" "),
    );
    out
}

impl Said {
    pub(crate) fn compare(&self, with: &Effective) -> Result<(), String> {
        let (mut theirs, mut ours) = (self.0.clone(), ours(with));
        if with.release == Release::V20 {
            // It knows neither device specifications nor how to say where they lie.
            theirs.remove("cdi");
            ours.remove("cdi");
        }
        let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
        let differ: Vec<String> = names
            .into_iter()
            .filter(|name| theirs.get(*name) != ours.get(*name))
            .map(|name| {
                format!(
                    "{name}: real {:?}, ours {:?}",
                    theirs.get(name),
                    ours.get(name)
                )
            })
            .collect();
        if differ.is_empty() {
            Ok(())
        } else {
            Err(differ.join("; "))
        }
    }
}
