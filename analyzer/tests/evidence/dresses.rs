//! Lines of a component in every dress in which it can say them: a table, and no dress hides a cause.

use std::collections::BTreeMap;

use crate::{Files, analyze, analyzer, verdicts};
use casefile_analyzer::dress::undress;
use casefile_analyzer::rules::file::Kind;

/// A dress, the components that wear it, the name of such a file, and the dress itself.
struct Dress {
    name: &'static str,
    file: &'static str,
    worn_by: &'static [&'static str],
    put_on: fn(&str, &str) -> String,
}

const ALL: &[&str] = &["kernel", "kubelet", "containerd", "systemd", "pod"];
const UNITS: &[&str] = &["kernel", "kubelet", "containerd", "systemd"];

static DRESSES: &[Dress] = &[
    Dress {
        name: "as pasted",
        file: "ticket.txt",
        worn_by: ALL,
        put_on: |_, message| message.to_owned(),
    },
    Dress {
        name: "journal, short",
        file: "journal.txt",
        worn_by: UNITS,
        put_on: |who, message| format!("Nov 20 10:00:00 gpu-1 {who}[812]: {message}"),
    },
    Dress {
        name: "journal, short-iso",
        file: "journal.txt",
        worn_by: UNITS,
        put_on: |who, message| format!("2026-11-20T10:00:00+0000 gpu-1 {who}[812]: {message}"),
    },
    Dress {
        name: "journal, JSON",
        file: "journal.json",
        worn_by: UNITS,
        put_on: |who, message| {
            serde_json::json!({
                "__REALTIME_TIMESTAMP": "1795168800000000", "SYSLOG_IDENTIFIER": who, "_HOSTNAME": "gpu-1",
                "PRIORITY": "3", "MESSAGE": message,
            })
            .to_string()
        },
    },
    Dress {
        name: "dmesg",
        file: "dmesg.txt",
        worn_by: &["kernel"],
        put_on: |_, message| format!("[   12.345678] {message}"),
    },
    Dress {
        name: "dmesg -T",
        file: "dmesg.txt",
        worn_by: &["kernel"],
        put_on: |_, message| format!("[Fri Nov 20 10:00:00 2026] {message}"),
    },
    Dress {
        name: "container log, CRI",
        file: "pod.log",
        worn_by: &["pod"],
        put_on: |_, message| format!("2026-11-20T10:00:00.123456789Z stderr F {message}"),
    },
    Dress {
        name: "container log, Docker",
        file: "pod.log",
        worn_by: &["pod"],
        put_on: |_, message| {
            serde_json::json!({"log": format!("{message}\n"), "stream": "stderr", "time": "2026-11-20T10:00:00.1Z"})
                .to_string()
        },
    },
    Dress {
        name: "klog",
        file: "component.log",
        worn_by: &["kubelet", "pod"],
        put_on: |_, message| format!("E1120 10:00:00.123456    1234 server.go:12] {message}"),
    },
    Dress {
        name: "logfmt",
        file: "component.log",
        worn_by: &["containerd", "pod"],
        put_on: |_, message| {
            let escaped = message.replace('\\', "\\\\").replace('"', "\\\"");
            format!("time=\"2026-11-20T10:00:00Z\" level=error msg=\"{escaped}\"")
        },
    },
];

/// Who says a line: as its head names it, else by the family of its cause.
fn component(speaker: &str, family: &str) -> &'static str {
    match (speaker, family) {
        ("kernel", _) | ("", "gpu-hardware") => "kernel",
        (speaker, _) if speaker.contains("kubelet") => "kubelet",
        (speaker, _) if speaker.contains("containerd") => "containerd",
        ("systemd", _) => "systemd",
        ("", "runtime") => "containerd",
        ("", "node" | "image") => "kubelet",
        _ => "pod",
    }
}

#[test]
fn a_line_says_the_same_in_every_dress_of_its_component() {
    let analyzer = analyzer();
    let set = crate::shipped_rules();
    // Per dress and component: lines that keep their cause in play, and all.
    let mut table: BTreeMap<(usize, &str), (usize, usize)> = BTreeMap::new();
    let mut lost = Vec::new();
    for rule in set.rules.iter().filter(|one| one.file.kind == Kind::Cause) {
        for example in &rule.file.examples {
            let alone = example
                .files
                .first_key_value()
                .filter(|_| example.files.len() == 1);
            let live = example
                .expect
                .verdict()
                .is_some_and(|verdict| verdict.is_live());
            let Some((path, text)) = alone.filter(|_| live) else {
                continue;
            };
            // One line, which somebody said: tables, settings and output of programs have no such dress.
            let line = text.trim_end();
            let said = line.contains(' ') && !line.contains('\n') && !path.contains('/');
            let dress = undress(line);
            if !said || line.starts_with(['{', '"', '<']) {
                continue;
            }
            let message = &line[dress.outer..];
            let who = component(dress.speaker, &rule.file.family);
            for (at, dress) in DRESSES.iter().enumerate() {
                if !dress.worn_by.contains(&who) {
                    continue;
                }
                let worn = (dress.put_on)(who, message) + "\n";
                let files = Files::from([(dress.file.to_owned(), worn.into_bytes())]);
                let kept = verdicts(&analyze(&analyzer, &files)).contains_key(&rule.file.id);
                let cell = table.entry((at, who)).or_default();
                cell.0 += usize::from(kept);
                cell.1 += 1;
                if !kept {
                    lost.push(format!("    {} as {}: {line}", rule.file.id, dress.name));
                }
            }
        }
    }
    let heads = ALL.iter().map(|who| format!("{who:>12}"));
    println!("{:24}{}", "", heads.collect::<String>());
    for (at, dress) in DRESSES.iter().enumerate() {
        let cells = ALL.iter().map(|who| match table.get(&(at, *who)) {
            Some((kept, all)) => format!("{:>12}", format!("{kept}/{all}")),
            None => format!("{:>12}", "-"),
        });
        println!("{:24}{}", dress.name, cells.collect::<String>());
    }
    println!("{}", lost.join("\n"));
    let (kept, all) = table
        .values()
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(
        all > 100 && kept * 100 >= all * 95,
        "{kept} of {all}:\n{}",
        lost.join("\n")
    );
}
