//! Releases of helm, as the Secrets in which helm looks for them. Values are those of the capture, redacted there.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

/// What stands for parts of a release that no capture holds.
const NO_MANIFEST: &str =
    "# The manifest was not collected; kubectl shows the objects themselves.\n";

/// Files of one release.
#[derive(Debug, Default)]
pub(super) struct Files {
    release: Value,
    history: Vec<Value>,
    /// Values of the user by revision; 0 for those in effect.
    user: Vec<(u64, Value)>,
    all: Value,
}

impl Files {
    /// Takes a file of the release.
    pub(super) fn add(&mut self, file: &str, text: &str) {
        let yaml = || serde_saphyr::from_str::<Value>(text).unwrap_or_default();
        match file {
            "release.json" => self.release = serde_json::from_str(text).unwrap_or_default(),
            "history.json" => self.history = serde_json::from_str(text).unwrap_or_default(),
            "values-all.yaml" => self.all = yaml(),
            "values-user.yaml" => self.user.push((0, yaml())),
            other => {
                let number = other
                    .strip_prefix("values-user-")
                    .and_then(|rest| rest.strip_suffix(".yaml"));
                if let Some(Ok(revision)) = number.map(str::parse) {
                    self.user.push((revision, yaml()));
                }
            }
        }
    }

    /// One Secret for each revision.
    pub(super) fn secrets(&self, namespace: &str, name: &str) -> Vec<Value> {
        let current = self.release["revision"].as_u64().unwrap_or(1);
        let mut revisions = self.history.clone();
        if !revisions
            .iter()
            .any(|one| one["revision"].as_u64() == Some(current))
        {
            revisions.push(self.release.clone());
        }
        let first = revisions
            .iter()
            .filter_map(|one| one["updated"].as_str())
            .min()
            .unwrap_or("")
            .to_owned();
        revisions
            .iter()
            .map(|one| self.secret(namespace, name, (one, current, &first)))
            .collect()
    }

    fn secret(
        &self,
        namespace: &str,
        name: &str,
        (of, current, first): (&Value, u64, &str),
    ) -> Value {
        let revision = of["revision"].as_u64().unwrap_or(current);
        let status = of["status"].as_str().unwrap_or("unknown");
        let is_current = revision == current;
        let values = self
            .user
            .iter()
            .find(|(known, _)| *known == if is_current { 0 } else { revision });
        let values = values.map_or(Value::Null, |(_, values)| values.clone());
        let chart = self.release["chart"].as_str().unwrap_or(name);
        let version = of["chart"]
            .as_str()
            .and_then(|text| text.strip_prefix(chart)?.strip_prefix('-'));
        let version = version
            .or(self.release["chart_version"].as_str())
            .unwrap_or("");
        let release = json!({
            "name": name,
            "namespace": namespace,
            "version": revision,
            "info": {
                "first_deployed": first,
                "last_deployed": of["updated"],
                "deleted": "",
                "description": of["description"],
                "status": status,
            },
            "chart": {
                "metadata": {
                    "apiVersion": "v2", "name": chart, "version": version, "appVersion": of["app_version"],
                },
                "values": if is_current { self.all.clone() } else { Value::Null },
                "templates": [],
            },
            "config": values,
            "manifest": NO_MANIFEST,
        });
        let modified = of["updated"]
            .as_str()
            .and_then(|text| chrono::DateTime::parse_from_rfc3339(text).ok());
        let modified = modified.map_or_else(|| "0".to_owned(), |time| time.timestamp().to_string());
        json!({
            "metadata": {
                "name": format!("sh.helm.release.v1.{name}.v{revision}"),
                "namespace": namespace,
                "creationTimestamp": created(of),
                "labels": {"modifiedAt": modified, "name": name, "owner": "helm", "status": status, "version": revision.to_string()},
                "annotations": {"casefile/made": "put together from the decoded release, whose values are redacted"},
            },
            "data": {"release": packed(&release)},
            "type": "helm.sh/release.v1",
        })
    }
}

/// Whole seconds, as objects have them.
fn created(of: &Value) -> Value {
    let time = of["updated"]
        .as_str()
        .and_then(|text| chrono::DateTime::parse_from_rfc3339(text).ok());
    time.map_or(Value::Null, |time| {
        json!(time.to_utc().format("%Y-%m-%dT%H:%M:%SZ").to_string())
    })
}

/// A release as helm stores it: gzip in base64, and that in base64 as any Secret has it.
fn packed(release: &Value) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let written = gzip
        .write_all(release.to_string().as_bytes())
        .and_then(|()| gzip.finish());
    STANDARD.encode(STANDARD.encode(written.unwrap_or_default()))
}

/// A Secret as the index of Secrets tells of it: its keys, and that their values were not collected.
pub(super) fn of_index(entry: &Value) -> Value {
    let entries = entry["entries"].as_array().cloned().unwrap_or_default();
    let data: serde_json::Map<String, Value> = entries
        .iter()
        .filter_map(|one| {
            let text = format!("<not collected: {} bytes>", one["bytes"].as_u64()?);
            Some((
                one["name"].as_str()?.to_owned(),
                json!(STANDARD.encode(text)),
            ))
        })
        .collect();
    let mut secret = json!({"metadata": entry["metadata"], "data": data, "type": entry["type"]});
    if entry["immutable"] == json!(true) {
        secret["immutable"] = json!(true);
    }
    secret
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_release_is_packed_as_helm_unpacks_it() {
        let mut files = Files::default();
        files.add(
            "release.json",
            r#"{"chart":"web","chart_version":"1.2.0","revision":2,"status":"deployed"}"#,
        );
        files.add("history.json", r#"[{"revision":1,"status":"superseded","chart":"web-1.1.0"},{"revision":2,"status":"deployed","chart":"web-1.2.0"}]"#);
        files.add("values-user.yaml", "a: 1\n");
        let secrets = files.secrets("shop", "web");
        assert_eq!(secrets.len(), 2);
        assert_eq!(secrets[1]["metadata"]["labels"]["status"], "deployed");
        let outer = STANDARD
            .decode(secrets[1]["data"]["release"].as_str().unwrap())
            .unwrap();
        let packed = STANDARD.decode(outer).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(&packed[..])
            .read_to_string(&mut text)
            .unwrap();
        let release: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(release["config"]["a"], 1);
        assert_eq!(release["chart"]["metadata"]["version"], "1.2.0");
    }
}
