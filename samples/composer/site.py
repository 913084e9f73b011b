"""A small cluster in order: a control plane, a GPU node, and what runs on them. Samples break it."""

from . import gpu, kube
from .bundle import Bundle

CONFIG = """version = 2
root = "/var/lib/containerd"
state = "/run/containerd"

[grpc]
  address = "/run/containerd/containerd.sock"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "/usr/bin/runc"
        SystemdCgroup = true
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
        BinaryName = "/usr/local/nvidia/toolkit/nvidia-container-runtime"
        SystemdCgroup = true
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
"""
KUBELET = """apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
resolvConf: /run/systemd/resolve/resolv.conf
staticPodPath: /etc/kubernetes/manifests
"""
COREFILE = """.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
"""
SYSTEMS = {
    "jammy": ("Ubuntu", "22.04.5 LTS (Jammy Jellyfish)", "22.04", "ubuntu", "Ubuntu 22.04.5 LTS"),
    "noble": ("Ubuntu", "24.04.3 LTS (Noble Numbat)", "24.04", "ubuntu", "Ubuntu 24.04.3 LTS"),
    "rocky9": ("Rocky Linux", "9.6 (Blue Onyx)", "9.6", "rocky", "Rocky Linux 9.6 (Blue Onyx)"),
    "debian12": ("Debian GNU/Linux", "12 (bookworm)", "12", "debian", "Debian GNU/Linux 12 (bookworm)"),
    "amzn2": ("Amazon Linux", "2", "2", "amzn", "Amazon Linux 2"),
    "sles15": ("SLES", "15-SP6", "15.6", "sles", "SUSE Linux Enterprise Server 15 SP6"),
}


class Site:
    """A cluster of which one GPU node was collected; change what is there, then `write` it."""

    def __init__(self, name, node, ip, *, system="noble", kernel="6.8.0-87-generic", kubernetes="v1.33.5",
                 containerd="1.7.28", driver="580.95.05", cuda="13.0", cards=None, arch="amd64",
                 plugin="nvidia", sharing="{}"):
        self.bundle = Bundle(name, node)
        self.node, self.ip, self.system, self.kernel = node, ip, system, kernel
        self.kubernetes, self.containerd, self.driver, self.cuda = kubernetes, containerd, driver, cuda
        self.arch, self.plugin, self.sharing = arch, plugin, sharing
        self.cards = [gpu.card(0, "NVIDIA L40S", "00000000:17:00.0", 46068, architecture="Ada Lovelace"),
                      gpu.card(1, "NVIDIA L40S", "00000000:65:00.0", 46068, architecture="Ada Lovelace")] \
            if cards is None else cards
        self.prefix = ip.rsplit(".", 1)[0]
        self.control = f"{node.split('-')[0]}-cp-1"
        self.config, self.kubelet, self.corefile = CONFIG, KUBELET, COREFILE
        self.labels = {"nvidia.com/gpu.present": "true"}
        if self.cards:
            self.labels |= {"nvidia.com/gpu.product": self.cards[0]["name"].replace(" ", "-"),
                            "nvidia.com/gpu.count": str(len(self.cards))}
        self.nodes, self.node_args = [], {}
        self.pods, self.events, self.logs, self.namespaces = [], [], {}, ["default", "kube-system"]
        self.runtime_classes = [("nvidia", "nvidia")]
        self.units = {"kubelet.service": [], "containerd.service": [], "kernel": []}
        self.sys = {"net/ipv4/ip_forward": "1", "net/ipv4/conf/all/forwarding": "1",
                    "net/ipv4/conf/default/forwarding": "1", "net/ipv4/conf/all/rp_filter": "2",
                    "net/ipv4/conf/eth0/forwarding": "1",
                    "net/bridge/bridge-nf-call-iptables": "1", "fs/inotify/max_user_instances": "8192",
                    "fs/inotify/max_user_watches": "524288", "fs/file-max": "9223372036854775807",
                    "net/netfilter/nf_conntrack_max": "262144", "net/netfilter/nf_conntrack_count": "3120",
                    "kernel/pid_max": "4194304", "vm/max_map_count": "262144"}
        self.processes = ["kubelet", "containerd"]
        self.configmaps = {}
        self.smi = True
        self._system_pods()
        if plugin == "nvidia":
            self._operator_pods()
        self._noise()

    # What runs.

    def run(self, namespace, name, image, *, node=None, log=(), **more):
        """A pod with its log."""
        if namespace not in self.namespaces:
            self.namespaces.append(namespace)
        node = self.node if node is None else node
        if node and "ip" not in more:
            more["ip"] = f"10.244.1.{20 + len(self.pods)}"
        one = kube.pod(namespace, name, node, image, **more)
        self.pods.append(one)
        if log:
            self.logs[(namespace, name, one["spec"]["containers"][0]["name"])] = list(log)
        return one

    def drop(self, beginning):
        """Takes pods out, with their logs."""
        self.pods = [p for p in self.pods if not p["metadata"]["name"].startswith(beginning)]
        self.logs = {k: v for k, v in self.logs.items() if not k[1].startswith(beginning)}

    def happened(self, kind, namespace, name, reason, message, **more):
        if namespace and namespace not in self.namespaces:
            self.namespaces.append(namespace)
        self.events.append(kube.event(kind, namespace, name, reason, message, **more))

    def kubelet_says(self, clock, message):
        self.units["kubelet.service"].append((clock, "kubelet", 1502, message))

    def containerd_says(self, clock, message):
        self.units["containerd.service"].append((clock, "containerd", 1187, message))

    def kernel_says(self, clock, message):
        self.units["kernel"].append((clock, "kernel", 0, message))

    def _system_pods(self):
        ns, cp = "kube-system", self.control
        self.run(ns, "coredns-674b8bbfcf-x7k2p", "registry.k8s.io/coredns/coredns:v1.12.0", node=self.node,
                 kind="ReplicaSet", owner="coredns-674b8bbfcf", labels={"k8s-app": "kube-dns"},
                 log=[("08:03:06", ".:53"), ("08:03:06", "CoreDNS-1.12.0"),
                      ("08:03:06", "linux/amd64, go1.23.3, 51e11f1")])
        self.run(ns, "kube-proxy-4wq8d", f"registry.k8s.io/kube-proxy:{self.kubernetes}", owner="kube-proxy",
                 ip=self.ip, spec={"hostNetwork": True},
                 log=[("08:02:31", 'I1120 08:02:31.402113       1 server_linux.go:66] "Using iptables proxy"'),
                      ("08:02:31.6", 'I1120 08:02:31.611870       1 shared_informer.go:320] "Caches are synced" '
                                     'controller="service config"')])
        self.run(ns, f"kube-apiserver-{cp}", f"registry.k8s.io/kube-apiserver:{self.kubernetes}", node=cp,
                 ip=f"{self.prefix}.10", container="kube-apiserver", spec={"hostNetwork": True})
        self.run(ns, f"kube-scheduler-{cp}", f"registry.k8s.io/kube-scheduler:{self.kubernetes}", node=cp,
                 ip=f"{self.prefix}.10", container="kube-scheduler", spec={"hostNetwork": True})
        self.run(ns, "metrics-server-6f7dd4c4c4-9n5tz", "registry.k8s.io/metrics-server/metrics-server:v0.7.2",
                 container="metrics-server", kind="ReplicaSet", owner="metrics-server-6f7dd4c4c4")

    def _operator_pods(self):
        ns, image = "gpu-operator", "nvcr.io/nvidia"
        self.run(ns, "gpu-operator-7f8b9c6d5-m4k7x", f"{image}/gpu-operator:v25.3.4", node=self.control,
                 container="gpu-operator", kind="ReplicaSet", owner="gpu-operator-7f8b9c6d5")
        nvidia = {"spec": {"runtimeClassName": "nvidia"}}
        self.run(ns, "nvidia-container-toolkit-daemonset-b7x2k", f"{image}/k8s/container-toolkit:v1.17.8-ubuntu20.04",
                 container="nvidia-container-toolkit-ctr", owner="nvidia-container-toolkit-daemonset",
                 log=[("08:02:58", 'time="2026-11-20T08:02:58Z" level=info msg="Waiting for signal"')])
        self.run(ns, "nvidia-device-plugin-daemonset-tq8vn", f"{image}/k8s-device-plugin:v0.17.4",
                 container="nvidia-device-plugin", owner="nvidia-device-plugin-daemonset", **nvidia,
                 log=[("08:03:10", "I1120 08:03:10.102381       1 main.go:235] \"Starting NVIDIA Device Plugin\""),
                      ("08:03:10.12", '  "sharing": {'), ("08:03:10.13", f'    "timeSlicing": {self.sharing}'),
                      ("08:03:10.3", "I1120 08:03:10.310022       1 server.go:197] Starting GRPC server for "
                                     "'nvidia.com/gpu'"),
                      ("08:03:10.4", "I1120 08:03:10.402217       1 server.go:148] Registered device plugin for "
                                     "'nvidia.com/gpu' with Kubelet")])
        self.run(ns, "gpu-feature-discovery-5h2wd", f"{image}/k8s-device-plugin:v0.17.4",
                 container="gpu-feature-discovery", owner="gpu-feature-discovery", **nvidia)
        self.run(ns, "nvidia-dcgm-exporter-w9c6j", f"{image}/k8s/dcgm-exporter:4.2.3-4.3.0-ubuntu22.04",
                 container="nvidia-dcgm-exporter", owner="nvidia-dcgm-exporter", **nvidia)
        self.run(ns, "nvidia-cuda-validator-kx8f2", f"{image}/cloud-native/gpu-operator-validator:v25.3.4",
                 container="nvidia-cuda-validator", phase="Succeeded", owner="nvidia-operator-validator",
                 state=kube.ended("Completed", 0, "08:03:20", "08:03:21"))

    def _noise(self):
        """What a node in order says on any day."""
        self.happened("Pod", "kube-system", "metrics-server-6f7dd4c4c4-9n5tz", "Unhealthy",
                      "Readiness probe failed: HTTP probe failed with statuscode: 500", host=self.node,
                      first="08:02:40", last="08:02:50", count=2)
        self.happened("Node", None, self.node, "NodeReady", f"Node {self.node} status is now: NodeReady",
                      type_="Normal", host=self.node, first="08:02:20")
        self.kubelet_says("08:02:18.112903", 'I1120 08:02:18.112903    1502 kubelet.go:356] "Adding static pod path" '
                                             'path="/etc/kubernetes/manifests"')
        self.kubelet_says("08:02:20.400117", 'I1120 08:02:20.400117    1502 kubelet_node_status.go:78] '
                                             f'"Successfully registered node" node="{self.node}"')
        self.kubelet_says("09:12:44.018220", 'I1120 09:12:44.018220    1502 image_gc_manager.go:306] '
                                             '"Image garbage collection succeeded"')
        self.containerd_says("08:02:02.103944", 'time="2026-11-20T08:02:02.103944182Z" level=info '
                                                f'msg="starting containerd" revision=b98a3aa version=v{self.containerd}')
        self.containerd_says("08:02:03.511032", 'time="2026-11-20T08:02:03.511032741Z" level=info '
                                                'msg="containerd successfully booted in 1.414201s"')
        if self.cards:
            self.kernel_says("08:01:33.200114", "nvidia: loading out-of-tree module taints kernel.")
            self.kernel_says("08:01:34.901230", "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  "
                                                f"{self.driver}  Release Build  (dvs-builder@U22-I3-AM02-24-3)")
        self.kernel_says("08:01:41.330871", "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready")
        self.kernel_says("08:44:02.118206", "perf: interrupt took too long (2511 > 2500), lowering "
                                            "kernel.perf_event_max_sample_rate to 79500")

    # How it is written.

    def write(self, samples):
        self._objects()
        self._host()
        self._runtime()
        self._driver()
        for unit, lines in self.units.items():
            if lines:
                self.bundle.journal(unit, lines)
        self.bundle.write(samples)

    def _objects(self):
        put, (*_, image) = self.bundle.objects, SYSTEMS[self.system]
        own = {"gpus": len(self.cards), "labels": self.labels, "arch": self.arch} | self.node_args
        common = {"kubelet": self.kubernetes, "runtime": f"containerd://{self.containerd}"}
        control = kube.node(self.control, f"{self.prefix}.10", os=image, kernel=self.kernel, cpu="8",
                            memory="32587680Ki", labels={"node-role.kubernetes.io/control-plane": ""},
                            taints=[{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}],
                            pod_cidr="10.244.0.0/24", **common)
        first = kube.node(self.node, self.ip, os=image, kernel=self.kernel, **common, **own)
        put("nodes", "Node", "v1", [control, first, *self.nodes])
        put("namespaces", "Namespace", "v1",
            [{"metadata": kube.meta(n, labels={"kubernetes.io/metadata.name": n}), "status": {"phase": "Active"}}
             for n in sorted(self.namespaces)])
        put("runtimeclasses", "RuntimeClass", "node.k8s.io/v1",
            [{"metadata": kube.meta(n), "handler": h} for n, h in self.runtime_classes])
        for namespace in sorted({p["metadata"]["namespace"] for p in self.pods}):
            put(f"pods/{namespace}", "Pod", "v1",
                [p for p in self.pods if p["metadata"]["namespace"] == namespace])
        for namespace in sorted({e["metadata"]["namespace"] for e in self.events}):
            put(f"events/{namespace}", "Event", "v1",
                [e for e in self.events if e["metadata"]["namespace"] == namespace])
        maps = {("kube-system", "coredns"): {"Corefile": self.corefile}} | self.configmaps
        for namespace in sorted({ns for ns, _ in maps}):
            put(f"configmaps/{namespace}", "ConfigMap", "v1",
                [{"metadata": kube.meta(n, ns), "data": d} for (ns, n), d in maps.items() if ns == namespace])
        for (namespace, name, container), lines in self.logs.items():
            self.bundle.log(namespace, name, container, lines)

    def _host(self):
        name, version, number, id_, _ = SYSTEMS[self.system]
        put = self.bundle.file
        put("/etc/os-release", "host_info", f'NAME="{name}"\nVERSION="{version}"\nID={id_}\nVERSION_ID="{number}"\n'
                                            f'PRETTY_NAME="{name} {version}"\n')
        put("/etc/hostname", "host_info", f"{self.node}\n")
        put("/proc/sys/kernel/osrelease", "host_info", f"{self.kernel}\n")
        put("/proc/version", "host_info", f"Linux version {self.kernel} (build@host) (gcc) #1 SMP\n")
        for key, value in sorted(self.sys.items()):
            put(f"/proc/sys/{key}", "host_info", f"{value}\n")
        self.bundle.command("df", "host_info", "Filesystem     Type        1B-blocks         Used    Available Use% "
                            "Mounted on\n/dev/nvme0n1p2 ext4    1887507697664 412316860416 1379302318080  24% /\n"
                            "tmpfs          tmpfs    54095904768      3145728  54092759040   1% /run\n",
                            "df -B1 -T -a -l")
        self.bundle.outcome("firewall", "collected", notes=[
            f"{p} is not installed (looked in /usr/sbin, /usr/bin, /sbin, /bin)" for p in ("firewall-cmd", "ufw")])
        self.bundle.command("iptables-save", "firewall", FIREWALL, "iptables-save -c")

    def _runtime(self):
        socket = "/run/containerd/containerd.sock"
        if self.config is not None:
            self.bundle.file("/etc/containerd/config.toml", "containerd_config", self.config)
        pids = {"containerd": (1187, "/usr/bin/containerd", ["/usr/bin/containerd"]),
                "kubelet": (1502, "/usr/bin/kubelet", [
                    "/usr/bin/kubelet", "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
                    "--kubeconfig=/etc/kubernetes/kubelet.conf", "--config=/var/lib/kubelet/config.yaml",
                    f"--container-runtime-endpoint=unix://{socket}", f"--node-ip={self.ip}"])}
        rows = [{"pid": p, "ppid": 1, "start": f"2026-11-20T08:02:{'02' if c == 'containerd' else '17'}Z", "comm": c,
                 "exe": exe, "cmdline": line, "cgroup": f"/system.slice/{c}.service", "root": "/"}
                for c, (p, exe, line) in pids.items() if c in self.processes]
        self.bundle.rows("processes.json", "kubelet_config", "processes", rows)
        self.bundle.file("/var/lib/kubelet/config.yaml", "kubelet_config", self.kubelet)
        if "containerd" in self.processes and self.config is not None:
            self.bundle.rows("containerd.json", "containerd_config", "instances", [{
                "id": "containerd", "pid": 1187, "started": "2026-11-20T08:02:02Z", "binary": "/usr/bin/containerd",
                "version": self.containerd, "config_path": "/etc/containerd/config.toml", "config_exists": True,
                "socket": socket, "root": "/var/lib/containerd", "state": "/run/containerd",
                "unit": "containerd.service",
                "evidence": ["process 1187: /usr/bin/containerd",
                             "process 1187 has no --config: the default /etc/containerd/config.toml",
                             "process 1187 is in the control group of containerd.service"]}])

    def _driver(self):
        if not self.cards:
            return
        self.bundle.file("/proc/driver/nvidia/version", "nvidia_smi",
                         "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                         f"{self.driver}  Release Build  (dvs-builder@U22-I3-AM02-24-3)\n"
                         "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n")
        if self.smi:
            self.bundle.command("nvidia-smi", "nvidia_smi", gpu.table(self.driver, self.cuda, self.cards), "nvidia-smi")
            self.bundle.add(f"nodes/{self.node}/commands/nvidia-smi-q.xml", "nvidia_smi",
                            gpu.query(self.driver, self.cuda, self.cards), "nvidia-smi -q -x")


FIREWALL = """# Generated by iptables-save v1.8.10 (nf_tables) on Fri Nov 20 10:15:05 2026
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:KUBE-FIREWALL - [0:0]
:KUBE-FORWARD - [0:0]
[918220:731180022] -A INPUT -j KUBE-FIREWALL
[22031:18822034] -A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
[811023:602210931] -A OUTPUT -j KUBE-FIREWALL
[0:0] -A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP
[2012:611230] -A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT
[20019:18210804] -A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
COMMIT
# Completed on Fri Nov 20 10:15:05 2026
"""
