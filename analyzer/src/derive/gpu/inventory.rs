//! How many GPUs a node has, how many of them the driver lists, and whether it calls them well.

use casefile_bundle::Entry;

use super::{Known, gpus, host};
use crate::facts::Fact;
use crate::facts::gpu::{Driver, Gpu, GpuInventory};
use crate::gpu::smi::Card;
use crate::model::Place;
use crate::words;

/// What nvidia-smi prints where it cannot list GPUs.
const REFUSALS: [&str; 5] = [
    "NVIDIA-SMI has failed because",
    "NVIDIA-SMI couldn't find libnvidia-ml",
    "Failed to initialize NVML",
    "No devices were found",
    "Unable to determine the device handle",
];

/// The inventory of a node; none where nvidia-smi was not asked.
pub(super) fn fact(
    known: &Known<'_>,
    node: &str,
    listed: &[Fact<Gpu>],
) -> Option<Fact<GpuInventory>> {
    let gpus = gpus(known, node, listed);
    let refusal = refusal(known, node).filter(|_| gpus.is_empty());
    let (text, place) = match (gpus.first(), &refusal) {
        (Some(first), _) => (first.text.clone(), first.place.clone()),
        (None, Some((line, place))) => (line.as_str().into(), place.clone()),
        (None, None) => return None,
    };
    let controllers = host::controllers(known, node);
    let holders = controllers.iter().map(|(one, _)| one.driver.as_str());
    let on_bus = controllers.len();
    let well = gpus.iter().filter(|gpu| is_well(&gpu.data.card)).count();
    let drivers = known.facts.table::<Driver>().iter();
    let mut versions = drivers
        .filter(|one| one.data.node == node)
        .map(|one| one.data.version.as_str())
        .filter(|version| !version.is_empty());
    let data = GpuInventory {
        node: node.to_owned(),
        on_bus: (on_bus > 0).then(|| count(on_bus)),
        listed: count(gpus.len()),
        well: count(well),
        all_well: !gpus.is_empty() && well == gpus.len() && on_bus <= gpus.len(),
        driver: versions.next().unwrap_or_default().to_owned(),
        refusal: refusal.map(|(line, _)| line).unwrap_or_default(),
        module: module(known, node).to_owned(),
        holder: holders.into_iter().max().unwrap_or_default().to_owned(),
        says: match on_bus {
            0 => format!(
                "nvidia-smi lists {}",
                words::count(count(gpus.len()), "GPU")
            ),
            bus => format!(
                "nvidia-smi lists {} of {}",
                gpus.len(),
                words::count(count(bus), "GPU")
            ),
        },
    };
    Some(Fact {
        data,
        place,
        text,
        at: None,
    })
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn is_well(card: &Card) -> bool {
    let faulty = |count: Option<u64>| count.is_some_and(|count| count > 0);
    card.trouble.is_empty()
        && card.reset_required != Some(true)
        && card.remap_pending != Some(true)
        && card.remap_failed != Some(true)
        && !faulty(card.ecc_uncorrectable)
}

/// The first line with which nvidia-smi refuses, by whatever arguments it was asked.
fn refusal(known: &Known<'_>, node: &str) -> Option<(String, Place)> {
    let prefix = Entry::Command(node, "").path();
    let printed = known.documents.range(prefix.clone()..);
    let printed = printed.take_while(|(path, _)| path.starts_with(&prefix));
    let asked = printed.filter(|(path, _)| path[prefix.len()..].contains("nvidia-smi"));
    let mut lines = asked.flat_map(|(path, text)| {
        let lines = text.lines().zip(1_u32..);
        lines.map(move |(line, number)| (path, line, number))
    });
    let refused = lines.find(|(_, line, _)| REFUSALS.iter().any(|refusal| line.contains(refusal)));
    let Some((path, line, number)) = refused else {
        return crash(known, node);
    };
    let place = Place {
        path: path.as_str().into(),
        line: Some(number),
    };
    Some((line.trim().to_owned(), place))
}

/// How nvidia-smi ended where a signal ended it and it printed nothing: the collector's note says so.
fn crash(known: &Known<'_>, node: &str) -> Option<(String, Place)> {
    let manifest = known.manifest.filter(|manifest| manifest.node == node)?;
    let smi = casefile_bundle::sources::NVIDIA_SMI.id;
    let source = manifest.sources.iter().find(|source| source.id == smi)?;
    let ended = |note: &String| {
        let (program, how) = note.split_once(": ")?;
        let asked = program.split(' ').next()?.ends_with("/nvidia-smi");
        (asked && how.starts_with("ended by ")).then(|| format!("nvidia-smi: {how}"))
    };
    let place = Place {
        path: "manifest.json".into(),
        line: None,
    };
    Some((source.notes.iter().find_map(ended)?, place))
}

/// Where the kernel module is: loaded, or on the disk for the running kernel, or neither.
fn module(known: &Known<'_>, node: &str) -> &'static str {
    let document = |name: &str| known.documents.get(&Entry::Node(node, name).path());
    let drivers = known.facts.table::<Driver>().iter();
    let mut own = drivers.filter(|one| one.data.node == node);
    let lists = [
        document("commands/lsmod.out"),
        document("rootfs/proc/modules"),
    ];
    let listed = |text: &&String| text.lines().any(|line| line.starts_with("nvidia "));
    if own.any(|one| !one.data.module.is_empty()) || lists.iter().flatten().any(listed) {
        return "loaded";
    }
    if document("commands/modinfo-nvidia.out").is_some_and(|text| text.contains("vermagic:")) {
        return "on-disk";
    }
    // lspci asks the module index of the running kernel.
    let Some(printed) = document("commands/lspci.out") else {
        return "";
    };
    let modules: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Kernel modules:"))
        .filter(|names| names.contains("nouveau") || names.contains("nvidia"))
        .collect();
    let named = |names: &&str| names.split(',').any(|one| one.trim() == "nvidia");
    match (modules.is_empty(), modules.iter().any(named)) {
        (true, _) => "",
        (false, true) => "on-disk",
        (false, false) => "absent",
    }
}
