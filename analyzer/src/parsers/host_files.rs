//! Host files and command output that derivers read as text, and loose text.

use super::{Channel, Document, Parsed, Parser, Read, Said};

/// System logs as text.
pub(super) static LOGS: Parser = Parser {
    id: "system-logs",
    reads: &[
        "nodes/*/rootfs/var/log/**",
        "nodes/*/rootfs/var/lib/dkms/**/make.log",
    ],
    read: Read::Lines(Channel::Journal),
};

/// Output of commands on the node.
pub(super) static COMMANDS: Parser = Parser {
    id: "commands",
    reads: &[
        "nodes/*/commands/**",
        // The container runtime's own word. Its lists of pods and containers carry annotations and arguments of
        // others, which may quote any error message, and are not searched.
        "nodes/*/cri.json",
        "nodes/*/cri/*/plugins.json",
        "nodes/*/cri/*/status.json",
    ],
    read: Read::Whole(parse_command),
};

/// TOML files of the node: kept like other files, and said where they do not parse.
pub(super) static TOML: Parser = Parser {
    id: "toml",
    reads: &["nodes/*/rootfs/**/*.toml"],
    read: Read::Whole(parse_toml),
};

/// Copies of files of the node.
pub(super) static ROOTFS: Parser = Parser {
    id: "rootfs",
    reads: &["nodes/*/rootfs/**"],
    read: Read::Keep,
};

/// Values of helm releases.
pub(super) static HELM_VALUES: Parser = Parser {
    id: "helm-values",
    reads: &["helm/*/*/values-*.yaml"],
    read: Read::Keep,
};

/// What the collector says of itself, and objects that no parser reads.
pub(super) static OWN: Parser = Parser {
    id: "not-read",
    reads: &[
        "casefile.json",
        "manifest.json",
        "privacy.json",
        "cluster-info/**",
        "cluster-resources/**",
        "helm/**",
        "nodes/**",
    ],
    read: Read::Skip,
};

/// Text of unknown origin, as pasted into a ticket.
pub(super) static LOOSE: Parser = Parser {
    id: "loose-text",
    reads: &["**"],
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
                    String::new()
                } else {
                    format!("node/{}", document.node)
                },
                text: line.to_owned(),
                place: document.line(number),
                at: None,
                count: 1,
            })
            .collect(),
        ..Parsed::default()
    }
}
