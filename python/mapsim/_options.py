# SPDX-License-Identifier: Apache-2.0
"""How mappings are searched."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, Mapping, Optional, TypedDict, Union

from . import _arguments as kinds
from ._arguments import Function, Kind, Option, arguments
from ._inputs import constraints


class Options(TypedDict, total=False):
    """How mappings are searched, in the words of `mapsim search`. Functions take these options by name:
    search("eyeriss", "alexnet/conv3", objective="edp", budget="10 s").

    objective      "energy" (the default), "latency", "edp", or a formula: "energy^2*latency";
                   "energy,latency" minimises energy and breaks ties by latency
    latency        the latency that counts: "steady" (the default), or "ramped": without
                   overlap at single-buffered levels
    max_energy     only mappings of at most this energy: "800 uJ"
    max_latency    only mappings of at most this latency: "6 ms", "1e6 cycles"
    constraints    rules for mappings: a file, a name of shipped("constraints"), YAML, or a dict such
                   as {"mapspace": {"dataflow": "row_stationary"}}
    even           all tensors of a level are tiled at the same loop, as in Timeloop
    imperfect      also tiles that do not divide their dim: ceil(bound / n)
    batches        NVDLA-like engines: also batches of fully connected layers; costs are per frame
    budget         end after this time, "2 min" or a number of seconds, with the best mapping so far
                   and its gap
    budget_labels  end after this much work of the search, which is the same on every computer
    memory         end when the search would take more than this, "4 GiB", with the best mapping so far
                   and its gap; else three quarters of what the machine has
    gap            end when the best mapping is proven to be within this share of the optimum: 0.01, "1 %"
    strategy       "exact" (the default); to compare with: "exhaustive", "random", "annealing",
                   "genetic"
    evaluations    the number of mappings that random, annealing and genetic evaluate (10,000)
    seed           of the random numbers of these strategies, and of histogram() (1)
    threads        the number of threads (1); 0: all cores. Results do not depend on it
    """

    objective: str
    latency: str
    max_energy: str
    max_latency: str
    constraints: Union[None, str, "os.PathLike[str]", Mapping[str, Any]]
    even: bool
    imperfect: bool
    batches: bool
    budget: Union[None, str, float]
    budget_labels: Optional[int]
    memory: str
    gap: Union[str, float]
    strategy: str
    evaluations: int
    seed: int
    threads: int


# The default of each, and what it must be.
_OPTIONS: Dict[str, Option] = {
    name: Option(default, Options.__annotations__[name].__forward_arg__, kind)
    for name, (default, kind) in {
        "objective": ("energy", kinds.text("edp")), "latency": ("steady", kinds.text("ramped")),
        "max_energy": ("", kinds.text("800 uJ")), "max_latency": ("", kinds.text("6 ms")),
        "constraints": (None, constraints),
        "even": (False, kinds.switch), "imperfect": (False, kinds.switch), "batches": (False, kinds.switch),
        "budget": (None, kinds.budget), "budget_labels": (None, kinds.optional(kinds.whole(1))),
        "memory": ("", kinds.text("4 GiB")), "gap": (0.0, kinds.fraction), "strategy": ("exact", kinds.text("random")),
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
