#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into a folder of its own and uses what is installed there: the program, and the
library from programs of other projects. Exit 1 if anything fails.

usage: install_check.py CMAKE BUILD SOURCE
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from links_check import FENCE, LINK  # noqa: E402

ANSWER = "3973"  # nJ: the optimum of the tutorial's first layer


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **options)


def link_problems(prefix):
    """Links of installed pages to what is not installed."""
    pages = [*(prefix / "share/doc/mapsim").rglob("*.md"), prefix / "share/mapsim/configs/README.md"]
    for page in pages:
        for target in LINK.findall(FENCE.sub("", page.read_text())):
            path = target.partition("#")[0]
            if path and not re.match(r"[a-z]+:", path) and not (page.parent / path).exists():
                yield f"{page.relative_to(prefix)}: {target}: nothing is installed there"


def program_problems(prefix, source, root):
    if b".TH MAPSIM 1" not in (prefix / "share/man/man1/mapsim.1").read_bytes():
        yield "no manual page"
    if b"complete -o filenames -F _mapsim mapsim" not in (
            prefix / "share/bash-completion/completions/mapsim").read_bytes():
        yield "no completions"
    for page in ("README.md", "docs/energy.md", "docs/formats.md", "docs/tutorials/nvdla.md"):
        if not (prefix / "share/doc/mapsim" / page).is_file():
            yield f"{page}, which messages and the README name, is not installed"
    configs = source / "configs"
    for shipped in sorted([*configs.rglob("*.yaml"), *configs.rglob("*.schema.json")]):
        copy = prefix / "share/mapsim" / shipped.relative_to(source)
        if not copy.is_file() or copy.read_bytes() != shipped.read_bytes():
            yield f"{copy} is not what is shipped"
    # From a folder without configs/, the files of the README.
    (root / "elsewhere").mkdir()
    found = run([prefix / "bin/mapsim", "search", "configs/arch/eyeriss.yaml",
                 "configs/workloads/resnet50/conv2_3x3.yaml"], cwd=root / "elsewhere")
    if found.returncode != 0 or "proven optimal" not in found.stdout:
        yield f"search: exit {found.returncode}: {found.stderr}"
    # Files of one's own come first.
    own = root / "elsewhere/configs/arch/eyeriss.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("neither\n")
    found = run([prefix / "bin/mapsim", "show", "configs/arch/eyeriss.yaml"],
                cwd=root / "elsewhere")
    if found.returncode != 2 or not found.stderr.startswith("configs/arch/eyeriss.yaml:1:1:"):
        yield f"show: exit {found.returncode}: {found.stderr}"


def answer_problems(how, command, source):
    """What a program that was linked says of the tutorial's first layer."""
    found = run([*command, source / "configs/arch/teaching.yaml"])
    if not re.match(ANSWER + r"\d{3} pJ, proven\n", found.stdout):
        yield f"{how}: exit {found.returncode}: {found.stdout}{found.stderr}"


def pkg_config_problems(prefix, source, root):
    folder = next(prefix.glob("lib/**/pkgconfig"))
    flags = run(["pkg-config", "--cflags", "--libs", "mapsim"],
                env={**os.environ, "PKG_CONFIG_PATH": str(folder)})
    made = run(["c++", "-std=c++20", source / "tests/package/consumer.cpp", "-o", root / "by_flags",
                *shlex.split(flags.stdout)])
    if flags.returncode or made.returncode:
        yield f"pkg-config: {flags.stderr}{made.stderr}"
    else:
        yield from answer_problems("pkg-config", [root / "by_flags"], source)


def find_package_problems(cmake, prefix, source, root):
    build = root / "by_package"
    made = run([cmake, "-S", source / "tests/package", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"])
    made = made if made.returncode else run([cmake, "--build", build])
    if made.returncode:
        yield f"find_package: {made.stdout}{made.stderr}"
    else:
        yield from answer_problems("find_package", [build / "consumer"], source)


def add_subdirectory_problems(cmake, built, source, root):
    """The libraries are not compiled again: their archives are put where the link wants them."""
    build = root / "by_source"
    made = run([cmake, "-G", "Ninja", "-S", source / "tests/package", "-B", build,
                f"-DMAPSIM_SOURCE={source}", "-DMAPSIM_MPI=OFF", "-DMAPSIM_CUDA=OFF"])
    if made.returncode:
        yield f"add_subdirectory: {made.stdout}{made.stderr}"
        return
    for archive in built.rglob("libmapsim_*.a"):
        to = build / "mapsim" / archive.relative_to(built)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.symlink_to(archive)
    commands = run(["ninja", "-C", build, "-t", "commands", "consumer"]).stdout.splitlines()
    for command in [line for line in commands if "consumer" in line]:
        made = run(["sh", "-c", command], cwd=build)
        if made.returncode:
            yield f"add_subdirectory: {command}\n{made.stderr}"
            return
    yield from answer_problems("add_subdirectory", [build / "consumer"], source)


def problems(cmake, build, source, root):
    prefix = root / "moved"
    subprocess.run([cmake, "--install", build, "--prefix", root / "prefix"], check=True,
                   stdout=subprocess.DEVNULL)
    (root / "prefix").rename(prefix)  # an installation can be moved
    yield from program_problems(prefix, source, root)
    yield from link_problems(prefix)
    yield from pkg_config_problems(prefix, source, root)
    yield from find_package_problems(cmake, prefix, source, root)
    yield from add_subdirectory_problems(cmake, build, source, root)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        failures = list(problems(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Path(folder)))
    print("\n".join(failures) or "what is installed works")
    sys.exit(bool(failures))
