//! Values that are no secrets, as they stand alone in many places.

use super::MakeValue;
use crate::planted::kinds::base64;
use crate::planted::rng::Rng;

/// The values alone, as they stand in many places.
pub(super) const VALUES: &[(&str, MakeValue)] = &[
    ("image digest", |r| format!("sha256:{}", r.hex(64))),
    ("image with digest", |r| {
        format!("nvcr.io/nvidia/k8s/cuda-sample@sha256:{}", r.hex(64))
    }),
    ("UID", Rng::uuid),
    ("GPU UUID", |r| format!("GPU-{}", r.uuid())),
    ("MIG UUID", |r| format!("MIG-{}", r.uuid())),
    ("commit id", |r| r.hex(40)),
    ("short commit id", |r| r.hex(7)),
    ("container id", |r| format!("containerd://{}", r.hex(64))),
    ("machine id", |r| r.hex(32)),
    ("node name", |r| {
        format!("gpu-{}-{}", r.text(3, "abcdef"), r.text(4, "0123456789"))
    }),
    ("pod name", |r| {
        format!(
            "web-{}-{}",
            r.text(10, "bcdf456789"),
            r.text(5, "bcdfgh2456")
        )
    }),
    ("resource version", |r| r.text(9, "123456789")),
    ("driver version", |r| {
        format!("{}.{}.{}", 500 + r.below(80), r.below(200), r.below(20))
    }),
    ("PCI address", |r| {
        format!("0000{}:{}:00.0", r.hex(4), r.hex(2))
    }),
    ("MAC address", |r| {
        format!(
            "{}:{}:{}:{}:{}:{}",
            r.hex(2),
            r.hex(2),
            r.hex(2),
            r.hex(2),
            r.hex(2),
            r.hex(2)
        )
    }),
    ("IPv6 address", |r| {
        format!("fd00:{}:{}::{}", r.hex(4), r.hex(4), r.hex(3))
    }),
    ("cgroup", |r| {
        format!(
            "/kubepods.slice/kubepods-pod{}.slice/cri-containerd-{}.scope",
            r.uuid().replace('-', "_"),
            r.hex(64)
        )
    }),
    ("volume path", |r| {
        format!(
            "/var/lib/kubelet/pods/{}/volumes/kubernetes.io~projected/kube-api-access-{}",
            r.uuid(),
            r.text(5, "bcdfgh2456")
        )
    }),
    ("serial number", |r| r.text(13, "0123456789")),
    ("SSH public key", |r| {
        format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{} me@host", base64(r, 36))
    }),
    ("SSH fingerprint", |r| {
        format!("SHA256:{}", base64(r, 32).trim_end_matches('='))
    }),
    ("URL", |r| {
        format!(
            "https://nvcr.io:443/v2/nvidia/driver/manifests/{}",
            r.hex(12)
        )
    }),
    ("git address", |r| {
        format!("git@github.com:corp/{}.git", r.hex(8))
    }),
    ("e-mail address", |r| format!("{}@example.com", r.hex(8))),
    ("time", |r| {
        format!(
            "2026-11-{:02}T10:15:{:02}.{}Z",
            1 + r.below(28),
            r.below(60),
            r.text(9, "0123456789")
        )
    }),
    ("kernel version", |r| {
        format!(
            "6.8.0-{}-generic #{}-Ubuntu SMP",
            r.below(100),
            r.below(100)
        )
    }),
    ("helm chart", |r| {
        format!("gpu-operator-v25.{}.{}", r.below(12), r.below(9))
    }),
    ("event name", |r| format!("web-0.{}", r.hex(16))),
];
