"""The DCGM exporter passes its memory limit; dashboards are empty, GPUs and workloads are well."""

from .. import kube
from ..site import Site

GROUP = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod3c1a9e77_2f30_4c5e_8b2b_5d0c7c8f1e21.slice"
SCOPE = "cri-containerd-77ab10f0c7d2f5a9e4b31c60d8e0a2b4.scope"


def compose(name):
    site = Site(name, "prod-gpu-9", "10.70.1.19")
    site.drop("nvidia-dcgm-exporter")
    limit = {"limits": {"cpu": "200m", "memory": "128Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}}
    site.run("gpu-operator", "nvidia-dcgm-exporter-w9c6j", "nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.3.0-ubuntu22.04",
             container="nvidia-dcgm-exporter", owner="nvidia-dcgm-exporter", resources=limit, restarts=17,
             spec={"runtimeClassName": "nvidia"},
             state=kube.waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=nvidia-dcgm-exporter"),
             last=kube.ended("OOMKilled", 137, "10:10:02", "10:10:31"),
             log=[("10:10:03", 'time=2026-11-20T10:10:03.118Z level=INFO msg="Starting dcgm-exporter" Version=4.3.0-4.2.3'),
                  ("10:10:04", 'time=2026-11-20T10:10:04.020Z level=INFO msg="DCGM successfully initialized!"'),
                  ("10:10:05", 'time=2026-11-20T10:10:05.511Z level=INFO msg="Not collecting NvSwitch metrics; no switches to '
                               'monitor"')])
    for clock, pid in (("09:52:11", 70112), ("10:10:31", 73311)):
        site.kernel_says(f"{clock}.700101", "dcgm-exporter invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, "
                                            "oom_score_adj=999")
        site.kernel_says(f"{clock}.700955", f"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset={SCOPE},"
                                            f"mems_allowed=0-1,oom_memcg={GROUP},task_memcg={GROUP}/{SCOPE},"
                                            f"task=dcgm-exporter,pid={pid},uid=0")
        site.kernel_says(f"{clock}.701204", f"Memory cgroup out of memory: Killed process {pid} (dcgm-exporter) "
                                            "total-vm:3120448kB, anon-rss:128004kB, file-rss:51200kB, shmem-rss:0kB, UID:0 "
                                            "pgtables:812kB oom_score_adj:999")
    site.happened("Pod", "gpu-operator", "nvidia-dcgm-exporter-w9c6j", "BackOff", "Back-off restarting failed container "
                  "nvidia-dcgm-exporter in pod nvidia-dcgm-exporter-w9c6j_gpu-operator", host=site.node,
                  first="09:20:00", last="10:13:50", count=201)
    site.run("serving", "ranker-74c8d6f5b-5pl2x", "nvcr.io/nvidia/tritonserver:25.09-py3", container="ranker",
             kind="ReplicaSet", owner="ranker-74c8d6f5b", spec={"runtimeClassName": "nvidia"},
             resources={"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}},
             state=kube.running("08:12:00"), log=[("08:12:20", "I1120 08:12:20.301220 1 http_server.cc:4755] \"Started "
                                                               "HTTPService at 0.0.0.0:8000\"")])
    return site
