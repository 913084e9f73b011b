//! cilium-bugtool: one file a command, with or without the fence of Markdown around what it printed. Also inside a sysdump.
//!
//! Source: cilium's `bugtool/cmd/configuration.go` and `root.go`.

use casefile_bundle::Entry;

use super::node_files::printed;
use super::{Capture, Identity, Layout, Part, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "cilium-bugtool",
    title: "cilium-bugtool",
    recognise: |survey| {
        let mut roots = Vec::new();
        for entry in &survey.entries {
            // The capture's own folder may be taken off.
            let own = entry.path.strip_prefix("cmd/").map(|file| ("", file));
            let Some((root, file)) = own.or_else(|| entry.path.rsplit_once("/cmd/")) else {
                continue;
            };
            // Where no agent answers, none of its commands is there: then the node's own tell.
            let named = root.contains("cilium-bugtool")
                || file.starts_with("cilium-")
                || (file == "hostname.md" && {
                    let folder = entry.path.strip_suffix(file).unwrap_or_default();
                    survey.has(&format!("{folder}uname--a.md"))
                });
            if named && file.ends_with(".md") {
                roots.push(match root {
                    "" => String::new(),
                    root => format!("{root}/"),
                });
            }
        }
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| {
        let hostname = survey.get(&format!("{root}cmd/hostname.md"));
        let named = hostname.and_then(|entry| {
            let text = entry.text().into_owned();
            Some(body(&text).0.lines().next()?.trim().to_owned())
        });
        Identity {
            node: named.filter(|name| !name.is_empty() && !name.contains(' ')),
            ..Identity::default()
        }
    },
    map: |_, _, path| match path.strip_prefix("cmd/").and_then(known) {
        Some(_) => Target::Split(unwrap),
        None => Target::Unknown,
    },
};

/// What a file is, by the command that its name is made of: every blank and sign became `-`.
fn known(file: &str) -> Option<&'static str> {
    let command = file.strip_suffix(".md")?;
    if let Some(rest) = command.strip_prefix("ip-") {
        return of_ip(rest);
    }
    Some(match command {
        "hostname" => "rootfs/etc/hostname",
        "cat--etc-resolv.conf" => "rootfs/etc/resolv.conf",
        "cat--proc-net-xfrm_stat" => "rootfs/proc/net/xfrm_stat",
        "uname--a" => "commands/uname.out",
        "sysctl--a" => "commands/sysctl.out",
        "iptables-save--c" => "commands/iptables-save.out",
        "ip6tables-save--c" => "commands/ip6tables-save.out",
        "iptables-legacy-save--c" => "commands/iptables-legacy-save.out",
        "ip6tables-legacy-save--c" => "commands/ip6tables-legacy-save.out",
        "iptables-nft-save--c" => "commands/iptables-nft-save.out",
        "ip6tables-nft-save--c" => "commands/ip6tables-nft-save.out",
        "ipset-list" => "commands/ipset-list.out",
        "nft-list-ruleset" => "commands/nft-list-ruleset.out",
        "lsmod" => "commands/lsmod.out",
        _ if command.starts_with("dmesg") => "commands/dmesg.out",
        _ => printed(&command.replace('-', " "))?,
    })
}

/// What `ip` shows with these options, whose letters differ between releases: `--d--s--s-l` of `ip -d -s -s l`.
fn of_ip(typed: &str) -> Option<&'static str> {
    let typed = typed.strip_prefix('-').unwrap_or(typed);
    let words: Vec<&str> = typed.split('-').filter(|word| !word.is_empty()).collect();
    let is_option = |word: &&str| matches!(*word, "4" | "6" | "d" | "s" | "j");
    let object = words.iter().position(|word| !is_option(word))?;
    let six = words[..object].contains(&"6");
    match (words[object], &words[object + 1..], six) {
        ("a" | "addr" | "address", [] | ["show"], false) => Some("commands/ip-addr.out"),
        ("l" | "link", [] | ["show"], _) => Some("commands/ip-link.out"),
        ("rule", [], false) => Some("commands/ip-rule.out"),
        ("rule", [], true) => Some("commands/ip6-rule.out"),
        ("r" | "route", [] | ["show", "table", "all"], false) => Some("commands/ip-route.out"),
        ("r" | "route", [], true) => Some("commands/ip6-route.out"),
        ("n" | "neigh", [], false) => Some("commands/ip-neigh.out"),
        _ => None,
    }
}

/// The output in a file, and the line at which it starts, from 1.
fn body(text: &str) -> (&str, u32) {
    let Some(rest) = text.strip_prefix("# ") else {
        return (text, 1);
    };
    let Some((head, fenced)) = rest.split_once("\n```\n") else {
        return (text, 1);
    };
    // The lines of the head, the one that is left empty below it, and the fence.
    let before = head.matches('\n').count() + 2;
    let output = fenced.trim_end();
    let output = output.strip_suffix("```").unwrap_or(output);
    (output, u32::try_from(before + 1).unwrap_or(1))
}

/// Lines up to which what a failed command printed is taken for its complaint.
const SAID: usize = 5;

fn unwrap(capture: &Capture, path: &str, text: &str) -> Vec<Part> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let Some(ours) = known(file) else {
        return Vec::new();
    };
    let (output, line) = body(text);
    let output = match output.split_once("> Error while running '") {
        // A command that fails late, as sysctl does at one that cannot be read, has still said the rest.
        Some((before, _)) if before.lines().count() > SAID => before,
        Some(_) => return Vec::new(),
        None => output,
    };
    let node = capture.identity.node.as_deref().unwrap_or(super::UNNAMED);
    vec![Part {
        path: Entry::Node(node, ours).path(),
        line,
        text: output.to_owned(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ip_shows_is_told_by_its_object() {
        let found = [
            "ip-a",
            "ip--d--s-l",
            "ip--d--s--s-l",
            "ip--4-r",
            "ip--6-r",
            "ip--d-rule",
            "ip--4-route-show-2004",
            "ip--s-xfrm-policy",
        ]
        .map(|command| known(&format!("{command}.md")).unwrap_or("-"));
        assert_eq!(
            found,
            [
                "commands/ip-addr.out",
                "commands/ip-link.out",
                "commands/ip-link.out",
                "commands/ip-route.out",
                "commands/ip6-route.out",
                "commands/ip-rule.out",
                "-",
                "-",
            ]
        );
    }

    #[test]
    fn what_a_failed_command_complains_of_is_no_output() {
        let capture = Capture {
            format: "x",
            title: "x",
            root: String::new(),
            identity: Identity::default(),
        };
        let end = "> Error while running 'sysctl -a':  exit status 255\n\n";
        let refused = format!("sysctl: permission denied\n{end}");
        assert!(unwrap(&capture, "b/cmd/sysctl--a.md", &refused).is_empty());
        let most = format!("{}{end}", "net.ipv4.ip_forward = 1\n".repeat(9));
        let parts = unwrap(&capture, "b/cmd/sysctl--a.md", &most);
        assert_eq!(parts[0].text.lines().count(), 9);
    }

    #[test]
    fn outputs_are_read_with_and_without_a_fence() {
        let capture = Capture {
            format: "x",
            title: "x",
            root: String::new(),
            identity: Identity {
                node: Some("n1".into()),
                ..Identity::default()
            },
        };
        let fenced = "# sysctl -a\n\n```\nnet.ipv4.ip_forward = 1\n```\n\n";
        let plain = "net.ipv4.ip_forward = 1\n";
        for (text, line) in [(fenced, 4), (plain, 1)] {
            let parts = unwrap(&capture, "b/cmd/sysctl--a.md", text);
            assert_eq!(parts[0].path, "nodes/n1/commands/sysctl.out");
            assert_eq!((parts[0].text.as_str(), parts[0].line), (plain, line));
        }
    }
}
