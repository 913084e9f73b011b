"""DGX Spark, k8s snap: the toolkit's drop-in replaces the CRI section, and runc is no longer defined."""

from .. import gpu, kube
from ..site import Site

BASE = "/var/lib/k8s-containerd/k8s-containerd"
ROOT = f"""version = 2
imports = ["{BASE}/etc/containerd/conf.d/*.toml"]
oom_score = 0

[grpc]
  address = "{BASE}/run/containerd/containerd.sock"

[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
"""
DROP_IN = """version = 2

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    [plugins."io.containerd.grpc.v1.cri".containerd]
      default_runtime_name = "runc"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes]
        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
          runtime_type = "io.containerd.runc.v2"
          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
            BinaryName = "/usr/local/nvidia/toolkit/nvidia-container-runtime"
"""
WHY = ("invalid plugin config: no corresponding runtime configured in `containerd.runtimes` for `containerd` "
       '`default_runtime_name = \\"runc\\"`')


def compose(name):
    card = gpu.card(0, "NVIDIA GB10", "0000000F:01:00.0", 122571, architecture="Blackwell")
    site = Site(name, "spark-1", "192.168.191.100", kernel="6.11.0-1016-nvidia", kubernetes="v1.34.1", containerd="1.7.28",
                cards=[card], arch="arm64", sharing='{"resources":[{"name":"nvidia.com/gpu","devices":"all","replicas":4}]}')
    unit = "snap.k8s.containerd.service"
    site.home |= {"config": f"{BASE}/etc/containerd/config.toml", "socket": f"{BASE}/run/containerd/containerd.sock",
                  "root": f"{BASE}/var/lib/containerd", "state": f"{BASE}/run/containerd", "unit": unit,
                  "binary": "/snap/k8s/5012/bin/containerd", "kubelet": "/snap/k8s/5012/bin/kubelet",
                  "kubelet_unit": "snap.k8s.kubelet.service",
                  "arguments": [f"--config={BASE}/etc/containerd/config.toml",
                                f"--address={BASE}/run/containerd/containerd.sock"]}
    site.config = ROOT
    site.bundle.file(f"{BASE}/etc/containerd/conf.d/99-nvidia.toml", "containerd_config", DROP_IN)
    site.bundle.file("/etc/docker/daemon.json", "container_runtimes",
                     '{"runtimes":{"nvidia":{"path":"nvidia-container-runtime","runtimeArgs":[]}}}\n')
    site.containerd_says("09:36:10.500118", 'time="2026-11-20T09:36:10.500118220Z" level=warning msg="failed to load plugin '
                                            f'io.containerd.grpc.v1.cri" error="{WHY}"')
    site.containerd_says("09:36:10.702214", 'time="2026-11-20T09:36:10.702214018Z" level=info msg="containerd successfully '
                                            'booted in 0.220114s"')
    for second in (14, 44):
        site.kubelet_says(f"09:36:{second}.100221", f'E1120 09:36:{second}.100221    1502 kubelet.go:3117] "Container runtime '
                                                    'network not ready" networkReady="rpc error: code = Unimplemented desc = '
                                                    'unknown service runtime.v1.RuntimeService"')
    site.units[unit] = site.units.pop("containerd.service")
    site.units["snap.k8s.kubelet.service"] = site.units.pop("kubelet.service")
    site.node_args = {"gpus": 4, "ready": False, "since": "09:36:50", "why": (
        "KubeletNotReady", "container runtime status check may not have completed yet")}
    site.configmaps[("gpu-operator", "time-slicing-config")] = {
        "any": "version: v1\nsharing:\n  timeSlicing:\n    failRequestsGreaterThanOne: false\n    resources:\n"
               "    - name: nvidia.com/gpu\n      replicas: 4\n"}
    site.logs[("gpu-operator", "nvidia-dcgm-exporter-w9c6j", "nvidia-dcgm-exporter")] = [
        ("08:03:30", "W1120 08:03:30.118204       1 devices.go:82] Ignoring error getting device memory: Not Supported"),
        ("08:03:31", 'time=2026-11-20T08:03:31.020Z level=INFO msg="DCGM successfully initialized!"')]
    site.happened("Node", None, site.node, "NodeNotReady", f"Node {site.node} status is now: NodeNotReady",
                  type_="Normal", host=site.node, first="09:36:50")
    for each in site.pods:
        if each["spec"].get("nodeName") == site.node and each["status"]["phase"] == "Running":
            each["status"]["conditions"] = kube.ready_conditions(False, "all", "09:36:50")
    return site
