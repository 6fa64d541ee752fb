#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a build into the tarball, and uses it with the oldest glibc that it is for: in a root that has nothing
else, or, where this may not change its root, with that glibc's loader. Exit 1 if anything fails.

usage: tarball_check.py CPACK BUILD GLIBC    GLIBC: the folder of tools/old_glibc.sh
"""
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

OLDEST = (2, 31)
PARTS_OF_LIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
RUNS = [(["--version"], "static linking"),
        (["search", "eyeriss", "resnet50/conv2_3x3"], "proven optimal"),
        (["network", "nvdla_like_1024", "alexnet"], "layers"),
        (["network", "eyeriss", "resnet50.onnx"], "layers")]


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **options)


def unpacked(cpack, build, root):
    made = run([cpack, "-G", "TGZ", "--config", build / "CPackConfig.cmake", "-B", root / "packages"])
    if made.returncode:
        raise RuntimeError(f"cpack: {made.stdout}{made.stderr}")
    with tarfile.open(next((root / "packages").glob("*.tar.gz"))) as tarball:
        tarball.extractall(root)
    return next(root.glob("mapsim-*"))


def library_problems(program):
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run(["readelf", "-d", program]).stdout))
    if not needed or needed - PARTS_OF_LIBC:
        yield f"the program needs {sorted(needed)}"
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run(["objdump", "-T", program]).stdout)
    highest = max(tuple(map(int, version)) for version in versions)
    print("it asks for glibc {}.{}".format(*highest))
    if highest > OLDEST:
        yield "the program asks for glibc {}.{}".format(*highest)


def licence_problems(folder):
    for name in ("LICENSE", "licenses/THIRD_PARTY.md", "licenses/GPL-3.txt", "licenses/LGPL-3.txt"):
        if not (folder / "share/doc/mapsim" / name).is_file():
            yield f"the tarball lacks {name}, which is to accompany the libraries in its program"


def runner(folder, root):
    """Runs the program with the glibc of this root: within it, or by its loader where nobody may change the root.
    A bare root has no /proc, so that the shipped files are found by the path of the program; the loader is no such
    path, and they are found by the working folder."""
    work, program = folder / "share/mapsim", folder / "bin/mapsim"
    loader = [root / "lib64/ld-linux-x86-64.so.2", "--library-path", root / "lib/x86_64-linux-gnu"]

    def enter():
        os.chroot(root)
        os.chdir("/")

    def within(words):
        return run(["/" / program.relative_to(root), *words], preexec_fn=enter, env={})

    try:
        within(["--version"])
    except subprocess.SubprocessError:
        print("run by the loader of the older glibc: the root may not be changed here")
        return lambda words: run([*loader, program, *words], cwd=work)
    print("run in a bare root")
    return within


def run_problems(folder, root):
    run_program = runner(folder, root)
    for words, expected in RUNS:
        found = run_program(words)
        if found.returncode or expected not in found.stdout:
            yield f"{' '.join(words)}: {found.stdout}{found.stderr}"


if __name__ == "__main__":
    cpack_program, build_folder, glibc_folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="mapsim_") as name:
        here = Path(name)
        tree = unpacked(cpack_program, build_folder, here)
        for place in (here, tree / "share/mapsim"):
            shutil.copy(build_folder / "models/resnet50.onnx", place)  # of the tests
        for libraries in ("lib", "lib64"):
            shutil.copytree(glibc_folder / libraries, here / libraries)
        failures = [*licence_problems(tree), *library_problems(tree / "bin/mapsim"), *run_problems(tree, here)]
    print("\n".join(failures) or "the tarball works")
    sys.exit(bool(failures))
