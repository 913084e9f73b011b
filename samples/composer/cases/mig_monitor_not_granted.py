"""Feature discovery from a manifest for nodes without MIG: it may not read the GPUs of this one."""

from .. import gpu, kube
from ..site import Site

OUT = ("gpu-feature-discovery: 2026/11/20 10:08:51 Unexpected error: Error generating NVML labels: Error generating common "
       "labels: Error getting device: nvml: Insufficient Permissions")


def compose(name):
    cards = [gpu.card(n, "NVIDIA A100-SXM4-80GB", bus, 81920, architecture="Ampere", mig="Enabled")
             for n, bus in enumerate(("00000000:07:00.0", "00000000:0F:00.0"))]
    site = Site(name, "lab-gpu-6", "10.52.1.16", cards=cards)
    site.labels = {"nvidia.com/gpu.present": "true", "nvidia.com/mig.config": "all-1g.10gb"}
    site.node_args = {"gpus": 0, "more": {"nvidia.com/mig-1g.10gb": "14"}}
    site.drop("gpu-feature-discovery")
    site.run("gpu-feature-discovery", "gpu-feature-discovery-jx8vt", "nvcr.io/nvidia/gpu-feature-discovery:v0.6.0",
             container="gpu-feature-discovery", owner="gpu-feature-discovery", restarts=24,
             labels={"app.kubernetes.io/name": "gpu-feature-discovery"}, spec={"runtimeClassName": "nvidia"},
             more={"env": [{"name": "MIG_STRATEGY", "value": "mixed"}],
                   "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}},
             state=kube.waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=gpu-feature-discovery"),
             last=kube.ended("Error", 1, "10:08:50", "10:08:51"),
             log=[("10:08:50", "gpu-feature-discovery: 2026/11/20 10:08:50 Running gpu-feature-discovery in version v0.6.0"),
                  ("10:08:50.4", "gpu-feature-discovery: 2026/11/20 10:08:50 MigStrategy       : mixed"),
                  ("10:08:51", OUT)])
    site.happened("Pod", "gpu-feature-discovery", "gpu-feature-discovery-jx8vt", "BackOff", "Back-off restarting failed "
                  "container gpu-feature-discovery in pod gpu-feature-discovery-jx8vt_gpu-feature-discovery", host=site.node,
                  first="08:20:00", last="10:13:30", count=260)
    return site
