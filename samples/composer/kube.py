"""Kubernetes objects in the shape in which the API server answers."""

from .bundle import at, uid


def meta(name, namespace=None, created="08:02:11", **more):
    """An object's metadata."""
    where = {"namespace": namespace} if namespace else {}
    return {"name": name, **where, "uid": uid(namespace or "", name), "resourceVersion": "41873",
            "creationTimestamp": at(created), **more}


def running(since="08:03:05"):
    return {"running": {"startedAt": at(since)}}


def waiting(reason, message=None):
    return {"waiting": {"reason": reason, **({"message": message} if message else {})}}


def ended(reason, code, start, end, message=None):
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": at(start),
                           "finishedAt": at(end), **({"message": message} if message else {})}}


def pod(namespace, name, node, image, *, container=None, kind=None, owner=None, phase="Running",
        state=None, last=None, restarts=0, resources=None, labels=None, annotations=None, ip=None,
        created="08:02:11", spec=None, more=None, init=(), conditions=None):
    """A pod with one container; `spec` and `more` (of the container) override, `init` is a list of
    (name, image, state)."""
    container = container or name.split("-")[0]
    state = state or running()
    ready = "running" in state and phase == "Running"
    metadata = meta(name, namespace, created, labels=labels or {"app": container})
    if annotations:
        metadata["annotations"] = annotations
    if owner:
        metadata["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": kind or "DaemonSet",
                                        "name": owner, "uid": uid(owner), "controller": True}]
    body = {"containers": [{"name": container, "image": image, "resources": resources or {},
                            "imagePullPolicy": "IfNotPresent", **(more or {})}],
            "restartPolicy": "Always", "serviceAccountName": "default", "priority": 0,
            "schedulerName": "default-scheduler"}
    if init:
        body["initContainers"] = [{"name": n, "image": i, "resources": {}} for n, i, _ in init]
    if node:
        body["nodeName"] = node
    body |= spec or {}
    status = {"phase": phase, "qosClass": "BestEffort" if not resources else "Burstable",
              "startTime": at(created),
              "conditions": conditions or ready_conditions(ready, container, created)}
    if ip:
        status |= {"podIP": ip, "podIPs": [{"ip": ip}]}
    if node:
        status["containerStatuses"] = [container_status(container, image, state, last, restarts, ready)]
        if init:
            status["initContainerStatuses"] = [
                container_status(n, i, s, None, 0, "terminated" in s) for n, i, s in init]
    return {"metadata": metadata, "spec": body, "status": status}


def container_status(name, image, state, last, restarts, ready):
    digest = uid(image).replace("-", "") * 2
    return {"name": name, "state": state, "lastState": last or {}, "ready": ready,
            "restartCount": restarts, "image": image, "started": "running" in state,
            "imageID": f"{image.split(':')[0]}@sha256:{digest}"}


def ready_conditions(ready, container, since):
    rows = [{"type": "Initialized", "status": "True"}, {"type": "PodScheduled", "status": "True"}]
    for kind in ("Ready", "ContainersReady"):
        row = {"type": kind, "status": "True" if ready else "False"}
        if not ready:
            row |= {"reason": "ContainersNotReady",
                    "message": f"containers with unready status: [{container}]"}
        rows.append(row)
    return [row | {"lastProbeTime": None, "lastTransitionTime": at(since)} for row in rows]


def unschedulable(message, since):
    return [{"type": "PodScheduled", "status": "False", "lastProbeTime": None,
             "lastTransitionTime": at(since), "reason": "Unschedulable", "message": message}]


def event(kind, namespace, name, reason, message, *, type_="Warning", component="kubelet", host=None,
          first="09:30:00", last=None, count=1):
    """An event about an object."""
    last = last or first
    source = {"component": component, **({"host": host} if host else {})}
    place = namespace or "default"
    suffix = uid(name, reason, message).replace("-", "")[:16]
    return {"metadata": meta(f"{name}.{suffix}", place, first),
            "involvedObject": {"kind": kind, "name": name, "apiVersion": "v1", "uid": uid(place, name),
                               **({"namespace": namespace} if namespace else {})},
            "reason": reason, "message": message, "source": source, "type": type_, "count": count,
            "firstTimestamp": at(first), "lastTimestamp": at(last), "eventTime": None,
            "reportingComponent": component, "reportingInstance": host or ""}


def node(name, ip, *, os, kernel, kubelet, runtime, labels=None, taints=None, gpus=0, free_gpus=None,
         cpu="64", memory="528280320Ki", ready=True, why=None, pod_cidr="10.244.1.0/24", arch="amd64",
         more=None, annotations=None, since="08:01:40"):
    """A node; `why` is (reason, message) of a Ready condition that is not True."""
    healthy = [("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
               ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
               ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available")]
    status = "True" if ready else (why[2] if why and len(why) > 2 else "False")
    unknown = status == "Unknown"
    rows = [{"type": t, "status": "Unknown" if unknown else "False",
             "reason": "NodeStatusUnknown" if unknown else r,
             "message": "Kubelet stopped posting node status." if unknown else m}
            for t, r, m in healthy]
    reason, message = ("KubeletReady", "kubelet is posting ready status") if ready else why[:2]
    rows.append({"type": "Ready", "status": status, "reason": reason, "message": message})
    rows = [row | {"lastHeartbeatTime": at("10:13:51"), "lastTransitionTime": at(since)} for row in rows]
    resources = {"cpu": cpu, "ephemeral-storage": "1843269236Ki", "memory": memory, "pods": "110"}
    if gpus or free_gpus is not None:
        resources["nvidia.com/gpu"] = str(gpus)
    resources |= more or {}
    allocatable = dict(resources)
    if free_gpus is not None:
        allocatable["nvidia.com/gpu"] = str(free_gpus)
    every = {"kubernetes.io/arch": arch, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    body = {"podCIDR": pod_cidr, "podCIDRs": [pod_cidr], **({"taints": taints} if taints else {})}
    return {"metadata": meta(name, labels=every | (labels or {}), annotations=annotations or {}),
            "spec": body,
            "status": {"capacity": resources, "allocatable": allocatable, "conditions": rows,
                       "addresses": [{"type": "InternalIP", "address": ip},
                                     {"type": "Hostname", "address": name}],
                       "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                       "nodeInfo": {"machineID": uid(name, "machine").replace("-", ""),
                                    "systemUUID": uid(name, "system"), "bootID": uid(name, "boot"),
                                    "kernelVersion": kernel, "osImage": os,
                                    "containerRuntimeVersion": runtime, "kubeletVersion": kubelet,
                                    "kubeProxyVersion": "", "operatingSystem": "linux",
                                    "architecture": arch}}}
