//! Text that is read and was never said: documentation, help, manuals, lists, schemas, these rules themselves. None of it
//! is evidence of anything.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Files, analyze, analyzer};
use casefile_analyzer::diagnose::Analyzer;

/// What a text makes likely or confirmed, which has to be nothing.
fn alarms(analyzer: &Analyzer, files: &Files) -> Vec<String> {
    let analysis = analyze(analyzer, files);
    let live = analysis
        .differential
        .iter()
        .filter(|one| one.verdict.is_live());
    live.map(|one| {
        format!(
            "{} {}: {} ({:?})",
            one.verdict.word(),
            one.cause,
            one.why,
            one.place
        )
    })
    .collect()
}

fn below(folder: &Path, endings: &[&str], into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() {
            if !["target", "node_modules", ".git", "samples"].contains(&name.as_ref()) {
                below(&path, endings, into);
            }
        } else if endings.iter().any(|end| name.ends_with(end)) {
            into.push(path);
        }
    }
}

fn output(program: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new(program);
    let command = command
        .args(arguments)
        .env("MANPAGER", "cat")
        .env("LC_ALL", "C");
    let out = command.stdin(std::process::Stdio::null()).output().ok()?;
    let text = if out.stdout.len() > out.stderr.len() {
        out.stdout
    } else {
        out.stderr
    };
    (text.len() > 200).then_some(text)
}

#[test]
fn these_rules_and_papers_are_evidence_of_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    below(
        &root,
        &[
            "README.md",
            "ARCHITECTURE.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "FORMAT.md",
            "SECURITY.md",
        ],
        &mut paths,
    );
    below(&root.join("docs"), &[".md"], &mut paths);
    below(&root.join("analyzer/rules"), &[".yaml"], &mut paths);
    below(&root.join("analyzer/messages"), &[".yaml"], &mut paths);
    below(&root.join("analyzer/schemas"), &[".json"], &mut paths);
    below(&root.join("analyzer/src/gpu"), &[".rs"], &mut paths);
    assert!(paths.len() > 150, "{}", paths.len());
    let analyzer = analyzer();
    let mut files = Files::new();
    for path in paths {
        let name = path
            .strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        files.insert(name, std::fs::read(path).unwrap());
    }
    let found = alarms(&analyzer, &files);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_reference_of_all_rules_is_evidence_of_nothing() {
    let set = crate::shipped_rules();
    let folder = tempfile::tempdir().unwrap();
    let pages = casefile_analyzer::rules::docs::write(&set, folder.path()).unwrap();
    let mut files = Files::new();
    for path in pages {
        let path = if path.is_absolute() {
            path
        } else {
            folder.path().join(path)
        };
        let name = path.strip_prefix(folder.path()).unwrap().to_string_lossy();
        files.insert(name.into_owned(), std::fs::read(&path).unwrap());
    }
    assert!(files.len() > 200, "{}", files.len());
    let found = alarms(&analyzer(), &files);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_programs_print_of_themselves_is_evidence_of_nothing() {
    let programs = [
        "cargo",
        "rustc",
        "git",
        "bash",
        "ls",
        "grep",
        "tar",
        "find",
        "mount",
        "umount",
        "dmesg",
        "journalctl",
        "systemctl",
        "ip",
        "ss",
        "iptables",
        "nft",
        "curl",
        "ssh",
        "openssl",
        "python3",
        "gcc",
        "ld",
        "nm",
        "strace",
        "perl",
        "awk",
        "sed",
        "sort",
        "dpkg",
        "apt-get",
        "useradd",
        "fdisk",
        "lsblk",
        "df",
        "ps",
        "top",
        "free",
        "kill",
        "swapon",
        "losetup",
        "unshare",
    ];
    let mut files = Files::new();
    for program in programs {
        if let Some(text) = output(program, &["--help"]) {
            files.insert(format!("{program}.txt"), text);
        }
        if let Some(text) = output("man", &[program]) {
            files.insert(format!("{program}.man.txt"), text);
        }
    }
    for (name, program, arguments) in [
        ("packages.txt", "dpkg", &["-l"][..]),
        ("files.txt", "dpkg", &["-L", "coreutils", "libc6", "bash"]),
        ("selections.txt", "dpkg", &["--get-selections"]),
        ("listing.txt", "ls", &["-lR", "/usr/lib"]),
        ("symbols.txt", "cat", &["/proc/kallsyms"]),
    ] {
        if let Some(text) = output(program, arguments) {
            let most = text.len().min(2 << 20);
            files.insert(name.to_owned(), text[..most].to_vec());
        }
    }
    assert!(files.len() > 10, "{:?}", files.keys());
    let analyzer = analyzer();
    for (name, text) in files {
        let found = alarms(&analyzer, &Files::from([(name.clone(), text)]));
        assert!(found.is_empty(), "{name}: {}", found.join("\n"));
    }
}

#[test]
fn symbols_schemas_and_metrics_help_are_evidence_of_nothing() {
    let symbols: String = [
        "nouveau_drm_probe",
        "nvidia_uvm_init",
        "oom_kill_process",
        "nf_conntrack_full",
    ]
    .iter()
    .cycle()
    .take(40)
    .map(|name| format!("ffffffff81000000 T {name}\t[nouveau]\n"))
    .collect();
    let schema = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  versions:\n  - schema:\n      openAPIV3Schema:\n        description: The CIDRs cannot overlap with other cluster network CIDRs\n";
    let metrics: String = (0..20)
        .map(|n| format!("# HELP node_disk_{n} The time that the disk is slow and I/O timed out, no space left on device\n# TYPE node_disk_{n} counter\nnode_disk_{n} 0\n"))
        .collect();
    let changes: String = (1..4)
        .map(|n| format!("shop (1.{n}) stable; urgency=medium\n\n  * Fix kernel panic and soft lockup: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n  * no space left on device is told.\n\n -- A B <a@example.org>  Tue, 09 Jan 2024 10:00:00 +0000\n\n"))
        .collect();
    let config = "# suspend failures, kernel panics and general mayhem; NVRM: Xid 79, GPU has fallen off the bus\n# no networks found in /etc/cni/net.d\nroot = true\n";
    let analyzer = analyzer();
    for (name, text) in [
        ("kallsyms", symbols.as_str()),
        ("crd.yaml", schema),
        ("metrics.txt", &metrics),
        ("changelog", &changes),
        ("lvm.conf", config),
    ] {
        let found = alarms(&analyzer, &Files::from([(name.to_owned(), text.into())]));
        assert!(found.is_empty(), "{name}: {}", found.join("\n"));
    }
}
