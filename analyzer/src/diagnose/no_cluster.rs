//! Remedies for a machine that runs no kubelet: a command of kubectl or helm cannot be typed there, so its step keeps the
//! sentence and loses the command.

use casefile_bundle::sources;

use crate::change::{looks, risk};
use crate::facts::cluster::ComposeMark;
use crate::facts::node::Process;
use crate::model::{Analysis, Step, Verdict};
use crate::scan::Scanned;
use crate::words;

/// The source that finds a kubelet where one is.
const KUBELET: &str = sources::KUBELET_CONFIG.id;
const LOOKED: &str =
    "No kubelet was found on this machine, so commands of kubectl and helm are left out.";
const NO_SIGN: &str =
    "This input shows no sign of Kubernetes, so commands of kubectl and helm are left out.";

/// Leaves out what only a cluster can answer, where nothing of a cluster is in the input: the collector looked for a
/// kubelet and found none, or another tool took the whole machine.
pub(super) fn leave_out(analysis: &mut Analysis, scanned: &Scanned) {
    let note = match (is_alone(analysis), shows_no_sign(analysis, scanned)) {
        (true, _) => LOOKED,
        (false, true) => NO_SIGN,
        (false, false) => return,
    };
    set_aside(analysis);
    for incident in &mut analysis.incidents {
        let steps = &mut incident.remedy.steps;
        for asked in &mut incident.would_settle {
            *asked = words::without_command(asked, asks_a_cluster);
        }
        let mut left = strip(steps, true);
        left |= strip(&mut incident.remedy.verify, false);
        if let Some(last) = steps.last_mut().filter(|_| left) {
            let (text, stops) = match last.text.split_once(risk::MARK) {
                Some((text, stops)) => (text, format!("{}{stops}", risk::MARK)),
                None => (last.text.as_str(), String::new()),
            };
            last.text = format!("{} {note}{stops}", words::sentence(text));
        }
    }
}

/// What only a cluster can have is no guess about a machine that shows none: `127.0.0.53` is every Ubuntu's name server,
/// and only CoreDNS makes a loop of it.
fn set_aside(analysis: &mut Analysis) {
    const OF_A_CLUSTER: [&str; 3] = ["dns", "scheduling", "hami"];
    let guesses = analysis.differential.iter_mut();
    let guesses = guesses.filter(|one| {
        one.verdict == Verdict::Possible && OF_A_CLUSTER.contains(&one.family.as_str())
    });
    for guess in guesses {
        guess.verdict = Verdict::NotChecked;
        guess.why = "This machine shows no sign of Kubernetes, which the cause needs.".to_owned();
        analysis.incidents.retain(|one| one.cause != guess.cause);
    }
}

fn is_alone(analysis: &Analysis) -> bool {
    let mut sources = analysis.coverage.iter();
    let looked = sources.any(|one| one.source == KUBELET && one.outcome == "skipped");
    looked && analysis.seen.pods == 0 && analysis.seen.events == 0
}

/// Whether another tool's capture, or a text about what Docker Compose runs, holds nothing that a kubelet or a cluster
/// said or is.
fn shows_no_sign(analysis: &Analysis, scanned: &Scanned) -> bool {
    const KUBELETS: [&str; 3] = ["kubelet", "k3s", "rke2"];
    let is_kubelet = |text: &str| KUBELETS.iter().any(|name| text.contains(name));
    let seen = &analysis.seen;
    let mut processes = scanned.facts.table::<Process>().iter();
    let is_composed = !scanned.facts.table::<ComposeMark>().is_empty();
    (is_composed || !scanned.plan.captures.is_empty())
        && (seen.pods, seen.events) == (0, 0)
        && seen.kubernetes_version.is_none()
        && !processes.any(|process| is_kubelet(&process.data.comm))
        && !scanned.hits.iter().any(|hit| is_kubelet(&hit.speaker))
}

/// Whether a command was left out. Of steps that change something it is said what they stop.
fn strip(steps: &mut [Step], act: bool) -> bool {
    let mut left = false;
    for step in steps {
        let command = step.command.as_deref().filter(|text| asks_a_cluster(text));
        if let Some(rest) = command.and_then(rest) {
            step.command = Some(rest);
            left = true;
        } else if let Some(command) = command {
            let text = words::sentence(&words::small(&step.text));
            // What it stops is as true without its command.
            let risk = match risk::interrupts(command).filter(|_| act) {
                None if act && risk::stops(command).known => Some("Nothing.".to_owned()),
                risk => risk,
            };
            step.text = match risk {
                Some(risk) => format!("{}{text}{}{risk}", words::OF_KUBERNETES, risk::MARK),
                None => format!("{}{text}", words::OF_KUBERNETES),
            };
            step.command = None;
            step.expect = None;
            left = true;
        }
    }
    left
}

/// What a row of commands does on the node itself; none where that is nothing, or where one needs another.
fn rest(command: &str) -> Option<String> {
    const TIED: [&str; 5] = ["for ", "if ", "while ", "$", "|"];
    if TIED.iter().any(|sign| command.contains(sign)) || looks::in_background(command) {
        return None;
    }
    let mut own = words::commands(command);
    own.iter_mut().for_each(|part| *part = part.trim());
    own.retain(|part| !part.is_empty() && !asks_a_cluster(part));
    (!own.is_empty()).then(|| own.join(" && "))
}

fn asks_a_cluster(command: &str) -> bool {
    let mut words =
        command.split(|letter: char| letter.is_whitespace() || "|;&()`".contains(letter));
    words.any(|word| ["kubectl", "oc", "helm"].contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_the_node_itself_stay() {
        assert!(asks_a_cluster("kubectl drain n1 && systemctl reboot"));
        assert!(asks_a_cluster("grep x f; helm upgrade r c"));
        assert!(!asks_a_cluster(
            "grep kubectl.kubernetes.io /etc/kubernetes/kubelet.conf"
        ));
        let step = |command: &str| Step {
            text: "Do it.".to_owned(),
            command: Some(command.to_owned()),
            expect: Some("Done.".to_owned()),
        };
        assert_eq!(
            words::without_command(
                "What does it log? (kubectl logs <pod>). If it is so, it is",
                asks_a_cluster
            ),
            "What does it log? If it is so, it is"
        );
        let own = "What does it log? (journalctl -u x). If it is so, it is";
        assert_eq!(words::without_command(own, asks_a_cluster), own);
        let mut steps = [
            step("kubectl get pods"),
            step("nvidia-smi -L"),
            step("kubectl drain n1 --ignore-daemonsets && systemctl reboot"),
            step("kubectl get pods -o name | xargs echo; ls"),
            step("kubectl get nodes; printf 'a;b' > f"),
        ];
        assert!(strip(&mut steps, true));
        let left: Vec<_> = steps.iter().map(|step| step.command.as_deref()).collect();
        assert_eq!(
            left,
            [
                None,
                Some("nvidia-smi -L"),
                Some("systemctl reboot"),
                None,
                Some("printf 'a;b' > f"),
            ]
        );
    }
}
