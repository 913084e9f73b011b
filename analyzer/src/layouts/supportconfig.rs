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
    let mut open = Open::Between;
    for (line, number) in text.lines().zip(1_u32..) {
        if let Some(kind) = line.strip_prefix("#==[ ") {
            open = Open::Titled(kind);
            continue;
        }
        match open {
            Open::Titled(kind) => {
                let title = line.trim_start_matches('#').trim();
                let ours = target(kind, file, title, text);
                open = ours
                    .and_then(|ours| begin(&mut parts, Entry::Node(node, &ours).path(), number))
                    .map_or(Open::Between, Open::Inside);
            }
            Open::Inside(at) => {
                if let Some(part) = parts.get_mut(at) {
                    part.text.push_str(line);
                    part.text.push('\n');
                }
            }
            Open::Between => {}
        }
    }
    parts.retain(|part| !part.text.trim().is_empty());
    parts
}

/// Where in a text the next line is.
#[derive(Clone, Copy)]
enum Open<'a> {
    /// In what is not read.
    Between,
    /// At the title of a section of this kind.
    Titled(&'a str),
    /// In a section that goes into this part.
    Inside(usize),
}

/// The part that a section goes into, whose title stands in this line: a new one. Of commands that are repeated the first is read; but
/// firewall rules are printed table by table, and each is one more of the same list, at the lines that it has.
fn begin(parts: &mut Vec<Part>, path: String, title: u32) -> Option<usize> {
    let first = title.saturating_add(1);
    let Some(at) = parts.iter().position(|part| part.path == path) else {
        parts.push(Part {
            path,
            line: first,
            text: String::new(),
        });
        return Some(parts.len() - 1);
    };
    let part = parts.get_mut(at)?;
    if !path.ends_with("tables-save.out") {
        return None;
    }
    let lines = u32::try_from(part.text.matches('\n').count()).ok()?;
    let next = part.line.saturating_add(lines);
    part.text.extend((next..first).map(|_| '\n'));
    Some(at)
}

/// Our path of a section; each command is read from the one file that is about it.
fn target(kind: &str, file: &str, title: &str, all: &str) -> Option<String> {
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
    if program == "systemctl" {
        let unit = command.split_once(" status ")?.1.trim_matches('\'');
        return Some(format!("commands/systemctl-status-{unit}.out"));
    }
    if program == "journalctl" {
        let known = match file {
            _ if command.contains("--disk-usage") => return None,
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
    // Of the lists of devices the brief one that names them also by number, where there is one.
    let brief = program != "lspci"
        || command.ends_with(" -nn")
        || (command.ends_with(" -b") && !all.contains("lspci -nn"));
    (about == file && brief)
        .then(|| printed(command).map(str::to_owned))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<(String, u32, String)> {
        let capture = Capture {
            format: "x",
            title: "x",
            root: String::new(),
            identity: Identity {
                node: Some("n1".into()),
                ..Identity::default()
            },
        };
        let parts = sections(&capture, file, text).into_iter();
        parts
            .map(|part| (part.path, part.line, part.text))
            .collect()
    }

    #[test]
    fn rules_of_all_tables_are_one_list() {
        let section = |table: &str| {
            format!(
                "#==[ Command ]======================================#\n# /sbin/iptables-save -t {table}\n*{table}\nCOMMIT\n\n"
            )
        };
        let between = "#==[ Command ]======================================#\n# /sbin/ip addr\n1: lo: <UP>\n\n";
        let text = section("filter") + between + &section("nat");
        let found = found("network.txt", &text);
        assert_eq!(
            found[0],
            (
                "nodes/n1/commands/iptables-save.out".to_owned(),
                3,
                // The second table stands at its own lines, 12 and 13.
                format!("*filter\nCOMMIT\n\n{}*nat\nCOMMIT\n\n", "\n".repeat(6))
            )
        );
        assert_eq!(found[1].0, "nodes/n1/commands/ip-addr.out");
    }

    #[test]
    fn the_journal_of_a_boot_is_not_what_it_takes_on_the_disk() {
        let text = "#==[ Command ]======================================#\n# /bin/journalctl --boot=0 --no-pager --disk-usage\nArchived and active journals take up 8.0M in the file system.\n\n#==[ Command ]======================================#\n# /bin/journalctl --boot=0 --no-pager --output=short-iso\n2026-11-20T10:15:00+0000 n1 kernel: x\n\n#==[ Command ]======================================#\n# /bin/systemctl status 'kubelet.service'\nx\n\n";
        let found = found("boot.txt", text);
        assert_eq!(found[0].0, "nodes/n1/journal/journal");
        assert_eq!(found[0].1, 7);
        assert_eq!(
            found[1].0,
            "nodes/n1/commands/systemctl-status-kubelet.service.out"
        );
    }

    #[test]
    fn commands_files_and_logs_become_entries_at_their_lines() {
        let text = "\n#==[ Command ]======================================#\n# /sbin/sysctl -a\nnet.ipv4.ip_forward = 1\n\n#==[ Configuration File ]===========================#\n# /etc/sysctl.conf\nx = 1\n\n#==[ Configuration File ]===========================#\n# /etc/none - File not found\n\n#==[ Command ]======================================#\n# /bin/uname -a\nLinux other 1.0\n";
        let found: Vec<(String, u32, String)> = found("scc_x/env.txt", text)
            .into_iter()
            .map(|(path, line, text)| (path, line, text.trim().to_owned()))
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
