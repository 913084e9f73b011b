"""Two ranks on two GPUs without NVLink talk through /dev/shm, which has the runtime's 64 MiB."""

from .. import kube
from ..site import Site

HOST = "ddp-resnet-worker-0:212"


def compose(name):
    site = Site(name, "cv-gpu-5", "10.16.3.25", system="sles15", kernel="6.4.0-150600.23.70-default")
    two = {"limits": {"nvidia.com/gpu": "2", "memory": "64Gi"}, "requests": {"nvidia.com/gpu": "2", "memory": "64Gi"}}
    site.run("vision", "ddp-resnet-worker-0", "nvcr.io/nvidia/pytorch:25.09-py3", container="worker", kind="Job",
             owner="ddp-resnet", resources=two, created="09:44:00", restarts=4,
             spec={"runtimeClassName": "nvidia", "restartPolicy": "OnFailure", "volumes": [
                 {"name": "data", "hostPath": {"path": "/srv/imagenet", "type": "Directory"}}]},
             more={"volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True}]},
             state=kube.waiting("CrashLoopBackOff", "back-off 1m20s restarting failed container=worker"),
             last=kube.ended("Error", 1, "10:08:00", "10:08:41"),
             log=[("10:08:20", f"{HOST}:212 [0] NCCL INFO NCCL version 2.27.7+cuda13.0"),
                  ("10:08:21", f"{HOST}:240 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"),
                  ("10:08:21.4", f"{HOST}:240 [0] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-TkP3xe "
                                 "to 33030532 bytes, error: No space left on device (28)"),
                  ("10:08:21.5", f"{HOST}:240 [0] misc/shmutils.cc:129 NCCL WARN Error while creating shared memory segment "
                                 "/dev/shm/nccl-TkP3xe (size 33030528), error: No space left on device (28)"),
                  ("10:08:21.6", f"{HOST}:240 [0] NCCL INFO transport/shm.cc:114 -> 2"),
                  ("10:08:40", "[rank0]: torch.distributed.DistBackendError: NCCL error in: "
                               "/opt/pytorch/pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:94, unhandled system error (run "
                               "with NCCL_DEBUG=INFO for details), NCCL version 2.27.7")])
    site.happened("Pod", "vision", "ddp-resnet-worker-0", "BackOff", "Back-off restarting failed container worker in pod "
                  "ddp-resnet-worker-0_vision", host=site.node, first="09:46:00", last="10:13:00", count=52)
    return site
