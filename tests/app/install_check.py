#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into a folder of its own and uses what is installed there; exit 1 if it fails.

usage: install_check.py CMAKE BUILD SOURCE
"""
import subprocess
import sys
import tempfile
from pathlib import Path


def problems(cmake, build, source, root):
    prefix = root / "moved"
    subprocess.run([cmake, "--install", build, "--prefix", root / "prefix"], check=True,
                   stdout=subprocess.DEVNULL)
    (root / "prefix").rename(prefix)  # an installation can be moved
    if b".TH MAPSIM 1" not in (prefix / "share/man/man1/mapsim.1").read_bytes():
        yield "no manual page"
    for shipped in sorted((source / "configs").rglob("*.yaml")):
        copy = prefix / "share/mapsim" / shipped.relative_to(source)
        if not copy.is_file() or copy.read_bytes() != shipped.read_bytes():
            yield f"{copy} is not what is shipped"
    # From a folder without configs/, the files of the README.
    (root / "elsewhere").mkdir()
    found = subprocess.run(
        [prefix / "bin/mapsim", "search", "configs/arch/eyeriss.yaml",
         "configs/workloads/resnet50/conv2_3x3.yaml"],
        cwd=root / "elsewhere", capture_output=True, text=True, check=False)
    if found.returncode != 0 or "proven optimal" not in found.stdout:
        yield f"search: exit {found.returncode}: {found.stderr}"
    # Files of one's own come first.
    own = root / "elsewhere/configs/arch/eyeriss.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("neither\n")
    found = subprocess.run(
        [prefix / "bin/mapsim", "show", "configs/arch/eyeriss.yaml"], cwd=root / "elsewhere",
        capture_output=True, text=True, check=False)
    if found.returncode != 2 or not found.stderr.startswith("configs/arch/eyeriss.yaml:1:1:"):
        yield f"show: exit {found.returncode}: {found.stderr}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        failures = list(problems(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(folder)))
    print("\n".join(failures) or "what is installed works")
    sys.exit(bool(failures))
