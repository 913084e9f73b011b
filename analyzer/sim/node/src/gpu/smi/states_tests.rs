//! States of every recorded output with states, and the lists among them that are broken.

use super::read;
use super::tests::{EXPECTED, recorded};

/// File, performance state, MIG mode, ECC mode, memory in MiB, whole watts, reasons for lower clocks: of the first GPU,
/// read off the file by hand. What the driver calls N/A is not reported.
type States = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    i64,
    Option<i64>,
    &'static [&'static str],
);

const STATES: [States; 14] = [
    (
        "a100-sxm4-v12.xml",
        "P0",
        "Enabled",
        "Enabled",
        81920,
        Some(67),
        &[],
    ),
    ("gtx-1070-ti.xml", "P8", "", "", 4096, None, &[]),
    ("gtx-1660-ti.xml", "P8", "", "", 5912, Some(8), &[]),
    ("quadro-p2000-v12.xml", "P8", "", "", 5120, Some(4), &[]),
    ("quadro-p400.xml", "P8", "", "", 1998, None, &[]),
    ("rtx-3060-v12.xml", "P8", "", "", 12288, Some(11), &[]),
    ("rtx-3080-v12.xml", "P8", "", "", 10240, Some(22), &[]),
    ("rtx-3090-v12.xml", "P8", "", "", 24576, Some(27), &[]),
    ("tesla_p4.xml", "P8", "", "", 1024, None, &[]),
    (
        "nvidia-smi-query.535.129.03.out.0.valid.a10",
        "P8",
        "",
        "Enabled",
        23028,
        Some(43),
        &[],
    ),
    (
        "nvidia-smi-query.535.154.05.out.0.valid",
        "P2",
        "",
        "Disabled",
        24564,
        Some(67),
        &[],
    ),
    (
        "nvidia-smi-query.535.154.05.out.0.valid.4090",
        "P8",
        "",
        "Disabled",
        24564,
        Some(17),
        &[],
    ),
    (
        "nvidia-smi-query.535.154.05.out.2.valid",
        "P8",
        "",
        "Disabled",
        24564,
        Some(22),
        &[],
    ),
    (
        "nvidia-smi-query.535.161.08.out.0.valid",
        "P0",
        "Disabled",
        "Enabled",
        81559,
        Some(67),
        &["hw-slowdown", "hw-power-brake"],
    ),
];

#[test]
fn every_recorded_output_with_states_gives_them() {
    let Some(files) = recorded("every_recorded_output_with_states_gives_them") else {
        return;
    };
    for (name, pstate, mig, ecc, memory, power, slowdowns) in STATES {
        let text = &files.iter().find(|(file, _)| file == name).unwrap().1;
        let card = &read(text).unwrap().cards[0].1;
        assert_eq!(card.performance_state, pstate, "{name}");
        assert_eq!(
            (card.mig.as_str(), card.ecc_mode.as_str()),
            (mig, ecc),
            "{name}"
        );
        assert_eq!((card.memory, card.power), (Some(memory), power), "{name}");
        assert_eq!(
            card.slowdowns, slowdowns,
            "{name}: an idle GPU is not slowed down"
        );
    }
}

/// Index, name, UUID and memory of each GPU that a list tells.
type Listed = (Option<u64>, &'static str, &'static str, Option<i64>);

const L4: &str = "GPU-24598a07-f97d-fc79-86de-485c4c82d01c";
const A1: &str = "GPU-63110aaa-3561-c8f5-e125-4ab40bbcf838";
const SECOND: &str = "GPU-c9bd25dc-c0c4-3ab6-8f7f-3ad16d6bde4a";

/// Lists that are broken or unusual, and what of them can be told without guessing.
const LISTS: [(&str, &[Listed]); 8] = [
    (
        "nvidia.invalid_active_clocks_event_reasons_3.txt",
        &[(None, "NVIDIA L4", "", None), (None, "NVIDIA A1", "", None)],
    ),
    (
        "nvidia.nvidia_smi_l_input_2.txt",
        &[
            (
                Some(0),
                "NVIDIA T1000",
                "GPU-c05fe28c-5935-1c6d-3633-2fc61d26b6d4",
                None,
            ),
            (
                Some(1),
                "Tesla V100-PCIE-16GB",
                "GPU-b08ecee0-0ea5-7b07-d459-baa5b95f5e89",
                None,
            ),
        ],
    ),
    ("nvidia.nvidia_smi_l_unparsable_1.txt", &[]),
    (
        "nvidia.nvidia_smi_l_unparsable_2.txt",
        &[
            (Some(0), "NVIDIA A100-PCIE-40GB", A1, None),
            (Some(2), "NVIDIA A100-PCIE-40GB", SECOND, None),
        ],
    ),
    (
        "nvidia.nvidia_smi_l_unparsable_4.txt",
        &[(Some(0), "NVIDIA A100-PCIE-40GB", A1, None)],
    ),
    ("nvidia.nvidia_smi_query_gpu_data_ex_1.txt", &[]),
    (
        "nvidia.nvidia_smi_query_gpu_data_ex_empty_field.txt",
        &[
            (Some(0), "NVIDIA L4", "", Some(23034)),
            (Some(1), "NVIDIA A1", A1, Some(16280)),
        ],
    ),
    (
        "nvidia.nvidia_smi_query_gpu_data_ex_missing_field.txt",
        &[
            (Some(0), "NVIDIA L4", L4, None),
            (Some(1), "NVIDIA A1", A1, Some(16280)),
        ],
    ),
];

#[test]
fn of_a_broken_list_what_stands_there_is_read_and_nothing_is_guessed() {
    let Some(files) = recorded("of_a_broken_list_what_stands_there_is_read") else {
        return;
    };
    for (name, listed) in LISTS {
        let text = &files.iter().find(|(file, _)| file == name).unwrap().1;
        let report = read(text).unwrap_or_default();
        let cards: Vec<Listed> = report
            .cards
            .iter()
            .map(|(_, card)| {
                let (index, memory) = (card.index, card.memory);
                let name = listed
                    .iter()
                    .map(|one| one.1)
                    .find(|name| *name == card.name);
                let uuid = listed
                    .iter()
                    .map(|one| one.2)
                    .find(|uuid| *uuid == card.uuid);
                (
                    index,
                    name.unwrap_or("another name"),
                    uuid.unwrap_or("another UUID"),
                    memory,
                )
            })
            .collect();
        assert_eq!(cards, listed, "{name}");
    }
    for (name, _) in &files {
        let told =
            EXPECTED.iter().any(|one| one.0 == name) || LISTS.iter().any(|one| one.0 == name);
        assert!(told, "nothing is asserted of {name}");
    }
    assert_eq!(files.len(), EXPECTED.len() + LISTS.len());
}
