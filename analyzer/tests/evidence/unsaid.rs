//! Text that is read and was never said: documentation, help, manuals, lists, schemas, these rules themselves. None of it
//! is evidence of anything.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Files, analyzer};
use casefile_analyzer::diagnose::Analyzer;

/// What a text makes likely or confirmed, which has to be nothing.
fn alarms(analyzer: &Analyzer, files: &Files) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    // Where nothing at all is understood, nothing is told.
    let Ok(analysis) = analyzer.analyze(folder.path()) else {
        return Vec::new();
    };
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

/// Programs of a node and of a build machine; those that are here are asked for their help.
const PROGRAMS: &str = "cargo rustc git bash ls grep tar find mount umount dmesg journalctl systemctl ip ss iptables nft \
    curl ssh openssl python3 gcc ld nm strace perl awk sed sort dpkg apt-get useradd fdisk lsblk df ps \
    top free kill swapon losetup unshare kubectl helm docker containerd ctr runc crictl kubeadm kubelet \
    nvidia-smi ufw firewall-cmd ip6tables-save ipset conntrack tc modprobe modinfo lsmod lspci sysctl \
    smartctl ethtool chronyc timedatectl hostnamectl resolvectl mdadm xfs_repair e2fsck systemd-analyze \
    coredumpctl dpkg-query rpm skopeo psql postgres";

#[test]
fn what_programs_print_of_themselves_is_evidence_of_nothing() {
    let mut files = Files::new();
    for program in PROGRAMS.split_whitespace() {
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
    let helps = files.keys().filter(|name| !name.contains(".man."));
    println!(
        "{} programs and lists, {} files",
        helps.count(),
        files.len()
    );
    assert!(files.len() > 10, "{:?}", files.keys());
    let analyzer = analyzer();
    let mut found = Vec::new();
    for (name, text) in files {
        let alarms = alarms(&analyzer, &Files::from([(name.clone(), text)]));
        found.extend(alarms.into_iter().map(|alarm| format!("{name}: {alarm}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Documents of a folder are read up to this many bytes together.
const MOST: usize = 12 << 20;

/// What a folder holds of documentation, by its path below it; large files and what is no text are left out.
fn documents(folder: &Path, endings: &[&str]) -> Files {
    let mut paths = Vec::new();
    below(folder, endings, &mut paths);
    paths.sort();
    let mut files = Files::new();
    let mut size = 0;
    for path in paths {
        let Ok(bytes) = std::fs::read(&path) else {
            continue;
        };
        size += bytes.len();
        if size > MOST {
            break;
        }
        let name = path.strip_prefix(folder).unwrap().to_string_lossy();
        files.insert(name.into_owned(), bytes);
    }
    files
}

#[test]
fn what_is_installed_beside_programs_to_read_is_evidence_of_nothing() {
    let home = std::env::var("HOME").unwrap_or_default();
    let analyzer = analyzer();
    let folders = [
        (
            "/usr/share/doc".to_owned(),
            &["README", "README.md", "NEWS", "copyright"][..],
        ),
        ("/usr/share/man/man5".to_owned(), &[".5.gz"][..]),
        ("/usr/share/man/man7".to_owned(), &[".7.gz"][..]),
        ("/usr/share/man/man8".to_owned(), &[".8.gz"][..]),
        ("/usr/lib/systemd/system".to_owned(), &[".service"][..]),
        (
            format!("{home}/.cargo/registry/src"),
            &["README.md", "CHANGELOG.md"][..],
        ),
    ];
    let mut wrong = Vec::new();
    for (folder, endings) in folders {
        let files = documents(Path::new(&folder), endings);
        println!("{folder}: {} files", files.len());
        if !files.is_empty() {
            let found = alarms(&analyzer, &files);
            wrong.extend(found.into_iter().map(|alarm| format!("{folder}: {alarm}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each folder of `CASEFILE_DOCS` holds what one component publishes: documentation, manuals, CRD manifests.
#[test]
fn what_components_publish_of_themselves_is_evidence_of_nothing() {
    let Ok(folder) = std::env::var("CASEFILE_DOCS") else {
        println!("skipped: CASEFILE_DOCS names no folder with the documentation of components");
        return;
    };
    let analyzer = analyzer();
    let mut components: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    components.sort();
    assert!(!components.is_empty());
    let mut wrong = Vec::new();
    for component in components {
        let files = documents(&component, &[".md", ".yaml", ".yml", ".1", ".5", ".8"]);
        let found = alarms(&analyzer, &files);
        let name = component.file_name().unwrap().to_string_lossy();
        println!("{name}: {} documents, {} causes", files.len(), found.len());
        wrong.extend(found.into_iter().map(|alarm| format!("{name}: {alarm}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
