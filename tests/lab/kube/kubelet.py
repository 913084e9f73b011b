"""The kubelet's part, played by hand: runs the containers of a Job's pods with runc as their spec says, and writes their states."""

import base64
import datetime
import json
import re
import subprocess

from plane import Refused

DISRUPTED = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "drained by a test"}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def amount(text):
    """Bytes of a quantity such as 4Gi."""
    number, unit = re.fullmatch(r"(\d+)([KMG]i)?", text).groups()
    return int(number) * {None: 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}[unit]


class Node:
    """One node, with the containers that run on it. `image` says which program of this machine an image's command is."""

    def __init__(self, plane, namespace, folder, image):
        self.plane, self.namespace, self.folder, self.image = plane, namespace, folder, image
        self.running = {}
        size = {"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "1000Gi"}
        node = {"metadata": {"name": "lab"}, "status": {"capacity": size, "allocatable": size,
                "conditions": [{"type": "Ready", "status": "True", "reason": "Lab", "message": "", "lastTransitionTime": now(),
                                "lastHeartbeatTime": now()}]}}
        plane.ask("POST", "/api/v1/nodes", node)
        # The API server taints every new node until a controller has seen it ready.
        plane.ask("PATCH", "/api/v1/nodes/lab", {"spec": {"taints": None}})

    def pods(self, job=None):
        query = f"?labelSelector=job-name%3D{job}" if job else ""
        return self.plane.ask("GET", f"/api/v1/namespaces/{self.namespace}/pods{query}")["items"]

    def path(self, pod):
        return f"/api/v1/namespaces/{self.namespace}/pods/{pod['metadata']['name']}"

    def environment(self, pod, container):
        """Variables in the kubelet's order: `envFrom`, then `env`."""
        found = {"PATH": "/usr/bin:/bin", "HOSTNAME": pod["metadata"]["name"]}
        for source in container.get("envFrom", []):
            reference = source["secretRef"]
            try:
                secret = self.plane.ask("GET", f"/api/v1/namespaces/{self.namespace}/secrets/{reference['name']}")
            except Refused:
                if not reference.get("optional"):
                    raise
                continue
            found.update({name: base64.b64decode(value).decode() for name, value in secret.get("data", {}).items()})
        for one in container.get("env", []):
            if "value" in one:
                found[one["name"]] = one["value"]
            else:
                path = one["valueFrom"]["fieldRef"]["fieldPath"]
                kind, name = re.fullmatch(r"metadata\.(annotations|labels)\['(.*)'\]", path).groups()
                found[one["name"]] = pod["metadata"][kind][name]
        return found

    def configuration(self, pod, bundle):
        """What the CRI would hand to runc for the pod's one container."""
        spec = pod["spec"]
        container = spec["containers"][0]
        outer, inner = spec.get("securityContext", {}), container.get("securityContext", {})
        variables = self.environment(pod, container)
        expanded = [re.sub(r"\$\((\w+)\)", lambda hit: variables.get(hit[1], hit[0]), word)
                    for word in container["command"] + container.get("args", [])]
        mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
                  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}]
        bind = lambda source, target, *more: mounts.append(
            {"destination": target, "type": "bind", "source": str(source), "options": ["rbind", *more]})
        bind("/usr", "/usr", "ro")
        bind(self.image[container["command"][0]], container["command"][0], "ro")
        for mount in container.get("volumeMounts", []):
            place = bundle / mount["name"]
            place.mkdir()
            place.chmod(0o2777)
            bind(place, mount["mountPath"], "rw")
        limit = container.get("resources", {}).get("limits", {}).get("memory")
        memory = {"limit": amount(limit), "swap": amount(limit)} if limit else {}
        keep = [] if "ALL" in inner.get("capabilities", {}).get("drop", []) else ["CAP_CHOWN", "CAP_KILL"]
        process = {"user": {"uid": outer.get("runAsUser", 0), "gid": 0, "additionalGids": [outer.get("fsGroup", 0)]}, "args": expanded,
                   "env": [f"{name}={value}" for name, value in variables.items()], "cwd": "/",
                   "noNewPrivileges": not inner.get("allowPrivilegeEscalation", True),
                   "capabilities": {name: keep for name in ("bounding", "effective", "permitted")}}
        return {"ociVersion": "1.0.2", "process": process, "mounts": mounts,
                "root": {"path": "rootfs", "readonly": inner.get("readOnlyRootFilesystem", False)},
                # The pod's network is the machine's, because the S3 server listens on loopback alone.
                "linux": {"namespaces": [{"type": kind} for kind in ("pid", "mount", "ipc", "uts")], "resources": {"memory": memory}}}

    def start(self, pod):
        """Starts the pod's container."""
        uid = pod["metadata"]["uid"]
        bundle = self.folder / uid
        root = bundle / "rootfs"
        for name in ("usr", "proc", "dev", "tmp"):
            (root / name).mkdir(parents=True)
        for name in ("bin", "lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")
        (bundle / "config.json").write_text(json.dumps(self.configuration(pod, bundle)))
        with open(bundle / "log", "wb") as log:
            command = ["runc", "--root", str(self.folder / "runc"), "run", "--bundle", str(bundle), uid]
            self.running[uid] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.state(pod, "Running", {"running": {"startedAt": now()}})

    def kill(self, pod):
        """SIGKILL to the container's first process, as the kernel does it when memory is short."""
        uid = pod["metadata"]["uid"]
        subprocess.run(["runc", "--root", str(self.folder / "runc"), "kill", uid, "KILL"], check=False, stderr=subprocess.DEVNULL)

    def ended(self, pod):
        """Exit code of the pod's container; none while it runs."""
        child = self.running.get(pod["metadata"]["uid"])
        return child.poll() if child else None

    def said(self, pod):
        return (self.folder / pod["metadata"]["uid"] / "log").read_text(errors="replace").strip()

    def state(self, pod, phase, state, conditions=()):
        container = pod["spec"]["containers"][0]
        one = {"name": container["name"], "image": container["image"], "imageID": container["image"], "ready": False, "restartCount": 0,
               "state": state}
        status = {"phase": phase, "startTime": now(), "containerStatuses": [one]}
        if conditions:
            old = self.plane.ask("GET", self.path(pod))["status"].get("conditions", [])
            status["conditions"] = [*old, *({**one, "lastTransitionTime": now()} for one in conditions)]
        self.plane.ask("PATCH", f"{self.path(pod)}/status", {"status": status})

    def finish(self, pod, code, conditions=()):
        """Writes that the container ended."""
        ended = {"exitCode": code, "reason": "Completed" if code == 0 else "Error", "startedAt": now(), "finishedAt": now()}
        self.state(pod, "Failed" if code or conditions else "Succeeded", {"terminated": ended}, conditions)

    def stop_deleted(self, pod):
        """A pod that is being deleted ends with SIGTERM's code and goes."""
        self.kill(pod)
        if pod["status"].get("phase") not in ("Succeeded", "Failed"):
            self.finish(pod, 143)
        try:
            self.plane.ask("DELETE", f"{self.path(pod)}?gracePeriodSeconds=0")
        except Refused:
            pass
