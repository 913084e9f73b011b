"""HAMi: each card has slots and cores left, none has the memory that the pod asks for."""

import json

from .. import gpu, kube
from ..site import Site


def share(card, mib, cores):
    return f"{card['uuid']},NVIDIA,{mib},{cores}:;"


def compose(name):
    cards = [gpu.card(0, "NVIDIA L40S", "00000000:17:00.0", 46068, architecture="Ada Lovelace", used=31240,
                      processes=[(71220, "python3", 18100), (71911, "python3", 13120)]),
             gpu.card(1, "NVIDIA L40S", "00000000:65:00.0", 46068, architecture="Ada Lovelace", used=20120,
                      processes=[(73004, "python3", 20112)])]
    site = Site(name, "share-gpu-1", "10.77.3.11", cards=cards, plugin="hami")
    register = [{"id": c["uuid"], "index": c["index"], "count": 10, "devmem": 46068, "devcore": 100,
                 "type": "NVIDIA-NVIDIA L40S", "numa": c["index"], "mode": "hami-core", "health": True} for c in cards]
    site.labels["gpu"] = "on"
    site.node_args = {"gpus": 20, "annotations": {
        "hami.io/node-handshake": "Requesting_2026-11-20 10:14:41",
        "hami.io/node-nvidia-register": json.dumps(register, separators=(",", ":"))}}
    hami(site)
    for pod, card, mib in (("rag-0", 0, 20000), ("rerank-0", 0, 16000), ("chat-0", 1, 24000)):
        site.run("teams", pod, "vllm/vllm-openai:v0.11.0", container="main", kind="StatefulSet", owner=pod[:-2],
                 resources=asks(mib, 30), created="08:40:00", state=kube.running("08:41:00"),
                 spec={"schedulerName": "hami-scheduler"}, annotations={
                     "hami.io/vgpu-node": site.node, "hami.io/bind-phase": "success",
                     "hami.io/vgpu-devices-allocated": share(cards[card], mib, 30),
                     "hami.io/vgpu-time": "1795164000"})
    says = "0/2 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 1 NodeUnfitPod."
    site.run("teams", "summarise-0", "vllm/vllm-openai:v0.11.0", node="", container="main", phase="Pending",
             kind="StatefulSet", owner="summarise", resources=asks(28000, 20), created="09:31:12",
             spec={"schedulerName": "hami-scheduler"}, conditions=kube.unschedulable(says, "09:31:12"))
    for reason, message in (("FailedScheduling", says),
                            ("FilteringFailed", "no available node, 1 nodes do not meet"),
                            ("FilteringFailed", "1 nodes CardInsufficientMemory(share-gpu-1)")):
        site.happened("Pod", "teams", "summarise-0", reason, message, component="hami-scheduler",
                      first="09:31:12", last="10:11:40", count=9)
    return site


def asks(mib, cores):
    both = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": str(mib), "nvidia.com/gpucores": str(cores)}
    return {"limits": both, "requests": both}


def hami(site):
    """HAMi's own parts, in order."""
    ns = "hami-system"
    image = "docker.io/projecthami/hami:v2.7.0"
    scheduler = site.run(ns, "hami-scheduler-6c8d7f9b54-zk2vq", image, node=site.control, kind="ReplicaSet",
                         container="vgpu-scheduler-extender", owner="hami-scheduler-6c8d7f9b54",
                         labels={"app.kubernetes.io/component": "hami-scheduler", "app.kubernetes.io/name": "hami"},
                         log=[("09:31:12.3", 'I1120 09:31:12.300118       1 score.go:318] "node CardInsufficientMemory" '
                                             'pod="teams/summarise-0" node="share-gpu-1"'),
                              ("09:31:12.4", 'I1120 09:31:12.400420       1 scheduler.go:641] "No available nodes meet '
                                             'the required scores" pod="summarise-0"')])
    scheduler["status"]["podIP"] = "10.244.0.14"
    site.run(ns, "hami-device-plugin-8rv5c", image, container="device-plugin", owner="hami-device-plugin",
             labels={"app.kubernetes.io/component": "hami-device-plugin", "app.kubernetes.io/name": "hami"},
             spec={"runtimeClassName": "nvidia"},
             log=[("08:03:12", "I1120 08:03:12.118830   12003 register.go:223] \"Successfully registered annotation. "
                               "Next check in 30s seconds...\"")])
    site.bundle.objects("mutatingwebhookconfigurations", "MutatingWebhookConfiguration",
                        "admissionregistration.k8s.io/v1", [{
                            "metadata": kube.meta("hami-webhook"),
                            "webhooks": [{"name": "vgpu.hami.io", "failurePolicy": "Ignore", "timeoutSeconds": 10,
                                          "clientConfig": {"service": {"namespace": ns, "name": "hami-scheduler",
                                                                       "path": "/webhook", "port": 443}},
                                          "namespaceSelector": {"matchExpressions": [
                                              {"key": "hami.io/webhook", "operator": "NotIn", "values": ["ignore"]}]},
                                          "objectSelector": {"matchExpressions": [
                                              {"key": "hami.io/webhook", "operator": "NotIn", "values": ["ignore"]}]}}]}])
    site.configmaps[(ns, "hami-scheduler-device")] = {
        "device-config.yaml": "nvidia:\n  resourceCountName: nvidia.com/gpu\n  resourceMemoryName: nvidia.com/gpumem\n"
                              "  resourceCoreName: nvidia.com/gpucores\n  deviceMemoryScaling: 1\n  deviceSplitCount: 10\n"
                              "  defaultMemory: 0\n  defaultCores: 0\n"}
