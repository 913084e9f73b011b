"""The kubelet's unit is bound to containerd's; the toolkit restarted containerd, and the kubelet stayed down."""

from .. import kube
from ..site import Site

UNIT = """[Unit]
Description=Kubernetes Kubelet
Documentation=https://github.com/kubernetes/kubernetes
After=containerd.service
BindsTo=containerd.service

[Service]
ExecStart=/usr/bin/kubelet --config /var/lib/kubelet/config.yaml --kubeconfig /etc/kubernetes/kubelet.conf \\
    --container-runtime-endpoint=unix:///run/containerd/containerd.sock $KUBELET_EXTRA_ARGS
Restart=on-failure
RestartSec=5

[Install]
WantedBy=multi-user.target
"""


def compose(name):
    site = Site(name, "aws-gpu-3", "10.225.49.23", system="amzn2", kernel="5.10.245-241.976.amzn2.x86_64",
                kubernetes="v1.32.9", containerd="1.7.27")
    site.processes = ["containerd"]
    site.bundle.file("/etc/systemd/system/kubelet.service", "kubelet_config", UNIT)
    site.bundle.command("systemctl-units", "host_info",
                        "  UNIT               LOAD   ACTIVE   SUB     DESCRIPTION\n"
                        "  containerd.service loaded active   running containerd container runtime\n"
                        "  kubelet.service    loaded inactive dead    Kubernetes Kubelet\n"
                        "  sshd.service       loaded active   running OpenSSH server daemon\n",
                        "systemctl list-units --all --no-pager --plain --full")
    site.node_args = {"ready": False, "since": "09:41:50", "why": (
        "NodeStatusUnknown", "Kubelet stopped posting node status.", "Unknown")}
    site.drop("nvidia-container-toolkit")
    site.run("gpu-operator", "nvidia-container-toolkit-daemonset-p5n8c", "nvcr.io/nvidia/k8s/container-toolkit:v1.17.8-ubi8",
             container="nvidia-container-toolkit-ctr", owner="nvidia-container-toolkit-daemonset", created="09:40:20",
             state=kube.running("09:40:51"),
             log=[("09:40:58", 'time="2026-11-20T09:40:58Z" level=info msg="Flushing config to /runtime/config-dir/config.toml"'),
                  ("09:40:58.2", 'time="2026-11-20T09:40:58Z" level=info msg="Sending SIGHUP signal to containerd"'),
                  ("09:40:58.4", 'time="2026-11-20T09:40:58Z" level=info msg="Successfully signaled containerd"')])
    systemd = ("systemd", 1)
    site.units["containerd.service"] += [
        ("09:40:58.311002", *systemd, "containerd.service: main process exited, code=killed, status=1/HUP"),
        ("09:41:03.400218", *systemd, "Starting containerd container runtime..."),
        ("09:41:03.612230", *systemd, "Started containerd container runtime.")]
    site.kubelet_says("09:40:58.330417", 'W1120 09:40:58.330417    1502 logging.go:55] [core] [Channel #1 SubChannel #2]grpc: '
                                         'addrConn.createTransport failed to connect to {Addr: '
                                         '"/run/containerd/containerd.sock", ServerName: "localhost", }. Err: connection error: '
                                         'desc = "transport: Error while dialing: dial unix /run/containerd/containerd.sock: '
                                         'connect: connection refused"')
    site.units["kubelet.service"] += [
        ("09:40:58.402911", *systemd, "Stopping Kubernetes Kubelet..."),
        ("09:40:58.471006", "kubelet", 1502, "I1120 09:40:58.471006    1502 dynamic_cafile_content.go:175] \"Shutting down "
                                             "controller\" name=\"client-ca-bundle::/etc/kubernetes/pki/ca.crt\""),
        ("09:40:58.530117", *systemd, "Stopped Kubernetes Kubelet.")]
    site.happened("Node", None, site.node, "NodeNotReady", f"Node {site.node} status is now: NodeNotReady",
                  type_="Normal", component="node-controller", first="09:41:50")
    for number in (1, 2):
        site.run("batch", f"etl-{number}", "registry.example.net/batch/etl:3.2", node="", container="etl", phase="Pending",
                 kind="Job", owner="etl", created="09:55:00", spec={"nodeSelector": {"nvidia.com/gpu.present": "true"}},
                 conditions=kube.unschedulable("0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 "
                                               "node(s) had untolerated taint {node.kubernetes.io/unreachable: }.", "09:55:00"))
    return site
