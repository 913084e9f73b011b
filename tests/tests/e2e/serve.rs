//! `serve`, `shell`, `grep`, `timeline` and `logs` on samples, cut and hostile bundles, with a real kubectl where there is one.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use casefile_tests::bins;

use crate::support::{self, run};

const SAMPLE: &str = "samples/ufw-blocks-dns/bundle";

/// A server that ends with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) kubeconfig: PathBuf,
    home: tempfile::TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn sample() -> String {
    bins::checkout().join(SAMPLE).display().to_string()
}

/// Starts `serve` and waits until it says that it answers.
pub(crate) fn serve(input: &str) -> Served {
    let home = tempfile::tempdir().unwrap();
    let kubeconfig = home.path().join("config");
    let mut child = Command::new(bins::find("casefile-analyzer"))
        .args(["serve", input, "--kubeconfig"])
        .arg(&kubeconfig)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("Ctrl-C")));
    Served {
        child,
        kubeconfig,
        home,
    }
}

pub(crate) fn kubectl(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    dirs.push("/usr/lib/google-cloud-sdk/bin".into());
    let found = dirs
        .into_iter()
        .map(|dir| dir.join("kubectl"))
        .find(|path| path.is_file());
    if found.is_none() {
        support::skip(test, "there is no kubectl on this machine");
    }
    found
}

/// What kubectl prints, and what it complains of.
pub(crate) fn ask(program: &Path, served: &Served, arguments: &str) -> (String, String) {
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .env_clear()
        .env("HOME", served.home.path())
        .env("PATH", "/usr/bin:/bin")
        .env("KUBECONFIG", &served.kubeconfig)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn kubectl_finds_the_captured_cluster() {
    let Some(program) = kubectl("kubectl_finds_the_captured_cluster") else {
        return;
    };
    let served = serve(&sample());
    let ask = |arguments: &str| ask(&program, &served, arguments);
    let (pods, _) = ask("get pods -A");
    assert!(
        pods.contains("gpu-textgen") && pods.contains("148m"),
        "ages are of then: {pods}"
    );
    let (log, _) = ask("logs -n default gpu-textgen --tail=1");
    assert_eq!(
        log,
        "ERROR: No matching distribution found for transformers\n"
    );
    let (described, _) = ask("describe node");
    assert!(
        described.contains("Kubelet Version") && described.contains("coredns"),
        "{described}"
    );
    for (refused, words) in [
        ("delete pod -n default gpu-textgen", "this is a recording"),
        ("get componentstatuses", "were not collected"),
        ("get pod -n default missing", "not found"),
    ] {
        let (out, errors) = ask(refused);
        let empty = out.is_empty() && !errors.contains("No resources found");
        assert!(errors.contains(words) && empty, "{refused}: {out}{errors}");
    }
    let (secrets, _) = ask("get secrets -A -o jsonpath={.items[*].type}");
    assert!(secrets.contains("helm.sh/release.v1"), "{secrets}");
    assert!(ask("auth can-i delete pods").0.starts_with("no"));
    assert!(ask("auth can-i list pods").0.starts_with("yes"));
}

#[test]
fn the_kubeconfig_is_private_and_somebody_elses_is_left_alone() {
    let served = serve(&sample());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&served.kubeconfig)
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let other = served.home.path().join("mine");
    std::fs::write(&other, "apiVersion: v1\nkind: Config\n").unwrap();
    let ended = run(
        "casefile-analyzer",
        &["serve", &sample(), "--kubeconfig", other.to_str().unwrap()],
    );
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(
        ended.err.contains("exists and is no kubeconfig of `serve`"),
        "{}",
        ended.err
    );
    let text = std::fs::read_to_string(&other).unwrap();
    assert!(text.starts_with("apiVersion: v1\nkind: Config"), "{text}");
}

/// A bundle whose lists were tampered with.
fn hostile(folder: &Path) {
    let lists = folder.join("cluster-resources");
    std::fs::create_dir_all(lists.join("pods")).unwrap();
    let header = r#"{"format":"1.0","tool":"casefile-collector 0.1.0","node":"n<script>","started":"2026-11-20T10:15:00Z"}"#;
    std::fs::write(folder.join("casefile.json"), header).unwrap();
    let good = r#"{"metadata":{"name":"good","namespace":"a"},"spec":{"containers":[{"name":"<img src=x>"}]}}"#;
    let deep = format!(
        "{{\"metadata\":{{\"name\":\"deep\",\"namespace\":\"a\"}},\"x\":{}1{}}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let huge = format!(
        r#"{{"metadata":{{"name":"huge","namespace":"a"}},"x":"{}"}}"#,
        "y".repeat(3 << 20)
    );
    let lines = [
        good,
        r#"{"spec":{}}"#,
        r#"{"metadata":{"name":"../../etc/passwd","namespace":".."}}"#,
        r#"{"metadata":{"name":7}}"#,
        r#"{"metadata":[]}"#,
        "not json",
        &deep,
        &huge,
        r#"{"metadata":{"name":"cut","namesp"#,
    ];
    let text = format!(
        "{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[\n{}",
        lines.join(",\n")
    );
    std::fs::write(lists.join("pods/a.json"), text).unwrap();
}

#[test]
fn a_hostile_and_cut_bundle_is_served_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    hostile(folder.path());
    let Some(program) = kubectl("a_hostile_and_cut_bundle_is_served_as_far_as_it_goes") else {
        return;
    };
    let served = serve(folder.path().to_str().unwrap());
    let (pods, errors) = ask(&program, &served, "get pods -n a");
    assert!(
        pods.contains("good") && pods.contains("huge"),
        "{pods}{errors}"
    );
    assert!(errors.contains("the bundle is cut short"), "{errors}");
    assert!(pods.contains("deep") && !pods.contains("passwd"), "{pods}");
    let (missing, errors) = ask(&program, &served, "get pod -n a cut");
    assert!(
        missing.is_empty() && errors.contains("were not collected"),
        "{errors}"
    );
    let (nodes, errors) = ask(&program, &served, "get nodes");
    assert!(
        nodes.is_empty() && errors.contains("nodes were not collected"),
        "{errors}"
    );
}

/// A bundle that was cut in the list of the second of three namespaces.
fn cut_in_the_middle(folder: &Path) -> PathBuf {
    hostile(folder);
    let lists = folder.join("cluster-resources");
    let list = |namespace: &str, pods: usize| {
        let pod = |number| {
            let filling = "z".repeat(2000);
            format!(
                r#"{{"metadata":{{"name":"p{number}","namespace":"{namespace}"}},"x":"{filling}"}}"#
            )
        };
        let pods: Vec<String> = (0..pods).map(pod).collect();
        let pods = pods.join(",\n");
        format!("{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[\n{pods}\n]}}\n")
    };
    for (namespace, pods) in [("a", 3), ("b", 100), ("c", 3)] {
        std::fs::write(
            lists.join(format!("pods/{namespace}.json")),
            list(namespace, pods),
        )
        .unwrap();
    }
    std::fs::write(lists.join("pods/empty.json"), list("empty", 0)).unwrap();
    let path = folder.join("cut.tar");
    let mut archive = tar::Builder::new(Vec::new());
    for name in [
        "casefile.json",
        "pods/a.json",
        "pods/empty.json",
        "pods/b.json",
        "pods/c.json",
    ] {
        let inside = match name {
            "casefile.json" => name.to_owned(),
            list => format!("cluster-resources/{list}"),
        };
        archive
            .append_path_with_name(folder.join(&inside), format!("casefile-n/{inside}"))
            .unwrap();
    }
    let whole = archive.into_inner().unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    path
}

#[test]
fn what_a_cut_bundle_lost_is_no_empty_list() {
    let Some(program) = kubectl("what_a_cut_bundle_lost_is_no_empty_list") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let served = serve(cut_in_the_middle(folder.path()).to_str().unwrap());
    let (pods, errors) = ask(&program, &served, "get pods -n a --no-headers");
    assert_eq!((pods.lines().count(), errors.as_str()), (3, ""));
    let (_, errors) = ask(&program, &served, "get pods -n empty");
    assert!(errors.starts_with("No resources found"), "{errors}");
    let (pods, errors) = ask(&program, &served, "get pods -n b --no-headers");
    assert!(pods.lines().count() > 10, "{pods}{errors}");
    assert!(errors.contains("the bundle is cut short"), "{errors}");
    let (pods, errors) = ask(&program, &served, "get pods -n c");
    assert!(
        pods.is_empty()
            && errors.contains("of namespace c were not collected: the bundle is cut short"),
        "{pods}{errors}"
    );
}

#[test]
fn lists_of_a_loose_folder_are_known_whole_empty_and_cut() {
    let Some(program) = kubectl("lists_of_a_loose_folder_are_known_whole_empty_and_cut") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let pods = r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"one","namespace":"a"}},{"metadata":{"name":"two","names"#;
    std::fs::write(folder.path().join("pods.json"), pods).unwrap();
    let services = r#"{"kind":"ServiceList","apiVersion":"v1","items":[]}"#;
    std::fs::write(folder.path().join("services.json"), services).unwrap();
    let served = serve(folder.path().to_str().unwrap());
    let (pods, errors) = ask(&program, &served, "get pods -A --no-headers");
    assert!(
        pods.contains("one") && errors.contains("its list ends before its end"),
        "{pods}{errors}"
    );
    let (_, errors) = ask(&program, &served, "get services -A");
    assert!(errors.starts_with("No resources found"), "{errors}");
}

#[test]
fn the_journal_of_a_node_is_cut_by_time_and_by_nothing_that_a_recording_cannot_answer() {
    let Some(program) = kubectl("the_journal_of_a_node_is_cut_by_time") else {
        return;
    };
    let bundle = bins::checkout().join("samples/dns-loop/bundle");
    let served = serve(bundle.to_str().unwrap());
    let logs = |options: &str| {
        let path = "/api/v1/nodes/lab-gpu-1/proxy/logs/?query=kubelet";
        ask(&program, &served, &format!("get --raw {path}{options}"))
    };
    let all = logs("").0.lines().count();
    let late = logs("&sinceTime=2026-11-20T09:00:00Z").0.lines().count();
    let early = logs("&untilTime=2026-11-20T09:00:00Z").0.lines().count();
    assert!(late > 0 && early > 0, "{late} {early}");
    assert_eq!(late + early, all);
    for option in ["&pattern=x", "&boot=-1", "&sinceTime=soon"] {
        let (lines, errors) = logs(option);
        assert!(
            lines.is_empty() && errors.contains("BadRequest"),
            "{option}: {errors}"
        );
    }
}

#[test]
fn a_second_serve_leaves_the_kubeconfig_of_the_first_alone() {
    let served = serve(&sample());
    let before = std::fs::read_to_string(&served.kubeconfig).unwrap();
    let path = served.kubeconfig.to_str().unwrap();
    let ended = run(
        "casefile-analyzer",
        &["serve", &sample(), "--kubeconfig", path],
    );
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("that still runs"), "{}", ended.err);
    assert_eq!(std::fs::read_to_string(&served.kubeconfig).unwrap(), before);
}

#[test]
fn a_text_without_objects_is_said_to_hold_none() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("note.md"), "nothing here\n").unwrap();
    let ended = run(
        "casefile-analyzer",
        &["serve", folder.path().to_str().unwrap()],
    );
    assert_ne!(ended.code, 0);
    assert!(
        ended.err.contains("holds no Kubernetes object"),
        "{}",
        ended.err
    );
}

#[test]
fn texts_are_found_merged_and_printed() {
    let input = sample();
    let found = run(
        "casefile-analyzer",
        &["grep", "UFW BLOCK", &input, "--json"],
    );
    let first: serde_json::Value = serde_json::from_str(found.out.lines().next().unwrap()).unwrap();
    assert!(
        first["text"].as_str().unwrap().contains("UFW BLOCK") && first["at"].is_string(),
        "{first}"
    );
    let none = run(
        "casefile-analyzer",
        &["grep", "UFW BLOCK", &input, "--pod", "default/gpu-textgen"],
    );
    assert_eq!(none.out, "");
    let timeline = run("casefile-analyzer", &["timeline", &input, "--limit", "50"]);
    let times: Vec<&str> = timeline
        .out
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(times.len() > 10 && times.is_sorted(), "{}", timeline.out);
    let log = run(
        "casefile-analyzer",
        &["logs", &input, "default/gpu-textgen", "--tail", "1"],
    );
    assert_eq!(
        log.out,
        "ERROR: No matching distribution found for transformers\n"
    );
    let absent = run("casefile-analyzer", &["logs", &input, "default/nobody"]);
    assert!(
        absent.code != 0 && absent.err.contains("not found"),
        "{}",
        absent.err
    );
}
