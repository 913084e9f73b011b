"""The driver of an NVSwitch node was updated, Fabric Manager was not."""

from .. import gpu, kube
from ..site import Site

DRIVER, MANAGER = "580.95.05", "580.82.07"
BUSES = ("1B", "43", "52", "61", "9D", "C3", "D1", "DF")


def compose(name):
    cards = [gpu.card(i, "NVIDIA H100 80GB HBM3", f"00000000:{b}:00.0", 81559, architecture="Hopper",
                      fabric=("In Progress", "N/A")) for i, b in enumerate(BUSES)]
    site = Site(name, "hgx-gpu-1", "10.12.0.41", driver=DRIVER, cards=cards)
    unit = "nvidia-fabricmanager.service"
    for clock in ("08:01:58", "09:44:10"):
        says = [(f"{clock}.100412", "systemd", 1, "Starting NVIDIA fabric manager service..."),
                (f"{clock}.331204", "nv-fabricmanager", 2204,
                 f"fabric manager NVIDIA GPU driver interface version {MANAGER} don't match with driver version {DRIVER}. "
                 "Please update with matching NVIDIA driver package."),
                (f"{clock}.340117", "systemd", 1,
                 f"{unit}: Control process exited, code=exited, status=1/FAILURE"),
                (f"{clock}.341980", "systemd", 1, f"{unit}: Failed with result 'exit-code'."),
                (f"{clock}.342516", "systemd", 1, "Failed to start NVIDIA fabric manager service.")]
        site.units.setdefault(unit, []).extend(says)
    site.bundle.command("systemctl-failed", "host_info",
                        "  UNIT                         LOAD   ACTIVE SUB    DESCRIPTION\n"
                        "  nvidia-fabricmanager.service loaded failed failed NVIDIA fabric manager service\n",
                        "systemctl list-units --failed --no-pager --plain --full")
    site.bundle.file("/var/log/apt/history.log", "packages",
                     "Start-Date: 2026-11-20  07:41:03\nCommandline: apt-get install -y nvidia-open-580\n"
                     f"Upgrade: nvidia-open-580:amd64 (580.82.07-0ubuntu1, {DRIVER}-0ubuntu1), "
                     f"libnvidia-compute-580:amd64 (580.82.07-0ubuntu1, {DRIVER}-0ubuntu1)\nEnd-Date: 2026-11-20  07:44:51\n\n")
    eight = {"limits": {"nvidia.com/gpu": "8"}, "requests": {"nvidia.com/gpu": "8"}}
    site.run("training", "pretrain-0", "nvcr.io/nvidia/pytorch:25.09-py3", container="pretrain", kind="Job",
             owner="pretrain", resources=eight, spec={"runtimeClassName": "nvidia", "restartPolicy": "OnFailure"},
             created="09:50:00", restarts=5, state=kube.waiting(
                 "CrashLoopBackOff", "back-off 2m40s restarting failed container=pretrain pod=pretrain-0_training"),
             last=kube.ended("Error", 1, "10:06:11", "10:06:24"),
             log=[("10:06:20", "Traceback (most recent call last):"),
                  ("10:06:20.1", '  File "/workspace/train.py", line 41, in <module>'),
                  ("10:06:20.2", "    torch.cuda.set_device(local_rank)"),
                  ("10:06:20.3", "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions "
                                 "before calling NumCudaDevices() that might have already set an error? Error 802: system "
                                 "not yet initialized")])
    site.happened("Pod", "training", "pretrain-0", "BackOff", "Back-off restarting failed container pretrain in pod "
                  "pretrain-0_training", host=site.node, first="09:50:40", last="10:13:02", count=44)
    return site
