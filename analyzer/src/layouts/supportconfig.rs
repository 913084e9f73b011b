//! supportconfig of SUSE: texts by topic, each of sections that begin with `#==[ Command ]===#` and `# <command or file>`.
//!
//! Source: supportutils' `bin/supportconfig` and `bin/supportconfig.rc`.

use casefile_bundle::Entry;

use super::node_files::printed;
use super::survey::name;
use super::{Capture, Identity, Layout, Part, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "supportconfig",
    title: "SUSE supportconfig",
    recognise: |survey| {
        let mut roots = survey.roots("basic-environment.txt");
        roots.retain(|root| {
            let text = survey.get(&format!("{root}basic-environment.txt"));
            text.is_some_and(|entry| entry.text().contains("#==["))
        });
        roots
    },
    identity: |survey: &Survey, root| {
        let head = survey.get(&format!("{root}basic-environment.txt"));
        let text = head.map(|entry| entry.text().into_owned());
        let text = text.unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Linux "));
        let node = line.and_then(|line| line.split_whitespace().next());
        let version = text.lines().find_map(|line| {
            let (_, rest) = line.split_once("Script Version:")?;
            Some(rest.trim().to_owned())
        });
        Identity {
            node: node.map(str::to_owned),
            version,
            ..Identity::default()
        }
    },
    map: |_, _, path| match path.ends_with(".txt") && !path.contains('/') {
        true => Target::Split(sections),
        false => Target::Unknown,
    },
};

fn sections(capture: &Capture, path: &str, text: &str) -> Vec<Part> {
    let node = capture.identity.node.as_deref().unwrap_or(super::UNNAMED);
    let file = name(path);
    let mut parts: Vec<Part> = Vec::new();
    // The section's kind, and its path of ours once its title was read.
    let mut open: Option<(&str, Option<String>)> = None;
    for (line, number) in text.lines().zip(1_u32..) {
        if let Some(kind) = line.strip_prefix("#==[ ") {
            open = Some((kind, None));
            continue;
        }
        match &mut open {
            Some((kind, known @ None)) => {
                let title = line.trim_start_matches('#').trim();
                let ours = target(kind, file, title).map(|ours| Entry::Node(node, &ours).path());
                let new = ours.filter(|ours| parts.iter().all(|part| part.path != *ours));
                if let Some(path) = &new {
                    parts.push(Part {
                        path: path.clone(),
                        line: number.saturating_add(1),
                        text: String::new(),
                    });
                }
                *known = Some(new.unwrap_or_default());
            }
            Some((_, Some(path))) if !path.is_empty() => {
                if let Some(part) = parts.last_mut() {
                    part.text.push_str(line);
                    part.text.push('\n');
                }
            }
            _ => {}
        }
    }
    parts.retain(|part| !part.text.trim().is_empty());
    parts
}

/// Our path of a section; each command is read from the one file that is about it.
fn target(kind: &str, file: &str, title: &str) -> Option<String> {
    if title.ends_with("File not found") || title.contains("not found or not executable") {
        return None;
    }
    let path = title.split(" - Last ").next().unwrap_or(title).trim();
    if kind.starts_with("Configuration File") || kind.starts_with("Log File") {
        return path
            .starts_with('/')
            .then(|| format!("rootfs{}", path.split(' ').next().unwrap_or(path)));
    }
    if !kind.starts_with("Command") {
        return None;
    }
    let command = title.trim_end_matches(" 2>&1");
    let program = command.split(' ').next()?.rsplit('/').next()?;
    if program == "journalctl" {
        let known = match file {
            "boot.txt" if command.contains("--boot=0") => "journal/journal",
            "boot.txt" if command.contains("--boot=-1") => "journal/journal-previous",
            "messages.txt" => "journal/journal-messages",
            _ if command.contains("--list-boot") => "commands/journal-boots.out",
            _ => return None,
        };
        return Some(known.to_owned());
    }
    let about = match program {
        "uname" => "basic-environment.txt",
        "df" => "basic-health-check.txt",
        "dmesg" | "mokutil" => "boot.txt",
        "lsmod" => "modules.txt",
        "sysctl" => "env.txt",
        "lspci" => "hardware.txt",
        "timedatectl" => "systemd.txt",
        "chronyc" => "ntp.txt",
        _ => file,
    };
    // The brief list of devices says what the others repeat.
    let brief = program != "lspci" || command.contains("-nn") || command.contains("-b");
    (about == file && brief)
        .then(|| printed(command).map(str::to_owned))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_files_and_logs_become_entries_at_their_lines() {
        let capture = Capture {
            format: "x",
            title: "x",
            root: String::new(),
            identity: Identity {
                node: Some("n1".into()),
                ..Identity::default()
            },
        };
        let text = "\n#==[ Command ]======================================#\n# /sbin/sysctl -a\nnet.ipv4.ip_forward = 1\n\n#==[ Configuration File ]===========================#\n# /etc/sysctl.conf\nx = 1\n\n#==[ Configuration File ]===========================#\n# /etc/none - File not found\n\n#==[ Command ]======================================#\n# /bin/uname -a\nLinux other 1.0\n";
        let found: Vec<(String, u32, String)> = sections(&capture, "scc_x/env.txt", text)
            .into_iter()
            .map(|part| (part.path, part.line, part.text.trim().to_owned()))
            .collect();
        assert_eq!(
            found,
            [
                (
                    "nodes/n1/commands/sysctl.out".to_owned(),
                    4,
                    "net.ipv4.ip_forward = 1".to_owned()
                ),
                (
                    "nodes/n1/rootfs/etc/sysctl.conf".to_owned(),
                    8,
                    "x = 1".to_owned()
                ),
            ]
        );
    }
}
