//! A request, taken apart.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use percent_encoding::percent_decode_str;

use crate::status::Status;

/// A request as the server got it.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// `GET`.
    pub method: String,
    /// Path, as it came.
    pub path: String,
    /// Query, as it came.
    pub query: String,
    /// The `Accept` header.
    pub accept: String,
    /// The body, where there is one.
    pub body: Bytes,
}

/// Query parameters.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        });
        Self(pairs.collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Text that is not empty.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// A moment.
    pub(crate) fn time(&self, name: &str) -> Result<Option<DateTime<Utc>>, Status> {
        let Some(text) = self.filled(name) else {
            return Ok(None);
        };
        let time = DateTime::parse_from_rfc3339(text).map_err(|_| {
            Status::bad_request(format!(
                "{name}: {text:?} is not a time as RFC 3339 writes it"
            ))
        })?;
        Ok(Some(time.to_utc()))
    }

    /// A switch, as Go reads one from a query.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| !matches!(value.to_lowercase().as_str(), "false" | "0"))
    }

    /// A whole number.
    ///
    /// Errors: in the words of the server.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, Status> {
        let Some(text) = self.filled(name) else {
            return Ok(None);
        };
        let number = text.parse().map_err(|_| {
            Status::bad_request(format!(
                "strconv.ParseInt: parsing {text:?}: invalid syntax"
            ))
        })?;
        Ok(Some(number))
    }
}

/// Parts of a path, decoded; none if it holds what no name has.
pub(crate) fn segments(path: &str) -> Option<Vec<String>> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let text = percent_decode_str(part).decode_utf8().ok()?.into_owned();
            let odd = text.contains(['/', '\\', '\0']) || text == ".." || text == ".";
            (!odd).then_some(text)
        })
        .collect()
}

/// In which form an object, list or watch is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it is.
    Plain,
    /// As a table of this version of meta.k8s.io.
    Table(&'static str),
    /// Metadata only.
    Metadata,
    /// Aggregated discovery.
    Discovery,
}

/// The first form of an `Accept` header that there is. Protobuf is answered in JSON: the kinds of definitions are so by
/// every server, and clients read what the answer says it is.
pub(crate) fn form(accept: &str) -> Result<Form, Status> {
    let mut clauses: Vec<(u32, &str)> = accept
        .split(',')
        .map(str::trim)
        .filter(|clause| !clause.is_empty())
        .map(|clause| (quality(clause), clause))
        .collect();
    if clauses.is_empty() {
        return Ok(Form::Plain);
    }
    clauses.sort_by_key(|(quality, _)| std::cmp::Reverse(*quality));
    let found = clauses
        .into_iter()
        .find_map(|(_, clause)| clause_form(clause));
    found.ok_or_else(Status::not_acceptable)
}

/// Weight of a clause in thousandths: `q=0.5` is 500.
fn quality(clause: &str) -> u32 {
    let Some(text) = parameter(clause, "q") else {
        return 1000;
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    match (whole, thousandths.parse::<u32>()) {
        ("0" | "", Ok(weight)) => weight,
        _ => 1000,
    }
}

fn parameter<'c>(clause: &'c str, name: &str) -> Option<&'c str> {
    clause.split(';').skip(1).find_map(|part| {
        let (known, value) = part.split_once('=')?;
        (known.trim() == name).then_some(value.trim())
    })
}

fn clause_form(clause: &str) -> Option<Form> {
    let media = clause.split(';').next()?.trim();
    let known = matches!(
        media,
        "application/json" | "*/*" | "application/*" | "application/vnd.kubernetes.protobuf"
    );
    if !known {
        return None;
    }
    let (of, version) = (parameter(clause, "g"), parameter(clause, "v"));
    match (parameter(clause, "as"), of, version) {
        (None, ..) => Some(Form::Plain),
        (Some("Table"), Some("meta.k8s.io"), Some("v1")) => Some(Form::Table("v1")),
        (Some("Table"), Some("meta.k8s.io"), Some("v1beta1")) => Some(Form::Table("v1beta1")),
        (Some("PartialObjectMetadata" | "PartialObjectMetadataList"), Some("meta.k8s.io"), _) => {
            Some(Form::Metadata)
        }
        (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2")) => {
            Some(Form::Discovery)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_that_there_is_is_given() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(form(table).unwrap(), Form::Table("v1"));
        assert_eq!(
            form("application/vnd.kubernetes.protobuf,application/json").unwrap(),
            Form::Plain
        );
        assert_eq!(
            form("application/xml,application/json;q=0.5").unwrap(),
            Form::Plain
        );
        assert_eq!(form("").unwrap(), Form::Plain);
        assert!(form("text/html").is_err());
        assert!(form("application/json;as=Table;v=v2;g=meta.k8s.io").is_err());
    }

    #[test]
    fn paths_that_lead_elsewhere_are_no_paths() {
        assert_eq!(segments("/api/v1/pods").unwrap(), ["api", "v1", "pods"]);
        for path in ["/api/../x", "/a/%2e%2e/b", "/a/b%2fc", "/a/%00"] {
            assert_eq!(segments(path), None, "{path}");
        }
    }
}
