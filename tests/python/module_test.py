# SPDX-License-Identifier: Apache-2.0
"""The examples of the docstrings, and what they do not show."""
import doctest
import importlib
import inspect
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import mapsim

LAYER = mapsim.Workload.from_yaml("name: layer\ngemm: {m: 64, n: 64, k: 128}\n")
EASY = mapsim.Arch.load("teaching")
ENDLESS = {"strategy": "random", "evaluations": 10**12}  # draws until it is stopped


@pytest.mark.parametrize("module", ["mapsim", "mapsim._errors", "mapsim._inputs",
                                    "mapsim._results"])
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
    assert "<pre>" in best._repr_html_() and "<svg" in best._repr_html_()


def test_options_are_those_of_the_program():
    fast = mapsim.search(EASY, LAYER, objective="latency,energy", max_energy="10 mJ")
    assert fast.latency_cycles <= mapsim.search(EASY, LAYER).latency_cycles
    even = mapsim.search(EASY, LAYER, constraints={"mapspace": {"tiling": "even"}})
    assert even.json["even"] and even.energy_pj >= mapsim.search(EASY, LAYER).energy_pj
    assert mapsim.search(EASY, LAYER, imperfect=True, budget="2 s").json["factors"] == "imperfect"
    with pytest.raises(ValueError, match="objective: 'enrgy' is no objective"):
        mapsim.search(EASY, LAYER, objective="enrgy")
    with pytest.raises(TypeError, match="unexpected option 'objektive'"):
        mapsim.search(EASY, LAYER, objektive="edp")
    with pytest.raises(mapsim.UnsupportedSearch):
        mapsim.search(EASY, LAYER, strategy="random", imperfect=True).proof()


def test_a_histogram_has_a_figure():
    histogram = mapsim.histogram(EASY, LAYER, mappings=200)
    assert histogram.figure.startswith("<svg") and "mappings" in histogram.figure
    assert histogram._repr_html_() == histogram.figure


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
    "while True: mapsim.kernels('h100_sxm', 'conv:64,56,56,64,3,3')"])
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
