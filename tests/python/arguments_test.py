# SPDX-License-Identifier: Apache-2.0
"""What the functions say of wrong arguments, which names are public, and what the stub declares."""
import ast
import inspect
import re
from pathlib import Path

import pytest

import mapsim
from mapsim import _mapsim

LAYER = mapsim.Workload.gemm(8, 8, 8)
EASY = mapsim.Arch.load("teaching")
GPU = mapsim.Arch.load("a100_40gb")
CHIP, GRAPH, CHAIN, SPACE = "teaching_chip", "graphs/squeezenet", "teaching_convs", "teaching_buffers"
GRID = {"Buffer.capacity": ["16 KiB"]}
# Right arguments of every public function and of what makes inputs; none of them is called with these.
RIGHT = {
    mapsim.search: (EASY, LAYER), mapsim.pareto: (EASY, LAYER), mapsim.curve: (EASY, LAYER, "Buffer"),
    mapsim.roofline: (EASY, LAYER), mapsim.evaluate: (EASY, LAYER, "teaching_weight_stationary"),
    mapsim.simulate: (EASY, LAYER, "teaching_weight_stationary"), mapsim.network: (EASY, "alexnet"),
    mapsim.check: ("a\nproof\n",), mapsim.histogram: (EASY, LAYER), mapsim.kernels: (GPU, LAYER),
    mapsim.predict: ("m,n,k,ms\n1,1,1,1\n", GPU), mapsim.sweep: (EASY, LAYER, GRID),
    mapsim.fuse: (EASY, CHAIN), mapsim.fusion_curve: (EASY, CHAIN, "Buffer"), mapsim.plan: (CHIP, GRAPH),
    mapsim.stream: (CHIP, GRAPH), mapsim.design: (SPACE,), mapsim.shipped: (),
    mapsim.import_timeloop: ("design.yaml",),
    mapsim.Arch.load: ("teaching",), mapsim.Arch.from_yaml: ("name: a",),
    mapsim.Arch.from_dict: ({"name": "a"},), EASY.set: ("clock", "1 GHz"),
    mapsim.Workload.load: ("teaching/conv",), mapsim.Workload.from_yaml: ("name: a",),
    mapsim.Workload.from_dict: ({"name": "a"},), mapsim.Workload.gemm: (8, 8, 8),
    mapsim.Workload.conv: (8, 8, 8, 3), mapsim.Workload.einsum: ("O[m] += A[m]",)}


def test_every_public_function_is_here():
    functions = {name for name in mapsim.__all__ if inspect.isfunction(getattr(mapsim, name))}
    assert functions <= {function.__name__ for function in RIGHT}


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__qualname__)
def test_every_argument_of_a_wrong_type_is_named(function):
    parameters = inspect.signature(function).parameters
    given = dict(zip(parameters, RIGHT[function]))
    for name, parameter in parameters.items():
        if parameter.kind is not parameter.VAR_KEYWORD:
            with pytest.raises(TypeError, match=f"^{name}: expected .*, got <object object"):
                function(**{**given, name: object()})


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__qualname__)
def test_every_argument_that_may_be_left_out_is_described(function):
    told = inspect.getdoc(function)
    parameters = inspect.signature(function).parameters.values()
    assert [p.name for p in parameters if p.default is not p.empty and f"`{p.name}`" not in told
            and p.name not in mapsim.Options.__annotations__] == []


def test_every_option_is_described():
    told = re.findall(r"^(\w+) {2,}", inspect.getdoc(mapsim.Options), re.M)
    assert told == list(mapsim.Options.__annotations__)


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__qualname__)
def test_missing_and_unknown_arguments_are_named(function):
    parameters = inspect.signature(function).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    if needed:
        with pytest.raises(TypeError, match=f"missing .* argument.*'{needed[0]}'"):
            function()
    if all(p.kind is not p.VAR_KEYWORD for p in parameters):
        with pytest.raises(TypeError, match="has no argument 'no_such_one'; (one of|only) "):
            function(*RIGHT[function], no_such_one=1)


def without_a_mapping():
    return mapsim.search(EASY, LAYER, max_latency="1 cycles")


@pytest.mark.parametrize("call, error, text", [
    (lambda: mapsim.search(LAYER, EASY), TypeError, r"^arch: .*; the order is search\(arch, workload\)"),
    (lambda: mapsim.kernels(LAYER, GPU), TypeError, r"^gpu: .*; the order is kernels\(gpu, workload\)"),
    (lambda: mapsim.search("resnet50/conv2_3x3", "eyeriss"), mapsim.ConfigError,
     r"resnet50/conv2_3x3: a name of shipped\('layers'\); one of shipped\('machines'\) is needed"),
    (lambda: mapsim.search(EASY, LAYER, constraints={"tiling": "even"}), mapsim.ConfigError,
     "'tiling' belongs below the key 'mapspace'\n"),
    (lambda: mapsim.search("nowhere_at_all", LAYER), mapsim.ConfigError, r"shipped\('machines'\) shows what is"),
    (lambda: mapsim.search(EASY, LAYER, "edp"), TypeError, "options by name, as in objective='edp'; got 'edp'"),
    (lambda: mapsim.search(EASY, LAYER, objektive="edp"), TypeError, "no argument 'objektive'; did you mean 'obj"),
    *[(lambda call=call: call(GPU), ValueError, r"arch: 'a100_40gb' is a GPU; kernels\(\) ranks") for call in (
        lambda a: mapsim.search(a, LAYER), lambda a: mapsim.histogram("a100_40gb", LAYER),
        lambda a: mapsim.fuse(a, CHAIN), lambda a: mapsim.sweep(a, LAYER, GRID))],
    (lambda: mapsim.kernels(EASY, LAYER), ValueError, r"gpu: 'teaching' is no GPU, .*search\(\) takes"),
    (lambda: mapsim.search(EASY, LAYER, threads=-1), ValueError, "threads: -1 is too small; at least 0"),
    (lambda: mapsim.search(EASY, LAYER, threads=100_000), ValueError, "threads: 100000 is too large; at most 1024"),
    (lambda: mapsim.search(EASY, LAYER, imperfect="yes"), TypeError, "imperfect: expected True or False"),
    (lambda: mapsim.search(EASY, LAYER, gap="2"), TypeError, "gap: expected a number such as 0.01, or a text such as '1 %'"),
    (lambda: mapsim.search(EASY, LAYER, gap="100 %"), ValueError, "gap: 1.0 is not at least 0 and below 1"),
    (lambda: mapsim.search(EASY, LAYER, gap=1), ValueError, "gap: 1 is not at least 0 and below 1"),
    (lambda: mapsim.search(EASY, LAYER, budget=-1), ValueError, "budget: '-1.0 s' is negative"),
    (lambda: mapsim.design(SPACE, gap=2), ValueError, "gap: 2 is not at least 0"),
    (lambda: mapsim.design(SPACE, [LAYER]), TypeError, "work: expected files or shipped names"),
    (lambda: mapsim.network(EASY, "alexnet", batch=0), ValueError, "batch: 0 is too small; at least 1"),
    (lambda: mapsim.network(EASY, "alexnet", operand_bits=-1), ValueError, "operand_bits: -1 is too small"),
    (lambda: mapsim.plan(CHIP, GRAPH, dims={"n": "8"}), TypeError, r"dims\['n'\]: expected a whole number, got '8'"),
    (lambda: mapsim.stream(CHIP, GRAPH, engine_batches={"smal": 2}), ValueError, "engine_batches: .*did you mean 'small'"),
    (lambda: mapsim.stream(CHIP, GRAPH, engine_batches={"small": 0}), ValueError, r"engine_batches\['small'\]: 0 is too"),
    (lambda: mapsim.fuse(EASY, CHAIN, max_group=0), ValueError, "max_group: 0 is too small"),
    (lambda: mapsim.predict("a\n", GPU, problem=[1, 2]), TypeError, "problem: expected M, N and K"),
    (lambda: mapsim.sweep(EASY, LAYER, {"Buffer.capacity": "16 KiB"}), TypeError, r"such as \['16 KiB'\]"),
    (lambda: mapsim.sweep(EASY, LAYER, {"Buffer.capacity": []}), ValueError, "Buffer.capacity: at least one value"),
    (lambda: mapsim.sweep(EASY, [], GRID), ValueError, "workloads: at least one layer"),
    (lambda: mapsim.sweep(EASY, LAYER, {"Bufer.capacity": ["16 KiB"]}), ValueError, "did you mean 'Buffer'"),
    (lambda: mapsim.sweep(EASY, LAYER, {"Buffer.capasity": ["16 KiB"]}), mapsim.ConfigError, "did you mean 'capacity'"),
    (lambda: mapsim.shipped("machine"), ValueError, "kind: 'machine' is unknown; did you mean 'machines'"),
    (lambda: mapsim.shipped("everything"), ValueError, "kind: 'everything' is unknown; one of machines, gpus, layers"),
    (lambda: mapsim.check("path/to/cert"), mapsim.ConfigError, "path/to/cert: cannot be opened"),
    (lambda: mapsim.check({"status": "optimal"}), TypeError, "proof: expected a proof: its text, its file, or a Result"),
    (lambda: mapsim.evaluate(EASY, LAYER, without_a_mapping()), ValueError, "mapping: .* has no mapping"),
    (lambda: mapsim.Arch("teaching"), TypeError, r"Arch.load\('teaching'\) reads a file or a shipped machine"),
    (lambda: mapsim.Workload("gemm"), TypeError, r"Workload.load\('gemm'\) reads"),
    (lambda: mapsim.Arch.from_yaml("teaching"), ValueError, r"'teaching' is no YAML; Arch.load\(\) takes"),
    (lambda: mapsim.Workload.conv(8, (8, 8, 8), 8, 3), TypeError, "size: expected a whole number, or a pair"),
    (lambda: mapsim.Workload.conv(8, 8, 8, 3, padding="smae"), ValueError, "padding: 'smae' is unknown; did you mean 'same'"),
    (lambda: mapsim.Workload.gemm(8, 8, 8, precision="f16"), TypeError, "precision: expected a dict such as"),
])
def test_wrong_arguments_say_what_would_be_right(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_proof_may_be_what_was_proven_or_its_file(tmp_path):
    best = mapsim.search(EASY, LAYER)
    file = tmp_path / "proof.yaml"
    file.write_text(best.proof())
    assert mapsim.check(best) and mapsim.check(file) and mapsim.check(str(file)) and mapsim.check(best.proof())
    file.write_text(best.proof().replace("lower_bound: ", "lower_bound: 9"))
    with pytest.raises(mapsim.ConfigError, match=f"{file}.*digest"):
        mapsim.check(file)
    with pytest.raises(mapsim.ConfigError, match="^mine.*digest"):
        mapsim.check(file, name="mine")


def test_only_public_names_are_listed():
    listed = [name for name in dir(mapsim) if not name.startswith("__")]
    assert listed == sorted(mapsim.__all__)
    for name in listed:
        public = getattr(mapsim, name)
        assert not inspect.ismodule(public) and (public.__doc__ or "").strip(), name


def declared(body):
    """Functions and classes of a stub, the latter with what is in them."""
    names = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = declared(node.body) if isinstance(node, ast.ClassDef) else {}
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = {}
    return names


def test_the_stub_declares_the_compiled_part():
    stub = ast.parse(Path(mapsim.__file__).with_name("_mapsim.pyi").read_text())
    compiled = {name: {each: {} for each in vars(value) if not each.startswith("_")}
                if inspect.isclass(value) else {}
                for name, value in vars(_mapsim).items() if not name.startswith("_")}
    assert declared(stub.body) == compiled


TIMELOOP = """architecture:
  version: 0.4
  nodes:
  - !Container {name: system}
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: MAC, class: intmac, attributes: {datawidth: {{bits}}}}
"""


@pytest.mark.parametrize("ask, words", [
    (lambda path: mapsim.import_timeloop(path), "settings={'bits': 'VALUE'} gives it one"),
    (lambda path: mapsim.predict("m,n,k,latency_us\n64,64,64,5\n", "a100_40gb"), "use precision='NAME'"),
    (lambda path: mapsim.search("teaching", path), "mapsim.import_timeloop() reads it"),
    (lambda path: mapsim.network("nvdla_like_1024", "graphs/vit_b16", fuse=True, max_latency="60 ms").proof(),
     "of a network, without limits"),
    (lambda path: mapsim.network("nvdla_like_1024", "graphs/bert_base_128", fuse=True, objective="edp").proof(),
     "the checker proves sums"),
    (lambda path: mapsim.check(mapsim.network("teaching", "alexnet")), "no certificate: call network(..., fuse=True)"),
])
def test_errors_speak_the_words_of_the_module(tmp_path, ask, words):
    path = tmp_path / "top.yaml.jinja2"
    path.write_text(TIMELOOP)
    with pytest.raises(ValueError) as caught:
        ask(path)
    assert words in str(caught.value) and " --" not in str(caught.value)
    for each in getattr(caught.value, "diagnostics", []):
        assert words in each.message


def test_texts_name_arguments_that_there_are():
    plan = mapsim.plan("teaching_chip", "graphs/squeezenet", memory="64 KiB")
    assert not plan.proven and "ended early (memory=, budget=)" in str(plan)
    stream = mapsim.stream("teaching_chip", "graphs/squeezenet", memory="64 KiB")
    assert "ended early (memory=, budget=)" in str(stream)
    assert mapsim.design("teaching_buffers", ["teaching/gemm"], objective="energy", memory="64 KiB").proven
    with pytest.raises(ValueError, match="memory: unknown unit 'KiX'"):
        mapsim.design("teaching_buffers", ["teaching/gemm"], objective="energy", memory="64 KiX")
