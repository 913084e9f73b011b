"""Unattended upgrades replaced the driver's libraries; the loaded module is still the older one."""

from .. import kube
from ..site import Site

OLD, NEW = "580.95.05", "580.105.08"
REFUSED = ("Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create "
           "failed: unable to start container process: error during container init: error running prestart hook #0: exit "
           "status 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: nvml "
           "error: driver/library version mismatch\n: unknown")


def compose(name):
    site = Site(name, "inf-gpu-3", "10.61.4.33", system="jammy", kernel="5.15.0-160-generic", driver=OLD)
    site.smi = False
    put = site.bundle
    put.command("nvidia-smi", "nvidia_smi", "Failed to initialize NVML: Driver/library version mismatch\n"
                                            "NVML library version: 580.105\n", "nvidia-smi")
    put.outcome("nvidia_smi", "partial", "nvidia-smi failed", ["/usr/bin/nvidia-smi: exit code 18: Failed to initialize "
                                                               "NVML: Driver/library version mismatch",
                                                               "/usr/bin/nvidia-smi -q -x: exit code 18"])
    folder = "/usr/lib/x86_64-linux-gnu"
    put.rows("host/libraries.json", "nvidia_driver", "libraries", [
        {"path": f"{folder}/{stem}.so.1", "cached_as": f"{stem}.so.1", "exists": True,
         "real": f"{folder}/{stem}.so.{NEW}", "version": NEW, "machine": "x86-64", "size": size}
        for stem, size in (("libcuda", 96227192), ("libnvidia-ml", 2258256), ("libnvidia-ptxjitcompiler", 36842312))])
    put.file("/var/log/apt/history.log", "packages",
             "Start-Date: 2026-11-20  06:24:11\nCommandline: /usr/bin/unattended-upgrade\n"
             f"Upgrade: libnvidia-compute-580-server:amd64 ({OLD}-0ubuntu0.22.04.2, {NEW}-0ubuntu0.22.04.1), "
             f"nvidia-utils-580-server:amd64 ({OLD}-0ubuntu0.22.04.2, {NEW}-0ubuntu0.22.04.1)\n"
             "End-Date: 2026-11-20  06:25:02\n\n")
    for second, module in (("01.227810", OLD), ("41.902113", OLD)):
        site.kernel_says(f"09:40:{second}", f"NVRM: API mismatch: the client has the version {NEW}, but\n"
                                            f"NVRM: this kernel module has the version {module}.  Please\n"
                                            "NVRM: make sure that this kernel module and all NVIDIA driver\n"
                                            "NVRM: components have the same version.")
    gpus = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}
    old = site.run("inference", "whisper-6b7c9d4f5-qm8zt", "registry.example.net/speech/whisper:2.4.1",
                   container="whisper", kind="ReplicaSet", owner="whisper-6b7c9d4f5", resources=gpus,
                   spec={"runtimeClassName": "nvidia"}, created="08:20:00", state=kube.running("08:20:12"),
                   log=[("08:20:31", "model loaded in 14.2 s, serving on :8000")])
    old["metadata"]["labels"]["track"] = "stable"
    site.run("inference", "whisper-canary-58f6c7b9d-7hjw2", "registry.example.net/speech/whisper:2.5.0",
             container="whisper", kind="ReplicaSet", owner="whisper-canary-58f6c7b9d", resources=gpus,
             spec={"runtimeClassName": "nvidia"}, created="09:38:20", restarts=9,
             state=kube.waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=whisper "
                                                    "pod=whisper-canary-58f6c7b9d-7hjw2_inference"),
             last=kube.ended("StartError", 128, "09:58:02", "09:58:02", REFUSED.removeprefix("Error: ")))
    site.happened("Pod", "inference", "whisper-canary-58f6c7b9d-7hjw2", "Failed", REFUSED, host=site.node,
                  first="09:38:31", last="10:08:44", count=9)
    site.happened("Pod", "inference", "whisper-canary-58f6c7b9d-7hjw2", "BackOff",
                  "Back-off restarting failed container whisper in pod whisper-canary-58f6c7b9d-7hjw2_inference",
                  host=site.node, first="09:38:40", last="10:13:20", count=160)
    return site
