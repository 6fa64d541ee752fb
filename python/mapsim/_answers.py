# SPDX-License-Identifier: Apache-2.0
"""The answers of functions that do not search: simulate(), check(), roofline(), histogram()."""
from __future__ import annotations

import json
from typing import Any, Dict, List

from ._results import Told, frame
from ._words import in_python


class Simulation:
    """A mapping walked step by step, beside the closed form.

    >>> import mapsim
    >>> walked = mapsim.simulate("teaching", "teaching/conv", "teaching_weight_stationary")
    >>> walked.steps, walked.agrees, len(walked.differences)
    (576, True, 0)
    """

    def __init__(self, answer: Dict[str, Any]):
        self.json = answer
        told = answer["simulation"]
        self.steps: int = told["steps"]
        self.differences = frame(told["differences"])
        self.agrees: bool = not told["differences"] and told["outputs_wrong"] == 0

    def __repr__(self) -> str:
        return f"Simulation({self.steps} steps, {'agrees' if self.agrees else 'differs'})"


class Roofline(Told):
    """Bounds that no mapping can beat, from peak rates and the layer's data.

    >>> import mapsim
    >>> bound = mapsim.roofline("teaching", "teaching/conv")
    >>> bound.limiter, bound.least_energy_pj, bound.least_cycles
    ('math', 138432.0, 288)
    """

    @property
    def limiter(self) -> str:
        """What bounds the time: "math", the peak rate, or "memory", the outermost bandwidth."""
        return self.json["roofline"]["limiter"]

    @property
    def least_energy_pj(self) -> float:
        """No mapping needs less [pJ]: every MAC, and each element once at the outermost level."""
        return self.json["roofline"]["least_energy_pj"]

    @property
    def least_cycles(self) -> int:
        """No mapping takes fewer cycles."""
        return self.json["roofline"]["least_cycles"]

    def __repr__(self) -> str:
        return f"Roofline(at least {self.least_energy_pj:.6g} pJ, {self.least_cycles} cycles)"


class Check:
    """The verdict of the checker, which shares only the cost model with the search, on a proof.

    >>> import mapsim
    >>> checked = mapsim.check(mapsim.search("teaching", "teaching/conv"))
    >>> checked.holds, checked.problems, checked.verified[0]
    (True, [], 'the claim')
    >>> "the hashes of the input files" in checked.unverified
    True
    """

    def __init__(self, text: str):
        self.json: Dict[str, Any] = json.loads(text)
        found = self.json.get("check", self.json)  # a plan's has no part of its own
        self.holds: bool = found["holds"]
        self.problems: List[str] = [*map(in_python, found["problems"])]
        self.verified: List[str] = found["verified"]
        self.unverified: List[str] = [*map(in_python, found["unverified"])]

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        return f"Check({'holds' if self.holds else 'does not hold'})"


class Histogram:
    """Energies of mappings within 5 % of the peak MAC rate.

    >>> import mapsim
    >>> drawn = mapsim.histogram("teaching", "gemm:64x64x128", mappings=100)
    >>> min(drawn.energies_pj) >= drawn.optimum_pj, drawn.figure[:4]
    (True, '<svg')
    """

    def __init__(self, energies: List[float], optimum: float, figure: str):
        self.energies_pj = energies  # one a distinct mapping
        self.optimum_pj = optimum  # proven, of the whole mapspace
        self.figure = figure  # SVG: mappings by energy, the optimum marked

    def __len__(self) -> int:
        return len(self.energies_pj)

    def __repr__(self) -> str:
        found = f"{len(self)} mappings" if self.energies_pj else "no mapping met is within 5 % of the peak MAC rate"
        return f"Histogram({found}, optimum {self.optimum_pj:.6g} pJ)"

    def _repr_html_(self) -> str:
        return self.figure
