//! The table that `nvidia-smi` prints without arguments.

use super::Report;
use super::card::Card;
use super::clients;
use super::tree::is_address;
use super::values::{count, known, number, version};

/// Reads the header and two or three lines a GPU.
pub(super) fn report(text: &str) -> Report {
    let mut report = Report::default();
    let (mut below_mig, mut below_processes) = (false, false);
    for (line, number) in text.lines().zip(1_u32..) {
        if line.contains("NVIDIA-SMI ") && report.line == 0 {
            header(line, number, &mut report);
            continue;
        }
        // A second table in one output starts again.
        below_processes &= !line.contains("NVIDIA-SMI ");
        below_processes |= line.contains("Processes:");
        below_mig = (below_mig || line.contains("MIG devices:")) && !below_processes;
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').collect();
        if below_mig {
            let row = clients::slice_row(&cells);
            if let Some((index, slice)) = row
                && let Some(card) = card_of(index, &mut report)
            {
                card.mig_devices = card.mig_devices.saturating_add(1);
                card.slices.push(slice);
            }
        } else if below_processes {
            let row = clients::client_row(&cells);
            if let Some((index, client)) = row
                && let Some(card) = card_of(index, &mut report)
            {
                card.clients.push(client);
            }
        } else if let Some(card) = first_line(&cells) {
            report.cards.push((number, card));
        } else if let Some((at, card)) = report.cards.last_mut() {
            match number - *at {
                1 => second_line(&cells, card),
                2 => third_line(&cells, card),
                _ => {}
            }
        }
    }
    report.line = report.line.max(1);
    report
}

/// The card with that index.
fn card_of(index: u64, report: &mut Report) -> Option<&mut Card> {
    let mut cards = report.cards.iter_mut().map(|(_, card)| card);
    cards.find(|card| card.index == Some(index))
}

fn header(line: &str, number: u32, report: &mut Report) {
    let after = |label: &str| {
        let rest = &line[line.find(label)? + label.len()..];
        rest.split_whitespace().next().and_then(version)
    };
    report.module = after("KMD Version:");
    report.driver = after("Driver Version:").or_else(|| report.module.clone());
    report.cuda = after("CUDA UMD Version:").or_else(|| after("CUDA Version:"));
    report.line = number;
}

/// `  0  NVIDIA B200  On  |  00000000:63:00.0 Off |  0 `.
fn first_line(cells: &[&str]) -> Option<Card> {
    let [name, bus, rest @ ..] = cells else {
        return None;
    };
    let bus_id = bus
        .split_whitespace()
        .next()
        .filter(|word| is_address(word))?;
    let mut words: Vec<&str> = name.split_whitespace().collect();
    let index = words.first()?.parse().ok()?;
    words.remove(0);
    let persistence = words
        .last()
        // On Windows the driver's model is in the place of the persistence mode.
        .is_some_and(|word| {
            matches!(
                *word,
                "On" | "Off" | "N/A" | "WDDM" | "TCC" | "WDM" | "MCDM"
            )
        });
    if persistence {
        words.pop();
    }
    let name = words.join(" ");
    let cut = name.ends_with("...");
    Some(Card {
        index: Some(index),
        bus_id: bus_id.to_owned(),
        // A name that does not fit into its column is cut; a part of it is no name.
        name: if cut { String::new() } else { name },
        ecc_uncorrectable: rest.first().and_then(|cell| count(cell.trim())),
        ..Card::default()
    })
}

/// `N/A   26C    P0   139W / 1000W |   0MiB / 183359MiB |   0%  Default `.
fn second_line(cells: &[&str], card: &mut Card) {
    let state: Vec<&str> = cells
        .first()
        .map_or_else(Vec::new, |cell| cell.split_whitespace().collect());
    card.temperature = state.iter().find_map(|word| number(word, "C"));
    let mut watts = state.iter().filter_map(|word| number(word, "W"));
    card.power = watts.next();
    card.power_limit = watts.next();
    let performance = state.iter().find(|word| {
        word.strip_prefix('P')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    });
    performance
        .copied()
        .unwrap_or_default()
        .clone_into(&mut card.performance_state);
    let memory = cells.get(1).map_or("", |cell| cell.trim());
    if let Some((used, total)) = memory.split_once('/') {
        card.memory_used = number(used.trim(), "MiB");
        card.memory = number(total.trim(), "MiB");
    }
    if cells
        .first()
        .is_some_and(|cell| cell.contains("GPU is lost"))
    {
        "GPU is lost".clone_into(&mut card.trouble);
    }
}

/// The last cell is the MIG mode, on drivers that know it.
fn third_line(cells: &[&str], card: &mut Card) {
    if let [_, _, mig] = cells {
        let mig = known(mig.trim())
            .filter(|mig| mig.starts_with("Enabled") || mig.starts_with("Disabled"));
        mig.unwrap_or_default()
            .trim_end_matches('*')
            .clone_into(&mut card.mig);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mig_devices_count_for_their_gpu() {
        let text = "| NVIDIA-SMI 590.48.01  Driver Version: 590.48.01  CUDA Version: 13.1 |\n\
            |   0  NVIDIA H100 80GB HBM3   On  |   00000000:00:09.0 Off |   On |\n\
            |   1  NVIDIA H100 80GB HBM3   On  |   00000000:00:0A.0 Off |    0 |\n\
            | MIG devices:                                              |\n\
            | GPU  GI  CI  MIG |  Shared Memory-Usage |   Vol|   Shared |\n\
            |  0    2   0   0  |   26MiB / 40448MiB   | 60 0 | 3 0 3 0 3 |\n\
            |                  |    0MiB / 24739MiB   |      |           |\n\
            |  0    3   0   1  |   12MiB / 20096MiB   | 32 0 | 2 0 2 0 2 |\n\
            | Processes:                                                |\n\
            |  0    2   0   4711  |  C  |  python  |  10MiB |\n";
        let report = report(text);
        let devices: Vec<u64> = report
            .cards
            .iter()
            .map(|(_, card)| card.mig_devices)
            .collect();
        assert_eq!(devices, [2, 0]);
    }

    #[test]
    fn the_drivers_model_of_windows_is_no_part_of_the_name() {
        let line = "|   0  NVIDIA GeForce RTX 4090      WDDM  |   00000000:01:00.0  On |  Off |\n";
        let report = report(&format!(
            "| NVIDIA-SMI 551.23  Driver Version: 551.23  CUDA Version: 12.4 |\n{line}"
        ));
        assert_eq!(report.cards[0].1.name, "NVIDIA GeForce RTX 4090");
    }
}
