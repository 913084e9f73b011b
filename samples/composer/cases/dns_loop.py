"""The kubelet hands pods the node's stub resolver, so CoreDNS forwards to itself."""

from .. import kube
from ..site import Site

LOOP = ('[FATAL] plugin/loop: Loop (127.0.0.1:38421 -> :53) detected for zone ".", see '
        'https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO 5377236814239171203.1183427713958452617."')


def compose(name):
    site = Site(name, "lab-gpu-1", "192.168.50.31")
    site.kubelet = site.kubelet.replace("/run/systemd/resolve/resolv.conf", "/etc/resolv.conf")
    site.bundle.file("/etc/resolv.conf", "host_info",
                     "# This file is managed by man:systemd-resolved(8). Do not edit.\n"
                     "nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch lab.example.net\n")
    site.drop("coredns")
    crash = {"state": kube.waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=coredns"),
             "last": kube.ended("Error", 1, "10:10:12", "10:10:13"), "restarts": 14}
    for pod in ("coredns-674b8bbfcf-x7k2p", "coredns-674b8bbfcf-b9d4m"):
        site.run("kube-system", pod, "registry.k8s.io/coredns/coredns:v1.12.0", container="coredns",
                 kind="ReplicaSet", owner="coredns-674b8bbfcf", labels={"k8s-app": "kube-dns"}, created="09:22:10",
                 log=[("10:10:12", ".:53"), ("10:10:12", "CoreDNS-1.12.0"),
                      ("10:10:12", "linux/amd64, go1.23.3, 51e11f1"), ("10:10:13", LOOP)], **crash)
        site.happened("Pod", "kube-system", pod, "BackOff", f"Back-off restarting failed container coredns in pod "
                      f"{pod}_kube-system", host=site.node, first="09:22:40", last="10:14:01", count=220)
    site.run("notebooks", "jupyter-anna-0", "quay.io/jupyter/pytorch-notebook:cuda12-2025-10-20", container="notebook",
             kind="StatefulSet", owner="jupyter-anna", created="09:30:00", state=kube.running("09:30:40"),
             resources={"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}},
             log=[("09:41:17", "WARNING: Retrying (Retry(total=4, connect=None, read=None)) after connection broken by "
                               "'NewConnectionError(\"Failed to establish a new connection: [Errno -3] Temporary failure in "
                               "name resolution\")': /simple/accelerate/")])
    return site
