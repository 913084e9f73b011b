//! What leaves the site: pseudonyms and their map, the leak check, signatures, encryption, and refusals that leave
//! nothing behind.

use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;

use crate::support::{Ended, collect, diagnose, entry, nowhere, paths, plant, run, run_in, skip};

struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        plant(&root, "/etc/hostname", "berlin-gpu-7\n");
        plant(
            &root,
            "/etc/hosts",
            "127.0.0.1 localhost\n10.20.30.41 berlin-gpu-7.lab.example berlin-gpu-7\n",
        );
        plant(
            &root,
            "/etc/passwd",
            "root:x:0:0::/root:/bin/sh\nmmeier:x:1001:1001::/home/mmeier:/bin/sh\n",
        );
        plant(
            &root,
            "/etc/containerd/config.toml",
            "version = 2\nroot = \"/home/mmeier/containerd\"\n[grpc]\n  address = \"/run/containerd/containerd.sock\"\n",
        );
        plant(
            &root,
            "/etc/default/kubelet",
            "KUBELET_EXTRA_ARGS=--node-ip=10.20.30.41 --cluster-dns=10.96.0.10\n",
        );
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn root(&self) -> String {
        self.path("root").display().to_string()
    }

    fn collect(&self, more: &[&str]) -> (Ended, PathBuf) {
        let root = self.root();
        let mut all = vec!["--root", &root];
        all.extend(more);
        collect(self.folder.path(), &all)
    }

    /// A run that must be refused with 3 and leave nothing.
    fn refused(&self, more: &[&str]) -> String {
        let before = files(self.folder.path());
        let (root, out) = (
            self.root(),
            self.path("bundle.tar.gz").display().to_string(),
        );
        let mut all = vec!["collect", "-o", &out, "--progress", "none", "--root", &root];
        all.extend(more);
        let ended = run(bins::COLLECTOR, &all);
        assert_eq!(ended.code, 3, "{ended:?}");
        assert_eq!(
            files(self.folder.path()),
            before,
            "something was left behind"
        );
        ended.err
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder).sort_by_file_name();
    all.into_iter()
        .filter_map(Result::ok)
        .map(|file| file.path().to_owned())
        .collect()
}

fn program(test: &str, name: &str) -> bool {
    let there = Command::new(name).arg("--version").output().is_ok();
    if !there {
        skip(test, &format!("{name} is not installed"));
    }
    there
}

fn sh(folder: &Path, script: &str) -> std::process::Output {
    Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn names_of_the_site_are_nowhere_in_the_bundle_and_the_map_leads_back() {
    let disk = Disk::new();
    let (_, bundle) = disk.collect(&["--anonymize", "hosts,ips,macs,users,namespaces,images"]);
    for name in ["berlin-gpu-7", "mmeier", "10.20.30.41", "lab.example"] {
        nowhere(&bundle, name);
        assert!(
            paths(&bundle).iter().all(|path| !path.contains(name)),
            "{name} is in a path"
        );
    }
    let map = disk.path("bundle.map.json");
    assert!(paths(&bundle).iter().all(|path| !path.contains("map.json")));
    let kubelet = paths(&bundle)
        .into_iter()
        .find(|path| path.ends_with("default/kubelet"))
        .unwrap();
    let text = entry(&bundle, &kubelet);
    assert!(text.contains("--cluster-dns=10.96.0.10"), "{text}");
    let report = disk.path("report.txt");
    std::fs::write(&report, &text).unwrap();
    let back = run(
        bins::COLLECTOR,
        &[
            "reveal",
            "--map",
            map.to_str().unwrap(),
            report.to_str().unwrap(),
        ],
    );
    assert!(back.out.contains("--node-ip=10.20.30.41"), "{back:?}");
    // A second run must not write over the first one's map.
    std::fs::remove_file(&bundle).unwrap();
    assert!(
        disk.refused(&["--anonymize", "ips"])
            .contains("exists already")
    );
}

#[test]
fn a_report_on_pseudonyms_reads_as_the_sites_own_after_reveal() {
    let disk = Disk::new();
    plant(
        &disk.path("root"),
        "/etc/resolv.conf",
        "nameserver fd12:3456:789a::53\nnameserver 10.20.30.2\nsearch lab.example\n",
    );
    let (_, bundle) = disk.collect(&["--anonymize", "hosts,ips,macs,users"]);
    let map = disk.path("bundle.map.json").display().to_string();
    let out = disk.path("out").display().to_string();
    let bundle = bundle.display().to_string();
    let written = run(
        bins::ANALYZER,
        &["report", &bundle, "-o", &out, "--format", "md,html"],
    );
    assert_eq!(written.code, 0, "{written:?}");
    let text = std::fs::read_to_string(&map).unwrap();
    let pairs: serde_json::Value = serde_json::from_str(&text).unwrap();
    let pairs = pairs["pseudonyms"].as_object().unwrap();
    let node = pairs
        .iter()
        .find(|(_, entry)| entry["real"] == "berlin-gpu-7");
    let pseudonym = node.unwrap().0;
    for name in ["report.md", "report.html"] {
        let path = disk.path("out").join(name).display().to_string();
        let report = std::fs::read_to_string(&path).unwrap();
        assert!(report.contains(pseudonym) && !report.contains("berlin-gpu-7"));
        let back = run(bins::COLLECTOR, &["reveal", "--map", &map, &path]);
        assert_eq!(back.code, 0, "{back:?}");
        // Each place that showed the pseudonym shows the name.
        assert!(!back.out.contains(pseudonym));
        assert!(
            back.out.matches("berlin-gpu-7").count() >= report.matches(pseudonym.as_str()).count()
        );
    }
}

#[test]
fn a_diagnosis_is_the_same_with_pseudonyms() {
    let disk = Disk::new();
    let causes = |bundle: &Path| -> Vec<(String, String)> {
        let analysis = diagnose(bundle);
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let incidents = analysis["incidents"].as_array().unwrap().iter();
        let others = analysis["differential"].as_array().unwrap().iter();
        incidents
            .map(|one| (text(&one["cause"]["id"]), text(&one["verdict"])))
            .chain(others.map(|one| (text(&one["cause"]), text(&one["verdict"]))))
            .collect()
    };
    let (_, plain) = disk.collect(&[]);
    let before = causes(&plain);
    let (_, named) = disk.collect(&["--anonymize", "hosts,ips,macs,users,namespaces,images"]);
    assert_eq!(causes(&named), before);
}

#[test]
fn a_secret_that_the_redaction_misses_is_replaced_and_blocks_only_where_that_is_wanted() {
    let disk = Disk::new();
    // Made of words, so that only the leak check, which knows it from the other file, finds it.
    let secret = ["Correct-Horse", "7-Battery"].concat();
    let root = disk.path("root");
    // Known as a secret in one file, and standing in another without a name or a form.
    plant(
        &root,
        "/etc/containerd/conf.d/auth.toml",
        format!("password = \"{secret}\"\n"),
    );
    plant(
        &root,
        "/etc/sysconfig/kubelet",
        format!("# remember {secret} for later\n"),
    );
    let place = "nodes/berlin-gpu-7/rootfs/etc/sysconfig/kubelet";
    let error = disk.refused(&["--strict-leaks"]);
    assert!(error.contains("etc/sysconfig/kubelet:1: "), "{error}");
    assert!(!error.contains(&secret), "the value itself is shown");
    let (said, bundle) = disk.collect(&[]);
    assert!(said.out.contains(place), "{said:?}");
    let text = entry(&bundle, place);
    assert!(
        text.starts_with("# remember <redacted:leak-check:") && text.ends_with("> for later\n"),
        "{text}"
    );
    assert!(entry(&bundle, "manifest.json").contains("found by the leak check and replaced"));
    assert!(entry(&bundle, "privacy.json").contains("leak-check"));
    std::fs::remove_file(&bundle).unwrap();
    let (_, bundle) = disk.collect(&["--strict-leaks", "--allow-leak", &format!("{place}:1")]);
    assert!(entry(&bundle, "casefile.json").contains("allow-leak"));
    assert!(entry(&bundle, place).contains(&secret));
    assert!(!entry(&bundle, "privacy.json").contains(&secret));
}

#[test]
fn a_signed_bundle_is_refused_when_a_single_byte_is_changed() {
    let disk = Disk::new();
    if !program(
        "a_signed_bundle_is_refused_when_a_single_byte_is_changed",
        "openssl",
    ) {
        return;
    }
    let made = sh(
        disk.folder.path(),
        "openssl genpkey -algorithm ed25519 -out k.pem && openssl pkey -in k.pem -pubout -out p.pem && openssl genpkey -algorithm ed25519 -out o.pem && openssl pkey -in o.pem -pubout -out q.pem",
    );
    assert!(made.status.success(), "{made:?}");
    let (key, public) = (
        disk.path("k.pem").display().to_string(),
        disk.path("p.pem").display().to_string(),
    );
    let (_, bundle) = disk.collect(&["--sign-key", &key]);
    let verify = |path: &Path, key: &str| {
        run(
            bins::COLLECTOR,
            &["verify", "--public-key", key, path.to_str().unwrap()],
        )
    };
    let good = verify(&bundle, &public);
    assert!(
        good.code == 0 && good.out.contains("signed by the given key"),
        "{good:?}"
    );
    let other = verify(&bundle, disk.path("q.pem").to_str().unwrap());
    assert!(
        other.code == 3 && other.out.contains("another key"),
        "{other:?}"
    );
    let bytes = std::fs::read(&bundle).unwrap();
    let broken = disk.path("broken.tar.gz");
    for at in (0..bytes.len())
        .step_by(bytes.len() / 60)
        .chain(bytes.len() - 40..bytes.len())
    {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(&broken, &changed).unwrap();
        let ended = verify(&broken, &public);
        assert_eq!(ended.code, 3, "byte {at} of {}: {ended:?}", bytes.len());
    }
    std::fs::remove_file(&broken).unwrap();
    let (_, unsigned) = disk.collect(&[]);
    let demanded = verify(&unsigned, &public);
    assert!(
        demanded.code == 3
            && demanded
                .out
                .contains("is demanded and the bundle is not signed"),
        "{demanded:?}"
    );
}

#[test]
fn what_is_encrypted_is_opened_by_each_recipient_and_by_nobody_else() {
    const TEST: &str = "what_is_encrypted_is_opened_by_each_recipient_and_by_nobody_else";
    let disk = Disk::new();
    if !program(TEST, "age") {
        return;
    }
    let made = sh(
        disk.folder.path(),
        "for i in a b c; do age-keygen -o $i.key 2>/dev/null; age-keygen -y $i.key > $i.pub; done; (echo '# team'; cat b.pub) > team.txt",
    );
    assert!(made.status.success(), "{made:?}");
    let first = std::fs::read_to_string(disk.path("a.pub"))
        .unwrap()
        .trim()
        .to_owned();
    let team = disk.path("team.txt").display().to_string();
    let root = disk.root();
    let ended = run_in(
        bins::COLLECTOR,
        disk.folder.path(),
        &[
            "--root",
            &root,
            "--progress",
            "none",
            "--encrypt-to",
            &first,
            "--encrypt-to",
            &team,
        ],
    );
    assert!(matches!(ended.code, 0 | 4), "{ended:?}");
    let all: Vec<PathBuf> = files(disk.folder.path())
        .into_iter()
        .filter(|path| path.to_string_lossy().contains("casefile-"))
        .collect();
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].to_string_lossy().ends_with(".tar.gz.age"));
    let file = all[0].display().to_string();
    for key in ["a", "b"] {
        let opened = sh(
            disk.folder.path(),
            &format!("age -d -i {key}.key -o {key}.tar.gz {file}"),
        );
        assert!(opened.status.success(), "{opened:?}");
        let verified = run(
            bins::COLLECTOR,
            &[
                "verify",
                disk.path(&format!("{key}.tar.gz")).to_str().unwrap(),
            ],
        );
        assert_eq!(verified.code, 0, "{verified:?}");
    }
    assert!(
        !sh(disk.folder.path(), &format!("age -d -i c.key {file}"))
            .status
            .success()
    );
    let mut bytes = std::fs::read(&all[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&all[0], bytes).unwrap();
    assert!(
        !sh(disk.folder.path(), &format!("age -d -i a.key {file}"))
            .status
            .success()
    );
    let told = run(bins::ANALYZER, &["diagnose", &file]);
    assert!(told.code == 3 && told.err.contains("age -d"), "{told:?}");
}

#[test]
fn keys_that_are_none_are_refused_before_anything_is_written() {
    let disk = Disk::new();
    let bad = disk.path("bad.pem");
    std::fs::write(
        &bad,
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    )
    .unwrap();
    let bad = bad.display().to_string();
    assert!(
        disk.refused(&["--sign-key", &bad])
            .contains("no Ed25519 key")
    );
    assert!(
        disk.refused(&["--sign-key", "/nonexistent"])
            .contains("/nonexistent")
    );
    assert!(
        disk.refused(&["--encrypt-to", "age1nonsense"])
            .contains("no age recipient")
    );
    assert!(
        disk.refused(&["--encrypt-to", "/nonexistent"])
            .contains("neither a recipient")
    );
    assert!(disk.refused(&["--encrypt-to", &bad]).contains("line 1"));
}
