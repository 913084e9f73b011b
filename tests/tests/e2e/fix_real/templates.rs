//! A configuration that RKE2 or K3s writes anew at each start: the template that `fix` hands over, rendered by the engine
//! that both use as well (Go's, which helm brings), and read by a real containerd.

use std::path::Path;
use std::process::Command;

use casefile_tests::bins;

use super::{Row, state, what_if, written};
use crate::support::{self, ended, plant, run, skip};

const CONFIG: &str = "/var/lib/rancher/rke2/agent/etc/containerd/config.toml";
const SAMPLE: &str = "rke2-chart-without-class";

pub(super) fn row(proposal: &'static str) -> Row {
    Row {
        kind: "containerd-runtime (a template)",
        program: "helm's engine, containerd",
        state: SAMPLE,
        cause: "runtimeclassname-missing",
        proposal: Some(proposal),
        before: "",
        faulty: "",
    }
}

/// The same node as K3s would have it: it has the same parts in folders of its own name.
fn as_k3s(sample: &Path, to: &Path) {
    let named = |text: &str| {
        text.replace("rke2-server.service", "k3s.service")
            .replace("rke2", "k3s")
    };
    for file in walkdir::WalkDir::new(sample)
        .into_iter()
        .filter_map(Result::ok)
    {
        if file.file_type().is_file() {
            let path = file.path().strip_prefix(sample).unwrap().to_str().unwrap();
            let text = std::fs::read(file.path()).unwrap();
            plant(to, &named(path), named(&String::from_utf8(text).unwrap()));
        }
    }
}

/// What the template gives, with the captured configuration as what RKE2's own template makes.
fn rendered(helm: &Path, captured: &str, template: &str, folder: &Path) -> String {
    let chart = folder.join("chart/templates");
    std::fs::create_dir_all(&chart).unwrap();
    let put = |name: &str, text: String| std::fs::write(chart.join(name), text).unwrap();
    put(
        "_base.tpl",
        format!("{{{{ define \"base\" }}}}{captured}{{{{ end }}}}"),
    );
    put(
        "_own.tpl",
        format!("{{{{ define \"own\" }}}}{template}{{{{ end }}}}"),
    );
    put(
        "all.yaml",
        "text: {{ include \"own\" . | toJson }}\n".into(),
    );
    let about = "apiVersion: v2\nname: rke2\nversion: 1.0.0\n";
    std::fs::write(folder.join("chart/Chart.yaml"), about).unwrap();
    let output = Command::new(helm)
        .args(["template", "a"])
        .arg(folder.join("chart"))
        .output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
    text["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_template_of_rke2_or_k3s_adds_what_the_replay_says() {
    let test = "a_template_of_rke2_or_k3s_adds_what_the_replay_says";
    let Some(helm) = support::helm(test) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let sample = state(SAMPLE, folder.path());
    let rke2 = row(
        "changes:\n- containerd-runtime: {node: rke-gpu-1, path: /var/lib/rancher/rke2/agent/etc/containerd/config.toml, handler: kata, binary: /usr/bin/kata, restart: rke2-server.service}\n",
    );
    adds_a_handler(test, &helm, &rke2, &sample, CONFIG);
    let k3s = row(
        "changes:\n- containerd-runtime: {node: rke-gpu-1, path: /var/lib/rancher/k3s/agent/etc/containerd/config.toml, handler: kata, binary: /usr/bin/kata, restart: k3s.service}\n",
    );
    let bundle = folder.path().join("k3s");
    as_k3s(&sample, &bundle);
    adds_a_handler(test, &helm, &k3s, &bundle, &CONFIG.replace("rke2", "k3s"));
}

fn adds_a_handler(test: &str, helm: &Path, row: &Row, input: &Path, config: &str) {
    let folder = tempfile::tempdir().unwrap();
    what_if(row, input, folder.path());
    let captured = input.join(format!("nodes/rke-gpu-1/rootfs{config}"));
    let captured = std::fs::read_to_string(captured).unwrap();
    let template = written(row, folder.path()).join("config.toml.tmpl");
    let template = std::fs::read_to_string(template).unwrap();
    let text = rendered(helm, &captured, &template, folder.path());
    let (before, after): (toml::Table, toml::Table) = (
        toml::from_str(&captured).unwrap(),
        toml::from_str(&text).unwrap(),
    );
    let kata = "runtime_type = \"io.containerd.runc.v2\"\noptions = {BinaryName = \"/usr/bin/kata\", SystemdCgroup = true}\n";
    let mut expected = runtimes(&before);
    expected.insert(
        "kata".into(),
        toml::from_str::<toml::Table>(kata).unwrap().into(),
    );
    assert_eq!(runtimes(&after), expected, "{text}");
    read_by_containerd(test, &text, folder.path());
}

/// The handlers of a configuration.
fn runtimes(all: &toml::Table) -> toml::Table {
    let of = |value: &toml::Value, key: &str| value.get(key).cloned().unwrap();
    let plugins = of(
        &of(&all.clone().into(), "plugins"),
        "io.containerd.grpc.v1.cri",
    );
    let runtimes = of(&of(&plugins, "containerd"), "runtimes");
    runtimes.as_table().cloned().unwrap()
}

fn read_by_containerd(test: &str, text: &str, folder: &Path) {
    if Command::new("containerd")
        .arg("--version")
        .output()
        .is_err()
    {
        return skip(test, "needs containerd, to read what is rendered");
    }
    let file = folder.join("rendered.toml");
    std::fs::write(&file, text).unwrap();
    let mut dump = Command::new("containerd");
    dump.arg("-c").arg(&file).args(["config", "dump"]);
    let dump = ended(dump.output().unwrap());
    for handler in ["kata", "nvidia", "runc"] {
        let table = format!(".containerd.runtimes.{handler}]");
        assert!(dump.out.contains(&table), "{handler}: {dump:?}");
    }
}

/// What cannot follow RKE2's own text is nothing for a script.
#[test]
fn a_change_that_the_next_start_would_undo_or_break_is_refused() {
    for (change, why) in [
        (
            "host-file: {node: rke-gpu-1, path: FILE, merge_toml: 'oom_score = 1'}",
            "written anew",
        ),
        (
            "host-file: {node: rke-gpu-1, path: FILE, remove_toml: [version]}",
            "config.toml.tmpl",
        ),
        (
            "host-file: {node: rke-gpu-1, path: FILE, content: 'version = 2'}",
            "line 1",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("changes.yaml");
        let text = format!("changes:\n- {}\n", change.replace("FILE", CONFIG));
        std::fs::write(&file, text).unwrap();
        let sample = bins::checkout().join("samples").join(SAMPLE).join("bundle");
        let said = run(
            bins::ANALYZER,
            &[
                "fix",
                sample.to_str().unwrap(),
                "-o",
                folder.path().join("fix").to_str().unwrap(),
                "--what-if",
                file.to_str().unwrap(),
            ],
        );
        assert!(
            said.code != 0 && said.err.contains(why),
            "{change}: {said:?}"
        );
        assert!(!folder.path().join("fix/proposal").exists(), "{change}");
    }
}
