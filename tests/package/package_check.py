#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a build into a .deb and a wheel, and uses what is in them. lintian has nothing to say about the
.deb. Where a clean root can be made, the .deb is installed and used in a Debian with nothing else, too
(tools/package_check.sh, which also runs lintian). Exit 1 if anything fails.

usage: package_check.py CPACK BUILD SOURCE
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SEARCH = ("import mapsim; best = mapsim.search('eyeriss', 'alexnet/conv3'); "
          "assert mapsim.check(best.proof()); print(mapsim.__file__)")


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **options)


def python_problems(what, folder, root):
    found = run([sys.executable, "-c", SEARCH], cwd=root,
                env={**os.environ, "PYTHONPATH": str(folder)})
    if found.returncode or not found.stdout.startswith(str(folder)):
        yield f"{what}: {found.stdout}{found.stderr}"


def made_deb(cpack, build, root):
    made = run([cpack, "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", root / "packages"])
    if made.returncode:
        raise RuntimeError(f"cpack: {made.stdout}{made.stderr}")
    return next((root / "packages").glob("*.deb"))


def clean_root_problems(deb, source):
    script = source / "tools/package_check.sh"
    obstacle = run([script, "--obstacle"]).stdout.strip()
    if obstacle:
        print(f"no clean root: {obstacle}")
        yield from lintian_problems(deb)
    elif subprocess.run([script, deb], check=False).returncode:
        yield "the .deb does not work in a clean root"


def lintian_problems(deb):
    if shutil.which("lintian"):
        said = run(["lintian", "--allow-root", "--fail-on", "error,warning", deb])
        if said.returncode:
            yield f"lintian: {said.stdout}{said.stderr}"


def deb_problems(deb, root):
    run(["dpkg-deb", "-R", deb, root / "deb"])
    usr = root / "deb/usr"
    for script in ("postinst", "prerm"):  # which compile the module, and remove what Python compiled
        if not os.access(root / "deb/DEBIAN" / script, os.X_OK):
            yield f"the .deb has no {script}"
    if not (usr / "share/doc/mapsim/licenses/THIRD_PARTY.md").is_file():
        yield "the .deb does not say what of others is in it"
    found = run([usr / "bin/mapsim", "search", "eyeriss", "alexnet/conv3"], cwd=root)
    if "proven optimal" not in found.stdout:
        yield f"the program of the .deb: {found.stderr}"
    yield from python_problems("the module of the .deb", usr / "lib/python3/dist-packages", root)


def wheel_problems(build, source, root):
    made = run([sys.executable, source / "tools/make_wheel.py", build, root])
    if made.returncode:
        yield f"make_wheel.py: {made.stderr}"
        return
    with zipfile.ZipFile(made.stdout.strip()) as wheel:
        wheel.extractall(root / "wheel")
    recorded = (next((root / "wheel").glob("*.dist-info/RECORD"))).read_text().splitlines()
    files = [path for path in (root / "wheel").rglob("*") if path.is_file()]
    if len(recorded) != len(files):
        yield f"the wheel has {len(files)} files and records {len(recorded)}"
    if not list((root / "wheel").glob("*.dist-info/licenses/THIRD_PARTY.md")):
        yield "the wheel does not say what of others is in it"
    yield from python_problems("the wheel", root / "wheel", root)
    homepage = re.search(r"^MAPSIM_HOMEPAGE:STRING=(.*)$", (build / "CMakeCache.txt").read_text(), re.M).group(1)
    for what, path, key in (("the .deb", root / "deb/DEBIAN/control", "Homepage: "),
                            ("the wheel", next((root / "wheel").glob("*.dist-info/METADATA")), "Project-URL: Source, ")):
        named = [line.removeprefix(key) for line in path.read_text().splitlines() if line.startswith(key)]
        if named != [homepage] * bool(homepage):
            yield f"{what} names the address {named}; MAPSIM_HOMEPAGE is '{homepage}'"


if __name__ == "__main__":
    cpack_program, build_folder, source_folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        here = Path(folder)
        package = made_deb(cpack_program, build_folder, here)
        failures = [*deb_problems(package, here), *wheel_problems(build_folder, source_folder, here),
                    *clean_root_problems(package, source_folder)]
    print("\n".join(failures) or "what is packed works")
    sys.exit(bool(failures))
