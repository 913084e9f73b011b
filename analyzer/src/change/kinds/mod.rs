//! The kinds of change, one a file. To add one, write a file with a struct that is a [`Kind`] and name it in the list below.

mod generated;
mod iptables_rule;
mod nft_policy;
mod nft_text;
mod node_file;
mod object;
mod object_patch;
mod patch;
mod pod_merge;
mod sets;
mod toml_text;
mod toolkit_writes;
mod ufw_rule;
mod workload;
mod workload_steps;
mod yaml_edit;

use casefile_bundle::Entry;
use casefile_bundle::entry::OBJECTS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::captured::Captured;
use super::{Kind, Refused};

/// Makes the modules of the kinds and the type of a change: any one of them.
macro_rules! changes {
    ($($file:ident::$name:ident = $about:literal $(as $rename:literal)?,)*) => {
        $(pub mod $file;)*

        /// One change. In a rule every text may hold `{signal.field}`.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Change {
            $(#[doc = $about] $(#[serde(rename = $rename)])? $name($file::$name),)*
        }

        impl Change {
            /// The kinds as their files are called; rules write `-` for `_`.
            pub const KINDS: &[&str] = &[$(stringify!($file),)*];

            /// The change as its kind.
            pub fn kind(&self) -> &dyn Kind {
                match self {
                    $(Change::$name(change) => change,)*
                }
            }

            pub(super) fn kind_mut(&mut self) -> &mut dyn Kind {
                match self {
                    $(Change::$name(change) => change,)*
                }
            }

            /// Each kind with the texts of a trial wherever it takes one.
            #[cfg(test)]
            pub(crate) fn tried(trial: &Trial<'_>) -> Vec<Change> {
                let of_kinds = [$((stringify!($name), $file::tried(trial)),)*];
                let read = |(kind, tried): (&str, Vec<Value>)| {
                    assert!(!tried.is_empty(), "{kind} is not tried");
                    tried
                };
                let all = of_kinds.into_iter().flat_map(read);
                all.map(|one| serde_json::from_value(one).unwrap()).collect()
            }
        }
    };
}

changes! {
    helm_values::HelmValues = " Merge values into a helm release.",
    helm_key::HelmKey = " Move a value of a helm release to the key that its chart reads.",
    helm_env::HelmEnv = " Take a variable out of a helm release's values.",
    helm_rollback::HelmRollback = " Roll a helm release back to an earlier revision.",
    helm_again::HelmAgain = " Apply a helm release's revision once more, where its objects were changed beside helm; no replay can show it.",
    ufw_route::UfwRoute = " Add routed-traffic rules to ufw.",
    host_file::HostFile = " Write or remove a file of the node.",
    containerd_runtime::ContainerdRuntime = " Define a runtime handler in a containerd's configuration.",
    containerd_import::ContainerdImport = " Let a containerd import a folder of drop-ins.",
    containerd_unimport::ContainerdUnimport = " Let a containerd import no drop-ins of another program's folder.",
    cni_folder::CniFolder = " Let a containerd look for the network's programs where they lie; no replay can show it.",
    containerd_section::ContainerdSection = " Repeat a containerd's CRI section in the drop-in that replaces it.",
    containerd_registry::ContainerdRegistry = " Move a containerd's registry mirrors to the hosts directory.",
    registry_folder::RegistryFolder = " Put a registry's settings into the folder that containerd looks into; no replay can show it.",
    toml_type::TomlType = " Take the quotes from a number or truth value of a containerd's configuration.",
    volume_attachment::VolumeAttachment = " Delete the attachment of a volume to a node that is gone.",
    sysctl::Sysctl = " Set a kernel parameter.",
    swap_off::SwapOff = " Take a node's swap out of use.",
    file_owner::FileOwner = " Change owner and mode of a file or folder of the node.",
    link_feature::LinkFeature = " Switch a feature of a network device off; no replay can show it.",
    cdi_spec::CdiSpec = " Have a node's cards described for containers; no replay can show it.",
    image_removal::ImageRemoval = " Remove images of a node; no replay can show it.",
    restart::Restart = " Restart a unit, so that it reads its files again.",
    time_service::TimeService = " Start a node's time service anew; no replay can show it.",
    kube_object::KubeObject = " Create or patch a Kubernetes object.",
    iptables::Iptables = " Add or remove rules of iptables.",
    nft_rule::NftRule = " Delete a rule of nftables, or set a chain's policy to accept.",
    firewalld::Firewalld = " Put interfaces and ranges into a zone of firewalld.",
    kubelet_config::KubeletConfig = " Change the kubelet's configuration file.",
    kubelet_flag::KubeletFlag = " Change a flag of the kubelet.",
    unknown_flag::UnknownFlag = " Take a flag out that the kubelet does not know.",
    node_ip::NodeIp = " Set the address that a kubelet gives for its node; no replay can show it.",
    kubelet_unquote::KubeletUnquote = " Take quotes out of the kubelet's flags.",
    unit::Unit = " Change a systemd unit, by a drop-in where one suffices.",
    docker_daemon::DockerDaemon = " Change Docker's daemon.json.",
    docker_directive::DockerDirective = " Take a key out of Docker's daemon.json that keeps it from starting.",
    pod_spec::PodSpec = " Change a pod's spec where the pod comes from.",
    hami_cards::HamiCards = " Let a pod ask HAMi for no more cards than a node has.",
    hami_whole::HamiWhole = " Let a pod ask for whole GPUs instead of HAMi's shares.",
    image_arch::ImageArch = " Let a pod run on nodes of the architecture that its image fits.",
    recreate::Recreate = " Let a Deployment stop its old pod before it starts a new one; no replay can show it.",
    preset_node::PresetNode = " Let a workload select its node by a label instead of naming it; no replay can show it.",
    plugin_folder::PluginFolder = " Let a device plugin mount the folder of the kubelet's sockets; no replay can show it.",
    host_port::HostPort = " Let a pod do without ports of its node.",
    scratch_volume::ScratchVolume = " Mount an empty volume where a pod's program writes.",
    raised_limit::RaisedLimit = " Raise a limit of a pod that it ran into; no replay can show it.",
    probe_time::ProbeTime = " Give a probe more time before it ends its container; no replay can show it.",
    search_dots::SearchDots = " Let a pod look up names with a dot without its search list first; no replay can show it.",
    image_name::ImageName = " Write an image's name as a reference; no replay can show it.",
    claim_size::ClaimSize = " Enlarge a claim that a pod has filled; no replay can show it.",
    pod_restart::PodRestart = " Delete a pod, so that its controller makes a new one; no replay can show it.",
    toleration::Toleration = " Let a pod tolerate a taint.",
    label::Label = " Set or remove a label.",
    annotation::Annotation = " Set or remove an annotation.",
    taint::Taint = " Set or remove a taint of a node.",
    configmap::ConfigMap = " Change a key of a configmap." as "configmap",
    sharing_config::SharingConfig = " Move sharing fields of a device plugin's configuration to where it reads them.",
    default_class::DefaultClass = " Make a StorageClass the default.",
    class_copy::ClassCopy = " Create a StorageClass that claims name, with the storage of another.",
    quota::Quota = " Raise a quota that refuses pods.",
    limit_range::LimitRange = " Widen a LimitRange that refuses pods.",
    webhook_policy::WebhookPolicy = " Let the API server go on without a webhook that does not answer.",
    api_right::ApiRight = " Give a service account the right that it lacks.",
    daemonset_node::DaemonSetNode = " Let a DaemonSet's pods run on a node." as "daemonset-node",
    package::Package = " Install another version of a package or driver; no replay can show it.",
    hardware::Hardware = " Reset or replace a part; no replay can show it.",
    reboot::Reboot = " Reboot a node; no replay can show it.",
    manual::Manual = " Anything else that no replay can show.",
}

/// What each kind is tried with, in scripts that a hostile text must not break.
#[cfg(test)]
pub(crate) struct Trial<'a> {
    /// The node whose files the sandbox has.
    pub(crate) node: &'a str,
    /// The text.
    pub(crate) bad: &'a str,
    /// The same as one segment of a path.
    pub(crate) segment: &'a str,
}

/// The items of a Kubernetes list of the bundle, edited by `edit`; one item a line, as the collector writes it.
fn edit_list(
    state: &mut Captured,
    path: &str,
    edit: impl FnOnce(&mut Vec<Value>) -> Result<(), Refused>,
) -> Result<(), Refused> {
    let text = state.now(path).unwrap_or_default();
    let mut list: Value = if text.is_empty() {
        serde_json::json!({"kind": "List", "apiVersion": "v1", "items": []})
    } else {
        serde_json::from_str(&text).map_err(|error| Refused::new(format!("{path}: {error}")))?
    };
    let Some(Value::Array(items)) = list.get_mut("items").map(Value::take) else {
        return Err(Refused::new(format!("{path} is no list of objects")));
    };
    let mut items = items;
    edit(&mut items)?;
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    let head = |name: &str| list.get(name).cloned().unwrap_or_default();
    let text = format!(
        "{{\"kind\":{},\"apiVersion\":{},\"items\":[\n{}\n]}}\n",
        head("kind"),
        head("apiVersion"),
        lines.join(",\n")
    );
    state.set(path, text);
    Ok(())
}

/// The objects of all collected lists of a folder such as `daemonsets`, whatever their namespace.
fn objects(state: &mut Captured, folder: &str) -> Vec<Value> {
    let folder = format!("{OBJECTS}{folder}/");
    let lists = state
        .paths()
        .filter(|path| path.starts_with(&folder) && path.ends_with(".json"));
    let lists: Vec<String> = lists.map(str::to_owned).collect();
    let items = lists.iter().filter_map(|path| {
        let mut list: Value = serde_json::from_str(&state.now(path)?).ok()?;
        list.get_mut("items")?.as_array_mut().map(std::mem::take)
    });
    items.flatten().collect()
}

/// The objects of one collected list, or why `what` is not known.
fn listed(state: &mut Captured, path: &str, what: &str) -> Result<Vec<Value>, Refused> {
    let text = state.now(path).ok_or_else(|| {
        Refused::new(format!(
            "{path} is not in the bundle, so {what} are not known"
        ))
    })?;
    let list: Value =
        serde_json::from_str(&text).map_err(|error| Refused::new(format!("{path}: {error}")))?;
    let items = list["items"].as_array().cloned();
    items.ok_or_else(|| Refused::new(format!("{path}: it is no list of objects")))
}

/// A collected file of a helm release's values and its path, or why `what` is not known.
fn values_of(
    state: &mut Captured,
    (namespace, release, file): (&str, &str, &str),
    what: &str,
) -> Result<(String, Value), Refused> {
    let path = Entry::Helm(namespace, release, file).path();
    let text = state
        .now(&path)
        .ok_or_else(|| Refused::new(format!("{path} is not in the bundle, so {what} not known")))?;
    let values = yaml(&path, &text)?;
    Ok((path, values))
}

/// Merges as helm does: maps key by key, null removes, everything else replaces.
fn merge(into: &mut Value, delta: &Value) {
    match (into, delta) {
        (Value::Object(into), Value::Object(delta)) => {
            for (key, value) in delta {
                if value.is_null() {
                    into.remove(key);
                } else {
                    merge(into.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (into, delta) => *into = delta.clone(),
    }
}

/// The same, nulls kept: both are changes to merge.
fn add(into: &mut Value, delta: &Value) {
    match (into, delta) {
        (Value::Object(into), Value::Object(delta)) => {
            for (key, value) in delta {
                add(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, delta) => *into = delta.clone(),
    }
}

/// Reads YAML, or says where it is wrong.
fn yaml(what: &str, text: &str) -> Result<Value, Refused> {
    serde_saphyr::from_str(text).map_err(|error| Refused::new(format!("{what}: {error}")))
}

/// Writes YAML.
fn to_yaml(value: &Value) -> Result<String, Refused> {
    serde_saphyr::to_string(value).map_err(|error| Refused::new(error.to_string()))
}

/// The named node, also as `node/NAME`, or the only one whose files the bundle holds.
fn node(named: Option<&str>, state: &Captured) -> Result<String, Refused> {
    let named = named.map(|name| name.strip_prefix("node/").unwrap_or(name).to_owned());
    named.or_else(|| state.only_node()).ok_or_else(|| {
        Refused::new(
            "the bundle holds files of no node or of several; name the node of this change",
        )
    })
}

/// The entry of a host file.
fn entry(node: &str, path: &str) -> String {
    Entry::Rootfs(node, path).path()
}

/// What the entries of a node's copied files start with; the path on the node follows, with its slash.
fn copies(node: &str) -> String {
    Entry::Node(node, "rootfs").path()
}

/// The named file, or the first of the usual ones, that was collected of a node.
fn first_collected(
    state: &mut Captured,
    node: &str,
    named: Option<&str>,
    usual: &[&str],
) -> Result<String, Refused> {
    let wanted: Vec<&str> = named.map_or_else(|| usual.to_vec(), |path| vec![path]);
    let found = wanted
        .iter()
        .find(|path| state.now(&entry(node, path)).is_some());
    found.map(|path| (*path).to_owned()).ok_or_else(|| {
        Refused::new(format!(
            "the bundle holds none of {} of node {node}, so nothing can be shown about the kubelet's settings",
            wanted.join(", ")
        ))
    })
}

/// The list without each of its items in turn; nothing smaller comes of a list of one.
fn each_left_out<T: Clone>(all: &[T]) -> Vec<Vec<T>> {
    if all.len() < 2 {
        return Vec::new();
    }
    let without = |skip: usize| {
        let kept = all.iter().enumerate().filter(|(index, _)| *index != skip);
        kept.map(|(_, one)| one.clone()).collect()
    };
    (0..all.len()).map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::merge;
    use serde_json::json;

    /// What Helm 4.0's own engine gives for these values.
    #[test]
    fn values_merge_as_helm_merges_them() {
        let mut values = json!({"a": 1, "b": {"c": 1, "d": 2}, "l": [1, 2], "m": {"x": [{"name": "a", "v": 1}]}});
        merge(
            &mut values,
            &json!({"b": {"c": null}, "l": [3], "m": {"x": [{"name": "b"}]}}),
        );
        assert_eq!(
            values,
            json!({"a": 1, "b": {"d": 2}, "l": [3], "m": {"x": [{"name": "b"}]}})
        );
    }
}
