//! What the kubelet measures (`/stats/summary`) and which devices it gave out (its socket of pod resources).

use casefile_bundle::{ANY, Entry};

use serde::Deserialize;

use super::super::node_json::parse_each;
use super::super::{Document, Parsed, Parser, Read};
use super::{quoted, stated};
use crate::facts::metrics::{DeviceGrant, NodeUse, PodUse};

/// Reads `nodes/<node>/commands/kubelet-stats.json`.
pub(in crate::parsers) static STATS: Parser = Parser {
    id: "kubelet-stats",
    reads: &[Entry::Command(ANY, "kubelet-stats.json")],
    read: Read::Whole(parse_stats),
};

/// Reads `nodes/<node>/host/pod-resources.json`.
pub(in crate::parsers) static GRANTS: Parser = Parser {
    id: "pod-resources",
    reads: &[Entry::Host(ANY, "pod-resources.json")],
    read: Read::Whole(parse_grants),
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Summary {
    node: Usage,
    pods: Vec<PodStats>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    cpu: Option<Cpu>,
    memory: Option<Memory>,
    fs: Option<Room>,
    runtime: Option<Runtime>,
    rlimit: Option<Processes>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Cpu {
    usage_nano_cores: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Memory {
    available_bytes: Option<u64>,
    working_set_bytes: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Room {
    available_bytes: Option<u64>,
    capacity_bytes: Option<u64>,
    used_bytes: Option<u64>,
    inodes_free: Option<u64>,
    inodes: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Runtime {
    image_fs: Option<Room>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Processes {
    maxpid: Option<u64>,
    curproc: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodStats {
    pod_ref: Named,
    cpu: Option<Cpu>,
    memory: Option<Memory>,
    #[serde(rename = "ephemeral-storage")]
    ephemeral: Option<Room>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: String,
    namespace: String,
}

fn percent(part: Option<u64>, whole: Option<u64>) -> Option<u64> {
    part?.checked_mul(100)?.checked_div(whole?)
}

fn parse_stats(document: &Document<'_>) -> Parsed {
    let summary: Summary = match serde_json::from_str(document.text) {
        Ok(summary) => summary,
        Err(error) => {
            let text = format!("the kubelet's statistics were not read: {error}");
            return Parsed::problem(document.line(1), text);
        }
    };
    let Summary { node, pods } = summary;
    let fs = node.fs.unwrap_or_default();
    let images = node
        .runtime
        .unwrap_or_default()
        .image_fs
        .unwrap_or_default();
    let limits = node.rlimit.unwrap_or_default();
    let whole = NodeUse {
        node: document.node.to_owned(),
        memory_available: node.memory.and_then(|memory| memory.available_bytes),
        fs_available: fs.available_bytes,
        fs_free_percent: percent(fs.available_bytes, fs.capacity_bytes),
        inodes_free_percent: percent(fs.inodes_free, fs.inodes),
        image_fs_free_percent: percent(images.available_bytes, images.capacity_bytes),
        processes: limits.curproc,
        processes_max: limits.maxpid,
    };
    let said = format!(
        "memory available {} bytes, file system free {} %",
        number(whole.memory_available),
        number(whole.fs_free_percent)
    );
    let mut parsed = Parsed::default();
    parsed.facts.push(stated(document, 1, &said, whole));
    for pod in pods {
        let data = PodUse {
            node: document.node.to_owned(),
            memory: pod.memory.and_then(|memory| memory.working_set_bytes),
            ephemeral: pod.ephemeral.and_then(|room| room.used_bytes),
            millicores: pod
                .cpu
                .and_then(|cpu| cpu.usage_nano_cores)
                .map(|nano| nano / 1_000_000),
            namespace: pod.pod_ref.namespace,
            pod: pod.pod_ref.name,
        };
        let at = document.text.find(&format!("\"{}\"", data.pod));
        let said = format!(
            "{}/{}: memory {} bytes, ephemeral storage {} bytes",
            data.namespace,
            data.pod,
            number(data.memory),
            number(data.ephemeral)
        );
        let place = document.at_offset(at.unwrap_or(0));
        parsed.facts.push(quoted(place, &said, data));
    }
    parsed
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Pod {
    name: String,
    namespace: String,
    containers: Vec<Container>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Container {
    name: String,
    devices: Vec<Devices>,
    dynamic_resources: Vec<Claim>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Devices {
    resource_name: String,
    device_ids: Vec<String>,
    topology: Option<Topology>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Topology {
    nodes: Vec<Numa>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Numa {
    id: i64,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Claim {
    claim_resources: Vec<Claimed>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Claimed {
    driver_name: String,
    device_name: String,
}

fn parse_grants(document: &Document<'_>) -> Parsed {
    parse_each(document, "pod", |pod: Pod, place, object, parsed| {
        let grant = |container: &str, resource: String, devices, numa| DeviceGrant {
            node: document.node.to_owned(),
            namespace: pod.namespace.clone(),
            pod: pod.name.clone(),
            container: container.to_owned(),
            resource,
            devices,
            numa,
        };
        for container in &pod.containers {
            for one in &container.devices {
                let nodes = one.topology.iter().flat_map(|topology| &topology.nodes);
                let numa = nodes.map(|node| node.id).collect();
                let data = grant(
                    &container.name,
                    one.resource_name.clone(),
                    one.device_ids.clone(),
                    numa,
                );
                parsed.facts.push(quoted(place.clone(), object, data));
            }
            for one in container
                .dynamic_resources
                .iter()
                .flat_map(|claim| &claim.claim_resources)
            {
                let devices = vec![one.device_name.clone()];
                let data = grant(
                    &container.name,
                    one.driver_name.clone(),
                    devices,
                    Vec::new(),
                );
                parsed.facts.push(quoted(place.clone(), object, data));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{facts, read};
    use super::*;

    /// After the answer of a kubelet 1.2x that telegraf's kubernetes input and Elastic's metricbeat test with; names and
    /// numbers changed.
    const SUMMARY: &str = r#"{
 "node": {
  "nodeName": "n1",
  "cpu": {"time": "2026-11-20T08:30:07Z", "usageNanoCores": 576996212, "usageCoreNanoSeconds": 774129887054161},
  "memory": {"time": "2026-11-20T08:30:07Z", "availableBytes": 10726387712, "usageBytes": 12313182208, "workingSetBytes": 5081538560, "rssBytes": 35586048},
  "fs": {"time": "2026-11-20T08:30:07Z", "availableBytes": 4220000000, "capacityBytes": 105553100800, "usedBytes": 96754286592, "inodesFree": 30, "inodes": 6553600, "inodesUsed": 6553570},
  "runtime": {"imageFs": {"availableBytes": 84379979776, "capacityBytes": 105553100800, "usedBytes": 5809371475}},
  "rlimit": {"time": "2026-11-20T08:30:08Z", "maxpid": 32768, "curproc": 32011}
 },
 "pods": [
  {
   "podRef": {"name": "foopod", "namespace": "foons", "uid": "6d305b06-8419-11e5-825c-42010af00001"},
   "startTime": "2026-11-05T18:24:32Z",
   "cpu": {"usageNanoCores": 846503000},
   "memory": {"usageBytes": 30789632, "workingSetBytes": 30789632},
   "ephemeral-storage": {"availableBytes": 84379979776, "capacityBytes": 105553100800, "usedBytes": 57344}
  },
  {"podRef": {"name": "stopped", "namespace": "foons", "uid": "x"}, "startTime": null, "containers": null}
 ]
}
"#;

    #[test]
    fn a_node_that_is_nearly_out_of_everything_says_so() {
        let path = "nodes/n1/commands/kubelet-stats.json";
        let node = &facts::<NodeUse>(&STATS, path, SUMMARY)[0].data;
        assert_eq!(
            (node.fs_free_percent, node.inodes_free_percent),
            (Some(3), Some(0))
        );
        assert_eq!(node.image_fs_free_percent, Some(79));
        assert_eq!(
            (node.processes, node.processes_max),
            (Some(32011), Some(32768))
        );
        let pods = facts::<PodUse>(&STATS, path, SUMMARY);
        assert_eq!(pods.len(), 2);
        assert_eq!(
            (pods[0].data.ephemeral, pods[0].data.millicores),
            (Some(57344), Some(846))
        );
        assert_eq!(pods[0].place.line, Some(12));
        assert_eq!(pods[1].data.memory, None, "unknown is not nought");
        assert_eq!(read(&STATS, path, "<html>").problems.len(), 1);
    }

    #[test]
    fn a_container_has_the_devices_of_its_plugin_and_of_its_claims() {
        let text = "{\"pods\":[\n{\"name\":\"train-0\",\"namespace\":\"ml\",\"containers\":[{\"name\":\"main\",\"devices\":[\
            {\"resourceName\":\"nvidia.com/gpu\",\"deviceIds\":[\"GPU-1\",\"GPU-2\"],\"topology\":{\"nodes\":[{\"id\":1}]}}],\
            \"cpuIds\":[],\"dynamicResources\":[{\"claimName\":\"c\",\"claimNamespace\":\"ml\",\"claimResources\":[\
            {\"driverName\":\"gpu.nvidia.com\",\"poolName\":\"n1\",\"deviceName\":\"gpu-3\"}]}]}]}\n]}\n";
        let grants = facts::<DeviceGrant>(&GRANTS, "nodes/n1/host/pod-resources.json", text);
        let said: Vec<_> = grants
            .iter()
            .map(|one| {
                (
                    one.data.resource.as_str(),
                    one.data.devices.join(","),
                    one.data.numa.clone(),
                )
            })
            .collect();
        let expected = [
            ("nvidia.com/gpu", "GPU-1,GPU-2".to_owned(), vec![1]),
            ("gpu.nvidia.com", "gpu-3".to_owned(), vec![]),
        ];
        assert_eq!(said, expected);
    }
}
