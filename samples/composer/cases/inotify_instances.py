"""Every inotify instance of root is in use; the device plugin cannot watch the kubelet's folder."""

from .. import kube
from ..site import Site

WATCH = ('error starting plugins: failed to create FS watcher for "/var/lib/kubelet/device-plugins/": too many open files')


def compose(name):
    site = Site(name, "ci-gpu-4", "10.88.0.44", system="debian12", kernel="6.1.0-40-amd64")
    site.sys["fs/inotify/max_user_instances"] = "128"
    site.node_args = {"gpus": 2, "free_gpus": 0}
    site.drop("nvidia-device-plugin")
    site.run("gpu-operator", "nvidia-device-plugin-daemonset-tq8vn", "nvcr.io/nvidia/k8s-device-plugin:v0.17.4",
             container="nvidia-device-plugin", owner="nvidia-device-plugin-daemonset",
             spec={"runtimeClassName": "nvidia"}, restarts=11,
             state=kube.waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=nvidia-device-plugin"),
             last=kube.ended("Error", 1, "10:11:40", "10:11:41"),
             log=[("10:11:40", "I1120 10:11:40.120033       1 main.go:235] \"Starting NVIDIA Device Plugin\" version=\"v0.17.4\""),
                  ("10:11:40.2", "I1120 10:11:40.200116       1 main.go:238] Starting FS watcher for "
                                 "/var/lib/kubelet/device-plugins"),
                  ("10:11:41", f"E1120 10:11:41.000219       1 main.go:173] {WATCH}")])
    site.happened("Pod", "gpu-operator", "nvidia-device-plugin-daemonset-tq8vn", "BackOff", "Back-off restarting failed "
                  "container nvidia-device-plugin in pod nvidia-device-plugin-daemonset-tq8vn_gpu-operator",
                  host=site.node, first="09:38:00", last="10:14:10", count=140)
    site.kubelet_says("09:37:10.118204", 'E1120 09:37:10.118204    1502 file_linux.go:61] "Unable to read config path" '
                                         'err="unable to create inotify: too many open files" path="/etc/kubernetes/manifests"')
    for number in range(24):
        site.run("ci", f"runner-{number:02d}", "ghcr.io/actions/actions-runner:2.329.0", container="runner", kind="Job",
                 owner="runner", created="09:20:00", state=kube.running("09:20:10"))
    says = ("0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint "
            "{node-role.kubernetes.io/control-plane: }. preemption: 0/2 nodes are available: 1 No preemption victims found "
            "for incoming pod, 1 Preemption is not helpful for scheduling.")
    site.run("ci", "gpu-tests-1842", "registry.example.net/ci/cuda-tests:1842", node="", container="tests", phase="Pending",
             kind="Job", owner="gpu-tests-1842", created="09:52:00", conditions=kube.unschedulable(says, "09:52:00"),
             resources={"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}})
    site.happened("Pod", "ci", "gpu-tests-1842", "FailedScheduling", says, component="default-scheduler",
                  first="09:52:00", last="10:12:04", count=5)
    return site
