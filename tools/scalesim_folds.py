#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The best cycles that a search finds beside those of SCALE-Sim's own folding, layer by layer.

    tools/scalesim_folds.py [--mapsim PROGRAM] [--layers] CFG TOPOLOGY...

`mapsim import scalesim` writes the machine, the layers and, in `scalesim.csv`, the cycles that the tool's folds take on the
array (`array_cycles`: whole windows, no stalls). Each layer is searched for the least latency. A row for each topology: how
many layers the search has faster, equal or slower, and the ratios (above 1: slower). --layers lists the slower layers.
tools/linear_folds.py does the same for shipped layers, without SCALE-Sim's files; docs/validation.md has both tables.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

BUDGET = "10s"  # for one layer


def run(*command):
    return subprocess.run([str(each) for each in command], capture_output=True, text=True)


# Searched cycles of every distinct layer, by its text without its name.
def searched(program, folder, name, known):
    layer = folder / f"{name}.workload.yaml"
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
    print("| configuration | topology | layers | search faster | equal | slower | ratio: least | median | most |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---:|")
    slower = []
    for topology in arguments.topologies:
        known, ratios = {}, []
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
                if ratios[-1] > 1:
                    slower.append((topology.stem, row["layer"], folds, best, ratios[-1]))
        ratios.sort()
        counts = [sum(each < 1 for each in ratios), sum(each == 1 for each in ratios), sum(each > 1 for each in ratios)]
        print(f"| {arguments.configuration.stem} | {topology.stem} | {len(ratios)} |", " | ".join(map(str, counts)),
              f"| {ratios[0]:.2f} | {ratios[len(ratios) // 2]:.2f} | {ratios[-1]:.2f} |", flush=True)
    for row in slower if arguments.layers else []:
        print("%s %s: %d by folds, %d by search, %.3f" % row)


if __name__ == "__main__":
    sys.exit(main())
