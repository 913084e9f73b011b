//! What `.ci/release` hands out, made of stand-ins for the programs: the same bytes each time, sums and a signature that
//! hold, and an image whose parts say each other's sums.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use casefile_bundle::hex;
use casefile_tests::bins;
use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::support::skip;

const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

fn here(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Stand-ins for both programs of both machines.
fn programs(folder: &Path) {
    for target in TARGETS {
        std::fs::create_dir_all(folder.join(target)).unwrap();
        for name in ["casefile-collector", "casefile-analyzer"] {
            let path = folder.join(target).join(name);
            std::fs::write(&path, format!("#!/bin/sh\necho {name} of {target}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

/// A release as somebody in another time zone makes it, signed with this key.
fn release(folder: &Path, out: &str, zone: &str, key: &str) -> BTreeMap<String, Vec<u8>> {
    let done = Command::new(bins::checkout().join(".ci/release"))
        .arg("--binaries")
        .arg(folder.join("programs"))
        .arg(folder.join(out))
        .env("CASEFILE_RELEASE_KEY", folder.join(key))
        .env("TZ", zone)
        .env("CASEFILE_TARGETS", TARGETS.join(" "))
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    std::fs::read_dir(folder.join(out))
        .unwrap()
        .map(|file| {
            let file = file.unwrap();
            let name = file.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(file.path()).unwrap())
        })
        .collect()
}

fn sum(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn openssl(arguments: &[&str], folder: &Path) -> bool {
    let done = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .output();
    done.unwrap().status.success()
}

#[test]
fn a_release_is_the_same_each_time_and_its_sums_signature_and_images_hold() {
    for program in ["jq", "openssl", "dpkg-deb"] {
        if !here(program) {
            skip("release", &format!("{program} is not installed"));
            return;
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    programs(&folder.join("programs"));
    assert!(openssl(
        &["genpkey", "-algorithm", "ed25519", "-out", "key.pem"],
        folder
    ));
    assert!(openssl(
        &["pkey", "-in", "key.pem", "-pubout", "-out", "pub.pem"],
        folder
    ));
    let first = release(folder, "first", "UTC", "key.pem");
    let again = release(folder, "again", "Asia/Tokyo", "key.pem");
    assert!(
        first == again,
        "two runs differ: {:?} {:?}",
        first.keys(),
        again.keys()
    );

    let sums = String::from_utf8(first["SHA256SUMS"].clone()).unwrap();
    for (name, bytes) in first
        .iter()
        .filter(|(name, _)| !name.starts_with("SHA256SUMS"))
    {
        assert!(
            sums.contains(&format!("{}  {name}\n", sum(bytes))),
            "{name} in {sums}"
        );
    }
    let check = "pkeyutl -verify -rawin -pubin -inkey pub.pem -in first/SHA256SUMS -sigfile first/SHA256SUMS.sig";
    assert!(openssl(&check.split(' ').collect::<Vec<_>>(), folder));

    for (ending, count) in [
        (".rpm", if here("rpmbuild") { 4 } else { 0 }),
        (".deb", 4),
        (".cdx.json", 4),
        (".image.tar.gz", 2),
        (".yaml", 1),
    ] {
        let found = first.keys().filter(|name| name.ends_with(ending)).count();
        assert_eq!(found, count, "{ending}");
    }
    let krew = String::from_utf8(first["casefile-krew.yaml"].clone()).unwrap();
    for (name, bytes) in &first {
        if name.starts_with("casefile-collector-") && name.ends_with("64.tar.gz") {
            assert!(krew.contains(&sum(bytes)), "{name} in {krew}");
        }
        if name.ends_with(".image.tar.gz") {
            image(bytes);
        }
        if name.ends_with(".cdx.json") {
            let parts: Value = serde_json::from_slice(bytes).unwrap();
            let parts = parts["components"].as_array().unwrap();
            let has = |name: &str| parts.iter().any(|part| part["name"] == name);
            assert!(has("casefile-bundle") && has("serde") && !has("proptest"));
        }
    }
}

#[test]
fn a_release_can_be_signed_for_minisign() {
    for program in ["jq", "dpkg-deb", "minisign"] {
        if !here(program) {
            skip("release", &format!("{program} is not installed"));
            return;
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    programs(&folder.join("programs"));
    let minisign = |arguments: &[&str]| {
        let done = Command::new("minisign")
            .args(arguments)
            .current_dir(folder)
            .output()
            .unwrap();
        (
            done.status.success(),
            String::from_utf8_lossy(&done.stdout).into_owned(),
        )
    };
    assert!(minisign(&["-G", "-W", "-p", "m.pub", "-s", "m.key"]).0);
    let made = release(folder, "out", "UTC", "m.key");
    assert!(made.contains_key("SHA256SUMS.minisig"), "{:?}", made.keys());
    let check = ["-Vm", "out/SHA256SUMS", "-p", "m.pub"];
    let (good, said) = minisign(&check);
    assert!(good && said.contains("casefile "), "{said}");
    std::fs::write(folder.join("out/SHA256SUMS"), b"0000  casefile-krew.yaml\n").unwrap();
    assert!(!minisign(&check).0, "other sums have the same signature");
}

/// The manifest names a configuration whose name is its sum, and that the one layer by its sum.
fn image(packed: &[u8]) {
    let mut files = BTreeMap::new();
    let mut archive = tar::Archive::new(GzDecoder::new(packed));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        std::io::copy(&mut entry, &mut bytes).unwrap();
        files.insert(name, bytes);
    }
    let manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    let config = manifest[0]["Config"].as_str().unwrap();
    assert_eq!(config, format!("{}.json", sum(&files[config])));
    let config: Value = serde_json::from_slice(&files[config]).unwrap();
    let layer = &files[manifest[0]["Layers"][0].as_str().unwrap()];
    assert_eq!(
        config["rootfs"]["diff_ids"][0],
        format!("sha256:{}", sum(layer))
    );
    let mut inside = tar::Archive::new(layer.as_slice());
    let paths: Vec<_> = inside
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap().path().unwrap().display().to_string())
        .collect();
    assert_eq!(paths, ["casefile-collector"]);
    assert_eq!(config["config"]["Entrypoint"][0], "/casefile-collector");
}
