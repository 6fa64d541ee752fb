#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Least latency by `mapsim search` beside SCALE-Sim's folding of the same layer, on many systolic arrays.

    tools/linear_folds.py [--mapsim PROGRAM] [--sizes 16,32,64,128,256] [--every N] [--all]

Every convolution of configs/workloads (each shape once) and shapes that divide badly, on square arrays of these sizes, with
outputs, weights or inputs that stay, without limits of ports and buffers. SCALE-Sim folds the matrix product that a layer
unfolds to: rows x columns tiles of the array, `time + 2 rows + columns - 2` cycles each (outputs: one time the rows less).
A row for each array and dataflow: layers that are faster, equal, slower, the ratios, how many optima are unfolded, how many
are proven, and seconds of search. Exit code 1 if any layer is slower. --every N takes every Nth layer, --all prints each.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGET = "10s"  # for one layer
PRECISION = {"input": "8 b", "weight": "8 b", "output": "8 b", "partial": "32 b"}
# What does not stay, and dims along the columns and rows.
DATAFLOWS = {"output": ("[input, weight]", "gemm_n", "gemm_m"), "weight": ("[input, output]", "gemm_n", "gemm_k"),
             "input": ("[weight, output]", "gemm_m", "gemm_k")}
# channels, kernels, height, width, filter rows and columns, strides: depth 3, unequal strides, images of 7 to 27
SHAPES = [(3, 32, 224, 224, 7, 7, 2, 2), (3, 96, 227, 227, 11, 11, 4, 4), (3, 64, 112, 112, 3, 3, 2, 1),
          (17, 33, 29, 31, 3, 5, 1, 2), (64, 70, 7, 7, 3, 3, 1, 1), (70, 64, 9, 9, 3, 3, 1, 1),
          (96, 250, 31, 31, 5, 5, 1, 1), (48, 100, 13, 13, 3, 3, 1, 1), (256, 384, 15, 15, 3, 3, 1, 1),
          (33, 70, 21, 21, 3, 3, 1, 1), (192, 40, 27, 27, 1, 1, 1, 1), (100, 52, 27, 13, 1, 1, 2, 1),
          (3, 17, 33, 65, 5, 3, 3, 2), (512, 100, 7, 7, 1, 1, 1, 1), (24, 24, 13, 27, 7, 1, 1, 1)]


def machine(size, stays):
    others, columns, rows = DATAFLOWS[stays]
    return f"""name: array
nodes:
  - storage: DRAM
    capacity: unlimited
    energy: {{read: 1 pJ/B, write: 1 pJ/B}}
  - fanout: Array
    x: {{size: {size}, dims: [{columns}]}}
    y: {{size: {size}, dims: [{rows}]}}
    spatial_reduction: true
  - storage: Register
    capacity: {{weight: 1 B, input: 1 B, output: 4 B}}
    energy: {{read: 0 pJ/B, write: 0 pJ/B}}
    keep: [{stays}]
    bypass: {others}
  - compute: MAC
    energy: 1 pJ
    timing: {{model: systolic, array: Array}}
"""


def pair(value, default):
    value = default if value is None else value
    return list(value) if isinstance(value, list) else [value, value]


# (name, layer of one group, groups), each shape once.
def layers():
    found = {}
    for path in sorted((ROOT / "configs" / "workloads").glob("*/*.yaml")):
        conv = yaml.safe_load(path.read_text()).get("conv2d")
        if conv:
            shape = {"groups": 1, "batch": 1, **{key: value for key, value in conv.items() if key != "bias"}}
            found.setdefault(json.dumps(shape, sort_keys=True), (f"{path.parent.name}/{path.stem}", shape))
    for c, k, h, w, r, s, sy, sx in SHAPES:
        shape = {"in_channels": c, "out_channels": k, "input": [h, w], "kernel": [r, s], "stride": [sy, sx], "groups": 1,
                 "batch": 1}
        found.setdefault(json.dumps(shape, sort_keys=True), (f"{c}x{h}x{w} * {k}x{r}x{s} / {sy}x{sx}", shape))
    return list(found.values())


# SCALE-Sim's folds, for every frame of every group.
def folded(shape, size, stays):
    height, width = pair(shape["input"], 1)
    (r, s), (sy, sx), (py, px), (dy, dx) = (pair(shape.get(key), default) for key, default in
                                           (("kernel", 1), ("stride", 1), ("padding", 0), ("dilation", 1)))
    groups = shape["groups"]
    m = ((height + 2 * py - dy * (r - 1) - 1) // sy + 1) * ((width + 2 * px - dx * (s - 1) - 1) // sx + 1)
    k = shape["in_channels"] // groups * r * s
    n = shape["out_channels"] // groups
    rows, columns, time, crossings = {"output": (m, n, k, 1), "weight": (k, n, m, 2), "input": (k, m, n, 2)}[stays]
    folds = -(-rows // size) * -(-columns // size)
    return shape["batch"] * groups * folds * (time + (crossings + 1) * size - 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mapsim", default=str(ROOT / "build" / "ci" / "app" / "mapsim"))
    parser.add_argument("--sizes", default="16,32,64,128,256")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    chosen = layers()[::arguments.every]
    print("| array | stays | layers | faster | equal | slower | ratio: least | median | most | unfolded | proven | seconds |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        arch, layer = (pathlib.Path(folder) / name for name in ("arch.yaml", "layer.yaml"))
        for size in map(int, arguments.sizes.split(",")):
            for stays in DATAFLOWS:
                arch.write_text(machine(size, stays))
                ratios, unfolded, proven, seconds = [], 0, 0, 0.0
                for name, shape in chosen:
                    layer.write_text(yaml.safe_dump({"name": "layer", "conv2d": shape, "precision": PRECISION}))
                    done = subprocess.run([arguments.mapsim, "search", arch, layer, "--objective", "latency", "--budget",
                                           BUDGET, "--json"], capture_output=True, text=True)
                    if done.returncode != 0:
                        sys.exit(f"{name}, {size}, {stays}: {done.stderr}")
                    answer = json.loads(done.stdout)
                    ratios.append(answer["cost"]["latency_cycles"] / folded(shape, size, stays))
                    unfolded += answer.get("form") == "unfolded"
                    proven += answer["certificate"]["status"] == "optimal"
                    seconds += answer["statistics"]["seconds"]
                    if arguments.all or ratios[-1] > 1:
                        print(f"{name}: {ratios[-1]:.4f} {answer.get('form', 'direct')}", file=sys.stderr)
                ratios.sort()
                worst = max(worst, ratios[-1])
                print(f"| {size} x {size} | {stays} | {len(ratios)} | {sum(x < 1 for x in ratios)} |",
                      f"{sum(x == 1 for x in ratios)} | {sum(x > 1 for x in ratios)} |",
                      f"{ratios[0]:.3f} | {ratios[len(ratios) // 2]:.3f} | {ratios[-1]:.3f} | {unfolded} | {proven} |",
                      f"{seconds:.1f} |", flush=True)
    return 1 if worst > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
