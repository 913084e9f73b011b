//! A capture gives the same report however it was packed.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::support::{Files, NODE, diagnose, node, objects, run, text, write, zip};
use super::{tools, tools_nodes};

/// `kubectl cluster-info dump --output-directory` of the sample's cluster.
fn dump() -> Files {
    let list = |plural: &str, namespace: &str| {
        let mut items = objects(plural);
        items.retain(|item| item["metadata"]["namespace"] == namespace || namespace.is_empty());
        let list = serde_json::json!({ "kind": "List", "apiVersion": "v1", "items": items });
        serde_json::to_string_pretty(&list).unwrap()
    };
    let mut files = vec![text("nodes.json", list("nodes", ""))];
    for namespace in ["kube-system", "gpu-operator", "default"] {
        for plural in ["pods", "events", "daemonsets", "deployments"] {
            let path = format!("{namespace}/{plural}.json");
            files.push(text(&path, list(plural, namespace)));
        }
    }
    files
}

/// What a node's collector leaves, with a packed rotation of a log.
fn node_logs() -> Files {
    let line = format!(
        "Nov 20 10:15:00 {NODE} kubelet[1]: E1120 10:15:00.000001       1 pod_workers.go:1] \"Error syncing pod\"\n"
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, line.repeat(20).as_bytes()).unwrap();
    vec![
        text("sos_commands/host/hostname", format!("{NODE}\n")),
        text("sos_commands/kernel/dmesg", node("commands/dmesg.out")),
        text(
            "sos_commands/networking/ip_-d_address",
            node("commands/ip-addr.out"),
        ),
        text(
            "sos_commands/firewall_tables/iptables-save",
            node("commands/iptables-save.out"),
        ),
        text("sos_commands/logs/journalctl_--no-pager", line.repeat(20)),
        text("etc/os-release", node("rootfs/etc/os-release")),
        (
            "var/log/kubelet.log.1.gz".to_owned(),
            packed.finish().unwrap(),
        ),
    ]
}

/// The whole report of an input in each of its forms, without what the input is called and whether it is packed.
struct Whole(Vec<(&'static str, String)>);

impl Whole {
    fn of(input: &str, bytes: &[u8]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let out = scratch.path().join("out");
        let ended = run(&["report", input, "-o", out.to_str().unwrap()], bytes);
        assert!(
            matches!(ended.code, Some(0 | 1)),
            "{input}: {}",
            ended.errors
        );
        let name = Path::new(input).file_name().unwrap().to_str().unwrap();
        let forms = [
            "report.md",
            "report-appendix.md",
            "report.html",
            "report.json",
        ];
        Self(
            forms
                .into_iter()
                .map(|form| {
                    let written = fs::read_to_string(out.join(form)).unwrap_or_default();
                    (form, nameless(&written, name))
                })
                .collect(),
        )
    }

    fn expect(&self, expected: &Self, packing: &str) {
        for ((form, text), (_, wanted)) in self.0.iter().zip(&expected.0) {
            let differs = text.lines().zip(wanted.lines()).find(|(a, b)| a != b);
            assert_eq!(differs, None, "{form} of {packing}");
            assert_eq!(text.len(), wanted.len(), "{form} of {packing}");
        }
    }
}

fn nameless(report: &str, name: &str) -> String {
    let dash = [
        ("`-`", "`NAME`"),
        ("<code>-</code>", "<code>NAME</code>"),
        ("cat - ", "cat NAME "),
        ("confirmed in -", "confirmed in NAME"),
        ("found in -", "found in NAME"),
        ("Read: - (", "Read: NAME ("),
        ("\"name\": \"-\"", "\"name\": \"NAME\""),
        (", -\"", ", NAME\""),
    ];
    let lines = report.lines().filter(|line| {
        // The policy holds the digest of the style sheet, which prints the name below each page.
        !line.contains("Content-Security-Policy") && !line.trim().starts_with("\"form\":")
    });
    let lines = lines.map(|line| match name {
        "-" => dash
            .iter()
            .fold(line.to_owned(), |line, (from, to)| line.replace(from, to)),
        _ => line.replace(name, "NAME"),
    });
    let forms = ["(archive)", "(tar)", "(bundle)", "(folder)"];
    let formless = |line: String| {
        let forms = forms.iter();
        forms.fold(line, |line, form| line.replace(form, "(form)"))
    };
    lines.map(|line| formless(line) + "\n").collect()
}

/// Packs a capture in every way and compares the whole reports.
fn all_packings_of(files: &Files, format: &str) {
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    write(&scratch.path().join("around-4711/capture-4711"), files);
    let seen = diagnose(Path::new(&at("around-4711/capture-4711")))["seen"].clone();
    assert_eq!(seen["format"], format);
    let expected = Whole::of(&at("around-4711/capture-4711"), b"");
    assert!(
        expected
            .0
            .iter()
            .all(|(form, text)| !text.is_empty() || *form == "report-appendix.md")
    );

    Whole::of(&at("around-4711"), b"").expect(&expected, "the folder around it");
    let below: Files = files
        .iter()
        .map(|(path, content)| (format!("capture-4711/{path}"), content.clone()))
        .collect();
    fs::write(at("z-4711.zip"), zip(&below)).unwrap();
    Whole::of(&at("z-4711.zip"), b"").expect(&expected, "zip");

    for (flags, name, folder, what) in [
        ("-cf", "d-4711.tar", "around-4711", "capture-4711"),
        ("-czf", "d-4711.tar.gz", "around-4711", "capture-4711"),
        ("-cJf", "d-4711.tar.xz", "around-4711", "capture-4711"),
        ("-czf", "download (4711)", "around-4711", "capture-4711"),
        // The folder itself, as collectors pack theirs.
        ("-czf", "dot-4711.tgz", "around-4711/capture-4711", "."),
    ] {
        let made = Command::new("tar")
            .args(["-C", &at(folder), flags, &at(name), what])
            .status();
        if !made.is_ok_and(|status| status.success()) {
            let why = format!("skipped: tar {flags} does not work here\n");
            std::io::Write::write_all(&mut std::io::stdout(), why.as_bytes()).unwrap();
            continue;
        }
        Whole::of(&at(name), b"").expect(&expected, name);
        let bytes = fs::read(at(name)).unwrap();
        let packing = format!("{name} through a pipe");
        Whole::of("-", &bytes).expect(&expected, &packing);
    }
}

#[test]
fn a_cluster_gives_the_same_report_in_all_packings() {
    all_packings_of(&dump(), "cluster-info-dump");
}

#[test]
fn a_node_gives_the_same_report_in_all_packings() {
    all_packings_of(&node_logs(), "sos");
}

#[test]
fn what_lies_in_folders_of_one_folder_gives_the_same_report_in_all_packings() {
    let below = |(path, content): (String, Vec<u8>)| (format!("evidence/of-today/{path}"), content);
    let deep: Files = node_logs().into_iter().map(below).collect();
    all_packings_of(&deep, "sos");
    let archive = vec![("evidence/dump.zip".to_owned(), zip(&dump()))];
    all_packings_of(&archive, "cluster-info-dump");
}

#[test]
fn folders_side_by_side_keep_their_names_however_they_are_packed() {
    let beside = |name: &'static str| {
        let host = move |(path, content): (String, Vec<u8>)| {
            let text = String::from_utf8(content).map(|text| text.replace(NODE, name));
            let content = text.map_or_else(|packed| packed.into_bytes(), String::into_bytes);
            (format!("{name}/{path}"), content)
        };
        node_logs().into_iter().map(host)
    };
    let files: Files = beside("gpu-1").chain(beside("gpu-2")).collect();
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    write(&scratch.path().join("both-4711"), &files);
    assert_eq!(diagnose(Path::new(&at("both-4711")))["seen"]["nodes"], 2);
    let expected = Whole::of(&at("both-4711"), b"");

    fs::write(at("z-4711.zip"), zip(&files)).unwrap();
    Whole::of(&at("z-4711.zip"), b"").expect(&expected, "zip");
    let bytes = fs::read(at("z-4711.zip")).unwrap();
    Whole::of("-", &bytes).expect(&expected, "zip through a pipe");
    // In another archive as well.
    let mail = vec![
        ("both-4711.zip".to_owned(), bytes),
        text("readme.txt", "see the archive\n"),
    ];
    fs::write(at("mail.zip"), zip(&mail)).unwrap();
    let listed = run(&["ls", &at("mail.zip")], b"");
    assert!(
        listed.out.contains("both-4711.zip/gpu-1/") && listed.out.contains("both-4711.zip/gpu-2/"),
        "{}",
        listed.out
    );
}

#[test]
fn the_report_of_a_pipe_has_the_lines_around_what_it_cites() {
    let log = "cluster-resources/pods/logs/gpu-operator/p/c.log";
    let mut lines: Vec<String> = (0..40).map(|n| format!("line {n} of this log\n")).collect();
    lines[20] = "NVRM: Xid (PCI:0000:01:00): 79, pid=0, GPU has fallen off the bus.\n".to_owned();
    let archive = zip(&[text(log, lines.concat())]);
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    run(&["report", "-", "-o", out.to_str().unwrap()], &archive);
    let html = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(html.contains("line 12 of this log"));
}

#[test]
fn captures_of_network_plugins_give_the_same_report_in_all_packings() {
    all_packings_of(&tools::cilium_sysdump(), "cilium-sysdump");
    all_packings_of(&tools::calico_diagnostics(), "calico-diags");
    all_packings_of(&tools::antrea_support_bundle(), "antrea-supportbundle");
}

#[test]
fn captures_with_archives_inside_give_the_same_report_in_all_packings() {
    all_packings_of(&tools::harvester_support_bundle(), "support-bundle-kit");
}

#[test]
fn captures_of_vendors_nodes_give_the_same_report_in_all_packings() {
    all_packings_of(&tools_nodes::supportconfig(), "supportconfig");
    all_packings_of(&tools_nodes::aks(), "aks-log-collector");
    all_packings_of(&tools_nodes::gke(), "gke-node-logs");
}

#[test]
fn what_the_dump_holds_is_counted() {
    let scratch = tempfile::tempdir().unwrap();
    write(&scratch.path().join("dump"), &dump());
    let seen = diagnose(&scratch.path().join("dump"))["seen"].clone();
    assert_eq!(
        (&seen["pods"], &seen["events"]),
        (&Value::from(15), &Value::from(4))
    );
}
