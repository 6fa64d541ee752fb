# SPDX-License-Identifier: Apache-2.0
"""Every command of mapsim on small inputs and on ones that take long, for the scripts that interrupt them, or let
what they call fail. A command runs in a folder of its own, a copy of the one that prepare() makes."""
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

INPUTS = {
    "long.yaml": "name: long\ngemm: {m: 96, n: 96, k: 96}\n",
    "flat.yaml": "nodes:\n  - storage: DRAM\n    keep: [A, B, O]\n    for: []\n",
    "campaign.yaml": "name: buffers\narchitectures:\n  - file: configs/arch/teaching.yaml\n    grid:\n"
                     "      nodes.Buffer.capacity: [1 KiB, 4 KiB]\n"
                     "workloads: [gemm.yaml]\nobjectives: [energy, edp]\n",
    "campaign_long.yaml": "name: many\narchitectures:\n  - file: configs/arch/teaching.yaml\n    grid:\n"
                          "      nodes.Buffer.capacity: [1 KiB, 2 KiB, 4 KiB, 8 KiB, 16 KiB, 32 KiB]\n"
                          "      nodes.PEs.x: [1, 2, 4, 8, 16]\n      nodes.PEs.y: [1, 2, 4, 8, 16]\n"
                          "workloads: [configs/workloads/alexnet/*.yaml]\nobjectives: [energy, edp]\n",
    "graph.yaml": "name: small\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
                  "inputs:\n  image: {shape: [1, 4, 8, 8]}\ngraph:\n"
                  "  - {name: one, conv2d: {out_channels: 4, kernel: 3, padding: 1}, in: image,"
                  " epilogue: [relu]}\n"
                  "  - {name: two, conv2d: {out_channels: 2, kernel: 1}, in: one}\n",
    "gemm.yaml": "name: tiny\ngemm: {m: 4, n: 4, k: 8}\n",
    "forge.yaml": "arch:\n  nodes:\n  - !Memory\n    name: Off\n    size: inf\n"
                  "    actions: [{name: read, energy: 4e-12, throughput: 8e9}, {name: write, energy: 6e-12, throughput: 8e9}]\n"
                  "    tensors: {keep: ~Intermediates, may_keep: All}\n"
                  "  - !Memory\n    name: Buffer\n    size: 1024 * 8\n"
                  "    actions: [{name: read, energy: 1e-12}, {name: write, energy: 1e-12}]\n"
                  "    tensors: {keep: All}\n"
                  "  - !Compute\n    name: MAC\n    actions: [{name: compute, energy: 0.5e-12, throughput: 2e9}]\n"
                  "workload:\n  rank_sizes: {M: 8, N: 4, K: 6}\n  bits_per_value: {All: 8}\n"
                  "  einsums:\n  - \"C[m, n] = A[m, k] * B[k, n]\"\n",
    "small.cfg": "[general]\nrun_name = small\n[architecture_presets]\nArrayHeight: 8\nArrayWidth: 4\n"
                 "IfmapSramSzkB: 4\nFilterSramSzkB: 4\nOfmapSramSzkB: 4\nDataflow: ws\n",
    "net.csv": "Layer, IFMAP H, IFMAP W, Filter H, Filter W, Channels, Filters, Strides,\n"
               "first, 10, 10, 3, 3, 4, 8, 1,\n",
    "table.csv": "m,n,k,latency_us\n" + "".join(  # of a machine with 150 Tflop/s
        f"{m},4096,{k},{20 + 2 * m * 4096 * k / 150e6}\n" for m in (64, 256, 1024, 4096)
        for k in (256, 1024, 4096, 8192)),
}

# Folders of other tools' files, which import and compare read as a whole.
FOLDERS = {"timeloop": ["timeloop_gemm.yaml"], "zigzag_files": ["zigzag_machine.yaml", "zigzag_result.json"]}

# What the folder has before the commands run, in this order.
PREPARATION = """
search teaching gemm.yaml --save-mapping best.yaml --certificate proof.yaml
search teaching gemm.yaml --pareto --certificate front_proof.yaml
search nv_small gemm.yaml --certificate engine_proof.yaml
search teaching gemm.yaml --json -o search.json
design campaign.yaml --objective sum-edp --certificate design_proof.yaml
plan teaching_chip graph.yaml --certificate plan_proof.yaml --save-plan plan.yaml
search teaching long.yaml --save-mapping long_map.yaml
search eyeriss resnet50/conv2_3x3 --save-mapping eyeriss_map.yaml
search eyeriss resnet50/conv3_3x3 --pareto --certificate long_proof.yaml
search teaching_flat configs/chains/teaching_convs.yaml --certificate chain_proof.yaml
sweep campaign.yaml --db results.sqlite
sweep campaign.yaml --db part.sqlite --shard 1/2
import timeloop {data}/timeloop_gemm.yaml -o design
import gpu-table table.csv --gpu a100_80gb --precision bf16 -o all.csv
""".strip().splitlines()

PREPARATION_OF_LONG = ["search tpu_pod_like --gemm 997x1009x1013 --imperfect --certificate wide_proof.yaml"]

SMALL = """
search teaching gemm.yaml --save-mapping new.yaml --certificate new_proof.yaml --why
search teaching gemm.yaml --json -o result.json --trace trace.json
search teaching gemm.yaml --pareto --svg front.svg --certificate new_proof.yaml
search teaching gemm.yaml --curve Buffer --save-mapping points
search teaching gemm.yaml --imperfect --strategy exact
search teaching gemm.yaml --strategy genetic --evaluations 200
search nv_small gemm.yaml --certificate new_proof.yaml
search a100_80gb --gemm 256x256x256 --top 3
search teaching_flat configs/chains/teaching_convs.yaml --save-mapping tree.yaml
network teaching alexnet --strategy random --evaluations 20 --json -o network.json
network a100_80gb alexnet
network teaching_flat graph.yaml --fuse --json -o network.json
plan jetson_agx_orin graphs/squeezenet --why pool1 --json -o plan.json --trace plan_trace.json
plan jetson_agx_orin graphs/squeezenet --objective throughput --engine-batch dla=2
plan teaching graph.yaml --front
plan jetson_agx_orin graphs/squeezenet --at-once --budget 1s --report plan.html
plan teaching_chip graph.yaml --budget 10s --certificate new_proof.yaml --save-plan new_plan.yaml
eval teaching_chip graph.yaml plan.yaml
design campaign.yaml --objective sum-edp --save-arch best_arch.yaml
design campaign.yaml --objective energy --max-latency 1ms --max-energy 1mJ --max-power 1W --json -o design.json
design campaign.yaml --objective edp --certificate new_proof.yaml --svg steps.svg
design campaign.yaml --objective energy --pareto area --svg front.svg
sweep campaign.yaml --db new.sqlite
sweep campaign.yaml --db part.sqlite
merge results.sqlite part.sqlite
merge merged.sqlite results.sqlite part.sqlite
results results.sqlite
results results.sqlite --json -o results.json
report results.sqlite search.json -o report.html --figures figures
check proof.yaml
check front_proof.yaml --json -o verdict.json
check engine_proof.yaml
check design_proof.yaml
check plan_proof.yaml --json -o verdict.json
eval teaching gemm.yaml best.yaml --explain-energy --why
eval a100_80gb --gemm 256x256x256 --block 64x64x32
simulate teaching gemm.yaml best.yaml --trace trace.json
roofline teaching gemm.yaml
show teaching -o machine.svg
show teaching gemm.yaml best.yaml --html -o steps.html
histogram teaching gemm.yaml --mappings 50 --svg energies.svg
list
import timeloop {data}/timeloop_gemm.yaml -o again
import timeloop timeloop -o again
import scalesim small.cfg net.csv -o net
import zigzag {data}/zigzag_machine.yaml {data}/zigzag_result.json -o zigzag
import zigzag zigzag_files -o zigzag
import accelforge forge.yaml -o accelforge
import onnx {models}/strange.onnx -o layers
import gpu-table table.csv --gpu a100_40gb --precision bf16 -o all.csv
compare timeloop {data}/timeloop_gemm.yaml --stats {data}/timeloop_gemm.stats.txt
compare timeloop timeloop --stats {data}/timeloop_gemm.stats.txt --all --json -o figures.json
compare zigzag {data}/zigzag_machine.yaml {data}/zigzag_result.json --budget 1s
export timeloop design/arch.yaml design/workload.yaml design/mapping.yaml -o map.yaml
export cuda a100_80gb --gemm 256x256x256 -o kernel.cu
calibrate all.csv --arch a100_80gb --save-arch own.yaml
predict all.csv --arch a100_80gb
""".strip().splitlines()

LONG = """
search eyeriss resnet50/conv2_3x3 --imperfect --objective edp --save-mapping new.yaml
search eyeriss vgg16/conv3_2 --pareto --save-mapping points --svg front.svg
search eyeriss vgg16/conv3_2 --curve GLB --svg curve.svg
search eyeriss resnet50/conv3_3x3 --pareto --certificate new_proof.yaml
search square --conv 64,56,56,64,3,3,padding=1 --certificate new_proof.yaml
search eyeriss alexnet/conv2 --imperfect --certificate new_proof.yaml
search teaching --gemm 5040x5040x5040 --objective edp --certificate new_proof.yaml
search teaching_flat configs/chains/resnet50_conv2_block.yaml --save-mapping tree.yaml
search teaching --gemm 180180x180180x180180 --trace trace.json
search eyeriss vgg16/conv3_2 --strategy annealing --evaluations 100000000 --save-mapping new.yaml
search tpu_pod_like --gemm 997x1009x1013 --imperfect --certificate new_proof.yaml
search tpu_pod_like --gemm 5040x5040x5040 --objective edp --why --budget 20s
search nv_full vgg16/conv3_2 --certificate new_proof.yaml
search simba_package --gemm 1000000x1000000x1000 --imperfect --objective edp -o answer.txt
search tpu_pod_like --gemm 720720x720720x720 --imperfect --objective edp -o answer.txt
search simba_package --gemm 300000x100000x1000 --imperfect -o answer.txt
search eyeriss --einsum O[a][b][c][d]+=A[a][e][f][g]*B[b][e][f][h][c][d] --dims a=720,b=5040,c=24,d=60,e=60,f=8,g=12,h=12 -o answer.txt
search simba_package --einsum O[a][b][c][d]+=A[a][e][f][c]*B[b][e][f][d] --dims a=240,b=360,c=120,d=60,e=30,f=80 -o answer.txt --certificate new_proof.yaml
network eyeriss vgg16 --json -o network.json
network simba_like resnet50 --json -o network.json
network nv_full resnet50 --batches
network teaching_flat graphs/resnet50 --fuse --json -o network.json
plan eyeriss graphs/resnet50 --json -o plan.json --trace plan_trace.json
plan jetson_agx_orin graphs/bert_base_128 --objective throughput
plan jetson_agx_orin graphs/googlenet --at-once --what-if --budget 1s
plan jetson_agx_orin graphs/googlenet --with graphs/squeezenet
design eyeriss_10k --objective sum-edp --max-area 4mm2 --save-arch best_arch.yaml
design campaign_long.yaml alexnet --objective latency --json -o design.json
design eyeriss_10k --objective energy --max-latency 100ms --max-power 300mW --save-arch best_arch.yaml
design eyeriss_10k --objective edp --certificate new_proof.yaml
sweep campaign_long.yaml --db new.sqlite
merge merged.sqlite large.sqlite results.sqlite
merge results.sqlite large.sqlite
results large.sqlite --json -o results.json
results large.sqlite --csv -o results.csv
report large.sqlite -o report.html --figures figures
check long_proof.yaml
check chain_proof.yaml
check long_proof.yaml --json -o verdict.json --threads 2
check wide_proof.yaml
check design_proof.yaml
simulate teaching long.yaml long_map.yaml --max-steps 100000000 --json -o walk.json
simulate eyeriss resnet50/conv2_3x3 eyeriss_map.yaml --trace trace.json
histogram eyeriss vgg16/conv3_2 --svg energies.svg
histogram simba_like resnet50/conv3_3x3 --threads 2
eval eyeriss resnet50/conv2_3x3 eyeriss_map.yaml --why --objective edp
import onnx chain.onnx -o layers
network teaching chain.onnx
""".strip().splitlines()


def complete(line, build):
    square = ROOT / "bench/machines/square_3_levels.yaml"
    line = line.format(data=ROOT / "tests/app/data", models=build / "models")
    return re.sub(r"^search square ", f"search {square} ", line)


def available(lines, build):
    """Those whose files are there: without the library for ONNX no models are."""
    has_onnx = (build / "models").is_dir()
    return [complete(line, build) for line in lines if has_onnx or "onnx" not in line]


def prepare(program, folder, build, large=False):
    (folder / "configs").symlink_to(ROOT / "configs")
    for name, text in INPUTS.items():
        (folder / name).write_text(text)
    for name, files in FOLDERS.items():
        (folder / name).mkdir()
        for file in files:
            shutil.copy(ROOT / "tests/app/data" / file, folder / name)
    for line in available(PREPARATION + (PREPARATION_OF_LONG if large else []), build):
        ran = subprocess.run([program, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"exit code {ran.returncode}: mapsim {line}\n{ran.stderr}")
    if large:
        subprocess.run(["python3", ROOT / "tools/large_database.py", "results.sqlite", "large.sqlite",
                        "--designs", "40000"], cwd=folder, check=True)
        make_chain(folder / "chain.onnx")


def make_chain(path):
    """A model whose shapes are computed by operators on tensors of shapes, one after the other."""
    try:
        from onnx import TensorProto, helper, save
    except ImportError:
        return
    nodes, names = [], ["shape0"]
    numbers = [helper.make_tensor("shape0", TensorProto.INT64, [1 << 16], [1] * (1 << 16))]
    for i in range(2000):
        nodes.append(helper.make_node("Add", [names[-1], "shape0"], [f"shape{i + 1}"]))
        names.append(f"shape{i + 1}")
    tensor = helper.make_tensor_value_info
    nodes.append(helper.make_node("MatMul", ["x", "w"], ["y"]))
    graph = helper.make_graph(nodes, "chain", [tensor("x", TensorProto.FLOAT, [4, 4])],
                              [tensor("y", TensorProto.FLOAT, [4, 4])],
                              numbers + [helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [0.0] * 16)])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), str(path))


def fresh(prepared, place):
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(prepared, place, symlinks=True, copy_function=copy_or_link)


def copy_or_link(source, target):
    """Databases are changed in place, and everything else is replaced as a whole."""
    if ".sqlite" in source:
        shutil.copy2(source, target)
    else:
        os.link(source, target, follow_symlinks=False)


def ending(path):
    """How a text ends, but for its numbers and digests; of a mapping, which may be another one, what a line is."""
    data = path.read_bytes()
    last = data.rstrip(b"\n").rsplit(b"\n", 1)[-1]
    last = re.sub(rb"^ +- (for|keep|parallel).*", rb"a line", last) if path.suffix == ".yaml" else last
    return re.sub(rb"\b[0-9a-f]{16}\b|[0-9.]+", b"0", last)[-40:] + data[len(data.rstrip(b"\n")):]


def rows(path):
    """Of each table of a database, how many rows; raises what SQLite says where it is damaged."""
    database = sqlite3.connect(path)  # takes up what is left in its log
    (state,) = database.execute("PRAGMA integrity_check").fetchone()
    if state != "ok":
        raise sqlite3.DatabaseError(state)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


def state_of(folder):
    """Every file, with what tells whether it is whole."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink() or path.is_dir() or name.startswith("configs") or name in ("stdout", "stderr"):
            continue
        if path.suffix == ".sqlite":
            found[name] = ("rows", rows(path))
        elif name.endswith(("-wal", "-shm", "-journal")):
            continue  # parts of a database, which SQLite takes up or drops
        else:
            found[name] = ("text", hashlib.sha256(path.read_bytes()).hexdigest(), ending(path))
    return found


def looks_of(folder):
    """What differs as soon as anything in the folder was written, made or removed: much cheaper than its state."""
    found = []
    for path, folders, names in os.walk(folder):
        for name in folders + names:
            if name not in ("stdout", "stderr"):
                file = os.lstat(os.path.join(path, name))
                found.append((path, name, file.st_ino, file.st_size, file.st_mtime_ns))
    return sorted(found)


def faults_of_files(before, whole, after):
    """What is neither as it was, nor as a run leaves it that ends: "" where nothing is."""
    for name, state in after.items():
        if name not in before and name not in whole:
            return f"{name} was left"
        if state[0] == "rows":
            had = before.get(name, ("rows", {}))[1]
            if lost := [table for table, count in had.items() if state[1].get(table, 0) < count]:
                return f"{name} lost rows of {', '.join(lost)}"
        elif state != before.get(name) and (name not in whole or state[2] != whole[name][2]):
            return f"{name} is half-written"
    for name in before:
        if name not in after and name not in whole:
            return f"{name} is gone"
    return ""


def valid_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
