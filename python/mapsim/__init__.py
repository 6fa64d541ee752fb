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
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _mapsim
from ._errors import ConfigError, Diagnostic, Error, UnsupportedSearch
from ._inputs import (Arch, Workload, arch_of, configs_folders, find, shipped, table_of,
                      text_of, workload_of)
from ._options import Options, asked_of, takes_options, threads_of, whole
from ._results import (Check, Evaluation, Front, Histogram, Kernels, NetworkResult, Predictions,
                       Result, Simulation, frame)
from ._systems import (Design, Fusion, FusionCurve, Plan, Stream, design, fuse, fusion_curve, plan,
                       stream)

if TYPE_CHECKING:
    from typing_extensions import Unpack

__version__: str = _mapsim.version
__all__ = ["Arch", "Check", "ConfigError", "Design", "Diagnostic", "Error", "Evaluation", "Front",
           "Fusion", "FusionCurve", "Histogram", "Kernels", "NetworkResult", "Options", "Plan",
           "Predictions", "Result", "Simulation", "Stream", "UnsupportedSearch", "Workload",
           "check", "curve", "design", "evaluate", "fuse", "fusion_curve", "histogram", "kernels",
           "network", "pareto", "plan", "predict", "search", "shipped", "simulate", "stream",
           "sweep"]

Machine = Union[Arch, str, "os.PathLike[str]"]
Layer = Union[Workload, str, "os.PathLike[str]"]


@takes_options
def search(arch: Machine, workload: Layer, **options: Unpack[Options]) -> Result:
    """The best mapping, and the proof that it is.

    Options describes what else can be given, always by name.

    >>> best = search("teaching", Workload.gemm(64, 64, 128), objective="edp")
    >>> best.certificate["status"], best.feasible
    ('optimal', True)
    """
    return Result(_mapsim.search(arch_of(arch)._handle, workload_of(workload)._handle,
                                 asked_of(options)))


@takes_options
def pareto(arch: Machine, workload: Layer, **options: Unpack[Options]) -> Front:
    """Every mapping that none beats in both energy and latency. Options as of search().

    >>> front = pareto("teaching", "teaching/conv")
    >>> front.complete, len(front)
    (True, 3)
    """
    return Front(_mapsim.front(arch_of(arch)._handle, workload_of(workload)._handle, "",
                               asked_of(options)))


@takes_options
def curve(arch: Machine, workload: Layer, level: str, **options: Unpack[Options]) -> Front:
    """The optimum over the capacity of a level ("GLB", "spad:weight"), all else equal.

    >>> curve("teaching", "teaching/conv", "Buffer").complete
    True
    """
    if not level:
        raise ValueError("level: the name of a level is missing")
    return Front(_mapsim.front(arch_of(arch)._handle, workload_of(workload)._handle, level,
                               asked_of(options)))


def evaluate(arch: Machine, workload: Layer,
             mapping: Union[str, os.PathLike, Result, Mapping[str, Any]]) -> Evaluation:
    """The cost of one mapping: of a Result, YAML, a dict, a file or a shipped name.

    >>> best = search("teaching", "teaching/conv")
    >>> evaluate("teaching", "teaching/conv", best).energy_pj == best.energy_pj
    True
    """
    text, name = ((mapping.mapping, "mapping") if isinstance(mapping, Result)
                  else text_of(mapping, "mappings"))
    return Evaluation(_mapsim.evaluate(arch_of(arch)._handle, workload_of(workload)._handle, text,
                                       name))


def simulate(arch: Machine, workload: Layer,
             mapping: Union[str, os.PathLike, Result, Mapping[str, Any]],
             max_steps: int = 10_000_000, seed: int = 1) -> Simulation:
    """Walks a mapping step by step and compares counts and outputs with the closed form.

    >>> simulate("teaching", "teaching/conv", "teaching_weight_stationary").agrees
    True
    """
    evaluated = evaluate(arch, workload, mapping)._handle
    answer = evaluated.simulate(max_steps, seed)
    if not answer:
        raise ValueError(str(evaluated.text).strip().splitlines()[-1])
    return Simulation(json.loads(answer))


@takes_options
def network(arch: Machine, path: Union[str, os.PathLike], dims: Optional[Mapping[str, int]] = None,
            batch: int = 1, fuse: bool = False, precision: str = "", operand_bits: int = 0,
            **options: Unpack[Options]) -> NetworkResult:
    """Every distinct layer of a network (a file or a shipped name) or an ONNX model, searched once.

    `dims`: values of symbolic dims of a model's inputs. `fuse`: chains of layers of a network that
    is a graph are searched as chains, and fused where that saves energy. `operand_bits`: the width
    of all operands of a model, in place of its own (models of floats have 32; engines often take
    8). Options as of search(). On a GPU each layer gets its fastest kernel, with operands of
    `precision`; it takes no options.

    >>> result = network("nvdla_like_1024", "alexnet")
    >>> len(result), result.totals["macs"]
    (8, 724406816)
    """
    machine = arch_of(arch)
    where = find(path, "networks"), dict(dims or {}), batch
    if machine.is_gpu:
        if options or fuse or operand_bits:
            refused = next(iter(options), "fuse" if fuse else "operand_bits")
            raise ValueError(f"{refused}: not for a GPU")
        return NetworkResult(*_gpu_network(machine, *where, precision))
    if precision:
        raise ValueError("precision: only for a GPU; the files of layers state their widths")
    search_network = _mapsim.fuse_network if fuse else _mapsim.network
    asked = {**asked_of(options), "max_group": 32, "shared_loops": 16}
    file, values, frames = where
    return NetworkResult(*search_network(machine._handle, file, asked, values, frames,
                                         operand_bits, configs_folders()))


def _gpu_network(gpu: Arch, path: str, dims: Dict[str, int], batch: int, precision: str) -> Any:
    asked = {"precision": precision, "path": "", "layout": ""}
    return _mapsim.gpu_network(gpu._handle, path, asked, dims, batch, configs_folders())


def check(proof: str, name: str = "proof", threads: int = 1, sample: int = 0) -> Check:
    """Whether a proof holds, found by another algorithm than the search's.

    `proof`: the text that proof() of a Result, Fusion, Plan, Stream or Design returns, or that
    `mapsim` wrote with `--certificate`. `sample`: of the best machines of a space, prove only this
    many of the bounds again, drawn evenly; 0: all of them.

    >>> bool(check(search("teaching", Workload.gemm(8, 8, 8)).proof()))
    True
    >>> checked = check(plan("teaching_chip", "graphs/squeezenet").proof())
    >>> checked.holds, checked.verified[0]
    (True, 'the plan covers every operation once, and takes what is claimed')
    >>> best = design("teaching_buffers", ["teaching/gemm"], certificate=True)
    >>> checked = check(best.proof())
    >>> checked.holds, int(checked.json["designs"])
    (True, 24)
    """
    return Check(_mapsim.check(proof, name, threads_of(threads), whole("sample", sample, 0)))


@takes_options
def histogram(arch: Machine, workload: Layer, mappings: int = 10_000,
              **options: Unpack[Options]) -> Histogram:
    """Energies of random mappings that keep the machine busy.

    >>> len(histogram("teaching", "teaching/gemm", mappings=100)) <= 100
    True
    """
    asked = asked_of(options)
    return Histogram(*_mapsim.histogram(arch_of(arch)._handle, workload_of(workload)._handle,
                                        whole("mappings", mappings, 1), asked["seed"], asked))


def kernels(gpu: Machine, workload: Layer, top: int = 10, precision: str = "", path: str = "",
            layout: str = "") -> Kernels:
    """Tensor-core kernels of a layer on a GPU, ranked by predicted time.

    `precision`: of the operands ("f16", "bf16", "tf32", "s8"...), else by their width. `path`: only
    kernels of "mma", "wmma", "wgmma" or "simt". `layout`: of a GEMM "tn", "nn", "nt" or "tt", of a
    convolution "nhwc" or "nchw".

    >>> len(kernels("a100_40gb", "gemm:1024x1024x1024", top=3, precision="bf16", path="mma"))
    3
    """
    asked = {"precision": precision, "path": path, "layout": layout}
    return Kernels(*_mapsim.kernels(arch_of(gpu)._handle, workload_of(workload)._handle, whole("top", top, 1),
                                    asked))


def predict(table: Union[str, os.PathLike], gpu: Machine, rows_of: str = "", precision: str = "",
            problem: Optional[Sequence[int]] = None, cache: str = "") -> Predictions:
    """Predicted beside measured times of the kernels in a table; nothing is fitted.

    `table`: a file of measurements, or of timings that others publish (docs/gpu_calibration.md).
    `rows_of`: the GPU whose rows are taken, where the table has several. What the table does not
    say itself: `precision`, `problem` (M, N, K) and `cache` ("hot", "cold").

    >>> rows = "m,n,k,latency_us\\n4096,4096,4096,620\\n8192,8192,8192,4700\\n"
    >>> predict(rows, "a100_40gb", precision="f16")
    Predictions(2 rows)
    """
    if cache not in ("", "hot", "cold"):
        raise ValueError(f"cache: {cache!r} is neither 'hot' nor 'cold'")
    if problem is not None and len(problem) != 3:
        raise ValueError("problem: M, N and K are needed")
    text, name = table_of(table)
    asked = {"gpu": rows_of, "precision": precision, "cache": cache}
    return Predictions(*_mapsim.predict(arch_of(gpu)._handle, text, name, asked,
                                        list(problem or [])))


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


@takes_options
def sweep(arch: Machine, workloads: Union[Layer, Iterable[Layer]],
          grid: Mapping[str, Iterable[Any]], progress: Optional[bool] = None,
          **options: Unpack[Options]) -> Any:
    """The optimum of every layer on every combination of values: a DataFrame, or dicts.

    `grid`: paths of Arch.set() and their values. `progress`: a bar on standard error; None: on a
    terminal only. A point that cannot be read or searched has its reason in `problem`; a path that
    takes none of its values is an error. Large grids are for `mapsim sweep`, which keeps its results.

    >>> rows = sweep("teaching", "teaching/conv", {"Buffer.capacity": ["8 KiB", "32 KiB"]})
    >>> len(rows)
    2
    """
    layers = ([workload_of(workloads)] if isinstance(workloads, (Workload, str, os.PathLike))
              else [workload_of(each) for each in workloads])
    base = arch_of(arch)
    paths = list(grid)
    axes = [_axis(base, path, grid[path]) for path in paths]
    designs = list(itertools.product(*axes))
    rows: List[Dict[str, Any]] = []
    bar = _Bar(len(designs) * len(layers), progress)
    try:
        for values in designs:
            settings = dict(zip(paths, values))
            for layer in layers:
                rows.append({**settings, "workload": layer.name,
                             **_point(base, settings, layer, options)})
                bar.at(len(rows))
    finally:
        bar.end()
    return frame(rows)


def _axis(base: Arch, path: str, values: Iterable[Any]) -> List[Any]:
    """The values of a path; an error if it takes none of them, since then the path is wrong."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{path}: expected a list of values, got {values!r}; write [{values!r}]")
    listed = list(values)
    errors: List[Error] = []
    for value in listed:
        try:
            base.set(path, value)
        except Error as error:
            errors.append(error)
    if errors and len(errors) == len(listed):
        raise errors[0]
    return listed


def _point(base: Arch, settings: Mapping[str, Any], layer: Workload,
           options: Mapping[str, Any]) -> Dict[str, Any]:
    try:
        arch = base
        for path, value in settings.items():
            arch = arch.set(path, value)
        result = search(arch, layer, **options)
    except Error as error:
        return {"status": "error", "energy_pj": None, "latency_cycles": None, "edp": None,
                "problem": str(error)}
    return {"status": result.certificate["status"], "energy_pj": result.energy_pj,
            "latency_cycles": result.latency_cycles, "edp": result.edp,
            "problem": "" if result.feasible else "nothing fits"}
