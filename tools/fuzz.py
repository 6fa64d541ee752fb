#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs libFuzzer on readers, one after the other, and says what came of it.

usage: fuzz.py BUILD [--build] [--seconds N] [--targets arch,workload] [--corpus FOLDER] [--seed N]

BUILD has mapsim_fuzz, made by clang with AddressSanitizer and UBSan; --build makes it (on Debian 12: apt install clang
libomp-dev). An input may take 10 s and 2 GiB. Per target a line: inputs run, edges of the program that they reached, inputs
of the corpus, crashes. The corpus is kept in FOLDER/TARGET (default: BUILD/corpus), inputs that crash in
FOLDER/TARGET.crashes; after a crash the target goes on for the seconds that are left. Exit 1 if anything crashed, took
too long or leaked.
"""
import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

FAULT = re.compile(r"(ERROR: \S+: .*|SUMMARY: .*|runtime error: .*|terminate called .*|  what\(\): .*)")


ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {"CMAKE_CXX_COMPILER": "clang++", "CMAKE_BUILD_TYPE": "Debug", "CMAKE_UNITY_BUILD": "ON",
            "CMAKE_CXX_FLAGS_DEBUG": "-O1 -g1 -D_GLIBCXX_ASSERTIONS", "MAPSIM_FUZZ": "ON", "MAPSIM_CUDA": "OFF",
            "MAPSIM_MPI": "OFF", "MAPSIM_SANITIZE": "address,undefined,fuzzer-no-link"}


def build(folder):
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *(f"-D{k}={v}" for k, v in SETTINGS.items())],
                   check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "mapsim_fuzz"], check=True)


def targets_of(program):
    return subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()


class Target:
    def __init__(self, program, name, folder, seed):
        self.program, self.name, self.seed = program, name, seed
        self.corpus, self.crashes = folder / name, folder / f"{name}.crashes"
        self.runs = self.edges = 0
        self.faults = []
        for path in (self.corpus, self.crashes):
            path.mkdir(parents=True, exist_ok=True)
        if not any(self.corpus.iterdir()):
            subprocess.run([program, f"--target={name}", f"--seeds={self.corpus}"], check=True)

    def run(self, seconds):
        """Until the time is over or something crashes; True: it did."""
        command = [self.program, f"--target={self.name}", str(self.corpus), f"-max_total_time={seconds}",
                   f"-artifact_prefix={self.crashes}/", "-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=1024",
                   "-max_len=20000", "-print_final_stats=1", "-reload=0", f"-seed={self.seed + len(self.faults)}"]
        log = subprocess.run(command, capture_output=True, check=False)
        text = log.stderr.decode("utf-8", "replace")
        self.runs += max([int(n) for n in re.findall(r"number_of_executed_units: (\d+)", text)] +
                         [int(n) for n in re.findall(r"^#(\d+)", text, re.M)] or [0])
        self.edges = max([self.edges] + [int(n) for n in re.findall(r"cov: (\d+)", text)])
        if log.returncode != 0:
            place = re.search(r"Test unit written to (\S+)", text)
            said = [match for match in FAULT.findall(text)][:3] or [text[-300:]]
            self.faults.append((" | ".join(said), place.group(1) if place else "no input"))
        return log.returncode != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--build", dest="builds", action="store_true", help="configure and build first")
    parser.add_argument("--seconds", type=int, default=600, help="per target")
    parser.add_argument("--targets", help="names, with commas; default: all")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.builds:
        build(arguments.build)
    program = arguments.build.resolve() / "tests/fuzz/mapsim_fuzz"
    folder = arguments.corpus or arguments.build / "corpus"
    known = targets_of(program)
    names = arguments.targets.split(",") if arguments.targets else known
    if unknown := set(names) - set(known):
        raise SystemExit(f"no target {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    faults = 0
    print(f"{'target':<15}{'inputs':>12}{'edges':>8}{'corpus':>8}{'crashes':>9}", flush=True)
    for name in names:
        target = Target(program, name, folder, arguments.seed)
        end = time.monotonic() + arguments.seconds
        while time.monotonic() < end and len(target.faults) < 20:
            target.run(max(1, int(end - time.monotonic())))
        faults += len(target.faults)
        size = sum(1 for _ in target.corpus.iterdir())
        print(f"{name:<15}{target.runs:>12,}{target.edges:>8,}{size:>8,}{len(target.faults):>9}", flush=True)
        for said, place in dict(target.faults).items():
            print(f"  {said}\n  {place}", flush=True)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
