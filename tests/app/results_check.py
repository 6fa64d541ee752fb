#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what --json prints against the JSON schemas in configs/schema/results, one per command: every key has its
place there, and every key that must be there is. Exit 1 if not. With --write the schemas are made anew from what the
commands of RUNS print; those of OTHERS are only checked, so that a schema is not merely what it was made of. What a key
means is in tools/results_keys.yaml, of which tools/results_reference.py makes docs/results_keys.md.

usage: results_check.py [--write] MAPSIM CONFIGS FAKE_CUDA

FAKE_CUDA is the library of tests/validate/device, which microbench takes for a driver.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

# Run in this order in one folder. Together they print every key that a schema has, and every key that may be missing is
# missing in one of them.
RUNS = """
search teaching teaching/conv --save-mapping best.yaml --certificate proof.yaml --why
search eyeriss alexnet/conv3 --constraints row_stationary --objective edp
search teaching --gemm 61x7x71 --imperfect --budget 5s
search teaching teaching/conv --strategy random --evaluations 50
search systolic_32x32 --gemm 40x40x40 --objective latency
search nv_full alexnet/conv3
search nv_small resnet50/conv5_3x3 --budget-labels 10
search nv_full alexnet/conv3 --max-latency 1cycles
search nv_full teaching/conv --pareto
search edge alexnet/conv3
search teaching --gemm 61x7x71 --imperfect --budget-labels 10
search teaching teaching/conv --pareto
search teaching teaching/conv --curve Buffer
search a100_40gb --gemm 256x256x256 --top 2
search teaching teaching/conv --max-latency 1cycles
search teaching teaching/conv --max-latency 1e6cycles --max-energy 1J
search teaching teaching/conv --pareto --max-latency 1e9cycles --max-energy 1J --budget 60s
search eyeriss alexnet/conv3 --max-energy 1pJ --budget 60s
search tpu_v1 alexnet/conv3
search systolic_32x32 alexnet/conv1 --objective latency
search scnn_like zeros.yaml --save-mapping sparse.yaml
search scnn_like zeros.yaml --objective edp
eval scnn_like zeros.yaml sparse.yaml
simulate scnn_like zeros.yaml sparse.yaml
search teaching_flat configs/chains/teaching_convs.yaml --max-latency 1cycles
search scnn_like alexnet/conv3
search h100_sxm --gemm 256x256x256 --precision f16 --top 2
search a100_40gb --gemm 4096x4096x4096 --precision s8 --layout nn --top 2
search teaching_flat configs/chains/teaching_convs.yaml
search teaching_flat configs/chains/teaching_convs.yaml --curve Buffer
search teaching_flat configs/chains/teaching_convs.yaml --pareto
search teaching_flat configs/chains/teaching_convs.yaml --certificate chain.proof
check chain.proof
eval teaching teaching/conv best.yaml --explain-energy
eval teaching teaching/conv teaching_weight_stationary --why
eval a100_40gb --gemm 256x256x256 --block 64x64x32
eval h100_sxm --gemm 256x256x256 --precision f16 --block 64x64x64
simulate teaching teaching/conv teaching_weight_stationary
network teaching alexnet
network nv_full alexnet --batches
network teaching graphs/squeezenet --fuse
network teaching graphs/squeezenet --fuse --objective latency
network nvdla_like_1024 graphs/bert_base_128 --fuse --objective edp
network nvdla_like_1024 graphs/vit_b16 --fuse --max-latency 6e7cycles --max-energy 1J
network nvdla_like_1024 graphs/vit_b16 --fuse --max-latency 1cycles
network nvdla_like_1024 graphs/bert_base_128 --fuse --certificate network.proof
check network.proof
network a100_40gb alexnet --precision f16
network h200 graphs/squeezenet --precision bf16
network eyeriss alexnet --max-energy 4mJ
network eyeriss alexnet --max-energy 1pJ
network tpu_v1 alexnet
network eyeriss_v2_pe alexnet
network teaching alexnet --objective edp
network scnn_like alexnet
plan jetson_agx_orin graphs/squeezenet --at-once --save-plan plan.yaml
plan jetson_agx_orin graphs/squeezenet --given plan.yaml --certificate plan.proof
plan jetson_agx_orin graphs/squeezenet --with graphs/squeezenet --engine gpu
plan a100_40gb graphs/squeezenet --what-if
plan teaching_chip graphs/squeezenet
plan eyeriss graphs/squeezenet
plan teaching_chip graphs/squeezenet --max-latency 1us --objective energy
plan jetson_agx_orin graphs/squeezenet --max-memory 1B
plan jetson_agx_orin graphs/squeezenet --max-power 15W
check plan.proof
plan teaching_chip graphs/squeezenet --objective energy --front
plan jetson_agx_orin graphs/squeezenet --objective throughput --batch 4 --engine-batch dla=2
eval teaching configs/chains/teaching_convs.yaml configs/trees/teaching_convs.yaml
simulate teaching configs/chains/teaching_convs.yaml configs/trees/teaching_convs.yaml
roofline eyeriss alexnet/conv1
list
list gpus
roofline a100_40gb --gemm 256x256x256
histogram teaching teaching/gemm --mappings 200
histogram teaching teaching/conv --mappings 200
check proof.yaml
sweep teaching_buffers --db results.sqlite
merge all.sqlite results.sqlite
report results.sqlite
results results.sqlite
results results.sqlite --networks
design teaching_buffers --objective energy
design teaching_buffers teaching/gemm --objective sum-edp --max-area 0.2mm2 --certificate best.proof
check best.proof
design teaching_buffers teaching/gemm --objective energy --max-area 0.001mm2
design teaching_buffers alexnet --objective edp --max-area 0.001mm2
design teaching_buffers teaching/gemm --objective edp --top 2 --max-latency 1s --max-energy 1J --max-power 1W
design teaching_buffers teaching/gemm --objective latency --pareto area
import gpu-table timings.csv --gpu a100_80gb --precision bf16 -o measurements.csv
import timeloop {data}/timeloop_gemm.yaml -o gemm
import zigzag {data}/zigzag_machine.yaml {data}/zigzag_result.json -o zigzag
export timeloop gemm/arch.yaml gemm/workload.yaml gemm/mapping.yaml
export cuda a100_40gb --gemm 256x256x256 --precision f16
show teaching
show teaching teaching/conv best.yaml
microbench h200
calibrate measurements.csv --arch a100_80gb
predict timings.csv --arch a100_80gb --precision bf16
predict kernels.csv --arch a100_80gb
validate a100_80gb gemm/4096 --precision f16 --device replay=kernels.csv
compare timeloop {data}/timeloop_gemm.yaml --stats {data}/timeloop_gemm.stats.txt --all
compare timeloop {data}/timeloop_gemm.yaml --stats older.stats.txt
compare zigzag {data}/zigzag_machine.yaml {data}/zigzag_result.json
""".strip().splitlines()
# None of them is one of which a schema was made.
OTHERS = """
search edge resnet50/conv2_3x3
search simba_like alexnet/conv3 --max-latency 1e9cycles
search tensor_core_2_4 teaching/gemm --why
search eyeriss_chip alexnet/conv3 --budget-labels 3
search orin_dla alexnet/conv3 --max-latency 1cycles
search nv_small teaching/conv --pareto --budget-labels 5
search simba_like teaching/conv --imperfect --budget-labels 50
search h200 --gemm 512x512x512 --precision bf16 --top 3
search t4 --conv 64,56,56,64,3,3,padding=1 --precision f16 --top 2
search v100 --gemm 512x512x512 --precision f16 --path wmma --top 2
search rtx3090 --gemm 512x512x512 --precision f32 --top 2
eval h200 --gemm 512x512x512 --precision f16 --block 128x128x32
eval edge --conv 8,6,6,4,3,3 teaching_weight_stationary
roofline h200 --gemm 512x512x512 --precision f16
roofline scnn_like alexnet/conv3
roofline tpu_v1 alexnet/conv3
network eyeriss_chip alexnet
network edge alexnet --max-energy 1uJ
network tensor_core_2_4 alexnet --objective latency
network l4 resnet50 --precision f16
network nv_small alexnet
plan jetson_agx_xavier graphs/squeezenet
plan edge graphs/squeezenet --objective energy
plan jetson_agx_xavier graphs/squeezenet --objective throughput
plan teaching_chip graphs/squeezenet --at-once
plan teaching_chip graphs/squeezenet --max-power 1mW
plan h100_sxm graphs/squeezenet --objective energy
design teaching_buffers alexnet --objective sum-edp --max-area 0.001mm2
design teaching_buffers teaching/gemm --objective energy --max-latency 1ns
histogram eyeriss alexnet/conv3 --mappings 100
sweep teaching_buffers --db results.sqlite
show teaching teaching/conv best.yaml --html
show teaching configs/chains/teaching_convs.yaml configs/trees/teaching_convs.yaml
export cuda h200 --gemm 512x512x512 --precision bf16 --bias
import scalesim array.cfg products.csv -o systolic
""".strip().splitlines()
MAPS = {"density", "settings", "operand_bits", "tensors", "inputs", "smallest_need", "reasons", "busy_seconds", "resource_cycles",
        "breakdown"}  # keys are names
# Where no run prints it; a key that is null in one answer may be null in all.
ALSO = {"leakage_pj": 1.0, "naive_s": 1.0, "sm_clock_hz": 1.0, "refusal": "", "reason": ""}


def type_of(value):
    for name, kinds in (("null", type(None)), ("boolean", bool), ("number", (int, float)), ("string", str),
                        ("array", list), ("object", dict)):
        if isinstance(value, kinds):
            return name
    raise TypeError(value)


def place(path):
    """A key and the one that it stands in: what two of the same place are means the same."""
    return "/".join(path.replace("[]", "").split("/")[-2:])


def note(value, path, keys, nulls):
    """The values by place, and the paths at which something is null."""
    keys.setdefault(place(path), []).append(value)
    if value is None:
        nulls.add(path)
    elif isinstance(value, dict):
        is_map = path.rsplit("/", 1)[-1] in MAPS
        for key, inner in value.items():
            note(inner, f"{path}/*" if is_map else f"{path}/{key}", keys, nulls)
    elif isinstance(value, list):
        for inner in value:
            note(inner, f"{path}[]", keys, nulls)


def inferred(values, known, path="", is_map=False):
    """What all values satisfy: their types, the keys of objects, and which of these none lacks. A key may be null where
    it was null in another form of the command's answers; where it was only null, `known` has what else it may be."""
    name = path.rsplit("/", 1)[-1]
    if all(value is None for value in values):
        others = known["keys"].get(place(path), []) + [ALSO.get(name)]
        values = values + [other for other in others if other is not None]
    elif path in known["nulls"]:
        values = values + [None]
    types = sorted({type_of(value) for value in values})
    schema = {"type": types[0] if len(types) == 1 else types}
    if name == "schema":
        return {"const": values[0]}
    objects = [value for value in values if isinstance(value, dict)]
    items = [item for value in values if isinstance(value, list) for item in value]
    if objects and (name in MAPS or is_map):
        inner = [each for value in objects for each in value.values()]
        schema["additionalProperties"] = inferred(inner, known, f"{path}/*", name == "breakdown") if inner else {}
    elif objects:
        keys = list(dict.fromkeys(key for value in objects for key in value))
        schema["required"] = [key for key in keys if all(key in value for value in objects)]
        schema["properties"] = {key: inferred([value[key] for value in objects if key in value], known, f"{path}/{key}")
                                for key in keys}
    if items:
        schema["items"] = inferred(items, known, f"{path}[]")
    return schema


def strict(schema):
    """The same, without room for keys that the schema does not know."""
    if isinstance(schema, dict):
        closed = {key: strict(value) for key, value in schema.items()}
        if "properties" in schema and "required" in schema:
            closed["additionalProperties"] = False
        return closed
    return [strict(item) for item in schema] if isinstance(schema, list) else schema


FORMS = (("of a stream of frames", {"mix"}), ("of two networks", {"in_turn"}), ("of a plan", {"soc", "verified"}),
         ("of designs", {"bounds_checked"}), ("of a chain", {"chain"}), ("of a fused network", {"network", "check"}),
         ("front", {"front"}), ("on a GPU", {"gpu"}))


def form_of(document):
    """The forms of one command's answer differ in what they must have; the first whose keys are there."""
    form = next((form for form, keys in FORMS if keys <= document.keys()), "of a layer or network")
    return form if form == "of a chain" or document.get("feasible", True) else "nothing fits"


def write_inputs(folder):
    """A layer with zeros, a design of SCALE-Sim, what CUDA C++ includes, and what calibrate and validate read: times of
    GEMMs of a library, and of kernels of one."""
    (folder / "zeros.yaml").write_text(
        "name: zeros\nconv2d: {in_channels: 8, out_channels: 8, input: [10, 10], kernel: 3}\n"
        "precision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\ndensity: {I: 0.4, W: 0.5}\n")
    (folder / "array.cfg").write_text(
        "[general]\nrun_name = small\n[architecture_presets]\nArrayHeight: 8\nArrayWidth: 4\nIfmapSramSzkB: 4\n"
        "FilterSramSzkB: 4\nOfmapSramSzkB: 4\nDataflow: ws\n")
    (folder / "products.csv").write_text("Layer, M, N, K,\nfirst, 8, 8, 16,\n")
    (folder / "mma.h").write_text("\n")
    times = [f"{m},4096,{k},{20 + 2 * m * 4096 * k / 150e6}"
             for m in (64, 256, 1024, 4096) for k in (256, 1024, 4096, 8192)]
    (folder / "timings.csv").write_text("\n".join(["m,n,k,latency_us", *times, ""]))
    columns = ("gpu,precision,m,n,k,batch,output_bytes,a,b,path,block_m,block_n,block_k,warp_m,warp_n,frag_m,frag_n,frag_k,"
               "stages,split_k,raster,cluster,padding,registers,time_s,time_q1_s,time_q3_s")
    kernels = [f"a100_80gb,f16,4096,4096,4096,1,2,row,column,wmma,{side},{side},32,{side // 2},{side // 2},16,16,16,2,1,8,1,8,128,"
               f"{time},{time},{time}" for side, time in ((64, 2e-3), (128, 1e-3))]
    library = "a100_80gb,f16,4096,4096,4096,1,2,row,column,,,,,,,,,,,,,,,,6e-4,6e-4,6e-4"
    (folder / "kernels.csv").write_text("\n".join(["# mapsim measurements 1", columns, *kernels, library, ""]))
    # As Timeloop of 2021 printed it, which filled sums at their first visit, too.
    stats = (Path(__file__).resolve().parent / "data" / "timeloop_gemm.stats.txt").read_text()
    fills = "Scalar fills (per-instance)              : "
    (folder / "older.stats.txt").write_text(stats.replace(fills + "0", fills + "6", 1).replace("66.00 pJ", "78.00 pJ"))


def outputs(program, fake_cuda, folder, only_made):
    """(command, line, what it printed) of every run; of those of which the schemas are made, or of all."""
    write_inputs(Path(folder))
    data = Path(__file__).resolve().parent / "data"
    driver = {f"MAPSIM_{library}_LIBRARY": str(fake_cuda) for library in ("CUDA", "NVML", "NVRTC")}
    driver |= {"MAPSIM_CUDA_INCLUDE": str(folder), "FAKE_CUDA": "image=copy"}  # some kernels cannot be loaded
    for line in (run.format(data=data) for run in (RUNS if only_made else RUNS + OTHERS)):
        command = line.split()[0]
        ran = subprocess.run([str(program), *line.split(), "--json"], cwd=folder, capture_output=True, text=True,
                             check=False, env={**os.environ, **driver})
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"exit code {ran.returncode}: {line}\n{ran.stderr}")
        if not ran.stdout.startswith("{"):
            raise RuntimeError(f"no JSON: {line}\n{ran.stdout}{ran.stderr}")
        yield command, line, json.loads(ran.stdout)


def write(path, command, documents, known):
    head = {"$schema": "http://json-schema.org/draft-07/schema#",
            "title": f"mapsim {command} --json",
            "description": "What the keys mean: docs/results_keys.md. When a key may change: docs/results.md."}
    forms = {}
    for document in documents:
        forms.setdefault(form_of(document), []).append(document)
    schemas = [{"title": form, **inferred(values, known)} for form, values in sorted(forms.items())]
    path.write_text(json.dumps({**head, "anyOf": schemas}, indent=1) + "\n")


def problems(program, configs, fake_cuda, rewrite):
    schemas = configs / "schema/results"
    printed = {}
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        (Path(folder) / "configs").symlink_to(configs)
        for command, line, document in outputs(program, fake_cuda, folder, rewrite):
            printed.setdefault(command, []).append((line, document))
    keys, nulls = {}, {command: set() for command in printed}
    for command, answers in printed.items():
        for _, document in answers:
            note(document, "", keys, nulls[command])
    for command, answers in printed.items():
        known = {"keys": keys, "nulls": nulls[command]}
        path = schemas / f"{command}.schema.json"
        if rewrite:
            write(path, command, [document for _, document in answers], known)
        if not path.exists():
            yield f"no schema of {command}"
            continue
        schema = json.loads(path.read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        for line, document in answers:
            forms = [list(jsonschema.Draft7Validator(form).iter_errors(document)) for form in strict(schema)["anyOf"]]
            nearest = min(forms, key=len)
            for error in nearest[:5]:
                where = "/".join(str(key) for key in error.absolute_path) or "the document"
                yield f"{line}: {where}: {error.message[-150:]}"
    for path in schemas.glob("*.json"):
        if path.name.split(".")[0] not in printed:
            yield f"{path.name}: a schema of no command"


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--write"]
    found = list(problems(*(Path(word).resolve() for word in words), "--write" in sys.argv))
    print("\n".join(found) or "what the commands print satisfies their schemas")
    sys.exit(bool(found))
