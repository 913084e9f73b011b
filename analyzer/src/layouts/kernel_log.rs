//! Kernel messages lying about: `dmesg > dmesg.txt`, a serial console's log. Their lines begin with seconds since the boot.

use super::{Capture, Entry, Identity, Layout, Survey};

pub(super) static LAYOUT: Layout = Layout {
    id: "kernel-log",
    title: "kernel messages as text",
    recognise: |survey| survey.files(is_kernel),
    identity: |survey: &Survey, root| {
        let text = survey
            .get(root)
            .map(|entry| entry.text().into_owned())
            .unwrap_or_default();
        let kernel = text
            .split_once("Linux version ")
            .and_then(|(_, rest)| rest.split_whitespace().next());
        Identity {
            kernel: kernel.map(str::to_owned),
            ..Identity::default()
        }
    },
    map: |_: &Survey, capture: &Capture, _| {
        let name = super::survey::name(&capture.root);
        let name: String = name
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '-'
                }
            })
            .collect();
        capture.of_node(&format!("commands/dmesg-{name}.out"))
    },
};

/// Whether nearly all of the first lines are `[    1.234567] text`, with or without a level before.
fn is_kernel(entry: &Entry) -> bool {
    const ENOUGH: usize = 5;
    let text = entry.text();
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines.pop();
    let stamped = |line: &&&str| {
        let line = line.trim_start_matches(|c: char| c == '<' || c == '>' || c.is_ascii_digit());
        let inside = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        inside.is_some_and(|(stamp, _)| {
            let parts = stamp.trim().split_once('.');
            parts.is_some_and(|(seconds, micros)| {
                micros.len() == 6
                    && seconds
                        .bytes()
                        .chain(micros.bytes())
                        .all(|b| b.is_ascii_digit())
            })
        })
    };
    // What systemd prints on the console between them.
    let of_console = |line: &&&str| {
        let line = line.trim_start_matches(['\u{1b}', '\r']);
        line.starts_with("[  OK  ]")
            || line.starts_with("[\u{1b}")
            || line.starts_with("         Starting ")
            || line.starts_with("         Mounting ")
    };
    lines.retain(|line| !of_console(&line));
    let count = lines.iter().filter(stamped).count();
    let share = if text.contains("] Linux version ") {
        2
    } else {
        4
    };
    // Firmware and loader speak before the kernel's first line.
    count >= ENOUGH && count * 5 >= lines.len() * share
}
