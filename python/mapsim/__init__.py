# SPDX-License-Identifier: Apache-2.0
"""mapsim: the best mapping of a deep-learning layer on a machine, proven.

>>> import mapsim
>>> best = mapsim.search("eyeriss", "resnet50/conv2_3x3")
>>> best
Result(7.56041e+08 pJ, 1204224 cycles, optimal)
>>> print(best.nest.splitlines()[0].split("#")[0].strip())
keep DRAM: I, W, O

Machines and layers are Arch and Workload, or their names: a file, a shipped one ("eyeriss",
"resnet50/conv2_3x3"; shipped() lists them), or an inline layer ("gemm:64x64x128"). Tables are
DataFrames where pandas is installed, else lists of dicts. Searches release the interpreter's lock
and stop at Ctrl-C. Errors in inputs are ConfigError, with line, column and caret.
"""
from __future__ import annotations

import itertools
import json
import os
import sys
import time
from typing import (TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple,
                    Union)

from . import _arguments as kinds
from . import _mapsim
from ._answers import Check, Histogram, Roofline, Simulation
from ._arguments import arguments, as_read, told, wrong
from ._errors import ConfigError, Diagnostic, Error, UnsupportedSearch
from ._gpu import Kernels, Predictions
from ._inputs import (Arch, Named, Workload, configs_folders, file_of, gpu, is_name, layer,
                      layers, machine, machine_or_gpu, read_file, shipped, table, text_or_file)
from ._options import Options, asked_of, searches
from ._results import Evaluation, Front, Gap, NetworkResult, Proven, Result, frame
from ._systems import (Design, Fusion, FusionCurve, Plan, Stream, design, fuse, fusion_curve, plan,
                       stream)
from ._timeloop import TimeloopDesign, import_timeloop

if TYPE_CHECKING:
    from typing_extensions import Unpack

__version__: str = _mapsim.version
__all__ = ["Arch", "Check", "ConfigError", "Design", "Diagnostic", "Error", "Evaluation", "Front",
           "Fusion", "FusionCurve", "Gap", "Histogram", "Kernels", "NetworkResult", "Options", "Plan",
           "Predictions", "Result", "Roofline", "Simulation", "Stream", "TimeloopDesign", "UnsupportedSearch", "Workload",
           "check", "curve", "design", "evaluate", "fuse", "fusion_curve", "histogram", "import_timeloop", "kernels",
           "network", "pareto", "plan", "predict", "roofline", "search", "shipped", "simulate", "stream",
           "sweep"]

Machine = Union[Arch, Named]
Layer = Union[Workload, Named]
MappingOf = Union[Named, Result, Mapping[str, Any]]


def __dir__() -> List[str]:
    return sorted([*__all__, "__all__", "__doc__", "__file__", "__name__", "__version__"])


_mapping_file = text_or_file("mappings", "a Result, a dict")


def _mapping(name: str, value: Any) -> Tuple[str, str]:
    """The text of a mapping, and its name."""
    if not isinstance(value, Result):
        return _mapping_file(name, value)
    if not value.feasible:
        raise ValueError(f"{name}: {value!r} has no mapping")
    return value.mapping, "mapping"


def _proof(name: str, value: Any) -> Tuple[str, str]:
    """The text of a proof, and its name."""
    if isinstance(value, Proven):
        return value.proof(), name
    if not is_name(value):
        raise wrong(name, "a proof: its text, its file, or a Result, Fusion, NetworkResult, Plan, Stream or Design", value)
    text = os.fspath(value)
    return (text, name) if "\n" in text or text.startswith("{") else read_file(text)


_NETWORK = file_of("networks", "a network")


@searches(arch=machine, workload=layer)
def search(arch: Machine, workload: Layer, **options: Unpack[Options]) -> Result:
    """The best mapping, and the proof that it is.

    Options describes what else can be given, always by name.

    >>> best = search("teaching", Workload.gemm(64, 64, 128), objective="edp")
    >>> best.certificate["status"], best.feasible
    ('optimal', True)
    """
    return Result(_mapsim.search(as_read(arch)._handle, as_read(workload)._handle, asked_of(options)))


@searches(arch=machine, workload=layer)
def pareto(arch: Machine, workload: Layer, **options: Unpack[Options]) -> Front:
    """Every mapping that none beats in both energy and latency. Options as of search().

    >>> front = pareto("teaching", "teaching/conv")
    >>> front.complete, len(front)
    (True, 3)
    """
    return Front(_mapsim.front(as_read(arch)._handle, as_read(workload)._handle, "", asked_of(options)))


@searches(arch=machine, workload=layer, level=kinds.text("GLB", needed=True))
def curve(arch: Machine, workload: Layer, level: str, **options: Unpack[Options]) -> Front:
    """The optimum over the capacity of a level ("GLB", "spad:weight"), all else equal: energies per bit, too.

    >>> curve("teaching", "teaching/conv", "Buffer").complete
    True
    """
    return Front(_mapsim.front(as_read(arch)._handle, as_read(workload)._handle, level, asked_of(options)))


@arguments(arch=machine, workload=layer)
def roofline(arch: Machine, workload: Layer) -> Roofline:
    """Bounds on energy and latency that no mapping can beat, and what limits the layer.

    >>> bound = roofline("teaching", "teaching/conv")
    >>> bound.limiter, bound.least_energy_pj <= search("teaching", "teaching/conv").energy_pj
    ('math', True)
    """
    return Roofline(*_mapsim.roofline(as_read(arch)._handle, as_read(workload)._handle))


@arguments(arch=machine, workload=layer, mapping=_mapping)
def evaluate(arch: Machine, workload: Layer, mapping: MappingOf) -> Evaluation:
    """The cost of one mapping, which is a Result, YAML, a dict, a file or a shipped name.

    >>> best = search("teaching", "teaching/conv")
    >>> evaluate("teaching", "teaching/conv", best).energy_pj == best.energy_pj
    True
    """
    return Evaluation(_mapsim.evaluate(as_read(arch)._handle, as_read(workload)._handle, *as_read(mapping)))


@arguments(arch=machine, workload=layer, mapping=_mapping, max_steps=kinds.whole(1),
           seed=kinds.whole(0))
def simulate(arch: Machine, workload: Layer, mapping: MappingOf, max_steps: int = 10_000_000,
             seed: int = 1) -> Simulation:
    """Walks a mapping step by step and compares counts and outputs with the closed form.

    `max_steps`: refuse layers with more MACs, each of which is a step. `seed`: of the operands' values.

    >>> simulate("teaching", "teaching/conv", "teaching_weight_stationary").agrees
    True
    """
    evaluated = _mapsim.evaluate(as_read(arch)._handle, as_read(workload)._handle, *as_read(mapping))
    answer = evaluated.simulate(max_steps, seed)
    if not answer:
        raise ValueError(str(evaluated.text).strip().splitlines()[-1])
    return Simulation(json.loads(answer))


@searches(arch=machine_or_gpu, path=_NETWORK, dims=kinds.mapping("{'batch': 1}", kinds.whole(1)),
          batch=kinds.whole(1), fuse=kinds.switch, precision=kinds.text("f16"),
          operand_bits=kinds.whole(0, 1024))
def network(arch: Machine, path: Named, dims: Optional[Mapping[str, int]] = None,
            batch: int = 1, fuse: bool = False, precision: str = "", operand_bits: int = 0,
            **options: Unpack[Options]) -> NetworkResult:
    """Every distinct layer of a network (a file or a shipped name) or an ONNX model, searched once.

    `dims`: values of symbolic dims of a model's inputs. `batch`: inputs at a time. `fuse`: chains of
    layers of a network that is a graph are searched as chains, and fused where that pays; proof() and
    save_certificate() of the answer prove it. `operand_bits`: the width
    of all operands of a model, in place of its own (models of floats have 32; engines often take
    8). Options as of search(); objective="edp" chooses the mappings of all layers jointly, for the
    least total energy times total latency. On a GPU each layer gets its fastest kernel, with operands of
    `precision`; it takes no options.

    >>> result = network("nvdla_like_1024", "alexnet")
    >>> len(result), result.totals["macs"]
    (8, 724406816)
    """
    handle = as_read(arch)._handle
    if handle.is_gpu:
        if options or fuse or operand_bits:
            refused = next(iter(options), "fuse" if fuse else "operand_bits")
            raise ValueError(f"{refused}: not for a GPU")
        words = {"precision": precision, "path": "", "layout": ""}
        return NetworkResult(*_mapsim.gpu_network(handle, as_read(path), words, as_read(dims), batch,
                                                  configs_folders()))
    if precision:
        raise ValueError("precision: only for a GPU; the files of layers state their widths")
    asked = {**asked_of(options), "max_group": 32, "shared_loops": 16}
    what = handle, as_read(path), asked, as_read(dims), batch, operand_bits, configs_folders()
    if fuse:
        fused = _mapsim.fuse_network(*what)
        return NetworkResult(fused.json, fused.text, fused)
    return NetworkResult(*_mapsim.network(*what))


@arguments(proof=_proof, name=kinds.text("proof"), threads=kinds.threads, sample=kinds.whole(0))
def check(proof: Union[Named, Result, Fusion, NetworkResult, Plan, Stream, Design], name: str = "",
          threads: int = 1, sample: int = 0) -> Check:
    """Whether a proof holds, found by another algorithm than the search's.

    `proof`: a Result, Fusion, NetworkResult with `fuse=True`, Plan, Stream or Design; the text that its
    proof() returns; or a file that `mapsim` wrote with `--certificate`. `name` stands for the proof in
    errors. `threads`: 0 takes all cores. `sample`: of the bounds in a Design, prove only this many
    again, drawn evenly; 0: all of them.

    >>> bool(check(search("teaching", Workload.gemm(8, 8, 8))))
    True
    >>> checked = check(plan("teaching_chip", "graphs/squeezenet").proof())
    >>> checked.holds, checked.verified[0]
    (True, 'the plan covers every operation once, and takes what is claimed')
    >>> best = design("teaching_buffers", ["teaching/gemm"], objective="energy", certificate=True)
    >>> checked = check(best.proof())
    >>> checked.holds, int(checked.json["designs"])
    (True, 24)
    """
    text, source = as_read(proof)
    return Check(_mapsim.check(text, name or source, threads, sample))


@searches(arch=machine, workload=layer, mappings=kinds.whole(1))
def histogram(arch: Machine, workload: Layer, mappings: int = 10_000,
              **options: Unpack[Options]) -> Histogram:
    """Energies of random mappings within 5 % of the peak MAC rate.

    `mappings`: about how many are drawn. Options as of search(); `seed`: of the random numbers.

    >>> drawn = histogram("teaching", "gemm:64x64x128", mappings=100)
    >>> len(drawn) > 0, min(drawn.energies_pj) >= drawn.optimum_pj
    (True, True)
    """
    asked = asked_of(options)
    return Histogram(*_mapsim.histogram(as_read(arch)._handle, as_read(workload)._handle, mappings, asked["seed"],
                                        asked))


@arguments(gpu=gpu, workload=layer, top=kinds.whole(1), precision=kinds.text("f16"),
           path=kinds.text("mma"), layout=kinds.text("tn"))
def kernels(gpu: Machine, workload: Layer, top: int = 10, precision: str = "", path: str = "",
            layout: str = "") -> Kernels:
    """Tensor-core kernels of a layer on a GPU, ranked by predicted time.

    `top`: how many. `precision`: of the operands ("f16", "bf16", "tf32", "s8"...), else by their width.
    `path`: only kernels of "mma", "wmma", "wgmma" or "simt". `layout`: of a GEMM "tn", "nn", "nt" or "tt", of a
    convolution "nhwc" or "nchw".

    >>> ranked = kernels("a100_40gb", "gemm:1024x1024x1024", top=3, precision="bf16", path="mma")
    >>> len(ranked), "triton.Config(" in ranked.triton(), "mapsim_kernel" in ranked.cuda(activation="relu")
    (3, True, True)
    """
    asked = {"precision": precision, "path": path, "layout": layout}
    handle, read = as_read(gpu)._handle, as_read(workload)._handle
    return Kernels(*_mapsim.kernels(handle, read, top, asked), (handle, read, top, asked))


def _problem(name: str, value: Any) -> List[int]:
    """M, N and K; None: nothing."""
    listed = [] if value is None else value
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Sequence) or len(listed) not in (0, 3):
        raise wrong(name, "M, N and K, such as (4096, 4096, 1024)", value)
    return [kinds.whole(1)(name, each) for each in listed]


@arguments(table=table, gpu=gpu, rows_of=kinds.text("A100"), precision=kinds.text("f16"),
           problem=_problem, cache=kinds.one_of("", "hot", "cold"))
def predict(table: Named, gpu: Machine, rows_of: str = "", precision: str = "",
            problem: Optional[Sequence[int]] = None, cache: str = "") -> Predictions:
    """Predicted beside measured times of the kernels in a table; nothing is fitted.

    `table`: a file of measurements, or of timings that others publish (docs/gpu_calibration.md).
    `rows_of`: the GPU whose rows are taken, where the table has several. `precision`,
    `problem` (M, N, K) and `cache` ("hot", "cold") state what the table leaves out.

    >>> rows = "m,n,k,latency_us\\n4096,4096,4096,620\\n8192,8192,8192,4700\\n"
    >>> predict(rows, "a100_40gb", precision="f16")
    Predictions(2 rows)
    """
    asked = {"gpu": rows_of, "precision": precision, "cache": cache}
    text, name = as_read(table)
    return Predictions(*_mapsim.predict(as_read(gpu)._handle, text, name, asked, as_read(problem)))


class _Bar:
    """Progress on a terminal, ten times a second at most."""

    def __init__(self, total: int, shown: Optional[bool]):
        self._total, self._begin, self._last, self._drawn = total, time.monotonic(), 0.0, False
        self._shown = sys.stderr.isatty() if shown is None else shown

    def at(self, done: int) -> None:
        now = time.monotonic()
        if not self._shown or (now - self._last < 0.1 and done < self._total):
            return
        self._last, self._drawn = now, True
        full = 30 * done // max(self._total, 1)
        sys.stderr.write(f"\r{'#' * full}{'.' * (30 - full)} {done} of {self._total}, "
                         f"{now - self._begin:.0f} s")
        sys.stderr.flush()

    def end(self) -> None:
        if self._drawn:
            sys.stderr.write("\n")


def _grid(name: str, value: Any) -> Dict[str, List[Any]]:
    """Paths of a machine, and the values of each."""
    grid = kinds.mapping("{'GLB.capacity': ['32 KiB', '64 KiB']}")(name, value)
    for path, values in grid.items():
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            raise wrong(path, f"a list of values, such as [{told(values)}]", values)
        grid[path] = list(values)
        if not grid[path]:
            raise ValueError(f"{path}: at least one value is needed")
    return grid


@searches(arch=machine, workloads=layers, grid=_grid, progress=kinds.optional(kinds.switch))
def sweep(arch: Machine, workloads: Union[Layer, Iterable[Layer]],
          grid: Mapping[str, Iterable[Any]], progress: Optional[bool] = None,
          **options: Unpack[Options]) -> Any:
    """The optimum of every layer on every combination of values: a DataFrame, or dicts.

    `grid`: paths of Arch.set() and their values. `progress`: a bar on standard error; None: on a
    terminal only. A point that cannot be read or searched has its reason in `problem`; a path that
    takes none of its values is an error. Large grids are for `mapsim sweep`, which keeps its results.
    For a network, call network() for each machine, or design(), which finds the best one.

    >>> rows = sweep("teaching", "teaching/conv", {"Buffer.capacity": ["8 KiB", "32 KiB"]})
    >>> len(rows)
    2
    """
    base, layers_read = as_read(arch), as_read(workloads)
    for path, values in grid.items():
        _refuse_axis(base, path, values)
    designs = list(itertools.product(*grid.values()))
    rows: List[Dict[str, Any]] = []
    bar = _Bar(len(designs) * len(layers_read), progress)
    try:
        for design_point in designs:
            settings = dict(zip(grid, design_point))
            for workload in layers_read:
                rows.append({**settings, "workload": workload.name,
                             **_point(base, settings, workload, options)})
                bar.at(len(rows))
    finally:
        bar.end()
    return frame(rows)


def _refuse_axis(base: Arch, path: str, values: Iterable[Any]) -> None:
    """An error if a path takes none of its values, since then the path is wrong."""
    first: Optional[Error] = None
    for value in values:
        try:
            base.set(path, value)
            return
        except Error as error:
            first = first or error
    if first:
        raise first


def _point(base: Arch, settings: Mapping[str, Any], workload: Workload,
           options: Mapping[str, Any]) -> Dict[str, Any]:
    try:
        arch = base
        for path, value in settings.items():
            arch = arch.set(path, value)
        result = search(arch, workload, **options)
    except Error as error:
        return {"status": "error", "energy_pj": None, "latency_cycles": None, "edp": None,
                "problem": str(error)}
    return {"status": result.certificate["status"], "energy_pj": result.energy_pj,
            "latency_cycles": result.latency_cycles, "edp": result.edp,
            "problem": "" if result.feasible else "nothing fits"}
