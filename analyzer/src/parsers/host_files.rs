//! Host files and command output that derivers read as text, and loose text.

use casefile_bundle::{ANY, Entry, entry};

use super::{Channel, Document, Parsed, Parser, Read, Said};
use crate::shared::Shared;

/// System logs as text.
pub(super) static LOGS: Parser = Parser {
    id: "system-logs",
    reads: &[
        Entry::Rootfs(ANY, "var/log/**"),
        Entry::Rootfs(ANY, "var/lib/dkms/**/make.log"),
        // Of daemons in containers, whose logs lie where both they and the host see them.
        Entry::Rootfs(ANY, "{run,var/lib/kubelet/plugins}/**/*.log"),
    ],
    read: Read::Lines(Channel::Journal),
};

/// Output of commands on the node.
pub(super) static COMMANDS: Parser = Parser {
    id: "commands",
    reads: &[
        Entry::Command(ANY, "**"),
        // The container runtime's own word. Its lists of pods and containers carry annotations and arguments of
        // others, which may quote any error message, and are not searched.
        Entry::Node(ANY, "cri.json"),
        Entry::Node(ANY, "cri/*/plugins.json"),
        Entry::Node(ANY, "cri/*/status.json"),
    ],
    read: Read::Whole(parse_command),
};

/// A configuration file longer than this is kept and not searched, in bytes.
const CONFIG_LIMIT: usize = 256 << 10;

/// TOML files of the node: kept like other files, and said where they do not parse. Their lines are not searched:
/// containerd's files are resolved together, and a line that another file overrides would mislead.
pub(super) static TOML: Parser = Parser {
    id: "toml",
    reads: &[Entry::Rootfs(ANY, "**/*.toml")],
    read: Read::Small(parse_toml),
};

/// Files that configure the node, and values of helm releases: kept, and searched by the patterns that ask for files.
pub(super) static CONFIGS: Parser = Parser {
    id: "configs",
    reads: &[
        Entry::Rootfs(ANY, "etc/**"),
        Entry::Rootfs(ANY, "**/*.{conf,yaml,yml,json,service,tmpl,rules,cfg}"),
        Entry::Rootfs(ANY, "var/snap/*/current/args/*"),
        Entry::Helm(ANY, ANY, "values-*.yaml"),
    ],
    read: Read::Whole(parse_config),
};

/// Copies of other files of the node, and what the collector says of the driver's libraries, of the firmware and of devices.
pub(super) static ROOTFS: Parser = Parser {
    id: "rootfs",
    reads: &[
        Entry::Rootfs(ANY, "**"),
        Entry::Host(ANY, "{libraries,boot,pci}.json"),
    ],
    read: Read::Keep,
};

/// What the collector says of itself, objects that no parser reads, and what `convert` found and did not understand.
pub(super) static OWN: Parser = Parser {
    id: "not-read",
    reads: &[
        Entry::Other("casefile.json"),
        Entry::Other("manifest.json"),
        Entry::Other("privacy.json"),
        Entry::Other("not-read/**"),
        Entry::Cluster("**"),
        Entry::Objects("**"),
        Entry::Below(entry::HELM),
        Entry::Below(entry::NODES),
    ],
    read: Read::Skip,
};

/// Text of unknown origin, as pasted into a ticket.
pub(super) static LOOSE: Parser = Parser {
    id: "loose-text",
    reads: &[Entry::Other("**")],
    read: Read::Loose,
};

fn parse_toml(document: &Document<'_>) -> Parsed {
    match document.text.parse::<toml::Table>() {
        Ok(_) => Parsed::default(),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let text = format!("invalid TOML: {}", error.message());
            Parsed::problem(document.at_offset(at), text)
        }
    }
}

fn parse_config(document: &Document<'_>) -> Parsed {
    if document.text.len() > CONFIG_LIMIT {
        return Parsed::default();
    }
    say_lines(document, Channel::File)
}

fn parse_command(document: &Document<'_>) -> Parsed {
    say_lines(document, Channel::Command)
}

/// Hands every line of a short text to the pattern scan.
pub(super) fn say_lines(document: &Document<'_>, channel: Channel) -> Parsed {
    let said = document
        .text
        .lines()
        .zip(1u32..)
        .filter(|(line, _)| !line.trim().is_empty());
    Parsed {
        said: said
            .map(|(line, number)| Said {
                channel,
                subject: if document.node.is_empty() {
                    Shared::default()
                } else {
                    format!("node/{}", document.node).into()
                },
                text: line.into(),
                place: document.line(number),
                at: None,
                count: 1,
            })
            .collect(),
        ..Parsed::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Parsed {
        parse_config(&Document {
            path: "nodes/n1/rootfs/etc/sysctl.d/99.conf",
            node: "n1",
            text,
        })
    }

    #[test]
    fn the_lines_of_a_config_file_are_searched_as_a_file_of_their_node() {
        let parsed = read("# comment\n\nnet.ipv4.ip_forward = 0\n");
        let said: Vec<(Channel, &str, Option<u32>)> = parsed
            .said
            .iter()
            .map(|one| (one.channel, one.text.as_str(), one.place.line))
            .collect();
        assert_eq!(
            said,
            [
                (Channel::File, "# comment", Some(1)),
                (Channel::File, "net.ipv4.ip_forward = 0", Some(3)),
            ]
        );
        assert!(parsed.said.iter().all(|one| one.subject == "node/n1"));
    }

    #[test]
    fn a_file_too_long_for_a_configuration_is_not_searched() {
        let parsed = read(&"x\n".repeat(CONFIG_LIMIT));
        assert!(parsed.said.is_empty());
    }
}
