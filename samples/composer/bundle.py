"""Writes a bundle as a folder, the way the collector lays it out (bundle/FORMAT.md)."""

import hashlib
import json
import shutil
import uuid
from datetime import datetime, timezone
from pathlib import Path

DAY = "2026-11-20"
TITLES = {
    "cluster_events": "Kubernetes events",
    "cluster_objects": "Kubernetes objects",
    "cluster_pod_logs": "Container logs",
    "container_runtimes": "CRI-O, Docker, NVIDIA container toolkit, device specifications",
    "containerd_config": "containerd instances and their configuration",
    "cri": "Container runtimes, as they answer over CRI",
    "firewall": "Firewall rules, addresses and routes",
    "helm_releases": "Helm releases",
    "host_info": "Operating system, memory, disks and limits",
    "journal": "System journal",
    "kubelet_config": "Kubelet command line and configuration",
    "nvidia_driver": "NVIDIA driver: devices, modules, libraries, daemons",
    "nvidia_smi": "NVIDIA driver and GPUs",
    "packages": "Installed packages and their latest changes",
}


def at(clock):
    """An RFC 3339 time of the samples' day: "10:03:12" or "10:03:12.5"."""
    return f"{DAY}T{clock}Z"


def micros(clock):
    """Microseconds since the epoch, as the journal counts them."""
    whole, _, part = clock.partition(".")
    when = datetime.fromisoformat(f"{DAY}T{whole}").replace(tzinfo=timezone.utc)
    return int(when.timestamp()) * 1_000_000 + int((part + "000000")[:6])


def uid(*words):
    """A UUID that depends on the words alone, so that composing twice gives the same bytes."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(words)))


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Bundle:
    """Entries in the order in which they were added."""

    def __init__(self, name, node, started="10:15:00", finished="10:15:09"):
        self.name, self.node = name, node
        self.started, self.finished = at(started), at(finished)
        self.entries = []
        self.outcomes = {}

    def add(self, path, source, text, origin=None):
        if any(path == each[0] for each in self.entries):
            raise ValueError(f"{self.name}: {path} was added twice")
        self.entries.append((path, source, text.encode(), origin))

    def outcome(self, source, outcome, why=None, notes=()):
        """States an outcome other than "collected"."""
        self.outcomes[source] = (outcome, why, list(notes))

    def file(self, path, source, text):
        """A copy of a file of the node."""
        self.add(f"nodes/{self.node}/rootfs{path}", source, text, path)

    def command(self, name, source, text, line, err=False):
        """What a command printed; `line` is the command line."""
        self.add(f"nodes/{self.node}/commands/{name}.{'err' if err else 'out'}", source, text, line)

    def rows(self, path, source, key, rows):
        """A list of the node with one row a line."""
        body = ",\n".join(compact(row) for row in rows)
        self.add(f"nodes/{self.node}/{path}", source, f'{{"{key}":[\n{body}\n]}}\n')

    def objects(self, path, kind, version, items):
        """A Kubernetes list with one object a line."""
        source = "cluster_events" if kind == "Event" else "cluster_objects"
        body = ",\n".join(compact(item) for item in items)
        head = f'{{"kind":"{kind}List","apiVersion":"{version}","items":['
        self.add(f"cluster-resources/{path}.json", source, f"{head}\n{body}\n]}}\n")

    def journal(self, unit, lines):
        """Entries of the journal: (clock, identifier, pid, message), pid 0 for the kernel."""
        boot, text = uid(self.node, "boot").replace("-", ""), []
        for clock, identifier, pid, message in sorted(lines, key=lambda line: micros(line[0])):
            entry = {
                "__REALTIME_TIMESTAMP": str(micros(clock)),
                "__MONOTONIC_TIMESTAMP": str(micros(clock) - micros("00:00:00") + 86_400_000_000),
                "_BOOT_ID": boot,
                "_HOSTNAME": self.node,
                "_TRANSPORT": "stdout" if pid else "kernel",
                "PRIORITY": "6" if pid else "4",
                "SYSLOG_IDENTIFIER": identifier,
                "MESSAGE": message,
            }
            if pid:
                entry["_PID"] = str(pid)
                entry["_SYSTEMD_UNIT"] = "init.scope" if pid == 1 else unit
                if pid == 1:
                    entry["UNIT"] = unit
            text.append(compact(entry) + "\n")
        self.add(f"nodes/{self.node}/journal/{unit}.json", "journal", "".join(text),
                 f"journalctl -o json {'-k' if unit == 'kernel' else '-u ' + unit}")

    def log(self, namespace, pod, container, lines, previous=False):
        """A container's log: (clock, message)."""
        text = "".join(f"{DAY}T{(c if '.' in c else c + '.0').ljust(18, '0')}Z {m}\n" for c, m in lines)
        end = "-previous" if previous else ""
        self.add(f"cluster-resources/pods/logs/{namespace}/{pod}/{container}{end}.log",
                 "cluster_pod_logs", text)

    def write(self, samples):
        """Writes samples/<name>/bundle anew."""
        folder = Path(samples) / self.name / "bundle"
        if folder.exists():
            shutil.rmtree(folder)
        header = {
            "format": "1.0", "tool": "casefile-collector 0.1.0", "node": self.node,
            "started": self.started, "options": {"root": "/", "since": "24h"},
            "clock": {"utc": self.started, "monotonic_ns": None, "timezone": "Etc/UTC",
                      "synchronised": True},
        }
        first = ("casefile.json", "casefile", (json.dumps(header, indent=2) + "\n").encode(), None)
        entries = [first, *sorted(self.entries)]
        for path, _, content, _ in entries:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        manifest = {key: header[key] for key in ("format", "tool", "node", "started")}
        manifest |= {
            "finished": self.finished, "interrupted": None, "sources": self._sources(),
            "entries": [self._entry(*entry) for entry in entries],
        }
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")

    def _sources(self):
        ids = {source for _, source, _, _ in self.entries} | set(self.outcomes)
        rows = []
        for source in sorted(ids):
            outcome, why, notes = self.outcomes.get(source, ("collected", None, []))
            rows.append({"id": source, "title": TITLES[source], "outcome": outcome, "why": why,
                         "started": self.started, "finished": self.finished, "notes": notes})
        return rows

    @staticmethod
    def _entry(path, source, content, origin):
        return {"path": path, "source": source, "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(), "member_offset": 0,
                "offset_in_member": 0, "truncated": None, "redactions": {}, "origin": origin}
