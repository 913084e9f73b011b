//! Pages in Markdown: documentation, runbooks, reports of bugs. What was said stands in their blocks of code; the rest is
//! what a person writes about it.

/// Headings that make a text a page.
const HEADINGS: usize = 3;

/// Programs whose name begins a line that is to be typed.
const COMMANDS: [&str; 34] = [
    "apt",
    "apt-get",
    "awk",
    "cat",
    "containerd",
    "crictl",
    "ctr",
    "curl",
    "dmesg",
    "dnf",
    "docker",
    "dpkg",
    "echo",
    "fio",
    "for",
    "grep",
    "helm",
    "ip",
    "iptables",
    "journalctl",
    "kubectl",
    "ls",
    "lsmod",
    "lspci",
    "modinfo",
    "nft",
    "nvidia-smi",
    "openssl",
    "rpm",
    "sed",
    "sudo",
    "sysctl",
    "systemctl",
    "stat",
];

/// Languages of blocks that are to be typed.
const SHELLS: [&str; 6] = ["sh", "bash", "shell", "toml", "yaml", "ini"];

/// Of each line of a page whether a person wrote it there; none where the text is no page.
pub(super) fn written(path: &str, lines: &[&[u8]]) -> Option<Vec<bool>> {
    let heading = |line: &&&[u8]| {
        let marks = line.iter().take_while(|byte| **byte == b'#').count();
        (1..=4).contains(&marks) && line.get(marks) == Some(&b' ')
    };
    let is_page = path.to_ascii_lowercase().ends_with(".md")
        && lines.iter().filter(heading).count() >= HEADINGS;
    is_page.then(|| {
        let (mut fenced, mut script) = (false, false);
        let written = lines.iter().map(|line| {
            let text = String::from_utf8_lossy(line);
            let text = text.trim();
            if text.starts_with("```") || text.starts_with("~~~") {
                fenced = !fenced;
                script = SHELLS.contains(&text.trim_start_matches(['`', '~']));
                return true;
            }
            if fenced {
                return script || is_command(text);
            }
            let indented = line.starts_with(b"    ") || line.starts_with(b"\t");
            !(super::undress(text).outer > 0 || (indented && !is_command(text)))
        });
        written.collect()
    })
}

fn is_command(line: &str) -> bool {
    let typed = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# "));
    let first = line.split([' ', ';']).next().unwrap_or("");
    typed.is_some() || COMMANDS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_page_only_blocks_of_code_and_lines_of_logs_were_said() {
        let page = "# Bug\n## What\nthe GPU has fallen off the bus\n## Log\n```\n$ dmesg | grep Xid\nNVRM: Xid 79\n```\nNov 20 10:00:00 g kernel: NVRM: x\n";
        let lines: Vec<&[u8]> = page
            .as_bytes()
            .split_inclusive(|byte| *byte == b'\n')
            .collect();
        let found = written("bug.md", &lines).unwrap();
        let said: Vec<usize> = (0..found.len()).filter(|at| !found[*at]).collect();
        assert_eq!(said, [6, 8]);
        assert!(written("bug.txt", &lines).is_none());
        assert!(written("short.md", &lines[4..]).is_none());
    }
}
