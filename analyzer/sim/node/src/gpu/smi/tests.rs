//! Every recorded output beside the checkout, and labels that drivers renamed.

use std::path::PathBuf;

use super::*;

pub(super) fn recorded(test: &str) -> Option<Vec<(String, String)>> {
    let root = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../../shared/data/nvidia-smi"
    ));
    if !root.is_dir() {
        println!("skipped: {test}: no recorded output of nvidia-smi beside the checkout");
        return None;
    }
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).unwrap().map(Result::unwrap) {
        for file in std::fs::read_dir(folder.path())
            .unwrap()
            .map(Result::unwrap)
        {
            let name = file.file_name().to_string_lossy().into_owned();
            files.push((name, std::fs::read_to_string(file.path()).unwrap()));
        }
    }
    files.sort();
    Some(files)
}

/// File, GPUs, driver, CUDA, name of the first GPU, its temperature.
pub(super) type Expected = (
    &'static str,
    usize,
    Option<&'static str>,
    Option<&'static str>,
    &'static str,
    Option<i64>,
);

pub(super) const EXPECTED: [Expected; 22] = [
    (
        "a100-sxm4-v12.xml",
        1,
        Some("535.54.03"),
        Some("12.2"),
        "NVIDIA A100-SXM4-80GB",
        Some(27),
    ),
    (
        "gtx-1070-ti.xml",
        1,
        None,
        None,
        "GeForce GTX 1070 Ti",
        Some(39),
    ),
    (
        "gtx-1660-ti.xml",
        1,
        Some("418.43"),
        Some("10.1"),
        "Graphics Device",
        Some(40),
    ),
    (
        "nvidia-smi-query.535.129.03.out.0.valid.a10",
        1,
        Some("535.129.03"),
        Some("12.2"),
        "NVIDIA A10",
        None,
    ),
    (
        "nvidia-smi-query.535.154.05.out.0.valid",
        8,
        Some("535.154.05"),
        Some("12.2"),
        "NVIDIA GeForce RTX 4090",
        None,
    ),
    (
        "nvidia-smi-query.535.154.05.out.0.valid.4090",
        8,
        Some("535.154.05"),
        Some("12.2"),
        "NVIDIA GeForce RTX 4090",
        None,
    ),
    (
        "nvidia-smi-query.535.154.05.out.2.valid",
        8,
        Some("535.154.05"),
        Some("12.2"),
        "NVIDIA GeForce RTX 4090",
        None,
    ),
    (
        "nvidia-smi-query.535.161.08.out.0.valid",
        8,
        Some("535.161.08"),
        Some("12.2"),
        "NVIDIA H100 80GB HBM3",
        Some(29),
    ),
    (
        "nvidia-smi.525.125.06.out.0.valid",
        1,
        Some("525.125.06"),
        Some("12.0"),
        "",
        Some(38),
    ),
    (
        "nvidia.active_clocks_event_reasons.txt",
        3,
        None,
        None,
        "NVIDIA L4",
        None,
    ),
    (
        "nvidia.invalid_active_clocks_event_reasons_4.txt",
        2,
        None,
        None,
        "NVIDIA L4",
        None,
    ),
    (
        "nvidia.nvidia_smi_l_input_1.txt",
        2,
        None,
        None,
        "NVIDIA A100-PCIE-40GB",
        None,
    ),
    (
        "nvidia.nvidia_smi_l_input_3.txt",
        8,
        None,
        None,
        "Quadro RTX 8000",
        None,
    ),
    (
        "nvidia.nvidia_smi_l_unparsable_3.txt",
        1,
        None,
        None,
        "NVIDIA A100-PCIE-40GB",
        None,
    ),
    (
        "nvidia.nvidia_smi_query_gpu_data_1.txt",
        3,
        None,
        None,
        "NVIDIA L4",
        None,
    ),
    (
        "nvidia.nvidia_smi_query_gpu_data_ex_extra_space.txt",
        2,
        None,
        None,
        "NVIDIA L4",
        None,
    ),
    (
        "quadro-p2000-v12.xml",
        1,
        Some("525.125.06"),
        Some("12.0"),
        "Quadro P2000",
        Some(34),
    ),
    (
        "quadro-p400.xml",
        1,
        Some("418.43"),
        Some("10.1"),
        "Quadro P400",
        Some(33),
    ),
    (
        "rtx-3060-v12.xml",
        1,
        Some("570.124.04"),
        Some("12.8"),
        "NVIDIA GeForce RTX 3060",
        Some(42),
    ),
    (
        "rtx-3080-v12.xml",
        1,
        Some("536.40"),
        Some("12.2"),
        "NVIDIA GeForce RTX 3080",
        Some(31),
    ),
    (
        "rtx-3090-v12.xml",
        1,
        Some("525.147.05"),
        Some("12.0"),
        "NVIDIA GeForce RTX 3090",
        Some(37),
    ),
    (
        "tesla_p4.xml",
        1,
        Some("513.46"),
        Some("11.6"),
        "GRID P4-1Q",
        Some(0),
    ),
];

#[test]
fn every_recorded_output_gives_its_counts_versions_and_names() {
    let Some(files) = recorded("every_recorded_output_gives_its_counts_versions_and_names") else {
        return;
    };
    for (name, gpus, driver, cuda, first, temperature) in EXPECTED {
        let text = &files.iter().find(|(file, _)| file == name).unwrap().1;
        let report = read(text).unwrap();
        assert_eq!(report.cards.len(), gpus, "{name}: GPUs");
        assert_eq!(report.driver.as_deref(), driver, "{name}: driver");
        assert_eq!(report.cuda.as_deref(), cuda, "{name}: CUDA");
        let card = &report.cards[0].1;
        assert_eq!(card.name, first, "{name}");
        if temperature.is_some() {
            assert_eq!(card.temperature, temperature, "{name}");
        }
        assert_eq!(card.trouble, "", "{name}");
    }
    for (name, text) in &files {
        let report = read(text).unwrap_or_default();
        for (line, card) in &report.cards {
            let begins = text.lines().nth(*line as usize - 1).unwrap_or_default();
            let key = [card.uuid.as_str(), card.bus_id.as_str(), card.name.as_str()];
            let told = begins.contains("<gpu")
                || key
                    .iter()
                    .any(|key| !key.is_empty() && begins.contains(key));
            assert!(told, "{name}:{line} is not where the GPU begins: {begins}");
        }
    }
}

#[test]
fn states_of_an_h100_in_text_are_read_and_limits_are_not_taken_for_temperatures() {
    let Some(files) = recorded("states_of_an_h100_in_text_are_read") else {
        return;
    };
    let text = &files
        .iter()
        .find(|(name, _)| name.contains("535.161.08"))
        .unwrap()
        .1;
    let report = read(text).unwrap();
    let card = &report.cards[0].1;
    assert_eq!(report.attached, Some(8));
    assert_eq!(
        (card.bus_id.as_str(), card.architecture.as_str()),
        ("00000000:19:00.0", "Hopper")
    );
    assert_eq!(card.uuid, "GPU-ee7954ec-da95-fd7a-ddfd-c6b32cc2f8aa");
    assert_eq!(
        (card.mig.as_str(), card.ecc_mode.as_str()),
        ("Disabled", "Enabled")
    );
    assert_eq!(
        (
            card.ecc_uncorrectable,
            card.ecc_corrected,
            card.ecc_uncorrectable_total
        ),
        (Some(0), Some(0), Some(0))
    );
    assert_eq!(
        (
            card.remapped_uncorrectable,
            card.remap_pending,
            card.retired_pages
        ),
        (Some(0), Some(false), None)
    );
    assert_eq!(card.slowdowns, ["hw-slowdown", "hw-power-brake"]);
    assert_eq!(
        (card.temperature_slowdown, card.memory_temperature),
        (None, Some(39))
    );
    assert_eq!((card.power, card.power_limit), (Some(67), Some(700)));
    assert_eq!(
        (card.fabric_state.as_str(), card.gsp_firmware.as_str()),
        ("Completed", "535.161.08")
    );
    assert_eq!((card.link_width, card.link_width_max), (Some(16), Some(16)));
}

#[test]
fn states_in_xml_are_read_over_the_generations() {
    let Some(files) = recorded("states_in_xml_are_read_over_the_generations") else {
        return;
    };
    let card = |file: &str| {
        let text = &files.iter().find(|(name, _)| name == file).unwrap().1;
        read(text).unwrap().cards[0].1.clone()
    };
    let a100 = card("a100-sxm4-v12.xml");
    assert_eq!((a100.mig.as_str(), a100.mig_devices), ("Enabled", 4));
    assert_eq!(
        (a100.memory_temperature, a100.temperature_slowdown),
        (Some(44), Some(89))
    );
    assert_eq!((a100.power, a100.power_limit), (Some(67), Some(500)));
    let new = card("rtx-3060-v12.xml");
    assert_eq!(
        (new.recovery_action.as_str(), new.reset_required),
        ("", None),
        "a deprecated value says nothing"
    );
    assert_eq!((new.ecc_uncorrectable, new.memory), (None, Some(12288)));
    let old = card("quadro-p400.xml");
    assert_eq!((old.ecc_uncorrectable, old.power), (None, None));
    assert_eq!(old.slowdowns, Vec::<String>::new());
    let trimmed = card("gtx-1070-ti.xml");
    assert_eq!(
        (trimmed.bus_id.as_str(), trimmed.ecc_uncorrectable),
        ("00000000:01:00.0", None)
    );
}

#[test]
fn labels_that_driver_610_renamed_are_understood_in_all_forms() {
    let table = "| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |\n\
        |   0  NVIDIA B200                    On  |   00000000:63:00.0 Off |                    0 |\n\
        | N/A   26C    P0            139W / 1000W |       0MiB / 183359MiB |      0%      Default |\n\
        |                                         |                        |             Disabled |\n";
    let query = "==============NVSMI LOG==============\n\nDriver Version                            : 610.43.02 [Deprecated]\n\
        KMD Version                               : 610.43.02\n\
        CUDA Version                              : [Deprecated; will be removed in CUDA 14.0. Use CUDA UMD Version instead]\n\
        CUDA UMD Version                          : 13.3\n\nAttached GPUs                             : 1\n\
        GPU 00000000:63:00.0\n    Product Name                          : NVIDIA B200\n";
    let xml = "<nvidia_smi_log><kmd_version>610.43.02</kmd_version><cuda_umd_version>13.3</cuda_umd_version>\
        <attached_gpus>1</attached_gpus><gpu id=\"00000000:63:00.0\"><product_name>NVIDIA B200</product_name></gpu></nvidia_smi_log>";
    for text in [table, query, xml] {
        let report = read(text).unwrap();
        let versions = [&report.driver, &report.module, &report.cuda].map(|one| one.as_deref());
        assert_eq!(
            versions,
            [Some("610.43.02"), Some("610.43.02"), Some("13.3")],
            "{text}"
        );
        assert_eq!(report.cards[0].1.name, "NVIDIA B200");
        assert_eq!(report.cards[0].1.bus_id, "00000000:63:00.0");
    }
    let card = &read(table).unwrap().cards[0].1;
    assert_eq!(
        (card.temperature, card.power, card.power_limit),
        (Some(26), Some(139), Some(1000))
    );
    assert_eq!(
        (
            card.memory,
            card.mig.as_str(),
            card.performance_state.as_str()
        ),
        (Some(183_359), "Disabled", "P0")
    );
}

#[test]
fn values_that_are_not_understood_are_not_read() {
    let xml = "<nvidia_smi_log><driver_version>soon</driver_version><gpu id=\"x\"><temperature><gpu_temp>99 F</gpu_temp></temperature>\
        <ecc_errors><volatile><dram_uncorrectable>-3</dram_uncorrectable></volatile></ecc_errors>\
        <remapped_rows>Unknown Error</remapped_rows><uuid>[GPU is lost]</uuid></gpu></nvidia_smi_log>";
    let report = read(xml).unwrap();
    let card = &report.cards[0].1;
    assert_eq!(
        (report.driver, card.temperature, card.ecc_uncorrectable),
        (None, None, None)
    );
    assert_eq!(
        (card.uuid.as_str(), card.trouble.as_str()),
        ("", "Unknown Error")
    );
    let (_, why) = read("<nvidia_smi_log>\n<gpu>").unwrap_err();
    assert!(!why.is_empty());
}

#[test]
fn a_mode_that_the_firmware_does_not_know_is_no_trouble_and_a_reading_that_fails_is() {
    let trouble = |lines: &str| {
        let text = format!(
            "==============NVSMI LOG==============\n\nAttached GPUs : 1\nGPU 00000000:01:00.0\n{lines}"
        );
        let report = read(&text).unwrap();
        report.cards[0].1.trouble.clone()
    };
    assert_eq!(trouble("    Addressing Mode : Unknown Error\n"), "");
    let power = "    Power Readings\n        Power Draw : Unknown Error\n";
    assert_eq!(trouble(power), "Unknown Error");
    assert_eq!(trouble("    Compute Mode : GPU is lost\n"), "GPU is lost");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_any_reader_panic(head in "(NVIDIA-SMI 1 Driver Version: |NVSMI LOG|<nvidia_smi_log>|GPU 0: |0, x, GPU-)?", body in "[ \\n|:.0-9A-Za-z<>/%-]{0,120}|\\PC{0,60}") {
        let _ = read(&format!("{head}{body}"));
    }
}
