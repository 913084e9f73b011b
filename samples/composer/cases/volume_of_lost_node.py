"""A node was deleted without its volume being detached; the pod's replacement waits for the volume."""

from .. import kube
from ..bundle import uid
from ..site import Site

PV, OLD = "pvc-4b0f0c62-8f0e-4a87-9b0a-3c1f51c2a7d1", "data-gpu-1"
POD = "milvus-standalone-0"


def compose(name):
    site = Site(name, "data-gpu-2", "10.52.7.12")
    put = site.bundle.objects
    put("persistentvolumes", "PersistentVolume", "v1", [{
        "metadata": kube.meta(PV), "spec": {
            "capacity": {"storage": "200Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "ceph-rbd",
            "csi": {"driver": "rbd.csi.ceph.com", "volumeHandle": "0001-0009-rook-ceph-0000000000000002-4b0f0c62"},
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "search", "name": f"data-{POD}"}},
        "status": {"phase": "Bound"}}])
    put("persistentvolumeclaims/search", "PersistentVolumeClaim", "v1", [{
        "metadata": kube.meta(f"data-{POD}", "search"),
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": PV, "storageClassName": "ceph-rbd"},
        "status": {"phase": "Bound", "capacity": {"storage": "200Gi"}}}])
    attachment = "csi-9d3f" + uid(PV, OLD).replace("-", "")
    put("volumeattachments", "VolumeAttachment", "storage.k8s.io/v1", [{
        "metadata": kube.meta(attachment, created="08:12:00"),
        "spec": {"attacher": "rbd.csi.ceph.com", "nodeName": OLD, "source": {"persistentVolumeName": PV}},
        "status": {"attached": True}}])
    put("storageclasses", "StorageClass", "storage.k8s.io/v1", [{
        "metadata": kube.meta("ceph-rbd"), "provisioner": "rbd.csi.ceph.com", "reclaimPolicy": "Delete"}])
    site.run("search", POD, "milvusdb/milvus:v2.6.4-gpu", container="standalone", kind="StatefulSet",
             owner="milvus-standalone", phase="Pending", state=kube.waiting("ContainerCreating"), created="09:33:10",
             ip=None, resources={"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}},
             spec={"runtimeClassName": "nvidia", "volumes": [
                 {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{POD}"}}]},
             more={"volumeMounts": [{"name": "data", "mountPath": "/var/lib/milvus"}]})
    site.happened("Node", None, OLD, "RemovingNode", f"Node {OLD} event: Removing Node {OLD} from Controller",
                  type_="Normal", component="node-controller", first="09:32:40")
    site.happened("Pod", "search", POD, "Scheduled", f"Successfully assigned search/{POD} to {site.node}", type_="Normal",
                  component="default-scheduler", first="09:33:10")
    site.happened("Pod", "search", POD, "FailedAttachVolume",
                  f'Multi-Attach error for volume "{PV}" Volume is already exclusively attached to one node and can\'t be '
                  "attached to another", component="attachdetach-controller", first="09:33:11", last="10:11:20", count=3)
    return site
