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
import subprocess
import sys
import tempfile

OUTPUTS = re.compile(r"^((ref|my|dense|old)[-_]?)?(outputs?|out_dir|stats)$|_outputs?$")
ENERGIES = re.compile(r"(^|[.])ERT\.yaml$")
WRITTEN = re.compile(r"^timeloop-m|^flattened_architecture|^tmp-accelergy|^(ERT|ART)[._]")  # by the tools themselves
WORKLOADS = re.compile(r"^(prob|workload|layer)")
# What the scripts beside a template hand to it.
LAYER_SETTINGS = {"BATCH_SIZE": "1", "ENCODED_INPUT_BITS": "1", "ENCODED_WEIGHT_BITS": "1",
                  "ENCODED_OUTPUT_BITS": "1"}
SETTINGS = {"psum_datawidth": "16", "input_weight_datawidth": "8", "mac_class": "intmac"}
# What AccelForge's own tests hand to its templates, and values for those that other templates include.
FORGE_SETTINGS = {"N_EINSUMS": "2", "BATCH_SIZE": "1", "DECODE": "False", "N_NEW_TOKENS": "256",
                  "ATTENTION_TYPE": "grouped_query"}
FORGE_PART_SETTINGS = {name: "8" for name in (
    "N_HEADS", "N_Q_HEADS_PER_KV_HEAD", "N_EMB_PER_HEAD", "N_HIDDEN_DIMS", "N_FF_DIMS", "N_SHARED_FF_DIMS", "N_EXPERTS",
    "N_EXPERTS_PER_TOKEN", "N_V_DIMS", "N_Q_LATENT", "N_KV_LATENT", "CHUNK_SIZE")}
SECTION = re.compile(r"^([A-Za-z_]+)\s*:", re.MULTILINE)
CONSTRAINTS = {"constraints", "mapspace", "mapspace_constraints", "architecture_constraints"}
SECONDS = 120  # for one set
MANY = 40  # problems of one architecture: of more, the first of each folder is taken

Set = collections.namedtuple("Set", "kind tool files options stats version makes", defaults=[None, None, None])
LEVEL = re.compile(r"^(\w+)\s+\[(.*)\]\s*$")
LOOP = re.compile(r"^[|\s]*for (\w+) in \[0:(\d+)(?:,\d+)?\)\s*(?:\(Spatial-([XY])\))?")


# The loops that timeloop-mapper printed (.map.txt), outermost first: of each level what it keeps, and (dim, factor,
# axis or None).
def printed_levels(text):
    levels = []
    for line in text.splitlines():
        if found := LEVEL.match(line):
            levels.append((found.group(1), re.findall(r"(\w+):\d+", found.group(2)), []))
        elif (found := LOOP.match(line)) and levels:
            levels[-1][2].append((found.group(1), int(found.group(2)), found.group(3)))
    return levels


def sizes_of(levels):
    sizes = {}
    for _, _, loops in levels:
        for dim, factor, _ in loops:
            sizes[dim] = sizes.get(dim, 1) * factor
    return sizes


# The same as a mapping that Timeloop reads.
def mapping_text(levels):
    tensors = sorted({each for _, kept, _ in levels for each in kept})
    dims = list(sizes_of(levels))
    text = "mapping:\n"
    for name, kept, loops in levels:
        rest = [each for each in tensors if each not in kept]
        text += f"- {{target: {name}, type: datatype, keep: [{', '.join(kept)}], bypass: [{', '.join(rest)}]}}\n"
        for kind in ("temporal", "spatial"):
            own = [each for each in loops if (each[2] is not None) == (kind == "spatial")]
            inner = [dim for axis in (None, "X", "Y") for dim, _, along in reversed(own) if along == axis]
            order = list(dict.fromkeys(inner)) + [dim for dim in dims if dim not in inner]
            factors = {dim: 1 for dim in dims}
            for dim, factor, _ in own:
                factors[dim] *= factor
            split = f", split: {sum(along == 'X' for _, _, along in own)}" if kind == "spatial" else ""
            if own or kind == "temporal":
                text += (f"- {{target: {name}, type: {kind}, factors: "
                         f"{' '.join(f'{dim}={factor}' for dim, factor in factors.items())}, "
                         f"permutation: {' '.join(order)}{split}}}\n")
    return text


def is_output(path, root):
    return any(OUTPUTS.search(part) for part in path.relative_to(root).parts[:-1])


class Checkout:
    def __init__(self, root, scratch):
        self.root = root
        self.scratch = scratch  # a folder for mappings that are written anew
        self.sections = {}
        for path in sorted(root.rglob("*.y*ml")):
            if path.is_file() and not is_output(path, root) and not WRITTEN.search(path.name):
                self.sections[path] = set(SECTION.findall(path.read_text(errors="replace")))
        self.sets = []

    def having(self, wanted, folder=None):
        return [path for path, sections in self.sections.items()
                if sections & wanted and (folder is None or folder in path.parents)]

    def add(self, kind, tool, files, *options):
        text = "".join(pathlib.Path(path).read_text(errors="replace") for path in files)
        options = list(options)
        for name, value in SETTINGS.items():
            options += ["--set", f"{name}={value}"] if "{{" + name + "}}" in text else []
        self.sets.append(Set(kind, tool, [str(path) for path in files], list(options)))

    def find(self):
        self.processed()
        self.templates()
        self.layers()
        for path in self.having({"architecture", "arch"}):
            if "problem" in self.sections[path]:
                self.add("one file", "timeloop", [path])
            elif not self.is_part_of_template(path) and not self.is_forge(path):
                self.design(path)
        self.published()
        self.aggregated()
        self.old_configurations()
        self.scalesim()
        self.zigzag()
        self.stream()
        self.accelforge()
        return self.sets

    def is_sparse(self, files):
        text = "".join(pathlib.Path(path).read_text(errors="replace") for path in files)
        return bool(re.search(r"^\s*(sparse_optimizations|densities):\s*(\n|\{\s*[^} ]|\S*!)", text, re.MULTILINE))

    def processed(self):
        for path in sorted(self.root.rglob("parsed-processed-input.yaml")):
            tables = sorted(each for each in path.parent.iterdir() if ENERGIES.search(each.name))
            files = [path] + [each for each in tables if "timeloop" in each.name][:1]
            self.add(f"processed input, {self.density(files)}", "timeloop", files)
            # `compare timeloop` refuses sparse designs.
            for stats in sorted(path.parent.glob("*.stats.txt"))[:0 if self.is_sparse(files) else 1]:
                has_mapping = re.search(r"^mapping:\s*$", path.read_text(errors="replace"), re.MULTILINE)
                mapping = [] if has_mapping else sorted(path.parent.glob("*.map.yaml"))[:1]
                self.sets[-1] = self.sets[-1]._replace(files=[str(each) for each in files + mapping], stats=str(stats))

    # What Timeloop printed of a design of several files: its mapping, its energies and its statistics in one folder.
    # The problem is the one with the mapping's sizes.
    def published(self):
        for stats in sorted(self.root.rglob("*.stats.txt")):
            folder = stats.parent
            printed = sorted(folder.glob("*.map.txt"))
            tables = [each for each in sorted(folder.iterdir()) if ENERGIES.search(each.name)]
            if (folder / "parsed-processed-input.yaml").is_file() or not printed or not tables:
                continue
            root = folder if self.having({"architecture"}, folder) else folder.parent
            arch = self.having({"architecture"}, root)
            levels = printed_levels(printed[0].read_text())
            problems = [each for each in self.problems_for(root) if self.has_sizes(each, sizes_of(levels))]
            if len(arch) != 1 or not problems:
                continue
            mapping = self.scratch / f"{len(self.sets)}.map.yaml"
            mapping.write_text(mapping_text(levels))
            self.add("published result", "timeloop", [arch[0], problems[0], mapping, tables[0]])
            version = "2020" if "Energy-per-op" in stats.read_text() else "2021"
            self.sets[-1] = self.sets[-1]._replace(stats=str(stats), version=version)

    # All that the front end of 2021 read, in one file, and what Timeloop printed of it.
    def aggregated(self):
        for path in sorted(self.root.rglob("aggregated_input.yaml")):
            stats = sorted(path.parent.glob("output/*.stats.txt"))
            files = [path] + [each for each in (path.parent / "ERT.yaml", path.parent / "map.yaml") if each.is_file()]
            sparse = re.search(r"^sparse_optimizations:\s*\n\s+\S", path.read_text(), re.MULTILINE)
            if stats:
                self.add(f"aggregated input, {'sparse' if sparse else 'dense'}", "timeloop", files)
                self.sets[-1] = self.sets[-1]._replace(stats=None if sparse else str(stats[0]), version="2021")

    def has_sizes(self, problem, sizes):
        found = dict(re.findall(r"^\s+([A-Z]):\s*(\d+)\s*$", problem.read_text(errors="replace"), re.MULTILINE))
        return all(int(found.get(dim, 1)) == size for dim, size in sizes.items()) and bool(sizes)

    def density(self, files):
        return "sparse" if self.is_sparse(files) else "dense"

    # A template whose text names the design that it includes: all that lie beside it.
    def templates(self):
        self.template_folders = []
        for path in sorted(self.root.rglob("*.jinja*")):
            text = path.read_text(errors="replace")
            if "architecture" not in SECTION.findall(text):
                continue
            self.template_folders.append(path.parent)
            if "~ macro ~" in text:
                for arch in sorted(path.parent.glob("arch/1_macro/*/arch.yaml")):
                    name = arch.parent.name
                    self.add("template, compute in memory", "timeloop", [path], "--set", f"macro={name}", "--set",
                             f"iso={name}")
            elif "~ architecture ~" in text:
                for arch in sorted(path.parent.rglob("arch.yaml")):
                    beside = [each for each in arch.parent.glob("*.yaml")]
                    name = arch.parent.relative_to(path.parent)
                    self.add(f"template, {self.density(beside)}", "timeloop", [path], "--set", f"architecture={name}")
            else:
                self.add("template, dense", "timeloop", [path])

    def is_part_of_template(self, path):
        return any(folder in path.parents for folder in self.template_folders)

    def layers(self):
        for path in self.having({"problem"}):
            if not self.sections[path] & {"architecture", "arch", "mapping"}:
                base = path.parent.parent / "problem_base.yaml"
                names = base.is_file() and "BATCH_SIZE" in base.read_text(errors="replace")
                settings = [f"{name}={value}" for name, value in LAYER_SETTINGS.items()] if names else []
                self.add("layer shape", "timeloop", [path], *(word for each in settings for word in ("--set", each)))

    # Of a problem's file, a mapping's and so on: what belongs to an architecture lies below the same folder.
    def design(self, arch):
        root = arch.parent
        while root.name in ("arch", "int8", "designs", "architecture", "input"):
            root = root.parent
        problems = self.problems_for(root)
        mappings = self.having({"mapping"}, root)
        limits = [each for each in self.having(CONSTRAINTS, root)
                  if not self.sections[each] & {"architecture", "arch", "problem"}]
        sparse = [[each] for each in self.having({"sparse_optimizations"}, root)] or [[]]
        alternatives = [[each] for each in mappings]
        if len(limits) > 2:
            alternatives += [[each] for each in limits]
        elif limits or not alternatives:
            alternatives.append(limits)
        for problem in problems:
            for rest in alternatives:
                if any(self.is_of_another(each, problem, problems) for each in rest):
                    continue
                for zeros in sparse:
                    files = [arch, problem] + rest + zeros
                    self.add(f"design, {self.density(files)}", "timeloop", files)
        if not problems:
            self.add("architecture alone", "timeloop", [arch])

    # A mapping that has the name of one layer (L07-perfect.yaml of L07.yaml) is not one of others.
    def is_of_another(self, mapping, problem, problems):
        def names(each):
            return mapping.stem == each.stem or mapping.stem.startswith(each.stem + "-")

        return not names(problem) and any(names(each) for each in problems)

    # Those below its own folder, else those of a folder of workloads around it.
    def problems_for(self, root):
        def alone(folder):
            return [each for each in self.having({"problem"}, folder)
                    if not self.sections[each] & {"architecture", "arch"}]

        problems = alone(root)
        while not problems and root != self.root:
            root = root.parent
            for folder in sorted(each for each in root.iterdir() if each.is_dir() and WORKLOADS.search(each.name)):
                problems += alone(folder)
        if len(problems) > MANY:
            first = {}
            for each in problems:
                first.setdefault(each.parent, each)
            problems = list(first.values())
        return problems

    def old_configurations(self):
        for path in sorted(self.root.rglob("*.cfg")):
            text = path.read_text(errors="replace")
            if re.search(r"^\s*(arch|problem|mapping)\s*[:=]", text, re.MULTILINE) and "{" in text:
                self.add("libconfig", "timeloop", [path])

    def scalesim(self):
        configurations = [path for path in sorted(self.root.rglob("*.cfg"))
                          if "[general]" in path.read_text(errors="replace")]
        topologies = [path for path in sorted(self.root.rglob("*.csv"))
                      if "topologies" in path.parts]
        if not configurations or not topologies:
            return
        usual = next((each for each in topologies if each.name.lower() == "alexnet.csv"), topologies[0])
        for path in configurations:
            self.add("SCALE-Sim configuration", "scalesim", [path, usual])
        plain = next((each for each in configurations if each.name == "scale.cfg"), configurations[0])
        for path in topologies:
            self.add("SCALE-Sim topology", "scalesim", [plain, path])


    # A chip of Stream; its cores are read with it.
    def stream(self):
        for path in self.having({"cores"}):
            if "core_connectivity" in self.sections[path]:
                self.add("Stream chip", "zigzag", [path])

    # An accelerator with the mapping that is named after it, and each workload that this maps.
    def zigzag(self):
        for path in self.having({"operational_array"}):
            if "type" in self.sections[path]:
                continue  # a core of Stream
            folder = path.parent.parent
            names = [folder / "mapping" / f"{name}.yaml" for name in (path.stem, path.stem + "_like", "default")]
            mapping = next((each for each in names if each.is_file()), None)
            kind = "ZigZag machine, in memory" if "is_imc" in path.read_text() else "ZigZag machine"
            workloads = sorted((folder / "workload").glob("*.yaml")) if mapping else []
            files = [[path, mapping, each] for each in workloads
                     if ("D0" in each.read_text()) == ("D0" in mapping.read_text())]
            for each in files or [[path]]:
                self.add(kind, "zigzag", each)
            for model in sorted((folder / "workload").glob("*.onnx")) if mapping and "is_imc" not in path.read_text() else []:
                self.add("ZigZag machine with an ONNX model", "zigzag", [path, mapping, model])


    # A machine, or a workload with the values that its template asks for.
    def accelforge(self):
        for path in self.having({"arch", "workload"}):
            text = path.read_text(errors="replace")
            if "examples" not in path.parts:
                if self.is_forge_test(path):
                    beside = [each for each in self.having({"workload"}) if each.parent == path.parent]
                    self.add("AccelForge machine, of its tests", "accelforge", [path] + beside[:len(beside) == 1])
                continue
            if re.search(r"^\s*- !Memory", text, re.MULTILINE) and "arch" in self.sections[path]:
                kind = "AccelForge machine" + (", in memory" if "compute_in_memory" in path.parts else "")
                self.add(kind, "accelforge", [path])
            elif "mapping" in self.sections[path]:
                pass
            elif "workload" in self.sections[path]:
                part = any(name.startswith("_") for name in path.relative_to(self.root).parts)
                values = {**FORGE_SETTINGS, **(FORGE_PART_SETTINGS if part else {})}
                self.add("AccelForge workload", "accelforge", [path],
                         *(word for name, value in values.items() for word in ("--set", f"{name}={value}")))
        self.accelforge_mappings()

    def is_forge(self, path):
        return self.is_forge_test(path) or "!Memory" in path.read_text(errors="replace")

    # A machine of its own tests, but for those that it does not read itself.
    def is_forge_test(self, path):
        nodes = re.search(r"^\s*- !(Memory|Toll|Network|Array)\b", path.read_text(errors="replace"), re.MULTILINE)
        return "tests" in path.parts and "not_working" not in path.parts and nodes and "arch" in self.sections[path]

    # A mapping with the workload and the machine that it is named after.
    def accelforge_mappings(self):
        machine = next(iter(self.root.rglob("examples/arches/simple.yaml")), None)
        for path in sorted(self.root.rglob("examples/mappings/*_to_simple*.yaml")):
            workload = next((each for each in self.root.rglob("examples/workloads/basic/mat*.yaml")
                             if each.stem in path.name), None)
            if machine is not None and workload is not None:
                self.add("AccelForge mapping", "accelforge", [machine, workload, path], "--set", "N_EINSUMS=2")
                self.sets[-1] = self.sets[-1]._replace(makes="tree.yaml")


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
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 124, f"mapsim: not done after {SECONDS} s"
    if done.returncode == 0 and made is not None and not made.is_file():
        return 2, "mapsim: " + next((line for line in done.stdout.splitlines() if "not written" in line), "no tree")
    return done.returncode, done.stderr


# Figures that are equal, derived and unexplained; nothing where it cannot be compared.
def compare(program, each, version):
    command = [program, "compare", each.tool, *each.files, *each.options, "--stats", each.stats, "--json",
               "--timeloop-version", each.version or version]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
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
    def call(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, errors="replace", timeout=SECONDS)

    def at(name):
        return str(pathlib.Path(folder) / name)

    def cost(done):
        found = json.loads(done.stdout)["cost"]
        return found["energy_pj"], found["latency_cycles"]

    files = without_mapping(each.files, folder)
    for name in ("arch.yaml", "workload.yaml", "constraints.yaml", "best.yaml", "mapping.yaml"):
        pathlib.Path(at(name)).unlink(missing_ok=True)
    call("import", "timeloop", *files, *each.options, "-o", folder)
    if not all(pathlib.Path(at(name)).is_file() for name in ("arch.yaml", "workload.yaml", "constraints.yaml")):
        return None
    found = call("search", at("arch.yaml"), at("workload.yaml"), "--constraints", at("constraints.yaml"), "--objective",
                 "edp", "--budget", "2 s", "--save-mapping", at("best.yaml"), "--json")
    if found.returncode != 0:
        return None
    written = call("export", "timeloop", at("arch.yaml"), at("workload.yaml"), at("best.yaml"), "-o", at("best.map.yaml"))
    back = call("import", "timeloop", *files, at("best.map.yaml"), *each.options, "-o", folder)
    again = call("eval", at("arch.yaml"), at("workload.yaml"), at("mapping.yaml"), "--json")
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
