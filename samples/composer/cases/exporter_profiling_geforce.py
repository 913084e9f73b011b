"""A profiling list of metrics on GPUs that have none; the pinned exporter ends on it."""

from .. import gpu, kube
from ..site import Site

OUT = "Error watching fields: Profiling is not supported for this group of GPUs or GPU"


def compose(name):
    cards = [gpu.card(n, "NVIDIA GeForce RTX 4090", bus, 24564, architecture="Ada Lovelace")
             for n, bus in enumerate(("00000000:01:00.0", "00000000:41:00.0"))]
    site = Site(name, "render-gpu-2", "10.44.2.12", cards=cards)
    site.drop("nvidia-dcgm-exporter")
    site.run("gpu-operator", "nvidia-dcgm-exporter-4mz7c", "nvcr.io/nvidia/k8s/dcgm-exporter:2.1.4-2.3.1-ubuntu20.04",
             container="nvidia-dcgm-exporter", owner="nvidia-dcgm-exporter", restarts=31,
             labels={"app": "nvidia-dcgm-exporter", "app.kubernetes.io/managed-by": "gpu-operator"},
             spec={"runtimeClassName": "nvidia"},
             more={"env": [{"name": "DCGM_EXPORTER_LISTEN", "value": ":9400"},
                           {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"},
                           {"name": "DCGM_EXPORTER_COLLECTORS", "value": "/etc/dcgm-exporter/dcp-metrics-included.csv"}]},
             state=kube.waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=nvidia-dcgm-exporter"),
             last=kube.ended("Error", 1, "10:09:32", "10:09:33"),
             log=[("10:09:32", 'time="2026-11-20T10:09:32Z" level=info msg="Starting dcgm-exporter"'),
                  ("10:09:32.6", 'time="2026-11-20T10:09:32Z" level=info msg="DCGM successfully initialized!"'),
                  ("10:09:33", f'time="2026-11-20T10:09:33Z" level=fatal msg="{OUT}"')])
    site.happened("Pod", "gpu-operator", "nvidia-dcgm-exporter-4mz7c", "BackOff", "Back-off restarting failed container "
                  "nvidia-dcgm-exporter in pod nvidia-dcgm-exporter-4mz7c_gpu-operator", host=site.node,
                  first="08:04:00", last="10:13:40", count=301)
    return site
