#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints every layer of four networks on the systolic engines and on Eyeriss, and the totals of docs/validation.md.

usage: engine_table.py MAPSIM [THREADS]

Runs `mapsim network` for the least energy-delay product of every layer; systolic_32x32 finds the best
dataflow of each by itself. Layers of which a gap is left are counted. With MAPSIM_GOLDENS=FOLDER it also says how long
SCALE-Sim took (FOLDER/systolic/scalesim_runs.jsonl).
"""
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
NETWORKS = ["alexnet", "vgg16", "resnet50", "mobilenet_v2"]
STAYS = {"I": "input", "A": "input", "W": "weight", "B": "weight", "O": "output", "Z": "output"}
HEAD = ("| layer | x | `tpu_v1` us | mJ | `systolic_32x32` us | mJ | stays | `eyeriss` ms | mJ |\n"
        "|---|---:|---:|---:|---:|---:|---|---:|---:|")


def layers(mapsim, threads, arch, network):
    command = [mapsim, "network", CONFIGS / f"arch/{arch}.yaml", CONFIGS / f"networks/{network}.yaml",
               "--objective", "edp", "--json", "--threads", threads]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["layers"]


def row(name, count, cells):
    """cells: tpu, systolic, stays, eyeriss; cycles at 700 MHz, 1 GHz, 200 MHz."""
    (tpu, tpu_pj), (array, array_pj), stays, (eyeriss, eyeriss_pj) = cells
    return (f"| {name} | {count} | {tpu / 700:.1f} | {tpu_pj / 1e9:.3f} | {array / 1e3:.1f} | "
            f"{array_pj / 1e9:.3f} | {stays} | {eyeriss / 2e5:.2f} | {eyeriss_pj / 1e9:.3f} |")


def figures(layer):
    return layer["latency_cycles"], layer["energy_pj"]


def total(found):
    return (sum(layer["count"] * layer["latency_cycles"] for layer in found),
            sum(layer["count"] * layer["energy_pj"] for layer in found))


def main():
    mapsim = sys.argv[1]
    threads = sys.argv[2] if len(sys.argv) > 2 else "1"
    seconds = {"tpu_v1": [], "systolic_32x32": [], "eyeriss": []}
    open_ = dict.fromkeys(seconds, 0)
    for network in NETWORKS:
        tpu = layers(mapsim, threads, "tpu_v1", network)
        array = layers(mapsim, threads, "systolic_32x32", network)
        eyeriss = layers(mapsim, threads, "eyeriss", network)
        print(f"\n**{network}**\n\n{HEAD}")
        for a, b, c in zip(tpu, array, eyeriss):
            name = a["workload"].removeprefix(network + "_")
            print(row(name, a["count"], (figures(a), figures(b), STAYS[b["stationary"]], figures(c))))
        layers_in_all = sum(layer["count"] for layer in tpu)
        print(row("**all**", layers_in_all, (total(tpu), total(array), "", total(eyeriss))))
        for name, found in zip(seconds, (tpu, array, eyeriss)):
            seconds[name] += [layer["search_seconds"] for layer in found]
            open_[name] += sum(layer["status"] != "optimal" for layer in found)
    print("\n| | layers | with a gap | median s | slowest s |\n|---|---:|---:|---:|---:|")
    for name, taken in seconds.items():
        print(f"| `{name}` | {len(taken)} | {open_[name]} | {statistics.median(taken):.3f} | {max(taken):.3f} |")
    if "MAPSIM_GOLDENS" in os.environ:
        runs = Path(os.environ["MAPSIM_GOLDENS"]) / "systolic/scalesim_runs.jsonl"
        taken = [json.loads(line)["wall_s"] for line in runs.read_text().splitlines()]
        print(f"| SCALE-Sim, one mapping | {len(taken)} | | {statistics.median(taken):.3f} | "
              f"{max(taken):.3f} |")


if __name__ == "__main__":
    main()
