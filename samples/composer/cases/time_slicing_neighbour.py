"""Time-slicing lets four pods share one GPU, and its memory; the first took nearly all of it."""

from .. import gpu, kube
from ..site import Site

OUT = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 44.39 GiB of "
       "which 1.08 GiB is free. Process 90113 has 41.52 GiB memory in use. Process 91880 has 1.79 GiB memory in use. Of the "
       "allocated memory 1.30 GiB is allocated by PyTorch, and 48.12 MiB is reserved by PyTorch but unallocated.")


def compose(name):
    card = gpu.card(0, "NVIDIA L40S", "00000000:17:00.0", 46068, architecture="Ada Lovelace", used=42524,
                    processes=[(90113, "VLLM::EngineCore", 42516)])
    site = Site(name, "dev-gpu-1", "10.30.2.11", cards=[card],
                sharing='{"resources":[{"name":"nvidia.com/gpu","devices":"all","replicas":4}]}')
    site.node_args = {"gpus": 4}
    site.labels |= {"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing",
                    "nvidia.com/gpu.product": "NVIDIA-L40S-SHARED"}
    site.configmaps[("gpu-operator", "time-slicing-config")] = {
        "any": "version: v1\nsharing:\n  timeSlicing:\n    failRequestsGreaterThanOne: false\n    resources:\n"
               "    - name: nvidia.com/gpu\n      replicas: 4\n"}
    one = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}
    site.run("team-a", "llm-6d9c5b7f8-rk4tz", "vllm/vllm-openai:v0.11.0", container="llm", kind="ReplicaSet",
             owner="llm-6d9c5b7f8", resources=one, spec={"runtimeClassName": "nvidia"}, created="08:30:00",
             state=kube.running("08:30:20"),
             log=[("08:31:44", "INFO 11-20 08:31:44 [gpu_worker.py:298] Available KV cache memory: 22.61 GiB"),
                  ("08:31:50", "INFO 11-20 08:31:50 [kv_cache_utils.py:1087] GPU KV cache size: 185,216 tokens")])
    site.run("team-b", "train-lora-0", "nvcr.io/nvidia/pytorch:25.09-py3", container="train", kind="Job",
             owner="train-lora", resources=one, spec={"runtimeClassName": "nvidia", "restartPolicy": "OnFailure"},
             created="09:40:00", restarts=6,
             state=kube.waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=train"),
             last=kube.ended("Error", 1, "10:09:02", "10:09:31"),
             log=[("10:09:20", "loading adapter, rank 16"), ("10:09:31", "Traceback (most recent call last):"),
                  ("10:09:31.1", '  File "/workspace/lora.py", line 118, in forward'), ("10:09:31.2", OUT)])
    site.happened("Pod", "team-b", "train-lora-0", "BackOff", "Back-off restarting failed container train in pod "
                  "train-lora-0_team-b", host=site.node, first="09:41:00", last="10:13:30", count=88)
    return site
