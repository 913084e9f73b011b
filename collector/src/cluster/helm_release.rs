//! A helm release, decoded from the Secret or ConfigMap in which helm keeps one revision of it.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Inflated, a release takes a few MiB at most: etcd bounds the compressed form to 1 MiB.
const MAX_RELEASE: u64 = 64 << 20;
/// Charts within charts.
pub const MAX_CHARTS: usize = 16;

/// Why a release cannot be decoded. Never quotes its content.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not the Secret or ConfigMap of a release.
    #[error("it holds no release")]
    NoRelease,
    /// Helm's outer or Kubernetes' own coding is broken.
    #[error("it is not base64")]
    Base64,
    /// The compressed form is broken.
    #[error("it cannot be inflated")]
    Gzip(#[source] std::io::Error),
    /// It inflates to more than any release does.
    #[error("it inflates to over {MAX_RELEASE} bytes")]
    Size,
    /// What comes out is not a release.
    #[error("it is not the JSON of a release (line {line}, column {column})")]
    Json {
        /// Line of the error.
        line: usize,
        /// Column of the error.
        column: usize,
    },
}

impl From<serde_json::Error> for DecodeError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json {
            line: error.line(),
            column: error.column(),
        }
    }
}

/// One revision of a release: its facts, and its values as raw JSON.
#[derive(Debug, Clone)]
pub struct Revision {
    /// Release name.
    pub name: String,
    /// Namespace.
    pub namespace: String,
    /// Revision number.
    pub revision: u64,
    /// `deployed`, `superseded`, `failed`, `pending-upgrade` and so on.
    pub status: String,
    /// When it was deployed, as helm wrote it.
    pub updated: String,
    /// Helm's own words: "Upgrade complete".
    pub description: String,
    /// Chart name.
    pub chart: String,
    /// Chart version.
    pub chart_version: String,
    /// Version of what the chart installs.
    pub app_version: String,
    /// The values; none where they were let go to save memory.
    pub values: Option<Values>,
    /// Paths of the user's values that no template of the chart reads.
    pub unread: Vec<String>,
}

/// Both halves of a revision's values.
#[derive(Debug, Clone)]
pub struct Values {
    /// What the user set: JSON of a table.
    pub user: Box<RawValue>,
    /// The chart, as far as its defaults matter.
    pub chart: Chart,
}

/// A chart's defaults and those of its sub-charts.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Chart {
    /// Its facts.
    #[serde(default)]
    pub metadata: Option<ChartMeta>,
    /// Defaults: JSON of a table.
    #[serde(default)]
    pub values: Option<Box<RawValue>>,
    /// Sub-charts. Helm leaves them out of a stored release, whose defaults hold theirs already.
    #[serde(default)]
    pub dependencies: Option<Vec<Chart>>,
    /// Templates, in which the readers of values are looked for; they are not kept.
    #[serde(default)]
    pub templates: Option<Vec<Template>>,
}

/// A template of a chart.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Template {
    /// Its text in base64.
    pub data: String,
}

/// A chart that another one contains, as that one declares it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Dependency {
    /// Name.
    pub name: String,
    /// Name of its values in the parent's, where it is another.
    pub alias: Option<String>,
}

/// Facts about a chart.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ChartMeta {
    /// Name.
    pub name: String,
    /// Version.
    pub version: Option<String>,
    /// Version of what it installs.
    pub app_version: Option<String>,
    /// Charts that it contains.
    pub dependencies: Option<Vec<Dependency>>,
}

#[derive(Deserialize)]
struct Stored {
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    version: u64,
    #[serde(default)]
    info: Info,
    #[serde(default)]
    chart: Chart,
    #[serde(default)]
    config: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Info {
    status: String,
    description: String,
    last_deployed: Option<Value>,
}

#[derive(Deserialize)]
struct Holder<'a> {
    #[serde(default)]
    kind: Option<String>,
    #[serde(default, rename = "type")]
    secret_type: Option<String>,
    #[serde(borrow, default)]
    data: Option<HolderData<'a>>,
}

#[derive(Deserialize)]
struct HolderData<'a> {
    #[serde(borrow, default)]
    release: Option<std::borrow::Cow<'a, str>>,
}

/// Where a release was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// Helm's default.
    Secret,
    /// `HELM_DRIVER=configmap`.
    ConfigMap,
}

/// Decodes the release in an item of a list. None where the object is none of helm's.
pub fn decode(raw: &[u8], driver: Driver) -> Result<Option<Revision>, DecodeError> {
    let holder: Holder<'_> = serde_json::from_slice(raw)?;
    let _ = holder.kind;
    if driver == Driver::Secret && holder.secret_type.as_deref() != Some("helm.sh/release.v1") {
        return Ok(None);
    }
    let Some(coded) = holder.data.and_then(|data| data.release) else {
        // Other ConfigMaps carry the label too.
        return if driver == Driver::ConfigMap {
            Ok(None)
        } else {
            Err(DecodeError::NoRelease)
        };
    };
    let mut bytes = base64(coded.as_bytes())?;
    if driver == Driver::Secret {
        bytes = base64(&bytes)?;
    }
    let text = if bytes.starts_with(&[0x1f, 0x8b, 0x08]) {
        inflate(&bytes)?
    } else {
        bytes
    };
    let stored: Stored = serde_json::from_slice(&text)?;
    Ok(Some(revision(stored)?))
}

fn revision(stored: Stored) -> Result<Revision, DecodeError> {
    let meta = stored.chart.metadata.clone().unwrap_or_default();
    let updated = match stored.info.last_deployed {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let user = match stored.config {
        Some(config) if config.get().trim_start().starts_with('{') => config,
        _ => RawValue::from_string("{}".to_owned())?,
    };
    let mut values = Values {
        user,
        chart: stored.chart,
    };
    let unread = super::helm_unread::unread(&values);
    values.chart.templates = None;
    Ok(Revision {
        name: stored.name,
        namespace: stored.namespace,
        revision: stored.version,
        status: stored.info.status,
        updated,
        description: stored.info.description,
        chart: meta.name,
        chart_version: meta.version.unwrap_or_default(),
        app_version: meta.app_version.unwrap_or_default(),
        values: Some(values),
        unread,
    })
}

fn base64(coded: &[u8]) -> Result<Vec<u8>, DecodeError> {
    STANDARD
        .decode(coded.trim_ascii())
        .map_err(|_| DecodeError::Base64)
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut text = Vec::new();
    let mut reader = flate2::read::GzDecoder::new(bytes).take(MAX_RELEASE + 1);
    reader.read_to_end(&mut text).map_err(DecodeError::Gzip)?;
    if text.len() as u64 > MAX_RELEASE {
        Err(DecodeError::Size)
    } else {
        Ok(text)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::*;

    /// A release as helm stores it, in the object of the given driver.
    pub(in crate::cluster) fn stored(release: &Value, driver: Driver) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(release.to_string().as_bytes()).unwrap();
        let once = STANDARD.encode(gzip.finish().unwrap());
        let object = match driver {
            Driver::Secret => {
                serde_json::json!({"type": "helm.sh/release.v1", "data": {"release": STANDARD.encode(once)}})
            }
            Driver::ConfigMap => serde_json::json!({"data": {"release": once}}),
        };
        serde_json::to_vec(&object).unwrap()
    }

    #[test]
    fn both_drivers_give_the_same_release_and_manifests_are_left_behind() {
        let release = serde_json::json!({"name": "gpu", "namespace": "ops", "version": 3,
            "info": {"status": "deployed", "last_deployed": "2026-01-02T03:04:05Z", "description": "Upgrade complete"},
            "chart": {"metadata": {"name": "gpu-operator", "version": "1.2", "appVersion": "v9"}, "values": {"a": 1}, "templates": [{"data": "x"}]},
            "config": {"b": 2}, "manifest": "kind: Secret"});
        for driver in [Driver::Secret, Driver::ConfigMap] {
            let revision = decode(&stored(&release, driver), driver).unwrap().unwrap();
            assert_eq!(
                (
                    revision.name.as_str(),
                    revision.revision,
                    revision.chart_version.as_str()
                ),
                ("gpu", 3, "1.2")
            );
            assert_eq!(revision.values.as_ref().unwrap().user.get(), r#"{"b":2}"#);
            assert!(!format!("{revision:?}").contains("kind: Secret"));
        }
    }

    #[test]
    fn other_objects_are_no_releases() {
        assert!(
            decode(
                br#"{"type":"Opaque","data":{"release":"x"}}"#,
                Driver::Secret
            )
            .unwrap()
            .is_none()
        );
        assert!(
            decode(br#"{"data":{"x":"y"}}"#, Driver::ConfigMap)
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn a_broken_release_is_an_error_that_quotes_nothing() {
        let secret = |text: &str| {
            format!(r#"{{"type":"helm.sh/release.v1","data":{{"release":"{text}"}}}}"#)
        };
        let twice = |bytes: &[u8]| STANDARD.encode(STANDARD.encode(bytes));
        for broken in [
            secret("%%"),
            secret("aGk="),
            secret(&twice(b"\x1f\x8b\x08nope")),
            secret(&twice(b"{\"name\":7,\"hush\":1}")),
            "{}x".to_owned(),
        ] {
            let error = decode(broken.as_bytes(), Driver::Secret).unwrap_err();
            assert!(!error.to_string().contains("hush"), "{error}");
        }
    }

    #[test]
    fn a_release_that_inflates_without_end_is_refused() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&vec![b' '; (MAX_RELEASE + 10) as usize])
            .unwrap();
        let object =
            serde_json::json!({"data": {"release": STANDARD.encode(gzip.finish().unwrap())}});
        let error = decode(object.to_string().as_bytes(), Driver::ConfigMap).unwrap_err();
        assert!(matches!(error, DecodeError::Size), "{error}");
    }
}
