//! Helm values with the real helm: a chart and a release that the test makes, against the small API that keeps objects.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use casefile_tests::{bins, store};

use super::{Row, has_no_way_back, print, state, told, what_if, written};
use crate::fix_cluster::kubeconfig;
use crate::support::{self, Ended, ended};

const STATE: &str = "toolkit-wrong-containerd";

/// Chart and values as the release has them, so that the script finds what was captured. The DaemonSet gives what the
/// values say to its container, as the operator's does; a hook waits for ever while a ConfigMap says so.
const RELEASE: &str = r#"
mkdir -p chart/templates repository
# As the captured release has it, so that the script finds what it names.
said() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p" "$STATE/helm/gpu-operator/$NAME/release.json" 2>/dev/null | head -n 1; }
version=$(said chart_version)
revision=$(said revision)
printf '%s\n' 'apiVersion: v2' 'name: gpu-operator' "version: ${version:-v1.0.0-devel}" >chart/Chart.yaml
printf '%s\n' 'toolkit: {env: [], version: v1.17.5}' 'operator: {version: none}' >chart/values.yaml
cat >chart/templates/toolkit.yaml <<'END'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: toolkit, labels: {operator: {{ .Values.operator.version }}}}
spec:
  selector: {matchLabels: {app: toolkit}}
  template:
    metadata: {labels: {app: toolkit}}
    spec:
      containers: [{name: toolkit, image: "toolkit:{{ .Values.toolkit.version }}", env: {{ toJson .Values.toolkit.env }}}]
END
cat >chart/templates/hook.yaml <<'END'
{{ if lookup "v1" "ConfigMap" .Release.Namespace "waits" }}
apiVersion: batch/v1
kind: Job
metadata: {name: waits, annotations: {helm.sh/hook: pre-upgrade}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
{{ end }}
END
helm package chart -d repository >/dev/null
helm repo index repository
cp repository/*.tgz chart.tgz
"#;

/// The release as it was captured, at its revision, with a value that no bundle holds.
const INSTALLED: &str = r#"
helm install "$NAME" repository/*.tgz -n gpu-operator -f "$STATE/helm/gpu-operator/$NAME/values-user.yaml" \
  --set-string operator.token=s3cret-of-the-site >/dev/null
for ((at = 1; at < ${revision:-1}; at++)); do
  helm upgrade "$NAME" repository/*.tgz -n gpu-operator --reuse-values >/dev/null
done
helm get values "$NAME" -n gpu-operator >before
"#;

/// A run that was killed with SIGKILL while helm waits in the middle of the upgrade.
const KILLED: &str = r#"
kubectl create configmap waits -n gpu-operator >/dev/null
setsid bash "$FIX/apply.sh" --yes >&2 &
run=$!
until helm history "$NAME" -n gpu-operator | grep -q pending-upgrade; do sleep 0.1; done
kill -KILL -- "-$run"
wait "$run" || true
kubectl delete configmap waits -n gpu-operator >/dev/null
"#;

/// A release whose second revision failed, for its hook did not end in time.
const FAILED: &str = r#"
helm install "$NAME" repository/*.tgz -n gpu-operator --set toolkit.version=v1.17.8 >/dev/null
kubectl create configmap waits -n gpu-operator >/dev/null
! helm upgrade "$NAME" repository/*.tgz -n gpu-operator --set toolkit.version=v1.18.0 --timeout 2s >/dev/null 2>&1
kubectl delete configmap waits -n gpu-operator >/dev/null
helm status "$NAME" -n gpu-operator -o json | grep -q '"status":"failed"'
helm get values "$NAME" -n gpu-operator >before
"#;

const TRY: &str = r#"
set -e
cd "$HOME"
. "$LAB/tried.sh"
faulty() {
  ! grep -q s3cret-of-the-site before || helm get values "$NAME" -n gpu-operator | grep -q s3cret-of-the-site || echo 'a secret is lost' >&2
  eval "$FAULTY"
}
# The last run of those that are killed comes to its end, and stays.
if [ -n "$KILL_STEP" ]; then attempt_killed; exit; fi
attempt
helm get values "$NAME" -n gpu-operator >after
diff before after >&2 || echo 'other values than before'
"#;

const FAULTY: &str = "! kubectl get daemonset toolkit -n gpu-operator -o yaml | grep -q 'value: /var/lib/k8s-containerd/'";

fn row(program: &'static str) -> Row {
    Row {
        kind: "helm-values",
        program,
        state: STATE,
        cause: "toolkit-configures-wrong-containerd",
        proposal: None,
        before: "",
        faulty: FAULTY,
    }
}

fn rolled_back() -> Row {
    Row {
        kind: "helm-rollback",
        program: "helm",
        state: "workload/helm-upgrade-not-in-effect#the upgrade failed",
        cause: "helm-upgrade-not-in-effect",
        proposal: None,
        before: "",
        faulty: "helm get values gpu -n gpu-operator | grep -q v1.18.0",
    }
}

/// Kinds that make values of the captured ones.
fn of_values() -> [Row; 2] {
    let one = |kind, state, cause, faulty| Row {
        kind,
        program: "helm",
        state,
        cause,
        proposal: None,
        before: "",
        faulty,
    };
    [
        one(
            "helm-env",
            "runtime/containerd-generated-config-edited#the values of the operator",
            "containerd-generated-config-edited",
            "kubectl get daemonset toolkit -n gpu-operator -o yaml | grep -q CONTAINERD_CONFIG",
        ),
        one(
            "helm-key",
            "workload/helm-value-not-read#a misspelled key",
            "helm-value-not-read",
            "! kubectl get daemonset toolkit -n gpu-operator -o yaml | grep -q 'image: toolkit:v1.18.0'",
        ),
    ]
}

/// What somebody changed on the cluster beside helm.
const CHANGED: &str =
    "kubectl set image daemonset/toolkit -n gpu-operator toolkit=toolkit:v1.17.8 >/dev/null\n";

fn again() -> Row {
    Row {
        kind: "helm-again",
        program: "helm",
        state: "workload/helm-values-not-in-effect#the daemonset runs the version",
        cause: "helm-values-not-in-effect",
        proposal: None,
        before: "",
        faulty: "kubectl get daemonset toolkit -n gpu-operator -o yaml | grep -q 'image: toolkit:v1.17.8'",
    }
}

/// All rows of helm.
pub(super) fn rows() -> Vec<Row> {
    let mut all = vec![row("helm"), rolled_back()];
    all.extend(of_values());
    all.push(again());
    all
}

#[test]
fn values_that_are_made_of_the_captured_ones_do_on_the_real_helm_what_the_replay_says() {
    let test = "values_that_are_made_of_the_captured_ones_do_on_the_real_helm_what_the_replay_says";
    let Some(helm) = support::helm(test) else {
        return;
    };
    let mut wrong = Vec::new();
    let values = of_values().map(|row| (row, [RELEASE, INSTALLED].concat()));
    let changed = (again(), [RELEASE, INSTALLED, CHANGED].concat());
    for (row, before) in values.into_iter().chain([changed]) {
        let folder = tempfile::tempdir().unwrap();
        let input = state(row.state, folder.path());
        let said = what_if(&row, &input, folder.path());
        let ended = tried(&helm, &row, &input, folder.path(), (true, &before), "");
        let (real, back) = told(&row, &ended);
        print(&format!("| {} | {said} | {real} | {back} |", row.kind));
        let agree = said == real || said == "needs a runtime step" && real == "gone";
        if !agree || back != "yes" && !has_no_way_back(&row) {
            wrong.push(format!("{}: {ended:?}", row.kind));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_rollback_does_on_the_real_helm_what_the_replay_says() {
    let test = "a_rollback_does_on_the_real_helm_what_the_replay_says";
    let Some(helm) = support::helm(test) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (row, input) = (rolled_back(), state(rolled_back().state, folder.path()));
    let said = what_if(&row, &input, folder.path());
    let before = [RELEASE, FAILED].concat();
    let ended = tried(&helm, &row, &input, folder.path(), (true, &before), "");
    assert_eq!(
        (said, told(&row, &ended)),
        ("gone".into(), ("gone".into(), "yes")),
        "{ended:?}"
    );
}

/// Killed before commands that can change anything: taking back and a run that begins again end clean.
/// `CASEFILE_KILL_STEP=1` stops before each such command.
#[test]
fn a_change_of_a_release_that_is_killed_ends_clean() {
    let test = "a_change_of_a_release_that_is_killed_ends_clean";
    let Some(helm) = support::helm(test) else {
        return;
    };
    let step = std::env::var("CASEFILE_KILL_STEP").unwrap_or_else(|_| "9".into());
    for (row, before) in [
        (row("helm"), [RELEASE, INSTALLED].concat()),
        (rolled_back(), [RELEASE, FAILED].concat()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let input = state(row.state, folder.path());
        what_if(&row, &input, folder.path());
        let ended = tried(&helm, &row, &input, folder.path(), (true, &before), &step);
        let times =
            super::times_killed(&ended).unwrap_or_else(|| panic!("{}: {ended:?}", row.kind));
        print(&format!("{}: killed {times} times", row.kind));
        assert!(times > 1, "{}: {ended:?}", row.kind);
    }
}

#[test]
fn helm_values_do_on_the_real_helm_what_the_replay_says() {
    let test = "helm_values_do_on_the_real_helm_what_the_replay_says";
    let Some(helm) = support::helm(test) else {
        return;
    };
    let mut table = String::from("\n| helm | what-if | real | taken back |\n|---|---|---|---|\n");
    let mut wrong = Vec::new();
    // Without the chart's file helm finds no chart, as where there is no internet.
    for (what, chart, before) in [
        ("a chart file", true, [RELEASE, INSTALLED, ""].concat()),
        (
            "killed in an upgrade",
            true,
            [RELEASE, INSTALLED, KILLED].concat(),
        ),
        ("no chart", false, [RELEASE, INSTALLED, ""].concat()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (row, input) = (row(what), state(STATE, folder.path()));
        let said = what_if(&row, &input, folder.path());
        let ended = tried(&helm, &row, &input, folder.path(), (chart, &before), "");
        let (real, back) = told(&row, &ended);
        if back == "no" {
            print(&ended.err);
        }
        let _ = writeln!(table, "| {what} | {said} | {real} | {back} |");
        if (said == real) != chart || back == "no" {
            wrong.push(what);
        }
    }
    print(&table);
    assert!(wrong.is_empty(), "{wrong:?}{table}");
}

/// A try with the real helm, or with a step to be killed at one that is killed again and again.
fn tried(
    helm: &Path,
    row: &Row,
    input: &Path,
    folder: &Path,
    (chart, before): (bool, &str),
    kill_step: &str,
) -> Ended {
    let address = store::serve(input).unwrap();
    let bin = folder.join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(helm, bin.join("helm")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let file = folder.join("chart.tgz");
    let releases = std::fs::read_dir(input.join("helm/gpu-operator")).unwrap();
    let release = releases.map(|one| one.unwrap().file_name()).next().unwrap();
    let mut command = Command::new("timeout");
    command.args(["580", "bash", "-c", TRY]);
    command
        .env("KUBECONFIG", kubeconfig(address, folder))
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("HOME", folder)
        .env("LOCK_DIR", folder)
        .env("SCRATCH", folder)
        .env("LAB", bins::checkout().join("tests/lab"))
        .env("NAME", release)
        .env("STATE", input)
        .env("FIX", written(row, folder))
        .env("CHART", if chart { file.as_os_str() } else { "".as_ref() })
        .env("BACKUP_DIR", folder.join("backup"))
        .env("KILL_STEP", kill_step)
        // Helm keeps ten revisions, and a release that is changed again and again loses the one to go back to.
        .env("HELM_MAX_HISTORY", "0")
        .env("BEFORE", before)
        .env("FAULTY", row.faulty);
    let ended = ended(command.output().unwrap());
    assert!(!ended.out.contains("other values"), "{ended:?}");
    assert!(!ended.err.contains("a secret is lost"), "{ended:?}");
    ended
}
