#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of other tools' public files `mapsim import` reads, as they lie on disk.

    tools/field_files.py [--mapsim PROGRAM] [--list] [--round-trip SETS] FOLDER...

FOLDER is a checkout, for example of timeloop-accelergy-exercises. Its input sets are found by the sections of its
files: an architecture with each problem, mapping or set of constraints that belongs to it, a template with each
design that it may include, a processed input with the energies beside it, a layer shape alone. Each is imported as a
user would import it. The first table has a row for each checkout and kind of set, the second one the reasons of
refusals. Where a folder holds a processed input and what Timeloop printed of it, `mapsim compare timeloop` sets the
figures of both side by side. With --round-trip the optimum of each imported mapspace (of so many sets of an
architecture, 2 s each) is exported, imported again and evaluated. docs/validation.md has the tables.
"""

import argparse
import collections
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from field_sets import Checkout

SECONDS = 120  # of CPU, for one command


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


# A command that ends itself, or that has taken its time: then with a return code below 0.
def call(*words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", preexec_fn=limited)


# The first message, without what differs from file to file.
def reason(text):
    for line in text.splitlines():
        found = re.match(r"^(?:\S+?:(?:\d+:\d+:)?|mapsim:)\s+(?:[A-Za-z_]\S*: )?(.*)$", line)
        if found and found.group(1):
            message = re.sub(r"'[^']*'", "'...'", found.group(1))
            return re.sub(r"\d+", "N", message)[:120]
    return text.strip().splitlines()[0][:120] if text.strip() else "no message"


def run(program, each, folder):
    made = None if each.makes is None else pathlib.Path(folder) / each.makes
    if made is not None:
        made.unlink(missing_ok=True)
    command = [program, "import", each.tool, *each.files, *each.options, "-o", folder]
    done = call(*command)
    if done.returncode < 0:
        return 124, f"mapsim: not done after {SECONDS} s"
    if done.returncode == 0 and made is not None and not made.is_file():
        return 2, "mapsim: " + next((line for line in done.stdout.splitlines() if "not written" in line), "no tree")
    return done.returncode, done.stderr


# Figures that are equal, derived and unexplained; nothing where it cannot be compared.
def compare(program, each, version):
    command = [program, "compare", each.tool, *each.files, *each.options, "--stats", each.stats, "--json",
               "--timeloop-version", each.version or version]
    done = call(*command)
    if done.returncode < 0:
        return None, f"mapsim: not compared after {SECONDS} s"
    if done.returncode not in (0, 1) or not done.stdout:
        return None, done.stderr
    record = json.loads(done.stdout)["comparison"]
    return [record["equal"], record["derived"], record["unexplained"]], ""


# The files without their mappings: left out, or as copies that name them so that they are ignored.
def without_mapping(files, folder):
    kept = []
    for path in map(pathlib.Path, files):
        text = path.read_text(errors="replace")
        others = set(re.findall(r"^([A-Za-z_]+)\s*[:=]", text, re.MULTILINE)) - {"mapping"}
        if not re.search(r"^mapping\s*[:=](?! *\[\])", text, re.MULTILINE):
            kept.append(str(path))
        elif others & {"arch", "architecture", "problem"}:
            copy = pathlib.Path(folder) / f"unmapped_{path.name}"
            copy.write_text(re.sub(r"^mapping(?=\s*[:=])", "ignored_mapping", text, flags=re.MULTILINE))
            kept.append(str(copy))
    return kept


# Energy and cycles of the optimum that a search of a dense design finds, and of what comes back of it; None: the set
# has no mapspace.
def round_trip(program, each, folder):
    def at(name):
        return str(pathlib.Path(folder) / name)

    def cost(done):
        found = json.loads(done.stdout)["cost"]
        return found["energy_pj"], found["latency_cycles"]

    files = without_mapping(each.files, folder)
    for name in ("arch.yaml", "workload.yaml", "constraints.yaml", "best.yaml", "mapping.yaml"):
        pathlib.Path(at(name)).unlink(missing_ok=True)
    call(program, "import", "timeloop", *files, *each.options, "-o", folder)
    if not all(pathlib.Path(at(name)).is_file() for name in ("arch.yaml", "workload.yaml", "constraints.yaml")):
        return None
    found = call(program, "search", at("arch.yaml"), at("workload.yaml"), "--constraints", at("constraints.yaml"),
                 "--objective", "edp", "--budget", "2 s", "--save-mapping", at("best.yaml"), "--json")
    if found.returncode != 0:
        return None
    written = call(program, "export", "timeloop", at("arch.yaml"), at("workload.yaml"), at("best.yaml"), "-o",
                   at("best.map.yaml"))
    back = call(program, "import", "timeloop", *files, at("best.map.yaml"), *each.options, "-o", folder)
    again = call(program, "eval", at("arch.yaml"), at("workload.yaml"), at("mapping.yaml"), "--json")
    failed = next((done.stderr for done in (written, back, again) if done.returncode != 0), None)
    return cost(found), failed if failed is not None else cost(again)


# A line for each optimum that does not come back, and how many do.
def round_trips(arguments, sets, out):
    taken, equal, all_of_them = collections.Counter(), 0, 0
    for each in sets:
        if each.tool != "timeloop" or "sparse" in each.kind or taken[each.files[0]] == arguments.round_trip:
            continue
        result = round_trip(arguments.mapsim, each, out)
        if result is not None:
            taken[each.files[0]] += 1
            all_of_them += 1
            equal += result[0] == result[1]
            if result[0] != result[1]:
                print("does not come back:", *each.files, *result)
    print(f"{equal} of {all_of_them} optima come back")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mapsim", default="build/ci/app/mapsim")
    parser.add_argument("--list", action="store_true", help="every set, its answer and its command")
    parser.add_argument("--timeloop-version", default="2024", help="of the runs that are compared")
    parser.add_argument("--round-trip", type=int, default=0, metavar="SETS", help="of an architecture")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = []
    reasons = collections.Counter()
    with tempfile.TemporaryDirectory() as out, tempfile.TemporaryDirectory() as scratch:
        for folder in arguments.folders:
            counts = collections.OrderedDict()
            sets = Checkout(folder.resolve(), pathlib.Path(scratch)).find()
            if arguments.round_trip:
                round_trips(arguments, sets, out)
                continue
            for each in sets:
                code, errors = run(arguments.mapsim, each, out)
                row = counts.setdefault(each.kind, [0] * 6)
                row[0] += 1
                row[1] += code == 0
                if code == 0 and each.stats:
                    figures, errors = compare(arguments.mapsim, each, arguments.timeloop_version)
                    if figures is None:
                        code = 2
                    else:
                        row[2:] = [a + b for a, b in zip(row[2:], [1] + figures)]
                        if arguments.list:
                            print("compared:", *figures, *each.files, each.stats)
                if code != 0:
                    reasons[(folder.name, each.kind, reason(errors))] += 1
                if arguments.list:
                    print(code, each.kind, *each.files, *each.options, "|", "" if code == 0 else reason(errors))
            rows += [(folder.name, kind, *count) for kind, count in counts.items()]
    print("| checkout | kind of input | sets | imported | refused | compared | equal | explained | unexplained |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, kind, total, imported, *compared in rows:
        figures = compared if compared[0] else [""] * 4
        print("|", " | ".join(str(each) for each in [name, kind, total, imported, total - imported, *figures]), "|")
    print("\n| checkout | kind of input | refused | why (the first message) |\n|---|---|---:|---|")
    for (name, kind, why), count in reasons.most_common():
        print(f"| {name} | {kind} | {count} | {why} |")


if __name__ == "__main__":
    sys.exit(main())
