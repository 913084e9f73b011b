//! What machines of others printed.

use std::path::{Path, PathBuf};

use super::*;

fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../shared/data")
        .join(path);
    path.exists().then_some(path)
}

fn skip(what: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "skipped: {what} is not there");
}

#[test]
fn captured_save_outputs_of_others_are_read_without_loss() {
    let Some(folder) = shared("firewall/insights") else {
        return skip("data/firewall");
    };
    for name in [
        "iptables.iptables_save.txt",
        "iptables.iptables_save_doc.txt",
    ] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let set = parse_save(name, &text, Family::V4);
        assert_eq!(set.problems, [], "{name}");
        assert_eq!(
            set.rule_count(),
            text.lines().filter(|line| line.starts_with("-A")).count(),
            "{name}"
        );
        assert_eq!(set.tables.len(), 3);
    }
}

#[test]
fn captured_ufw_states_of_others_are_read() {
    let Some(folder) = shared("firewall/jc") else {
        return skip("data/firewall");
    };
    let rows = [
        ("generic-ufw.out", 15),
        ("generic-ufw-numbered.out", 15),
        ("generic-ufw-numbered2.out", 15),
        ("generic-ufw-inactive.out", 0),
    ];
    for (name, rows) in rows {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let status = crate::ufw::parse_status(name, &text);
        assert_eq!(status.rows.len(), rows, "{name}: {:#?}", status.rows);
        assert_eq!(status.active, Some(rows > 0), "{name}");
    }
}

/// Reads a member of a gzipped tar with the system's tar.
fn member(archive: &Path, name: &str) -> Option<String> {
    let output = std::process::Command::new("tar")
        .arg("-xzOf")
        .arg(archive)
        .arg(name)
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_real_calico_dump_decides_unless_nft_shows_that_it_left_conditions_out() {
    let Some(archive) = shared("bundles/rancher-rke2-logs-2025-11-27.tar.gz") else {
        return skip("the RKE2 bundle");
    };
    let base = "rancher-rke2-2025-11-27/networking";
    let Some(text) = member(&archive, &format!("{base}/iptablessave")) else {
        return skip("tar");
    };
    let nft = member(&archive, &format!("{base}/nft_ruleset")).unwrap_or_default();
    let set = parse_save("iptablessave", &text, Family::V4);
    assert_eq!(set.problems, []);
    assert_eq!(
        set.rule_count(),
        text.lines().filter(|line| line.starts_with("-A")).count()
    );
    let firewall = Firewall::from_captures(&with_save(&text));
    let outside = Some(Interface::Name("eth0".into()));
    let pod = "10.42.0.77".parse().unwrap();
    let stranger = Some(Interface::Name("cali0000000000a".into()));
    let answer = firewall.evaluate(&pod_to_dns(
        pod,
        stranger,
        outside.clone(),
        "1.1.1.1".parse().unwrap(),
    ));
    assert_eq!(
        answer.evaluation.verdict,
        Verdict::Dropped,
        "{:#?}",
        answer.evaluation
    );
    let Some(DecidedBy::Rule { text: rule, .. }) = &answer.evaluation.decided_by else {
        panic!("{answer:#?}")
    };
    assert!(rule.contains("Unknown interface"), "{rule}");
    assert_eq!(answer.not_evaluated, Vec::<String>::new());
    // The dump was made by an iptables that prints no mark conditions.
    let captures = Captures {
        nft: Some(CapturedText {
            path: "nft",
            text: &nft,
        }),
        ..with_save(&text)
    };
    let known = Some(Interface::Name("cali40a2bb3ea25".into()));
    let packet = pod_to_tcp(pod, known, outside, "1.1.1.1".parse().unwrap(), 443);
    let answer = Firewall::from_captures(&captures).evaluate(&packet);
    assert_eq!(answer.evaluation.verdict, Verdict::Accepted, "{answer:#?}");
    let notes = answer.evaluation.notes.join("\n");
    assert!(notes.contains("leaves out conditions"), "{notes}");
    let decided = answer.evaluation.decided_by.unwrap().to_string();
    assert!(decided.contains("nft:"), "{decided}");
}
