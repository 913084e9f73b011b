"""A registry mirror was added beside config_path; containerd's CRI plugin refuses both together."""

from .. import kube
from ..site import Site

SOCKET = "unix:///run/containerd/containerd.sock"
CONFIG = """version = 3

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "registry.k8s.io/pause:3.10"

[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = "/etc/containerd/certs.d"

  [plugins.'io.containerd.cri.v1.images'.registry.mirrors]
    [plugins.'io.containerd.cri.v1.images'.registry.mirrors."docker.io"]
      endpoint = ["https://mirror.example.net"]

[plugins.'io.containerd.cri.v1.runtime'.containerd]
  default_runtime_name = "runc"

  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      SystemdCgroup = true

  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]
    runtime_type = "io.containerd.runc.v2"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia.options]
      BinaryName = "/usr/local/nvidia/toolkit/nvidia-container-runtime"
      SystemdCgroup = true
"""


def compose(name):
    site = Site(name, "air-gpu-1", "10.201.0.21", containerd="2.1.5")
    site.config, site.processes = CONFIG, ["containerd"]
    site.node_args = {"ready": False, "since": "09:48:30", "why": (
        "NodeStatusUnknown", "Kubelet stopped posting node status.", "Unknown")}
    put = site.bundle.file
    put("/etc/containerd/certs.d/docker.io/hosts.toml", "containerd_config",
        'server = "https://registry-1.docker.io"\n\n[host."https://mirror.example.net"]\n  capabilities = ["pull", "resolve"]\n')
    site.containerd_says("09:47:40.210994", 'time="2026-11-20T09:47:40.210994103Z" level=info msg="starting containerd" '
                                            "revision=fcd43222d6b07379a4be9786bda52438f0dd16a1 version=v2.1.5")
    site.containerd_says("09:47:40.302145", 'time="2026-11-20T09:47:40.302145220Z" level=warning msg="failed to load plugin" '
                                            'error="invalid cri image config: `mirrors` cannot be set when `config_path` is '
                                            'provided" id=io.containerd.cri.v1.images type=io.containerd.cri.v1')
    site.containerd_says("09:47:40.309518", 'time="2026-11-20T09:47:40.309518477Z" level=warning msg="failed to load plugin" '
                                            'error="unable to load CRI image service plugin dependency: invalid cri image '
                                            'config: `mirrors` cannot be set when `config_path` is provided" '
                                            "id=io.containerd.grpc.v1.cri type=io.containerd.grpc.v1")
    site.containerd_says("09:47:40.320107", 'time="2026-11-20T09:47:40.320107004Z" level=info msg="containerd successfully '
                                            'booted in 0.114120s"')
    for minute in range(48, 60, 2):
        site.kubelet_says(f"09:{minute}:11.402007",
                          f'E1120 09:{minute}:11.402007    {4000 + minute} run.go:72] "command failed" err="failed to run '
                          f'Kubelet: validate service connection: validate CRI v1 runtime API for endpoint \\"{SOCKET}\\": rpc '
                          'error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService"')
    site.happened("Node", None, site.node, "NodeNotReady", f"Node {site.node} status is now: NodeNotReady",
                  type_="Normal", component="node-controller", first="09:48:30")
    for each in site.pods:
        if each["spec"].get("nodeName") == site.node and each["status"]["phase"] == "Running":
            each["status"]["conditions"] = kube.ready_conditions(False, "all", "09:48:30")
    return site
