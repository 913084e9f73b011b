//! Certificates of the node and its control plane: whose they are and when they end. Of a file that holds a key too,
//! only the certificate is looked at; no part of either is copied.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine as _;
use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::Pem;
use x509_parser::prelude::FromDer as _;
use x509_parser::time::ASN1Time;

use casefile_bundle::sources as about;

use crate::files::json_lines;
use crate::host::{Host, Stat};
use crate::out::Out;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::sources::nvidia_smi::put;
use crate::take::Tally;

/// Files with certificates as PEM.
const FILES: [&str; 22] = [
    "/var/lib/kubelet/pki/*.pem",
    "/var/lib/kubelet/pki/*.crt",
    "/etc/kubernetes/pki/*.crt",
    "/etc/kubernetes/pki/etcd/*.crt",
    "/etc/kubernetes/ssl/*.pem",
    "/etc/kubernetes/ssl/*.crt",
    "/etc/etcd/pki/*.crt",
    "/etc/ssl/etcd/ssl/*.pem",
    "/var/lib/rancher/*/agent/*.crt",
    "/var/lib/rancher/*/server/tls/*.crt",
    "/var/lib/rancher/*/server/tls/etcd/*.crt",
    "/var/lib/k0s/pki/*.crt",
    "/var/lib/k0s/pki/etcd/*.crt",
    "/var/lib/k0s/kubelet/pki/*.pem",
    "/var/snap/k8s/common/var/lib/k8s-dqlite/*.crt",
    "/var/snap/k8s/common/var/lib/k8sd/state/*.crt",
    "/var/snap/microk8s/current/certs/*.crt",
    "/etc/containerd/certs.d/*/*.crt",
    "/etc/docker/certs.d/*/*.crt",
    "/etc/containers/certs.d/*/*.crt",
    "/etc/cni/net.d/*/*.crt",
    "/etc/eks/*.crt",
];
/// Kubeconfigs, which hold certificates as base64.
const KUBECONFIGS: [&str; 7] = [
    "/etc/kubernetes/*.conf",
    "/var/lib/kubelet/kubeconfig",
    "/etc/rancher/k3s/k3s.yaml",
    "/etc/rancher/rke2/rke2.yaml",
    "/var/lib/rancher/*/agent/*.kubeconfig",
    "/var/snap/microk8s/current/credentials/*.config",
    "/var/lib/k0s/kubelet.conf",
];
/// Keys of a kubeconfig whose values are certificates; those with keys and tokens are never decoded.
const DATA: [&str; 2] = ["client-certificate-data:", "certificate-authority-data:"];
/// Certificates taken from one file; bundles of public authorities have hundreds.
const MAX_PER_FILE: usize = 50;
/// Certificates in all.
const MAX: usize = 1000;

/// Certificates' dates.
pub static SOURCE: Source = Source {
    about: &about::CERTIFICATES,
    timeout: Duration::from_secs(30),
    max_bytes: 4 << 20,
    plan,
    collect,
};

fn plan(_: &PlanCtx<'_>) -> Vec<PlanItem> {
    FILES
        .iter()
        .chain(&KUBECONFIGS)
        .map(|path| PlanItem::file(*path))
        .collect()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let tally = ctx.files(gather).await;
        tally.outcome("no certificate was found where kubelets and control planes keep theirs")
    })
}

/// A line of `host/certificates.json`.
#[derive(Debug, Serialize, PartialEq, Eq)]
struct Row {
    path: String,
    /// The member of a kubeconfig that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<&'static str>,
    /// Its place among the file's certificates, from 1.
    number: usize,
    subject: String,
    issuer: String,
    not_before: String,
    not_after: String,
    is_ca: bool,
    /// Names and addresses that it is valid for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    /// SHA-256 of the certificate: equal ones are the same.
    sha256: String,
}

fn gather(host: &Host, out: &Out, tally: &mut Tally) {
    let mut rows = Vec::new();
    for (patterns, read) in [
        (&FILES[..], from_pem as fn(&str, &[u8]) -> Vec<Found>),
        (&KUBECONFIGS[..], from_kubeconfig),
    ] {
        let paths: BTreeSet<String> = patterns.iter().flat_map(|one| host.glob(one)).collect();
        for path in paths {
            file(host, out, &path, read, &mut rows, tally);
        }
    }
    if rows.is_empty() {
        return;
    }
    if rows.len() > MAX {
        tally.broken(
            out,
            format!(
                "only the first {MAX} of {} certificates are listed",
                rows.len()
            ),
        );
        rows.truncate(MAX);
    }
    tally.taken += 1;
    put(
        out,
        "host/certificates.json",
        &json_lines("certificates", rows),
        tally,
    );
}

fn file(
    host: &Host,
    out: &Out,
    path: &str,
    read: fn(&str, &[u8]) -> Vec<Found>,
    rows: &mut Vec<Row>,
    tally: &mut Tally,
) {
    let stat = host.metadata(path).ok().as_ref().map(Stat::from);
    if stat.is_some_and(|stat| stat.mode & 0o170_000 == 0o040_000) {
        return;
    }
    out.files()
        .record(path, "noted", stat, host.read_link(path));
    match host.read(path, 1 << 20) {
        Ok((bytes, _)) => {
            for found in read(path, &bytes) {
                match found {
                    Ok(row) => rows.push(row),
                    Err(why) => tally.broken(out, format!("{path}: {why}")),
                }
            }
        }
        Err(error) => tally.broken(out, error.sentence()),
    }
}

type Found = Result<Row, String>;

fn from_pem(path: &str, bytes: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    for block in Pem::iter_from_buffer(bytes).take(4 * MAX_PER_FILE) {
        match block {
            Ok(block) if block.label == "CERTIFICATE" => {
                found.push(row(path, found.len() + 1, &block.contents));
            }
            // Keys are passed over.
            Ok(_) => {}
            Err(_) => {
                found.push(Err(
                    "holds something that looks like PEM and is not".to_owned()
                ));
                break;
            }
        }
        if found.len() >= MAX_PER_FILE {
            break;
        }
    }
    found
}

fn from_kubeconfig(path: &str, bytes: &[u8]) -> Vec<Found> {
    let text = String::from_utf8_lossy(bytes);
    let mut found = Vec::new();
    for line in text
        .lines()
        .map(|line| line.trim().trim_start_matches("- "))
    {
        for key in DATA {
            let Some(value) = line.strip_prefix(key) else {
                continue;
            };
            let value = value.trim().trim_matches(['"', '\'']);
            let member = key.trim_end_matches(':');
            match base64::engine::general_purpose::STANDARD.decode(value) {
                Ok(pem) => found.extend(from_pem(path, &pem).into_iter().map(|row| {
                    row.map(|row| Row {
                        member: Some(member),
                        ..row
                    })
                })),
                Err(_) => found.push(Err(format!("{member} is not base64"))),
            }
        }
    }
    found
}

fn row(path: &str, number: usize, der: &[u8]) -> Found {
    let (_, certificate) = X509Certificate::from_der(der)
        .map_err(|error| format!("certificate {number} cannot be read: {error}"))?;
    let validity = certificate.validity();
    let names = certificate.subject_alternative_name().ok().flatten();
    let names = names.map(|names| names.value.general_names.iter().filter_map(name).collect());
    Ok(Row {
        path: path.to_owned(),
        member: None,
        number,
        subject: certificate.subject().to_string(),
        issuer: certificate.issuer().to_string(),
        not_before: time(&validity.not_before),
        not_after: time(&validity.not_after),
        is_ca: certificate.is_ca(),
        names: names.unwrap_or_default(),
        sha256: casefile_bundle::sha256_hex(der),
    })
}

fn time(time: &ASN1Time) -> String {
    DateTime::from_timestamp(time.timestamp(), 0).map_or_else(
        || time.to_string(),
        |time| time.to_rfc3339_opts(SecondsFormat::Secs, true),
    )
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => <[u8; 4]>::try_from(*bytes)
                .ok()
                .map(|bytes| std::net::Ipv4Addr::from(bytes).to_string()),
            16 => <[u8; 16]>::try_from(*bytes)
                .ok()
                .map(|bytes| std::net::Ipv6Addr::from(bytes).to_string()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};

    /// A certificate and its key in one file, as the kubelet keeps its own.
    fn made() -> (String, String) {
        let mut params =
            CertificateParams::new(vec!["gpu-1".to_owned(), "192.0.2.7".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2025, 1, 2);
        params.not_after = date_time_ymd(2026, 1, 2);
        params
            .distinguished_name
            .push(DnType::OrganizationName, "system:nodes");
        params
            .distinguished_name
            .push(DnType::CommonName, "system:node:gpu-1");
        let key = KeyPair::generate().unwrap();
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    #[test]
    fn dates_and_names_are_told_and_the_key_is_not() {
        let (certificate, key) = made();
        let found = from_pem("/x.pem", format!("{key}{certificate}").as_bytes());
        let row = found.into_iter().next().unwrap().unwrap();
        assert_eq!(
            (row.not_before.as_str(), row.not_after.as_str()),
            ("2025-01-02T00:00:00Z", "2026-01-02T00:00:00Z")
        );
        assert!(row.subject.contains("CN=system:node:gpu-1"), "{row:?}");
        assert_eq!(row.names, ["gpu-1", "192.0.2.7"]);
        let text = serde_json::to_string(&row).unwrap();
        assert!(
            !text.contains("PRIVATE") && !text.contains("BEGIN"),
            "{text}"
        );
    }

    #[test]
    fn a_kubeconfig_tells_of_its_certificates_and_never_of_its_key() {
        let (certificate, key) = made();
        let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        let text = format!(
            "users:\n- user:\n    client-certificate-data: {}\n    client-key-data: {}\n",
            encode(&certificate),
            encode(&key)
        );
        let found = from_kubeconfig("/etc/kubernetes/kubelet.conf", text.as_bytes());
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].as_ref().unwrap().member,
            Some("client-certificate-data")
        );
    }

    #[test]
    fn what_is_no_certificate_is_said() {
        assert!(
            from_pem(
                "/x",
                b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
            )[0]
            .is_err()
        );
        assert!(from_pem("/x", b"nothing").is_empty());
        assert!(from_kubeconfig("/x", b"  client-certificate-data: %%\n")[0].is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..500)) {
            let pem = base64::engine::general_purpose::STANDARD.encode(&bytes);
            let pem = format!("-----BEGIN CERTIFICATE-----\n{pem}\n-----END CERTIFICATE-----\n");
            // Any answer will do, as long as there is one.
            let _ = (from_pem("/x", pem.as_bytes()), from_pem("/x", &bytes), from_kubeconfig("/x", &bytes));
        }
    }
}
