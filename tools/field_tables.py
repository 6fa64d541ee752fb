#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Timeloop's and Accelergy's public results are beside ours, from the files as they lie on disk.

    tools/field_tables.py [--mapsim PROGRAM] FOLDER...

FOLDER is a checkout, for example of timeloop-accelergy-exercises or baseline-designs. Of its dense results (a design
with the energies, and for the second table the mapping, that lie beside it) two tables are printed: the ratio of the
energies that `mapsim import` takes from its own tables, where there is no ERT, to those of the ERT; and the mapping
that timeloop-mapper found beside the optimum of the imported mapspace, for the objective of the design's mapper, each
search within --seconds. docs/validation.md has both.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from field_files import without_mapping
from field_sets import Checkout, ENERGIES


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().splitlines()[0])
    return done.stdout


NODE = re.compile(r"^  - (?:storage|compute): (\S+)\n((?:    .*\n)*)", re.MULTILINE)
ENERGY = re.compile(r"^    energy: (?:\{read: )?([\d.e+-]+) pJ(?:/(b|B|word))?", re.MULTILINE)
WORD = re.compile(r"^    word: ([\d.]+) (b|B|KiB)$", re.MULTILINE)
BITS = {"b": 1, "B": 8, "KiB": 8192}


# By name of the components of an architecture: pJ of a bit that is read or of an operation, and all lines about it.
def components(text):
    found = {}
    for name, body in NODE.findall(text):
        energy, word = ENERGY.search(body), WORD.search(body)
        if energy:
            unit = energy.group(2)
            bits = float(word.group(1)) * BITS[word.group(2)] if unit == "word" else BITS.get(unit, 1)
            found[name] = float(energy.group(1)) / bits, body
    return found


def energies(program, each, folder):
    tables = [path for path in each.files if ENERGIES.search(pathlib.Path(path).name)]
    rest = [path for path in without_mapping(each.files, folder) if path not in tables]
    call(program, "import", "timeloop", *rest, *tables, *each.options, "-o", folder)
    theirs = components((pathlib.Path(folder) / "arch.yaml").read_text())
    call(program, "import", "timeloop", *rest, *each.options, "-o", folder)
    ours = components((pathlib.Path(folder) / "arch.yaml").read_text())
    for name, (energy, body) in ours.items():
        kind = re.search(r"# energ\w+ by our table(?:, (\w+))?", body)  # of the table that is taken
        if kind and name in theirs and theirs[name][0] > 0:
            size = re.search(r"^    capacity: (.*)$", body, re.MULTILINE)
            yield (kind.group(1) or "MAC", size.group(1) if size else "", energy, theirs[name][0])


def cost(text):
    found = json.loads(text)["cost"]
    return found["energy_pj"], found["latency_cycles"]


# The rules and the objective of a design in several files, which lie beside its architecture.
def beside(files):
    root = pathlib.Path(files[0]).parent.parent
    return [str(path) for name in ("constraints", "mapper") for path in sorted((root / name).glob("*.yaml"))]


def best(program, each, seconds, folder):
    arch, workload = (str(pathlib.Path(folder) / name) for name in ("arch.yaml", "workload.yaml"))
    call(program, "import", "timeloop", *each.files, *each.options, "-o", folder)
    theirs = cost(call(program, "eval", arch, workload, pathlib.Path(folder) / "mapping.yaml", "--json"))
    files = without_mapping(each.files, folder) + (beside(each.files) if each.kind == "published result" else [])
    done = json.loads(call(program, "import", "timeloop", *files, *each.options, "-o", folder, "--json"))
    command = done["next"].split()
    found = json.loads(call(program, *command[1:], "--budget", f"{seconds} s", "--json"))
    objective = command[command.index("--objective") + 1] if "--objective" in command else "energy"
    return objective, theirs, (found["cost"]["energy_pj"], found["cost"]["latency_cycles"]), found


def two_digits(ratio):
    return f"{float(f'{ratio:.2g}'):g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mapsim", default="build/ci/app/mapsim")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    pairs, rows = {}, []
    with tempfile.TemporaryDirectory() as out, tempfile.TemporaryDirectory() as scratch:
        for root in arguments.folders:
            for each in Checkout(root.resolve(), pathlib.Path(scratch)).find():
                if each.tool != "timeloop" or not each.stats or "sparse" in each.kind:
                    continue
                name = pathlib.Path(each.stats).parent.relative_to(root.resolve())
                for kind, *rest in energies(arguments.mapsim, each, out):
                    pairs.setdefault((root.name, kind), set()).add(tuple(rest))
                if pathlib.Path(each.stats).name.startswith("timeloop-mapper."):
                    rows.append((f"{root.name}/{name}", best(arguments.mapsim, each, arguments.seconds, out)))
    print("| checkout | ours / Accelergy's | components | least | median | most |\n|---|---|---:|---:|---:|---:|")
    for (name, kind), found in pairs.items():
        ratios = sorted(ours / theirs for _, ours, theirs in found)
        least, median, most = map(two_digits, (ratios[0], statistics.median(ratios), ratios[-1]))
        print(f"| {name} | {kind} | {len(ratios)} | {least} | {median} | {most} |")
    print("\n| design | searched for | energy / optimum | latency / optimum | EDP / optimum | optimum |\n"
          "|---|---|---:|---:|---:|---|")
    for name, (objective, theirs, ours, found) in rows:
        energy, latency = (a / b for a, b in zip(theirs, ours))
        print(f"| {name} | {objective} | {energy:.5g} | {latency:.5g} | {energy * latency:.5g} | "
              f"{found['certificate']['status']} |")


if __name__ == "__main__":
    sys.exit(main())
