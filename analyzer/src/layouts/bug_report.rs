//! nvidia-bug-report: one text of sections, each a file or what a command printed, divided by lines of underscores.
//!
//! Source: NVIDIA's nvidia-bug-report.sh of drivers 390 to 595.

use casefile_bundle::Entry;

use super::node_files::printed;
use super::{Capture, Identity, Layout, Part, Survey, Target, months, taken};

pub(super) static LAYOUT: Layout = Layout {
    id: "nvidia-bug-report",
    title: "nvidia-bug-report.sh",
    recognise: |survey| {
        survey.files(|entry| entry.text().contains("Start of NVIDIA bug report log file"))
    },
    identity,
    map: |_, _, _| Target::Split(sections),
};

fn identity(survey: &Survey, root: &str) -> Identity {
    let head = survey
        .get(root)
        .map(|entry| entry.text().into_owned())
        .unwrap_or_default();
    let after = |mark: &str| {
        let line = head
            .lines()
            .find_map(|line| line.trim().strip_prefix(mark))?;
        Some(line.trim().to_owned())
    };
    let node = after("uname: Linux ").and_then(|rest| rest.split(' ').next().map(str::to_owned));
    Identity {
        node: node.filter(|name| !name.is_empty()),
        version: after("nvidia-bug-report.sh Version:"),
        taken: after("Date:").and_then(|date| taken::moment(&date)),
        ..Identity::default()
    }
}

/// A section's lines and what it is of.
#[derive(Default)]
struct Section<'a> {
    first: u32,
    lines: Vec<&'a str>,
}

fn is_rule(line: &str) -> bool {
    line.len() >= 30 && line.bytes().all(|byte| byte == b'_')
}

fn sections(capture: &Capture, _: &str, text: &str) -> Vec<Part> {
    let node = capture.identity.node.as_deref().unwrap_or(super::UNNAMED);
    let mut parts: Vec<Part> = Vec::new();
    let mut open = Section {
        first: 1,
        lines: Vec::new(),
    };
    let mut close = |section: Section<'_>| {
        for (path, from, lines) in pieces(&section.lines) {
            let plain = |line: &&'_ str| {
                let line = line.trim_start_matches("uname: ");
                months::line_in_english(line).into_owned() + "\n"
            };
            let text: String = lines.iter().map(plain).collect();
            let line = section
                .first
                .saturating_add(u32::try_from(from).unwrap_or(u32::MAX));
            let path = Entry::Node(node, &path).path();
            // A command may be asked for several times, once a boot or a file.
            if !text.trim().is_empty() && !parts.iter().any(|part| part.path == path) {
                parts.push(Part { path, line, text });
            }
        }
    };
    for (line, number) in text.lines().zip(1_u32..) {
        if is_rule(line.trim_end()) {
            close(std::mem::take(&mut open));
            open.first = number.saturating_add(1);
        } else {
            open.lines.push(line);
        }
    }
    close(open);
    parts
}

/// Our entries in a section, each with the number of its first line in it: mostly one, but kernel messages of
/// several sources follow one another.
fn pieces<'s, 'a>(lines: &'s [&'a str]) -> Vec<(String, usize, &'s [&'a str])> {
    let Some(head) = lines.iter().position(|line| !line.trim().is_empty()) else {
        return Vec::new();
    };
    let title = lines[head].trim();
    if title.starts_with("Start of NVIDIA bug report") {
        let told = lines
            .iter()
            .position(|line| line.starts_with("uname: Linux "));
        let told = told.map(|at| ("commands/uname.out".to_owned(), at, &lines[at..=at]));
        return told.into_iter().collect();
    }
    if let Some(file) = title.strip_prefix("*** ") {
        let from = head
            + 1
            + usize::from(
                lines
                    .get(head + 1)
                    .is_some_and(|line| line.starts_with("*** ls:")),
            );
        return match of_file(file) {
            Some(path) => vec![(path, from.min(lines.len()), &lines[from.min(lines.len())..])],
            None => Vec::new(),
        };
    }
    let body = head + 1;
    if title.starts_with("Scanning kernel log files") {
        return of_log_files(lines, body);
    }
    match of_title(title) {
        Some(path) => vec![(path, body, &lines[body..])],
        None => Vec::new(),
    }
}

/// What the driver said in log files, which go back over many starts of the machine, each below its name. Where the kernel's clock
/// falls back the machine came up again: what stands before the last such line of a file is of earlier starts.
fn of_log_files<'s, 'a>(lines: &'s [&'a str], body: usize) -> Vec<(String, usize, &'s [&'a str])> {
    let mut found = Vec::new();
    // Where there is a journal, its starts follow the files, each below the command that printed it.
    let named = |line: &&&str| {
        let name = line.trim();
        name.ends_with(':') && (name.starts_with('/') || name.starts_with("journalctl -b -"))
    };
    let first = lines[body..].iter().position(|line| named(&line));
    let mut from = body + first.unwrap_or(0);
    while from < lines.len() {
        let file = &lines[from..];
        // The name of the file itself is its first line.
        let next = file.iter().skip(1).position(|line| named(&line));
        let end = next.map_or(lines.len(), |at| from + 1 + at);
        if let Some(path) = of_title(file[0]).filter(|_| file[0].contains("journalctl")) {
            found.push((path, from + 1, &lines[from + 1..end]));
            from = end;
            continue;
        }
        let restart = last_restart(&lines[from..end]).map_or(from, |at| from + at);
        let number = match found.len() {
            0 => String::new(),
            others => others.to_string(),
        };
        let path = format!("rootfs/var/log/kern.log.files{number}");
        if restart > from {
            found.push((format!("{path}.boot-1"), from, &lines[from..restart]));
        }
        found.push((path, restart, &lines[restart..end]));
        from = end;
    }
    found
}

/// The last line whose kernel clock is behind that of the one before.
fn last_restart(lines: &[&str]) -> Option<usize> {
    let clock = |line: &str| -> Option<f64> {
        let (_, rest) = line.split_once(" kernel: [")?;
        rest.split_once(']')?.0.trim().parse().ok()
    };
    let mut before = 0.0;
    let mut last = None;
    for (at, line) in lines.iter().enumerate() {
        let Some(now) = clock(line) else { continue };
        // Processors print a little out of order.
        if now + 0.01 < before {
            last = Some(at);
        }
        before = now;
    }
    last
}

fn of_file(file: &str) -> Option<String> {
    let absent = ["does not exist", "is not readable", "No such file"];
    if !file.starts_with('/') || absent.iter().any(|why| file.contains(why)) {
        return None;
    }
    // An installer's and a build's log tell of the day when they ran.
    Some(format!("rootfs{}", file.trim_end_matches(':')))
}

fn of_title(title: &str) -> Option<String> {
    let command = title.trim_end_matches(':').trim();
    if let Some(query) = command.strip_prefix("journalctl -b -") {
        let boot: u32 = query.split(' ').next()?.parse().ok()?;
        let kernel = query.contains("_TRANSPORT=kernel")
            || query.contains(" -k")
            || !query.contains("_COMM=");
        let name = if kernel {
            "kernel"
        } else {
            query.split("_COMM=").nth(1)?
        };
        return Some(match (kernel, boot) {
            (true, 0) => "rootfs/var/log/kern.log".to_owned(),
            (true, boot) => format!("rootfs/var/log/kern.log.boot-{boot}"),
            (false, 0) => format!("journal/{name}"),
            (false, boot) => format!("journal/{name}.boot-{boot}"),
        });
    }
    if command.starts_with("Skipping") {
        return None;
    }
    // The tree and the short list name the same devices as the full one.
    let short = |one: &str| one.starts_with('-') && (one.contains('t') || one == "-nn");
    if command.contains("/lspci ") && command.split(' ').any(short) {
        return None;
    }
    if let Some(known) = printed(command) {
        return Some(known.to_owned());
    }
    // Other programs, by their path.
    let program = command.split(' ').next()?;
    let known = program.starts_with('/') && !command.contains("base64");
    let mangled: String = command
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .take(80)
        .collect();
    known.then(|| format!("commands/{}.out", mangled.trim_matches('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "____________________________________________";

    #[test]
    fn log_files_are_parted_at_the_last_start_of_the_machine() {
        let text = "Scanning kernel log files for NVIDIA kernel messages:\n\n  /var/log/kern.log:\nNov 20 10:00:00 n kernel: [900.1] NVRM: old\nNov 21 10:00:00 n kernel: [    2.3] NVRM: older\nNov 22 10:00:00 n kernel: [    2.1] NVRM: new\n  /var/log/messages:\nNov 22 10:00:00 n kernel: [    2.1] NVRM: same\n  journalctl -b -0:\nNov 22 10:00:00 n kernel: NVRM: same\n  journalctl -b -1:\nNov 21 10:00:00 n kernel: NVRM: older\n";
        let lines: Vec<&str> = text.lines().collect();
        let found: Vec<(String, usize)> = pieces(&lines)
            .into_iter()
            .map(|(path, from, _)| (path, from))
            .collect();
        let path = "rootfs/var/log/kern.log.files";
        assert_eq!(
            found,
            [
                (format!("{path}.boot-1"), 2),
                (path.to_owned(), 5),
                (format!("{path}2"), 6),
                ("rootfs/var/log/kern.log".to_owned(), 9),
                ("rootfs/var/log/kern.log.boot-1".to_owned(), 11),
            ]
        );
    }

    #[test]
    fn files_commands_and_boots_become_entries_at_their_lines() {
        let text = format!(
            "{RULE}\n\nStart of NVIDIA bug report log file.\nuname: Linux gpu-1 6.8.0-1\n{RULE}\n\n*** /proc/driver/nvidia/version\n*** ls: -r--r--r-- 1 root root 0\nNVRM version: 550\n{RULE}\n\ndmesg:\n\n[ 1.0] NVRM: loading\n{RULE}\n\njournalctl -b -1 -k\n\nNov 20 10:00:00 gpu-1 kernel: x\n{RULE}\n\n*** /proc/pci does not exist\n"
        );
        let survey = Survey::new(vec![super::super::Entry {
            path: "r.log.gz".into(),
            head: text.clone().into_bytes(),
            tail: Vec::new(),
            size: None,
        }]);
        assert_eq!((LAYOUT.recognise)(&survey), ["r.log.gz"]);
        let identity = identity(&survey, "r.log.gz");
        assert_eq!(identity.node.as_deref(), Some("gpu-1"));
        let capture = Capture {
            format: "x",
            title: "x",
            root: "r.log.gz".into(),
            identity,
        };
        let found: Vec<(String, u32)> = sections(&capture, "", &text)
            .into_iter()
            .map(|part| (part.path, part.line))
            .collect();
        assert_eq!(
            found,
            [
                ("nodes/gpu-1/commands/uname.out".to_owned(), 4),
                (
                    "nodes/gpu-1/rootfs/proc/driver/nvidia/version".to_owned(),
                    9
                ),
                ("nodes/gpu-1/commands/dmesg.out".to_owned(), 13),
                ("nodes/gpu-1/rootfs/var/log/kern.log.boot-1".to_owned(), 18),
            ]
        );
    }
}
