# SPDX-License-Identifier: Apache-2.0
"""How mappings are searched."""
from __future__ import annotations

import inspect
import operator
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


# What else than its default an option may be, and how an error says it.
_TEXTS = {"objective": "edp", "latency": "ramped", "max_energy": "800 uJ", "max_latency": "6 ms",
          "strategy": "random"}
_SWITCHES = ("even", "imperfect", "batches")
_MOST_THREADS = 1024  # as the program's
_MOST = 2**53


def whole(name: str, value: Any, low: int, high: int = _MOST) -> int:
    """A whole number of an argument, or an error that names the argument."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected a whole number, got {value!r}")
    number = operator.index(value)
    if not low <= number <= high:
        raise ValueError(f"{name}: {number} is not from {low} to {high}")
    return number


def threads_of(value: Any) -> int:
    return whole("threads", value, 0, _MOST_THREADS) or min(os.cpu_count() or 1, _MOST_THREADS)


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
    for name, example in _TEXTS.items():
        if not isinstance(asked[name], str):
            raise TypeError(f"{name}: expected a text such as {example!r}, got {asked[name]!r}")
    for name in _SWITCHES:
        if asked[name] not in (True, False):
            raise TypeError(f"{name}: expected True or False, got {asked[name]!r}")
        asked[name] = bool(asked[name])
    if asked["budget_labels"] is not None:
        asked["budget_labels"] = whole("budget_labels", asked["budget_labels"], 1)
    for name, low in {"evaluations": 1, "seed": 0}.items():
        asked[name] = whole(name, asked[name], low)
    asked["constraints"], asked["constraints_name"] = text_of(asked["constraints"], "constraints")
    budget = asked["budget"]
    asked["budget"] = f"{budget} s" if isinstance(budget, (int, float)) else budget or ""
    if not 0 <= asked["gap"] < 1:
        raise ValueError(f"gap: {asked['gap']} is not at least 0 and below 1")
    asked["threads"] = threads_of(asked["threads"])
    return asked
