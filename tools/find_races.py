#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs searches on several threads under ThreadSanitizer and says what it sees. Exit 1 if that is anything.

usage: find_races.py BUILD [--build] [--seconds N] [--seed N]

BUILD has mapper_races, made by clang with ThreadSanitizer; --build makes it with the compiler that CXX names, or clang++
(on Debian 12: apt install clang libomp-dev; of equal versions).
OpenMP's own runtime is not instrumented: libarcher, which comes with it, tells ThreadSanitizer what its tasks wait for.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {"CMAKE_CXX_COMPILER": os.environ.get("CXX", "clang++"), "CMAKE_BUILD_TYPE": "Debug", "CMAKE_UNITY_BUILD": "ON",
            "CMAKE_CXX_FLAGS_DEBUG": "-O1 -g1", "MAPSIM_TESTS": "ON", "MAPSIM_CUDA": "OFF", "MAPSIM_MPI": "OFF",
            "MAPSIM_SANITIZE": "thread"}


def build(folder):
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *(f"-D{k}={v}" for k, v in SETTINGS.items())],
                   check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "mapper_races"], check=True)


def archer():
    found = sorted(Path("/usr/lib").glob("llvm-*/lib/libarcher.so"))
    if not found:
        raise SystemExit("no libarcher.so below /usr/lib: apt install libomp-dev")
    return found[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--build", dest="builds", action="store_true", help="configure and build first")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.builds:
        build(arguments.build)
    environment = {**os.environ, "OMP_TOOL_LIBRARIES": str(archer()), "ARCHER_OPTIONS": "verbose=1",
                   "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 halt_on_error=0"}
    ran = subprocess.run([arguments.build / "tests/mapper/mapper_races", "--seconds", str(arguments.seconds),
                          "--seed", str(arguments.seed)], env=environment, capture_output=True, text=True, check=False)
    if "Archer detected OpenMP application with TSan" not in ran.stdout + ran.stderr:
        raise SystemExit(f"libarcher was not loaded\n{ran.stderr[:2000]}")
    reports = re.findall(r"WARNING: ThreadSanitizer.*?={18}", ran.stderr, re.S)
    for summary in sorted(set(re.findall(r"SUMMARY: ThreadSanitizer: .*", ran.stderr))):
        print(summary)
    if reports:
        print(reports[0])
    print(ran.stdout.strip())
    print(f"{len(reports)} reports")
    return int(bool(reports) or ran.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
