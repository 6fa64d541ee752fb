# SPDX-License-Identifier: Apache-2.0
"""More than one layer or machine: fused layers, plans of networks on chips, the best machine of a space."""
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _mapsim
from . import _arguments as kinds
from ._arguments import arguments, as_read, wrong
from ._inputs import Arch, Named, configs_folders, file_of, find, is_name, machine
from ._options import Options, asked_of, searches
from ._results import Proven, Told, _page, frame

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Fusion(Told, Proven):
    """The mapping tree of a chain of least energy, and what fusion brings.

    >>> import mapsim
    >>> fused = mapsim.fuse("teaching_flat", "teaching_convs")
    >>> fused.energy_pj <= fused.on_chip_pj <= fused.spilled_pj
    True
    >>> fused.proven, len(fused.intermediates), mapsim.check(fused.proof()).holds
    (True, 1, True)
    """

    def __init__(self, handle: "_mapsim.Chain"):
        super().__init__(handle.json, handle.text)
        self._handle = handle
        self.tree: str = handle.tree  # as YAML; empty: nothing fits

    def proof(self) -> str:
        """The proof, for check(): no mapping tree of the space is better; within limits, by more than a gap."""
        return self._handle.proof()

    @property
    def energy_pj(self) -> Optional[float]:
        """The energy of the best mapping tree; None: nothing fits."""
        return self.json.get("energy_pj")

    @property
    def on_chip_pj(self) -> Optional[float]:
        """Layer by layer, intermediates whole in a memory on chip where that pays."""
        return self.json["search"]["energy_layer_by_layer_on_chip_pj"]

    @property
    def spilled_pj(self) -> Optional[float]:
        """Layer by layer, every intermediate in the outermost memory."""
        return self.json["search"]["energy_layer_by_layer_spilled_pj"]

    @property
    def proven(self) -> bool:
        """Whether no mapping tree of the space is better; else the search was stopped."""
        return self.json["search"]["proven"]

    @property
    def intermediates(self) -> Any:
        """Where each intermediate lies, and how much of it at a time: a DataFrame, or dicts."""
        return frame(self.json.get("intermediates", []))

    def __repr__(self) -> str:
        if self.energy_pj is None:
            return "Fusion(nothing fits)"
        return (f"Fusion({self.energy_pj:.6g} pJ, layer by layer {self.on_chip_pj:.6g}, "
                f"{'proven' if self.proven else 'stopped'})")


class FusionCurve(Told):
    """The least energy of a chain over the capacity of a level.

    >>> import mapsim
    >>> curve = mapsim.fusion_curve("teaching_flat", "teaching_convs", "Buffer")
    >>> len(curve.steps), curve.figure[:4]
    (3, '<svg')
    """

    def __init__(self, text: str, told: str, figure: str):
        super().__init__(text, told)
        self.figure = figure  # SVG

    @property
    def steps(self) -> Any:
        """A DataFrame, or dicts: a row for each step of each of the ways spilled, on_chip, best."""
        rows = []
        for way, curve in self.json["curves"].items():
            rows += [{"way": way, **{k: v for k, v in step.items() if not isinstance(v, (dict, list))}}
                     for step in curve["steps"]]
        return frame(rows)

    def __repr__(self) -> str:
        return f"FusionCurve({len(self.json['curves']['best']['steps'])} steps)"

    def _repr_html_(self) -> str:
        return self.figure


def _chain(name: str, value: Any) -> "_mapsim.EinsumChain":
    if not is_name(value):
        raise wrong(name, "a chain of layers: a file, a name of shipped('chains'), or YAML", value)
    text = os.fspath(value)
    return (_mapsim.EinsumChain.parse(text, name) if "\n" in text
            else _mapsim.EinsumChain.load(find(text, "chains")))


_FUSED: Dict[str, Any] = {"arch": machine, "chain": _chain, "max_group": kinds.whole(1), "shared_loops": kinds.whole(0)}


def _chain_asked(options: Mapping[str, Any], max_group: int, shared_loops: int) -> Dict[str, Any]:
    return {**asked_of(options), "max_group": max_group, "shared_loops": shared_loops}


@searches(**_FUSED)
def fuse(arch: Union[Arch, Named], chain: Named, max_group: int = 32, shared_loops: int = 16,
         **options: Unpack[Options]) -> Fusion:
    """The best way to run a chain of layers, fused or not, proven.

    `chain`: a file, a shipped one by its name (shipped("chains")), or YAML. `max_group`: fuse at
    most so many layers; `shared_loops`: let fused layers share at most so many loops. Other options are
    those of search() that chains have, too.

    >>> fused = fuse("teaching_flat", "teaching_convs")
    >>> fused.proven, fused.energy_pj < fused.spilled_pj
    (True, True)
    """
    return Fusion(_mapsim.fuse(as_read(arch)._handle, as_read(chain),
                               _chain_asked(options, max_group, shared_loops)))


@searches(level=kinds.text("GLB", needed=True), **_FUSED)
def fusion_curve(arch: Union[Arch, Named], chain: Named, level: str, max_group: int = 32,
                 shared_loops: int = 16, **options: Unpack[Options]) -> FusionCurve:
    """The least energy of a chain (or `objective`) over the capacity of a level, fused and not; energies per bit stay.

    `max_group`, `shared_loops` and options as of fuse().

    >>> fusion_curve("teaching_flat", "teaching_convs", "Buffer")
    FusionCurve(1 steps)
    """
    return FusionCurve(*_mapsim.fusion_curve(as_read(arch)._handle, as_read(chain), level,
                                             _chain_asked(options, max_group, shared_loops)))


class Plan(Told, Proven):
    """A network on a chip: which nodes become one kernel, and which engine runs each.

    >>> import mapsim
    >>> planned = mapsim.plan("teaching_chip", "graphs/squeezenet")
    >>> planned.latency_seconds > 0, planned.energy_pj > 0, planned.proven, planned.complete
    (True, True, True, True)
    >>> len(planned.groups), len(planned.engines), len(planned.passes)
    (38, 2, 4)
    """

    def __init__(self, text: str, told: str, trace: str, proof: str):
        super().__init__(text, told)
        self._trace = trace
        self._proof = proof

    @property
    def latency_seconds(self) -> float:
        """The latency of a frame, or of a batch."""
        return self.json["latency_seconds"]

    @property
    def energy_pj(self) -> float:
        """The energy of a frame, or of a batch."""
        return self.json["energy_pj"]

    @property
    def proven(self) -> bool:
        """Whether no plan of these groups at these prices is better."""
        return self.json["proven"]

    @property
    def complete(self) -> bool:
        """Whether every operation has a price; if not, latency and energy are those of a part of the network."""
        return not self.json["unpriced"]

    @property
    def groups(self) -> Any:
        """A DataFrame, or dicts: a row for each group of nodes, in the order in which they run."""
        return frame(self.json["groups"])

    @property
    def engines(self) -> Any:
        """A DataFrame, or dicts: how long each works, and the whole network on it alone."""
        return frame([{**{key: value for key, value in engine.items() if key != "alone"},
                       "alone_seconds": (engine["alone"] or {}).get("latency_seconds")}
                      for engine in self.json["engines"]])

    @property
    def passes(self) -> Any:
        """A DataFrame, or dicts: what each kind of fusion gains."""
        return frame(self.json["passes"])

    def proof(self) -> str:
        """The proof, for check(): no plan of these groups at these prices is better; with engines at once, or within memory, by more than a gap.

        ValueError with engines at once where memory forbids a better plan, and where the plan may not be the best.

        >>> from mapsim import check
        >>> check(plan("teaching_chip", "graphs/squeezenet").proof())
        Check(holds)
        """
        if not self._proof:
            raise ValueError("there is no proof of a schedule with engines at once that memory limits, nor of a plan that may not be the best")
        return self._proof

    def save_trace(self, path: Named) -> None:
        """The plan in time, for https://ui.perfetto.dev.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     plan("teaching_chip", "graphs/squeezenet").save_trace(os.path.join(folder, "trace.json"))
        ...     os.listdir(folder)
        ['trace.json']
        """
        Path(path).write_text(self._trace, encoding="utf-8")

    def __repr__(self) -> str:
        return (f"Plan({self.latency_seconds:.6g} s, {self.energy_pj:.6g} pJ, "
                f"{len(self.json['groups'])} groups)")


class Stream(Told, Proven):
    """A stream of frames on a chip, many in flight.

    >>> import mapsim
    >>> most = mapsim.stream("teaching_chip", "graphs/squeezenet")
    >>> most.frames_per_second <= most.bound * (1 + 1e-9), len(most.limits) > 0
    (True, True)
    >>> mapsim.check(most.proof()).holds
    True
    """

    def __init__(self, text: str, told: str, proof: str):
        super().__init__(text, told)
        self._proof = proof

    def proof(self) -> str:
        """The proof, for check(): no plans of these groups at these prices give more frames."""
        return self._proof

    @property
    def frames_per_second(self) -> float:
        """The rate of the best mix of plans found; none exceeds `bound`."""
        return self.json["frames_per_second"]

    @property
    def bound(self) -> float:
        """An upper bound: no plans give more frames a second."""
        return self.json["bound_frames_per_second"]

    @property
    def limits(self) -> Any:
        """A DataFrame, or dicts: how much of each engine, of the memory and of the power is used,
        and what one more would bring."""
        return frame(self.json["limits"])

    def __repr__(self) -> str:
        return f"Stream({self.frames_per_second:.6g} frames/s)"


def _chip(name: str, value: Any) -> str:
    """The file of a chip, or of a machine, which is a chip of one engine."""
    if not is_name(value):
        raise wrong(name, "a chip or a machine: a file, or a name of shipped('chips') or shipped('machines')", value)
    path = os.fspath(value)
    return find(path, "machines" if path in _mapsim.names("machines", configs_folders()) else "chips")


_PLANNED: Dict[str, Any] = {"chip": _chip, "network": file_of("networks", "a network that is a graph"),
            "fusion": kinds.text("vertical"), "launch": kinds.text("stream"), "batch": kinds.whole(1),
            "dims": kinds.mapping("{'batch': 1}", kinds.whole(1)), "engines": kinds.words("gpu"),
            "precision": kinds.words("s8,f16"), "sparse": kinds.switch, "budget": kinds.budget,
            "memory": kinds.text("4 GiB")}


def _plan_asked(objective: str, **more: Any) -> Dict[str, Any]:
    return {"objective": objective, "front": False, "at_once": False, "max_latency": "",
            "max_power": "", "max_memory": "", **more}


@arguments(objective=kinds.text("latency"), front=kinds.switch, at_once=kinds.switch,
           max_latency=kinds.text("2 ms"), max_power=kinds.text("15 W"), max_memory=kinds.text("1 MiB"),
           **_PLANNED)
def plan(chip: Named, network: Named, objective: str = "latency", fusion: str = "elision",
         launch: str = "graph", front: bool = False, batch: int = 1,
         dims: Optional[Mapping[str, int]] = None, engines: Union[str, Sequence[str]] = (),
         precision: Union[str, Sequence[str]] = (), sparse: bool = False, at_once: bool = False,
         max_latency: str = "", max_power: str = "", max_memory: str = "",
         budget: Union[None, str, float] = None, memory: str = "") -> Plan:
    """The best plan of a network, which is a graph, on a chip, proven.

    `chip`: a file, or a shipped name (shipped("chips")); or a machine. `objective`: "latency" or
    "energy". `fusion`: which nodes may become one kernel: "none", "vertical" (a node and those that
    follow it), "horizontal" (also siblings) or "elision" (also concats). `launch`: how a GPU starts
    kernels, "graph" or "stream". `front`: also return all plans that none beats in both latency and
    energy. `batch`: frames at a time. `dims`: values of symbolic dims of a model's inputs. `engines`:
    use only these. `precision`: the width of operands, "s8", "f16" or "f32"; with several of them
    ("s8,f16") each group has the best one. `sparse`: weights are pruned 2:4. `at_once`: engines may
    work at the same time on a frame. `max_latency` ("2 ms"), `max_power` ("15 W") and `max_memory`
    ("1 MiB") limit the plan; ValueError where no plan keeps the limits. `budget`: end each search, of
    a layer or for a plan, after this time, "10 s" or seconds; `proven` is then False, and `json` has a
    bound. `memory`: what each search may take, "4 GiB"; else three quarters of what the machine has.

    >>> planned = plan("teaching_chip", "graphs/squeezenet")
    >>> planned.proven, planned.complete, set(planned.json["groups"][0]) >= {"nodes", "engine"}
    (True, True, True)
    """
    if objective == "throughput":
        raise ValueError("objective: of a stream of frames; call stream()")
    asked = _plan_asked(objective, fusion=fusion, launch=launch, engines=engines, precision=precision,
                        sparse=sparse, front=front, at_once=at_once, max_latency=max_latency,
                        max_power=max_power, max_memory=max_memory, budget=budget, memory=memory)
    return Plan(*_mapsim.plan(as_read(chip), as_read(network), asked, as_read(dims), batch,
                              configs_folders()))


@arguments(engine_batches=kinds.mapping("{'gpu': 8}", kinds.whole(1)), **_PLANNED)
def stream(chip: Named, network: Named, fusion: str = "elision", launch: str = "graph",
           batch: int = 1, engine_batches: Optional[Mapping[str, int]] = None,
           dims: Optional[Mapping[str, int]] = None, engines: Union[str, Sequence[str]] = (),
           precision: Union[str, Sequence[str]] = (), sparse: bool = False,
           budget: Union[None, str, float] = None, memory: str = "") -> Stream:
    """The most frames a second of a network on a chip, and a bound that no plans exceed.

    `batch`: frames at a time, `engine_batches`: on engines by name. `fusion`, `launch`, `dims`, `engines`,
    `precision`, `sparse`, `budget` and `memory` as of plan().

    >>> most = stream("teaching_chip", "graphs/squeezenet")
    >>> most.frames_per_second <= most.bound * (1 + 1e-9)
    True
    """
    asked = _plan_asked("throughput", fusion=fusion, launch=launch, engines=engines, precision=precision,
                        sparse=sparse, budget=budget, memory=memory)
    return Stream(*_mapsim.plan_stream(as_read(chip), as_read(network), asked, as_read(dims),
                                       as_read(engine_batches), batch, configs_folders()))


class Design(Told, Proven):
    """The best machine of a space, and the proof that none is better.

    >>> import mapsim
    >>> best = mapsim.design("teaching_buffers", ["teaching/gemm"], objective="energy", top=2, certificate=True)
    >>> best.proven, best.value > 0, best.settings["nodes.Buffer.capacity"]
    (True, True, '32 KiB')
    >>> len(best.answers), len(best.steps) > 0, len(best.layers)
    (2, True, 1)
    >>> best.certificate == best.proof()
    True
    """

    def __init__(self, text: str, told: str, arch: str, certificate: str):
        super().__init__(text, told)
        self.arch: Optional[Arch] = Arch.from_yaml(arch, "best machine") if arch else None
        self.certificate = certificate  # the proof, with certificate=True

    def proof(self) -> str:
        """The proof, for check(): no machine of the space is better."""
        if not self.certificate:
            raise ValueError("no certificate: call design(..., certificate=True)")
        return self.certificate

    @property
    def value(self) -> Optional[float]:
        """The objective of the best machine, in pJ and s; None: no machine runs all layers."""
        return self.json["best"]["value"] if self.arch else None

    @property
    def settings(self) -> Dict[str, Union[int, str]]:
        """The values that the best machine has for the keys that the space varies."""
        return self.json["best"]["settings"] if self.arch else {}

    @property
    def proven(self) -> bool:
        """Whether no machine of the space is better; else the search was stopped."""
        return self.json["proven"]

    @property
    def answers(self) -> Any:
        """A DataFrame, or dicts: all machines that were asked for (`top`, `front`)."""
        return frame([{**{k: v for k, v in answer.items() if k != "settings"}, **answer["settings"]}
                      for answer in self.json["answers"]])

    @property
    def steps(self) -> Any:
        """A DataFrame, or dicts: what the next value of each axis changes of the best machine."""
        return frame(self.json["steps"])

    @property
    def layers(self) -> Any:
        """A DataFrame, or dicts: a row for each distinct layer on the best machine."""
        return frame(self.json["best"]["layers"] if self.arch else [])

    def __repr__(self) -> str:
        if not self.arch:
            return "Design(no machine runs all layers)"
        return (f"Design({self.arch.name!r}, {self.json['objective']} {self.value:.6g}, "
                f"{'proven' if self.proven else 'stopped'})")


def _work(name: str, value: Any) -> List[str]:
    """The files of networks and layers, by names or paths: one, or some."""
    networks = set(_mapsim.names("networks", configs_folders()))
    listed = [value] if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(listed, Sequence) or not all(map(is_name, listed)):
        raise wrong(name, "files or shipped names of networks and layers, such as ['resnet50']", value)
    names = [os.fspath(each) for each in listed]
    return [find(each, "networks" if each in networks or each.endswith(".onnx") else "layers")
            for each in names]


@arguments(space=file_of("campaigns", "a space of designs"), work=_work, objective=kinds.text("edp"),
           max_area=kinds.text("4 mm2"), max_energy=kinds.text("20 mJ"), max_latency=kinds.text("20 ms"),
           max_power=kinds.text("300 mW"), top=kinds.whole(1), front=kinds.switch, gap=kinds.fraction,
           budget=kinds.budget, threads=kinds.threads, certificate=kinds.switch,
           memory=kinds.text("4 GiB"))
def design(space: Named, work: Union[Named, Sequence[Named]] = (), objective: str = "",
           max_area: str = "", max_energy: str = "", max_latency: str = "", max_power: str = "",
           top: int = 1, front: bool = False, gap: Union[str, float] = 0.0,
           budget: Union[None, str, float] = None, threads: int = 1,
           certificate: bool = False, memory: str = "") -> Design:
    """The best machine of a space of designs, proven.

    `space`: a campaign, by its file or its shipped name (shipped("campaigns")). `work`: networks
    and layers in place of those of the file. `objective`: "edp" (of all layers, mappings chosen
    jointly), "energy", "latency", "sum-edp", or a formula; by default that of the file, if it has only
    one. `max_area` ("4 mm2"), `max_energy`
    ("20 mJ"), `max_latency` ("20 ms") and `max_power` ("300 mW") limit the machines. `top`: also
    the next best ones. `front`: the Pareto front of objective and area. `gap`: machines that are better
    by no more than this share may be missed. `budget`: end after this time, "2 min" or seconds. `threads`: 0
    takes all cores. `certificate`: also the proof. `memory`: what a search may take, "4 GiB".

    >>> best = design("teaching_buffers", ["teaching/gemm"], objective="energy")
    >>> best.proven, best.settings["nodes.Buffer.capacity"]
    (True, '32 KiB')
    >>> best.arch
    Arch('teaching')
    """
    asked = {"objective": objective, "max_area": max_area, "max_energy": max_energy,
             "max_latency": max_latency, "max_power": max_power, "top": top, "front": front, "gap": gap,
             "certificate": certificate, "budget": budget, "threads": threads, "memory": memory}
    return Design(*_mapsim.design(as_read(space), as_read(work), asked, configs_folders()))
