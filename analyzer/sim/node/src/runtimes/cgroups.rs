//! The kubelet's cgroup driver beside a handler's.

use crate::containerd::Answer;

/// What the kubelet would use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeletDriver {
    /// `systemd`, `cgroupfs` or empty where it cannot be known.
    pub driver: String,
    /// Where that comes from.
    pub from: &'static str,
}

/// What is known about the kubelet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kubelet<'a> {
    /// `cgroupDriver` or `--cgroup-driver`.
    pub set: Option<&'a str>,
    /// Whether a configuration file or a command line was captured.
    pub seen: bool,
    /// Its version, such as `v1.33.1`.
    pub version: &'a str,
    /// What the runtime answers when it is asked: the driver of its default handler. None where it cannot answer.
    pub runtime_says: Option<&'a str>,
}

/// From 1.34 on the kubelet asks the runtime first, and 1.31 to 1.33 do where the feature gate, on by default, is left.
const ASKS_SINCE: u32 = 31;

/// The driver in effect: the runtime's own word where kubelet and runtime can talk about it, else the setting.
#[must_use]
pub fn effective(kubelet: Kubelet<'_>) -> KubeletDriver {
    let minor = minor(kubelet.version);
    if let Some(says) = kubelet
        .runtime_says
        .filter(|_| minor.is_some_and(|minor| minor >= ASKS_SINCE))
    {
        return KubeletDriver {
            driver: says.to_owned(),
            from: "asked of the runtime",
        };
    }
    match kubelet.set {
        Some(set) => KubeletDriver {
            driver: set.to_owned(),
            from: "set",
        },
        None if kubelet.seen => KubeletDriver {
            driver: "cgroupfs".to_owned(),
            from: "built in",
        },
        None => KubeletDriver {
            driver: String::new(),
            from: "not captured",
        },
    }
}

fn minor(version: &str) -> Option<u32> {
    let mut parts = version.trim_start_matches('v').split('.');
    (parts.next()? == "1").then_some(())?;
    parts.next()?.parse().ok()
}

/// Whether both use the same.
#[must_use]
pub fn matches(kubelet: &str, runtime: &str) -> Answer {
    match (kubelet, runtime) {
        ("", _) | (_, "") => Answer::Unknown,
        (kubelet, runtime) if kubelet == runtime => Answer::Yes,
        _ => Answer::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kubelet_asks_the_runtime_where_both_are_new_enough_and_else_goes_by_its_setting() {
        let kubelet = |set, version, runtime_says| {
            effective(Kubelet {
                set,
                seen: true,
                version,
                runtime_says,
            })
        };
        let old = kubelet(Some("systemd"), "v1.30.9", Some("cgroupfs"));
        assert_eq!((old.driver.as_str(), old.from), ("systemd", "set"));
        let new = kubelet(Some("systemd"), "v1.33.1+rke2r1", Some("cgroupfs"));
        assert_eq!(
            (new.driver.as_str(), new.from),
            ("cgroupfs", "asked of the runtime")
        );
        let silent = kubelet(Some("systemd"), "v1.33.1", None);
        assert_eq!(silent.from, "set", "containerd 1.7 cannot answer");
        assert_eq!(kubelet(None, "v1.30.0", None).driver, "cgroupfs");
        let unseen = effective(Kubelet::default());
        assert_eq!(matches(&unseen.driver, "systemd"), Answer::Unknown);
        assert_eq!(matches("cgroupfs", "systemd"), Answer::No);
    }
}
