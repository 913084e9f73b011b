//! Rules of the real ufw, and what is assembled from its files.

use casefile_sim_net::iptables::Backend;
use casefile_sim_net::question::{CapturedText, Captures, Firewall};
use casefile_sim_net::ufw::UfwFiles;

use crate::lab::Lab;
use crate::{Score, check_loaded, iptables, shots};

/// Lets the real ufw load rules, checks them, and checks that the rule set
/// assembled from ufw's files alone answers the same.
pub(crate) fn check(lab: &mut Lab, name: &str, commands: &str, score: &mut Score) {
    lab.fresh_ufw();
    let empty = iptables("*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\nCOMMIT\n");
    lab.load(&empty).expect("empty rules");
    let (done, output) = lab.router(commands);
    assert!(done, "{name}: {output}");
    check_loaded(lab, name, &empty, score);
    let saved = lab.save(&empty).iptables;
    let status = lab.router("ufw status verbose").1;
    let read = |file: &str| std::fs::read_to_string(lab.etc().join(file)).expect("ufw's file");
    let texts = [
        "default-ufw",
        "ufw/ufw.conf",
        "ufw/before.rules",
        "ufw/after.rules",
        "ufw/user.rules",
    ]
    .map(read);
    let files = UfwFiles {
        defaults: Some(captured("etc/default/ufw", &texts[0])),
        conf: Some(captured("etc/ufw/ufw.conf", &texts[1])),
        before: Some(captured("etc/ufw/before.rules", &texts[2])),
        after: Some(captured("etc/ufw/after.rules", &texts[3])),
        user: Some(captured("etc/ufw/user.rules", &texts[4])),
        ..UfwFiles::default()
    };
    let ufw_status = Some(captured("ufw-status", &status));
    let kernel = Captures {
        iptables: Some(captured("iptables-save", &saved)),
        ufw_status,
        ufw_files: files,
        ..Captures::default()
    };
    let kernel = Firewall::from_captures(&kernel);
    let alone = Firewall::from_captures(&Captures {
        ufw_status,
        ufw_files: files,
        ..Captures::default()
    });
    let by_status = Firewall::from_captures(&Captures {
        ufw_status,
        ..Captures::default()
    });
    assert_eq!(alone.rule_sets()[0].backend, Backend::UfwFiles);
    for shot in shots(0, false) {
        let (a, b) = (
            kernel.evaluate(&shot.packet(None)),
            alone.evaluate(&shot.packet(None)),
        );
        assert_eq!(
            a.evaluation.verdict, b.evaluation.verdict,
            "{name}: {shot:?}: kernel rules against files\n{a:?}\n{b:?}"
        );
        let c = by_status.evaluate(&shot.packet(None));
        assert_eq!(
            a.evaluation.verdict, c.evaluation.verdict,
            "{name}: {shot:?}: kernel rules against status\n{status}"
        );
        if alone.ufw().active() == Some(true) {
            assert_eq!(
                a.ufw, b.ufw,
                "{name}: {shot:?}: ufw's words from kernel rules and from files"
            );
            assert!(
                a.ufw.is_some_and(|words| words.origin.is_some()),
                "{name}: {shot:?}"
            );
        }
    }
}

fn captured<'a>(path: &'a str, text: &'a str) -> CapturedText<'a> {
    CapturedText { path, text }
}
