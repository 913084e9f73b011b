"""An uncorrectable memory error on one of four A100s; the row waits for a reset to be remapped."""

from .. import gpu, kube
from ..site import Site

BUS = "PCI:0000:81:00"


def compose(name):
    cards = [gpu.card(i, "NVIDIA A100-SXM4-80GB", f"00000000:{b}:00.0", 81920, architecture="Ampere",
                      used=60210 if i != 2 else 4,
                      processes=[(88000 + i, "python3", 60200)] if i != 2 else [],
                      ecc=(3, 1, 1) if i == 2 else (1 if i == 0 else 0, 0, 0),
                      remapped=(0, 1, "Yes", "No") if i == 2 else (1 if i == 0 else 0, 0, "No", "No"))
             for i, b in enumerate(("01", "41", "81", "C1"))]
    site = Site(name, "hpc-gpu-7", "10.9.1.17", cards=cards, driver="570.195.03", cuda="12.8", system="jammy",
                kernel="5.15.0-160-generic")
    site.kernel_says("09:47:02.711290", f"NVRM: Xid ({BUS}): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row "
                                        "(0x0000000004a81c00) marked for remapping, reset gpu to activate.")
    site.kernel_says("09:47:02.713044", f"NVRM: Xid ({BUS}): 94, pid=88002, name=python3, Contained: SM (0x1). RST: No, "
                                        "D-RST: No")
    site.kernel_says("09:47:02.921137", f"NVRM: Xid ({BUS}): 45, pid=88002, name=python3, Ch 00000010")
    four = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}
    for i in range(4):
        dead = i == 2
        site.run("physics", f"md-sweep-{i}", "nvcr.io/hpc/namd:3.0.1", container="namd", kind="Job", owner="md-sweep",
                 resources=four, created="08:50:00", spec={"runtimeClassName": "nvidia", "restartPolicy": "Never"},
                 phase="Failed" if dead else "Running",
                 state=kube.ended("Error", 1, "08:50:20", "09:47:03") if dead else kube.running("08:50:20"),
                 log=[("09:46:30", "ENERGY:  412000  -1291021.1  WALL: 3371.2"),
                      ("09:47:02.9", "FATAL ERROR: CUDA error cudaStreamSynchronize(stream) in file src/CudaUtils.C, "
                                     "function cudaDie, line 54: uncorrectable ECC error encountered")] if dead else
                     [("10:14:30", "ENERGY:  611000  -1290007.4  WALL: 5051.8")])
    site.happened("Pod", "physics", "md-sweep-3", "Pulled", 'Container image "nvcr.io/hpc/namd:3.0.1" already present on '
                  "machine", type_="Normal", host=site.node, first="08:50:18")
    return site
