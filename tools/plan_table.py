#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the table of docs/validation.md that holds plans of whole networks against published figures, and whether the
signs hold that a plan must have. Exit 1 if a sign does not.

usage: plan_table.py MAPSIM
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What: (figure, arguments of mapsim plan, published value, tolerance, where it was published, what explains a miss).
# Figures: ms of a batch, or frames a second.
ML = "MLPerf {}"
TRT4 = "TensorRT 4 (gist 1duo)"
BERT = "NVIDIA/TensorRT demo/BERT"
ROWS = [
    ("ms", "jetson_agx_orin graphs/resnet50", 0.636375, 0.15, ML.format("v3.1 SingleStream"), ""),
    ("1/s", "jetson_agx_orin graphs/resnet50 --objective throughput --batch 256 --engine-batch dla=16", 6423.63, 0.15,
     ML.format("v3.1 Offline"), ""),
    ("1/s", "jetson_agx_orin graphs/resnet50 --objective throughput --engine gpu --batch 256", 4500, 0.25,
     "NVIDIA expects (MLPerf v2.1)", ""),
    ("1/s", "jetson_agx_orin graphs/resnet50 --objective throughput --engine dla --batch 2", 2037, 0.25, "NVIDIA DLA-SW, MAXN", ""),
    ("ms", "jetson_agx_xavier graphs/resnet50", 1.82028, 0.3, ML.format("v1.1 SingleStream"), "this GPU was never calibrated"),
    ("ms", "jetson_agx_xavier graphs/googlenet --engine gpu --precision f16", 1.959, 0.3, "HaX-CoNN, TensorRT 7.1",
     "likewise"),
    ("1/s", "t4 graphs/resnet50 --objective throughput --batch 256", 6035.57, 0.3, ML.format("v0.7 Offline"), ""),
    ("1/s", "l4 graphs/resnet50 --objective throughput --batch 256", 12881.7, 0.25, ML.format("v3.1 Offline"),
     "what its 48 MiB of L2 keep from kernel to kernel is read from memory here"),
    ("1/s", "a100_40gb graphs/resnet50 --objective throughput --batch 256", 32008.2, 0.2, ML.format("v0.7 Offline"), ""),
    ("1/s", "h100_sxm graphs/resnet50 --objective throughput --batch 256", 81292.2, 0.25, ML.format("v2.1 Offline"),
     ""),
    ("ms", "a100_40gb graphs/resnet50", 0.513149, 0.35, ML.format("v0.7 SingleStream"), "batch 1 waits for launches, here 2.5 us each; batch 256 fits"),
    ("ms", "v100 graphs/resnet50 --precision f32", 2.67725, 0.5, TRT4, "likewise"),
    ("ms", "v100 graphs/resnet50 --precision f32 --batch 8", 8.27648, 0.25, TRT4, "likewise"),
    ("ms", "v100 graphs/resnet50 --precision f32 --batch 128", 80.5629, 0.25, TRT4, ""),
    ("ms", "v100 graphs/resnet50 --precision f16 --batch 128", 21.2693, 0.25, TRT4, ""),
    ("ms", "a100_40gb graphs/mobilenet_v2", 0.30, 0.3, "NVIDIA, TensorRT 8.4", ""),
    ("ms", "a100_40gb graphs/bert_large_128", 1.23, 0.4, BERT, ""),
    ("ms", "a100_40gb graphs/bert_large_128 --batch 8", 2.64, 0.25, BERT, ""),
    ("ms", "a100_40gb graphs/bert_base_128", 0.54, 0.4, BERT, ""),
    ("ms", "a100_40gb graphs/bert_base_128 --batch 8", 0.95, 0.25, BERT, ""),
    ("ms", "a100_40gb graphs/bert_base_128 --batch 32", 2.23, 0.25, BERT,
     "at full clock every plan takes more than the chip's 250 W; a GPU then lowers its clock, which is not modelled"),
]


def plan(program, arguments):
    ran = subprocess.run([program, "plan", *arguments.split(), "--json"], capture_output=True, text=True, check=False, cwd=ROOT)
    if ran.returncode not in (0, 1):
        sys.exit(f"mapsim plan {arguments}: {ran.stderr}")
    return json.loads(ran.stdout)


def table(program):
    print("| `mapsim plan` | published | source | mapsim | ratio | tolerance | |\n|---|---|---|---|---|---|---|")
    for unit, arguments, published, tolerance, source, why in ROWS:
        answer = plan(program, arguments)
        figure = answer.get("latency_seconds" if unit == "ms" else "frames_per_second")
        if figure is None:
            print(f"| `{arguments}` | {published:.4g} {unit} | {source} | none |  | {tolerance:.0%} | misses: {why} |")
            continue
        here = 1e3 * figure if unit == "ms" else figure
        ratio = here / published
        within = abs(ratio - 1) <= tolerance
        print(f"| `{arguments}` | {published:.4g} {unit} | {source} | {here:.4g} | {ratio:.2f} | {tolerance:.0%} | "
              f"{'' if within else 'misses: ' + (why or 'not explained')} |")


def changed(folder, name, old, new):
    path = Path(folder) / f"{name}.yaml"
    text = (ROOT / "configs/soc/jetson_agx_orin.yaml").read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return str(path)


def signs(program):
    """(what must hold, does it?, the figures)"""
    net = plan(program, "jetson_agx_orin graphs/googlenet")
    passes = [1e6 * each["latency_seconds"] for each in net["passes"]]
    yield ("GoogLeNet: unfused > vertical > horizontal > elided", passes == sorted(passes, reverse=True) and len(set(passes)) == 4,
           ", ".join(f"{each:.1f}" for each in passes) + " us")
    greedy = 1e6 * net["best_engine_of_each"]["latency_seconds"]
    yield ("each group on its best engine is slower than the plan", greedy > passes[-1], f"{greedy:.1f} > {passes[-1]:.1f} us")
    yield ("with a synchronisation of 15 us GoogLeNet stays on the GPU", net["engines"][1]["busy_seconds"] == 0, "")
    with tempfile.TemporaryDirectory() as folder:
        fast = changed(folder, "fast", "sync: 15 us", "sync: 5 us")
        for chip, gains in (("jetson_agx_orin", False), (fast, True)):
            once = plan(program, f"{chip} graphs/googlenet --at-once")["at_once"]
            latency, bound = 1e6 * once["latency_seconds"], 1e6 * once["bound_seconds"]
            yield (f"with {'5 us and engines at once one frame of GoogLeNet gains' if gains else 'engines at once 15 us still keep GoogLeNet on the GPU'}",
                   (latency < passes[-1] - 1e-9) == gains, f"{latency:.1f} us, no schedule is faster than {bound:.1f}")
        half = changed(folder, "half", "204.8 GB/s", "102.4 GB/s")
        stream = plan(program, f"{half} graphs/resnet50 --objective throughput --batch 32 --engine-batch dla=2")
        dla = stream["limits"][1]
        yield ("at half the bandwidth another DLA brings ResNet-50 nothing", dla["gain_frames_per_second"] < 1e-6,
               f"{stream['frames_per_second']:.0f} frames/s, DLAs {dla['used']:.0%} used; the GPU alone "
               f"{stream['limits'][0]['alone_frames_per_second']:.0f}")
    gpu = plan(program, "jetson_agx_orin graphs/resnet50 --engine gpu --batch 256")["energy_pj"] / 256
    dla = plan(program, "jetson_agx_orin graphs/resnet50 --engine dla --batch 2")["energy_pj"] / 2
    yield ("a DLA does more images a joule than the GPU (NVIDIA: 3.5 times)", gpu > dla, f"{gpu / dla:.2f} times")


if __name__ == "__main__":
    mapsim = str(Path(sys.argv[1]).resolve())
    table(mapsim)
    found = list(signs(mapsim))
    print("\n| must hold | | figures |\n|---|---|---|")
    for what, holds, figures in found:
        print(f"| {what} | {'yes' if holds else 'NO'} | {figures} |")
    sys.exit(not all(holds for _, holds, _ in found))
