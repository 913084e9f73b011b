//! What runs on a GPU and how it is cut: processes, and slices of a GPU with MIG.

use super::tree::Tree;
use super::values::{count, known, number};

/// A process that nvidia-smi lists on a GPU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Client {
    /// Process id, as the host counts.
    pub pid: u64,
    /// Name.
    pub name: String,
    /// Memory held, in MiB; none where the driver does not say.
    pub memory: Option<i64>,
    /// GPU instance that it runs in; none without MIG.
    pub instance: Option<u64>,
}

/// A slice of a GPU with MIG.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slice {
    /// GPU instance.
    pub instance: u64,
    /// Memory in MiB.
    pub memory: Option<i64>,
    /// Memory used, in MiB.
    pub memory_used: Option<i64>,
}

/// Processes of a card's part of `-q`: XML gives each an element, text the same labels one below the other.
pub(super) fn clients(card: &Tree) -> Vec<Client> {
    let Some(list) = card.below("processes") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut instance = None;
    for one in &list.children {
        match one.label.as_str() {
            "gpu_instance_id" => instance = count(&one.value),
            "process_id" => found.extend(client(one, count(&one.value), instance)),
            "process_info" => {
                let own = one.at(&["gpu_instance_id"]).and_then(count);
                found.extend(client(one, one.at(&["pid"]).and_then(count), own));
            }
            _ => {}
        }
    }
    found
}

fn client(tree: &Tree, pid: Option<u64>, instance: Option<u64>) -> Option<Client> {
    let memory = tree.at(&["used_memory", "used_gpu_memory"]);
    let name = tree.at(&["process_name", "name"]).and_then(known);
    Some(Client {
        pid: pid?,
        name: name.unwrap_or_default().to_owned(),
        memory: memory.and_then(|value| number(value, "MiB")),
        instance,
    })
}

/// MIG devices of a card's part of `-q`. XML has them below a heading, text beside the GPU's other sections.
pub(super) fn slices(card: &Tree) -> Vec<Slice> {
    let below = card.below("mig_devices").into_iter();
    let below = below.flat_map(|devices| devices.all("mig_device"));
    let devices = below.chain(card.all("mig_device"));
    devices.filter_map(slice).collect()
}

fn slice(device: &Tree) -> Option<Slice> {
    let mib = |path: &str| device.at(&[path]).and_then(|value| number(value, "MiB"));
    Some(Slice {
        instance: device.at(&["gpu_instance_id"]).and_then(count)?,
        memory: mib("fb_memory_usage.total"),
        memory_used: mib("fb_memory_usage.used"),
    })
}

/// `  0    2   0   0  | 26MiB / 40448MiB `: of the table's rows of MIG devices, GPU and slice.
pub(super) fn slice_row(cells: &[&str]) -> Option<(u64, Slice)> {
    let first = cells.first().filter(|_| cells.len() > 1)?;
    let numbers: Option<Vec<u64>> = first
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    let numbers = numbers.filter(|all| all.len() == 4)?;
    let (used, total) = cells.get(1)?.split_once('/').unwrap_or_default();
    let slice = Slice {
        instance: *numbers.get(1)?,
        memory: number(total.trim(), "MiB"),
        memory_used: number(used.trim(), "MiB"),
    };
    Some((*numbers.first()?, slice))
}

/// `    0   N/A  N/A     90113      C   VLLM::EngineCore      42516MiB `: GPU and process. Older drivers print no
/// instances.
pub(super) fn client_row(cells: &[&str]) -> Option<(u64, Client)> {
    let [row] = cells else { return None };
    let words: Vec<&str> = row.split_whitespace().collect();
    let kind = words
        .iter()
        .position(|word| matches!(*word, "C" | "G" | "C+G" | "M+C"))?;
    let pid = words.get(kind.checked_sub(1)?)?.parse().ok()?;
    let (memory, name) = words.get(kind + 1..)?.split_last()?;
    let client = Client {
        pid,
        name: name.join(" "),
        memory: number(memory, "MiB"),
        instance: words.get(1).filter(|_| kind == 4).and_then(|id| count(id)),
    };
    Some((words.first()?.parse().ok()?, client))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    const XML: &str = "<nvidia_smi_log><gpu id=\"00000000:17:00.0\"><mig_devices><mig_device>\
        <gpu_instance_id>2</gpu_instance_id><fb_memory_usage><total>20096 MiB</total><used>37 MiB</used>\
        </fb_memory_usage></mig_device></mig_devices><processes><process_info><gpu_instance_id>2</gpu_instance_id>\
        <pid>41</pid><type>C</type><process_name>python3</process_name><used_memory>30 MiB</used_memory>\
        </process_info></processes></gpu></nvidia_smi_log>";
    const QUERY: &str = "==============NVSMI LOG==============\nAttached GPUs : 1\nGPU 00000000:17:00.0\n    \
        Product Name : X\n    Processes\n        GPU instance ID : 2\n        Compute instance ID : 0\n        \
        Process ID : 41\n            Type : C\n            Name : python3\n            Used GPU Memory : 30 MiB\n";
    const TABLE: &str = "| NVIDIA-SMI 580.95.05  Driver Version: 580.95.05  CUDA Version: 13.0 |\n\
        |   0  NVIDIA L40S    On  |   00000000:17:00.0 Off |    0 |\n\
        | N/A   34C    P0   71W /  400W |   42524MiB /  46068MiB |      0%      Default |\n\
        | MIG devices: |\n|  0    2   0   0  |     37MiB / 20096MiB  | 60 0 |\n| Processes: |\n\
        |    0     2    0          41      C   python3 -m x          30MiB |\n";

    #[test]
    fn a_process_and_its_slice_are_read_from_every_form() {
        let named = Client {
            pid: 41,
            name: "python3".into(),
            memory: Some(30),
            instance: Some(2),
        };
        let cut = Slice {
            instance: 2,
            memory: Some(20_096),
            memory_used: Some(37),
        };
        let card = |text: &str| read(text).unwrap().cards.remove(0).1;
        let xml = card(XML);
        assert_eq!(
            (&xml.clients[..], &xml.slices[..]),
            (&[named.clone()][..], &[cut.clone()][..])
        );
        assert_eq!(card(QUERY).clients, std::slice::from_ref(&named));
        let table = card(TABLE);
        assert_eq!(table.slices, [cut]);
        let name = "python3 -m x".into();
        assert_eq!(table.clients, [Client { name, ..named }]);
    }

    #[test]
    fn a_row_that_is_no_process_is_none() {
        assert_eq!(client_row(&["  No running processes found  "]), None);
        assert_eq!(
            client_row(&["  GPU   GI   CI   PID   Type   Process name  "]),
            None
        );
        let old = client_row(&["    0      2154      C   python      7000MiB "])
            .unwrap()
            .1;
        assert_eq!((old.pid, old.instance), (2154, None));
    }
}
