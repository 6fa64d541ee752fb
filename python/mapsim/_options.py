# SPDX-License-Identifier: Apache-2.0
"""How mappings are searched."""
from __future__ import annotations

import inspect
import os
from typing import Any, Dict, Mapping, Optional, TypedDict, Union

from ._inputs import text_of


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


DEFAULTS: Options = {
    "objective": "energy", "latency": "steady", "max_energy": "", "max_latency": "",
    "constraints": None, "even": False, "imperfect": False, "batches": False, "budget": None,
    "budget_labels": None, "gap": 0.0, "strategy": "exact", "evaluations": 10_000, "seed": 1, "threads": 1}


def takes_options(function: Any) -> Any:
    """Names the options and their defaults in the signature, for help() and for editors."""
    signature = inspect.signature(function)
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default,
                               annotation=Options.__annotations__[name].__forward_arg__)
             for name, default in DEFAULTS.items()]
    function.__signature__ = signature.replace(
        parameters=[*list(signature.parameters.values())[:-1], *named])
    return function


def asked_of(options: Mapping[str, Any]) -> Dict[str, Any]:
    unknown = sorted(set(options) - set(DEFAULTS))
    if unknown:
        raise TypeError(f"unexpected option {unknown[0]!r}; one of {', '.join(DEFAULTS)}")
    asked: Dict[str, Any] = {**DEFAULTS, **options}
    asked["constraints"], asked["constraints_name"] = text_of(asked["constraints"], "constraints")
    budget = asked["budget"]
    asked["budget"] = f"{budget} s" if isinstance(budget, (int, float)) else budget or ""
    if not 0 <= asked["gap"] < 1:
        raise ValueError(f"gap: {asked['gap']} is not at least 0 and below 1")
    asked["threads"] = asked["threads"] or os.cpu_count() or 1
    return asked
