"""A hardening profile set net.ipv4.ip_forward to 0; pods of this node reach nothing beyond it."""

from .. import kube
from ..site import Site


def compose(name):
    site = Site(name, "edge-gpu-2", "172.20.6.12", system="rocky9", kernel="5.14.0-570.49.1.el9_6.x86_64")
    site.sys |= {"net/ipv4/ip_forward": "0", "net/ipv4/conf/all/forwarding": "0",
                 "net/ipv4/conf/default/forwarding": "0", "net/ipv4/conf/eth0/forwarding": "0"}
    site.bundle.file("/etc/sysctl.d/99-kubernetes.conf", "host_info", "net.bridge.bridge-nf-call-iptables = 1\n"
                                                                      "net.ipv4.ip_forward = 1\n")
    site.bundle.file("/etc/sysctl.d/99-zz-hardening.conf", "host_info",
                     "# Server hardening profile\nkernel.dmesg_restrict = 1\nnet.ipv4.conf.all.accept_redirects = 0\n"
                     "net.ipv4.ip_forward = 0\n")
    site.drop("coredns")
    site.run("kube-system", "coredns-674b8bbfcf-x7k2p", "registry.k8s.io/coredns/coredns:v1.12.0", node=site.control,
             container="coredns", kind="ReplicaSet", owner="coredns-674b8bbfcf", labels={"k8s-app": "kube-dns"},
             log=[("08:03:06", ".:53"), ("08:03:06", "CoreDNS-1.12.0")])
    site.run("vision", "detector-5f7d8c9b6-l2w9s", "registry.example.net/vision/detector:1.9.3", container="detector",
             kind="ReplicaSet", owner="detector-5f7d8c9b6", created="09:20:11", restarts=8,
             resources={"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}},
             spec={"runtimeClassName": "nvidia"},
             state=kube.waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=detector"),
             last=kube.ended("Error", 1, "10:08:10", "10:08:51"),
             log=[("10:08:11", "CUDA available: True, device 0: NVIDIA L40S"),
                  ("10:08:51", "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='models.example.net', port=443): "
                               "Max retries exceeded with url: /v1/detector/latest (Caused by NameResolutionError(\""
                               "Failed to resolve 'models.example.net' ([Errno -3] Temporary failure in name resolution)\"))")])
    site.happened("Pod", "vision", "detector-5f7d8c9b6-l2w9s", "BackOff", "Back-off restarting failed container detector in "
                  "pod detector-5f7d8c9b6-l2w9s_vision", host=site.node, first="09:21:30", last="10:13:40", count=170)
    site.happened("Pod", "kube-system", "metrics-server-6f7dd4c4c4-9n5tz", "Unhealthy",
                  'Readiness probe failed: Get "https://10.244.1.24:10250/readyz": context deadline exceeded',
                  host=site.node, first="09:14:02", last="10:12:50", count=31)
    return site
