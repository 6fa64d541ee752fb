# SPDX-License-Identifier: Apache-2.0
"""What searches answer."""
from __future__ import annotations

import html
import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from ._options import Options, asked_of, searches
from ._words import in_python

if TYPE_CHECKING:
    from . import _mapsim
    from typing_extensions import Unpack


def frame(rows: List[Dict[str, Any]]) -> Any:
    """Rows as a DataFrame where pandas is installed, else as they are."""
    try:
        import pandas  # type: ignore[import]  # has no stubs
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _page(text: str, figure: str) -> str:
    return f"<pre>{html.escape(text)}</pre>{figure}"


class Told:
    """What a command prints, and its JSON (docs/results.md)."""

    def __init__(self, text: str, told: str):
        self._told = in_python(told)
        self.json: Dict[str, Any] = json.loads(text)

    def __str__(self) -> str:
        return self._told

    def _repr_html_(self) -> str:
        return _page(str(self), "")


def _write_trace(path: Union[str, "os.PathLike[str]"], trace: str) -> None:
    if not trace:
        raise ValueError("no trace: there is no mapping that fits")
    Path(path).write_text(trace, encoding="utf-8")


class Proven:
    """An answer with a proof.

    >>> import mapsim, os, tempfile
    >>> best = mapsim.search("teaching", "teaching/conv")
    >>> mapsim.check(best.proof()).holds
    True
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     best.save_certificate(os.path.join(folder, "proof.json"))
    ...     mapsim.check(os.path.join(folder, "proof.json")).holds
    True
    """

    def proof(self) -> str:
        """The proof as a text, for check()."""
        raise NotImplementedError

    def save_certificate(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the proof to a file, which check() and `mapsim check` verify."""
        Path(path).write_text(self.proof(), encoding="utf-8")


class _Costed:
    """A mapping with its cost, from the JSON of the library (docs/results.md).

    >>> import mapsim
    >>> best = mapsim.search("teaching", "teaching/conv")
    >>> best.json["cost"]["energy_pj"] == best.energy_pj
    True
    >>> best.edp == best.energy_pj * best.latency_cycles and best.latency_cycles <= best.latency_cycles_ramped
    True
    >>> 0 < best.utilization <= 1
    True
    >>> len(best.accesses)  # rows: levels by tensors that they keep
    5
    """

    def __init__(self, handle: Any):
        self._handle = handle

    @cached_property
    def json(self) -> Dict[str, Any]:
        """All of it, as the command prints it with --json."""
        return json.loads(self._handle.json)

    def _cost(self, key: str) -> Any:
        cost = self.json.get("cost")
        return None if cost is None else cost[key]

    @property
    def energy_pj(self) -> Optional[float]:
        """None: nothing fits."""
        return self._cost("energy_pj")

    @property
    def latency_cycles(self) -> Optional[int]:
        """Steady state; None: nothing fits."""
        return self._cost("latency_cycles")

    @property
    def latency_cycles_ramped(self) -> Optional[int]:
        """With first fills and last drains."""
        return self._cost("latency_cycles_ramped")

    @property
    def latency_seconds(self) -> Optional[float]:
        """Steady state, at the clock of the machine; None: nothing fits.

        >>> import mapsim
        >>> mapsim.search("eyeriss", "alexnet/conv3").latency_seconds  # 1,557,504 cycles at 200 MHz
        0.00778752
        """
        cycles, clock = self._cost("latency_cycles"), self._cost("clock_hz")
        return cycles / clock if clock else None

    @property
    def edp(self) -> Optional[float]:
        """pJ x cycles."""
        return self._cost("edp")

    @property
    def utilization(self) -> Optional[float]:
        """Of the MAC units."""
        return self._cost("utilization")

    @property
    def breakdown(self) -> Any:
        """The energy by node, tensor and action, in pJ, with counts: a DataFrame, or dicts.

        `energy_pj` is that of all actions of a row, `pj_per_bit` or `pj_per_action` that of one bit or one action.

        >>> import mapsim
        >>> best = mapsim.search("teaching", "teaching/conv")
        >>> len(best.breakdown) == len(best.json["energy_terms"])
        True
        >>> sum(term["energy_pj"] for term in best.json["energy_terms"]) == best.energy_pj
        True
        """
        return frame(self.json.get("energy_terms", []))

    @property
    def accesses(self) -> Any:
        """Elements that cross each level, by tensor: a DataFrame, or dicts."""
        rows = []
        for level in self.json.get("levels", []):
            for tensor, counts in level["tensors"].items():
                if counts["kept"]:
                    rows.append({"level": level["name"], "tensor": tensor,
                                 **{k: v for k, v in counts.items() if k != "kept"}})
        return frame(rows)


class Result(_Costed, Proven):
    """The best mapping of a layer on a machine, and what is proven of it.

    >>> import mapsim
    >>> best = mapsim.search("teaching", "teaching/conv")
    >>> best.feasible, best.energy_pj, best.latency_cycles
    (True, 177888.0, 512)
    >>> best.mapping.splitlines()[0], best.nest.splitlines()[0].split("#")[0].strip()
    ('mapping:', 'keep DRAM: I, W, O')
    >>> best.certificate["status"], best.warnings
    ('optimal', [])
    >>> best.figure[:4]
    '<svg'
    """

    @property
    def feasible(self) -> bool:
        """Whether any mapping fits; `reason` says why none does."""
        return self._handle.feasible

    @property
    def reason(self) -> Optional[str]:
        """Why there is no mapping, with what would be enough, as the command says it; None: there is one.

        >>> import mapsim
        >>> mapsim.search("teaching", "teaching/conv", max_latency="1 cycles").reason
        'nothing fits: latency limit (at least 288 cycles)'
        """
        return None if self.feasible else in_python(self._handle.reason)

    @property
    def energy_pj(self) -> Optional[float]:
        """None: nothing fits."""
        return self._handle.energy_pj if self.feasible else None

    @property
    def latency_cycles(self) -> Optional[int]:
        """Steady state; None: nothing fits."""
        return self._handle.latency_cycles if self.feasible else None

    @property
    def mapping(self) -> str:
        """The mapping as YAML, for evaluate(); empty: nothing fits."""
        return self._handle.mapping

    @property
    def nest(self) -> str:
        """The mapping as people draw it."""
        return self._handle.nest

    @property
    def certificate(self) -> Dict[str, Any]:
        """What is proven: status, lower bound, gap, size of the mapspace."""
        return self.json["certificate"]

    @property
    def warnings(self) -> List[str]:
        """Rules of the constraints, and axes of the machine, that do not concern the layer; mostly empty."""
        return [*map(in_python, self._handle.warnings)]

    def why(self) -> Any:
        """What would lower the optimum if it were twice as large: a DataFrame, or dicts, the largest gain first.

        Each capacity and bandwidth that counts is doubled in turn, and searched: `value` is the optimum
        with it, `gain` the share that it saves.

        >>> import mapsim
        >>> best = mapsim.search("teaching", "teaching/conv")
        >>> len(best.why()) > 0
        True
        """
        return frame([{"resource": resource, "value": value, "gain": gain}
                      for resource, value, gain in self._handle.reliefs()])

    def proof(self) -> str:
        """The proof as a file that check(), or `mapsim check`, verifies without the search."""
        return self._handle.proof()

    @property
    def figure(self) -> str:
        """Machine and mapping as SVG; empty: nothing fits."""
        return self._handle.svg

    def __str__(self) -> str:
        return in_python(self._handle.text)

    def __repr__(self) -> str:
        if not self.feasible:
            return f"Result({self.reason})"
        return (f"Result({self.energy_pj:.6g} pJ, {self.latency_cycles} cycles, "
                f"{self.certificate['status']})")

    def save_trace(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the mapping in time, as `search --trace` does, for https://ui.perfetto.dev.

        >>> import mapsim, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mapsim.search("teaching", "teaching/conv").save_trace(os.path.join(folder, "trace.json"))
        ...     os.listdir(folder)
        ['trace.json']
        """
        _write_trace(path, self._handle.trace())

    def _repr_html_(self) -> str:
        """Energy, latency and what is proven; then the figure, which has the nest."""
        if not self.feasible:
            return _page(str(self), "")
        heads = ("energy: ", "latency: ", "proven", "not proven", "no proof")
        return _page("\n".join(line for line in str(self).splitlines() if line.startswith(heads)), self.figure)


class Evaluation(_Costed):
    """The cost of one mapping.

    >>> import mapsim
    >>> evaluated = mapsim.evaluate("teaching", "teaching/conv", "teaching_weight_stationary")
    >>> evaluated.fits, evaluated.figure[:4]
    (True, '<svg')
    """

    @property
    def fits(self) -> bool:
        """Whether all levels have room for their tiles; without it there is no cost."""
        return self._handle.fits

    @property
    def reason(self) -> Optional[str]:
        """Why the mapping does not fit, as the command says it; None: it fits.

        >>> import mapsim
        >>> mapsim.evaluate("teaching", "teaching/conv", "teaching_weight_stationary").reason is None
        True
        """
        return self.json.get("reason")

    @property
    def figure(self) -> str:
        """Machine and mapping as SVG; empty: it does not fit."""
        return self._handle.svg

    @searches()
    def why(self, **options: Unpack[Options]) -> Gap:
        """The mapping beside the optimum: where it spends more, and what would help. Options as of search().

        ValueError: the mapping does not fit.

        >>> import mapsim
        >>> fast = mapsim.search("teaching", "teaching/conv", objective="latency")
        >>> gap = mapsim.evaluate("teaching", "teaching/conv", fast).why()
        >>> gap.excess >= 0
        True
        """
        return Gap(*self._handle.gap(asked_of(options)))

    def save_trace(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the mapping in time, as `simulate --trace` does, for https://ui.perfetto.dev.

        >>> import mapsim, os, tempfile
        >>> evaluated = mapsim.evaluate("teaching", "teaching/conv", "teaching_weight_stationary")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     evaluated.save_trace(os.path.join(folder, "trace.json"))
        ...     os.listdir(folder)
        ['trace.json']
        """
        _write_trace(path, self._handle.trace())

    def __str__(self) -> str:
        return in_python(self._handle.text)

    def __repr__(self) -> str:
        cost = f"{self.energy_pj:.6g} pJ, {self.latency_cycles} cycles" if self.fits else f"no fit: {self.reason}"
        return f"Evaluation({cost})"

    def _repr_html_(self) -> str:
        return _page(str(self), self.figure)


class Gap(Told):
    """A mapping beside the optimum of a mapspace.

    >>> import mapsim
    >>> gap = mapsim.evaluate("teaching", "teaching/conv", "teaching_weight_stationary").why()
    >>> gap
    Gap(205 %)
    >>> gap.excess > 2, len(gap.shares) > 0, len(gap.reliefs) > 0
    (True, True, True)
    """

    def __init__(self, text: str, told: str):
        super().__init__(text, told)
        self.json = self.json["why"]

    @property
    def excess(self) -> Optional[float]:
        """The share by which the mapping is above the optimum, or the best found; None: nothing fits."""
        return self.json.get("excess")

    @property
    def shares(self) -> Any:
        """A DataFrame, or dicts: where the energies differ, the largest waste first."""
        return frame(self.json.get("energy_shares", []))

    @property
    def reliefs(self) -> Any:
        """A DataFrame, or dicts: what would help if it were twice as large, as Result.why() has it."""
        return frame(self.json.get("reliefs", []))

    def __repr__(self) -> str:
        return "Gap(nothing fits)" if self.excess is None else f"Gap({100 * self.excess:.3g} %)"


class Front:
    """Points of which none beats another, proven where `complete`.

    >>> import mapsim
    >>> front = mapsim.pareto("teaching", "teaching/conv")
    >>> front
    Front(3 points, proven)
    >>> front.complete, len(front.points), front.figure[:4]
    (True, 3, '<svg')
    """

    def __init__(self, front: Any):
        self._front = front
        self.json: Dict[str, Any] = json.loads(front.json)

    @property
    def points(self) -> Any:
        """A DataFrame, or dicts: energy_pj, latency_cycles, mapping; of a curve capacity_bits."""
        return frame(self.json["points"])

    @property
    def complete(self) -> bool:
        """Whether every point is found and proven; else the search was stopped."""
        return self.json["complete"]

    @property
    def figure(self) -> str:
        """The points as SVG: energy over latency, of a curve over capacity."""
        return self._front.svg

    def __len__(self) -> int:
        return len(self.json["points"])

    def __str__(self) -> str:
        return in_python(self._front.text)

    def __repr__(self) -> str:
        return f"Front({len(self)} points, {'proven' if self.complete else 'stopped'})"

    def _repr_html_(self) -> str:
        return self.figure


class NetworkResult(Told, Proven):
    """Every distinct layer of a network, or chain of layers, searched once, and the totals.

    With `fuse=True` it has a proof.

    >>> import mapsim
    >>> result = mapsim.network("nvdla_like_1024", "alexnet")
    >>> len(result.layers), result.totals["macs"], result.warnings
    (8, 724406816, [])
    """

    def __init__(self, text: str, told: str, fused: Optional["_mapsim.FusedNetwork"] = None):
        super().__init__(text, told)
        self._fused = fused
        self._rows = self.json["chains" if "chains" in self.json else "layers"]

    def proof(self) -> str:
        """The proof, for check(), of a network with `fuse=True`: no choice of mapping trees needs less.

        Of energy, latency or a weighted sum. The layers of its chains are searched for it.
        """
        if self._fused is None:
            raise ValueError("no certificate: call network(..., fuse=True)")
        proof = self._fused.proof()
        if not proof:
            raise ValueError("no certificate: a chain or a layer has no mapping, or was not searched")
        return proof

    @property
    def layers(self) -> Any:
        """A DataFrame, or dicts: one row a distinct layer, or a distinct chain of layers."""
        return frame(self._rows)

    @property
    def totals(self) -> Dict[str, Any]:
        """Sums over all layers and memory-bound operators that have a price; `warnings` names the others."""
        return self.json["total"]

    @property
    def warnings(self) -> List[str]:
        """What the totals leave out, and what the reader of a model warns of."""
        left_out = [f"{count} x {kind} has no price and is in none of the totals"
                    for kind, count in self.json["unpriced"].items()]
        missing = self.totals.get("layers_missing", 0)
        return [*map(in_python, self.json.get("warnings", [])), *left_out,
                *([f"{missing} layers have no mapping and are in none of the totals"] if missing else [])]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        kind = "chains" if "chains" in self.json else "layers"
        missing = self.totals.get("layers_missing", 0)
        without = f", {missing} layers without a mapping" if missing else ""
        unpriced = sum(self.json["unpriced"].values())
        without += f", {unpriced} operators without a price" if unpriced else ""
        return f"NetworkResult({len(self)} distinct {kind}{without})"
