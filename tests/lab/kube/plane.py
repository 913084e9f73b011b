"""A control plane of real programs on loopback: etcd, kube-apiserver, kube-controller-manager and kube-scheduler of one folder."""

import json
import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

TOKEN = "laboratory"
READY_S = 180
# What a Job needs. Nodes stay as they are written: no kubelet renews their leases.
CONTROLLERS = "job-controller,ttl-after-finished-controller,namespace-controller,serviceaccount-controller"

# Plugins that wait for, or add, what only a controller or a kubelet makes.
UNATTENDED = "ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection,DefaultStorageClass,DefaultTolerationSeconds,Priority,LimitRanger,ResourceQuota,RuntimeClass"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Refused(Exception):
    """An answer that is no good one."""


class Plane:
    """The running programs, to be ended by `stop`."""

    def __init__(self, bins, folder):
        self.bins, self.folder, self.children = bins, folder, []
        self.address = f"https://127.0.0.1:{free_port()}"
        self.trust = ssl.create_default_context()
        self.trust.check_hostname, self.trust.verify_mode = False, ssl.CERT_NONE

    def start(self, with_controllers=True):
        etcd = f"http://127.0.0.1:{free_port()}"
        self.run("etcd", f"--data-dir={self.folder}/etcd", f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}",
                 f"--listen-peer-urls=http://127.0.0.1:{free_port()}", "--unsafe-no-fsync")
        (self.folder / "tokens").write_text(f"{TOKEN},admin,admin,system:masters\n")
        key = self.folder / "sa.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, stderr=subprocess.DEVNULL)
        self.run("kube-apiserver", f"--etcd-servers={etcd}", f"--secure-port={self.address.rsplit(':', 1)[1]}", "--bind-address=127.0.0.1",
                 f"--cert-dir={self.folder}/certs", f"--token-auth-file={self.folder}/tokens", "--authorization-mode=AlwaysAllow",
                 "--service-account-issuer=https://laboratory", f"--service-account-key-file={key}",
                 f"--service-account-signing-key-file={key}", "--service-cluster-ip-range=10.96.0.0/16",
                 *([] if with_controllers else [f"--disable-admission-plugins={UNATTENDED}"]))
        self.wait("/readyz")
        config = self.folder / "kubeconfig"
        config.write_text(json.dumps(self.kubeconfig()))
        if not with_controllers:
            return
        for program, more in (("kube-controller-manager", [f"--controllers={CONTROLLERS}"]), ("kube-scheduler", [])):
            self.run(program, f"--kubeconfig={config}", "--leader-elect=false", "--bind-address=127.0.0.1",
                     f"--secure-port={free_port()}", f"--cert-dir={self.folder}/{program}", *more)

    def kubeconfig(self):
        cluster = {"server": self.address, "insecure-skip-tls-verify": True}
        return {"apiVersion": "v1", "kind": "Config", "current-context": "lab",
                "clusters": [{"name": "lab", "cluster": cluster}], "users": [{"name": "lab", "user": {"token": TOKEN}}],
                "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}]}

    def run(self, program, *arguments):
        with open(self.folder / f"{program}.log", "wb") as log:
            command = [os.path.join(self.bins, program), *arguments]
            self.children.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def wait(self, path):
        until = time.monotonic() + READY_S
        while time.monotonic() < until:
            try:
                self.ask("GET", path)
                return
            except (Refused, OSError):
                time.sleep(0.5)
        log = (self.folder / "kube-apiserver.log").read_text().splitlines()[-20:]
        raise SystemExit("the API server does not get ready:\n" + "\n".join(log))

    def ask(self, method, path, body=None, kind="application/json"):
        """The answer as JSON; `body` is an object, or text of the media type `kind`."""
        if method == "PATCH":
            kind = "application/merge-patch+json"
        data = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind}
        request = urllib.request.Request(self.address + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, context=self.trust, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise Refused(f"{method} {path}: {error.code} {error.read().decode(errors='replace')[:2000]}") from error
        try:
            return json.loads(text)
        except ValueError:
            return text.decode(errors="replace")

    def stop(self):
        for child in reversed(self.children):
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
