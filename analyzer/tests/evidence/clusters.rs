//! Evidence of two clusters in one folder or text: never joined into a cause that is confirmed.

use std::collections::BTreeSet;

use casefile_analyzer::model::Verdict;

use crate::{Case, Files, Verdicts, analyze, analyzer, cases, confirmed, verdicts};

/// Each case with another one whose files lie beside its own.
fn pairs(cases: &[Case]) -> impl Iterator<Item = (usize, usize)> {
    (0..cases.len()).map(|index| (index, (index * 37 + 11) % cases.len()))
}

/// The files with something in front of each text and of each name.
fn marked(files: &Files, name: &str, mark: &str) -> Files {
    let marked = files.iter().map(|(path, text)| {
        let text = [mark.as_bytes(), text].concat();
        (format!("{name}{path}"), text)
    });
    marked.collect()
}

#[test]
fn two_clusters_in_one_folder_confirm_nothing_that_neither_did_alone() {
    let cases = cases("two_clusters_in_one_folder_confirm_nothing_that_neither_did_alone");
    let analyzer = analyzer();
    let alone: Vec<Verdicts> = cases
        .iter()
        .map(|case| verdicts(&analyze(&analyzer, &case.files)))
        .collect();
    let mut wrong = Vec::new();
    for (index, at) in pairs(&cases) {
        let (case, other) = (&cases[index], &cases[at]);
        let mut files = case.files.clone();
        files.extend(marked(&other.files, "b-", ""));
        let both = verdicts(&analyze(&analyzer, &files));
        for cause in confirmed(&both) {
            let known = [&alone[index], &alone[at]]
                .iter()
                .any(|one| confirmed(one).contains(cause));
            let wanted = case.wanted.contains(cause) || other.wanted.contains(cause);
            if !known && !wanted {
                wrong.push(format!("{} with {}: {cause}", case.name, other.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What `kubectl cluster-info` prints first.
fn server(address: &str) -> String {
    format!(
        "$ kubectl cluster-info\nKubernetes control plane is running at https://{address}:6443\n\n"
    )
}

#[test]
fn clusters_that_say_who_they_are_are_judged_as_if_each_were_alone() {
    let cases = cases("clusters_that_say_who_they_are_are_judged_as_if_each_were_alone");
    let analyzer = analyzer();
    let marks = [server("10.20.0.1"), server("10.30.0.1")];
    let (mut wrong, mut told) = (Vec::new(), 0);
    for (index, at) in pairs(&cases).filter(|(one, other)| one != other) {
        let of = |case: &Case, name: &str, mark: &str| marked(&case.files, name, mark);
        let one = of(&cases[index], "a-", &marks[0]);
        let other = of(&cases[at], "b-", &marks[1]);
        let mut wanted = verdicts(&analyze(&analyzer, &one));
        for (cause, verdict) in verdicts(&analyze(&analyzer, &other)) {
            let known = wanted.entry(cause).or_insert(verdict);
            *known = verdict.min(*known);
        }
        let both = analyze(&analyzer, &one.into_iter().chain(other).collect());
        let found = verdicts(&both);
        if found != wanted {
            let (case, other) = (&cases[index].name, &cases[at].name);
            wrong.push(format!("{case} with {other}: {wanted:?} became {found:?}"));
        }
        let mut problems = both.problems.iter();
        told += usize::from(problems.any(|one| one.text.contains("2 different clusters")));
    }
    println!(
        "{told} of {} pairs are said to be of two clusters",
        cases.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(told, cases.len());
}

const SHARED: &str = "I1120 08:01:13.300219       1 main.go:279] Running with config:\n\
     \"sharing\": {\"timeSlicing\": {\"resources\":[{\"name\":\"nvidia.com/gpu\",\"devices\":\"all\",\"replicas\":4}]}}\n";
const FULL: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of \
     44.39 GiB of which 1.06 GiB is free. Process 90113 has 41.52 GiB memory in use. Process 90877 has 1.80 GiB memory in use.\n";
const CAUSE: &str = "gpu-memory-shared-tenant-oom";

fn nodes(names: [&str; 2]) -> String {
    format!(
        "$ kubectl get nodes\nNAME   STATUS   ROLES           AGE   VERSION\n{}   Ready    control-plane   3d    v1.33.1\n\
         {}   Ready    <none>          3d    v1.33.1\n\n",
        names[0], names[1]
    )
}

fn namespace(uid: &str) -> String {
    format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: kube-system\n  uid: {uid}\n\n")
}

/// The verdict on the cause whose two halves these texts are, and what is said of clusters.
fn verdict(texts: &[String]) -> (Option<Verdict>, Vec<String>) {
    let files = texts.iter().zip(0..);
    let files = files.map(|(text, number)| (format!("paste-{number}"), text.clone().into_bytes()));
    let analysis = analyze(&analyzer(), &files.collect());
    let problems = analysis.problems.iter().map(|one| one.text.clone());
    let told = problems.filter(|text| text.contains("different clusters"));
    (verdicts(&analysis).get(CAUSE).copied(), told.collect())
}

#[test]
fn halves_of_a_cause_from_two_clusters_do_not_make_it_and_the_clusters_are_named() {
    let marks = [
        [server("10.20.0.1"), server("10.30.0.1")],
        [nodes(["cp-a", "gpu-a"]), nodes(["cp-b", "gpu-b"])],
        [namespace("0b1c-1"), namespace("77aa-2")],
        [
            "kubernetes.azure.com/cluster=east\n".to_owned(),
            "kubernetes.azure.com/cluster=west\n".to_owned(),
        ],
    ];
    for [a, b] in marks {
        let one = verdict(&[format!("{a}{SHARED}"), format!("{a}{FULL}")]);
        assert_eq!(one, (Some(Verdict::Confirmed), vec![]), "one cluster: {a}");
        for texts in [
            vec![format!("{a}{SHARED}"), format!("{b}{FULL}")],
            vec![format!("{a}{SHARED}\n{b}{FULL}")],
        ] {
            let (found, told) = verdict(&texts);
            assert_ne!(found, Some(Verdict::Confirmed), "{texts:?}");
            assert_eq!(told.len(), 1, "{texts:?}");
            for part in ["2 different clusters", "judged by itself", "paste-0"] {
                assert!(told[0].contains(part), "{told:?}");
            }
        }
    }
}

#[test]
fn a_text_that_names_a_cluster_s_node_is_of_that_cluster_and_one_that_names_nothing_is_of_none() {
    let pod = "$ kubectl get pods -o wide\nNAME     READY   STATUS    RESTARTS   AGE   IP         NODE    NOMINATED NODE   READINESS GATES\n\
         train-0  0/1     Error     3          1h    10.0.9.4   gpu-a   <none>           <none>\n\n";
    let (a, b) = (nodes(["cp-a", "gpu-a"]), nodes(["cp-b", "gpu-b"]));
    let of_a = verdict(&[format!("{a}{SHARED}"), b.clone(), format!("{pod}{FULL}")]);
    assert_eq!(of_a.0, Some(Verdict::Confirmed), "{:?}", of_a.1);
    let of_none = verdict(&[format!("{a}{SHARED}"), b, FULL.to_owned()]);
    assert_ne!(of_none.0, Some(Verdict::Confirmed));
    assert!(
        of_none.1[0].contains("paste-2 do not say"),
        "{:?}",
        of_none.1
    );
    let names: BTreeSet<&str> = ["cp-a", "cp-b"].into();
    assert!(names.iter().all(|name| of_none.1[0].contains(name)));
}
