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
EXPECTS = "NVIDIA expects (MLPerf v2.1)"
TRT84 = "NVIDIA, TensorRT 8.4"
HAXCONN = "HaX-CoNN, TensorRT 7.1"
LAUNCHES = "each of 56 kernels takes 4 or 5 us more, likely its launch; batch 256 fits"
UNCALIBRATED = "this GPU was never calibrated"
NARROW = "likely narrow convolutions and LRN, for which a DLA needs longer than here"
STREAM = "--objective throughput --batch 256"
ROWS = [
    ("ms", "jetson_agx_orin graphs/resnet50", 0.636375, 0.15, ML.format("v3.1 SingleStream"), ""),
    ("1/s", f"jetson_agx_orin graphs/resnet50 {STREAM} --engine-batch dla=16", 6423.63, 0.15, ML.format("v3.1 Offline"), ""),
    ("1/s", f"jetson_agx_orin graphs/resnet50 {STREAM} --engine-batch dla=16", 5700, 0.25, EXPECTS, ""),
    ("1/s", f"jetson_agx_orin graphs/resnet50 {STREAM} --engine gpu", 4500, 0.25, EXPECTS, ""),
    ("1/s", "jetson_agx_orin graphs/resnet50 --objective throughput --engine dla --batch 16", 1200, 0.25, EXPECTS,
     "two DLAs beside the GPU, expected before 2,037 were measured at batch 2"),
    ("1/s", "jetson_agx_orin graphs/resnet50 --objective throughput --engine dla --batch 2", 2037, 0.25, "NVIDIA DLA-SW, MAXN", ""),
    ("1/s", "FOLDER/jetson_agx_orin_50w graphs/resnet50 --objective throughput --engine dla --batch 2", 1948, 0.25,
     "NVIDIA DLA-SW, 50 W", ""),
    ("ms", "jetson_agx_orin graphs/googlenet --given FOLDER/jetson_agx_orin_on_dla", 1.109, 0.4, "HaX-CoNN, int8", NARROW),
    ("ms", "jetson_agx_xavier graphs/googlenet --precision f16 --given FOLDER/jetson_agx_xavier_on_dla", 3.6564, 0.3, HAXCONN, NARROW),
    ("ms", "jetson_agx_xavier graphs/resnet50", 1.82028, 0.3, ML.format("v1.1 SingleStream"), UNCALIBRATED),
    ("ms", "jetson_agx_xavier graphs/googlenet --engine gpu --precision f16", 1.95913, 0.3, HAXCONN, UNCALIBRATED),
    ("1/s", f"t4 graphs/resnet50 {STREAM}", 6035.57, 0.3, ML.format("v0.7 Offline"), ""),
    ("1/s", f"l4 graphs/resnet50 {STREAM}", 12881.7, 0.25, ML.format("v3.1 Offline"),
     "what its 48 MiB of L2 keep from kernel to kernel is read from memory here"),
    ("1/s", f"a100_40gb graphs/resnet50 {STREAM}", 32008.2, 0.2, ML.format("v0.7 Offline"), ""),
    ("1/s", f"h100_sxm graphs/resnet50 {STREAM}", 81292.2, 0.25, ML.format("v2.1 Offline"), ""),
    ("ms", "a100_40gb graphs/resnet50", 0.513149, 0.35, ML.format("v0.7 SingleStream"), LAUNCHES),
    ("ms", "a100_40gb graphs/resnet50", 0.45, 0.3, TRT84, LAUNCHES),
    ("ms", "v100 graphs/resnet50 --precision f32", 2.67725, 0.5, TRT4, ""),
    ("ms", "v100 graphs/resnet50 --precision f32 --batch 8", 8.27648, 0.25, TRT4, ""),
    ("ms", "v100 graphs/resnet50 --precision f32 --batch 128", 80.5629, 0.25, TRT4, ""),
    ("ms", "v100 graphs/resnet50 --precision f16 --batch 8", 3.2938, 0.25, TRT4, ""),
    ("ms", "v100 graphs/resnet50 --precision f16 --batch 128", 21.2693, 0.25, TRT4, ""),
    ("ms", "v100 graphs/resnet50 --precision s8 --batch 8", 2.90755, 0.25, TRT4, ""),
    ("ms", "a100_40gb graphs/mobilenet_v2", 0.30, 0.3, TRT84, ""),
]
# BERT on an A100 PCIe 40 GB: (network, options, tolerance at batch 1, ms at batch 1, 8, 32 and 128).
BERT_TABLES = [
    ("bert_base_128", "--precision s8", 0.4, (0.54, 0.95, 2.23, 8.02)),
    ("bert_base_128", "--precision f16", 0.4, (0.62, 1.31, 3.85, 15.15)),
    ("bert_base_384", "--precision s8", 0.4, (1.14, 2.2, 7.64, 28.74)),
    ("bert_base_384", "--precision f16", 0.4, (1.26, 3.31, 12.79, 48.64)),
    ("bert_large_128", "--precision s8", 0.4, (1.23, 2.64, 6.95, 24.99)),
    ("bert_large_128", "--precision f16", 0.4, (1.54, 3.89, 12.83, 48.69)),
    ("bert_large_128", "--precision s8 --sparse", 0.3, (1.14, 2.45, 6.91, 21.69)),  # Megatron Large
]
for network, options, alone, times in BERT_TABLES:
    for batch, milliseconds in zip((1, 8, 32, 128), times):
        many = 0.3 if "--sparse" in options else 0.25
        ROWS.append(("ms", f"a100_40gb graphs/{network} {options} --batch {batch}", milliseconds, alone if batch == 1 else many, BERT, ""))
# 2:4 sparse linear layers on an A100, f16: (m, k, n, us dense, us sparse by the faster of two libraries), pytorch pull 90119.
SPARSE = [(3072, 3072, 768, 76.1, 51.5), (49152, 3072, 768, 990.1, 612.0), (12288, 768, 3072, 273.7, 207.1)]


def run(program, arguments):
    ran = subprocess.run([program, *arguments.split(), "--json"], capture_output=True, text=True, check=False, cwd=ROOT)
    if ran.returncode not in (0, 1):
        sys.exit(f"mapsim {arguments}: {ran.stderr}")
    return json.loads(ran.stdout)


def plan(program, arguments):
    return run(program, f"plan {arguments}")


def write_files(program, folder):
    """The chip and the plans that rows name in FOLDER."""
    # Of both DLAs, NVIDIA states 105 sparse TOPS at MAXN and 92 at 50 W (Deep-Learning-Accelerator-SW, README).
    dla = (ROOT / "configs/arch/orin_dla.yaml").read_text()
    (Path(folder) / "slower_dla.yaml").write_text(dla.replace("clock: 1600 MHz", f"clock: {1600 * 92 / 105:.0f} MHz"))
    changed(folder, "jetson_agx_orin_50w", "arch: orin_dla", "arch: slower_dla.yaml")
    # All groups of the best plan, the softmax apart, on a DLA.
    for chip, precision, layout in (("jetson_agx_orin", "s8", "chw32"), ("jetson_agx_xavier", "f16", "chw16")):
        path = Path(folder) / f"{chip}_on_dla.yaml"
        plan(program, f"{chip} graphs/googlenet --engine gpu --precision {precision} --save-plan {path}")
        lines = path.read_text().splitlines()
        path.write_text("\n".join(line if "[prob]" in line else line.replace("engine: gpu", "engine: dla").replace("format: hwc", f"format: {layout}")
                                  for line in lines) + "\n")


def table(program, folder):
    """Prints the rows; how many are within their tolerance, and of how many."""
    print("| `mapsim plan` | published | source | mapsim | ratio | clock | tolerance | |\n|---|---|---|---|---|---|---|---|")
    good = 0
    for unit, arguments, published, tolerance, source, why in ROWS:
        words = [word.replace("FOLDER", folder) + (".yaml" if "FOLDER" in word else "") for word in arguments.split()]
        answer = plan(program, " ".join(words))
        clock = answer["clock_share"]
        if "--given" in words:
            answer = answer["given"]
        arguments = arguments.replace("FOLDER/", "")
        figure = answer.get("latency_seconds" if unit == "ms" else "frames_per_second")
        if figure is None:
            sys.exit(f"mapsim plan {arguments}: no plan")
        here = 1e3 * figure if unit == "ms" else figure
        ratio = here / published
        within = abs(ratio - 1) <= tolerance
        good += within
        print(f"| `{arguments}` | {published:.4g} {unit} | {source} | {here:.4g} | {ratio:.2f} | {clock:.0%} | {tolerance:.0%} | "
              f"{'' if within else 'misses: ' + (why or 'not explained')} |")
    return good, len(ROWS)


def sparse_table(program, folder):
    print("\n| m, k, n | dense: published | mapsim | ratio | sparse: published | mapsim | ratio | gain: published | mapsim | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    path = Path(folder) / "linear.yaml"
    for m, k, n, *published in SPARSE:
        here = []
        for density in ("", "density: {weight: structured 2:4 along K}\n"):
            path.write_text(f"name: linear\ngemm: {{m: {m}, n: {n}, k: {k}}}\nprecision: {{input: 16 b, weight: 16 b, output: 16 b}}\n{density}")
            here.append(1e6 * run(program, f"search a100_40gb {path} --top 1")["kernels"][0]["seconds"])
        for figures in (published, here):
            figures.append(figures[0] / figures[1])
        cells = " | ".join(f"{there:.4g} | {own:.4g} | {own / there:.2f}" for there, own in zip(published, here))
        print(f"| {m}, {k}, {n} | {cells} |")


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
    with tempfile.TemporaryDirectory() as files:
        write_files(mapsim, files)
        within_tolerance, rows = table(mapsim, files)
        sparse_table(mapsim, files)
    print(f"\n{within_tolerance} of {rows} rows of plans are within their tolerance.")
    found = list(signs(mapsim))
    print("\n| must hold | | figures |\n|---|---|---|")
    for what, holds, figures in found:
        print(f"| {what} | {'yes' if holds else 'NO'} | {figures} |")
    sys.exit(not all(holds for _, holds, _ in found))
