# SPDX-License-Identifier: Apache-2.0
"""The examples of the docstrings, and what they do not show."""
import doctest
import importlib
import inspect
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from functools import cached_property
from pathlib import Path

import pytest

import mapsim

LAYER = mapsim.Workload.from_yaml("name: layer\ngemm: {m: 64, n: 64, k: 128}\n")
EASY = mapsim.Arch.load("teaching")
ENDLESS = {"strategy": "random", "evaluations": 10**12}  # draws until it is stopped


@pytest.mark.parametrize("module", ["mapsim", "mapsim._errors", "mapsim._inputs",
                                    "mapsim._answers", "mapsim._gpu", "mapsim._results", "mapsim._systems", "mapsim._timeloop",
                                    "mapsim._words"])
def test_examples_of_docstrings_are_true(module):
    outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.failed == 0 and outcome.attempted > 0


def test_a_search_is_that_of_the_program_and_is_proven():
    best = mapsim.search(EASY, LAYER)
    assert best.energy_pj == best.json["cost"]["energy_pj"] == best.certificate["lower_bound"]
    assert round(best.energy_pj / 1e6, 3) == 3.973  # of the tutorial
    assert best.json["cost"]["latency_cycles"] == best.latency_cycles == 8192
    assert mapsim.check(best.proof()).holds
    assert mapsim.simulate(EASY, LAYER, best).agrees
    assert "keep DRAM" in best.nest and best.figure.startswith("<svg")
    head, picture = best._repr_html_().split("<svg", 1)
    assert head.splitlines()[0] == "<pre>energy: 3.973 uJ, 7.578 pJ per MAC"
    assert "latency: 8,192 cycles" in head and "proven optimal: none of the" in head
    assert "keep DRAM" not in head and "keep DRAM" in picture
    assert mapsim.search(EASY, LAYER, max_latency="1 cycles")._repr_html_().startswith("<pre>layer on")


def test_options_are_those_of_the_program():
    fast = mapsim.search(EASY, LAYER, objective="latency,energy", max_energy="10 mJ")
    assert fast.latency_cycles <= mapsim.search(EASY, LAYER).latency_cycles
    even = mapsim.search(EASY, LAYER, constraints={"mapspace": {"tiling": "even"}})
    assert even.json["even"] and even.energy_pj >= mapsim.search(EASY, LAYER).energy_pj
    assert mapsim.search(EASY, LAYER, imperfect=True, budget="2 s").json["factors"] == "imperfect"
    with pytest.raises(ValueError, match="objective: 'enrgy' is no objective"):
        mapsim.search(EASY, LAYER, objective="enrgy")
    with pytest.raises(mapsim.UnsupportedSearch):
        mapsim.search(EASY, LAYER, strategy="random", imperfect=True).proof()


@pytest.mark.parametrize("answer", [
    lambda: mapsim.search(EASY, LAYER),
    lambda: mapsim.plan("teaching_chip", "graphs/squeezenet"),
    lambda: mapsim.stream("teaching_chip", "graphs/squeezenet"),
    lambda: mapsim.design("teaching_buffers", "teaching/gemm", "energy", certificate=True)])
def test_certificates_are_saved_and_checked(answer, tmp_path):
    file = tmp_path / "proof"
    answer().save_certificate(file)
    assert mapsim.check(file)


def test_an_evaluation_says_why_a_mapping_does_not_fit():
    best = mapsim.search(EASY, LAYER)
    assert mapsim.evaluate(EASY, LAYER, best).reason is None
    small = mapsim.evaluate(EASY.set("nodes.Buffer.capacity", "4 B"), LAYER, best.mapping)
    assert small.reason.startswith("Buffer: the tiles need ") and small.reason in repr(small)


def test_seconds_are_those_of_the_clock():
    best = mapsim.search(EASY.set("clock", "2 GHz"), LAYER)
    assert best.latency_seconds == best.latency_cycles / 2e9
    assert mapsim.evaluate(EASY, LAYER, best).latency_seconds == best.latency_cycles / 1e9
    assert mapsim.search(EASY, LAYER, max_latency="1 cycles").latency_seconds is None


def test_mappings_are_written_in_time(tmp_path):
    best = mapsim.search(EASY, LAYER)
    traces = []
    for answer in best, mapsim.evaluate(EASY, LAYER, best):
        answer.save_trace(tmp_path / "trace.json")
        traces.append(json.loads((tmp_path / "trace.json").read_text())["traceEvents"])
    assert len(traces[0]) > 10 and traces[0] == traces[1]
    with pytest.raises(ValueError, match="no trace"):
        mapsim.search(EASY, LAYER, max_latency="1 cycles").save_trace(tmp_path / "none.json")


def test_a_roofline_bounds_every_mapping():
    bound, best = mapsim.roofline(EASY, LAYER), mapsim.search(EASY, LAYER, objective="latency")
    assert 0 < bound.least_cycles <= best.latency_cycles and 0 < bound.least_energy_pj <= best.energy_pj
    assert bound.limiter == bound.json["roofline"]["limiter"] and "<pre>layer" in bound._repr_html_()


def test_kernels_are_written_for_triton():
    ranked = mapsim.kernels("h100_sxm", "gemm:4096x4096x4096", precision="f16", top=4)
    configs = ranked.triton()
    compile(configs, "configs", "exec")
    assert 0 < configs.count("triton.Config(") <= 4
    with pytest.raises(ValueError, match="implicit GEMM"):
        mapsim.kernels("h100_sxm", "conv:64,56,56,64,3,3", precision="f16").triton()


def test_kernels_are_written_as_cuda():
    ranked = mapsim.kernels("a100_40gb", "gemm:1024x1024x1024", precision="f16", path="mma")
    plain, rounded = ranked.cuda(), ranked.cuda(bias=True, activation="gelu", quantise=True)
    assert "mma.sync" in plain and "; bias; GELU; rounded to 8 bits" in rounded
    program = ranked.cuda_program(top=2)
    assert "int main(" in program and "cudaEventRecord" in program
    with pytest.raises(ValueError, match="activation: 'rellu' is unknown; did you mean 'relu'"):
        ranked.cuda(activation="rellu")
    with pytest.raises(ValueError, match="path: kernels of mma and wgmma are timed"):
        mapsim.kernels("a100_40gb", "gemm:1024x1024x1024", path="wmma").cuda_program()


def test_what_would_help_is_what_a_larger_machine_needs():
    best = mapsim.search("eyeriss", "alexnet/conv3")
    first = rows_of(best.why())[0]
    assert first["gain"] > 0 and first["gain"] == pytest.approx(1 - first["value"] / best.energy_pj)
    assert rows_of(mapsim.search(EASY, LAYER, max_latency="1 cycles").why()) == []


def test_mappings_are_held_against_the_optimum():
    best, fast = mapsim.search(EASY, LAYER), mapsim.search(EASY, LAYER, objective="latency")
    gap = mapsim.evaluate(EASY, LAYER, fast).why()
    assert gap.excess == pytest.approx(fast.energy_pj / best.energy_pj - 1)
    assert sum(row["difference_pj"] for row in rows_of(gap.shares)) == pytest.approx(fast.energy_pj - best.energy_pj)
    assert "proven optimum" in str(gap) and len(gap.reliefs) > 0
    assert mapsim.evaluate(EASY, LAYER, best).why().excess == 0


def test_memory_is_limited():
    with pytest.raises(ValueError, match="memory: "):
        mapsim.search(EASY, LAYER, memory="much")
    assert mapsim.search("eyeriss", "resnet50/conv2_3x3", memory="1 KiB").certificate["status"] == "bounded"


def test_operators_without_a_price_are_named(tmp_path):
    net = tmp_path / "net.yaml"
    net.write_text("name: net\nlayers:\n  - {workload: teaching/conv}\nunpriced: {NonMaxSuppression: 2}\n")
    found = mapsim.network("teaching", net)
    assert found.warnings == ["2 x NonMaxSuppression has no price and is in none of the totals"]
    assert "2 operators without a price" in repr(found)
    assert mapsim.network("nvdla_like_1024", "alexnet").warnings == []


def test_a_histogram_has_a_figure():
    histogram = mapsim.histogram(EASY, LAYER, mappings=200)
    assert histogram.figure.startswith("<svg") and "mappings" in histogram.figure
    assert histogram._repr_html_() == histogram.figure
    assert "no mapping met is within 5 % of the peak MAC rate" in repr(mapsim.histogram("eyeriss", "alexnet/conv3", mappings=200))


def test_a_gap_is_a_share_or_a_percentage():
    told = [mapsim.search(EASY, LAYER, gap=gap).json["statistics"]["labels"] for gap in (0.02, "2%", " 2.0 %")]
    assert told[0] == told[1] == told[2]


def test_whatever_is_public_has_a_docstring():
    bare = []
    for name in mapsim.__all__:
        thing = getattr(mapsim, name)
        members = vars(thing).items() if inspect.isclass(thing) and not issubclass(thing, dict) else ()
        public = [(f"{name}.{member}", value) for member, value in members
                  if not member.startswith("_") and (callable(value) or isinstance(value, (property, classmethod)))]
        bare += [told for told, each in [(name, thing), *public] if not inspect.getdoc(each)]
    assert bare == []


def examples_of(thing):
    """The code of the examples in a docstring."""
    return "".join(example.source for example in doctest.DocTestParser().get_examples(inspect.getdoc(thing) or ""))


def members_of(base):
    """What a class defines for all to see, by name."""
    return {name: value for name, value in vars(base).items() if not name.startswith("_") and
            (inspect.isfunction(value) or isinstance(value, (property, classmethod, cached_property)))}


def test_whatever_is_public_stands_in_an_example():
    values = [name for name in mapsim.__all__ if name not in ("Diagnostic", "Error", "Options", "UnsupportedSearch")]
    bare = [name for name in values if not examples_of(getattr(mapsim, name))]
    for name in values:
        bases = [base for base in getattr(getattr(mapsim, name), "__mro__", ()) if base.__module__.startswith("mapsim")]
        of_class = "".join(map(examples_of, bases))
        bare += [f"{name}.{member}" for base in bases for member, value in members_of(base).items()
                 if f".{member}" not in of_class + examples_of(value)]
    assert bare == []


def test_signatures_name_the_options():
    options = inspect.signature(mapsim.search).parameters
    assert list(options)[:3] == ["arch", "workload", "objective"]
    assert set(mapsim.Options.__annotations__) == set(options) - {"arch", "workload"}
    assert options["objective"].annotation == "str"  # help() prints it as it is
    assert options["objective"].default == "energy"
    assert inspect.signature(mapsim.histogram).parameters["mappings"].default == 10_000


def test_errors_carry_place_and_caret():
    with pytest.raises(mapsim.ConfigError) as caught:
        mapsim.Workload.from_yaml("name: a\ngemm: {m: 4, n: 4, k: 0}\n", "a.yaml")
    place = caught.value.diagnostics[0]
    assert (place.file, place.line, place.column) == ("a.yaml", 2, 23)
    assert str(caught.value).splitlines()[1:] == ["gemm: {m: 4, n: 4, k: 0}", " " * 22 + "^"]
    with pytest.raises(mapsim.ConfigError, match="did you mean 'eyeriss'"):
        mapsim.search("eyeris", LAYER)
    for path, value in [("Buffer.capacity", "64 KiX"), ("Buffer.energy.write", "a lot")]:
        with pytest.raises(mapsim.ConfigError) as caught:
            EASY.set(path, "1 pJ/word" if "energy" in path else "16 KiB").set(path, value)
        place = caught.value.diagnostics[0]
        assert (place.file, place.line, place.column) == (path, 1, 1)
        assert place.path.endswith(path.split(".", 1)[1])
        assert str(caught.value).splitlines()[1:] == [value, "^"]
    with pytest.raises(mapsim.ConfigError, match=r"^Buffer.capacty:1:1: .*unknown key 'capacty'; did you mean"):
        EASY.set("Buffer.capacty", "64 KiB")
    with pytest.raises(mapsim.ConfigError, match=r"gemm:1:4: gemm.n: '0' is too small"):
        mapsim.Workload.load("gemm:64x0x64")


def test_a_machine_can_be_built_from_values_and_changed():
    machine = mapsim.Arch.from_yaml(EASY.yaml)
    assert mapsim.search(machine, LAYER).energy_pj == mapsim.search(EASY, LAYER).energy_pj
    small = EASY.set("Buffer.capacity", "1 KiB")
    assert mapsim.search(small, LAYER).energy_pj > mapsim.search(EASY, LAYER).energy_pj
    made = mapsim.Arch.from_dict({
        "name": "two", "clock": "1 GHz", "nodes": [
            {"storage": "DRAM", "word": "8 b", "capacity": "unlimited",
             "energy": {"read": "100 pJ/word", "write": "100 pJ/word"}},
            {"storage": "SRAM", "word": "8 b", "capacity": "1 KiB",
             "energy": {"read": "1 pJ/word", "write": "1 pJ/word"}},
            {"compute": "MAC", "energy": "1 pJ"}]})
    assert mapsim.search(made, mapsim.Workload.gemm(4, 4, 4)).feasible


def test_what_does_not_fit_is_an_answer():
    nothing = mapsim.search(EASY.set("Registers.capacity", "1 b"), LAYER, max_latency="1 cycles")
    assert not nothing.feasible and nothing.energy_pj is None and nothing.mapping == ""
    assert nothing.certificate["status"] == "infeasible"
    assert mapsim.search(EASY, LAYER).reason is None
    late = mapsim.search(EASY, LAYER, max_latency="1 cycles")
    least = mapsim.search(EASY, LAYER, objective="latency").latency_cycles
    assert late.reason == f"nothing fits: latency limit (at least {least:,} cycles)"
    assert repr(late) == f"Result({late.reason})"
    small = mapsim.search(EASY.set("Registers.capacity", "1 b"), "teaching/conv",
                          constraints={"mapspace": {"keep": {"Registers": ["I"]}}})
    assert small.reason == "nothing fits: Registers: capacity (at least 1 B)"
    empty = mapsim.search(EASY, "teaching/conv", constraints={"mapspace": {
        "unroll": {"PEs": {"min_utilization": 1, "Y": {"dims": ["R"]}}}}})
    assert empty.reason and empty.reason in str(empty)


def test_sweeps_say_what_went_wrong_at_a_point(capsys):
    rows = mapsim.sweep(EASY, [LAYER, "teaching/conv"],
                        {"Buffer.capacity": ["32 KiB", "1 parsec"]}, progress=True)
    rows = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
    assert [row["status"] for row in rows] == ["optimal", "optimal", "error", "error"]
    assert "parsec" in rows[2]["problem"]
    assert "4 of 4" in capsys.readouterr().err


def test_networks_and_kernels_are_shown_in_notebooks():
    network = mapsim.network("nvdla_like_1024", "alexnet")
    assert "alexnet on nvdla_like_1024" in network._repr_html_()
    assert network.totals["energy_pj"] > 0
    kernels = mapsim.kernels("a100_40gb", "gemm:1024x1024x1024", top=2)
    assert kernels._repr_html_().startswith("<pre>") and "128x" in str(kernels)


def test_kernels_of_gpus_are_those_of_the_words():
    kernels = mapsim.kernels("a100_40gb", "gemm:1024x1024x1024", top=4, precision="bf16", path="wmma")
    assert {row["path"] for row in rows_of(kernels.table)} == {"wmma"}
    assert "bf16" in str(kernels)
    for word, match in [({"precision": "bf61"}, "did you mean 'bf16'"), ({"path": "wma"}, "'wmma'"),
                        ({"layout": "nhwc"}, "is a GEMM")]:
        with pytest.raises(ValueError, match=match):
            mapsim.kernels("a100_40gb", "gemm:1024x1024x1024", **word)
    network = mapsim.network("a100_40gb", "bert_base", precision="f16")
    assert len(network) > 0 and network.totals["latency_seconds"] > 0
    with pytest.raises(ValueError, match="objective: not for a GPU"):
        mapsim.network("a100_40gb", "bert_base", objective="edp")


def test_tables_of_measured_kernels_are_predicted(tmp_path):
    table = tmp_path / "timings.csv"
    table.write_text("m,n,k,latency_us\n4096,4096,4096,620\n8192,8192,8192,4700\n")
    told = mapsim.predict(table, "a100_40gb", precision="f16")
    assert len(told) == 2 and rows_of(told.table)[-1]["mape"] < 1
    with pytest.raises(mapsim.ConfigError, match="precision"):
        mapsim.predict(table, "a100_40gb")
    with pytest.raises(ValueError, match="cache"):
        mapsim.predict(table, "a100_40gb", cache="warm")
    with pytest.raises(mapsim.ConfigError, match="cannot be opened"):
        mapsim.predict("nowhere.csv", "a100_40gb")


def rows_of(table):
    return table.to_dict("records") if hasattr(table, "to_dict") else table


def test_chains_are_fused_as_by_the_program():
    fused = mapsim.fuse("teaching_flat", "teaching_convs")
    assert fused.proven and fused.energy_pj <= fused.on_chip_pj <= fused.spilled_pj
    assert fused.tree.startswith("mapping:") and "teaching_convs" in fused._repr_html_()
    assert [row["tensor"] for row in rows_of(fused.intermediates)] == ["t"]
    same = mapsim.fuse("teaching_flat", fused_chain_text())
    assert same.energy_pj == fused.energy_pj
    alone = mapsim.fuse("teaching_flat", "teaching_convs", max_group=1)
    assert alone.energy_pj == alone.on_chip_pj
    with pytest.raises(mapsim.UnsupportedSearch, match="even: not for fused layers"):
        mapsim.fuse("teaching_flat", "teaching_convs", even=True)
    with pytest.raises(mapsim.ConfigError, match="did you mean 'teaching_convs'"):
        mapsim.fuse("teaching_flat", "teaching_conv")
    curve = mapsim.fusion_curve("teaching_flat", "teaching_convs", "Buffer")
    assert {row["way"] for row in rows_of(curve.steps)} == {"spilled", "on_chip", "best"}
    assert curve.figure.startswith("<svg")


def fused_chain_text():
    return open(mapsim._inputs.find("teaching_convs", "chains"), encoding="utf-8").read()


def test_networks_are_fused_where_that_saves_energy(tmp_path):
    fused = mapsim.network("teaching", "graphs/squeezenet", fuse=True)
    assert "chains" in repr(fused) and fused.totals["proven"]
    assert fused.totals["energy_pj"] <= fused.totals["energy_layer_by_layer_spilled_pj"]
    assert len(rows_of(fused.layers)) == len(fused)
    fused = mapsim.network("nvdla_like_1024", "graphs/bert_base_128", fuse=True)
    fused.save_certificate(tmp_path / "proof")
    checked = mapsim.check(tmp_path / "proof")
    assert checked and checked.json["network"] == "bert_base_128"
    assert checked.json["check"]["space"]["max_group"] == 32
    assert checked.json["check"]["value"] == pytest.approx(fused.totals["energy_pj"], rel=1e-9)
    limited = mapsim.network("nvdla_like_1024", "graphs/bert_base_128", fuse=True, max_latency="14e6 cycles")
    assert limited.json["max_latency_cycles"] == 14e6 and limited.totals["latency_cycles"] <= 14e6
    assert limited.totals["energy_pj"] >= limited.totals["lower_bound_pj"] >= fused.totals["lower_bound_pj"]
    with pytest.raises(ValueError, match="a graph is needed"):
        mapsim.network("teaching", "alexnet", fuse=True)


def test_models_of_floats_are_searched_with_other_widths():
    model = Path(__file__).parents[1] / "fuzz/seeds/onnx/one_input.onnx"
    floats = mapsim.network("nvdla_like_1024", model)
    assert "1 layers without a mapping" in repr(floats)
    warned = mapsim.network("eyeriss", model)
    assert any("operand_bits=16 takes the model" in text for text in warned.warnings)
    assert "operand_bits=16 takes" in str(warned) and "--operand-bits" not in str(warned)
    assert mapsim.network("nvdla_like_1024", model, operand_bits=8).totals["layers_missing"] == 0
    with pytest.raises(ValueError, match="operand_bits: not for a GPU"):
        mapsim.network("a100_40gb", model, operand_bits=8)


def test_networks_are_planned_on_chips(tmp_path):
    plan = mapsim.plan("teaching_chip", "graphs/squeezenet", objective="energy")
    assert plan.proven and plan.complete and plan.energy_pj > 0
    assert {row["engine"] for row in rows_of(plan.groups)} <= {"small", "large"}
    assert [row["name"] for row in rows_of(plan.engines)] == ["small", "large"]
    assert "alone" not in rows_of(plan.engines)[0]
    plan.save_trace(tmp_path / "plan.json")
    assert "traceEvents" in (tmp_path / "plan.json").read_text()
    fast = mapsim.plan("teaching_chip", "graphs/squeezenet")
    assert fast.latency_seconds <= plan.latency_seconds and fast.energy_pj >= plan.energy_pj
    unfused = mapsim.plan("teaching_chip", "graphs/squeezenet", fusion="none")
    assert unfused.latency_seconds >= fast.latency_seconds
    with pytest.raises(ValueError, match="fusion: 'vertikal' is unknown; did you mean 'vertical'"):
        mapsim.plan("teaching_chip", "graphs/squeezenet", fusion="vertikal")
    small = mapsim.plan("teaching_chip", "graphs/squeezenet", engines=["small"])
    assert [row["name"] for row in rows_of(small.engines)] == ["small"]
    assert small.latency_seconds >= fast.latency_seconds
    with pytest.raises(ValueError, match="engines: teaching_chip has no engine 'smal'"):
        mapsim.plan("teaching_chip", "graphs/squeezenet", engines="smal")
    with pytest.raises(ValueError, match="no plan keeps the limits"):
        mapsim.plan("teaching_chip", "graphs/squeezenet", objective="energy", max_latency="1 ns")
    with pytest.raises(ValueError, match="at-once is for latency"):
        mapsim.plan("teaching_chip", "graphs/squeezenet", objective="energy", at_once=True)
    proof = fast.proof()
    assert mapsim.check(proof) and mapsim.check(proof).problems == []
    forged = json.loads(proof)
    forged["plan_certificate"]["value"] /= 2
    checked = mapsim.check(json.dumps(forged, separators=(",", ":")))
    assert not checked and checked.problems
    with pytest.raises(mapsim.ConfigError, match="no certificate of a plan"):
        mapsim.check(proof[:-20])
    at_once = mapsim.plan("teaching_chip", "graphs/squeezenet", at_once=True)
    assert mapsim.check(at_once.proof()) and at_once.latency_seconds <= fast.latency_seconds
    cool = mapsim.plan("jetson_agx_orin", "graphs/squeezenet", max_power="10 W")
    assert cool.energy_pj / cool.latency_seconds <= 10e12 and mapsim.check(cool.proof())
    wide = mapsim.plan("jetson_agx_orin", "graphs/squeezenet", precision="s8,f16")
    assert wide.latency_seconds <= mapsim.plan("jetson_agx_orin", "graphs/squeezenet",
                                               precision="f16").latency_seconds
    stream = mapsim.stream("teaching_chip", "graphs/squeezenet", engine_batches={"large": 2})
    assert mapsim.check(stream.proof())
    assert stream.frames_per_second >= 0.99 / fast.latency_seconds
    assert {row["name"] for row in rows_of(stream.limits)} >= {"small", "large", "memory"}


def test_the_best_machine_of_a_space_is_found():
    with pytest.raises(ValueError, match="objective: .*teaching_buffers.* has several; choose one"):
        mapsim.design("teaching_buffers", "teaching/gemm")
    best = mapsim.design("teaching_buffers", "teaching/gemm", "energy")
    assert best.proven and best.value == mapsim.search(best.arch, "teaching/gemm").energy_pj
    small = mapsim.design("teaching_buffers", ["teaching/gemm"], "energy", max_area="0.2 mm2")
    assert small.value >= best.value and small.json["best"]["area_mm2"] <= 0.2
    none = mapsim.design("teaching_buffers", ["teaching/gemm"], "energy", max_area="0.0001 mm2")
    assert none.arch is None and none.value is None and not rows_of(none.layers)
    with pytest.raises(ValueError, match="objective: "):
        mapsim.design("teaching_buffers", objective="enrgy")
    with pytest.raises(ValueError, match="no certificate"):
        best.proof()


def test_proofs_of_the_best_machine_are_checked():
    best = mapsim.design("teaching_buffers", ["teaching/gemm", "teaching/conv"], objective="edp",
                         certificate=True)
    proof = best.proof()
    checked = mapsim.check(proof)
    assert checked and checked.json["bounds_checked"] == checked.json["bounds"] > 0
    some = mapsim.check(proof, sample=1)
    assert some and some.json["bounds_checked"] == 1 and some.unverified
    with pytest.raises(mapsim.ConfigError, match="digest"):
        mapsim.check(proof.replace("64", "63", 1), "forged")


def test_proofs_of_chains_are_saved_and_checked(tmp_path):
    fused = mapsim.fuse("teaching_flat", "teaching_convs")
    fused.save_certificate(tmp_path / "proof")
    proof = fused.proof()
    checked = mapsim.check(tmp_path / "proof")
    assert checked and checked.json["chain"] == "teaching_convs"
    with pytest.raises(mapsim.ConfigError, match="digest"):
        mapsim.check(proof.replace("lower_bound: ", "lower_bound: 9"), "forged")
    for objective in ("latency", "edp"):
        assert mapsim.check(mapsim.fuse("teaching_flat", "teaching_convs", objective=objective).proof())


def test_proofs_of_fused_networks_are_checked():
    proof = Path(__file__).resolve().parents[1] / "fuzz/seeds/network_certificate/small.yaml"
    checked = mapsim.check(proof)
    assert checked and checked.json["network"] == "small"
    with pytest.raises(mapsim.ConfigError, match="digest"):
        mapsim.check(proof.read_text().replace("count: 1", "count: 2", 1), "forged")


def test_threads_search_at_the_same_time():
    """While one searches, another runs: the interpreter's lock is released."""
    counted = 0
    finished = threading.Event()

    def count():
        nonlocal counted
        while not finished.wait(0.005):
            counted += 1

    counter = threading.Thread(target=count)
    counter.start()
    mapsim.search(EASY, LAYER, budget=0.5, **ENDLESS)
    finished.set()
    counter.join()
    assert counted >= 10


@pytest.mark.parametrize("call", [
    f"mapsim.search('teaching', 'gemm:64x64x128', **{ENDLESS})",
    "mapsim.simulate('teaching', 'gemm:512x512x512', mapsim.search('teaching', 'gemm:512x512x512'), "
    "max_steps=10**9)",
    "while True: mapsim.kernels('h100_sxm', 'conv:64,56,56,64,3,3')",
    "while True: mapsim.plan('jetson_agx_orin', 'graphs/squeezenet')",
    "while True: mapsim.stream('jetson_agx_orin', 'graphs/squeezenet')",
    "while True: mapsim.network('eyeriss', 'resnet50')"])
def test_control_c_stops(call):
    """In a process of its own, whose signal it is."""
    script = f"import mapsim\nprint('begins', flush=True)\n{call}\n"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=os.environ)
    assert child.stdout.readline() == "begins\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=30)
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in error


def test_inputs_can_be_pickled():
    arch = pickle.loads(pickle.dumps(mapsim.Arch.load("eyeriss").set("GLB.capacity", "64 KiB")))
    layer = pickle.loads(pickle.dumps(mapsim.Workload.conv(64, 56, 64, 3, name="same")))
    assert arch.name == "eyeriss" and "64 KiB" in arch.yaml and layer.name == "same"
    assert pickle.loads(pickle.dumps(mapsim.Arch.load("eyeriss")))._handle.file.endswith("eyeriss.yaml")


def test_a_folder_stands_for_its_timeloop_files(tmp_path):
    text = (Path(__file__).resolve().parents[1] / "app/data/timeloop_gemm.yaml").read_text()
    problem, mapping = text.index("problem:"), text.index("mapping:")
    for name, part in (("arch", text[:problem]), ("gemm", text[problem:mapping]), ("map", text[mapping:])):
        (tmp_path / f"{name}.yaml").write_text(part)
    design = mapsim.import_timeloop(tmp_path)
    assert repr(design) == "TimeloopDesign(arch, workload, mapping)"
    assert design.notes[0] == f"{tmp_path}: read as arch.yaml gemm.yaml map.yaml"
    (tmp_path / "other.yaml").write_text(text[:problem])
    with pytest.raises(ValueError, match="several files of a kind") as refused:
        mapsim.import_timeloop([tmp_path])
    assert f'import_timeloop(["{tmp_path}/arch.yaml", "{tmp_path}/gemm.yaml", ' in str(refused.value)
    with pytest.raises(ValueError, match=r"has no file that import_timeloop\(\) reads"):
        (tmp_path / "empty").mkdir()
        mapsim.import_timeloop(tmp_path / "empty")


def test_a_timeloop_design_is_read_and_compared():
    data = Path(__file__).resolve().parents[1] / "app/data"
    design = mapsim.import_timeloop(data / "timeloop_gemm.yaml")
    assert repr(design) == "TimeloopDesign(arch, workload, mapping)"
    evaluated = mapsim.evaluate(design.arch, design.workload, design.mapping)
    best = mapsim.search(design.arch, design.workload, constraints=design.constraints)
    assert best.certificate["status"] == "optimal" and best.energy_pj <= evaluated.energy_pj
    rows = rows_of(design.compare(data / "timeloop_gemm.stats.txt"))
    assert {row["verdict"] for row in rows} <= {"equal", "derived"} and len(rows) > 10
    assert all(row["rules"] for row in rows if row["verdict"] == "derived")
    with pytest.raises(ValueError, match="version: '2019' is unknown; one of current, 2024"):
        design.compare(data / "timeloop_gemm.stats.txt", version="2019")
    with pytest.raises(TypeError, match="statistics: expected the file"):
        design.compare(None)
