//! What looks like a fault and is none is listed as such, and is evidence of nothing.

use casefile_analyzer::report;

use crate::{Files, analyze, analyzer, verdicts};

const COMPLETED: &str = "$ kubectl get pods -A\n\
     NAMESPACE      NAME                          READY   STATUS      RESTARTS   AGE\n\
     gpu-operator   nvidia-cuda-validator-x2kq9   0/1     Completed   0          3h\n\
     default        train-0                       1/1     Running     0          3h\n";
const OWN: &str = "$ kubectl get pods -n default\n\
     NAME                  READY   STATUS    RESTARTS   AGE\n\
     casefile-node-gpu-1   1/1     Running   0          2m\n";

/// Noise: its id, and evidence that has it as people paste it.
const NOISE: &[(&str, &str)] = &[
    (
        "dkms-conf-not-copied",
        "ERROR: Unable to open 'kernel/dkms.conf' for copying (No such file or directory)\n",
    ),
    (
        "dgx-spark-memory-not-supported",
        "I1120 09:00:11.000218       1 factory.go:53] Ignoring error getting device memory: Not Supported\n",
    ),
    ("completed-pods", COMPLETED),
    ("collector-own-pods", OWN),
];

fn files(text: &str) -> Files {
    Files::from([("paste".to_owned(), text.as_bytes().to_vec())])
}

#[test]
fn noise_is_listed_and_puts_no_cause_in_play() {
    let analyzer = analyzer();
    for (id, text) in NOISE {
        let analysis = analyze(&analyzer, &files(text));
        let found: Vec<&str> = analysis.benign.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(found, [*id], "{text}");
        assert!(
            verdicts(&analysis).is_empty(),
            "{id}: {:?}",
            verdicts(&analysis)
        );
        let screen = report::render_text(&analysis, report::TextOptions::default());
        assert!(
            screen.contains("\nHarmless ") && screen.contains(id),
            "{screen}"
        );
        let page = report::render_appendix(&analysis, None).unwrap().unwrap();
        let place = format!("`{}`", analysis.benign[0].evidence[0].place);
        assert!(page.contains(&place), "{id}: {place}");
    }
}

#[test]
fn noise_beside_a_fault_changes_nothing_of_it() {
    let fault =
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=5521, name=python, GPU has fallen off the bus.\n";
    let analyzer = analyzer();
    let alone = verdicts(&analyze(&analyzer, &files(fault)));
    let noise: String = NOISE.iter().map(|(_, text)| *text).collect();
    let both = analyze(&analyzer, &files(&format!("{noise}\n{fault}\n{noise}")));
    assert!(!alone.is_empty());
    assert_eq!(verdicts(&both), alone);
    assert_eq!(both.benign.len(), NOISE.len());
}
