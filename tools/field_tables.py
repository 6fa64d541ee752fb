#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What other tools' public results are beside ours, from the files as they lie on disk.

    tools/field_tables.py [--mapsim PROGRAM] FOLDER...

FOLDER is a checkout, for example of timeloop-accelergy-exercises or baseline-designs. Of its dense results (a design
with the energies, and for the second table the mapping, that lie beside it) two tables are printed: the ratio of the
energies that `mapsim import` takes from its own tables, where there is no ERT, to those of the ERT; and the mapping
that timeloop-mapper found beside the optimum of the imported mapspace, for the objective of the design's mapper, each
search within --seconds. Of a checkout of AccelForge the table is the ratio of the energies that an import takes from our
tables to those of the models of its classes, which its tests expect; of ZigZag, the optima within the imported
constraints (each search within --seconds) to the totals of networks that its tests expect of its search. docs/validation.md has all
of them.
"""

import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from field_files import without_mapping
from field_sets import Checkout, ENERGIES


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().splitlines()[0])
    return done.stdout


NODE = re.compile(r"^  - (?:storage|compute): (\S+)\n((?:    .*\n)*)", re.MULTILINE)
ENERGY = re.compile(r"^    energy: (?:\{read: )?([\d.e+-]+) pJ(?:/(b|B|word))?", re.MULTILINE)
WORD = re.compile(r"^    word: ([\d.]+) (b|B|KiB)$", re.MULTILINE)
BITS = {"b": 1, "B": 8, "KiB": 8192}


# By name of the components of an architecture: pJ of a bit that is read or of an operation, and all lines about it.
def components(text):
    found = {}
    for name, body in NODE.findall(text):
        energy, word = ENERGY.search(body), WORD.search(body)
        if energy:
            unit = energy.group(2)
            bits = float(word.group(1)) * BITS[word.group(2)] if unit == "word" else BITS.get(unit, 1)
            found[name] = float(energy.group(1)) / bits, body
    return found


def energies(program, each, folder):
    tables = [path for path in each.files if ENERGIES.search(pathlib.Path(path).name)]
    rest = [path for path in without_mapping(each.files, folder) if path not in tables]
    call(program, "import", "timeloop", *rest, *tables, *each.options, "-o", folder)
    theirs = components((pathlib.Path(folder) / "arch.yaml").read_text())
    call(program, "import", "timeloop", *rest, *each.options, "-o", folder)
    ours = components((pathlib.Path(folder) / "arch.yaml").read_text())
    for name, (energy, body) in ours.items():
        kind = re.search(r"# energ\w+ by our table(?:, (\w+))?", body)  # of the table that is taken
        if kind and name in theirs and theirs[name][0] > 0:
            size = re.search(r"^    capacity: (.*)$", body, re.MULTILINE)
            yield (kind.group(1) or "MAC", size.group(1) if size else "", energy, theirs[name][0])


def cost(text):
    found = json.loads(text)["cost"]
    return found["energy_pj"], found["latency_cycles"]


# The rules and the objective of a design in several files, which lie beside its architecture.
def beside(files):
    root = pathlib.Path(files[0]).parent.parent
    return [str(path) for name in ("constraints", "mapper") for path in sorted((root / name).glob("*.yaml"))]


def best(program, each, seconds, folder):
    arch, workload = (str(pathlib.Path(folder) / name) for name in ("arch.yaml", "workload.yaml"))
    call(program, "import", "timeloop", *each.files, *each.options, "-o", folder)
    theirs = cost(call(program, "eval", arch, workload, pathlib.Path(folder) / "mapping.yaml", "--json"))
    files = without_mapping(each.files, folder) + (beside(each.files) if each.kind == "published result" else [])
    done = json.loads(call(program, "import", "timeloop", *files, *each.options, "-o", folder, "--json"))
    command = done["next"].split()
    found = json.loads(call(program, *command[1:], "--budget", f"{seconds} s", "--json"))
    objective = command[command.index("--objective") + 1] if "--objective" in command else "energy"
    return objective, theirs, (found["cost"]["energy_pj"], found["cost"]["latency_cycles"]), found


def search(program, folder, layer, objective, seconds, *options):
    arch = folder / f"{layer}.arch.yaml"
    found = call(program, "search", arch if arch.is_file() else folder / "arch.yaml", folder / f"{layer}.workload.yaml",
                 "--constraints", folder / f"{layer}.constraints.yaml", "--objective", objective, "--budget",
                 f"{seconds} s", "--json", *options)
    return json.loads(found)


# How often each shape of layer is in a graph, by the name of the first of them, which its files have.
def layer_counts(text):
    names, counts = {}, collections.Counter()
    for name, body in re.findall(r"^  - name: (\S+)\n((?:    .*\n)*)", text, re.MULTILINE):
        shape = re.sub(r"^    in: .*\n", "", body, flags=re.MULTILINE)
        counts[names.setdefault(shape, name)] += 1
    return counts


# Energy and latency of all layers of a workload of ZigZag, how many searches are proven and how many there were; None:
# its order of loops is fixed, ours is not. Where an unrolling does not divide its dim, the search is over imperfect
# factors.
def totals(program, files, seconds):
    with tempfile.TemporaryDirectory() as out:
        notes = json.loads(call(program, "import", "zigzag", *files, "-o", out, "--json"))["notes"]
        if any("temporal_ordering does not" in each for each in notes):
            return None
        uneven = set(re.findall(r"^(\S+): \d+ of \w+ do not divide", "\n".join(notes), re.MULTILINE))
        folder = pathlib.Path(out)
        files = [path.name[:-len(".workload.yaml")] for path in folder.glob("*.workload.yaml")]
        network = folder / "network.yaml"
        counts = layer_counts(network.read_text()) if network.is_file() else {files[0]: 1}
        if sorted(counts) != sorted(files):
            raise ValueError(f"{network}: its layers are not those of the import")
        sums, proven = [0, 0], 0
        for layer, count in counts.items():
            for i, key in enumerate(("energy", "latency")):
                found = search(program, folder, layer, key, seconds, *(["--imperfect"] if layer in uneven else []))
                sums[i] += count * found["cost"]["energy_pj" if i == 0 else "latency_cycles"]
                proven += found["certificate"]["status"] == "optimal"
    return *sums, proven, 2 * len(counts)


RESULT = re.compile(r'"(zigzag/inputs/workload/\S+)": \(([\d.]+), ([\d.]+)\)')


# What the tests of ZigZag expect. A workload in YAML with pools counts what an import leaves out.
def print_zigzag(program, root, seconds):
    print("| machine | workload | our optimum / ZigZag's best: energy | latency | searches proven |\n|---|---|---:|---:|---|")
    for test in sorted(root.glob("tests/main/test_origin/test_*.py")):
        text = test.read_text()
        files = [root / each for each in re.findall(r'return "(zigzag/inputs/\S+\.yaml)"', text)]
        for workload, energy, latency in RESULT.findall(text):
            if workload.endswith(".yaml") and "Pooling" in (root / workload).read_text():
                continue
            found = totals(program, files + [root / workload], seconds)
            if found is None:
                continue
            ours, cycles, proven, searches = found
            print(f"| {files[1].stem} | {pathlib.Path(workload).name} | {ours / float(energy):.3f} | "
                  f"{cycles / float(latency):.3f} | {proven} of {searches} |", flush=True)


# Of an example machine: our energy of a bit that is read, or of a MAC, and that of the model of its class.
def class_ratios(program, path, expected, folder):
    text = path.read_text()
    notes = json.loads(call(program, "import", "accelforge", path, "-o", folder, "--json"))["notes"]
    own = components((pathlib.Path(folder) / "arch.yaml").read_text())
    process = re.search(r"tech_node: (\d+)e-9", text)
    for name in re.findall(r"(\w+): energies by our own tables", "\n".join(notes)):
        actions = expected[name]["actions"]
        node = text[text.index(f"name: {name}"):].split("- !")[0]
        bits = re.search(r"name: read, bits_per_action: (\d+)", node)
        theirs = actions["read" if "read" in actions else "compute"]["energy"] * 1e12 / int(bits.group(1) if bits else 1)
        # A memory that holds several words for a value: our energy is that of a value's bit.
        wide = re.search(rf"{name} holds (\d+) times the bits of a value", "\n".join(notes))
        klass = re.search(r"component_class: (.*)", node).group(1)
        kind = f"{klass}, {process.group(1)} nm" if "SRAM" in klass else klass
        yield kind, own[name][0] / theirs / int(wide.group(1) if wide else 1)


def print_classes(program, root, folder):
    ratios = {}
    machines = json.loads((root / "tests/hwcomponents_expected.json").read_text())
    for machine, expected in machines.items():
        for kind, ratio in class_ratios(program, root / f"examples/arches/{machine}.yaml", expected, folder):
            ratios.setdefault(kind, []).append(ratio)
    print("| ours / the model of AccelForge | components | least | most |\n|---|---:|---:|---:|")
    for kind, found in ratios.items():
        print(f"| {kind} | {len(found)} | {two_digits(min(found))} | {two_digits(max(found))} |")


def two_digits(ratio):
    return f"{float(f'{ratio:.2g}'):g}"


def print_timeloop(arguments, roots, out, scratch):
    pairs, rows = {}, []
    for root in roots:
        for each in Checkout(root, pathlib.Path(scratch)).find():
            if each.tool != "timeloop" or not each.stats or "sparse" in each.kind:
                continue
            name = pathlib.Path(each.stats).parent.relative_to(root)
            for kind, *rest in energies(arguments.mapsim, each, out):
                pairs.setdefault((root.name, kind), set()).add(tuple(rest))
            if pathlib.Path(each.stats).name.startswith("timeloop-mapper."):
                rows.append((f"{root.name}/{name}", best(arguments.mapsim, each, arguments.seconds, out)))
    print("| checkout | ours / Accelergy's | components | least | median | most |\n|---|---|---:|---:|---:|---:|")
    for (name, kind), found in pairs.items():
        ratios = sorted(ours / theirs for _, ours, theirs in found)
        least, median, most = map(two_digits, (ratios[0], statistics.median(ratios), ratios[-1]))
        print(f"| {name} | {kind} | {len(ratios)} | {least} | {median} | {most} |")
    print("\n| design | searched for | energy / optimum | latency / optimum | EDP / optimum | optimum |\n"
          "|---|---|---:|---:|---:|---|")
    for name, (objective, theirs, ours, found) in rows:
        energy, latency = (a / b for a, b in zip(theirs, ours))
        print(f"| {name} | {objective} | {energy:.5g} | {latency:.5g} | {energy * latency:.5g} | "
              f"{found['certificate']['status']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mapsim", default="build/ci/app/mapsim")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    others = []
    with tempfile.TemporaryDirectory() as out, tempfile.TemporaryDirectory() as scratch:
        for root in (each.resolve() for each in arguments.folders):
            if (root / "tests/hwcomponents_expected.json").is_file():
                print_classes(arguments.mapsim, root, out)
            elif (root / "tests/main/test_origin").is_dir():
                print_zigzag(arguments.mapsim, root, arguments.seconds)
            else:
                others.append(root)
        if others:
            print_timeloop(arguments, others, out, scratch)


if __name__ == "__main__":
    sys.exit(main())
