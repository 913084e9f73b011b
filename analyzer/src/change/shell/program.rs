//! The programs that a script may start: this list, and no other.

/// A program of a node, or of the machine that reaches the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// Prints files.
    Cat,
    /// The container runtime, which checks and prints its configuration.
    Containerd,
    /// Cuts columns.
    Cut,
    /// Compares texts.
    Diff,
    /// Docker's daemon, which checks its configuration.
    Dockerd,
    /// Searches texts.
    Grep,
    /// The package manager of clusters.
    Helm,
    /// Rules of the firewall, in the kernel's default backend.
    Iptables,
    /// Loads a dump of rules.
    IptablesRestore,
    /// Dumps the rules.
    IptablesSave,
    /// The same, in the old backend.
    IptablesLegacy,
    /// Loads a dump into the old backend.
    IptablesLegacyRestore,
    /// Dumps the rules of the old backend.
    IptablesLegacySave,
    /// The same, in nft's backend.
    IptablesNft,
    /// Loads a dump into nft's backend.
    IptablesNftRestore,
    /// Dumps the rules of nft's backend.
    IptablesNftSave,
    /// Speaks to the API server.
    Kubectl,
    /// The shell's own printf.
    Printf,
    /// Edits a stream.
    Sed,
    /// Hashes.
    Sha256sum,
    /// Kernel parameters.
    Sysctl,
    /// Units.
    Systemctl,
    /// Checks units.
    SystemdAnalyze,
    /// The firewall of Ubuntu.
    Ufw,
}

impl Program {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cat => "cat",
            Self::Containerd => "containerd",
            Self::Cut => "cut",
            Self::Diff => "diff",
            Self::Dockerd => "dockerd",
            Self::Grep => "grep",
            Self::Helm => "helm",
            Self::Iptables => "iptables",
            Self::IptablesRestore => "iptables-restore",
            Self::IptablesSave => "iptables-save",
            Self::IptablesLegacy => "iptables-legacy",
            Self::IptablesLegacyRestore => "iptables-legacy-restore",
            Self::IptablesLegacySave => "iptables-legacy-save",
            Self::IptablesNft => "iptables-nft",
            Self::IptablesNftRestore => "iptables-nft-restore",
            Self::IptablesNftSave => "iptables-nft-save",
            Self::Kubectl => "kubectl",
            Self::Printf => "printf",
            Self::Sed => "sed",
            Self::Sha256sum => "sha256sum",
            Self::Sysctl => "sysctl",
            Self::Systemctl => "systemctl",
            Self::SystemdAnalyze => "systemd-analyze",
            Self::Ufw => "ufw",
        }
    }

    /// Whether `--` ends its options, so that what follows is a name even where it begins with a dash.
    pub fn ends_options(self) -> bool {
        matches!(
            self,
            Self::Cat
                | Self::Cut
                | Self::Diff
                | Self::Grep
                | Self::Helm
                | Self::Kubectl
                | Self::Sed
                | Self::Sha256sum
                | Self::Systemctl
                | Self::SystemdAnalyze
        )
    }

    /// Whether every shell has it, so that nobody needs to look for it.
    pub fn is_everywhere(self) -> bool {
        matches!(
            self,
            Self::Cat
                | Self::Cut
                | Self::Diff
                | Self::Grep
                | Self::Printf
                | Self::Sed
                | Self::Sha256sum
        )
    }
}
