//! Commands for people run where there is no internet: with images that the reader names, charts that lie there, and
//! names of the site. All that the rules hold, that fixes of each kind hand over, and that the samples' reports print.

use std::path::Path;

use regex::Regex;

use super::hostile_tests::scripts_of_each_kind;
use crate::rules;
use crate::rules::file::RuleFile;

/// What a command would need of the internet, and what does.
struct Needs(Vec<(&'static str, Regex)>);

impl Needs {
    fn new() -> Self {
        let all = [
            // An image is a blank that the reader fills in, never one that has to be pulled from outside.
            (
                "an image",
                r#"(?:--image[= ]|crictl pull |docker pull |nerdctl pull |"image":\s*")([a-z][^\s"]*)"#,
            ),
            (
                "a public name",
                r"\b(?:nslookup|dig|host|ping|getent (?:hosts|ahosts))\s[^|;&]*?\b((?:[a-z0-9-]+\.)+(?:com|org|io|net|dev|ai))\b",
            ),
            (
                "a public address",
                r"\b(?:curl|wget|kubectl (?:apply|create|replace)|helm \w+)\s[^|;&\n]*?https?://(?:[a-z0-9-]+\.)+(?:com|org|io|net|dev|ai|sh)\b",
            ),
            // Without a version the newest of a repository is installed, where one is reached.
            (
                "a chart repository",
                r"\bhelm (?:repo|search|pull)\b|\bhelm (?:upgrade|install) \S+ [a-z][a-z0-9-]*/[a-z][a-z0-9-]*(?:\s+-n|\s*$)",
            ),
            (
                "a public registry of programs",
                r"\b(?:pip3? install|npm install|go install|git clone|snap install)\b",
            ),
        ];
        Self(
            all.map(|(what, text)| (what, Regex::new(text).unwrap()))
                .into(),
        )
    }

    fn of(&self, text: &str) -> Option<&'static str> {
        let mut all = self.0.iter();
        all.find(|(_, known)| known.is_match(text)).map(|one| one.0)
    }
}

/// All that a rule says to type, and the files that it hands over.
fn typed(file: &RuleFile) -> Vec<&String> {
    let steps = file.remedy.steps.iter().chain(&file.remedy.verify);
    let mut all: Vec<&String> = steps.filter_map(|step| step.run.as_ref()).collect();
    all.extend(file.observations.iter().map(|one| &one.run));
    all.extend(file.remedy.files.iter().map(|one| &one.content));
    all.extend(file.remedy.mitigate.iter().chain(&file.remedy.prevent));
    all
}

#[test]
fn no_command_of_a_rule_needs_the_internet() {
    let (set, _) = rules::load(None).unwrap();
    let needs = Needs::new();
    let (mut all, mut wrong) = (0, Vec::new());
    for rule in &set.rules {
        for text in typed(&rule.file) {
            all += 1;
            if let Some(what) = needs.of(text) {
                wrong.push(format!("{}: {what}: {text}", rule.file.id));
            }
        }
    }
    assert!(all > 900, "only {all} texts were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_script_of_a_change_needs_the_internet() {
    let needs = Needs::new();
    let all = scripts_of_each_kind();
    assert!(all.len() >= 30, "only {} scripts", all.len());
    for (kind, script) in all {
        assert_eq!(needs.of(&script), None, "{kind}: {script}");
    }
}

#[test]
fn no_line_of_a_report_needs_the_internet() {
    let needs = Needs::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let reports = std::fs::read_dir(samples).unwrap();
    let reports = reports.map(|one| one.unwrap().path().join("report.md"));
    let (mut all, mut wrong) = (0, Vec::new());
    for report in reports.filter(|path| path.exists()) {
        all += 1;
        let text = std::fs::read_to_string(&report).unwrap();
        // What the bundle itself holds is quoted, and nothing that anybody is told to type.
        let own = text.lines().filter(|line| !line.starts_with(['+', '-']));
        for line in own {
            if let Some(what) = needs.of(line) {
                wrong.push(format!("{}: {what}: {line}", report.display()));
            }
        }
    }
    assert!(all >= 20, "only {all} reports");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_needs_the_internet_is_known_by_its_words() {
    let needs = Needs::new();
    for text in [
        "kubectl run t --image=busybox:1.36 -- nslookup kubernetes.io",
        "kubectl exec POD -- nslookup kubernetes.io",
        "kubectl apply -f https://raw.githubusercontent.com/a/b/c.yaml",
        "helm upgrade RELEASE nvidia/gpu-operator -n gpu-operator --reuse-values",
        "helm repo update",
        "pip install x",
    ] {
        assert!(needs.of(text).is_some(), "{text}");
    }
    for text in [
        "kubectl run t --image=<image> -- nslookup kubernetes.default.svc.cluster.local",
        "helm upgrade RELEASE CHART -n gpu-operator",
        "helm upgrade a nvidia/gpu-operator --version v1.0.0 -n gpu-operator",
        "curl -m 3 -sk https://10.96.0.1/",
        "apt-get install nfs-common",
    ] {
        assert_eq!(needs.of(text), None, "{text}");
    }
}
