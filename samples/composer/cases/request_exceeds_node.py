"""A training pod asks for eight GPUs of a cluster whose largest node has four."""

from .. import gpu, kube
from ..bundle import at
from ..site import Site

SAYS = ("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, "
        "2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for "
        "scheduling, 2 No preemption victims found for incoming pod.")


def compose(name):
    cards = [gpu.card(i, "NVIDIA L40S", f"00000000:{b}:00.0", 46068, architecture="Ada Lovelace",
                      used=21504 if i == 1 else 4, processes=[(48812, "python3", 21496)] if i == 1 else [])
             for i, b in enumerate(("17", "31", "B1", "CA"))]
    site = Site(name, "train-gpu-1", "10.40.8.21", cards=cards)
    site.nodes.append(kube.node(
        "train-gpu-2", "10.40.8.22", os="Ubuntu 24.04.3 LTS", kernel=site.kernel, kubelet=site.kubernetes,
        runtime=f"containerd://{site.containerd}", gpus=2, pod_cidr="10.244.2.0/24",
        labels={"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "NVIDIA-L40S", "nvidia.com/gpu.count": "2"}))
    one = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1", "cpu": "4", "memory": "32Gi"}}
    site.run("serving", "embeddings-7c5d9f6b8-2xk4p", "vllm/vllm-openai:v0.11.0", container="embeddings",
             kind="ReplicaSet", owner="embeddings-7c5d9f6b8", resources=one, created="08:30:02",
             state=kube.running("08:31:10"),
             log=[("08:32:40", "INFO 11-20 08:32:40 [api_server.py:1912] Started server process [1]")])
    eight = {"limits": {"nvidia.com/gpu": "8"}, "requests": {"nvidia.com/gpu": "8", "cpu": "32", "memory": "256Gi"}}
    site.run("training", "finetune-70b-worker-0", "nvcr.io/nvidia/pytorch:25.09-py3", node="", container="worker",
             phase="Pending", kind="Job", owner="finetune-70b", resources=eight, created="09:21:30",
             conditions=kube.unschedulable(SAYS, "09:21:30"))
    site.happened("Pod", "training", "finetune-70b-worker-0", "FailedScheduling", SAYS,
                  component="default-scheduler", first="09:21:30", last="10:12:02", count=11)
    site.happened("Pod", "serving", "embeddings-7c5d9f6b8-2xk4p", "Pulled",
                  'Successfully pulled image "vllm/vllm-openai:v0.11.0" in 1m2.114s', type_="Normal",
                  host="train-gpu-1", first="08:31:08")
    site.events[-1]["metadata"]["creationTimestamp"] = at("08:31:08")
    return site
