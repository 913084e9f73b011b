//! Every message of the vocabulary in every dress in which its component can say it: a table, and none is mute.

use std::collections::BTreeMap;

use super::*;
use crate::lines::Origin;
use crate::scan::patterns::Patterns;

/// A dress: its name, the channel and the entry it is worn in, and how it is put on, by speaker and message.
type Dress = (
    &'static str,
    Channel,
    &'static str,
    fn(&str, &str) -> String,
);

const POD_LOG: &str = "cluster-resources/pods/logs/kube-system/SPEAKER-x/c.log";
const JOURNAL: &str = "nodes/n1/journal/SPEAKER.service.json";
const KERNEL: &str = "nodes/n1/journal/kernel.json";

fn record(speaker: &str, message: &str) -> String {
    serde_json::json!({
        "__REALTIME_TIMESTAMP": "1795168800000000", "SYSLOG_IDENTIFIER": speaker, "_HOSTNAME": "n1", "PRIORITY": "3",
        "MESSAGE": message,
    })
    .to_string()
}

static DRESSES: &[Dress] = &[
    ("journal", Channel::Journal, JOURNAL, record),
    ("kernel's journal", Channel::Kernel, KERNEL, record),
    ("short", Channel::Journal, JOURNAL, |speaker, message| {
        format!("Nov 20 10:00:00 n1 {speaker}[8]: {message}")
    }),
    (
        "short-iso",
        Channel::Journal,
        JOURNAL,
        |speaker, message| format!("2026-11-20T10:00:00+0000 n1 {speaker}[8]: {message}"),
    ),
    (
        "klog in journal",
        Channel::Journal,
        JOURNAL,
        |speaker, message| record(speaker, &klog(message)),
    ),
    (
        "logfmt in journal",
        Channel::Journal,
        JOURNAL,
        |speaker, message| record(speaker, &logfmt(message)),
    ),
    ("container", Channel::PodLog, POD_LOG, |_, message| {
        format!("2026-11-20T10:00:00.1Z {message}")
    }),
    ("CRI", Channel::PodLog, POD_LOG, |_, message| {
        format!("2026-11-20T10:00:00.1Z stderr F {message}")
    }),
    ("klog", Channel::PodLog, POD_LOG, |_, message| klog(message)),
    ("logfmt", Channel::PodLog, POD_LOG, |_, message| {
        logfmt(message)
    }),
    ("pasted", Channel::Text, "ticket.txt", |_, message| {
        message.to_owned()
    }),
    (
        "pasted, short",
        Channel::Text,
        "ticket.txt",
        |speaker, message| format!("Nov 20 10:00:00 n1 {speaker}[8]: {message}"),
    ),
];

fn klog(message: &str) -> String {
    format!("E1120 10:00:00.123456       8 server.go:12] {message}")
}

fn logfmt(message: &str) -> String {
    let escaped = message.replace('\\', "\\\\").replace('"', "\\\"");
    format!("time=\"2026-11-20T10:00:00Z\" level=error msg=\"{escaped}\"")
}

/// Names by which components speak.
const SPEAKERS: [&str; 16] = [
    "kubelet",
    "containerd",
    "coredns",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "nvidia-device-plugin",
    "nvidia-gridd",
    "nvidia-mig-manager",
    "hami-scheduler",
    "multus",
    "crio",
    "etcd",
    "k3s",
    "app",
    "kernel",
];

#[test]
fn a_message_is_heard_in_every_dress_of_its_component() {
    let known = Vocabulary::load(&mut Vec::new()).unwrap();
    let mut table: BTreeMap<(usize, &str), (usize, usize)> = BTreeMap::new();
    let mut mute = Vec::new();
    for (key, (file, message)) in &known.messages {
        let patterns = Patterns::new(vec![known.pattern(key).unwrap()]);
        let channels = match message.channels.is_empty() {
            true => &file.channels,
            false => &message.channels,
        };
        let speaks = regex(&file.speaker).unwrap();
        let speaker = SPEAKERS.into_iter().find(|name| speaks.is_match(name));
        let speaker = speaker.unwrap_or_else(|| panic!("{key}: no known name speaks so"));
        let example = message.examples.first().unwrap();
        let said = &example[crate::dress::undress(example).outer..];
        for (at, (name, channel, path, put_on)) in DRESSES.iter().enumerate() {
            let worn = match channel {
                Channel::Text => true,
                Channel::Kernel => speaker == "kernel",
                _ => true,
            };
            if !worn
                || !(channels.is_empty() || channels.contains(channel) || *channel == Channel::Text)
            {
                continue;
            }
            let path = path.replace("SPEAKER", speaker);
            let origin = Origin::of(&path, *channel);
            let line = put_on(speaker, said) + "\n";
            let heard = !patterns.search(&origin, line.as_bytes()).hits.is_empty();
            let cell = table.entry((at, file.component.as_str())).or_default();
            cell.0 += usize::from(heard);
            cell.1 += 1;
            if !heard {
                mute.push(format!("{key} as {name}: {line}"));
            }
        }
    }
    let files: Vec<&str> = shipped::catalogue().1.iter().map(|file| file.0).collect();
    for (at, dress) in DRESSES.iter().enumerate() {
        let cells = files.iter().map(|file| file.trim_end_matches(".yaml"));
        let cells = cells.map(|component| match table.get(&(at, component)) {
            Some((heard, all)) => format!("  {component} {heard}/{all}"),
            None => String::new(),
        });
        println!("{:18}{}", dress.0, cells.collect::<String>());
    }
    for file in files {
        let component = file.trim_end_matches(".yaml");
        assert!(
            table.keys().any(|(_, known)| *known == component),
            "{component}"
        );
    }
    assert!(mute.is_empty(), "{}", mute.join("\n"));
}
