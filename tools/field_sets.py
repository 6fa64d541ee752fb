#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Input sets of other tools in a checkout, by the sections of its files: what belongs together as a user would hand it to
`mapsim import`. tools/field_files.py imports them."""

import collections
import pathlib
import re

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

    # Densities alone change nothing: without optimisations Timeloop counts every point.
    def is_sparse(self, files):
        text = "\n".join(pathlib.Path(path).read_text(errors="replace") for path in files)
        return bool(re.search(r"^\s*sparse_optimizations:\s*(\n|\{\s*[^} ]|\S*!)", text, re.MULTILINE))

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
        if any(path.name == "sparse.yaml" for each in sparse for path in each):
            sparse.append([])  # of gamma-timeloop: read with --use_sparse alone
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
