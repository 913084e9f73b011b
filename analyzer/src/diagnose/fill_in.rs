//! Commands with what the bundle knows: the pod, the node and the card that a rule leaves open.

use crate::model::{Analysis, Incident};
use crate::rules::template::is_shell_word;
use casefile_shapes::alphabet;

/// What stands in commands of rules for something that a person chooses, and what it means.
const NAMES: &[(&str, &str)] = &[
    ("POD", "a pod that is affected"),
    ("TESTPOD", "a pod to try it with"),
    ("NAMESPACE", "its namespace"),
    ("NODE", "the node"),
    ("NAME", "the workload or object"),
    ("CONTAINER", "the container's name"),
    ("RELEASE", "the helm release"),
    (
        "CHART",
        "the chart: its file, or REPOSITORY/NAME --version with the release's own version",
    ),
    ("VERSION", "the version to install"),
    ("IMAGE", "the image"),
    ("PV", "the PersistentVolume"),
    ("OLD_NODE", "the node that is gone"),
    ("HAMI_NAMESPACE", "the namespace of HAMi"),
    ("HAMI-SCHEDULER", "an address of HAMi's scheduler"),
    (
        "CLUSTER-IP-OF-HAMI-SCHEDULER",
        "the cluster address of HAMi's scheduler",
    ),
    ("REPOSITORY", "the image's repository"),
    ("DEVICE-PLUGIN-POD", "the device plugin's pod on the node"),
    (
        "HAMI-DEVICE-PLUGIN-POD",
        "HAMi's device plugin pod on the node",
    ),
    ("JOB", "the job"),
    ("BUS_ID", "the GPU's PCI bus id"),
    ("INDEX", "the GPU's index in nvidia-smi -L"),
    ("WATTS", "the power limit in watts"),
    ("KEY", "the label's key"),
    ("VALUE", "its value"),
    ("UPSTREAM_IP", "a DNS server of /etc/resolv.conf"),
    ("SERVICE_IP", "the service's cluster address"),
    ("SERVICE", "the service"),
    ("CLIENT", "the pod that calls"),
    ("SERVER", "the pod that answers"),
    ("POD_IP", "the pod's address"),
    ("OTHER_POD_IP", "the address of a pod on another node"),
    ("OTHER_NODE_POD_IP", "the address of a pod on another node"),
    ("REGISTRY", "the registry"),
    ("USER", "the user of the registry"),
    ("TOKEN", "its token"),
    ("YOUR_PROCESS", "the program's name"),
    ("CNI_RELEASE", "the helm release of the CNI"),
    ("EXTERNAL_NAME", "a host name outside the cluster"),
    ("SEARCH_DOMAIN", "the last domain of the pod's search list"),
    ("SITE_NAME", "a host name of your site"),
    ("CONF_DIR", "the directory of the CNI configuration"),
    ("BIN_DIR", "the directory of the CNI plugins"),
    (
        "FULL_VERSION",
        "the driver's version with the system's name",
    ),
    ("GOOD", "the last version that worked"),
    ("NEWER", "a newer version"),
    ("NEW", "the new limit"),
    ("OLDER_CUDA_TAG", "a tag with an older CUDA"),
    ("CUDA_12_IMAGE", "an image with CUDA 12"),
    (
        "IMAGE_OR_WORKLOAD",
        "part of the image's or workload's name",
    ),
    ("IMAGE_ID", "the image's id as crictl images prints it"),
    ("DIGEST", "the digest of the corrupt layer"),
    ("CONTAINER_ID", "the container's id"),
    ("SECRET", "the pull secret"),
    ("PORT", "the port"),
    ("COREDNS_POD_IP", "the address of a CoreDNS pod"),
    ("POD_ON_OTHER_NODE", "the address of a pod on another node"),
    ("POD_ON_NODE", "a pod on the node"),
    ("POD_CIDR", "the pods' address range"),
    ("SERVICE_CIDR", "the services' address range"),
    ("OTHER_NODE_IP", "the address of another node"),
    ("SENDER", "the address of the pod that sends"),
    ("RECEIVER", "the address of the pod that receives"),
    ("NIC", "the node's network card"),
    ("CSR", "the certificate signing request"),
    (
        "CONFIG_OF_THE_KUBELETS_CONTAINERD",
        "the configuration file of the kubelet's containerd",
    ),
    ("CONFIGMAP", "the ConfigMap"),
    ("DAEMONSET", "the DaemonSet"),
    ("KUBELET-ROOT", "the kubelet's --root-dir"),
    ("QUOTA", "the ResourceQuota"),
    ("PODGROUP", "the PodGroup"),
    ("CLAIM", "the PersistentVolumeClaim"),
    ("HOLDER", "the pod that holds the volume"),
];

/// Fills in what is known; what is not becomes `<name>`, which [`meanings`] explains.
pub(super) fn fill(analysis: &mut Analysis) {
    let mut incidents = std::mem::take(&mut analysis.incidents);
    for incident in &mut incidents {
        let known = Known::new(incident, analysis);
        let remedy = &mut incident.remedy;
        let steps = remedy.steps.iter_mut().chain(&mut remedy.verify);
        for command in steps.filter_map(|step| step.command.as_mut()) {
            *command = known.fill(command);
        }
        for observation in &mut incident.observations {
            observation.command = known.fill(&observation.command);
        }
        for text in &mut incident.would_settle {
            *text = known.fill(text);
        }
    }
    analysis.incidents = incidents;
}

/// What `<name>` stands for, for each that the commands leave open.
pub(crate) fn meanings<'a>(commands: impl Iterator<Item = &'a str>) -> Vec<(String, &'static str)> {
    let mut open: Vec<usize> = Vec::new();
    for command in commands {
        for (index, (name, _)) in NAMES.iter().enumerate() {
            if command.contains(&blank(name)) && !open.contains(&index) {
                open.push(index);
            }
        }
    }
    open.sort_unstable();
    open.into_iter()
        .map(|index| (blank(NAMES[index].0), NAMES[index].1))
        .collect()
}

fn blank(name: &str) -> String {
    format!("<{}>", name.to_lowercase().replace('_', "-"))
}

/// What the bundle knows of one cause. Every value is a plain word for a shell.
struct Known {
    node: Option<String>,
    pod: Option<(String, String)>,
    card: Option<String>,
    /// The namespace that HAMi's parts run in.
    hami: Option<String>,
    subjects: Vec<String>,
}

impl Known {
    fn new(incident: &Incident, analysis: &Analysis) -> Self {
        let fails = |subject: &&String| {
            let mut workloads = analysis.impact.workloads.iter();
            workloads.any(|workload| workload.subject == **subject)
        };
        let pods = || {
            let subjects = incident.subjects.iter();
            subjects.filter(|one| one.starts_with("pod/"))
        };
        let pod = pods().find(fails).or_else(|| pods().next());
        let word = |text: &str| is_shell_word(text).then(|| text.to_owned());
        let nodes: Vec<&str> = incident
            .subjects
            .iter()
            .filter_map(|one| one.strip_prefix("node/"))
            .collect();
        let mut workloads = analysis.impact.workloads.iter();
        let runs_on = pod.and_then(|pod| workloads.find(|one| one.subject == *pod));
        let runs_on = runs_on
            .map(|one| one.node.as_str())
            .filter(|name| !name.is_empty());
        let mut parts = analysis.state.components.iter();
        let hami = parts.find(|part| part.component.starts_with("hami-"));
        let hami = hami.and_then(|part| part.subject.split('/').nth(1));
        Known {
            node: nodes.first().copied().or(runs_on).and_then(word),
            hami: hami.and_then(word),
            pod: pod.and_then(|subject| {
                let (namespace, name) = subject.strip_prefix("pod/")?.split_once('/')?;
                Some((word(namespace)?, word(name)?))
            }),
            card: card(incident, analysis).filter(|card| is_shell_word(card)),
            subjects: incident.subjects.clone(),
        }
    }

    fn fill(&self, command: &str) -> String {
        let mut out = String::with_capacity(command.len());
        let mut rest = command;
        while let Some((start, end, index)) = next_name(rest, out.chars().next_back()) {
            out.push_str(&rest[..start]);
            let value = self.value(NAMES[index].0, &out, &rest[end..]);
            out.push_str(&value.unwrap_or_else(|| blank(NAMES[index].0)));
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }

    /// The value for a name, which `before` and `after` surround.
    fn value(&self, name: &str, before: &str, after: &str) -> Option<String> {
        match name {
            "NODE" => self.node.clone(),
            "NAMESPACE" => self.pod.as_ref().map(|(namespace, _)| namespace.clone()),
            "POD" => {
                let (namespace, name) = self.pod.as_ref()?;
                let program = before.rsplit([';', '|', '\n', '(']).next()?;
                let rest = after.split([';', '|', '\n', ')']).next()?;
                let asks = program.trim_start().starts_with("kubectl ");
                let named = |text: &str| text.contains(" -n ") || text.contains("--namespace");
                // A pod of another namespace is not found without it.
                if asks && program.ends_with(' ') && !named(program) && !named(rest) {
                    return Some(format!("{name} -n {namespace}"));
                }
                Some(name.clone())
            }
            "BUS_ID" => self.card.clone(),
            "HAMI_NAMESPACE" => self.hami.clone(),
            "NAME" => {
                let kind = before
                    .rsplit([' ', '/'])
                    .find(|word| !word.is_empty())
                    .unwrap_or_default();
                let mut subjects = self.subjects.iter();
                let own = subjects.find_map(|one| one.strip_prefix(&format!("{kind}/")));
                let name = match own {
                    Some(own) => own.rsplit('/').next()?,
                    None if kind == "deploy" => deployment(&self.pod.as_ref()?.1)?,
                    None if kind == "ds" => daemonset(&self.pod.as_ref()?.1)?,
                    None => return None,
                };
                is_shell_word(name).then(|| name.to_owned())
            }
            _ => None,
        }
    }
}

/// The GPU that a cause is about, or the only one that is ill.
fn card(incident: &Incident, analysis: &Analysis) -> Option<String> {
    let mut own: Vec<&str> = incident
        .subjects
        .iter()
        .filter_map(|one| one.strip_prefix("gpu/")?.rsplit('/').next())
        .filter(|id| id.contains(':'))
        .collect();
    own.dedup();
    if let [own] = own.as_slice() {
        // The driver's log leaves out the function, and a GPU is the first of its device.
        let function = if own.contains('.') { "" } else { ".0" };
        return Some(format!("{own}{function}"));
    }
    let cards = analysis.state.nodes.iter().flat_map(|node| &node.cards);
    let mut ill = cards.filter(|card| !card.trouble.is_empty());
    match (ill.next(), ill.next()) {
        (Some(only), None) => Some(only.bus_id.clone()),
        _ => None,
    }
}

/// The Deployment that a pod's name tells: `NAME-` with the hash of its ReplicaSet and five characters of its own.
fn deployment(pod: &str) -> Option<&str> {
    let rest = without_own(pod)?;
    let (name, hash) = rest.rsplit_once('-')?;
    let fits = (6..=10).contains(&hash.len()) && !name.is_empty();
    (fits && alphabet::are_letters(hash.as_bytes())).then_some(name)
}

/// The DaemonSet that a pod's name tells: `NAME-` with five characters of its own, where no ReplicaSet stands between.
fn daemonset(pod: &str) -> Option<&str> {
    match deployment(pod) {
        Some(_) => None,
        None => without_own(pod),
    }
}

/// A pod's name without the five characters that its controller drew.
fn without_own(pod: &str) -> Option<&str> {
    let (rest, own) = pod.rsplit_once('-')?;
    alphabet::is_end_of_pod(own).then_some(rest)
}

/// The next name that a command leaves open: where it begins and ends, and its index in [`NAMES`].
fn next_name(command: &str, before: Option<char>) -> Option<(usize, usize, usize)> {
    let is_part = |c: char| c.is_ascii_uppercase() || c == '_' || c == '-';
    let mut at = 0;
    let mut before = before.unwrap_or(' ');
    while let Some(found) = command[at..].find(|c: char| c.is_ascii_uppercase()) {
        let start = at + found;
        before = command[at..start].chars().next_back().unwrap_or(before);
        let word = &command[start..];
        let end = start + word.find(|c| !is_part(c)).unwrap_or(word.len());
        let after = &command[end..];
        let next = after.chars().next().unwrap_or(' ');
        // A column's title (NAME:.metadata.name), a variable or a part of another word is no blank.
        let own = !before.is_ascii_alphanumeric() && !"$_{-<".contains(before);
        if own && !next.is_ascii_alphanumeric() && !(next == ':' && titled(after)) {
            let index = NAMES
                .iter()
                .position(|(name, _)| *name == &command[start..end]);
            if let Some(index) = index {
                return Some((start, end, index));
            }
        }
        before = command[..end].chars().next_back().unwrap_or(before);
        at = end;
    }
    None
}

/// Whether a colon starts the path of a custom column.
fn titled(after: &str) -> bool {
    after.starts_with(":.") || after.starts_with(":{")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known {
            node: Some("gpu-1".to_owned()),
            hami: None,
            pod: Some(("ml".to_owned(), "train-0".to_owned())),
            card: None,
            subjects: vec!["deployment/ml/train".to_owned()],
        }
    }

    #[test]
    fn what_is_known_is_filled_in_and_the_rest_is_marked() {
        let plugin = Known {
            pod: Some(("gpu".to_owned(), "nvidia-dcgm-exporter-x7k2p".to_owned())),
            ..known()
        };
        assert_eq!(
            plugin.fill("kubectl -n NAMESPACE set env ds/NAME A=1"),
            "kubectl -n gpu set env ds/nvidia-dcgm-exporter A=1"
        );
        for (command, filled) in [
            ("kubectl exec POD -- ls", "kubectl exec train-0 -n ml -- ls"),
            (
                "kubectl delete pod POD -n NAMESPACE",
                "kubectl delete pod train-0 -n ml",
            ),
            (
                "kubectl -n NAMESPACE logs POD",
                "kubectl -n ml logs train-0",
            ),
            (
                "kubectl get pods -A | grep POD",
                "kubectl get pods -A | grep train-0",
            ),
            (
                "kubectl cp NAMESPACE/POD:/tmp x",
                "kubectl cp ml/train-0:/tmp x",
            ),
            (
                "kubectl scale -n NAMESPACE deployment/NAME",
                "kubectl scale -n ml deployment/train",
            ),
            ("kubectl drain NODE", "kubectl drain gpu-1"),
            ("nvidia-smi -i BUS_ID", "nvidia-smi -i <bus-id>"),
        ] {
            assert_eq!(known().fill(command), filled);
        }
    }

    #[test]
    fn words_of_a_command_stay() {
        for command in [
            "kubectl get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName",
            "echo $NODE ${POD}",
            "nvidia-smi -q -d PERFORMANCE,ECC",
            "dmesg | grep NVRM",
        ] {
            assert_eq!(known().fill(command), command);
        }
    }

    #[test]
    fn open_names_are_explained() {
        let commands = ["nvidia-smi -i <bus-id>", "kubectl logs <pod>"];
        let names: Vec<String> = meanings(commands.into_iter())
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["<pod>", "<bus-id>"]);
    }
}
