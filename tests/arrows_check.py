#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which includes break the arrows between the folders (docs/decisions/0001); exit 1 if any.

usage: arrows_check.py ROOT
"""
import re
import sys
from pathlib import Path

MODEL = {"core", "arch", "workloads", "costmodel"}
MAY_INCLUDE = {
    "core": set(),
    "arch": {"core"},
    "workloads": {"core"},
    "costmodel": {"core", "arch", "workloads"},
    "interop": MODEL,
    "mapper": MODEL,
    "check": MODEL,  # never the mapper: it checks what that claims
    "validate": MODEL,  # never the mapper: the command line hands it the mappings
    "report": MODEL | {"mapper", "check"},
    "campaign": MODEL | {"mapper", "check", "report", "interop"},
    "design": MODEL | {"mapper", "check", "report", "campaign"},
    "plan": MODEL | {"mapper", "report", "campaign"},
    "mapsim": MODEL | {"interop", "mapper", "check", "validate", "report", "campaign", "design", "plan"},
    "python": MODEL | {"mapsim", "report"},
    "app": MODEL | {"interop", "mapper", "check", "validate", "report", "campaign", "design", "plan", "mapsim"},
}
# The folders inside two modules: whose headers each may include; "" is the module's own folder. Its sources put
# the parts together and may include all. INTERFACE: what all folders of the mapper may include.
MAPPER_ORDER = ("mapspace", "counting", "graph", "bounds", "label_search", "branch", "baselines", "fusion", "nvdla", "gpu")
INSIDE = {
    "mapper": {name: set(MAPPER_ORDER[: i + 1]) for i, name in enumerate(MAPPER_ORDER)} | {"": {"", "mapspace"}},
    # The reference simulation proves the counts, so that no count uses it; GPUs have a model of
    # their own.
    "costmodel": {
        "": {"", "timing", "nvdla", "sparse"},
        "sparse": {"", "sparse"},
        "timing": {"", "timing", "nvdla"},
        "nvdla": {"", "timing", "nvdla"},
        "fusion": {"", "fusion", "timing"},
        # Of zeros the reference simulation reads the formats and conditions, bound to tensors.
        "reference": {"", "fusion", "reference", "sparse"},
        "timeline": {"", "nvdla", "timeline"},
        "gpu": {"", "gpu"},
    },
}
INTERFACE = {"mapper/deadline.hpp", "mapper/front.hpp", "mapper/haste.hpp", "mapper/mapper.hpp", "mapper/formed_result.hpp", "mapper/objective.hpp",
             "mapper/shared_budget.hpp"}
# What comes from outside, and what one function owns, has a home; nothing else may name it.
HOMES = [
    (r"#include <yaml-cpp/", ("core/yaml.cpp",)),
    (r"#include <CLI/", ("app/arguments.cpp",)),
    (r"#include <nlohmann/", ("report/json", "validate/", "campaign/", "design/design_json.cpp", "plan/plan_json.cpp", "plan/plan_trace.cpp", "plan/throughput_json.cpp", "plan/campaign_chip.cpp", "plan/plan_certificate.cpp", "plan/pair_text.cpp", "plan/layer_searches", "report/plan_check.cpp", "report/chain_check", "report/network_check.cpp", "report/design_check.cpp", "check/plan_claim.cpp")),
    (r"#include <omp\.h>|#pragma omp", ("core/threads.hpp", "mapper/", "check/", "campaign/")),
    (r"#include [<\"](cuda|nvrtc|cublas)", ("validate/",)),
    (r"#include <gmp", ("mapper/", "check/")),
    (r"#include <sqlite3", ("campaign/sqlite.cpp",)),
    (r"#include <mpi", ("campaign/mpi_module.cpp",)),
    (r".*\bdouble_buffered\b", ("arch/", "interop/", "report/")),  # arch/buffering.hpp owns the factor
    # A timing model is named by its own files (docs/decisions/0061); all others ask timing_model().
    (r".*\b(?:get_if|holds_alternative|get)<\w*Timing>|.*\b(?:Systolic|Nvdla)Timing\b",
     ("arch/timing", "costmodel/timing/", "costmodel/nvdla/", "mapper/nvdla/", "check/engine.cpp")),
]


def inner(path):
    """The folder of mapper/graph/divisor_lattice.hpp inside its module: graph."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def crosses(name, included):
    """Does an include within a module go against the order of its folders?"""
    module = name.split("/")[0]
    if module not in INSIDE or included in INTERFACE or (not inner(name) and name.endswith(".cpp")):
        return False
    return inner(included) not in INSIDE[module][inner(name)]


def problems(root):
    for folder, allowed in MAY_INCLUDE.items():
        for path in sorted((root / folder).rglob("*.[ch]*")):
            name = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text().splitlines(), 1):
                own = re.match(r'#include "((\w+)/[^"]+)"', line)
                if own and own[2] != folder and own[2] not in allowed:
                    yield f"{name}:{number}: {folder} may not include {own[2]}"
                if own and own[2] == folder and crosses(name, own[1]):
                    yield f"{name}:{number}: {folder}/{inner(name)} may not include {own[1]}"
                for pattern, homes in HOMES:
                    if re.match(pattern, line.strip()) and not name.startswith(homes):
                        yield f"{name}:{number}: {line.strip()} belongs in {' or '.join(homes)}"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or "all arrows point the right way")
    sys.exit(bool(found))
