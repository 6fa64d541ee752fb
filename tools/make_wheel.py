#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the Python module of a build into a wheel, with the shipped files and the shared libraries that
not every Linux has; those it needs of the system are libc, libm, libstdc++ and libgcc_s.

usage: make_wheel.py BUILD FOLDER    prints the wheel's path; needs patchelf
"""
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so[.\d]*")


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def copy_package(build, package):
    """The modules, whose links are followed, and configs/, which they find beside themselves."""
    shutil.copytree(build / "python/mapsim", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(SOURCE / "configs", package / "configs")
    return next(package.glob("_mapsim.*.so"))


def bundle(module):
    """Puts the libraries that `module` needs beside it, where each looks first."""
    libraries = module.parent / "_libraries"
    libraries.mkdir()
    for name, path in re.findall(r"(\S+) => (/\S+)", run("ldd", module)):
        if not OF_THE_SYSTEM.fullmatch(name):
            shutil.copy(path, libraries / name)
            run("patchelf", "--set-rpath", "$ORIGIN", libraries / name)
    run("strip", "--strip-unneeded", module)
    run("patchelf", "--set-rpath", "$ORIGIN/_libraries", module)


def describe(root, version, homepage, tag):
    """The folder .dist-info of the binary distribution format (PEP 427)."""
    info = root / f"mapsim-{version}.dist-info"
    info.mkdir()
    shutil.copy(SOURCE / "LICENSE", info / "LICENSE")
    shutil.copytree(SOURCE / "licenses", info / "licenses")  # of the libraries in it
    python = ".".join(re.match(r"cp(\d)(\d+)", tag).groups())
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: mapsim\nVersion: {version}\n"
        "Summary: find and prove the best mapping of neural-network layers onto hardware\n"
        f"License: Apache-2.0\nRequires-Python: =={python}.*\nProvides-Extra: tables\n"
        "Requires-Dist: pandas; extra == 'tables'\n" + (f"Project-URL: Source, {homepage}\n" if homepage else ""),
        encoding="utf-8")
    (info / "WHEEL").write_text(
        f"Wheel-Version: 1.0\nGenerator: mapsim\nRoot-Is-Purelib: false\nTag: {tag}\n",
        encoding="utf-8")
    lines = []
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        lines.append(f"{path.relative_to(root)},sha256={digest},{len(content)}\n")
    record = info / "RECORD"
    record.write_text("".join(lines) + f"{record.relative_to(root)},,\n", encoding="utf-8")


def main(build, folder):
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    version = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", cache, re.M).group(1)
    homepage = re.search(r"^MAPSIM_HOMEPAGE:STRING=(.*)$|\Z", cache, re.M).group(1)
    with tempfile.TemporaryDirectory(prefix="mapsim_") as temporary:
        root = Path(temporary)
        module = copy_package(build, root / "mapsim")
        abi, machine = re.match(r"_mapsim\.cpython-(\d+)-(\w+)-linux", module.name).groups()
        tag = f"cp{abi}-cp{abi}-linux_{machine}"
        bundle(module)
        describe(root, version, homepage, tag)
        wheel = folder / f"mapsim-{version}-{tag}.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in root.rglob("*") if path.is_file()):
                archive.write(path, path.relative_to(root))
    print(wheel)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
