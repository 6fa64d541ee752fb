#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of docs/performance.md that search_bench measures, as Markdown.

usage: performance_tables.py JSON...

JSON is what search_bench writes with --benchmark_out=JSON. Of a benchmark that ran several times
(--benchmark_repetitions, or several files) the least CPU time counts: what else runs on a machine
only adds to it. Rows that no file has are left out.
"""
import json
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = re.compile(r"(given|searched)/([^/]+)/([^:/]+):([^/]+)")
MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
# Whose ports, not whose tiles, decide: labels of the search beside its time.
BUSY = ("busy_3_levels", "slow_ports")


def read(paths):
    """Of each benchmark the run with the least CPU time [ms], by (kind, machine, goal, layer)."""
    found = {}
    for path in paths:
        for run in json.loads(Path(path).read_text())["benchmarks"]:
            name = NAME.match(run["name"])
            if not name or run.get("error_occurred") or run.get("run_type") == "aggregate":
                continue
            time = run["cpu_time"] * MILLISECONDS[run["time_unit"]]
            if name.groups() not in found or time < found[name.groups()]["ms"]:
                found[name.groups()] = {"ms": time, "labels": run.get("labels", 0)}
    return found


def machine_file(machine):
    for folder in ("bench/machines", "configs/arch"):
        if (ROOT / folder / f"{machine}.yaml").exists():
            return f"{folder}/{machine}.yaml"
    raise SystemExit(f"no file of the machine {machine}")


def time_text(milliseconds):
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.2g} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"


def spread(found, kind, machine, goal):
    """(median, worst) of the layers, and the worst one; "-" where there are none."""
    times = {key[3]: run["ms"] for key, run in found.items() if key[:3] == (kind, machine, goal)}
    if not times:
        return "-", "-"
    worst = max(times, key=times.get)
    median, unit = time_text(statistics.median(times.values())).split()
    most = time_text(times[worst])
    return f"{median}{'' if most.endswith(' ' + unit) else ' ' + unit}, {most}", worst


def layers_table(found):
    yield ("| machine | objective | given: median, worst | searched: median, worst | worst layer "
           "| `search_bench --benchmark_filter=` |")
    yield "|---|---|---|---|---|---|"
    seen = dict.fromkeys(key[1:3] for key in found if key[1] not in BUSY)
    several = [row for row in seen if sum(key[1:3] == row for key in found) > 2]
    for machine, goal in several:
        given, _ = spread(found, "given", machine, goal)
        searched, worst = spread(found, "searched", machine, goal)
        yield (f"| `{machine_file(machine)}` | {goal} | {given} | {searched} | {worst} "
               f"| `/{machine}/{goal}` |")


def busy_table(found):
    yield "| machine | layer | objective | labels | CPU time | `search_bench --benchmark_filter=` |"
    yield "|---|---|---|---|---|---|"
    for (kind, machine, goal, layer), run in found.items():
        if machine in BUSY:
            yield (f"| `{machine_file(machine)}` | {layer} | {goal} | {run['labels']:,.0f} "
                   f"| {time_text(run['ms'])} | `{kind}/{machine}/{goal}:{layer}` |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    runs = read(sys.argv[1:])
    print("\n".join([*layers_table(runs), "", *busy_table(runs)]))
