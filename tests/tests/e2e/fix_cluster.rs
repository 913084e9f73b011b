//! Kinds of change that go to the cluster: the real kubectl, against a small API that keeps the captured objects.

mod rows;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use casefile_tests::store;
use serde_json::json;

use crate::fix_real::{Row, has_no_way_back, print, state, told, what_if, written};
use crate::support::{ended, plant};
pub(crate) use rows::{rows, runnable};

/// Runs apply.sh with the real kubectl: whether the fault is gone, and whether taking back brings it again.
pub(crate) fn apply(row: &Row, input: &Path, folder: &Path) -> (String, &'static str) {
    let served = folder.join("served");
    with_secrets(input, &served, SECRET);
    let address = store::serve(&served).unwrap();
    let script = tried(row, &written(row, folder));
    let mut command = Command::new("timeout");
    command.args(["120", "bash", "-c", &script]);
    command
        .current_dir(folder)
        .env("KUBECONFIG", kubeconfig(address, folder))
        .env("HOME", folder)
        .env("LOCK_DIR", folder)
        // A row may lower what a pod gets, which a person has to choose.
        .env("ACCEPT", "yes")
        .env("BACKUP_DIR", folder.join("backup"));
    let ended = ended(command.output().unwrap());
    assert!(
        !ended.out.contains("other secrets"),
        "{}: {ended:?}",
        row.kind
    );
    told(row, &ended)
}

/// The script of a try: the captured state, a dry run, apply.sh, the secrets of each object, and back.
pub(crate) fn tried(row: &Row, fix: &Path) -> String {
    format!(
        r#"set -e
        kubectl() {{ command kubectl --cache-dir "$HOME/cache" "$@"; }}
        faulty() {{ {faulty}; }}
        {HELD}
        held >before
        grep -q '[1-9]$' before || echo 'no object has a secret'
        faulty || {{ echo 'not the captured state'; exit 3; }}
        if ! bash {fix}/apply.sh --dry-run >&2; then
          if faulty; then echo 'still there'; fi
          exit 0
        fi
        faulty || {{ echo 'the dry run changed something'; exit 4; }}
        bash {fix}/apply.sh --yes >&2
        if faulty; then echo 'still there'; else echo gone; fi
        held >after
        awk 'NR == FNR {{ was[$1] = $2; next }} ($1 in was) && was[$1] != $2 {{ print "other secrets than before: " $1 }}' before after
        yes yes | bash {fix}/apply.sh --back >&2 || true
        if faulty; then echo 'taken back'; fi"#,
        faulty = row.faulty,
        fix = fix.display(),
    )
}

/// What stands in a bundle where the cluster has the secret.
pub(crate) const PLACEHOLDER: &str = "<redacted:token:0a1b2c3d>";
pub(crate) const SECRET: &str = "s3cret-of-the-site";
/// Each object with how often it holds the secret, and placeholders counted apart so that one is a difference.
const HELD: &str = r#"held() {
          kubectl get nodes,pods,configmaps,deployments,statefulsets,daemonsets,jobs,storageclasses,limitranges,resourcequotas -A -o json |
            jq -r '.items[] | [([.kind, .metadata.namespace, .metadata.name] | map(. // "") | join("/")),
              ([.. | strings | select(contains("s3cret-of-the-site"))] | length) + 1000 * ([.. | strings | select(contains("<redacted"))] | length)] | join(" ")'
        }"#;

/// A copy of a bundle in which each object has this text where objects have secrets: an annotation, a variable of each
/// container, a key of a ConfigMap.
pub(crate) fn with_secrets(bundle: &Path, to: &Path, text: &str) {
    for file in walkdir::WalkDir::new(bundle)
        .into_iter()
        .map(Result::unwrap)
    {
        if !file.file_type().is_file() {
            continue;
        }
        let own = file.path().strip_prefix(bundle).unwrap();
        let mut bytes = std::fs::read(file.path()).unwrap();
        let of_cluster = own.starts_with("cluster-resources")
            && own.extension().is_some_and(|end| end == "json");
        if let (true, Ok(mut list)) = (
            of_cluster,
            serde_json::from_slice::<serde_json::Value>(&bytes),
        ) {
            list["items"]
                .as_array_mut()
                .into_iter()
                .flatten()
                .for_each(|item| with_secret(item, text));
            bytes = one_a_line(&list).into_bytes();
        }
        plant(to, own.to_str().unwrap(), bytes);
    }
}

/// A list as the collector writes it: what it holds comes first, and a place in it is a line, so that a change finds its object.
fn one_a_line(list: &serde_json::Value) -> String {
    let Some(items) = list["items"].as_array().filter(|items| !items.is_empty()) else {
        return list.to_string();
    };
    let lines: Vec<String> = items.iter().map(ToString::to_string).collect();
    let rest = list.as_object().into_iter().flatten();
    let rest = rest.filter(|(key, _)| *key != "items");
    let head: String = rest
        .map(|(key, value)| format!("\"{key}\":{value},"))
        .collect();
    format!("{{{head}\"items\":[\n{}\n]}}\n", lines.join(",\n"))
}

fn with_secret(item: &mut serde_json::Value, text: &str) {
    item["metadata"]["annotations"]["example.org/secret"] = text.into();
    if let Some(data) = item["data"].as_object_mut() {
        data.insert("secret".into(), text.into());
    }
    for spec in ["/spec/containers", "/spec/template/spec/containers"] {
        let containers = item
            .pointer_mut(spec)
            .and_then(serde_json::Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let token = json!({"name": "TOKEN", "value": text});
            match container["env"].as_array_mut() {
                Some(env) => env.push(token),
                None => container["env"] = json!([token]),
            }
        }
    }
}

/// Killed before commands that can change anything: taking back and a run that begins again end clean, for each kind
/// that goes to the cluster; also for a Job, which is another one each time that it is made anew.
/// `CASEFILE_KILL_STEP=1` stops before each such command, `CASEFILE_KILL_ROWS=WORDS` picks rows.
#[test]
fn a_change_of_the_cluster_that_is_killed_ends_clean() {
    let wanted = std::env::var("CASEFILE_KILL_ROWS").unwrap_or_default();
    let step = std::env::var("CASEFILE_KILL_STEP").ok();
    let step = step.and_then(|text| text.parse().ok()).unwrap_or(25);
    let rows = runnable();
    let rows: Vec<&Row> = rows
        .iter()
        .filter(|row| row.kind.contains(&wanted) && !has_no_way_back(row))
        .collect();
    let turns = std::sync::Mutex::new(rows.iter().enumerate());
    let mut table = String::from("\n| kind, killed on the way | times |\n|---|---|\n");
    let done = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((number, row)) = turns.lock().unwrap().next() else {
                        return;
                    };
                    // Each row leaves out other commands; all have more than nine.
                    if let Some(times) = killed_at_each(row, 1 + number % step.min(9), step) {
                        done.lock().unwrap().push((row.kind, times));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_unstable();
    for (kind, times) in &done {
        let _ = writeln!(table, "| {kind} | {times} |");
    }
    print(&table);
    assert!(done.iter().all(|(_, times)| *times > 0), "{table}");
}

/// How often a run of a row's fix died, and ended clean all the same; none for a change that does not help.
fn killed_at_each(row: &Row, first: usize, step: usize) -> Option<usize> {
    let folder = tempfile::tempdir().unwrap();
    let input = state(row.state, folder.path());
    let said = what_if(row, &input, folder.path());
    if !["gone", "needs a runtime step"].contains(&said.as_str()) {
        return None;
    }
    let mut times = 0;
    for at in (first..).step_by(step) {
        for how in ["back", "again"] {
            let end = killed(row, &input, &written(row, folder.path()), at, how);
            if how == "back" && end == "the script has ended\n" {
                return Some(times);
            }
            assert_eq!(end, "clean\n", "{} at {at}, {how}", row.kind);
            times += 1;
        }
    }
    Some(times)
}

/// What became of a run that was killed before this command, on a cluster of its own.
fn killed(row: &Row, input: &Path, fix: &Path, at: usize, how: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let address = store::serve(input).unwrap();
    let words = casefile_tests::bins::checkout().join("tests/lab/tried.sh");
    let script = format!(
        r#"set -e
        . {words}
        deadly
        status=0
        killed_once {at} {how} || status=$?
        case $status in 0) echo clean ;; 9) echo 'the script has ended' ;; *) exit 3 ;; esac"#,
        words = words.display()
    );
    let mut command = Command::new("timeout");
    command.args(["120", "bash", "-c", &script]);
    command
        .env("KUBECONFIG", kubeconfig(address, folder.path()))
        .env("HOME", folder.path())
        .env("LOCK_DIR", folder.path())
        .env("SCRATCH", folder.path())
        .env("BACKUP_DIR", folder.path().join("backup"))
        .env("FIX", fix)
        .env("FAULTY", row.faulty);
    let ended = ended(command.output().unwrap());
    assert_eq!(ended.code, 0, "{at} {how}: {ended:?}");
    if !["clean\n", "the script has ended\n"].contains(&ended.out.as_str()) {
        return format!("{}{}", ended.out, ended.err);
    }
    ended.out
}

/// A file that names the small API.
pub(crate) fn kubeconfig(address: std::net::SocketAddr, folder: &Path) -> std::path::PathBuf {
    let config = folder.join("kubeconfig");
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": format!("http://{address}")}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [{"name": "a", "user": {}}],
    });
    std::fs::write(&config, text.to_string()).unwrap();
    config
}
