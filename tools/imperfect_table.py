#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches layers with imperfect factors and prints how far the proofs get, as Markdown.

usage: imperfect_table.py MAPSIM [--machines NAME,...] [--objectives NAME,...] [--budget 10s]

One thread. Layers: the 24 of ResNet-50 and the 6 of BERT-base. Of each machine and objective: how
many are proven (a gap of at most 0.1 %) within 0.1, 1 and the budget's seconds, the median and the
worst gap, and the layer that has it.
"""
import argparse
import json
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROVEN = 1e-3


def layers():
    for network in ("resnet50", "bert_base"):
        for path in sorted((ROOT / "configs/workloads" / network).glob("*.yaml")):
            yield f"{network}/{path.stem}"


def search(mapsim, machine, layer, objective, budget):
    done = subprocess.run(
        [mapsim, "search", machine, layer, "--imperfect", "--objective", objective, "--budget",
         budget, "--threads", "1", "--json"], capture_output=True, text=True, cwd=ROOT, check=False)
    found = json.loads(done.stdout)
    return {"layer": layer, "seconds": found["statistics"]["seconds"],
            "gap": found["certificate"]["gap"] or 0}


def row(machine, objective, found, budget):
    proven = [one for one in found if one["gap"] <= PROVEN]
    within = [sum(one["seconds"] <= limit for one in proven) for limit in (0.1, 1)]
    worst = max(found, key=lambda one: one["gap"])
    median = statistics.median(one["seconds"] for one in found)
    return (f"| `{machine}` | {objective} | {within[0]} | {within[1]} | {len(proven)} of "
            f"{len(found)} | {median:.2g} s | {100 * worst['gap']:.2g} % ({worst['layer']}) |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mapsim")
    parser.add_argument("--machines", default="nvdla_like_1024,eyeriss")
    parser.add_argument("--objectives", default="energy")
    parser.add_argument("--budget", default="10s")
    arguments = parser.parse_args()
    print(f"| machine | objective | proven in 0.1 s | in 1 s | in {arguments.budget} | median time "
          "| worst gap |\n|---|---|---:|---:|---:|---:|---|")
    for machine in arguments.machines.split(","):
        for objective in arguments.objectives.split(","):
            found = [search(arguments.mapsim, machine, layer, objective, arguments.budget)
                     for layer in layers()]
            print(row(machine, objective, found, arguments.budget), flush=True)


if __name__ == "__main__":
    main()
