# SPDX-License-Identifier: Apache-2.0
"""How mappings are searched."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, Mapping, Optional, TypedDict, Union

from . import _arguments as kinds
from ._arguments import Function, Kind, Option, arguments
from ._inputs import constraints


class Options(TypedDict, total=False):
    """How mappings are searched, in the words of `mapsim search`; functions take them by name."""

    objective: str  # "energy", "latency", "edp", "energy^2*latency", "energy,latency" (ties)
    latency: str  # which latency counts: "steady", or "ramped" with first fill and last drain
    max_energy: str  # "800 uJ"
    max_latency: str  # "6 ms", "1e6 cycles"
    constraints: Union[None, str, "os.PathLike[str]", Mapping[str, Any]]  # or a shipped name
    even: bool  # all tensors of a level are tiled at the same loop
    imperfect: bool  # tiles of ceil(bound / n), too
    batches: bool  # NVDLA-like engines: also batches of fully connected layers
    budget: Union[None, str, float]  # "2 min", or seconds; then the best so far, with its gap
    budget_labels: Optional[int]  # the same result on any machine
    gap: float  # 0.01: the best is proven to be within 1 % of the optimum, and that is enough
    strategy: str  # "exact", "exhaustive", "random", "annealing", "genetic"
    evaluations: int  # of random, annealing and genetic
    seed: int  # of these, and of histogram()
    threads: int  # 0: all cores; the answer does not depend on it


# The default of each, and what it must be.
_OPTIONS: Dict[str, Option] = {
    name: Option(default, Options.__annotations__[name].__forward_arg__, kind)
    for name, (default, kind) in {
        "objective": ("energy", kinds.text("edp")), "latency": ("steady", kinds.text("ramped")),
        "max_energy": ("", kinds.text("800 uJ")), "max_latency": ("", kinds.text("6 ms")),
        "constraints": (None, constraints),
        "even": (False, kinds.switch), "imperfect": (False, kinds.switch), "batches": (False, kinds.switch),
        "budget": (None, kinds.budget), "budget_labels": (None, kinds.optional(kinds.whole(1))),
        "gap": (0.0, kinds.fraction), "strategy": ("exact", kinds.text("random")),
        "evaluations": (10_000, kinds.whole(1)), "seed": (1, kinds.whole(0)), "threads": (1, kinds.threads),
    }.items()}


def searches(**own: Kind) -> Callable[[Function], Function]:
    """arguments() of a function that also takes Options by name, with their defaults."""
    return arguments(_OPTIONS, **own)


def asked_of(options: Mapping[str, Any]) -> Dict[str, Any]:
    """What a search is asked, in the words of the compiled part."""
    asked = {name: option.kind(name, options.get(name, option.default))
             for name, option in _OPTIONS.items()}
    asked["constraints"], asked["constraints_name"] = asked["constraints"]
    return asked
