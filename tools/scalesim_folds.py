#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The best cycles that a search finds beside those of SCALE-Sim's own folding, layer by layer.

    tools/scalesim_folds.py [--mapsim PROGRAM] [--layers] CFG TOPOLOGY...

`mapsim import scalesim` writes the machine, the layers and, in `scalesim.csv`, the cycles that the tool's folds take on the
array (`array_cycles`: whole windows, no stalls). Each layer is searched for the least latency, and where that is slower
than the tool's folds, so is the matrix product that it unfolds to (`NAME.gemm.yaml`), whose folds take pixels across the
ends of lines. A row for each topology: how many layers the nests of the layer have faster, equal or slower, the ratios
(above 1: slower), and the largest ratio of the better of the two searches. --layers lists the slower layers.
docs/validation.md has the table.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

BUDGET = "10s"  # for one layer


def run(*command):
    return subprocess.run([str(each) for each in command], capture_output=True, text=True)


# Searched cycles of every distinct layer, by its text without its name. One of 1 x 1 without stride is the product of
# matrices that it unfolds to.
def searched(program, folder, name, known, unfolded=False):
    layer = folder / f"{name}.workload.yaml"
    if unfolded or re.search(r"kernel: \[1, 1\]\n\s*stride: 1$(?!.*groups)", layer.read_text(), re.MULTILINE | re.DOTALL):
        layer = folder / f"{name}.gemm.yaml"
    text = layer.read_text().replace(f"name: {name}\n", "")
    if text not in known:
        done = run(program, "search", folder / "arch.yaml", layer, "--objective", "latency",
                   "--budget", BUDGET, "--json")
        known[text] = json.loads(done.stdout)["cost"]["latency_cycles"] if done.returncode == 0 else None
    return known[text]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mapsim", default="build/ci/app/mapsim")
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("configuration", type=pathlib.Path)
    parser.add_argument("topologies", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    print("| configuration | topology | layers | search faster | equal | slower | ratio: least | median | most | or unfolded |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    slower = []
    for topology in arguments.topologies:
        known, ratios, either = {}, [], []
        with tempfile.TemporaryDirectory() as out:
            done = run(arguments.mapsim, "import", "scalesim", arguments.configuration, topology, "-o", out)
            if done.returncode != 0:
                print(f"{topology}: {done.stderr.splitlines()[0]}", file=sys.stderr)
                continue
            for row in csv.DictReader((pathlib.Path(out) / "scalesim.csv").open()):
                best = searched(arguments.mapsim, pathlib.Path(out), row["layer"], known)
                if best is None:
                    continue
                folds = int(row["array_cycles"]) * int(row["copies"])
                ratios.append(best / folds)
                either.append(ratios[-1])
                if ratios[-1] > 1:
                    product = searched(arguments.mapsim, pathlib.Path(out), row["layer"], known, unfolded=True)
                    copies = int(row["copies"])
                    either[-1] = min(best, best if product is None else product * copies) / folds
                    slower.append((topology.stem, row["layer"], folds, best, ratios[-1], either[-1]))
        ratios.sort()
        counts = [sum(each < 1 for each in ratios), sum(each == 1 for each in ratios), sum(each > 1 for each in ratios)]
        print(f"| {arguments.configuration.stem} | {topology.stem} | {len(ratios)} |", " | ".join(map(str, counts)),
              f"| {ratios[0]:.2f} | {ratios[len(ratios) // 2]:.2f} | {ratios[-1]:.2f} | {max(either):.2f} |", flush=True)
    for row in slower if arguments.layers else []:
        print("%s %s: %d by folds, %d by search, %.3f; %.3f with the unfolded product" % row)


if __name__ == "__main__":
    sys.exit(main())
