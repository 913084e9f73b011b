//! The programs that a script may start: this list, and no other.

/// Makes the list of programs from what each is called.
macro_rules! programs {
    ($($(#[$about:meta])* $program:ident => $name:literal,)*) => {
        /// A program of a node, or of the machine that reaches the cluster.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Program {
            $($(#[$about])* $program,)*
        }

        impl Program {
            /// All of them.
            pub const ALL: &[Program] = &[$(Program::$program,)*];

            /// What it is called.
            pub fn name(self) -> &'static str {
                match self {
                    $(Program::$program => $name,)*
                }
            }
        }
    };
}

// One that takes no `--`, or that every machine has, stands in a list below too.
programs! {
    /// Prints files.
    Cat => "cat",
    /// Changes the mode of files.
    Chmod => "chmod",
    /// Changes the owner of files.
    Chown => "chown",
    /// The container runtime, which checks and prints its configuration.
    Containerd => "containerd",
    /// Another container runtime, which checks and prints its configuration.
    Crio => "crio",
    /// Speaks to the container runtime.
    Crictl => "crictl",
    /// Cuts columns.
    Cut => "cut",
    /// Compares texts.
    Diff => "diff",
    /// Docker's daemon, which checks its configuration.
    Dockerd => "dockerd",
    /// Settings of network devices.
    Ethtool => "ethtool",
    /// The firewall of Red Hat's and SUSE's systems.
    FirewallCmd => "firewall-cmd",
    /// Searches texts.
    Grep => "grep",
    /// The package manager of clusters.
    Helm => "helm",
    /// Rules of the firewall, in the kernel's default backend.
    Iptables => "iptables",
    /// Loads a dump of rules.
    IptablesRestore => "iptables-restore",
    /// Dumps the rules.
    IptablesSave => "iptables-save",
    /// The same, in the old backend.
    IptablesLegacy => "iptables-legacy",
    /// Loads a dump into the old backend.
    IptablesLegacyRestore => "iptables-legacy-restore",
    /// Dumps the rules of the old backend.
    IptablesLegacySave => "iptables-legacy-save",
    /// The same, in nft's backend.
    IptablesNft => "iptables-nft",
    /// Loads a dump into nft's backend.
    IptablesNftRestore => "iptables-nft-restore",
    /// Dumps the rules of nft's backend.
    IptablesNftSave => "iptables-nft-save",
    /// Speaks to the API server.
    Kubectl => "kubectl",
    /// Rules of nftables.
    Nft => "nft",
    /// NVIDIA's tool for containers, which writes CDI specifications.
    NvidiaCtk => "nvidia-ctk",
    /// The shell's own printf.
    Printf => "printf",
    /// Edits a stream.
    Sed => "sed",
    /// Hashes.
    Sha256sum => "sha256sum",
    /// Waits.
    Sleep => "sleep",
    /// Says what a file is.
    Stat => "stat",
    /// Takes swap out of use.
    Swapoff => "swapoff",
    /// Takes swap into use.
    Swapon => "swapon",
    /// Kernel parameters.
    Sysctl => "sysctl",
    /// Units.
    Systemctl => "systemctl",
    /// Checks units.
    SystemdAnalyze => "systemd-analyze",
    /// The firewall of Ubuntu.
    Ufw => "ufw",
}

impl Program {
    /// Whether `--` ends its options, so that what follows is a name even where it begins with a dash.
    pub fn ends_options(self) -> bool {
        matches!(
            self,
            Self::Cat
                | Self::Chmod
                | Self::Chown
                | Self::Cut
                | Self::Diff
                | Self::Grep
                | Self::Helm
                | Self::Kubectl
                | Self::Sed
                | Self::Sha256sum
                | Self::Stat
                | Self::Swapoff
                | Self::Swapon
                | Self::Systemctl
                | Self::SystemdAnalyze
        )
    }

    /// Whether every shell has it, so that nobody needs to look for it.
    pub fn is_everywhere(self) -> bool {
        matches!(
            self,
            Self::Cat
                | Self::Chmod
                | Self::Chown
                | Self::Cut
                | Self::Diff
                | Self::Grep
                | Self::Printf
                | Self::Sed
                | Self::Sha256sum
                | Self::Sleep
                | Self::Stat
        )
    }
}
